"""The part of a tail worth storing: small enough for a result row, and still a valid bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.poisson_binomial import PoissonBinomial

# Tails above 1 − _CUT are stored as 1, tails below _CUT as the first of them.
_CUT = 1e-9


@dataclass(frozen=True)
class CompactTail:
    """An upper bound on P[S ≥ v] for v = 0, …, n that never increases in v.

    It is 1 below `start`, `values[k]` at start + k, and the last value from there up to n: cutting
    rounds up, so a bound built from it stays valid. Confidences up to 1 − 1e-9 are unaffected.
    """

    n: int
    start: int
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        values = tuple(_validate.probabilities("values", self.values).tolist())
        object.__setattr__(self, "values", values)
        if self.n < 1:
            raise ValueError(f"n must be at least 1 target, got {self.n!r}")
        if not 1 <= self.start <= self.n + 1 - len(values):
            raise ValueError(
                f"start must be between 1 and n + 1 - len(values) = {self.n + 1 - len(values)}, "
                f"got {self.start!r}"
            )
        if not values and self.start != self.n + 1:
            raise ValueError(f"values must not be empty unless start is n + 1, got {self!r}")
        if any(later > earlier for earlier, later in pairwise(values)):
            raise ValueError("values must not increase: they are P[S >= v] for growing v")

    @classmethod
    def of(cls, distribution: PoissonBinomial) -> CompactTail:
        """The tail of a sum of Bernoulli variables, cut at both ends."""
        return cls._cut(distribution.n, distribution.tails)

    @classmethod
    def of_draws(cls, n: int, draws: ArrayLike) -> CompactTail:
        """The tail of equally likely draws of a number of successes between 0 and n."""
        counts = np.bincount(np.asarray(draws), minlength=n + 2)
        if counts.size != n + 2 or not counts.any():
            raise ValueError(f"draws must hold numbers of successes between 0 and n = {n}")
        return cls._cut(n, counts[::-1].cumsum()[::-1] / counts.sum())

    @classmethod
    def of_chances(cls, chances: ArrayLike) -> CompactTail:
        """The tail of a number of successes with the given probabilities of 0, …, n."""
        every = np.append(_validate.probabilities("chances", chances), 0.0)
        return cls._cut(len(every) - 2, np.minimum(every[::-1].cumsum()[::-1], 1.0))

    @classmethod
    def _cut(cls, n: int, tails: FloatArray) -> CompactTail:
        """From P[S ≥ v], v = 0, …, n + 1."""
        start = int(np.argmax(tails < 1 - _CUT))
        end = min(int(np.argmax(tails <= _CUT)), n)
        return cls(n, start, tuple(tails[start : end + 1].tolist()))

    def tail(self, v: ArrayLike) -> FloatArray:
        """The bound on P[S ≥ v] for real v, of any shape; 1 for v ≤ 0 and 0 for v > n."""
        at = _validate.thresholds("v", v, self.n)
        # 1 below start, the stored values, and 0 above n.
        levels = np.array([1.0, *self.values, 0.0])
        stored = np.clip(at - self.start + 1, 0, len(self.values))
        return levels[np.where(at > self.n, -1, stored)]

    def to_json(self) -> dict[str, Any]:
        """A dictionary of numbers and one list of floats, for `from_json`."""
        return {"n": self.n, "start": self.start, "values": list(self.values)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CompactTail:
        """The inverse of `to_json`; exact, since JSON keeps every digit of a double."""
        return cls(int(data["n"]), int(data["start"]), tuple(data["values"]))


def mixture_quantile(runs: Sequence[CompactTail], confidence: float) -> int:
    """The smallest v with P[S > v] ≤ 1 − confidence, for S from one of the runs, each as likely.

    Runs must have the same number of targets.
    """
    failure = 1 - _validate.strictly_between_zero_and_one("confidence", confidence)
    sizes = sorted({run.n for run in runs})
    if len(sizes) != 1:
        raise ValueError(f"runs must all have the same number of targets, got {sizes}")
    above = np.mean([run.tail(np.arange(1, sizes[0] + 2)) for run in runs], axis=0)
    # rounding of the mean must not cost a record where the tail is the failure rate exactly
    return int(np.argmax(above <= failure + 1e-12))
