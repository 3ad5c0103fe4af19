"""Distributions of the privacy loss on a grid, rounded so that they promise too little.

Let P and Q be the distributions of an output for two neighbouring tables and L = log dP/dQ the loss
of an output drawn from P. Losses of several releases add up, and

    δ(ε) = P[L = ∞] + E[(1 − e^(ε − L))₊].

A loss between two points of the grid is split between them so that P and Q keep their totals
("connect the dots", Doroshenko et al. 2022, https://arxiv.org/abs/2207.04380): δ(ε) keeps its
values on the grid and becomes a chord in e^ε between them, above the convex truth. Composing keeps
that order. Probability that the grid cannot hold counts as a loss of ∞.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.polyline import MAX_EPSILON

# The probability, on either side, that a composed loss may lie beyond the grid.
_RARE = 1e-16
# Rounding in a Fourier transform, for each release composed.
_ROUNDING = float(np.finfo(np.float64).eps)
# How many rates of Chernoff's bound are tried: the best of twelve is close to the best of all.
_RATES = 12
_SMALLEST = 1e-290

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """P and Q of the losses in ((lowest + k − 1) step, (lowest + k) step] for k = 0, 1, ...

    The first cell also holds what is lower; ``above`` is what is higher than the last.
    """

    step: float
    lowest: int
    p: FloatArray
    q: FloatArray
    above: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of_atoms(
        cls, step: float, losses: FloatArray, p: FloatArray, q: FloatArray, infinite: float
    ) -> Cells:
        """Of an output of finitely many values; `infinite` is P of those impossible under Q."""
        if not losses.size:
            return cls(step, 0, np.zeros(1), np.zeros(1), (infinite, 0.0))
        place = np.ceil(losses / step)
        lowest = int(place.min()) - 1
        index = place.astype(np.int64) - lowest
        return cls(step, lowest, np.bincount(index, p), np.bincount(index, q), (infinite, 0.0))

    @classmethod
    def of_subsample(
        cls,
        step: float,
        share: float,
        reach: float,
        masses: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    ) -> Cells:
        """Of (1 − share) Q + share P against Q, for a pair whose losses hardly exceed ±reach.

        `masses` gives P and Q of the losses between given edges. The loss of the mixture is
        l = log(1 − share + share e^L), which is above log(1 − share).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            log_share, floor = np.log(share), np.log1p(-share)
            low, high = np.logaddexp(floor, log_share + np.array([-reach, reach])) / step
            # One more cell on either side: the largest losses may be atoms.
            lowest = math.floor(low) - 1
            edges = np.arange(lowest, math.ceil(high) + 2) * step
            # L = log((e^l − 1 + share)/share), in a form that neither overflows nor cancels
            bare = edges + np.log(-np.expm1(np.minimum(floor - edges, 0.0))) - log_share
        p, q = masses(np.concatenate([[-math.inf], bare, [math.inf]]))
        p = (1 - share) * q + share * p
        return cls(step, lowest, p[:-1], q[:-1], (float(p[-1]), float(q[-1])))

    def reverse(self) -> Cells:
        """Q against P: the losses change sign."""
        p = np.concatenate([[self.above[1]], self.q[:0:-1]])
        q = np.concatenate([[self.above[0]], self.p[:0:-1]])
        above = (float(self.q[0]), float(self.p[0]))
        return Cells(self.step, 1 - self.lowest - self.p.size, p, q, above)

    def split(self) -> LossDistribution:
        """The mass of every cell on its two ends, so that P and Q keep their totals.

        Rare small losses count as larger ones.
        """
        upto = np.cumsum(self.p)
        first = max(0, int(np.searchsorted(upto, _RARE, "right")) - 1)
        p, q = self.p[first + 1 :], self.q[first + 1 :]
        lowest = self.lowest + first
        lower = (lowest + np.arange(p.size)) * self.step
        with np.errstate(divide="ignore", invalid="ignore"):
            # u e^−(l + h) + (p − u) e^−l = q at the upper end l + h: u = (p − q e^l)/(1 − e^−h)
            share = np.expm1(lower + np.log(q) - np.log(p)) / math.expm1(-self.step)
        up = np.where(p > 0, np.clip(share, 0.0, 1.0), 0.0) * p
        masses = np.append(upto[first], up)
        masses[:-1] += p - up
        return LossDistribution(self.step, lowest, masses, self.above[0])


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """masses[k] at the loss (lowest + k) step, and `infinite` at ∞."""

    step: float
    lowest: int
    masses: FloatArray
    infinite: float

    def deltas(self) -> FloatArray:
        """δ(ε) at ε = 0, step, 2 step, ..., up to the largest loss, where `infinite` is left."""
        held = np.concatenate([np.zeros(max(0, self.lowest)), self.masses[max(0, -self.lowest) :]])
        last = int(MAX_EPSILON / self.step)
        rest, held = self.infinite + float(held[last + 1 :].sum()), held[: last + 1]
        losses = np.arange(held.size) * self.step
        # Σ_{l > ε} P[L = l] and, as Q has it, Σ_{l > ε} P[L = l] e^−l
        p, q = (
            np.append(np.cumsum(mass[:0:-1])[::-1], 0.0) for mass in (held, held * np.exp(-losses))
        )
        return np.clip(rest + np.maximum(p - np.exp(losses) * q, 0.0), 0.0, 1.0)


def compose(parts: Sequence[tuple[LossDistribution, int]]) -> LossDistribution:
    """The loss of all releases together, each made so many times: the sum."""
    # Imported on first use: it would lengthen the import of this package.
    from scipy.fft import irfft, next_fast_len, rfft

    start, stop = _range(parts)
    longest = max(part.masses.size for part, _ in parts)
    size = next_fast_len(max(stop - start + 1, longest), real=True)
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    kept = 0.0
    for part, count in parts:
        spectrum *= rfft(part.masses, size) ** count
        kept += count * math.log1p(-min(part.infinite, 1 - 1e-16))
    lowest = sum(count * part.lowest for part, count in parts)
    # The transform is circular: what is beyond the range comes back within it.
    masses = np.roll(irfft(spectrum, size), (lowest - start) % size)
    total = sum(count for _, count in parts)
    infinite = min(1.0, -math.expm1(kept) + _RARE + total * _ROUNDING)
    return LossDistribution(parts[0][0].step, start, np.maximum(masses, 0.0), infinite)


def _range(parts: Sequence[tuple[LossDistribution, int]]) -> tuple[int, int]:
    """Between which places of the grid the sum lies, but for `_RARE` on either side."""
    variance = 0.0
    lowest = highest = 0
    for part, count in parts:
        place = np.arange(part.masses.size)
        mean = np.sum(part.masses * place)
        variance += count * float(np.sum(part.masses * (place - mean) ** 2))
        lowest += count * part.lowest
        highest += count * (part.lowest + part.masses.size - 1)
    budget = -math.log(_RARE)
    # From what is best for one rare large loss to what is best for a Gaussian sum, and beyond.
    longest = max(part.masses.size for part, _ in parts)
    rates = np.geomspace(1 / longest, 2 * math.sqrt(2 * budget / max(variance, 1e-12)), _RATES)
    # Chernoff: P[S ≥ s] ≤ E[e^(rS)] e^(−rs) for every rate r > 0
    above = min((_log_moment(parts, rate) + budget) / rate for rate in rates)
    below = max(-(_log_moment(parts, -rate) + budget) / rate for rate in rates)
    return math.floor(max(lowest, below)), math.ceil(min(highest, above))


def _log_moment(parts: Sequence[tuple[LossDistribution, int]], rate: float) -> float:
    """log E[e^(rate S)] of the sum's finite part, in places of the grid."""
    total = 0.0
    for part, count in parts:
        place = part.lowest + np.arange(part.masses.size)
        end = place[-1] if rate > 0 else place[0]
        moment = float(np.sum(part.masses * np.exp(rate * (place - end))))
        # Where the sum underflows it bounds nothing.
        total += count * (rate * end + math.log(moment) if moment > _SMALLEST else math.inf)
    return total
