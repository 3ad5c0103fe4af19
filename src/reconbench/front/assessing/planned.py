"""Play a table through a mechanism that is still planned, and put the report together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from reconbench.front.assessing.sources import PriorFile, Records, describe_source

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.question import Question
    from reconbench.benchmarks.assess.report import AssessmentReport


def count_games(question: Question) -> int:
    """How many games are played: on the table and on a drawn one, at every budget."""
    return 2 * question.reps * len(question.budgets)


def play_plan(
    question: Question,
    records: Records,
    prior: PriorFile,
    others: Records | None = None,
    *,
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> AssessmentReport:
    """Answer a question about records; ``others`` are not among them, and are attacked as well."""
    from reconbench.benchmarks.assess.assess import assess
    from reconbench.benchmarks.assess.report import AssessmentReport

    asked = replace(question, dataset=prior.spec)
    found = assess(
        asked,
        records.table,
        held_out=None if others is None else others.table,
        jobs=jobs,
        advance=advance,
    )
    played = (*found.known, *asked.targets)
    source = describe_source(records, prior, played, asked.targets, held_out=others)
    return AssessmentReport(asked, found, source)
