"""Assess a table of one's own: what a release of it would tell an attacker, budget by budget.

Two kinds of game are played at every ε. In *fresh* ones the table is drawn from the prior, as
everywhere else. In *real* ones the owner's own table is released, again and again with new noise:
what is said of kinds of record comes from these. A release that was published already is one real
game of which the noise is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt

from reconbench.attacks import (
    AttackError,
    AttackerView,
    check_reconstruction,
    skip_reason,
)
from reconbench.benchmarks.assess.accuracy import Accuracy, measure_cleaned_distance
from reconbench.benchmarks.assess.assessment import (
    OPTIMAL,
    SURE,
    AssessError,
    Assessment,
    AttackShares,
    Budget,
    Ceiling,
    Question,
    Sure,
    check_question,
)
from reconbench.benchmarks.assess.exposure import Exposure, Mean
from reconbench.benchmarks.assess.max_epsilon import (
    MeasuredEpsilon,
    ProvedEpsilon,
    RecordRisks,
    find_measured_epsilon,
    find_proved_epsilons,
)
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, check, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.benchmarks.store.summary import TOP, Summary, summarise, tightest, tightest_mean
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import PublishedMarginals

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RealPlay:
    """An attack on one release of the real table, record by record."""

    attack: str
    guess: Codes
    hits: Bools
    sure: Floats | None
    converged: bool | None


@dataclass(frozen=True)
class RealGame:
    """All attacks on one release of the real table."""

    plays: tuple[RealPlay, ...]
    cleaned: float


def assess(
    question: Question,
    table: Table,
    *,
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> Assessment:
    """Play all games of a question; the same numbers whatever the number of jobs."""
    check_question(question, table)
    specs = tuple(AttackSpec(name) for name in question.attacks)
    for spec in specs:
        spec.build()
    tasks = [
        (question.game(len(table), epsilon, rep), whose, specs)
        for epsilon in question.budgets
        for rep in range(question.reps)
        for whose in (None, table)
    ]
    fresh: dict[float, list[Result]] = {epsilon: [] for epsilon in question.budgets}
    real: dict[float, list[RealGame]] = {epsilon: [] for epsilon in question.budgets}
    for (game, _, _), found in zip(tasks, _play_all(tasks, jobs), strict=True):
        if isinstance(found, RealGame):
            real[game.epsilon].append(found)
        else:
            fresh[game.epsilon] += found
        advance()
    rows = tuple(row for epsilon in question.budgets for row in fresh[epsilon])
    first = {
        epsilon: build_real_round(question.game(len(table), epsilon), table)
        for epsilon in question.budgets
    }
    budgets = tuple(
        _measure_budget(question, first[epsilon], table, real[epsilon], fresh[epsilon])
        for epsilon in question.budgets
    )
    asked = first[question.epsilon]
    answers, plays = _answer_limit(question, asked, budgets)
    return Assessment(
        known=asked.view.known.domain.names,
        marginals=len(_get_release(asked.view).workload),
        relation=asked.mechanism.guarantee.relation.value,
        unit=asked.mechanism.guarantee.unit,
        budgets=budgets,
        exposure=_measure_exposure(question, asked, real[question.epsilon]),
        proved=answers,
        measured=plays,
        rows=rows,
    )


def assess_release(
    question: Question, truth: Table, release: MarginalsRelease, mechanism: PublishedMarginals
) -> Assessment:
    """Attack a release that exists already, and count the successes against the truth."""
    game = question.game(len(truth), mechanism.budget.epsilon)
    prior, known, metric, _ = check(game)
    played = truth.project(release.domain.names)
    view = AttackerView(release, mechanism, played.project(known), game.targets, prior, metric)
    round_ = Round(game, prior, mechanism, played.project(game.targets), view, truth.sha256())
    specs = tuple(AttackSpec(name) for name in question.attacks)
    with one_thread():
        found = _play_real_game(round_, played, specs)
    budget = _measure_budget(question, round_, truth, [found], [])
    if mechanism.stated is None:
        budget = replace(budget, epsilon=None, mu=None, ceiling=None, guarantee="none stated")
    return Assessment(
        known=known,
        marginals=len(release.workload),
        relation=mechanism.guarantee.relation.value,
        unit=mechanism.guarantee.unit,
        budgets=(budget,),
        exposure=_measure_exposure(question, round_, [found]),
    )


def build_real_round(game: Game, table: Table) -> Round:
    """The round of a game whose table is not drawn but given; noise is named by the table, too."""
    prior, known, metric, mechanism = check(game)
    names = [name for name in prior.domain.names if name in (*known, *game.targets)]
    played = table.project(names)
    rng = game.stream(f"release of the table {table.sha256()}", prior, Seeds.RELEASE)
    release = mechanism.release(played, rng)
    view = AttackerView(release, mechanism, played.project(known), game.targets, prior, metric)
    return Round(game, prior, mechanism, played.project(game.targets), view, table.sha256())


Task = tuple[Game, Table | None, tuple[AttackSpec, ...]]
Outcome = list[Result] | RealGame


def _play_all(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        yield from map(_play, tasks)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_play, tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _play(task: Task) -> Outcome:
    game, table, specs = task
    with one_thread():
        if table is None:
            round_ = Round.of(game)
            rows = [play(round_, spec) for spec in specs]
            for row in rows:
                if row.status is not Status.OK:
                    raise AssessError(f"attack {row.attack!r} cannot play: {row.error}")
            return rows
        round_ = build_real_round(game, table)
        return _play_real_game(round_, table.project(round_.view.release.domain.names), specs)


def _play_real_game(round_: Round, played: Table, specs: Iterable[AttackSpec]) -> RealGame:
    plays = tuple(_play_real(round_, spec) for spec in specs)
    return RealGame(plays, measure_cleaned_distance(played, _get_release(round_.view)))


def _play_real(round_: Round, spec: AttackSpec) -> RealPlay:
    player, view = spec.build(), round_.view
    reason = skip_reason(player, view)
    if reason is not None:
        raise AttackError(f"attack {player.name!r} cannot play: {reason}")
    purpose = f"attack {player.name} on the table {round_.table_hash}"
    rng = round_.game.stream(purpose, round_.prior, Seeds.ATTACK)
    found = check_reconstruction(view, player.reconstruct(view, rng))
    best = found.best_possible
    return RealPlay(
        attack=player.name,
        guess=found.guess.codes,
        hits=round_.metric.score(round_.truth, found.guess),
        sure=found.scores,
        converged=None if best is None else best.converged,
    )


def _get_release(view: AttackerView) -> MarginalsRelease:
    if not isinstance(view.release, MarginalsRelease):
        raise AssessError("an assessment needs a release of marginals")
    return view.release


def _plays_of(name: str, games: Sequence[RealGame]) -> list[RealPlay]:
    return [play for game in games for play in game.plays if play.attack == name]


def _measure_budget(
    question: Question,
    round_: Round,
    table: Table,
    games: Sequence[RealGame],
    fresh: Sequence[Result],
) -> Budget:
    n, mechanism, release = len(table), round_.mechanism, _get_release(round_.view)
    guess, expected = round_.baseline
    by_attack = {each.attack: each for each in summarise(fresh)}
    attacks = tuple(
        AttackShares(
            spec,
            Mean.of([play.hits.mean() for play in _plays_of(spec, games)]),
            _measure_fresh(by_attack[spec], n) if spec in by_attack else None,
            _combine(play.converged for play in _plays_of(spec, games)),
        )
        for spec in question.attacks
    )
    optimum = by_attack.get(OPTIMAL)
    best = None if optimum is None or optimum.best_possible is None else optimum.best_possible / n
    played = table.project(release.domain.names)
    cleaned = float(np.mean([game.cleaned for game in games]))
    return Budget(
        epsilon=round_.game.epsilon,
        guarantee=mechanism.guarantee.describe(),
        mu=float(mechanism.facts().get("mu", 0.0)),
        noise_sd=release.noise_sd,
        prior_real=round_.successes(guess) / n,
        prior_expected=float(expected.mean()),
        attacks=attacks,
        best_possible=best,
        best_converged=None if optimum is None else optimum.best_possible_converged,
        fresh_gain=_measure_fresh_gain(fresh, n) if fresh else None,
        ceiling=_find_ceiling(round_.for_every_attack, float(expected.mean()), n),
        sure=_count_sure(_plays_of(OPTIMAL, games), question.threshold),
        accuracy=Accuracy.of(played, release, cleaned),
    )


def _measure_fresh(summary: Summary, n: int) -> Mean:
    high, success = summary.success_high, (summary.success or 0.0)
    low = summary.success_low
    if low is None or high is None:
        return Mean(success / n, None)
    return Mean(success / n, max(high - success, success - low) / n)


def _measure_fresh_gain(rows: Sequence[Result], n: int) -> Mean:
    """Table by table: what attack and guessing owe to the luck of a table cancels."""
    won = [(row.successes or 0) - row.baseline_successes for row in rows if row.attack == OPTIMAL]
    return Mean.of([each / n for each in won])


def _find_ceiling(found: Mapping[str, Mapping[str, float]], expected: float, n: int) -> Ceiling:
    mean = tightest_mean(found) or 0.0
    return Ceiling(mean / n, mean / n - expected, tightest(found)[TOP] / n)


def _count_sure(plays: Sequence[RealPlay], threshold: int) -> Sure:
    picked = [(play.sure >= SURE, play.hits) for play in plays if play.sure is not None]
    records = float(np.mean([sure.sum() for sure, _ in picked])) if picked else 0.0
    if records < threshold:
        return Sure(None, None)
    if any(0 < len(sure) - int(sure.sum()) < threshold for sure, _ in picked):
        return Sure(records, None)
    right = sum(int(hits[sure].sum()) for sure, hits in picked)
    return Sure(records, right / sum(int(sure.sum()) for sure, _ in picked))


def _combine(values: Iterable[bool | None]) -> bool | None:
    found = [value for value in values if value is not None]
    return all(found) if found else None


def _measure_exposure(question: Question, round_: Round, games: Sequence[RealGame]) -> Exposure:
    plays = _plays_of(OPTIMAL, games)
    guess = round_.baseline[0]
    prior = round_.metric.score(round_.truth, guess)
    return Exposure.of(
        round_.truth,
        round_.view.known,
        guess,
        np.stack([play.guess for play in plays]),
        np.stack([prior, *(play.hits for play in plays)]),
        question.threshold,
    )


def _answer_limit(
    question: Question, round_: Round, budgets: Sequence[Budget]
) -> tuple[tuple[ProvedEpsilon, ...], tuple[MeasuredEpsilon, ...]]:
    if question.max_risk is None:
        return (), ()
    view, measure = round_.view, question.measure
    risks = RecordRisks(round_.prior, view.known, question.targets, round_.metric)
    real, fresh = [], []
    for budget in budgets:
        epsilon, at = budget.epsilon or 0.0, budget.attack(OPTIMAL)
        gain = budget.fresh_gain.value if budget.fresh_gain else 0.0
        mine, theirs = np.array(budget.prior_real), np.array(budget.prior_expected)
        real.append((epsilon, float(measure.of(np.array(at.real.value), mine))))
        fresh.append((epsilon, float(measure.of(theirs + gain, theirs))))
    return tuple(find_proved_epsilons(risks, measure, question.max_risk, question.delta)), (
        find_measured_epsilon("real", real, question.max_risk),
        find_measured_epsilon("fresh", fresh, question.max_risk),
    )
