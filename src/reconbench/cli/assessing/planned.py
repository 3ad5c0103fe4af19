"""Assess a release of one's own table that is still planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reconbench.cli.assessing.inputs import Attacker
from reconbench.cli.assessing.outputs import show_assessment
from reconbench.front.assessing.planned import play_plan
from reconbench.front.assessing.report_files import check_folder, write_record_table
from reconbench.front.assessing.sources import split_records
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.max_epsilon import Measure
    from reconbench.benchmarks.assess.zcdp_budgets import StatedBudgets
    from reconbench.benchmarks.game.options import Option


@dataclass(frozen=True)
class Plan:
    """The release that is planned, and what it is held against."""

    budgets: StatedBudgets
    mechanism: str
    mechanism_options: Mapping[str, Option]
    access: str
    max_risk: float | None
    measure: Measure
    reps: int
    jobs: int
    held_out: Path | None
    prior_split: float | None
    per_record: Path | None


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
    if plan.access not in list(Access):
        raise ValueError(f"--access must be {' or '.join(Access)}, got {plan.access!r}")
    mechanism, options = plugins.make_absolute(plan.mechanism), Options(plan.mechanism_options)
    plugins.check_options(mechanism, options)
    domain = attacker.read_domain()
    records, prior_source = attacker.read_table(source, domain), attacker.read_prior_source(domain)
    if plan.prior_split is not None:
        prior_source, records = split_records(records, plan.prior_split, attacker.seed)
    others = None if plan.held_out is None else attacker.read_records(plan.held_out, domain)
    check_folder(attacker.out)
    if plan.per_record is not None:
        check_folder(plan.per_record.parent)

    question = Question(
        "",
        **attacker.asked,
        epsilon=plan.budgets.epsilon,
        epsilons=plan.budgets.epsilons,
        delta=plan.budgets.delta,
        in_rho=plan.budgets.in_rho,
        mechanism=mechanism,
        mechanism_options=options,
        access=Access(plan.access),
        reps=plan.reps,
        max_risk=plan.max_risk,
        measure=plan.measure,
    )
    check_table(question, records.table)
    with attacker.find_prior(records, prior_source) as prior:
        report = play_plan(
            question,
            records,
            prior,
            others,
            show=lambda total, done: show_progress(
                "assess", total, quiet=attacker.quiet, done=done
            ),
            jobs=plan.jobs,
            per_record=plan.per_record is not None,
            out=attacker.out,
        )
        show_assessment(report, attacker.out, prior, as_json=attacker.as_json)
    if plan.per_record is not None:
        write_record_table(plan.per_record, report, records)
        typer.echo(f"{plan.per_record}: confidential, the risk of every record", err=True)
