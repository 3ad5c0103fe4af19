"""Probabilities known from trials, with bounds that hold in samples of any size.

A bound at `failure` is wrong with probability at most `failure`, whatever the truth. Trials are
independent and alike. Two bounds hold together with probability at least 1 minus the sum of their
failures, also where they come from the same trials: that is the union bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from reconbench.bounds import _validate
from reconbench.bounds._validate import positive_integer


class Proportion(Protocol):
    """A probability, estimated or known."""

    @property
    def estimate(self) -> float: ...

    @property
    def certain(self) -> bool:
        """Whether it is known without error, so that its bounds never fail."""

    def lower(self, failure: float) -> float:
        """Below the probability, except with probability at most `failure`."""

    def upper(self, failure: float) -> float:
        """Above the probability, except with probability at most `failure`."""


@dataclass(frozen=True)
class Counted:
    """`successes` of `trials`, with the bounds of Clopper and Pearson 1934.

    The lower bound is the p with P[Bin(n, p) ≥ x] = failure: if the truth p* is below it, an event
    of probability at most `failure` has happened. The upper bound is 1 minus the lower bound of
    the failures' share, computed as that so that it keeps its digits near 1.
    """

    successes: int
    trials: int

    def __post_init__(self) -> None:
        positive_integer("trials", self.trials)
        whole = isinstance(self.successes, int | np.integer) and not isinstance(
            self.successes, bool
        )
        if not whole or not 0 <= self.successes <= self.trials:
            raise ValueError(
                f"successes must be an integer from 0 to trials = {self.trials}, "
                f"got {self.successes!r}"
            )

    @property
    def estimate(self) -> float:
        return self.successes / self.trials

    @property
    def certain(self) -> bool:
        return False

    def lower(self, failure: float) -> float:
        return _at_least(self.successes, self.trials, failure)

    def upper(self, failure: float) -> float:
        return 1 - _at_least(self.trials - self.successes, self.trials, failure)


@dataclass(frozen=True)
class Known:
    """A probability that needs no trial."""

    probability: float

    def __post_init__(self) -> None:
        _validate.probabilities("probability", self.probability)

    @property
    def estimate(self) -> float:
        return self.probability

    @property
    def certain(self) -> bool:
        return True

    def lower(self, failure: float) -> float:
        return self.probability

    def upper(self, failure: float) -> float:
        return self.probability


@dataclass(frozen=True)
class Averaged:
    """The mean of `trials` independent values in [low, high], from their mean and variance.

    Maurer and Pontil 2009, "Empirical Bernstein Bounds and Sample Variance Penalization",
    Theorem 4: with L = ln(2/failure), V the sample variance (divisor n − 1) and R = high − low,
    the expectation is below mean + √(2VL/n) + 7RL/(3(n − 1)), except with probability `failure`;
    and so from the other side. Values of no spread give no width.
    """

    mean: float
    variance: float
    trials: int
    low: float
    high: float

    def __post_init__(self) -> None:
        positive_integer("trials", self.trials)
        _validate.non_negative("variance", self.variance)
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError(f"low, high must be in order within [0, 1], got {self!r}")
        if not self.low - 1e-9 <= self.mean <= self.high + 1e-9:
            raise ValueError(f"mean must be from low to high, got {self!r}")

    @property
    def estimate(self) -> float:
        return self.mean

    @property
    def certain(self) -> bool:
        return self.low == self.high

    def lower(self, failure: float) -> float:
        return max(self.low, self.mean - self._margin(failure))

    def upper(self, failure: float) -> float:
        return min(self.high, self.mean + self._margin(failure))

    def _margin(self, failure: float) -> float:
        if self.trials == 1 or failure <= 0:
            return self.high - self.low
        log, n = math.log(2 / failure), self.trials
        # √(2VL/n) + 7RL/(3(n − 1))
        spread = 7 * (self.high - self.low) * log / (3 * (n - 1))
        return math.sqrt(2 * self.variance * log / n) + spread


def chance_of_guesses(times_guessed: ArrayLike, prior: ArrayLike) -> Proportion:
    """Success of guesses on a fresh target, the target averaged out: the mean of π(guess).

    `times_guessed` counts how often each value was guessed. A target drawn from π independently
    of the guess g is hit with probability π(g), so the mean of π(g) has the expectation of the
    share of hits and none of the noise of drawing targets. Under a uniform prior it is 1/m.
    """
    weights = _validate.probability_vector("prior", prior)
    counts = np.asarray(times_guessed)
    if counts.shape != weights.shape or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise ValueError(
            f"times_guessed must be {weights.size} counts, one a value of the prior, "
            f"got {times_guessed!r}"
        )
    n = positive_integer("the number of guesses", int(counts.sum()))
    low, high = float(weights.min()), float(weights.max())
    if low == high:
        return Known(low)
    mean = float(counts @ weights) / n
    variance = float(counts @ (weights - mean) ** 2) / max(n - 1, 1)
    return Averaged(mean, variance, n, low, high)


def _at_least(successes: int, trials: int, failure: float) -> float:
    """The p with P[Bin(trials, p) ≥ successes] = failure; 0 where there was no success."""
    if successes == 0 or failure <= 0:
        return 0.0
    return float(betaincinv(successes, trials - successes + 1, min(failure, 1.0)))
