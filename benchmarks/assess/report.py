"""Everything a report of an assessment shows, as typed values and as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isinf
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.accuracy import MarginalsAccuracy
from reconbench.benchmarks.assess.assessment import SURE, Assessment, Budget
from reconbench.benchmarks.assess.prior_fit import PriorFit
from reconbench.benchmarks.assess.published.release import PublishedQuestion
from reconbench.benchmarks.assess.question import Question
from reconbench.benchmarks.game.rows import read_versions

FORMAT = "reconbench-assessment/1"


@dataclass(frozen=True)
class TableSource:
    """Where the table and the prior came from.

    ``prior_table`` names other records that a prior was fitted to, and ``prior_records`` says how
    many; None where it was fitted to this table. ``weights`` names the column of weights, which
    tell as much as ``effective`` equal ones. ``release`` names the file that was attacked, and
    ``held_out`` that of records outside the table. ``format`` says how the table is written,
    ``dropped`` how many records were left out for missing values, and ``fit`` how well the prior
    describes the table, where that is known.
    """

    table: str
    records: int
    prior: str
    fitted: bool
    left_out: tuple[str, ...]
    release: str | None = None
    held_out: str | None = None
    format: str | None = None
    dropped: int = 0
    fit: PriorFit | None = None
    prior_table: str | None = None
    prior_records: int | None = None
    weights: str | None = None
    effective: float | None = None


@dataclass(frozen=True)
class AssessmentReport:
    """An assessment with the question it answers and the source of its table."""

    question: Question | PublishedQuestion
    assessment: Assessment
    source: TableSource

    @property
    def asked(self) -> Budget:
        """The budget that was asked about; that of the release where one was attacked."""
        budgets, epsilon = self.assessment.budgets, self.question.epsilon
        return next((budget for budget in budgets if budget.epsilon == epsilon), budgets[0])

    @property
    def attacks(self) -> tuple[str, ...]:
        """All attacks that were played."""
        return tuple(shares.attack for shares in self.asked.attacks)

    @property
    def mechanism(self) -> str:
        """The name of the mechanism, without the folder of its file."""
        return plugins.shorten_spec(self.question.mechanism)

    @property
    def optimal(self) -> bool:
        """Whether the reference knows the best possible, which it then expects to get itself."""
        reference = self.assessment.reference
        return self.asked.get_attack(reference).converged is not None

    @property
    def versions(self) -> dict[str, str]:
        return dict(read_versions())

    def to_json(self) -> dict[str, Any]:
        """Plain values; an infinite number is the text ``"inf"``, since JSON has none."""
        question, assessment, accuracy = self.question, self.assessment, self.asked.accuracy
        marginals = accuracy if isinstance(accuracy, MarginalsAccuracy) else None
        document: dict[str, Any] = {
            "format": FORMAT,
            "source": asdict(self.source),
            "targets": question.targets,
            "known": assessment.known,
            "question": {
                "epsilon": self.asked.epsilon,
                "in_rho": question.in_rho,
                "delta": question.delta,
                "k": None if marginals is None else marginals.k,
                "metric": question.metric,
                "max_risk": question.max_risk,
                "measure": question.measure.value,
                "threshold": question.threshold,
                "reps": question.reps,
                "seed": question.seed,
                "attacks": self.attacks,
                "reference": assessment.reference,
                "sure": SURE,
            },
            "mechanism": {
                "name": self.mechanism,
                "options": dict(question.mechanism_options),
                "access": question.access.value,
                "marginals": None if marginals is None else marginals.marginals,
                "cells": None if marginals is None else marginals.cells,
                "relation": assessment.relation,
                "unit": assessment.unit,
            },
            "budgets": [asdict(budget) for budget in assessment.budgets],
            "groups": None if assessment.groups is None else asdict(assessment.groups),
            "exposure": asdict(assessment.exposure),
            "proved": [asdict(answer) for answer in assessment.proved],
            "measured": [asdict(answer) for answer in assessment.measured],
            "versions": self.versions,
        }
        return make_plain(document)


def make_plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document as JSON can have it: an infinite number is the text ``"inf"``."""
    return {key: _make_plain(value) for key, value in document.items()}


def _make_plain(value: Any) -> Any:
    if isinstance(value, float) and isinf(value):
        return "inf"
    if isinstance(value, Mapping):
        return make_plain(value)
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value
