"""An assessment as one JSON document: all that a report of it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isinf
from typing import Any

from reconbench.benchmarks.assess.assessment import SURE, Assessment, Question
from reconbench.benchmarks.game.play import versions

FORMAT = "reconbench-assessment/1"


@dataclass(frozen=True)
class Provenance:
    """Where the table and the prior came from; ``release`` names a file that was attacked."""

    table: str
    records: int
    prior: str
    fitted: bool
    left_out: tuple[str, ...]
    release: str | None = None


def document(question: Question, found: Assessment, source: Provenance) -> dict[str, Any]:
    """Plain values; an infinite number is the text ``"inf"``, since JSON has none."""
    shown: dict[str, Any] = {
        "format": FORMAT,
        "source": asdict(source),
        "targets": question.targets,
        "known": found.known,
        "question": {
            "epsilon": found.budgets[0].epsilon if source.release else question.epsilon,
            "delta": question.delta,
            "k": question.k,
            "metric": question.metric,
            "max_risk": question.max_risk,
            "measure": question.measure.value,
            "threshold": question.threshold,
            "reps": 1 if source.release else question.reps,
            "seed": question.seed,
            "attacks": question.attacks,
            "sure": SURE,
        },
        "mechanism": {
            "marginals": found.marginals,
            "cells": found.budgets[0].accuracy.cells,
            "relation": found.relation,
            "unit": found.unit,
        },
        "budgets": [asdict(budget) for budget in found.budgets],
        "exposure": asdict(found.exposure),
        "proved": [asdict(each) for each in found.proved],
        "measured": [asdict(each) for each in found.measured],
        "versions": dict(versions()),
    }
    plain: dict[str, Any] = _plain(shown)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, float) and isinf(value):
        return "inf"
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
