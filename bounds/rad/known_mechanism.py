"""Mechanisms that are known in full, with the exact advantage against them (Theorem 4.3).

Local reports of one value (GRR, OUE, SS), and a number plus noise. Each has its guarantee, too, so
that the bounds that follow from the guarantee alone can be put beside the exact value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.guarantee import GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.laplace import LaplaceDP
from reconbench.bounds.guarantees.randomised_response import RandomisedResponse
from reconbench.bounds.rad.channel import FiniteChannel, rad_grr_within
from reconbench.bounds.rad.ldp import GRR, OUE, SubsetSelection, SupportChannel
from reconbench.bounds.rad.location import (
    GaussianNoise,
    LaplaceNoise,
    Noise,
    rad_location,
    rad_uniform_location,
)
from reconbench.bounds.rad.secret import Secret

REFERENCE = "Guerra-Balboa 2026, Theorem 4.3"
LOCAL: Mapping[str, Callable[[float, int], SupportChannel]] = {
    "grr": GRR,
    "oue": OUE,
    "ss": SubsetSelection,
}
NOISES: Mapping[str, Callable[[float], Noise]] = {
    "laplace": LaplaceNoise,
    "gaussian": GaussianNoise,
}

# Products of a listed channel and the guesses: some seconds.
_MOST_PRODUCTS = 1 << 30
_MOST_GUESSES = 4_000
# Values of a noisy number whose advantage is enclosed within the tolerance in some seconds.
_MOST_POINTS = 300
_TOLERANCE, _MOST_CELLS = 1e-5, 50_000


class NotComputed(ValueError):
    """The exact advantage exists, but not within the limits; the message says which."""


@dataclass(frozen=True)
class ExactAdvantage:
    """The largest advantage of any attack, between two numbers, and how often that attack is right.

    `success` is that of the attack with the largest advantage; None where it is not known.
    """

    low: float
    high: float
    success: float | None = None


@runtime_checkable
class KnownMechanism(Protocol):
    """A mechanism whose output is known for every value."""

    @property
    def guarantee(self) -> Guarantee: ...

    def describe(self) -> str:
        """The mechanism in one phrase."""

    def exact(self, secret: Secret) -> ExactAdvantage:
        """Theorem 4.3; raises `NotComputed` where that would take too long."""


@dataclass(frozen=True)
class LocalReports:
    """A report of the value itself by GRR, OUE or SS, under ε-local DP.

    Args:
        name: one of `LOCAL`.
        epsilon: the ε of one report.
        size: how many values there are.
    """

    name: str
    epsilon: float
    size: int

    def __post_init__(self) -> None:
        if self.name not in LOCAL:
            raise ValueError(f"channel must be one of {', '.join(LOCAL)}, got {self.name!r}")
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))

    @property
    def channel(self) -> SupportChannel:
        return LOCAL[self.name](self.epsilon, self.size)

    @property
    def guarantee(self) -> Guarantee:
        """Replace-one on the record that is reported; GRR's own curve."""
        if self.name == "grr" and self.epsilon < math.inf:
            return RandomisedResponse(self.size, self.epsilon)
        return PureDP(self.epsilon)

    def describe(self) -> str:
        return f"{self.name.upper()} of {self.size:,} values, ε = {self.epsilon:g}"

    def exact(self, secret: Secret) -> ExactAdvantage:
        channel, labels = self.channel, secret.knowledge.labels
        if secret.reach == 0:
            found = channel.rad(secret.prior, labels)
            return ExactAdvantage(found, found, channel.success(secret.prior, labels))
        if self._outputs() * self.size**2 <= _MOST_PRODUCTS:
            listed = FiniteChannel(channel.matrix(), secret.prior, labels, secret.success())
            found = listed.rad()
            return ExactAdvantage(found, found, listed.success_of(listed.optimal()))
        success = secret.success() if self.name == "grr" and self.size <= _MOST_GUESSES else None
        if success is None:
            raise NotComputed(
                f"{self.describe()} has too many outputs to list for guesses within a distance: "
                "take fewer values, or simulate with rad_sampled (docs/rad.md)"
            )
        found = rad_grr_within(self.epsilon, secret.prior, success, labels)
        return ExactAdvantage(found, found)

    def _outputs(self) -> int:
        channel = self.channel
        if isinstance(channel, SubsetSelection):
            return math.comb(self.size, channel.subset)
        return self.size if self.name == "grr" else 2**self.size


@dataclass(frozen=True)
class LocationNoise:
    """One of `size` numbers at equal gaps plus Laplace or Gaussian noise.

    The sensitivity is the distance between the first number and the last. It is what an attacker
    who knows all other records sees of a noisy sum.

    Args:
        name: one of `NOISES`.
        scale: Laplace's b or the Gaussian standard deviation, in the unit of the numbers.
        size: how many numbers there are.
        gap: the distance between a number and the next.
    """

    name: str
    scale: float
    size: int
    gap: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in NOISES:
            raise ValueError(f"channel must be one of {', '.join(NOISES)}, got {self.name!r}")
        NOISES[self.name](self.scale)

    @classmethod
    def for_budget(cls, name: str, ratio: float, size: int, gap: float = 1.0) -> LocationNoise:
        """The noise that is the sensitivity over ε (Laplace) or over μ (Gaussian)."""
        budget = "epsilon" if name == "laplace" else "mu"
        share = _validate.positive(budget, ratio)
        if math.isinf(share):
            raise ValueError(f"{budget} must be finite with noise, got {ratio!r}")
        return cls(name, (size - 1) * gap / share, size, gap)

    @property
    def guarantee(self) -> Guarantee:
        ratio = (self.size - 1) * self.gap / self.scale
        return LaplaceDP(ratio) if self.name == "laplace" else GaussianDP(ratio)

    def describe(self) -> str:
        noise = "Laplace noise of scale" if self.name == "laplace" else "Gaussian noise of sd"
        return f"{noise} {self.scale:g} on {self.size:,} numbers at gaps of {self.gap:g}"

    def exact(self, secret: Secret) -> ExactAdvantage:
        noise, values = NOISES[self.name](self.scale), np.arange(self.size) * self.gap
        if secret.nothing_known and secret.uniform and secret.reach == 0:
            found = rad_uniform_location(noise, values)
            # Every guess is right on a fresh draw with 1/m, whatever the release.
            return ExactAdvantage(found, found, found + 1 / self.size)
        if self.size > _MOST_POINTS:
            raise NotComputed(
                f"the exact value is enclosed for at most {_MOST_POINTS} numbers, here "
                f"{self.size:,}, unless all are equally likely and nothing is known"
            )
        enclosure = rad_location(
            noise,
            values,
            secret.prior,
            secret.knowledge.labels,
            secret.success(),
            tolerance=_TOLERANCE,
            max_cells=_MOST_CELLS,
        )
        return ExactAdvantage(enclosure.low, enclosure.high)
