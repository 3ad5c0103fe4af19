"""Play a table through a mechanism that is still planned, and put the report together."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.front.assessing.sources import PriorFile, Records, describe_source

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.assess import Show
    from reconbench.benchmarks.assess.question import Question
    from reconbench.benchmarks.assess.report import AssessmentReport


def play_plan(
    question: Question,
    records: Records,
    prior: PriorFile,
    others: Records | None = None,
    *,
    show: Show,
    jobs: int = 1,
    per_record: bool = False,
    out: Path | None = None,
) -> AssessmentReport:
    """Answer a question about records; ``others`` are not among them, and are attacked as well.

    ``show`` opens the progress of the games. Those that the folder ``out`` holds are not played
    again; the others are kept there.
    """
    from reconbench.benchmarks.assess.assess import assess
    from reconbench.benchmarks.assess.games.saved_games import SavedGames
    from reconbench.benchmarks.assess.report import AssessmentReport

    asked = replace(question, dataset=prior.spec)
    with nullcontext() if out is None else SavedGames(out) as memory:
        found = assess(
            asked,
            records.table,
            held_out=None if others is None else others.table,
            weights=records.weights,
            groups=records.groups,
            per_record=per_record,
            jobs=jobs,
            memory=memory,
            show=show,
        )
    played = (*found.known, *asked.targets)
    source = describe_source(records, prior, played, asked.targets, held_out=others)
    return AssessmentReport(asked, found, source)
