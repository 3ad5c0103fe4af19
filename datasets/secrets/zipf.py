"""Zipf's law over more values than anybody could list, and the uniform distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError

Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

# Terms summed one by one before Euler-Maclaurin takes over, and B₂ⱼ/(2j)! of its corrections.
_DIRECT = 32
_CORRECTIONS = (1 / 12, -1 / 720, 1 / 30_240, -1 / 1_209_600, 1 / 47_900_160)
_REMAINDER = 691 / 1_307_674_368_000


@dataclass(frozen=True)
class ZipfSecrets:
    """P(rank k) ∝ k^−s for k = 1 … size; s = 0 is the uniform distribution."""

    s: float
    size: int

    def __post_init__(self) -> None:
        if not 0 <= self.s < math.inf:
            raise DomainError(f"s must be 0 (uniform) or more, got {self.s:g}")
        if not 1 <= self.size <= 1 << 62:
            raise DomainError(f"size must be between 1 and 2^62 values, got {self.size}")

    @cached_property
    def normaliser(self) -> float:
        """Σ k^−s over all ranks."""
        return float(self._sums(np.array([self.size]))[0])

    @property
    def largest(self) -> float:
        return 1 / self.normaliser

    @property
    def median(self) -> float:
        """The probability that half of all secrets have at most."""
        return float(self.probability(np.array([(self.size + 1) // 2]))[0])

    @property
    def smallest(self) -> float:
        return float(self.probability(np.array([self.size]))[0])

    def probability(self, ranks: npt.ArrayLike) -> Floats:
        asked = self._check_ranks(ranks)
        return np.asarray(asked**-self.s / self.normaliser)

    def cumulative(self, ranks: npt.ArrayLike) -> Floats:
        """P(rank ≤ k)."""
        return self._sums(self._check_ranks(ranks)) / self.normaliser

    def sample(self, n: int, rng: np.random.Generator) -> Ranks:
        """Ranks by inversion: the first k with P(rank ≤ k) ≥ u, found by bisection."""
        if n < 1:
            raise DomainError(f"n must be at least 1 secret, got {n}")
        wanted = rng.random(n) * self.normaliser
        low, high = np.ones(n, dtype=np.int64), np.full(n, self.size, dtype=np.int64)
        while (low < high).any():
            middle = low + (high - low) // 2
            enough = self._sums(middle) >= wanted
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return low

    @property
    def error(self) -> float:
        """A bound on the error of the normaliser, rounding apart; 0 where all terms are summed.

        All derivatives of x^−s keep their sign, so the Euler-Maclaurin remainder is smaller than
        the first correction left out.
        """
        return 0.0 if self.size <= _DIRECT else _REMAINDER * self._derivative(11, _DIRECT)

    def _sums(self, ranks: npt.NDArray[Any]) -> Floats:
        """H_k = Σ_{j ≤ k} j^−s: term by term up to a = 32, then

        H_k = H_a + ∫_a^k x^−s dx + (k^−s − a^−s)/2 + Σ_j B₂ⱼ/(2j)! (g⁽²ʲ⁻¹⁾(k) − g⁽²ʲ⁻¹⁾(a)).
        """
        a, s = float(_DIRECT), self.s
        first = np.cumsum(np.arange(1.0, _DIRECT + 1) ** -s)
        ends = np.maximum(ranks.astype(np.float64), a)
        # ∫_a^k x^−s dx = a^{1−s} (e^{(1−s) log(k/a)} − 1)/(1 − s), and log(k/a) at s = 1
        logs = np.log(ends / a)
        area = a ** (1 - s) * (np.expm1((1 - s) * logs) / (1 - s) if s != 1 else logs)
        total = first[-1] + area + (ends**-s - a**-s) / 2
        for j, factor in enumerate(_CORRECTIONS):
            # g⁽²ʲ⁻¹⁾ is negative, hence the order of the difference
            order = 2 * j + 1
            total += factor * (self._derivative(order, a) - self._derivative(order, ends))
        near = first[np.minimum(ranks, _DIRECT).astype(np.int64) - 1]
        return np.asarray(np.where(ranks <= _DIRECT, near, total))

    def _derivative(self, order: int, x: Any) -> Any:
        """|dⁿ/dxⁿ x^−s| = s (s + 1) … (s + n − 1) x^{−s−n}."""
        return math.prod(self.s + i for i in range(order)) * x ** (-self.s - order)

    def _check_ranks(self, ranks: npt.ArrayLike) -> Floats:
        asked = np.asarray(ranks, dtype=np.float64)
        if asked.size and not ((asked >= 1) & (asked <= self.size)).all():
            raise DomainError(f"ranks must be between 1 and {self.size}, got {ranks!r}")
        return asked


def uniform_digits(length: int = 9) -> ZipfSecrets:
    """All numbers of ``length`` digits, equally likely."""
    if not 1 <= length <= 18:
        raise DomainError(f"length must be between 1 and 18 digits, got {length}")
    return ZipfSecrets(0.0, 10**length)
