"""The contract of a mechanism: what it releases, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, Relation, gaussian_mu
from reconbench.datasets import Domain, DomainError, Table


class MechanismError(ValueError):
    """A mechanism asked for something it cannot do."""


@runtime_checkable
class Release(Protocol):
    """What leaves the curator's hands.

    Example:
        >>> import reconbench as rb
        >>> release: rb.Release = rb.Round.draw(rb.Game("acs", ("SEX",), epsilon=1.0)).released
        >>> len(release.domain)
        16
    """

    @property
    def domain(self) -> Domain:
        """The columns of the table that was released from."""
        ...


@runtime_checkable
class Mechanism(Protocol):
    """A release of tables over ``domain``, of which the columns ``hidden`` are the secret.

    Example:
        >>> import reconbench as rb
        >>> domain = rb.load_prior("acs").domain
        >>> mechanism: rb.Mechanism = rb.GaussianMarginals.for_budget(domain, ["SEX"], 1.0, 1e-5)
        >>> mechanism.budget
        <ApproxDP: (1, 1e-05)-DP, replace-one>
    """

    name: ClassVar[str]

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float
    ) -> Self:
        """Calibrate the mechanism to (ε, δ); ε = inf is allowed.

        Keyword-only parameters are the mechanism's options, with defaults unless a game must give
        them. A value that is not allowed is a ``ValueError`` that names the option. A keyword
        ``prior`` is no option: a mechanism that has it gets the public prior of the game, which it
        may use without spending budget.
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
        """Numbers that a reader of a result row wants to know, such as the noise scale."""
        ...


@dataclass(frozen=True)
class BudgetedMechanism:
    """What the mechanisms here have in common: columns, hidden ones, and a replace-one budget."""

    name: ClassVar[str]

    domain: Domain
    hidden: tuple[str, ...]
    epsilon: float
    delta: float

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float
    ) -> Self:
        return cls(domain, tuple(hidden), epsilon, delta)

    @cached_property
    def budget(self) -> ApproxDP:
        return ApproxDP(self.epsilon, self.delta, Relation.REPLACE_ONE)

    def check_table(self, table: Table) -> None:
        """Refuse a table over other columns, and one without records."""
        if table.domain != self.domain:
            raise DomainError("the table's columns are not those the mechanism was built for")
        if len(table) == 0:
            raise DomainError("n must be at least 1: the table has no records")


def gaussian_guarantee(budget: ApproxDP) -> GaussianDP:
    """Return the μ-GDP guarantee of the Gaussian mechanism that spends a replace-one budget."""
    mu = inf if isinf(budget.epsilon) else gaussian_mu(budget.epsilon, budget.delta)
    return GaussianDP(mu, Relation.REPLACE_ONE)
