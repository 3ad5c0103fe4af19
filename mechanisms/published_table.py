"""A synthetic table that somebody published: who made it, and how, is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import ClassVar, Self

import numpy as np

from reconbench.bounds import ApproxDP, Guarantee, PureDP, Relation, as_replace_one
from reconbench.bounds.guarantees.guarantee import stated_pair
from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import MechanismError, Release


@dataclass(frozen=True)
class PublishedTable:
    """The unknown generator of a synthetic table.

    ``stated`` is the budget that the publisher names, for neighbours of either relation; bounds get
    what it implies for replace-one neighbours. Where nothing is stated, nothing is promised. Nobody
    can run the generator again, so no attack can learn on imagined tables how far its releases may
    be trusted: ``can_run`` says so.
    """

    name: ClassVar[str] = "published-table"
    can_run: ClassVar[bool] = False

    domain: Domain
    hidden: tuple[str, ...]
    stated: ApproxDP | None = None

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float
    ) -> Self:
        return cls(domain, tuple(hidden), ApproxDP(epsilon, delta))

    @cached_property
    def budget(self) -> ApproxDP:
        if self.stated is None:
            return ApproxDP(inf, 0.0, Relation.REPLACE_ONE)
        pair = stated_pair(self.stated, self.stated.delta)
        return ApproxDP(pair.epsilon, 0.0) if isinstance(pair, PureDP) else pair

    @cached_property
    def guarantee(self) -> Guarantee:
        return self.budget if self.stated is None else as_replace_one(self.stated)

    def release(self, table: Table, rng: np.random.Generator) -> Release:
        raise MechanismError("what made this synthetic table is not known, so it cannot be run")

    def facts(self) -> dict[str, float]:
        return {}
