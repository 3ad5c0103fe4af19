"""Singling out as a risk to calibrate: anyone in a table, or one person among candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.calibration.solve import Source
from reconbench.bounds.guarantees.guarantee import Guarantee, as_replace_one
from reconbench.bounds.risk.one_target import SharpestBound
from reconbench.bounds.risk.singling_out import SinglingOut


@dataclass(frozen=True, eq=False)
class SinglingOutAnyone:
    """The success of a predicate that is to hold for exactly one record of a table (PSO).

    Nothing is known of the records, which are independent (Kulynych 2025, Theorem F.2). It needs
    replace-one neighbours: an add-or-remove-one guarantee is converted first.

    Args:
        weights: how likely the predicate holds for a record, at most 1/records; one or several.
        records: how many records the table has.
    """

    weights: FloatArray
    records: int

    name: ClassVar[str] = "singling-out"

    def __post_init__(self) -> None:
        count = positive_integer("records", self.records)
        object.__setattr__(self, "weights", _check_weights(self.weights, count, "records"))

    def __call__(self, guarantee: Guarantee) -> float:
        bound = SinglingOut(self.records)
        return float(bound.success(self.weights, as_replace_one(guarantee)).max())

    def source(self, guarantee: Guarantee) -> Source:
        return Source(SinglingOut.name, SinglingOut.reference)


@dataclass(frozen=True, eq=False)
class SinglingOutTarget:
    """The success of a predicate that is to hold for the target alone, among candidates (SPSO).

    All other records are known. Kulynych 2025, Theorem C.2, for either neighbouring relation, and
    `profile-recursion` for replace-one, which holds for every success event.

    Args:
        weights: how likely the predicate holds under the prior on the candidates, at most
            1/candidates; one or several.
        candidates: how many records the target's may be.
    """

    weights: FloatArray
    candidates: int

    name: ClassVar[str] = "singling-out"

    def __post_init__(self) -> None:
        count = positive_integer("candidates", self.candidates)
        object.__setattr__(self, "weights", _check_weights(self.weights, count, "candidates"))

    def __call__(self, guarantee: Guarantee) -> float:
        return float(SharpestBound(any_event=True).success(self.weights, guarantee).max())

    def source(self, guarantee: Guarantee) -> Source:
        bound = SharpestBound(any_event=True).binding(self.weights, guarantee)
        return Source(bound.name, bound.reference)


def _check_weights(weights: FloatArray, count: int, name: str) -> FloatArray:
    found = _validate.probability_vector("weight", np.atleast_1d(weights))
    if (found > (1 + 1e-12) / count).any():
        raise ValueError(
            f"weight (the baseline) must be at most 1/{name} = {1 / count:g}, got {found.max():g}"
        )
    return np.minimum(found, 1 / count)
