"""Assess a release of one's own table that is still planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.cli.assessing.inputs import Attacker, describe_source, find_prior
from reconbench.cli.assessing.outputs import check_folder, write_assessment
from reconbench.cli.terminal.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.max_epsilon import Measure
    from reconbench.benchmarks.game.options import Option


@dataclass(frozen=True)
class Plan:
    """The release that is planned, and what it is held against."""

    epsilon: float | None
    epsilons: tuple[float, ...]
    delta: float
    mechanism: str
    mechanism_options: Mapping[str, Option]
    access: str
    max_risk: float | None
    measure: Measure
    reps: int
    jobs: int
    held_out: Path | None


def assess_plan(attacker: Attacker, plan: Plan, source: Path | None) -> None:
    """Play a table through a mechanism at every budget, and write the report."""
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.assess.assess import assess
    from reconbench.benchmarks.assess.question import Question, check_table
    from reconbench.benchmarks.assess.report import AssessmentReport
    from reconbench.benchmarks.game.options import Options
    from reconbench.benchmarks.game.setting import Access

    if source is None:
        raise ValueError(
            "assess needs a table: a CSV file (or --release or --synthetic, a file that is out)"
        )
    if plan.epsilon is None:
        raise ValueError("assess needs --epsilon: the budget you have in mind")
    if plan.access not in list(Access):
        raise ValueError(f"--access must be {' or '.join(Access)}, got {plan.access!r}")
    mechanism, options = plugins.make_absolute(plan.mechanism), Options(plan.mechanism_options)
    plugins.check_options(mechanism, options)
    domain = attacker.read_domain()
    records = attacker.read_records(source, domain)
    others = None if plan.held_out is None else attacker.read_records(plan.held_out, domain)
    check_folder(attacker.out)

    question = Question(
        "",
        **attacker.asked,
        epsilon=plan.epsilon,
        epsilons=plan.epsilons,
        delta=plan.delta,
        mechanism=mechanism,
        mechanism_options=options,
        access=Access(plan.access),
        reps=plan.reps,
        max_risk=plan.max_risk,
        measure=plan.measure,
    )
    check_table(question, records.table)
    with find_prior(attacker, records) as prior:
        question = replace(question, dataset=prior.spec)
        games = 2 * plan.reps * len(question.budgets)
        with show_progress("assess", games, quiet=attacker.quiet) as advance:
            found = assess(
                question,
                records.table,
                held_out=None if others is None else others.table,
                jobs=plan.jobs,
                advance=advance,
            )
        played = (*found.known, *question.targets)
        origin = describe_source(records, prior, played, question.targets, held_out=others)
        report = AssessmentReport(question, found, origin)
        write_assessment(report, attacker.out, prior, as_json=attacker.as_json)
