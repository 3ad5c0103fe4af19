"""Computations: numbers that follow from a guarantee and a baseline, without a table or an attack.

A suite's ``[[curves]]`` blocks. Their points are result rows like those of games, so that they go
to the same store: attack and adversary are ``none``, there are no successes, ``baseline_expected``
is the baseline, and ``ceilings`` holds each bound's value under ``mean``. ``metric`` says what the
values are: the ``success`` against one target, the ``advantage`` at the worst baseline or over the
baseline, or a number of ``queries``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, model_validator
from scipy.optimize import brentq

from reconbench.benchmarks.axes import Strict, Whole, listed
from reconbench.benchmarks.game import versions
from reconbench.benchmarks.results import SCHEMA_VERSION, Result
from reconbench.benchmarks.store import Entry, Key, Origin
from reconbench.bounds import (
    RISK_BOUNDS,
    ZCDP,
    Advantage,
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    Relation,
    ReRoRenyi,
    RiskBound,
    SinglingOut,
    count_queries,
    singling_out_approx,
    singling_out_baseline,
    strong_singling_out,
    worst_advantage,
)
from reconbench.bounds.relation import require_replace_one, why_not_replace_one

Floats = npt.NDArray[np.float64]

NONE = "none"
MEAN = "mean"

Positive = Annotated[float, Field(gt=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Positives = Annotated[list[Positive], BeforeValidator(listed), Field(min_length=1)]
Shares = Annotated[list[Share], BeforeValidator(listed), Field(min_length=1)]


class ComputationError(ValueError):
    """A computation that cannot be done as asked."""


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

        if excess(1.0) >= 0:
            return 1.0
        return float(brentq(excess, base, 1.0, xtol=1e-13)) if excess(base) > 0 else base


BOUNDS: dict[str, RiskBound] = {bound.name: bound for bound in RISK_BOUNDS} | {
    UniformGuess.name: UniformGuess(),
    "rero-rdp-2": ReRoRenyi(2.0),
}


def _bound_names(value: Any) -> Any:
    for name in listed(value):
        if name not in BOUNDS:
            raise ValueError(f"unknown bound {name!r}; use some of {', '.join(BOUNDS)}")
    return listed(value)


BoundNames = Annotated[list[str], BeforeValidator(_bound_names), Field(min_length=1)]


class Pure(Strict):
    """ε-DP."""

    epsilon: Positives

    def guarantees(self) -> Iterator[tuple[str, float, float, Guarantee]]:
        for epsilon in self.epsilon:
            yield f"epsilon {epsilon:g}", epsilon, 0.0, PureDP(epsilon)


class Approx(Strict):
    """(ε, δ)-DP and no more."""

    epsilon: Positives
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-5

    def guarantees(self) -> Iterator[tuple[str, float, float, Guarantee]]:
        for epsilon in self.epsilon:
            yield f"epsilon {epsilon:g}", epsilon, self.delta, ApproxDP(epsilon, self.delta)


class Gaussian(Strict):
    """Gaussian noise of sd ``sigma`` times the sensitivity; ε is read off at ``delta``."""

    sigma: Positives
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-5
    relation: Relation = Relation.REPLACE_ONE

    def guarantees(self) -> Iterator[tuple[str, float, float, Guarantee]]:
        for sigma in self.sigma:
            found = GaussianDP(1 / sigma, self.relation)
            yield f"sigma {sigma:g}", found.epsilon_at(self.delta), self.delta, found


class Laplace(Strict):
    """Laplace noise of ``scale`` times the sensitivity."""

    scale: Positives

    def guarantees(self) -> Iterator[tuple[str, float, float, Guarantee]]:
        for scale in self.scale:
            yield f"scale {scale:g}", 1 / scale, 0.0, LaplaceDP(1 / scale)


class Concentrated(Strict):
    """Gaussian noise of ρ-zCDP, by name of its ρ or from a published (ε, δ)."""

    rho: Annotated[dict[str, Positive], Field(min_length=1)]
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-10

    def guarantees(self) -> Iterator[tuple[str, float, float, Guarantee]]:
        for label, rho in self.rho.items():
            # ε = ρ + 2√(ρ log 1/δ), the conversion that census figures are published with
            epsilon = rho + 2 * math.sqrt(rho * math.log(1 / self.delta))
            yield label, epsilon, self.delta, ZCDP(rho).gaussian()


class Guarantees(Strict):
    """What is promised: one of these."""

    pure: Pure | None = None
    approx: Approx | None = None
    gaussian: Gaussian | None = None
    laplace: Laplace | None = None
    zcdp: Concentrated | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"name one of {', '.join(type(self).model_fields)}")
        return self

    def chosen(self) -> Iterator[tuple[str, str, float, float, Guarantee]]:
        """Mechanism, label, ε, δ and guarantee, one after the other."""
        for name in type(self).model_fields:
            family = getattr(self, name)
            for label, epsilon, delta, guarantee in family.guarantees() if family else ():
                yield name, label, epsilon, delta, guarantee


@dataclass(frozen=True)
class Point:
    """One row to be: a guarantee, a baseline, and what every bound says."""

    mechanism: str
    label: str
    epsilon: float
    delta: float
    guarantee: str
    relation: str
    unit: str
    metric: str
    baseline: float
    values: Mapping[str, float]


class SuccessCurve(Strict):
    """The success that bounds allow on one target, by baseline."""

    compute: Literal["success"]
    guarantee: Guarantees
    baseline: Shares
    bounds: BoundNames

    def points(self) -> Iterator[Point]:
        for mechanism, label, epsilon, delta, guarantee in self.guarantee.chosen():
            for base in self.baseline:
                values = {name: _success(BOUNDS[name], base, guarantee) for name in self.bounds}
                yield _point(mechanism, label, epsilon, delta, guarantee, "success", base, values)


class WorstCase(Strict):
    """The advantage that bounds allow at the baseline where it is largest."""

    compute: Literal["worst-advantage"]
    guarantee: Guarantees
    bounds: BoundNames

    def points(self) -> Iterator[Point]:
        for mechanism, label, epsilon, delta, guarantee in self.guarantee.chosen():
            values = {
                name: math.nan
                if BOUNDS[name].refuses(guarantee)
                else worst_advantage(BOUNDS[name], guarantee)[0]
                for name in self.bounds
            }
            # (ε, δ) alone, without the curve: the standard analysis
            values["approx"] = ApproxDP(epsilon, delta).total_variation() if delta else math.nan
            yield _point(mechanism, label, epsilon, delta, guarantee, "advantage", 0.0, values)


class SinglingOutCurve(Strict):
    """The advantage of singling out a record by a predicate of a given weight."""

    compute: Literal["singling-out"]
    guarantee: Guarantees
    records: Annotated[list[Whole], BeforeValidator(listed), Field(min_length=1)]
    weight: Share

    def points(self) -> Iterator[Point]:
        for mechanism, label, epsilon, delta, guarantee in self.guarantee.chosen():
            budget = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
            for records in self.records:
                base = float(singling_out_baseline(self.weight, records))
                strong = float(strong_singling_out(self.weight, guarantee, records))
                values = {
                    "pso": float(singling_out_approx(self.weight, budget, records)) - base,
                    "pso-f-dp": float(SinglingOut(records).success(self.weight, guarantee)) - base,
                    "spso": strong - self.weight,
                }
                where = f"{label}, {records} records"
                yield _point(mechanism, where, epsilon, delta, guarantee, "advantage", base, values)


class QueryBudget(Strict):
    """How many Laplace queries keep the advantage over a baseline within a limit."""

    compute: Literal["queries"]
    scale: Positive
    baseline: Shares
    advantage: Shares

    def points(self) -> Iterator[Point]:
        from reconbench.bounds.composed import LaplaceRelease, composed

        single = LaplaceDP(1 / self.scale)

        @cache
        def together(queries: int) -> Guarantee:
            return composed([LaplaceRelease(self.scale, count=queries)], Relation.REPLACE_ONE)

        def added_up(queries: int) -> Guarantee:
            return PureDP(queries / self.scale)

        for base in self.baseline:
            risk = Advantage(np.array([base]))
            for limit in self.advantage:
                values = {
                    "f-dp": float(count_queries(risk, limit, together).queries),
                    "pure": float(count_queries(risk, limit, added_up).queries),
                }
                where = f"advantage {limit:g}"
                yield _point("laplace", where, 1 / self.scale, 0.0, single, "queries", base, values)


Curve = Annotated[
    SuccessCurve | WorstCase | SinglingOutCurve | QueryBudget, Field(discriminator="compute")
]


def computed(suite: str, curve: Curve) -> list[Entry]:
    """The rows of a computation with their keys, ready for a store."""
    rows = [_row(suite, point) for point in curve.points()]
    return [Entry(_key(row), row) for row in rows]


def _success(bound: RiskBound, base: float, guarantee: Guarantee) -> float:
    if bound.refuses(guarantee):
        return math.nan
    return float(np.ravel(bound.success(np.array([base]), guarantee))[0])


def _point(
    mechanism: str,
    label: str,
    epsilon: float,
    delta: float,
    guarantee: Guarantee,
    metric: str,
    baseline: float,
    values: Mapping[str, float],
) -> Point:
    said = {name: value for name, value in values.items() if not math.isnan(value)}
    if not said:
        raise ComputationError(
            f"none of the bounds {', '.join(values)} covers {guarantee.describe()} at a baseline "
            f"of {baseline:g}; choose others (reconbench compare-bounds shows which apply)"
        )
    return Point(
        mechanism=mechanism,
        label=label,
        epsilon=epsilon,
        delta=delta,
        guarantee=guarantee.describe(),
        relation=guarantee.relation.value,
        unit=guarantee.unit,
        metric=metric,
        baseline=baseline,
        values=said,
    )


def _row(suite: str, point: Point) -> Result:
    return Result(
        dataset=suite,
        data_hash="",
        targets=(point.label,),
        known=(),
        n=1,
        k=0,
        epsilon=point.epsilon,
        delta=point.delta,
        mechanism=point.mechanism,
        sigma=0.0,
        mu=0.0,
        noise_sd=0.0,
        guarantee=point.guarantee,
        relation=point.relation,
        unit=point.unit,
        metric=point.metric,
        adversary=NONE,
        attack=NONE,
        attack_options={"baseline": point.baseline},
        seed=0,
        rep=0,
        table_hash="",
        baseline_successes=0,
        baseline_expected=point.baseline,
        versions=versions(),
        ceilings={name: {MEAN: value} for name, value in point.values.items()},
    )


def _key(row: Result) -> Key:
    """Hashed from the row itself: the same computation with the same result is the same row."""
    text = json.dumps(["computation", SCHEMA_VERSION, row.to_json()], sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()
    return Key(name, name, Origin(NONE, row.mechanism, "computation"))
