"""The reconstruction advantage as a risk to calibrate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from reconbench.bounds.calibration.solve import Source
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.rad.guarantee_bounds import AdvantageBound, Stated, list_bounds
from reconbench.bounds.rad.report import name_least
from reconbench.bounds.rad.secret import Secret


@dataclass(frozen=True)
class ReconstructionAdvantage:
    """The least bound on the reconstruction advantage, on the worst of the secrets.

    Of the bounds that need the guarantee alone (`rad.guarantee_bounds`), programs with auxiliary
    knowledge up to ten values. They need replace-one neighbours: an add-or-remove-one guarantee is
    converted first.

    Args:
        secrets: what is guessed: prior, knowledge and error, one or several.
        delta: where (ε, δ) is read off a guarantee that is not stated as a pair.
    """

    secrets: Sequence[Secret]
    delta: float = 1e-5

    name: ClassVar[str] = "rad"

    def __post_init__(self) -> None:
        if not self.secrets:
            raise ValueError("secrets must have at least one secret, got none")

    def __call__(self, guarantee: Guarantee) -> float:
        return self._worst(guarantee)[0]

    def source(self, guarantee: Guarantee) -> Source:
        bound = self._worst(guarantee)[1]
        return Source(bound.name, bound.reference)

    def _worst(self, guarantee: Guarantee) -> tuple[float, AdvantageBound]:
        stated = Stated.of(guarantee, self.delta)
        least = [_least(secret, stated) for secret in self.secrets]
        return max(least, key=lambda entry: entry[0])


def _least(secret: Secret, stated: Stated) -> tuple[float, AdvantageBound]:
    bounds = {
        bound.name: bound
        for bound in list_bounds(quick=True)
        if bound.refuses(secret, stated) is None
    }
    values = {name: bound.advantage(secret, stated) for name, bound in bounds.items()}
    name = name_least(values)
    return values[name], bounds[name]
