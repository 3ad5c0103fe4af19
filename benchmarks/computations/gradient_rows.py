"""The error of gradient inversion by the rows of the attacker's layer (Riess 2026, figure 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reconbench.attacks.gradient_inversion import scaled_estimate
from reconbench.benchmarks.computations.computation import Point, Positive, Wholes
from reconbench.benchmarks.computations.gradient_errors import images
from reconbench.benchmarks.computations.gradients import (
    MECHANISM,
    ZERO,
    ZERO_MEANING,
    GradientComputation,
)
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds.gradients import (
    GradientError,
    attack_variance,
    mse_to_psnr,
    zero_guess_error,
)
from reconbench.mechanisms.gradient_steps import GradientStep, OptimalNetwork

Floats = npt.NDArray[np.float64]

SEEN, LAW, PUBLISHED, CHANCE = "rows-seen", "rows-law", "rows-published", "rows-p-value"
SEEN_PSNR, LAW_PSNR = "rows-seen-psnr", "rows-law-psnr"

# Noisy numbers that are held at once.
_BLOCK = 1 << 22


def reconstruct(vector: Floats, step: GradientStep, rng: np.random.Generator) -> Floats:
    """The optimal estimate of one record from its own steps, some coordinates at a time."""
    scales = step.network.backward(vector[None]).scales(step.clip)
    width = max(1, _BLOCK // (step.steps * step.network.rows))
    parts = []
    for start in range(0, vector.size, width):
        seen = step.add_noise(scales[:, :, None] * vector[start : start + width], rng)
        parts.append(scaled_estimate(seen.mean(axis=0), scales)[0])
    return np.concatenate(parts)


class GradientRows(GradientComputation):
    """The simulated error of the optimal attack at one (σ, C), for networks of M ``rows``.

    ``rows-law`` is σ² max(C²/M, ‖X‖²); ``rows-published`` is σ²‖X‖², where Theorem IV.1 promises
    it. ``rows-p-value`` is that of the χ² test, from both sides, that the ``samples`` records, made
    up like images, follow the law. PSNR takes a record's own span.
    """

    reference = "Riess 2026, figure 2"
    metric = "mse"
    meanings: ClassVar[Mapping[str, str]] = {
        SEEN: "mean squared error of simulated reconstructions",
        LAW: "the mean that Theorem IV.1 of Riess 2026 predicts, corrected: σ² max(C²/M, ‖X‖²)",
        PUBLISHED: "the mean that it prints, from M = C/‖X‖ rows on: σ²‖X‖²",
        CHANCE: "p-value of the test that the simulated errors follow the corrected law",
        ZERO: ZERO_MEANING,
        SEEN_PSNR: "peak signal-to-noise ratio of the simulated error, in dB",
        LAW_PSNR: "peak signal-to-noise ratio of the corrected law's mean, in dB",
    }

    compute: Literal["gradient-rows"]
    rows: Wholes
    sigma: Positive
    clip: Positive
    samples: Whole = 1
    seed: int = 0

    def points(self, suite: str) -> Iterator[Point]:
        promise = self._promise(self.sigma)
        common = self.model_dump(include={"clip", "samples", "seed"}) | self._shape
        for rows in self.rows:
            label = f"{rows} rows, {promise.label}"
            yield Point(suite, self, MECHANISM, promise, label, 0.0, common | {"rows": rows})

    def evaluate(self, point: Point) -> dict[str, float]:
        rows = point.asked["rows"]
        rng = make_stream("gradient rows", {**point.asked, "sigma": self.sigma})
        step = GradientStep(OptimalNetwork(rows), self.sigma, self.clip)
        records = images(self.samples, self.dimension, self.norm, rng)
        errors = [np.square(reconstruct(x, step, rng) - x).mean() for x in records]
        seen, span = float(np.mean(errors)), float(np.ptp(records, axis=1).mean())
        law = attack_variance(self.sigma, self.norm, self.clip, rows)
        # The mean of independent χ²_N is that of one with all their degrees of freedom.
        total = GradientError(self.samples * self.dimension, law)
        promised = rows >= math.ceil(self.clip / self.norm)
        return {
            SEEN: seen,
            LAW: law,
            PUBLISHED: (self.sigma * self.norm) ** 2 if promised else math.nan,
            CHANCE: 2 * float(min(total.mse_at_most(seen), total.mse_above(seen))),
            ZERO: zero_guess_error(self.dimension, self.norm),
            SEEN_PSNR: float(mse_to_psnr(seen, span)),
            LAW_PSNR: float(mse_to_psnr(law, span)),
        }
