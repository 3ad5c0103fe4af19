"""Assess your own table: what a release of it would reveal to an attacker, budget by budget.

Two kinds of game are played at every ε. In *fresh* games the table is drawn from the prior, as
everywhere else. In *real* games the owner's own table is released, each time with new noise; the
exposure of kinds of record comes from these. A release that is already published is one real game
whose noise is given.
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
from reconbench.mechanisms import MarginalsRelease, Release
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
    """Answer a question by playing all its games; results do not depend on ``jobs``."""
    check_question(question, table)
    specs = tuple(AttackSpec(name) for name in question.attacks)
    for spec in specs:
        spec.build()
    tasks = [
        (question.build_game(len(table), epsilon, rep), given, specs)
        for epsilon in question.budgets
        for rep in range(question.reps)
        for given in (None, table)
    ]
    fresh: dict[float, list[Result]] = {epsilon: [] for epsilon in question.budgets}
    real: dict[float, list[RealGame]] = {epsilon: [] for epsilon in question.budgets}
    for (game, _, _), outcome in zip(tasks, _play_all(tasks, jobs), strict=True):
        if isinstance(outcome, RealGame):
            real[game.epsilon].append(outcome)
        else:
            fresh[game.epsilon] += outcome
        advance()
    rounds = {
        epsilon: build_real_round(question.build_game(len(table), epsilon), table)
        for epsilon in question.budgets
    }
    budgets = tuple(
        _measure_budget(question, rounds[epsilon], table, real[epsilon], fresh[epsilon])
        for epsilon in question.budgets
    )
    asked = rounds[question.epsilon]
    assessment = _assemble(question, asked, budgets, real[question.epsilon])
    proved, measured = _answer_limit(question, asked, budgets)
    rows = tuple(row for epsilon in question.budgets for row in fresh[epsilon])
    return replace(assessment, proved=proved, measured=measured, rows=rows)


def assess_release(
    question: Question, truth: Table, release: MarginalsRelease, mechanism: PublishedMarginals
) -> Assessment:
    """Attack a release that exists already, and count the successes against the truth."""
    game = question.build_game(len(truth), mechanism.budget.epsilon)
    round_ = build_real_round(game, truth, (release, mechanism))
    specs = tuple(AttackSpec(name) for name in question.attacks)
    with one_thread():
        games = [_play_real_game(round_, truth.project(release.domain.names), specs)]
    budget = _measure_budget(question, round_, truth, games, [])
    if mechanism.stated is None:
        budget = replace(budget, epsilon=None, mu=None, ceiling=None, guarantee="none stated")
    return _assemble(question, round_, (budget,), games)


def build_real_round(
    game: Game, table: Table, published: tuple[MarginalsRelease, PublishedMarginals] | None = None
) -> Round:
    """Build the round of a game on a given table, with new noise or with a published release.

    The name of the noise's random stream contains the hash of the table.
    """
    prior, known, metric, mechanism = check(game)
    names = [name for name in prior.domain.names if name in (*known, *game.targets)]
    played = table.project(names)
    release: Release
    if published is not None:
        release, mechanism = published
    else:
        rng = game.make_stream(f"release of the table {table.sha256()}", prior, Seeds.RELEASE)
        release = mechanism.release(played, rng)
    view = AttackerView(release, mechanism, played.project(known), game.targets, prior, metric)
    return Round(game, prior, mechanism, played.project(game.targets), view, table.sha256())


def _assemble(
    question: Question, round_: Round, budgets: tuple[Budget, ...], games: Sequence[RealGame]
) -> Assessment:
    guarantee = round_.mechanism.guarantee
    return Assessment(
        known=round_.view.known.domain.names,
        marginals=len(_get_release(round_.view).workload),
        relation=guarantee.relation.value,
        unit=guarantee.unit,
        budgets=budgets,
        exposure=_measure_exposure(question, round_, games),
    )


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
            round_ = Round.draw(game)
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
    attack, view = spec.build(), round_.view
    reason = skip_reason(attack, view)
    if reason is not None:
        raise AttackError(f"attack {attack.name!r} cannot play: {reason}")
    purpose = f"attack {attack.name} on the table {round_.table_hash}"
    rng = round_.game.make_stream(purpose, round_.prior, Seeds.ATTACK)
    reconstruction = check_reconstruction(view, attack.reconstruct(view, rng))
    best = reconstruction.best_possible
    return RealPlay(
        attack=attack.name,
        guess=reconstruction.guess.codes,
        hits=round_.metric.score(round_.truth, reconstruction.guess),
        sure=reconstruction.scores,
        converged=None if best is None else best.converged,
    )


def _get_release(view: AttackerView) -> MarginalsRelease:
    if not isinstance(view.release, MarginalsRelease):
        raise AssessError(
            f"an assessment needs a release of marginals, got {type(view.release).__name__}"
        )
    return view.release


def _get_plays(name: str, games: Sequence[RealGame]) -> list[RealPlay]:
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
    by_attack = {summary.attack: summary for summary in summarise(fresh)}
    attacks = tuple(
        AttackShares(
            spec,
            Mean.from_values([play.hits.mean() for play in _get_plays(spec, games)]),
            _measure_fresh(by_attack[spec], n) if spec in by_attack else None,
            _combine(play.converged for play in _get_plays(spec, games)),
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
        ceiling=_find_ceiling(round_.ceilings_for_any_attack, float(expected.mean()), n),
        sure=_count_sure(_get_plays(OPTIMAL, games), question.threshold),
        accuracy=Accuracy.measure(played, release, cleaned),
    )


def _measure_fresh(summary: Summary, n: int) -> Mean:
    high, success = summary.success_high, (summary.success or 0.0)
    low = summary.success_low
    if low is None or high is None:
        return Mean(success / n, None)
    return Mean(success / n, max(high - success, success - low) / n)


def _measure_fresh_gain(rows: Sequence[Result], n: int) -> Mean:
    """Pair the attack with guessing by table, so that the luck of a table cancels."""
    gains = [(row.successes or 0) - row.baseline_successes for row in rows if row.attack == OPTIMAL]
    return Mean.from_values([gain / n for gain in gains])


def _find_ceiling(ceilings: Mapping[str, Mapping[str, float]], expected: float, n: int) -> Ceiling:
    mean = tightest_mean(ceilings) or 0.0
    return Ceiling(mean / n, mean / n - expected, tightest(ceilings)[TOP] / n)


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
    known = [value for value in values if value is not None]
    return all(known) if known else None


def _measure_exposure(question: Question, round_: Round, games: Sequence[RealGame]) -> Exposure:
    plays = _get_plays(OPTIMAL, games)
    guess = round_.baseline[0]
    prior = round_.metric.score(round_.truth, guess)
    return Exposure.measure(
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
        epsilon, shares = budget.epsilon or 0.0, budget.get_attack(OPTIMAL)
        gain = budget.fresh_gain.value if budget.fresh_gain else 0.0
        guessed, expected = np.array(budget.prior_real), np.array(budget.prior_expected)
        real.append((epsilon, float(measure.compute_risk(np.array(shares.real.value), guessed))))
        fresh.append((epsilon, float(measure.compute_risk(expected + gain, expected))))
    return tuple(find_proved_epsilons(risks, measure, question.max_risk, question.delta)), (
        find_measured_epsilon("real", real, question.max_risk),
        find_measured_epsilon("fresh", fresh, question.max_risk),
    )
