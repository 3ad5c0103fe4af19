"""The model of a Gaussian mechanism: errors between the curve of μ-GDP and chance.

    μ ~ half-normal, s ~ Beta, m_j | μ, s ~ uniform on [sμ, μ], α_j ~ uniform on [0, 1],
    β_j = Φ(Φ⁻¹(1 − α_j) − m_j), X_j ~ Bin(N₀, α_j), Y_j ~ Bin(N₁, β_j).

An attack on a μ-GDP mechanism has errors with f_μ(α) ≤ β ≤ 1 − f_μ(1 − α) (Dong, Roth and Su 2022,
Definition 2.6): its own m = Φ⁻¹(1 − α) − Φ⁻¹(β) is at most μ. m = 0 is chance, m = μ the optimal
test at its level. A test that is wrong more often than right is turned around, as in the model of
Yildirim 2025: either sign of m is as likely. The level α is what the attacker chose, so it says
nothing of μ: given α the density of β is 1/(2 (1 − s) μ φ(Φ⁻¹(β))) in the strip.

The neighbouring relation is that of the attacked tables, and μ is for that relation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from reconbench.bounds import _validate
from reconbench.bounds.audit.mcmc.counts import Counts
from reconbench.bounds.audit.mcmc.model import BetaStrength, Strength

Floats = NDArray[np.float64]

# Likelihoods below e^-45 of the largest are left out.
_NEGLIGIBLE = 45.0
_COARSE, _FINE = 61, 401
# Standard deviations of m̂ that a first look spans, on both sides.
_SPAN = 14.0
# z = mode + width · sinh(t) reaches 27 standard deviations of the integrand; the rule of the
# trapezium converges geometrically for such integrands.
_T = np.linspace(-3.6, 3.6, 61)
_LARGEST_MU = 100.0


@dataclass(frozen=True)
class GdpPrior:
    """μ ~ N(0, `variance`) on [0, ∞), and a strength: the model of a Gaussian mechanism.

    s ~ Beta(1, ½) has more mass near 1 than a uniform s: attacks of one strength, such as one test
    repeated on many bases, are not taken for a spread of strengths that ends above them.
    Variance 4 has a median of 1.35 and μ above 4 with 5 %: ε of 3.5 and 16.5 at δ = 0.01.
    """

    variance: float = 4.0
    strength: Strength = field(default_factory=lambda: BetaStrength(1.0, 0.5))

    def __post_init__(self) -> None:
        if np.isinf(_validate.positive("variance", self.variance)):
            raise ValueError("variance must be finite, got inf: the half-normal must be a prior")

    def describe(self) -> str:
        return f"μ ~ half-normal of variance {self.variance:g}, {self.strength.describe()}"


def gdp_delta(delta: float) -> float:
    """δ in (0, 1): a Gaussian mechanism has no finite ε at δ = 0."""
    if _validate.below_one("delta", delta) == 0:
        raise ValueError(
            "delta must be > 0 for the gdp model, got 0: a Gaussian mechanism is never pure DP; "
            "pass a delta such as 1e-5"
        )
    return float(delta)


def attack_mu(alpha: ArrayLike, beta: ArrayLike) -> Floats:
    """m = Φ⁻¹(1 − α) − Φ⁻¹(β): the smallest |μ| whose curve allows these errors."""
    x, y = np.asarray(alpha, dtype=np.float64), np.asarray(beta, dtype=np.float64)
    return np.asarray(-ndtri(x) - ndtri(y), dtype=np.float64)


def gdp_epsilon(mu: ArrayLike, delta: float) -> Floats:
    """The smallest ε for which μ-GDP implies (ε, δ)-DP, elementwise; 0 where δ(0) ≤ δ.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) falls with ε (Balle and Wang 2018, Theorem 8).
    """
    target, at = gdp_delta(delta), np.asarray(mu, dtype=np.float64)
    # δ(ε) ≤ Φ(μ/2 − ε/μ), so the root lies below the ε where the right side equals δ.
    low, high = np.zeros(at.shape), np.maximum(at * (at / 2 - ndtri(target)), 0.0)
    safe = np.maximum(at, 1e-300)

    def exceeds(epsilon: Floats) -> NDArray[np.bool_]:
        first = log_ndtr(safe / 2 - epsilon / safe)
        # log(e^a − e^b) = a + log(1 − e^(b − a)), with b < a
        gap = epsilon + log_ndtr(-safe / 2 - epsilon / safe) - first
        with np.errstate(divide="ignore"):
            return np.asarray(first + np.log(-np.expm1(np.minimum(gap, 0.0))) > np.log(target))

    for _ in range(60):
        middle = (low + high) / 2
        above = exceeds(middle)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(exceeds(np.zeros(at.shape)), (low + high) / 2, 0.0)


@dataclass(frozen=True, eq=False)
class StrengthLikelihoods:
    """P(counts of base j | m), tabulated over m: one row per base, each on its own range.

    `start` and `width` give the grid of a row; `density` (bases, points) is the likelihood there,
    scaled to integrate to 1 over the row, and `below` its integral from the start.
    """

    start: Floats
    width: Floats
    density: Floats
    below: Floats

    @classmethod
    def of(cls, counts: Counts, largest: float = _LARGEST_MU) -> StrengthLikelihoods:
        rows = [
            _base_row(counts, np.flatnonzero(counts.bases == j), largest)
            for j in range(counts.base_count)
        ]
        start, width, density = (np.array(part) for part in zip(*rows, strict=True))
        cells = (density[:, 1:] + density[:, :-1]) * width[:, None] / 2
        below = np.hstack([np.zeros((len(rows), 1)), np.cumsum(cells, axis=1)])
        total = below[:, -1:]
        return cls(start, width, density / total, below / total)

    def draw(self, base: int, mu: Floats, s: Floats, rng: np.random.Generator) -> Floats:
        """One m per (μ, s), from the likelihood of a base within sμ ≤ |m| ≤ μ."""
        grid = self.start[base] + self.width[base] * np.arange(self.density.shape[1])
        ends = np.stack([s * mu, mu, -mu, -s * mu])
        low, high, turned_low, turned_high = np.interp(ends, grid, self.below[base])
        place = rng.random(len(mu)) * (high - low + turned_high - turned_low)
        turned = place > high - low
        wanted = np.where(turned, turned_low + place - (high - low), low + place)
        found = np.interp(wanted, self.below[base], grid)
        first, last = np.where(turned, ends[2:], ends[:2])
        return np.asarray(np.clip(found, first, last), dtype=np.float64)


def _base_row(
    counts: Counts, rows: NDArray[np.int64], largest: float
) -> tuple[float, float, Floats]:
    """Start, width and values of the likelihood of one base.

    Levels of one base share their challenges. Their likelihoods enter with the power 1/k, k the
    number of levels: a composite likelihood whose information is the mean of theirs. Whatever the
    dependence, the variance of a mean of scores is at most the mean of their variances, so the
    posterior is not narrower than the counts allow (in large samples).
    """
    x, n0, y, n1 = counts.columns[rows].T.astype(np.float64)
    a, b = (x + 0.5) / (n0 + 1), (y + 0.5) / (n1 + 1)
    centre = attack_mu(a, b)
    error = np.sqrt(_probit_variance(a, n0) + _probit_variance(b, n1))
    low = float(np.clip((centre - _SPAN * error).min(), -largest, largest))
    high = float(np.clip((centre + _SPAN * error).max(), -largest, largest))
    for points in (_COARSE, _FINE):
        m = np.linspace(low, high, points)
        log_value = np.mean(
            [_log_likelihood(*each, m) for each in zip(x, n0, y, n1, strict=True)], axis=0
        )
        log_value -= log_value.max()
        # Concave in m: what counts is one interval.
        there = np.flatnonzero(log_value > -_NEGLIGIBLE)
        low, high = m[max(there[0] - 1, 0)], m[min(there[-1] + 1, points - 1)]
    return float(m[0]), float(m[1] - m[0]), np.exp(log_value)


def _probit_variance(p: Floats, n: Floats) -> Floats:
    """Of Φ⁻¹(p̂): p(1 − p)/(n φ(Φ⁻¹(p))²)."""
    return np.asarray(p * (1 - p) / (n * _density(ndtri(p)) ** 2), dtype=np.float64)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), dtype=np.float64)


def _log_likelihood(x: float, n0: float, y: float, n1: float, m: Floats) -> Floats:
    return np.asarray(logsumexp(_level_nodes(x, n0, y, n1, m)[1], axis=1), dtype=np.float64)


def draw_levels(
    x: float, n0: float, y: float, n1: float, m: Floats, rng: np.random.Generator
) -> Floats:
    """One α per m from its posterior given the counts of a level and m (to a node of a grid)."""
    nodes, log_weights = _level_nodes(x, n0, y, n1, m)
    picked = (log_weights + rng.gumbel(size=log_weights.shape)).argmax(axis=1)
    return np.asarray(ndtr(-nodes[np.arange(len(m)), picked]), dtype=np.float64)


def _level_nodes(x: float, n0: float, y: float, n1: float, m: Floats) -> tuple[Floats, Floats]:
    """Nodes of z = Φ⁻¹(1 − α) and logs of their weights in, for each m, the integral

        ∫ α^X (1 − α)^(N₀ − X) β^Y (1 − β)^(N₁ − Y) dα with β = Φ(Φ⁻¹(1 − α) − m), up to a constant.

    With z = Φ⁻¹(1 − α) and dα = φ(z) dz the integrand is log-concave in (z, m).
    """

    def log_integrand(z: Floats, at: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(
                x * log_ndtr(-z)
                + (n0 - x) * log_ndtr(z)
                + y * log_ndtr(z - at)
                + (n1 - y) * log_ndtr(at - z)
                - z**2 / 2,
                dtype=np.float64,
            )

    def slope(u: Floats) -> tuple[Floats, Floats]:
        """First derivative of log Φ at u, and minus the second."""
        mills = np.exp(-(u**2) / 2 - log_ndtr(u)) / np.sqrt(2 * np.pi)
        return mills, mills * (mills + u)

    a, b = (x + 0.5) / (n0 + 1), (y + 0.5) / (n1 + 1)
    weights = 1 / _probit_variance(np.array([a, b]), np.array([n0, n1]))
    z = (weights[0] * -ndtri(a) + weights[1] * (ndtri(b) + m)) / (weights.sum() + 1)
    low, high = np.minimum(-45.0, m - 45), np.maximum(45.0, m + 45)
    for _ in range(40):
        first = -z
        second = np.ones_like(z)
        for count, u, sign in ((x, -z, -1), (n0 - x, z, 1), (y, z - m, 1), (n1 - y, m - z, -1)):
            one, two = slope(u)
            first += sign * count * one
            second += count * two
        low, high = np.where(first > 0, z, low), np.where(first > 0, high, z)
        step = z + first / second
        moved = np.where((step > low) & (step < high), step, (low + high) / 2)
        done = np.abs(moved - z) * np.sqrt(second) < 1e-2
        z = np.where(done, z, moved)
        if done.all():
            break
    width = 1.5 / np.sqrt(second)
    nodes = z[:, None] + width[:, None] * np.sinh(_T)
    return nodes, log_integrand(nodes, m[:, None]) + np.log(np.cosh(_T) * width[:, None])
