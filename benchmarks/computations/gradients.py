"""Computations of gradient inversion, after Riess 2026, figures 1, 3, 4 and 5.

The noise that a risk needs, the risk that noise leaves, the corridor between identification and
reconstruction from scratch, and simulated errors beside their law.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, model_validator

from reconbench.benchmarks.computations.gradient_errors import Errors, Scales, images, simulate
from reconbench.benchmarks.computations.point import Point, Positive, Positives, Promise
from reconbench.benchmarks.game.random_streams import stream
from reconbench.benchmarks.suites.game_block import Strict, Whole, listed
from reconbench.bounds import GaussianDP, Relation
from reconbench.bounds.gradients import (
    GradientError,
    identification,
    identification_sigma,
    mse_to_psnr,
    risk_corridor,
    scratch_sigma,
    zero_guess_error,
)
from reconbench.datasets.sources.vectors import read_vectors
from reconbench.mechanisms.gradient_steps import (
    DeepNetwork,
    GradientNetwork,
    GradientStep,
    IdleNetwork,
    OptimalNetwork,
)

SCRATCH, PUBLISHED, IDENTIFICATION = "scratch", "scratch-published", "identification"
CORRIDOR, ZERO = "corridor", "zero-guess"
MECHANISM = "gradient"
# The median first: a narrow table shows the first values only.
QUANTILES = (0.5, 0.05, 0.25, 0.75, 0.95)

Chance = Annotated[float, Field(gt=0, lt=1, strict=True)]
Candidates = Annotated[int, Field(ge=2, strict=True)]


def _promise(sigma: float, delta: float) -> Promise:
    """One step with noise multiplier σ, for adding or removing a record: sensitivity C."""
    found = GaussianDP(1 / sigma, Relation.ADD_REMOVE)
    asked = {"sigma": sigma, "delta": delta}
    return Promise(f"sigma {sigma:g}", found.epsilon_at(delta), delta, found, asked)


class _Gradient(Strict):
    """What the computations share: N, ‖X‖ and the δ at which ε is read off."""

    dimension: Whole = 1
    norm: Positive = 1.0
    delta: Chance = 1e-5

    @property
    def _shape(self) -> dict[str, float]:
        return {"dimension": self.dimension, "norm": self.norm}

    def _law(self, sigma: float) -> GradientError:
        return GradientError.of(self.dimension, sigma, self.norm)


class GradientSigma(_Gradient):
    """The noise multiplier that keeps a reconstruction within ``error`` at a chance of ``gamma``.

    ``scratch`` is that of the from-scratch estimate, left out where guessing 0 is within the error
    and no noise helps; ``scratch-published`` is the same formula everywhere, as in figure 1;
    ``identification`` keeps the right one of ``candidates`` from being picked as often.
    """

    compute: Literal["gradient-sigma"]
    gamma: Chance
    error: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        promise = _promise(identification_sigma(self.gamma, self.candidates), self.delta)
        for error in self.error:
            yield Point(
                suite=suite,
                kind=self.compute,
                mechanism=MECHANISM,
                promise=promise,
                label=f"error {error:g}",
                metric="sigma",
                baseline=1 / self.candidates,
                asked=self._shape | {"gamma": self.gamma, "error": error},
                values=partial(self._values, error),
            )

    def _values(self, error: float) -> dict[str, float]:
        free = zero_guess_error(self.dimension, self.norm)
        # Corollary IV.6 solved for σ, whatever the error.
        published = math.sqrt(error / float(self._law(1.0).mse_quantile(self.gamma)))
        covered = error < free
        return {
            SCRATCH: scratch_sigma(error, self.gamma, self.dimension, self.norm)
            if covered
            else math.nan,
            PUBLISHED: published,
            IDENTIFICATION: identification_sigma(self.gamma, self.candidates),
        }


class GradientRisk(_Gradient):
    """P(MSE ≤ error) of the from-scratch estimate, beside the chance of identification."""

    compute: Literal["gradient-risk"]
    sigma: Positives
    error: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        for sigma in self.sigma:
            for error in self.error:
                yield Point(
                    suite=suite,
                    kind=self.compute,
                    mechanism=MECHANISM,
                    promise=_promise(sigma, self.delta),
                    label=f"error {error:g}",
                    metric="success",
                    baseline=1 / self.candidates,
                    asked=self._shape | {"error": error},
                    values=partial(self._values, sigma, error),
                )

    def _values(self, sigma: float, error: float) -> dict[str, float]:
        promised = _promise(sigma, self.delta).guarantee
        return {
            SCRATCH: float(self._law(sigma).mse_at_most(error)),
            IDENTIFICATION: identification(self.candidates, promised),
        }


class GradientCorridor(_Gradient):
    """The risk corridor's width: the error at which both attackers are equally successful."""

    compute: Literal["gradient-corridor"]
    sigma: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        for sigma in self.sigma:
            yield Point(
                suite=suite,
                kind=self.compute,
                mechanism=MECHANISM,
                promise=_promise(sigma, self.delta),
                label=f"sigma {sigma:g}",
                metric="mse",
                baseline=1 / self.candidates,
                asked=self._shape,
                values=partial(self._values, sigma),
            )

    def _values(self, sigma: float) -> dict[str, float]:
        (found,) = risk_corridor(sigma, self.dimension, self.candidates, self.norm)
        return {CORRIDOR: found.error, ZERO: found.free_error}


def _network_names(value: Any) -> Any:
    for name in listed(value):
        if name not in NETWORKS:
            raise ValueError(f"unknown network {name!r}; use some of {', '.join(NETWORKS)}")
    return listed(value)


def _optimal(rows: int, bias: bool, trap: float) -> GradientNetwork:
    return OptimalNetwork(rows, bias)


def _idle(rows: int, bias: bool, trap: float) -> GradientNetwork:
    return IdleNetwork(rows, bias)


def _deep(rows: int, bias: bool, trap: float) -> GradientNetwork:
    return DeepNetwork(rows, bias, trap=trap)


NETWORKS = {"optimal": _optimal, "idle": _idle, "deep": _deep}


class GradientErrors(_Gradient):
    """Simulated errors of the attack, in quantiles, beside those of the law.

    ``seen-05`` to ``seen-95`` are the simulated quantiles, ``law-05`` to ``law-95`` the predicted
    ones; ``ks`` is the p-value of the Kolmogorov-Smirnov test between the two, ``ks-smaller`` that
    of the test that the errors are not smaller, and ``ratio`` the mean error over the predicted.
    ``decibels`` tells PSNR in place of MSE: quantiles then fall, and the law's take the records'
    mean span. ``records`` is a file of records of the user's own (`read_vectors`), ``samples`` of
    which are drawn with replacement; without one, stand-ins for images are made up. Errors are
    scaled to the smallest norm among the records.
    """

    plays: ClassVar[str] = "reconbench.benchmarks.computations.gradient_errors"

    compute: Literal["gradient-errors"]
    network: Annotated[list[str], BeforeValidator(_network_names), Field(min_length=1)]
    sigma: Positives
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
    def _either_made_up_or_given(self) -> Self:
        given = self.model_fields_set & {"dimension", "norm"}
        if self.records and given:
            raise ValueError(f"leave out {', '.join(sorted(given))}: the records tell")
        return self

    def points(self, suite: str) -> Iterator[Point]:
        # What the noise looks like is told by the promise; all else is asked for.
        left_out = {"compute", "network", "sigma", "delta", "records"}
        common = self.model_dump(mode="json", exclude=left_out)
        if self.records:
            common["records"] = hashlib.sha256(self._given.tobytes()).hexdigest()
            common["dimension"] = self._given.shape[1]
        for network in self.network:
            for sigma in self.sigma:
                asked = common | {"network": network}
                yield Point(
                    suite=suite,
                    kind=self.compute,
                    mechanism=MECHANISM,
                    promise=_promise(sigma, self.delta),
                    label=", ".join([network, *self._unusual(), f"sigma {sigma:g}"]),
                    metric="psnr" if self.decibels else "mse",
                    baseline=0.0,
                    asked=asked,
                    values=partial(self._values, network, sigma, asked),
                )

    @cached_property
    def _given(self) -> npt.NDArray[np.float64]:
        return read_vectors(Path(self.records))

    def _unusual(self) -> list[str]:
        """What a label must say for rows to be told apart: the settings that are no defaults."""
        said = [Path(self.records).name] if self.records else []
        for name in ("steps", "rows", "bias", "clip", "trap", "samples", "seed"):
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                said.append(name if value is True else f"{name} {value:g}")
        return said if self.scales is Scales.KNOWN else [*said, f"{self.scales} scales"]

    def _values(self, network: str, sigma: float, asked: dict[str, Any]) -> dict[str, float]:
        found = self.errors(network, sigma, asked)
        seen = found.psnr if self.decibels else found.scaled
        span = float((found.spans / found.sizes).mean())
        values = {"ks": found.p_value(), "ks-smaller": found.p_value_smaller()}
        values["ratio"] = found.ratio
        for gamma in QUANTILES:
            law = float(found.law.mse_quantile(gamma))
            place = f"{100 * gamma:02.0f}"
            # PSNR falls as MSE rises: the same share of errors, read from the other end.
            share = 1 - gamma if self.decibels else gamma
            values[f"seen-{place}"] = float(np.quantile(seen, share))
            values[f"law-{place}"] = float(mse_to_psnr(law, span)) if self.decibels else law
        return values

    def errors(self, network: str, sigma: float, asked: dict[str, Any]) -> Errors:
        rng = stream("gradient errors", asked | {"sigma": sigma})
        built = NETWORKS[network](self.rows, self.bias, self.trap)
        step = GradientStep(built, sigma, self.clip, steps=self.steps)
        if self.records:
            vectors = rng.choice(self._given, self.samples)
        else:
            vectors = images(self.samples, self.dimension, self.norm, rng)
        return simulate(vectors, step, rng, self.scales)


GradientCurve = GradientSigma | GradientRisk | GradientCorridor | GradientErrors
