"""Assess your own table: what a release of it would reveal to an attacker, budget by budget.

Two kinds of game are played at every ε. In *fresh* games the table is drawn from the prior, as
everywhere else. In *real* games the owner's own table is released, each time with new noise; the
exposure of kinds of record comes from these. What is out already is assessed in ``published``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from reconbench.benchmarks.assess.assessment import Assessment, Budget
from reconbench.benchmarks.assess.budgets import measure_budget, measure_exposure
from reconbench.benchmarks.assess.max_epsilon import (
    MeasuredEpsilon,
    ProvedEpsilon,
    RecordRisks,
    find_family,
    find_measured_epsilon,
    find_proved_epsilons,
)
from reconbench.benchmarks.assess.question import AssessError, Question, check_question
from reconbench.benchmarks.assess.real_games import (
    RealGame,
    build_real_round,
    play_real_game,
    split_held_out,
)
from reconbench.benchmarks.assess.reference import choose_reference, list_attacks
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.datasets import Table


def assess(
    question: Question,
    table: Table,
    *,
    held_out: Table | None = None,
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> Assessment:
    """Answer a question by playing all its games; results do not depend on ``jobs``.

    ``held_out`` are records that are not in the table, to be attacked as well.
    """
    check_question(question, table)
    rounds = {
        epsilon: build_real_round(question.build_game(len(table), epsilon), table)
        for epsilon in question.budgets
    }
    asked = rounds[question.epsilon]
    reference = choose_reference(asked.view)
    attacks = list_attacks(question.attacks, reference, asked.view)
    specs = tuple(AttackSpec(name) for name in attacks)
    others = None if held_out is None else split_held_out(held_out, asked)
    tasks = [
        (question.build_game(len(table), epsilon, rep), given, specs, others)
        for epsilon in question.budgets
        for rep in range(question.reps)
        for given in (None, table)
    ]
    fresh: dict[float, list[Result]] = {epsilon: [] for epsilon in question.budgets}
    real: dict[float, list[RealGame]] = {epsilon: [] for epsilon in question.budgets}
    for (game, *_), outcome in zip(tasks, _play_all(tasks, jobs), strict=True):
        if isinstance(outcome, RealGame):
            real[game.epsilon].append(outcome)
        else:
            fresh[game.epsilon] += outcome
        advance()
    budgets = tuple(
        measure_budget(
            rounds[epsilon],
            attacks,
            reference,
            question.threshold,
            real[epsilon],
            fresh[epsilon],
            others,
        )
        for epsilon in question.budgets
    )
    proved, measured = _answer_limit(question, asked, reference, budgets)
    return Assessment(
        known=asked.view.known.domain.names,
        reference=reference,
        relation=asked.mechanism.guarantee.relation.value,
        unit=asked.mechanism.guarantee.unit,
        budgets=budgets,
        exposure=measure_exposure(asked, reference, real[question.epsilon], question.threshold),
        proved=proved,
        measured=measured,
        rows=tuple(row for epsilon in question.budgets for row in fresh[epsilon]),
    )


Task = tuple[Game, Table | None, tuple[AttackSpec, ...], HeldOut | None]
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
    game, table, specs, held_out = task
    with one_thread():
        if table is None:
            round_ = Round.draw(game)
            rows = [play(round_, spec) for spec in specs]
            for row in rows:
                if row.status is not Status.OK:
                    raise AssessError(f"attack {row.attack!r} cannot play: {row.error}")
            return rows
        return play_real_game(build_real_round(game, table), table, specs, held_out)


def _answer_limit(
    question: Question, round_: Round, reference: str, budgets: Sequence[Budget]
) -> tuple[tuple[ProvedEpsilon, ...], tuple[MeasuredEpsilon, ...]]:
    if question.max_risk is None:
        return (), ()
    view, measure = round_.view, question.measure
    risks = RecordRisks(round_.prior, view.known, question.targets, round_.metric)
    played, prior = view.release.domain, round_.prior
    family = find_family(
        round_.mechanism, lambda epsilon: question.build_mechanism(epsilon, played, prior)
    )
    real, fresh = [], []
    for budget in budgets:
        epsilon, shares = budget.epsilon or 0.0, budget.get_attack(reference)
        gain = budget.fresh_gain.value if budget.fresh_gain else 0.0
        guessed, expected = np.array(budget.prior_real), np.array(budget.prior_expected)
        real.append((epsilon, float(measure.compute_risk(np.array(shares.real.value), guessed))))
        fresh.append((epsilon, float(measure.compute_risk(expected + gain, expected))))
    return tuple(find_proved_epsilons(risks, measure, question.max_risk, family)), (
        find_measured_epsilon("real", real, question.max_risk),
        find_measured_epsilon("fresh", fresh, question.max_risk),
    )
