"""Everything a report of an assessment shows, as typed values and as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isinf
from typing import Any

from reconbench.benchmarks.assess.assessment import SURE, Assessment, Budget, Question
from reconbench.benchmarks.game.rows import read_versions

FORMAT = "reconbench-assessment/1"


@dataclass(frozen=True)
class TableSource:
    """Where the table and the prior came from; ``release`` names the file that was attacked."""

    table: str
    records: int
    prior: str
    fitted: bool
    left_out: tuple[str, ...]
    release: str | None = None


@dataclass(frozen=True)
class AssessmentReport:
    """An assessment with the question it answers and the source of its table."""

    question: Question
    assessment: Assessment
    source: TableSource

    @property
    def asked(self) -> Budget:
        """The budget that was asked about; that of the release where one was attacked."""
        budgets = self.assessment.budgets
        if self.source.release:
            return budgets[0]
        return next(budget for budget in budgets if budget.epsilon == self.question.epsilon)

    @property
    def reps(self) -> int:
        """How often noise was drawn."""
        return 1 if self.source.release else self.question.reps

    @property
    def versions(self) -> dict[str, str]:
        return dict(read_versions())

    def to_json(self) -> dict[str, Any]:
        """Plain values; an infinite number is the text ``"inf"``, since JSON has none."""
        question, assessment = self.question, self.assessment
        document: dict[str, Any] = {
            "format": FORMAT,
            "source": asdict(self.source),
            "targets": question.targets,
            "known": assessment.known,
            "question": {
                "epsilon": self.asked.epsilon,
                "delta": question.delta,
                "k": question.k,
                "metric": question.metric,
                "max_risk": question.max_risk,
                "measure": question.measure.value,
                "threshold": question.threshold,
                "reps": self.reps,
                "seed": question.seed,
                "attacks": question.attacks,
                "sure": SURE,
            },
            "mechanism": {
                "marginals": assessment.marginals,
                "cells": self.asked.accuracy.cells,
                "relation": assessment.relation,
                "unit": assessment.unit,
            },
            "budgets": [asdict(budget) for budget in assessment.budgets],
            "exposure": asdict(assessment.exposure),
            "proved": [asdict(answer) for answer in assessment.proved],
            "measured": [asdict(answer) for answer in assessment.measured],
            "versions": self.versions,
        }
        plain: dict[str, Any] = _make_plain(document)
        return plain


def _make_plain(value: Any) -> Any:
    if isinstance(value, float) and isinf(value):
        return "inf"
    if isinstance(value, Mapping):
        return {key: _make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value
