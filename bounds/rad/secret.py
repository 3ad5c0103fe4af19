"""What an advantage is about: a value, its prior, what the attacker knows of it, and the error.

The values are numbers at equal gaps, in the order of the prior, so that an error is a distance.
Where only the exact value counts their order has no meaning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.rad._inputs import Labels, as_labels, as_prior, collision, spread

MOST_VALUES = 1_000_000
# Probabilities written with seven digits add up to one within this.
_ROUNDING = 1e-6
# A ratio that is whole but for rounding is taken as whole.
_WHOLE = 1e-12


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What the attacker knows of the target without the release: a(z), one label per value."""

    name: str
    meaning: str
    labels: Labels

    @classmethod
    def of(cls, known: str | ArrayLike, size: int) -> Knowledge:
        """Knowledge by its name, or by one label per value.

        Args:
            known: `none` (nothing), `any` (unknown: the bound holds whatever it is), `all` (the
                value itself: only whether the target took part is open), or `size` labels.
            size: how many values there are.
        """
        if not isinstance(known, str):
            labels = as_labels(known, size)
            meaning = f"which of {int(labels.max()) + 1} groups the value is in"
            return cls("groups", meaning, labels)
        if known == "none":
            return cls(known, "nothing", as_labels(None, size))
        if known == "all":
            return cls(known, "the value itself; open is whether the target took part", _all(size))
        if known == "any":
            return cls(known, "unknown; at worst the value itself", _all(size))
        raise ValueError(f"knowledge must be none, any, all or one label per value, got {known!r}")

    @cached_property
    def groups(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False)
class Secret:
    """A value drawn from a prior, to be guessed within a distance; use `Secret.of`."""

    prior: FloatArray
    knowledge: Knowledge
    within: float = 0.0
    gap: float = 1.0

    @classmethod
    def of(
        cls,
        prior: ArrayLike | int,
        knowledge: str | ArrayLike = "none",
        within: float = 0.0,
        gap: float = 1.0,
    ) -> Secret:
        """A secret as users state it.

        Args:
            prior: the probability of each value, or how many equally likely values there are.
            knowledge: what the attacker knows of the target, as in `Knowledge.of`.
            within: the largest error of a guess that counts; 0 for the exact value.
            gap: the distance between a value and the next.
        """
        masses = _as_masses(prior)
        error = _validate.non_negative("within", within)
        distance = _validate.positive("gap", gap)
        if math.isinf(distance):
            raise ValueError(f"gap must be finite, got {gap!r}")
        secret = cls(masses, Knowledge.of(knowledge, masses.size), error, distance)
        if error >= (masses.size - 1) * distance * (1 - _WHOLE):
            raise ValueError(
                f"within must be below {(masses.size - 1) * distance:g}, the distance between the "
                f"first value and the last, got {within:g}: else every guess counts"
            )
        return secret

    @property
    def size(self) -> int:
        """The number of values."""
        return self.prior.size

    @cached_property
    def reach(self) -> int:
        """How many neighbours on either side a guess may be off by."""
        return math.floor(self.within / self.gap * (1 + _WHOLE))

    @cached_property
    def collision(self) -> float:
        """κ_π, the chance that two draws of the prior agree."""
        return min(collision(self.prior), 1.0)

    @cached_property
    def spread(self) -> float:
        """1 − κ_π, the largest advantage that any mechanism allows."""
        return spread(self.prior)

    @property
    def uniform(self) -> bool:
        """Whether all values are as likely."""
        return bool(np.ptp(self.prior) <= _WHOLE * self.prior[0])

    @property
    def nothing_known(self) -> bool:
        return self.knowledge.groups == 1

    @property
    def value_known(self) -> bool:
        return self.knowledge.groups == self.size

    @cached_property
    def chances(self) -> tuple[float, float]:
        """κ⁻ and κ⁺: the least and the largest chance of a guess to be right on a fresh draw."""
        right = self._window(self.prior)
        return float(right.min()), float(right.max())

    @cached_property
    def baseline(self) -> float:
        """The success of the best guess from the prior and the knowledge, without the release."""
        if self.value_known:
            return 1.0
        labels = self.knowledge.labels
        groups = range(self.knowledge.groups)
        best = sum(float(self._window(self.prior * (labels == x)).max()) for x in groups)
        return min(best, 1.0)

    def success(self) -> FloatArray | None:
        """1[a guess counts for a value], guesses down; None where only the exact value counts."""
        if self.reach == 0:
            return None
        places = np.arange(self.size)
        return (np.abs(np.subtract.outer(places, places)) <= self.reach).astype(np.float64)

    def _window(self, masses: FloatArray) -> FloatArray:
        """For every guess, the mass of the values that it counts for."""
        if self.reach == 0:
            return masses
        total = np.concatenate([[0.0], np.cumsum(masses)])
        places = np.arange(self.size)
        right = np.minimum(places + self.reach + 1, self.size)
        left = np.maximum(places - self.reach, 0)
        return np.asarray(np.minimum(total[right] - total[left], 1.0))


def _all(size: int) -> Labels:
    return np.arange(size, dtype=np.int64)


def _as_masses(prior: ArrayLike | int) -> FloatArray:
    """A prior of at least two values whose sum is 1 but for rounding, made exact."""
    if isinstance(prior, int | np.integer):
        if not 2 <= prior <= MOST_VALUES:
            raise ValueError(f"values must be in [2, {MOST_VALUES:,}], got {prior:,}")
        return as_prior(int(prior))
    masses = _validate.probability_vector("prior", prior)
    total = math.fsum(masses)
    if abs(total - 1) > _ROUNDING:
        raise ValueError(
            f"prior must sum to 1 within {_ROUNDING:g}, got {total:.9g}: give the probability of "
            "each value"
        )
    if not 2 <= masses.size <= MOST_VALUES:
        raise ValueError(f"prior must have 2 to {MOST_VALUES:,} values, got {masses.size:,}")
    return as_prior(masses / total)
