"""What a network cannot express: pairs of columns that hang together otherwise in the data.

A network reproduces the pairs that its tables hold, and leaves all others to follow from them. For
each pair the counts in the data are compared with the exact marginal of the network by

    G = 2 Σ n_ab log(n_ab / (n p_ab)) = 2 n KL(data ‖ network),

the likelihood ratio statistic. The data's mutual information less the network's is not used: it is
zero for two tables with equally strong but different dependence, and it is biased upwards.

Under the network, G is not χ² where many cells expect less than one record. Its mean and variance
follow from those of single Poisson cells (Koehler and Larntz 1980, for sparse multinomials): with
X ~ Poisson(μ), μ = n p, and f(X) = 2 (X log(X / μ) − X + μ), the sum of f over cells is G plus the
same term f_N of the total N ~ Poisson(n). Hence

    E G ≈ Σ E f − E f_N,    γ = (Σ Cov(X, f) − Cov(N, f_N)) / n,
    Var G ≈ Σ Var(f − γX) − Var f_N,    κ₃ G ≈ Σ κ₃(f − γX) − κ₃ f_N,

where taking γX off makes up for n being fixed. The tail is that of a shifted gamma distribution
with these three moments: exactly χ² where all cells are full, and close to normal where there are
many sparse ones. A network that was fitted to the same data reproduces some of their chance, so
that G comes out smaller: tests err towards silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, log
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammaln, ndtr, xlogy

from reconbench.datasets.domain import DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.elimination import Floats
from reconbench.datasets.network.pairs import list_pair_marginals
from reconbench.datasets.table import Table

LEVEL = 0.01
# With less, by Pinsker, no share of the pair is off by more than √(bits · ln 2 / 2), 8.3 points.
NOTABLE_BITS = 0.02
_SMALLEST_MEAN, _LARGEST_MEAN, _GRID = 1e-10, 300.0, 3_000


@dataclass(frozen=True)
class PairMisfit:
    """How far a pair of columns is from the network.

    ``bits`` is KL(data ‖ network) of the pair, in bits per record, less what chance alone makes of
    it. ``p_value`` counts all pairs that were looked at (Holm 1979). ``data_bits`` and
    ``network_bits`` are the mutual information of the columns.
    """

    columns: tuple[str, str]
    bits: float
    p_value: float
    data_bits: float
    network_bits: float

    def describe(self) -> str:
        return (
            f"{self.columns[0]} and {self.columns[1]}: {self.bits:.3f} bits per record "
            f"(they share {self.data_bits:.3f} bits in the table, {self.network_bits:.3f} in the "
            "network)"
        )


@dataclass(frozen=True)
class Misfit:
    """All pairs of columns against the network; ``missed`` are beyond chance, largest first."""

    pairs: int
    records: int
    level: float
    missed: tuple[PairMisfit, ...]

    @property
    def notable(self) -> tuple[PairMisfit, ...]:
        """The missed pairs that matter: those of more than ``NOTABLE_BITS``."""
        return tuple(pair for pair in self.missed if pair.bits > NOTABLE_BITS)

    def to_json(self, most: int = 10) -> dict[str, Any]:
        """Plain values; of the missed pairs only the ``most`` largest."""
        return {
            "pairs": self.pairs,
            "level": self.level,
            "missed": len(self.missed),
            "notable_bits": NOTABLE_BITS,
            "largest": [
                {
                    "columns": list(pair.columns),
                    "bits": "inf" if pair.bits == inf else pair.bits,
                    "p_value": pair.p_value,
                    "data_bits": pair.data_bits,
                    "network_bits": pair.network_bits,
                }
                for pair in self.missed[:most]
            ],
        }


def measure_misfit(net: BayNet, table: Table, level: float = LEVEL) -> Misfit:
    """Find the pairs of columns whose counts the network does not explain.

    Args:
        net: The network.
        table: Records over its domain.
        level: The chance that any pair is named although the table is drawn from the network.
    """
    if net.domain != table.domain:
        raise DomainError("the network and the table have different columns or labels")
    if not 0 < level < 1:
        raise DomainError(f"level must be strictly between 0 and 1, got {level}")
    names, n = net.domain.names, len(table)
    found = []
    for i, j, expected in list_pair_marginals(net):
        cell = table.codes[:, i] * expected.shape[1] + table.codes[:, j]
        counts = np.bincount(cell, minlength=expected.size).reshape(expected.shape)
        statistic = compute_statistic(counts, expected)
        mean, p_value = compute_tail(statistic, n * expected)
        pair = PairMisfit(
            (names[i], names[j]),
            max(0.0, (statistic - mean) / (2 * n) / log(2)),
            p_value,
            _mutual_information(counts / n),
            _mutual_information(expected),
        )
        found.append(pair)
    adjusted = adjust_p_values([pair.p_value for pair in found])
    missed = [
        PairMisfit(pair.columns, pair.bits, p_value, pair.data_bits, pair.network_bits)
        for pair, p_value in zip(found, adjusted, strict=True)
        if p_value <= level
    ]
    missed.sort(key=lambda pair: (-pair.bits, pair.columns))
    return Misfit(len(found), n, level, tuple(missed))


def find_independent(net: BayNet, targets: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The targets that the network holds independent of all known columns.

    Columns are d-connected, nothing else being known, exactly if they have an ancestor in common,
    themselves included.
    """
    ancestors: dict[int, frozenset[int]] = {}
    for i in net.domain.positions(net.visit_order):
        ancestors[i] = frozenset({i}).union(*(ancestors[p] for p in net.parents[i]))
    behind = frozenset[int]().union(*(ancestors[i] for i in net.domain.positions(known)))
    positions = net.domain.positions(targets)
    return tuple(
        name for name, i in zip(targets, positions, strict=True) if not ancestors[i] & behind
    )


def compute_statistic(counts: Any, shares: Floats) -> float:
    """G = 2 Σ n_ab log(n_ab / (n p_ab)); infinite where a count is impossible."""
    n = counts.sum()
    if (counts[shares == 0] > 0).any():
        return inf
    present = counts > 0
    ratio = counts[present] / (n * shares[present])
    return max(0.0, float(2 * (counts[present] * np.log(ratio)).sum()))


def compute_tail(statistic: float, expected: Floats) -> tuple[float, float]:
    """The mean of G and the chance that it is at least this large, given the expected counts."""
    n = float(expected.sum())
    cells = _sum_moments(expected[expected > 0])
    total = _sum_moments(np.array([n]))
    mean = cells.mean - total.mean
    gamma = (cells.covariance - total.covariance) / n
    # Var(f − γX) and κ₃(f − γX), multiplied out; the third cumulant of X is μ.
    variance = cells.variance - 2 * gamma * cells.covariance + gamma**2 * n - total.variance
    third = (
        cells.third - 3 * gamma * cells.squared_f + 3 * gamma**2 * cells.squared_x - gamma**3 * n
    ) - total.third
    if statistic == inf:
        return mean, 0.0
    if mean < 1e-9 or variance < 1e-9:  # one cell holds all there can be
        return max(mean, 0.0), 1.0
    deviation = (statistic - mean) / variance**0.5
    skewness = third / variance**1.5
    if skewness < 1e-3:
        return mean, float(ndtr(-deviation))
    shape = 4 / skewness**2
    return mean, float(gammaincc(shape, max(0.0, shape + deviation * shape**0.5)))


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


@dataclass(frozen=True)
class _Moments:
    """Moments of f and X, summed over cells, with a = f − E f and b = X − μ.

    They are E f, E a², E a³, E ab, E a²b and E ab².
    """

    mean: float
    variance: float
    third: float
    covariance: float
    squared_f: float
    squared_x: float


def _sum_moments(means: Floats) -> _Moments:
    """The moments of Poisson cells, interpolated on a fine grid.

    Beyond the grid, where f is nearly the square of a normal variable, each is as far from its
    limit as 1 / μ.
    """
    logs, grid = _moment_grid()
    at = np.log(np.clip(means, _SMALLEST_MEAN, _LARGEST_MEAN))
    rest = _LARGEST_MEAN / np.maximum(means, _LARGEST_MEAN)
    mean, variance, third, covariance, squared_f, squared_x = (
        limit + (np.interp(at, logs, values) - limit) * rest
        for values, limit in zip(grid, (1.0, 2.0, 8.0, 0.0, 0.0, 2.0), strict=True)
    )
    return _Moments(
        float(mean.sum()),
        float(variance.sum()),
        float(third.sum()),
        float(covariance.sum()),
        float(squared_f.sum()),
        float((squared_x * means).sum()),
    )


@cache
def _moment_grid() -> tuple[Floats, tuple[Floats, ...]]:
    """Logarithms of μ, and the moments there, the last one over μ."""
    logs = np.linspace(log(_SMALLEST_MEAN), log(_LARGEST_MEAN), _GRID)
    mu = np.exp(logs)[:, None]
    x = np.arange(int(_LARGEST_MEAN + 15 * _LARGEST_MEAN**0.5))[None]
    chance = np.exp(xlogy(x, mu) - mu - gammaln(x + 1))
    f = 2 * (xlogy(x, x) - x * np.log(mu) - x + mu)
    mean = (chance * f).sum(axis=1)
    a, b = f - mean[:, None], x - mu
    products = (a**2, a**3, a * b, a**2 * b, a * b**2 / mu)
    return logs, (mean, *((chance * product).sum(axis=1) for product in products))


def _mutual_information(shares: Floats) -> float:
    """In bits; not below 0."""
    outer = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    present = shares > 0
    nats = (shares[present] * np.log(shares[present] / outer[present])).sum()
    return max(0.0, float(nats) / log(2))
