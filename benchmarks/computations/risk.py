"""Computations: numbers that follow from a guarantee and a baseline, without a table or an attack.

A suite's ``[[curves]]`` blocks. Their points are result rows like those of games, so that they go
to the same store: attack and adversary are ``none``, there are no successes, ``baseline_expected``
is the baseline, and ``ceilings`` holds each bound's value under ``mean``. ``metric`` says what the
values are: the ``success`` against one target, the ``advantage`` at the worst baseline or over the
baseline, a number of ``queries``, or the ``error`` of one. A point's key is known before its values
are: hashed from what the suite asks for and from the code that answers, so a stored point is not
computed again. Those of the reconstruction advantage are in ``benchmarks.computations.rad``, those
of gradient inversion in ``benchmarks.computations.gradients``, estimates of ε from attacks in
``benchmarks.computations.mcmc``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, model_validator

from reconbench.benchmarks.computations.gradients import GradientCurve
from reconbench.benchmarks.computations.mcmc import McmcCurve
from reconbench.benchmarks.computations.point import ComputationError as ComputationError
from reconbench.benchmarks.computations.point import Point as Point
from reconbench.benchmarks.computations.point import Positive, Positives, Promise, Share, Shares
from reconbench.benchmarks.computations.rad import LocalAndNoise, QueryError
from reconbench.benchmarks.store.store import Entry
from reconbench.benchmarks.suites.game_block import Strict, Whole, listed
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
    epsilon_protect,
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

    def promises(self) -> Iterator[Promise]:
        for epsilon in self.epsilon:
            asked = {"epsilon": epsilon}
            yield Promise(f"epsilon {epsilon:g}", epsilon, 0.0, PureDP(epsilon), asked)


class Approx(Strict):
    """(ε, δ)-DP and no more."""

    epsilon: Positives
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-5

    def promises(self) -> Iterator[Promise]:
        for epsilon in self.epsilon:
            found = ApproxDP(epsilon, self.delta)
            asked = {"epsilon": epsilon, "delta": self.delta}
            yield Promise(f"epsilon {epsilon:g}", epsilon, self.delta, found, asked)


class Gaussian(Strict):
    """Gaussian noise of sd ``sigma`` times the sensitivity; ε is read off at ``delta``."""

    sigma: Positives
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-5
    relation: Relation = Relation.REPLACE_ONE

    def promises(self) -> Iterator[Promise]:
        usual = self.relation is Relation.REPLACE_ONE
        for sigma in self.sigma:
            found = GaussianDP(1 / sigma, self.relation)
            label = f"sigma {sigma:g}" if usual else f"sigma {sigma:g}, {self.relation.value}"
            asked = {"sigma": sigma, "delta": self.delta, "relation": self.relation.value}
            yield Promise(label, found.epsilon_at(self.delta), self.delta, found, asked)


class Laplace(Strict):
    """Laplace noise of ``scale`` times the sensitivity."""

    scale: Positives

    def promises(self) -> Iterator[Promise]:
        for scale in self.scale:
            found = LaplaceDP(1 / scale)
            yield Promise(f"scale {scale:g}", 1 / scale, 0.0, found, {"scale": scale})


class Concentrated(Strict):
    """Gaussian noise of ρ-zCDP, by name of its ρ or from a published (ε, δ)."""

    rho: Annotated[dict[str, Positive], Field(min_length=1)]
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-10

    def promises(self) -> Iterator[Promise]:
        for label, rho in self.rho.items():
            # ε = ρ + 2√(ρ log 1/δ), the conversion that census figures are published with
            epsilon = rho + 2 * math.sqrt(rho * math.log(1 / self.delta))
            asked = {"label": label, "rho": rho, "delta": self.delta}
            yield Promise(label, epsilon, self.delta, ZCDP(rho).gaussian(), asked)


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

    def chosen(self) -> Iterator[tuple[str, Promise]]:
        """Mechanism and promise, one after the other."""
        for name in type(self).model_fields:
            family = getattr(self, name)
            for promise in family.promises() if family else ():
                yield name, promise


class SuccessCurve(Strict):
    """The success that bounds allow on one target, by baseline."""

    compute: Literal["success"]
    guarantee: Guarantees
    baseline: Shares
    bounds: BoundNames

    def points(self, suite: str) -> Iterator[Point]:
        for mechanism, promise in self.guarantee.chosen():
            for base in self.baseline:
                yield Point(
                    suite=suite,
                    kind=self.compute,
                    mechanism=mechanism,
                    promise=promise,
                    label=promise.label,
                    metric="success",
                    baseline=base,
                    asked={"baseline": base, "bounds": self.bounds},
                    values=partial(self._values, promise.guarantee, base),
                )

    def _values(self, guarantee: Guarantee, base: float) -> dict[str, float]:
        return {name: _success(BOUNDS[name], base, guarantee) for name in self.bounds}


class WorstCase(Strict):
    """The advantage that bounds allow at the baseline where it is largest."""

    compute: Literal["worst-advantage"]
    guarantee: Guarantees
    bounds: BoundNames

    def points(self, suite: str) -> Iterator[Point]:
        for mechanism, promise in self.guarantee.chosen():
            yield Point(
                suite=suite,
                kind=self.compute,
                mechanism=mechanism,
                promise=promise,
                label=promise.label,
                metric="advantage",
                baseline=0.0,
                asked={"bounds": self.bounds},
                values=partial(self._values, promise),
            )

    def _values(self, promise: Promise) -> dict[str, float]:
        found = {name: _worst(BOUNDS[name], promise.guarantee) for name in self.bounds}
        # (ε, δ) alone, without the curve: the standard analysis
        alone = ApproxDP(promise.epsilon, promise.delta) if promise.delta else None
        return {**found, "approx": alone.total_variation() if alone else math.nan}


class SinglingOutCurve(Strict):
    """The advantage of singling out a record by a predicate of a given weight."""

    compute: Literal["singling-out"]
    guarantee: Guarantees
    records: Annotated[list[Whole], BeforeValidator(listed), Field(min_length=1)]
    weight: Share

    def points(self, suite: str) -> Iterator[Point]:
        for mechanism, promise in self.guarantee.chosen():
            for records in self.records:
                yield Point(
                    suite=suite,
                    kind=self.compute,
                    mechanism=mechanism,
                    promise=promise,
                    label=f"{promise.label}, {records} records",
                    metric="advantage",
                    baseline=float(singling_out_baseline(self.weight, records)),
                    asked={"records": records, "weight": self.weight},
                    values=partial(self._values, promise, records),
                )

    def _values(self, promise: Promise, records: int) -> dict[str, float]:
        epsilon, delta, guarantee = promise.epsilon, promise.delta, promise.guarantee
        budget = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
        base = float(singling_out_baseline(self.weight, records))
        return {
            "pso": float(singling_out_approx(self.weight, budget, records)) - base,
            "pso-f-dp": float(SinglingOut(records).success(self.weight, guarantee)) - base,
            "spso": float(strong_singling_out(self.weight, guarantee, records)) - self.weight,
        }


class QueryBudget(Strict):
    """How many Laplace queries keep the advantage over a baseline within a limit."""

    compute: Literal["queries"]
    scale: Positive
    baseline: Shares
    advantage: Shares

    def points(self, suite: str) -> Iterator[Point]:
        asked = {"scale": self.scale}
        single = Promise("", 1 / self.scale, 0.0, LaplaceDP(1 / self.scale), asked)
        for base in self.baseline:
            for limit in self.advantage:
                yield Point(
                    suite=suite,
                    kind=self.compute,
                    mechanism="laplace",
                    promise=single,
                    label=f"advantage {limit:g}",
                    metric="queries",
                    baseline=base,
                    asked={"baseline": base, "advantage": limit},
                    values=partial(self._values, base, limit),
                )

    def _values(self, base: float, limit: float) -> dict[str, float]:
        risk = Advantage(np.array([base]))

        def together(queries: int) -> Guarantee:
            return _laplace_queries(self.scale, queries)

        def added_up(queries: int) -> Guarantee:
            return PureDP(queries / self.scale)

        return {
            "f-dp": float(count_queries(risk, limit, together).queries),
            "pure": float(count_queries(risk, limit, added_up).queries),
        }


class ProtectCurve(Strict):
    """The largest ε that keeps the generalised advantage on a secret within a limit."""

    compute: Literal["epsilon-protect"]
    prior: Shares
    advantage: Share = 0.05
    delta: Annotated[float, Field(gt=0, lt=1, strict=True)] = 1e-5

    def points(self, suite: str) -> Iterator[Point]:
        asked = {"advantage": self.advantage, "delta": self.delta}
        label = f"advantage {self.advantage:g}"
        for prior in self.prior:
            found = epsilon_protect(prior, self.delta, self.advantage)
            promise = Promise(label, found, self.delta, ApproxDP(found, self.delta), asked)
            yield Point(
                suite=suite,
                kind=self.compute,
                mechanism="approx",
                promise=promise,
                label=label,
                metric="epsilon",
                baseline=prior,
                asked={"prior": prior},
                values=partial(dict, {"protect": found}),
            )


Curve = Annotated[
    SuccessCurve
    | WorstCase
    | SinglingOutCurve
    | QueryBudget
    | ProtectCurve
    | LocalAndNoise
    | QueryError
    | GradientCurve
    | McmcCurve,
    Field(discriminator="compute"),
]


def computed(suite: str, curve: Curve) -> list[Entry]:
    """The rows of a computation with their keys, ready for a store."""
    return [Entry(point.key, point.row()) for point in curve.points(suite)]


def _success(bound: RiskBound, base: float, guarantee: Guarantee) -> float:
    if bound.refuses(guarantee):
        return math.nan
    return float(np.ravel(bound.success(np.array([base]), guarantee))[0])


def _worst(bound: RiskBound, guarantee: Guarantee) -> float:
    return math.nan if bound.refuses(guarantee) else worst_advantage(bound, guarantee)[0]


@lru_cache(maxsize=256)
def _laplace_queries(scale: float, queries: int) -> Guarantee:
    """Composed once for all points of a budget, which ask for the same counts again and again."""
    from reconbench.bounds.guarantees.composed import LaplaceRelease, composed

    try:
        return composed([LaplaceRelease(scale, count=queries)], Relation.REPLACE_ONE)
    except ImportError as error:
        raise ComputationError(str(error)) from None
