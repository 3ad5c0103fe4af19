"""Assess your own table: what a release of it would reveal to an attacker, budget by budget.

Two kinds of game are played at every ε. In *fresh* games the table is drawn from the prior, as
everywhere else. In *real* games the owner's own table is released, each time with new noise; the
exposure of kinds of record comes from these. What is out already is assessed in ``published``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from reconbench.benchmarks.assess.assessment import Assessment, Budget, Groups, Weights
from reconbench.benchmarks.assess.budgets import measure_budget, measure_exposure
from reconbench.benchmarks.assess.games.real_games import (
    Floats,
    RealGame,
    build_real_round,
    find_plays,
    split_held_out,
)
from reconbench.benchmarks.assess.games.tasks import Memory, Task, play_tasks, recall_tasks
from reconbench.benchmarks.assess.max_epsilon import (
    MeasuredEpsilon,
    ProvedEpsilon,
    RecordRisks,
    find_family,
    find_measured_epsilon,
    find_proved_epsilons,
)
from reconbench.benchmarks.assess.question import Question, check_question
from reconbench.benchmarks.assess.record_table import RecordTable
from reconbench.benchmarks.assess.reference import choose_reference, list_attacks
from reconbench.benchmarks.assess.zcdp_budgets import check_rho
from reconbench.benchmarks.game.play import AttackSpec, Round
from reconbench.benchmarks.game.result import Result
from reconbench.bounds import Guarantee
from reconbench.datasets import Table

# Opens the progress of so many games, of which so many are done, and yields what to call for each.
Show = Callable[[int, int], AbstractContextManager[Callable[[], None]]]


def assess(
    question: Question,
    table: Table,
    *,
    held_out: Table | None = None,
    weights: Weights | None = None,
    groups: Groups | None = None,
    per_record: bool = False,
    jobs: int = 1,
    memory: Memory | None = None,
    show: Show = lambda total, done: nullcontext(lambda: None),
) -> Assessment:
    """Answer a question by playing all its games; results do not depend on ``jobs``.

    Args:
        question: What is asked.
        table: The records.
        held_out: Records that are not in the table, to be attacked as well.
        weights: How many people each record stands for: shares of the table are weighted.
        groups: Which records belong together: the guarantee for the largest group is stated.
        per_record: Measure the risk of every single record at the budget asked about.
        jobs: Worker processes.
        memory: Remembers games from one call to the next: those are not played again.
        show: Opens the progress of so many games, of which some are remembered.
    """
    check_question(question, table)
    shares = None if weights is None else weights.values
    rounds = {
        epsilon: build_real_round(question.build_game(len(table), epsilon), table)
        for epsilon in question.budgets
    }
    asked = rounds[question.epsilon]
    if question.in_rho:
        check_rho(asked.mechanism)
    reference = choose_reference(asked.view)
    attacks = list_attacks(question.attacks, reference, asked.view)
    specs = tuple(AttackSpec(name) for name in attacks)
    others = None if held_out is None else split_held_out(held_out, asked)
    tasks = [
        Task(question.build_game(len(table), epsilon, rep), given, specs, others)
        for epsilon in question.budgets
        for rep in range(question.reps)
        for given in (None, table)
    ]
    fresh: dict[float, list[Result]] = {epsilon: [] for epsilon in question.budgets}
    real: dict[float, list[RealGame]] = {epsilon: [] for epsilon in question.budgets}
    outcomes = recall_tasks(tasks, memory)
    waiting = {index: task for index, task in enumerate(tasks) if index not in outcomes}
    with show(len(tasks), len(outcomes)) as advance:
        for index, outcome in play_tasks(waiting, jobs, memory):
            outcomes[index] = outcome
            advance()
    for index, task in enumerate(tasks):
        outcome = outcomes[index]
        if isinstance(outcome, RealGame):
            real[task.game.epsilon].append(outcome)
        else:
            fresh[task.game.epsilon] += outcome
    budgets = tuple(
        _state_group(
            measure_budget(
                rounds[epsilon],
                attacks,
                reference,
                question.threshold,
                real[epsilon],
                fresh[epsilon],
                others,
                shares,
            ),
            rounds[epsilon].mechanism.guarantee,
            groups,
        )
        for epsilon in question.budgets
    )
    proved, measured = _answer_limit(question, asked, reference, budgets, shares)
    own = find_plays(reference, real[question.epsilon])
    return Assessment(
        known=asked.view.known.domain.names,
        reference=reference,
        relation=asked.mechanism.guarantee.relation.value,
        unit=asked.mechanism.guarantee.unit,
        budgets=budgets,
        exposure=measure_exposure(
            asked, reference, real[question.epsilon], question.threshold, shares
        ),
        proved=proved,
        measured=measured,
        rows=tuple(row for epsilon in question.budgets for row in fresh[epsilon]),
        groups=groups,
        per_record=RecordTable.measure(asked, own) if per_record else None,
    )


def _state_group(budget: Budget, guarantee: Guarantee, groups: Groups | None) -> Budget:
    """Add what the largest group as a whole is promised."""
    if groups is None:
        return budget
    together = guarantee.group(groups.largest)
    return replace(
        budget, group_guarantee=together.describe(), group_gain=together.total_variation()
    )


def _answer_limit(
    question: Question,
    round_: Round,
    reference: str,
    budgets: Sequence[Budget],
    weights: Floats | None,
) -> tuple[tuple[ProvedEpsilon, ...], tuple[MeasuredEpsilon, ...]]:
    if question.max_risk is None:
        return (), ()
    view, measure = round_.view, question.measure
    risks = RecordRisks(round_.prior, view.known, question.targets, round_.metric, weights)
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
