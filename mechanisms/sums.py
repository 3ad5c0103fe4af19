"""Noisy sums of one bounded numeric column (Guerra-Balboa 2026, section 7.2 and figure 4).

The query is the sum of the hidden column over all records; replacing one record moves it by at
most the column's range, the sensitivity. The release is that one number: Laplace noise of scale
range/ε, the same cut off to what a sum can be (post-processing, so the guarantee stays), or
Gaussian noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite, isinf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.bounds import GaussianDP, Guarantee, LaplaceDP, Relation
from reconbench.bounds.rad import GaussianNoise, LaplaceNoise, Noise
from reconbench.datasets import Attribute, Domain, Table
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError, gaussian_guarantee

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SumRelease:
    """``answer`` = Σ values[code] + noise (None: no noise), cut off to ``clamp`` if it has one."""

    domain: Domain
    column: str
    values: Floats
    records: int
    answer: float
    noise: Noise | None
    clamp: tuple[float, float] | None = None

    def likelihoods(self, rest: float) -> Floats:
        """P(answer | the target's value), of every value, when the other records sum to ``rest``.

        Up to a factor that is the same for every value.
        """
        left = self.answer - rest - self.values
        if self.noise is None:
            near = np.abs(left)
            nearest = near <= near.min() + 1e-9 * np.ptp(self.values)
            return np.asarray(nearest, dtype=np.float64)
        if self.clamp is not None and self.answer <= self.clamp[0]:
            return self.noise.below(left)
        if self.clamp is not None and self.answer >= self.clamp[1]:
            return self.noise.below(-left)
        return self.noise.density(left)


@dataclass(frozen=True)
class LaplaceSum(BudgetedMechanism):
    """Laplace noise of scale range/ε: ε-DP for replace-one neighbours."""

    name: ClassVar[str] = "laplace-sum"

    def __post_init__(self) -> None:
        if len(self.hidden) != 1:
            raise MechanismError(
                f"a noisy sum needs exactly one hidden column, got {len(self.hidden)}"
            )
        if self.sensitivity == 0:
            raise MechanismError(f"column {self.hidden[0]!r} has one value only: nothing to hide")
        _ = self.budget, self.guarantee

    @cached_property
    def values(self) -> Floats:
        return parse_numbers(self.domain[self.hidden[0]])

    @property
    def sensitivity(self) -> float:
        """The range of the column."""
        return float(np.ptp(self.values))

    @property
    def guarantee(self) -> Guarantee:
        return LaplaceDP(self.epsilon, Relation.REPLACE_ONE)

    @property
    def noise(self) -> Noise | None:
        return None if isinf(self.epsilon) else LaplaceNoise(self.sensitivity / self.epsilon)

    def clamp(self, records: int) -> tuple[float, float] | None:
        """The interval that the answer is cut off to."""
        return None

    def release(self, table: Table, rng: np.random.Generator) -> SumRelease:
        self.check_table(table)
        answer = float(self.values[table.column(self.hidden[0])].sum()) + self._draw(rng)
        ends = self.clamp(len(table))
        if ends is not None:
            answer = min(max(answer, ends[0]), ends[1])
        return SumRelease(
            self.domain, self.hidden[0], self.values, len(table), answer, self.noise, ends
        )

    def _draw(self, rng: np.random.Generator) -> float:
        match self.noise:
            case LaplaceNoise(scale=scale):
                return float(rng.laplace(0.0, scale))
            case GaussianNoise(sd=sd):
                return float(rng.normal(0.0, sd))
            case _:
                return 0.0

    def facts(self) -> dict[str, float]:
        scale = 0.0 if isinf(self.epsilon) else self.sensitivity / self.epsilon
        return {"noise_sd": 2**0.5 * scale, "sensitivity": self.sensitivity}


@dataclass(frozen=True)
class TruncatedLaplaceSum(LaplaceSum):
    """Laplace noise, and the answer cut off to what a sum of n values can be."""

    name: ClassVar[str] = "truncated-laplace-sum"

    def clamp(self, records: int) -> tuple[float, float]:
        return records * float(self.values.min()), records * float(self.values.max())


@dataclass(frozen=True)
class GaussianSum(LaplaceSum):
    """Gaussian noise of standard deviation range/μ, μ the largest for which μ-GDP is (ε, δ)-DP."""

    name: ClassVar[str] = "gaussian-sum"

    @cached_property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    @property
    def noise(self) -> Noise | None:
        mu = self.guarantee.mu
        return None if isinf(mu) else GaussianNoise(self.sensitivity / mu)

    def facts(self) -> dict[str, float]:
        mu = self.guarantee.mu
        return {"mu": mu, "noise_sd": self.sensitivity / mu, "sensitivity": self.sensitivity}


def parse_numbers(attribute: Attribute) -> Floats:
    """A column's values as numbers: middles of its bins, its labels, or the codes of an order."""
    if attribute.edges is not None and attribute.missing_label is not None:
        raise MechanismError(
            f"column {attribute.name!r} has the label {attribute.missing_label!r} for missing "
            "values, which is no number; drop these records instead"
        )
    if attribute.edges is not None:
        edges = np.asarray(attribute.edges)
        return np.asarray((edges[1:] + edges[:-1]) / 2)
    try:
        parsed = [float(label) for label in attribute.labels]
    except ValueError:
        parsed = []
    if parsed and all(isfinite(value) for value in parsed):
        return np.array(parsed)
    if attribute.ordinal:
        return np.arange(attribute.size, dtype=np.float64)
    raise MechanismError(
        f"column {attribute.name!r} is not numeric: a sum needs labels that are numbers, declared "
        "bin edges, or an ordinal column"
    )
