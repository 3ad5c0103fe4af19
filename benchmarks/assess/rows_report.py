"""Everything a report on a published table without its truth shows, typed and as one document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from reconbench.benchmarks.assess.assessment import SURE
from reconbench.benchmarks.assess.published.release import PublishedQuestion
from reconbench.benchmarks.assess.published.rows import RowsAssessment
from reconbench.benchmarks.assess.report import make_plain
from reconbench.benchmarks.game.rows import read_versions

FORMAT = "reconbench-published-rows/1"


@dataclass(frozen=True)
class RowsReport:
    """What was found on a table without its truth. ``prior`` is the file that was read, if any."""

    question: PublishedQuestion
    found: RowsAssessment
    table: str
    prior: str | None
    left_out: tuple[str, ...]

    @property
    def versions(self) -> dict[str, str]:
        return dict(read_versions())

    def to_json(self) -> dict[str, Any]:
        question, found = self.question, self.found
        return make_plain(
            {
                "format": FORMAT,
                "source": {
                    "table": self.table,
                    "rows": found.rows,
                    "prior": self.prior,
                    "fitted": found.fitted,
                    "left_out": self.left_out,
                },
                "targets": question.targets,
                "known": found.known,
                "question": {
                    "epsilon": found.epsilon,
                    "delta": None if found.epsilon is None else question.delta,
                    "metric": question.metric,
                    "seed": question.seed,
                    "attacks": [guesses.attack for guesses in found.guesses],
                    "reference": found.reference,
                    "sure": SURE,
                },
                "guarantee": {
                    "stated": found.guarantee,
                    "relation": found.relation,
                    "unit": found.unit,
                    "any_prior_gain": found.any_prior_gain,
                },
                "made_up_rows": [asdict(guesses) for guesses in found.guesses],
                "measured_success": None,
                "versions": self.versions,
            }
        )
