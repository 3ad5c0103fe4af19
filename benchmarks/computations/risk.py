"""Bounds on one target: success, worst-case advantage and singling out.

Figures 1 to 5 and 8 to 10 of Kulynych 2025, figures 1 and 2 of Swanberg 2025; risks of trained
models (figures 1 and 7) are in ``training``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, model_validator

from reconbench.benchmarks.computations.computation import (
    WORST_CASE,
    Computation,
    Point,
    Promise,
    Share,
    Shares,
    Wholes,
    known_names,
)
from reconbench.benchmarks.computations.guarantees import Guarantees
from reconbench.bounds import (
    RISK_BOUNDS,
    ApproxDP,
    FanoInformation,
    Guarantee,
    PureDP,
    ReRoRenyi,
    RiskBound,
    SinglingOut,
    generalised_advantage,
    singling_out_approx,
    singling_out_baseline,
    strong_singling_out,
    worst_advantage,
)
from reconbench.bounds.guarantees.relation import require_replace_one, why_not_replace_one

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class UniformGuess:
    """succ = p with p = 1 − f((1 − p)/(m − 1)), one of m equally likely values.

    Mahloujifar et al. 2024 with one target: the MMC curve of Swanberg 2025, figure 1. It covers the
    baselines 1/m of whole m only. Replace-one neighbours.
    """

    name: ClassVar[str] = "mmc"
    reference: ClassVar[str] = "Mahloujifar et al. 2024, one target"
    assumptions: ClassVar[str] = "a uniform prior, exact match; replace-one neighbours"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: npt.ArrayLike, guarantee: Guarantee) -> Floats:
        require_replace_one(guarantee, self.reference)
        return np.array([self._one(float(b), guarantee) for b in np.atleast_1d(baseline)])

    def _one(self, base: float, guarantee: Guarantee) -> float:
        values = round(1 / base) if base > 0 else 0
        if values < 2 or not math.isclose(values * base, 1, rel_tol=1e-9):
            return math.nan

        def excess(p: float) -> float:
            return float(guarantee.power((1 - p) / (values - 1))) - p

        from scipy.optimize import brentq

        if excess(1.0) >= 0:
            return 1.0
        return float(brentq(excess, base, 1.0, xtol=1e-13)) if excess(base) > 0 else base


ORDER_2 = "rero-rdp-2"
BOUNDS: Mapping[str, RiskBound] = {bound.name: bound for bound in RISK_BOUNDS} | {
    UniformGuess.name: UniformGuess(),
    FanoInformation.name: FanoInformation(),
    ORDER_2: ReRoRenyi(2.0),
}
BOUND_MEANINGS = {name: bound.reference for name, bound in BOUNDS.items()} | {
    ORDER_2: f"{ReRoRenyi.reference}, Rényi DP of order 2"
}

BoundNames = Annotated[
    list[str], BeforeValidator(known_names("bound", BOUNDS)), Field(min_length=1)
]


MEASURES: Mapping[str, Callable[[float, float], float]] = {
    "success": lambda success, baseline: success,
    "advantage": lambda success, baseline: success - baseline,
    "generalised-advantage": lambda success, baseline: float(
        generalised_advantage(success, baseline)
    ),
}


class SuccessCurve(Computation):
    """The success that bounds allow on one target, or its advantage, by baseline.

    With ``worst_case``, the advantage at the worst baseline as well.
    """

    reference = "Kulynych 2025, figures 1, 3, 5 and 9; Swanberg 2025, figures 1 and 2"
    metric = "success"
    meanings = BOUND_MEANINGS

    compute: Literal["success", "advantage", "generalised-advantage"]
    guarantee: Guarantees
    baseline: Shares
    bounds: BoundNames
    worst_case: bool = False

    @model_validator(mode="after")
    def _check_worst_case(self) -> Self:
        if self.worst_case and self.compute != "advantage":
            raise ValueError(f"worst_case is for the advantage, got {self.compute!r}")
        return self

    def points(self, suite: str) -> Iterator[Point]:
        metric = self.compute.replace("-", " ")
        for mechanism, promise in self.guarantee.promises():
            for base in self.baseline:
                asked = {"baseline": base, "bounds": self.bounds}
                yield Point(suite, self, mechanism, promise, promise.label, base, asked, metric)
        if self.worst_case:
            worst = WorstCase(
                compute="worst-advantage", guarantee=self.guarantee, bounds=self.bounds
            )
            yield from worst.points(suite)

    def evaluate(self, point: Point) -> dict[str, float]:
        def value(bound: RiskBound, guarantee: Guarantee) -> float:
            success = float(np.ravel(bound.success(np.array([point.baseline]), guarantee))[0])
            return MEASURES[self.compute](success, point.baseline)

        return evaluate_bounds(self.bounds, list_guarantees(point.promise), value)


class WorstCase(Computation):
    """The advantage that bounds allow at the baseline where it is largest."""

    reference = "Kulynych 2025, figures 3 and 4"
    metric = "worst-case advantage"
    meanings = BOUND_MEANINGS | {
        "approx": "(ε, δ)-DP alone, without the curve: its total variation"
    }

    compute: Literal["worst-advantage"]
    guarantee: Guarantees
    bounds: BoundNames

    def points(self, suite: str) -> Iterator[Point]:
        for mechanism, promise in self.guarantee.promises():
            asked = {"bounds": self.bounds, "baseline": WORST_CASE}
            yield Point(suite, self, mechanism, promise, promise.label, 0.0, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        epsilon, delta, _ = _budget(point.promise)
        worst = evaluate_bounds(self.bounds, list_guarantees(point.promise), measure_worst)
        # (ε, δ) alone, without the curve: the standard analysis
        approx = ApproxDP(epsilon, delta).total_variation() if delta else math.nan
        return {**worst, "approx": approx}


class SinglingOutCurve(Computation):
    """The advantage of singling out a record by a predicate of a given weight."""

    reference = "Kulynych 2025, figure 2"
    metric = "advantage"
    meanings: ClassVar[Mapping[str, str]] = {
        "pso": "singling out on the average table, from (ε, δ) alone",
        "pso-f-dp": "singling out on the average table, from the whole trade-off curve",
        "spso": "singling out with all other records known, from the whole trade-off curve",
    }

    compute: Literal["singling-out"]
    guarantee: Guarantees
    records: Wholes
    weight: Share

    def points(self, suite: str) -> Iterator[Point]:
        for mechanism, promise in self.guarantee.promises():
            for records in self.records:
                label = f"{promise.label}, {records} records"
                base = float(singling_out_baseline(self.weight, records))
                asked = {"records": records, "weight": self.weight}
                yield Point(suite, self, mechanism, promise, label, base, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        epsilon, delta, guarantee = _budget(point.promise)
        weight, records = self.weight, point.asked["records"]
        budget = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
        average = float(SinglingOut(records).success(weight, guarantee))
        return {
            "pso": float(singling_out_approx(weight, budget, records)) - point.baseline,
            "pso-f-dp": average - point.baseline,
            "spso": float(strong_singling_out(weight, guarantee, records)) - weight,
        }


def list_guarantees(promise: Promise) -> list[Guarantee]:
    """The release's own curve, if it has one, and what is guaranteed."""
    return [*([promise.curve()] if promise.curve else []), promise.guarantee]


def measure_worst(bound: RiskBound, guarantee: Guarantee) -> float:
    return worst_advantage(bound, guarantee)[0]


def evaluate_bounds(
    names: Sequence[str],
    guarantees: Sequence[Guarantee],
    value: Callable[[RiskBound, Guarantee], float],
) -> dict[str, float]:
    """Each bound on the first of the guarantees that it takes; nan if it takes none."""
    found = {}
    for name in names:
        taken = [each for each in guarantees if not BOUNDS[name].refuses(each)]
        found[name] = value(BOUNDS[name], taken[0]) if taken else math.nan
    return found


def _budget(promise: Promise) -> tuple[float, float, Guarantee]:
    return promise.epsilon, promise.delta, promise.guarantee
