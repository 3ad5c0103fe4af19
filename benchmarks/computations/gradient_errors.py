"""Simulated gradient inversion of real vectors against its law (Riess 2026, figures 4 and 5).

Each record goes through its own DP-SGD step; the errors of the estimates, relative to the record's
norm, are held against the χ² law by the Kolmogorov-Smirnov test. Records are rows of numbers:
images or a numeric table of the user's own, or `images`, which stand in for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reconbench.attacks.gradient_inversion import scaled_estimate
from reconbench.bounds.gradients import GradientError, mse_to_psnr
from reconbench.mechanisms.gradient_steps import Gradients, GradientStep, OptimalNetwork

Floats = npt.NDArray[np.float64]

_BLOCK = 1 << 24


class Scales(StrEnum):
    """Where the attacker has the scales s_j from.

    Riess 2026 grants them (``known``). Without, the bias' gradient estimates them, or the attacker
    takes those of the optimal network for granted (``assumed``) and has them wrong in any other.
    """

    KNOWN = "known"
    ESTIMATED = "estimated"
    ASSUMED = "assumed"


class SimulationError(ValueError):
    """A simulation that cannot be done as asked."""


def images(count: int, dimension: int, norm: float, rng: np.random.Generator) -> Floats:
    """Vectors of one norm with uniform entries ≥ 0: stand-ins for grey images."""
    if count < 1 or dimension < 1 or not norm > 0:
        raise SimulationError(
            f"images need count and dimension >= 1 and norm > 0, got {count}, {dimension}, {norm:g}"
        )
    x = rng.random((count, dimension)) + 1e-9
    return np.asarray(x * (norm / np.linalg.norm(x, axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False)
class Errors:
    """The mean squared errors of estimates, and the law of the optimal one at the smallest norm.

    ``sizes`` are the norms of the records over the smallest of them.
    """

    mse: Floats
    spans: Floats
    sizes: Floats
    law: GradientError

    @cached_property
    def psnr(self) -> Floats:
        """In dB, each by the span max − min of its own record; inf for no error at all."""
        return mse_to_psnr(self.mse / np.square(self.spans), 1.0)

    @cached_property
    def scaled(self) -> Floats:
        """Errors as they would be if all records had the smallest norm: these have the law."""
        return np.asarray(self.mse / np.square(self.sizes))

    def p_value(self) -> float:
        """Of the two-sided Kolmogorov-Smirnov test that the errors follow the law."""
        from scipy.stats import kstest

        return float(kstest(self.law.mse_at_most(self.scaled), "uniform").pvalue)

    def p_value_smaller(self) -> float:
        """Of the one-sided test: small only if the errors are smaller than the law allows."""
        from scipy.stats import kstest

        uniform = self.law.mse_at_most(self.scaled)
        return float(kstest(uniform, "uniform", alternative="greater").pvalue)

    @property
    def ratio(self) -> float:
        """The mean error over the law's: 1 for the optimal attack."""
        return float(self.scaled.mean() / self.law.variance)

    def share_within(self, gamma: float) -> float:
        """The share of errors, as they are, within the law's γ quantile: at most γ in expectation
        for the optimal attack, and γ if all norms are the same (Corollary IV.6)."""
        return float((self.mse <= float(self.law.mse_quantile(gamma))).mean())


def simulate(
    vectors: npt.ArrayLike,
    step: GradientStep,
    rng: np.random.Generator,
    scales: Scales = Scales.KNOWN,
) -> Errors:
    """Attack every record through its own steps.

    The law is that of the optimal network with enough rows and known scales, σ²‖X‖²/k.
    """
    x = np.asarray(vectors, dtype=np.float64)
    if step.batch != 1:
        raise SimulationError(f"every record needs a step of its own: batch 1, got {step.batch}")
    if scales is Scales.ESTIMATED and not step.network.bias:
        raise SimulationError("scales are estimated from the bias, and the network has none")
    if x.ndim != 2 or not x.size:
        raise SimulationError(f"records must be rows of numbers, got shape {x.shape}")
    norms = np.linalg.norm(x, axis=1)
    if not (norms > 0).all():
        raise SimulationError("records of zeros have no law: leave them out")
    smallest = float(norms.min())
    parts = []
    size = max(1, _BLOCK // (step.steps * step.network.rows * x.shape[1]))
    for start in range(0, len(x), size):
        some = x[start : start + size]
        seen = step.observe(some, rng)
        estimate = scaled_estimate(seen.weights.mean(axis=0), _scales(some, step, seen, scales))
        parts.append(np.square(estimate - some).mean(axis=1))
    law = GradientError.of(x.shape[1], step.sigma, smallest, step.steps)
    return Errors(np.concatenate(parts), np.ptp(x, axis=1), norms / smallest, law)


def _scales(vectors: Floats, step: GradientStep, seen: Gradients, source: Scales) -> Floats:
    if source is Scales.ESTIMATED and seen.biases is not None:
        return np.asarray(seen.biases.mean(axis=0))
    if source is Scales.ASSUMED:
        return OptimalNetwork(step.network.rows).backward(vectors).scales(step.clip)
    return seen.scales
