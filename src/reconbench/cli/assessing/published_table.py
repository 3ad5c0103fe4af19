"""Assess a synthetic table that is published, with or without the table it stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.cli.assessing.inputs import Attacker, refuse
from reconbench.cli.assessing.outputs import show_assessment, show_report
from reconbench.cli.terminal.own_tables import say
from reconbench.front.assessing.report_files import check_folder
from reconbench.front.assessing.sources import describe_source
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.published.release import PublishedQuestion
    from reconbench.bounds import ApproxDP
    from reconbench.datasets import Domain, Table
    from reconbench.mechanisms.published_table import PublishedTable


def state_budget(
    epsilon: float | None, delta: float | None, relation: str | None
) -> ApproxDP | None:
    """The budget that the publisher names; None where nothing is promised."""
    from reconbench.bounds import ApproxDP
    from reconbench.bounds.guarantees.relation import as_relation

    if epsilon is None:
        refuse({"--delta": delta, "--relation": relation}, "is of a budget: it needs --epsilon")
        return None
    return ApproxDP(
        epsilon, 1e-5 if delta is None else delta, as_relation(relation or "replace-one")
    )


def assess_table(
    attacker: Attacker,
    synthetic: Path,
    truth: Path | None,
    held_out: Path | None,
    stated: ApproxDP | None,
) -> None:
    """Judge a synthetic table whose generator is unknown, and write the report."""
    from reconbench.benchmarks.assess.published.release import PublishedQuestion
    from reconbench.benchmarks.assess.question import choose_played
    from reconbench.datasets.released_table import read_released_table
    from reconbench.mechanisms.published_table import PublishedTable

    if truth is None:
        refuse({"--held-out": held_out}, "needs --truth: success is measured on both or on neither")
        refuse({"--prior-from": attacker.prior_from}, "needs --truth, which the prior is for")
    domain = attacker.read_domain("--synthetic")
    played, _ = choose_played(domain, attacker.targets, attacker.known)
    read = read_released_table(synthetic, domain, played.names, attacker.style)
    if not attacker.quiet:
        say(synthetic, read.describe())
    released = read.table
    mechanism = PublishedTable(played, attacker.targets, stated)
    check_folder(attacker.out)

    question = PublishedQuestion(
        "",
        **attacker.asked,
        mechanism=PublishedTable.name,
        epsilon=inf if stated is None else stated.epsilon,
        delta=1e-5 if stated is None else stated.delta,
    )
    table = _Released(synthetic.name, domain, released, mechanism)
    if truth is None:
        _assess_rows(attacker, question, table)
    else:
        _assess_with_truth(attacker, question, table, truth, held_out)


@dataclass(frozen=True)
class _Released:
    """A table that is out, and the domain of all columns that were declared."""

    name: str
    domain: Domain
    rows: Table
    mechanism: PublishedTable

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that are neither known nor wanted."""
        return tuple(name for name in self.domain.names if name not in self.rows.domain)


def _assess_with_truth(
    attacker: Attacker,
    question: PublishedQuestion,
    released: _Released,
    truth: Path,
    held_out: Path | None,
) -> None:
    from reconbench.benchmarks.assess.published.release import assess_release
    from reconbench.benchmarks.assess.question import ALL, check_table
    from reconbench.benchmarks.assess.report import AssessmentReport
    from reconbench.mechanisms.synthetic.release import SyntheticRelease

    records = attacker.read_records(truth, released.domain)
    others = None if held_out is None else attacker.read_records(held_out, released.domain)
    check_table(question, records.table)
    release = SyntheticRelease(released.rows.domain, released.rows, len(records.table))
    with attacker.find_prior(records, attacker.read_prior_source(released.domain)) as prior:
        question = replace(question, dataset=prior.spec, attacks=question.attacks or (ALL,))
        found = assess_release(
            question,
            records.table,
            release,
            released.mechanism,
            None if others is None else others.table,
            attacker.announce_attack,
        )
        played = released.rows.domain.names
        source = describe_source(
            records,
            prior,
            played,
            question.targets,
            release=released.name,
            held_out=others,
        )
        report = AssessmentReport(question, found, source)
        show_assessment(report, attacker.out, prior, as_json=attacker.as_json)


def _assess_rows(attacker: Attacker, question: PublishedQuestion, released: _Released) -> None:
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.assess.published.rows import PARTS, assess_rows
    from reconbench.benchmarks.assess.rows_report import RowsReport
    from reconbench.reports.assess.rows_report import rows_html, rows_markdown, summarise_rows

    prior = None if attacker.prior is None else plugins.load_prior(str(attacker.prior))
    with show_progress("assess", PARTS, quiet=attacker.quiet) as advance:
        found = assess_rows(question, released.rows, released.mechanism, prior, advance)
    name = None if attacker.prior is None else attacker.prior.name
    report = RowsReport(question, found, released.name, name, released.left_out)
    pages = {"md": rows_markdown(report), "html": rows_html(report)}
    show_report(
        attacker.out, report.to_json(), pages, summarise_rows(report), as_json=attacker.as_json
    )
