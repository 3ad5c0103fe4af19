"""Assess a release of one's own table that is still planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.cli.assessing.inputs import Attacker
from reconbench.cli.assessing.outputs import show_assessment
from reconbench.front.assessing.planned import count_games, play_plan
from reconbench.front.assessing.report_files import check_folder
from reconbench.front.progress import show_progress

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
    from reconbench.benchmarks.assess.question import Question, check_table
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
    with attacker.find_prior(records) as prior:
        with show_progress("assess", count_games(question), quiet=attacker.quiet) as advance:
            report = play_plan(question, records, prior, others, jobs=plan.jobs, advance=advance)
        show_assessment(report, attacker.out, prior, as_json=attacker.as_json)
