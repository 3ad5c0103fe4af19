"""Whether counts look like counts of the model that was fitted to them: a predictive check.

Counts are simulated at posterior draws of (ε, s) or (μ, s) and compared with those observed
(Gelman, Meng and Stern 1996). What is compared depends little on the parameters, so that p-values
are close to uniform where the model holds; the tests measure how often it fails then.

- region: errors fill R_s(ε, δ) evenly. *spread*: how far attacks are from each other along its
  boundary, the sd of α − β; too small where all have one false-positive level. *shape*: the
  correlation of an attack's ε with |α − β|; it is large on a curve that leaves R(ε, δ) empty
  between its points of contact, as that of a Gaussian mechanism does.
- gdp: m_j is uniform and independent of the level. *shape*: the correlation of |m_j| with the
  distance from equal errors; not 0 if the curve is not Gaussian. *spread*: the skewness of |m_j|.

The p-value is twice the smaller of the two (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from reconbench.bounds.audit.mcmc.counts import Counts
from reconbench.bounds.audit.mcmc.estimate import GDP, REGION, Estimate
from reconbench.bounds.audit.mcmc.gdp.model import StrengthLikelihoods, attack_mu, draw_levels
from reconbench.bounds.audit.mcmc.model import CorrelatedNormal, epsilon_level

Floats = NDArray[np.float64]

FAILS_BELOW = 0.05
FEWEST_BASES = 4
_REPLICATES = 1_000

_ADVICE = {
    REGION: "the interval may be far too low: the counts do not fill R(ε, δ) as the model assumes; "
    "those of a Gaussian mechanism look like this; use --model gdp",
    GDP: "the interval may be wrong: the counts do not look like those of attacks on a Gaussian "
    "mechanism; compare with --model region",
}


@dataclass(frozen=True)
class PredictiveCheck:
    """p-values of `spread` and `shape`, and of both together; None with too few bases."""

    model: str
    spread: float | None
    shape: float | None

    @property
    def p_value(self) -> float | None:
        if self.spread is None or self.shape is None:
            return None
        return min(1.0, 2 * min(self.spread, self.shape))

    @property
    def failed(self) -> bool:
        return self.p_value is not None and self.p_value < FAILS_BELOW

    @property
    def warning(self) -> str | None:
        """What a failed check means, and what to do."""
        if not self.failed:
            return None
        return (
            f"the {self.model} model fails its predictive check (p = {self.p_value:.3f}): "
            f"{_ADVICE[self.model]}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "p_value": self.p_value,
            "spread": self.spread,
            "shape": self.shape,
            "failed": self.failed,
            "fails_below": FAILS_BELOW,
        }


def check_model(
    found: Estimate, rng: np.random.Generator, replicates: int = _REPLICATES
) -> PredictiveCheck:
    """Compare the counts with `replicates` simulated at posterior draws."""
    counts = found.run.counts
    if counts.base_count < FEWEST_BASES:
        return PredictiveCheck(found.run.model, None, None)
    draws = found.draws.reshape(-1, found.draws.shape[2])
    chosen = draws[np.linspace(0, len(draws) - 1, replicates).astype(int)]
    gaussian = found.run.model == GDP
    simulate = _simulate_gdp if gaussian else _simulate_region
    compare: Callable[..., tuple[Floats, Floats]] = _gdp_features if gaussian else _region_features
    x, y = simulate(found, chosen, rng)
    simulated = compare(counts, x, y, found.run.delta)
    observed = compare(
        counts, counts.false_positives[None], counts.false_negatives[None], found.run.delta
    )
    low, high = zip(
        *(_tails(one, many) for one, many in zip(observed, simulated, strict=True)), strict=True
    )
    if gaussian:
        spread, shape = (min(1.0, 2 * min(pair)) for pair in zip(low, high, strict=True))
    else:
        spread, shape = low[0], high[1]
    return PredictiveCheck(found.run.model, spread, shape)


def _tails(observed: Floats, simulated: Floats) -> tuple[float, float]:
    """How often a simulated value is as small, and as large, as that observed."""
    size = len(simulated) + 1
    return (
        float(1 + (simulated <= observed[0]).sum()) / size,
        float(1 + (simulated >= observed[0]).sum()) / size,
    )


def _rates(counts: Counts, x: NDArray[Any], y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Half a count away from 0 and N."""
    return (x + 0.5) / (counts.negatives + 1), (y + 0.5) / (counts.positives + 1)


def _region_features(
    counts: Counts, x: NDArray[Any], y: NDArray[Any], delta: float
) -> tuple[Floats, Floats]:
    a, b = _rates(counts, x, y)
    turned = a + b > 1
    along = np.where(turned, b - a, a - b)
    level = epsilon_level(a, b, delta)
    return along.std(axis=1), _correlation(level, np.abs(along))


def _gdp_features(
    counts: Counts, x: NDArray[Any], y: NDArray[Any], delta: float
) -> tuple[Floats, Floats]:
    a, b = _rates(counts, x, y)
    m = attack_mu(a, b)
    off_centre = np.abs(ndtri(a) - ndtri(b)) / 2
    # The mean over the levels of a base is one number per base.
    levels = np.bincount(counts.bases)
    per_base = np.stack([np.bincount(counts.bases, row) / levels for row in m])
    size = np.abs(per_base)
    centred = size - size.mean(axis=1, keepdims=True)
    spread = np.maximum(centred.std(axis=1), 1e-12)
    return (centred**3).mean(axis=1) / spread**3, _correlation(np.abs(m), off_centre)


def _correlation(first: Floats, second: Floats) -> Floats:
    """Row by row; 0 where one does not vary."""
    a, b = (each - each.mean(axis=1, keepdims=True) for each in (first, second))
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.asarray((a * b).sum(axis=1) / np.maximum(scale, 1e-12), dtype=np.float64)


def _simulate_region(
    found: Estimate, draws: Floats, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    counts, size = found.run.counts, (len(draws), len(found.run.counts))
    epsilon, s = draws[:, :1], draws[:, 1:2]
    alpha, beta = draw_in_strip(epsilon, found.run.delta, s, size, rng)
    n0, n1 = counts.negatives, counts.positives
    if not isinstance(found.run.likelihood, CorrelatedNormal):
        return rng.binomial(n0, alpha), rng.binomial(n1, beta)
    # Yildirim 2025, Equation 7, rounded to counts.
    tau, rho = draws[:, 2:3], draws[:, 3:4]
    v0, v1 = n0 + n0 * (n0 - 1.0) * tau, n1 + n1 * (n1 - 1.0) * tau
    r = n0 * (n1 * rho) / np.sqrt(v0 * v1)
    z, w = rng.standard_normal(size), rng.standard_normal(size)
    x = n0 * alpha + np.sqrt(alpha * (1 - alpha) * v0) * z
    y = n1 * beta + np.sqrt(beta * (1 - beta) * v1) * (r * z + np.sqrt(1 - r**2) * w)
    return np.clip(np.rint(x), 0, n0), np.clip(np.rint(y), 0, n1)


def draw_in_strip(
    epsilon: Floats, delta: float, s: Floats, size: tuple[int, ...], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Errors (α, β) uniform on R_s(ε, δ); ε and s broadcast to `size`.

    Folded errors lie in the quadrilateral (0, 1 − δ), (0, 1 − sδ), (k_s, k_s), (k, k), with the
    kinks k = (1 − δ)/(1 + e^ε) and k_s = (1 − sδ)/(1 + e^{sε}): two triangles.
    """
    kink, inner_kink = (
        (1 - delta) / (1 + np.exp(epsilon)),
        (1 - s * delta) / (1 + np.exp(s * epsilon)),
    )
    top, inner_top = 1 - delta, 1 - s * delta
    # Twice the areas of (A, B, C) and (A, C, D), with A and B on the axis.
    first = (inner_top - top) * inner_kink
    second = np.abs(inner_kink * (kink - top) - kink * (inner_kink - top))
    upper = rng.random(size) * (first + second) < first
    u, v = rng.random(size), rng.random(size)
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    low = np.where(upper, v * inner_kink, u * inner_kink + v * kink)
    high = np.where(
        upper,
        top + u * (inner_top - top) + v * (inner_kink - top),
        top + u * (inner_kink - top) + v * (kink - top),
    )
    swap, turn = rng.random(size) < 0.5, rng.random(size) < 0.5
    alpha, beta = np.where(swap, high, low), np.where(swap, low, high)
    alpha, beta = np.where(turn, 1 - alpha, alpha), np.where(turn, 1 - beta, beta)
    return np.clip(alpha, 0.0, 1.0), np.clip(beta, 0.0, 1.0)


def _simulate_gdp(
    found: Estimate, draws: Floats, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """New strengths |m| for every base, at the levels α and the signs that the counts suggest."""
    counts, tables = found.run.counts, StrengthLikelihoods.of(found.run.counts)
    s, mu = draws[:, 1], draws[:, 2]
    x, y = (np.empty((len(draws), len(counts))) for _ in range(2))
    for base in range(counts.base_count):
        rows = np.flatnonzero(counts.bases == base)
        seen = tables.draw(base, mu, s, rng)
        columns = counts.columns[rows].astype(np.float64)
        levels = [draw_levels(a, b, c, d, seen, rng) for a, b, c, d in columns.tolist()]
        z = np.asarray(-ndtri(np.stack(levels, axis=1)), dtype=np.float64)
        m = (s + (1 - s) * rng.random(len(mu))) * mu * np.sign(seen)
        order = np.argsort(-z, axis=1)
        z = np.take_along_axis(z, order, axis=1)
        # Decisions at several thresholds are nested: those above the largest, the next, ...
        false = _nested(-z, int(columns[0, 1]), rng)
        missed = int(columns[0, 3]) - _nested(m[:, None] - z, int(columns[0, 3]), rng)
        back = np.argsort(order, axis=1)
        x[:, rows] = np.take_along_axis(false, back, axis=1)
        y[:, rows] = np.take_along_axis(missed, back, axis=1)
    return x, y


def _nested(probit: Floats, challenges: int, rng: np.random.Generator) -> NDArray[Any]:
    """Numbers of challenges beyond thresholds, with rising probabilities Φ(probit)."""
    chance = ndtr(probit)
    cells = np.diff(chance, axis=1, prepend=0.0, append=1.0)
    cells = np.maximum(cells, 0.0)
    return np.cumsum(rng.multinomial(challenges, cells / cells.sum(axis=1, keepdims=True)), axis=1)[
        :, :-1
    ]
