"""The guarantees that a block of a suite can name, each as one promise per number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from reconbench.benchmarks.computations.computation import (
    Chance,
    ComputationError,
    Positive,
    Positives,
    Promise,
)
from reconbench.benchmarks.suites.game_block import Strict, Whole
from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    Relation,
    parse_guarantee,
    parse_mechanism,
)

# Grid on which the losses of composed releases are rounded up.
DISCRETISATION = 1e-4


class Pure(Strict):
    """ε-DP."""

    epsilon: Positives

    def promises(self) -> Iterator[Promise]:
        for epsilon in self.epsilon:
            asked = {"epsilon": epsilon}
            yield Promise(f"epsilon {epsilon:g}", epsilon, 0.0, PureDP(epsilon), asked)


class Approx(Strict):
    """(ε, δ)-DP and no more."""

    epsilon: Positives
    delta: Chance = 1e-5

    def promises(self) -> Iterator[Promise]:
        for epsilon in self.epsilon:
            guarantee = ApproxDP(epsilon, self.delta)
            asked = {"epsilon": epsilon, "delta": self.delta}
            yield Promise(f"epsilon {epsilon:g}", epsilon, self.delta, guarantee, asked)


class Gaussian(Strict):
    """Gaussian noise of sd ``sigma`` times the sensitivity; ε is read off at ``delta``."""

    sigma: Positives
    delta: Chance = 1e-5
    relation: Relation = Relation.REPLACE_ONE

    def promises(self) -> Iterator[Promise]:
        suffix = "" if self.relation is Relation.REPLACE_ONE else f", {self.relation.value}"
        for sigma in self.sigma:
            guarantee = GaussianDP(1 / sigma, self.relation)
            asked = {"sigma": sigma, "delta": self.delta, "relation": self.relation.value}
            epsilon = guarantee.epsilon_at(self.delta)
            yield Promise(f"sigma {sigma:g}{suffix}", epsilon, self.delta, guarantee, asked)


class Laplace(Strict):
    """Laplace noise of ``scale`` times the sensitivity."""

    scale: Positives

    def promises(self) -> Iterator[Promise]:
        for scale in self.scale:
            guarantee = LaplaceDP(1 / scale)
            yield Promise(f"scale {scale:g}", 1 / scale, 0.0, guarantee, {"scale": scale})


class Concentrated(Strict):
    """Gaussian noise of ρ-zCDP, by name of its ρ or from a published (ε, δ)."""

    rho: Annotated[dict[str, Positive], Field(min_length=1)]
    delta: Chance = 1e-10

    def promises(self) -> Iterator[Promise]:
        for label, rho in self.rho.items():
            # ε = ρ + 2√(ρ log 1/δ), the conversion that census figures are published with
            epsilon = rho + 2 * math.sqrt(rho * math.log(1 / self.delta))
            asked = {"label": label, "rho": rho, "delta": self.delta}
            yield Promise(label, epsilon, self.delta, ZCDP(rho).gaussian(), asked)


class DiscreteGaussian(Strict):
    """``compositions`` releases with discrete Gaussian noise of ρ-zCDP together, by name of its ρ.

    Its curve is composed; zCDP is what the guarantee states.
    """

    rho: Annotated[dict[str, Positive], Field(min_length=1)]
    delta: Chance = 1e-10
    compositions: Whole = 10

    def promises(self) -> Iterator[Promise]:
        for stated in Concentrated(rho=self.rho, delta=self.delta).promises():
            rho = self.rho[stated.label]
            yield replace(
                stated,
                guarantee=ZCDP(rho),
                asked={**stated.asked, "compositions": self.compositions},
                curve=partial(_compose_discrete, rho, self.compositions),
            )


@lru_cache(maxsize=64)
def _compose_discrete(rho: float, compositions: int) -> Guarantee:
    """k releases of sd σ on sensitivity 1 are k/(2σ²)-zCDP together."""
    from reconbench.bounds.guarantees.composed import DiscreteGaussianRelease, composed

    noise = DiscreteGaussianRelease(math.sqrt(compositions / (2 * rho)), count=compositions)
    return composed([noise], Relation.REPLACE_ONE, discretisation=DISCRETISATION)


class Stated(Strict):
    """Mechanisms in the notation for guarantees; ε is read off at ``delta``.

    Files are refused: a suite stands for the same rows wherever it is read.
    """

    text: Annotated[list[str], Field(min_length=1)]
    delta: Chance = 1e-5

    @field_validator("text")
    @classmethod
    def _check_text(cls, texts: list[str]) -> list[str]:
        for mechanism in map(parse_mechanism, texts):
            if any(part.kind.file for part in mechanism.parts):
                raise ValueError(f"a suite cannot read a file, got {mechanism.text!r}")
            if list(mechanism.free()):
                raise ValueError(f"a suite needs every number, got {mechanism.text!r}")
        return texts

    def promises(self) -> Iterator[Promise]:
        for mechanism in map(parse_mechanism, self.text):
            guarantee = _read_guarantee(mechanism.text)
            asked = {"mechanism": mechanism.text, "delta": self.delta}
            epsilon = guarantee.epsilon_at(self.delta)
            yield Promise(mechanism.text, epsilon, self.delta, guarantee, asked)


@lru_cache(maxsize=64)
def _read_guarantee(text: str) -> Guarantee:
    """Composed once for all the points of a suite."""
    try:
        return parse_guarantee(text)
    except ValueError as error:
        raise ComputationError(str(error)) from None


class Guarantees(Strict):
    """The key ``guarantee`` of a block: some of these families."""

    pure: Pure | None = None
    approx: Approx | None = None
    gaussian: Gaussian | None = None
    laplace: Laplace | None = None
    zcdp: Concentrated | None = None
    discrete_gaussian: DiscreteGaussian | None = None
    mechanism: Stated | None = None

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"name one of {', '.join(type(self).model_fields)}")
        return self

    def promises(self) -> Iterator[tuple[str, Promise]]:
        """Name of the family and promise, one after the other."""
        for name in type(self).model_fields:
            family = getattr(self, name)
            for promise in family.promises() if family else ():
                yield name.replace("_", "-"), promise
