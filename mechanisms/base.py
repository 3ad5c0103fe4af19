"""The contract of a mechanism: what it releases, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from reconbench.bounds import ApproxDP, Guarantee
from reconbench.datasets import Domain, Table


class MechanismError(ValueError):
    """A mechanism asked for something it cannot do."""


@runtime_checkable
class Release(Protocol):
    """What leaves the curator's hands."""

    @property
    def domain(self) -> Domain:
        """The columns of the table that was released from."""
        ...


@runtime_checkable
class Mechanism(Protocol):
    """A release of tables over ``domain``, of which the columns ``hidden`` are the secret."""

    name: ClassVar[str]

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float, *, k: int
    ) -> Self:
        """The mechanism calibrated to (ε, δ); ε = inf is allowed.

        Further keyword-only parameters are the mechanism's options, with defaults unless a game
        must give them. A value that is not allowed is a ``ValueError`` that names the option.
        """
        ...

    @property
    def guarantee(self) -> Guarantee:
        """The tightest guarantee the mechanism has."""
        ...

    @property
    def budget(self) -> ApproxDP:
        """The (ε, δ) it was calibrated to."""
        ...

    def release(self, table: Table, rng: np.random.Generator) -> Release: ...

    def facts(self) -> Mapping[str, float]:
        """Numbers worth a place in every result row, such as the noise scale."""
        ...
