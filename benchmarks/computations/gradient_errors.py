"""Simulated gradient inversion of real vectors against its law (Riess 2026, figures 4 and 5).

Each record goes through its own DP-SGD step; the errors of the estimates, relative to the record's
norm, are held against the χ² law by the Kolmogorov-Smirnov test. Records are rows of numbers:
images of a fetched source, images or a numeric table of the user's own, or made-up `images`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from reconbench.attacks.gradient_inversion import scaled_estimate
from reconbench.benchmarks.computations.computation import (
    Point,
    Positive,
    Positives,
    known_names,
)
from reconbench.benchmarks.computations.gradients import MECHANISM, GradientComputation
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds.gradients import GradientError, mse_to_psnr
from reconbench.datasets.sources.packages.images import check_source, find_source, load_images
from reconbench.datasets.sources.resizing import resize_images
from reconbench.datasets.sources.vectors import read_vectors
from reconbench.mechanisms.gradient_steps import (
    DeepNetwork,
    GradientNetwork,
    Gradients,
    GradientStep,
    IdleNetwork,
    OptimalNetwork,
)

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
    return _scale_rows(x, norm)


def real_images(source: str, dimension: int, norm: float) -> Floats:
    """All images of a fetched source, resized to so many numbers and scaled to one norm."""
    rows = resize_images(load_images(source)[0], dimension)
    blank = int((rows.max(axis=1) <= 0).sum())
    if blank:
        raise SimulationError(f"{blank} images of {source} are blank: they have no norm to scale")
    return _scale_rows(rows, norm)


def _scale_rows(rows: Floats, norm: float) -> Floats:
    return np.asarray(rows * (norm / np.linalg.norm(rows, axis=1, keepdims=True)))


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
        block = x[start : start + size]
        seen = step.observe(block, rng)
        estimate = scaled_estimate(seen.weights.mean(axis=0), _scales(block, step, seen, scales))
        parts.append(np.square(estimate - block).mean(axis=1))
    law = GradientError.of(x.shape[1], step.sigma, smallest, step.steps)
    return Errors(np.concatenate(parts), np.ptp(x, axis=1), norms / smallest, law)


def _scales(vectors: Floats, step: GradientStep, seen: Gradients, source: Scales) -> Floats:
    if source is Scales.ESTIMATED and seen.biases is not None:
        return np.asarray(seen.biases.mean(axis=0))
    if source is Scales.ASSUMED:
        return OptimalNetwork(step.network.rows).backward(vectors).scales(step.clip)
    return seen.scales


NETWORKS: Mapping[str, Callable[[int, bool, float], GradientNetwork]] = {
    "optimal": lambda rows, bias, trap: OptimalNetwork(rows, bias),
    "idle": lambda rows, bias, trap: IdleNetwork(rows, bias),
    "deep": lambda rows, bias, trap: DeepNetwork(rows, bias, trap=trap),
}
# By the name in a column. The median first: a narrow table shows the first values only.
QUANTILES: Mapping[str, float] = {"50": 0.5, "05": 0.05, "25": 0.25, "75": 0.75, "95": 0.95}


class GradientErrors(GradientComputation):
    """Simulated errors of the attack, in quantiles, beside those of the law.

    ``seen-05`` to ``seen-95`` are the simulated quantiles, ``law-05`` to ``law-95`` the predicted
    ones; ``ks`` is the p-value of the Kolmogorov-Smirnov test between the two, ``ks-smaller`` that
    of the test that the errors are not smaller, and ``ratio`` the mean error over the predicted.
    ``decibels`` gives PSNR in place of MSE: quantiles then fall, and the law's take the records'
    mean span. ``images`` is a source that was fetched, and ``records`` a file of records of the
    user's own (`read_vectors`); ``samples`` of either are drawn with replacement. Without both,
    stand-ins for images are made up. Images are resized to ``dimension`` and scaled to ``norm``.
    Errors are scaled to the smallest norm among the records.
    """

    reference = "Riess 2026, figures 4 and 5"
    metric = "mse"
    meanings: ClassVar[Mapping[str, str]] = {
        "ks": "p-value of the test that simulated errors follow their law (Kolmogorov-Smirnov)",
        "ks-smaller": "p-value of the test that simulated errors are not smaller than their law",
        "ratio": "mean simulated error over the predicted one",
        **{
            f"{kind}-{name}": f"{meaning} quantile of the error, {name} %"
            for kind, meaning in (("seen", "simulated"), ("law", "predicted"))
            for name in sorted(QUANTILES)
        },
    }

    compute: Literal["gradient-errors"]
    network: Annotated[
        list[str], BeforeValidator(known_names("network", NETWORKS)), Field(min_length=1)
    ]
    sigma: Positives
    images: Annotated[str, AfterValidator(check_source)] = ""
    records: str = ""
    samples: Whole = 500
    steps: Whole = 1
    rows: Whole = 1
    bias: bool = False
    clip: Positive = 1.0
    trap: Positive = 30.0
    scales: Scales = Scales.KNOWN
    decibels: bool = False
    seed: int = 0

    @model_validator(mode="after")
    def _check_records_or_shape(self) -> Self:
        if self.records and self.images:
            raise ValueError("records and images exclude each other; leave one out")
        given = self.model_fields_set & {"dimension", "norm"}
        if self.records and given:
            raise ValueError(f"leave out {', '.join(sorted(given))}: the records determine them")
        return self

    def points(self, suite: str) -> Iterator[Point]:
        # The promise says what the noise looks like; all else is asked for.
        left_out = {"compute", "network", "sigma", "delta", "records", "images"}
        common = self.model_dump(mode="json", exclude=left_out)
        if self.records:
            common["records"] = hashlib.sha256(self._given.tobytes()).hexdigest()
            common["dimension"] = self._given.shape[1]
        if self.images:
            common["images"] = [self.images, find_source(self.images).images.sha256]
        metric = "psnr" if self.decibels else self.metric
        for network in self.network:
            for promise in map(self._promise, self.sigma):
                label = ", ".join([network, *self._unusual_settings(), promise.label])
                asked = common | {"network": network}
                yield Point(suite, self, MECHANISM, promise, label, 0.0, asked, metric)

    def check_data(self) -> None:
        if self.images:
            load_images(self.images)

    @cached_property
    def _given(self) -> Floats:
        if self.images:
            return real_images(self.images, self.dimension, self.norm)
        return read_vectors(Path(self.records))

    def _unusual_settings(self) -> list[str]:
        """What a label must say for rows to be told apart: the settings that are no defaults."""
        labels = [Path(self.records).name] if self.records else []
        labels += [self.images] if self.images else []
        for name in ("steps", "rows", "bias", "clip", "trap", "samples", "seed"):
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                labels.append(name if value is True else f"{name} {value:g}")
        return labels if self.scales is Scales.KNOWN else [*labels, f"{self.scales} scales"]

    def evaluate(self, point: Point) -> dict[str, float]:
        errors = self._simulate(point.promise.asked["sigma"], point.asked)
        seen = errors.psnr if self.decibels else errors.scaled
        span = float((errors.spans / errors.sizes).mean())
        values = {"ks": errors.p_value(), "ks-smaller": errors.p_value_smaller()}
        values["ratio"] = errors.ratio
        for name, gamma in QUANTILES.items():
            law = float(errors.law.mse_quantile(gamma))
            # PSNR falls as MSE rises: the same share of errors, read from the other end.
            share = 1 - gamma if self.decibels else gamma
            values[f"seen-{name}"] = float(np.quantile(seen, share))
            values[f"law-{name}"] = float(mse_to_psnr(law, span)) if self.decibels else law
        return values

    def _simulate(self, sigma: float, asked: Mapping[str, Any]) -> Errors:
        """The errors of one point; its random stream depends on all that is asked for."""
        rng = make_stream("gradient errors", {**asked, "sigma": sigma})
        network = NETWORKS[asked["network"]](self.rows, self.bias, self.trap)
        step = GradientStep(network, sigma, self.clip, steps=self.steps)
        if self.records or self.images:
            vectors = rng.choice(self._given, self.samples)
        else:
            vectors = images(self.samples, self.dimension, self.norm, rng)
        return simulate(vectors, step, rng, self.scales)
