"""Synthetic tables of the toy network, and who sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from reconbench.attacks import AttackerView, ExactMatch, Metric
from reconbench.attacks.synthetic import strategies
from reconbench.attacks.synthetic.imagined import forget_settings
from reconbench.attacks.synthetic.learners import base
from reconbench.bounds import GaussianDP
from reconbench.datasets import BayNet, Prior, Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.base import BudgetedMechanism, gaussian_guarantee
from reconbench.mechanisms.synthetic.pgm import PrivatePGM
from reconbench.mechanisms.synthetic.release import SyntheticRelease

MakeView = Callable[..., tuple[AttackerView, Table]]


@dataclass(frozen=True)
class Unrelated(BudgetedMechanism):
    """Rows drawn from the prior, whatever the table: a release that says nothing."""

    name: ClassVar[str] = "unrelated"

    prior: Prior
    rows: int

    @property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    def release(self, table: Table, rng: np.random.Generator) -> SyntheticRelease:
        drawn = self.prior.sample(self.rows, rng).project(self.domain.names)
        return SyntheticRelease(self.domain, drawn, len(table))

    def facts(self) -> dict[str, float]:
        return {"rows": self.rows}


@dataclass(frozen=True)
class Copies(BudgetedMechanism):
    """The table itself, ``times`` over: a release that says everything."""

    name: ClassVar[str] = "copies"

    times: int = 1

    @property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    def release(self, table: Table, rng: np.random.Generator) -> SyntheticRelease:
        copies = Table(table.domain, np.tile(table.codes, (self.times, 1)))
        return SyntheticRelease(self.domain, copies, len(table))

    def facts(self) -> dict[str, float]:
        return {}


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Nothing is remembered from one test to the next."""
    forget_settings()
    for memory in (base._released, strategies._learnt, strategies._readers):
        memory.clear()
    yield


@pytest.fixture
def make_synthetic(toy_net: BayNet) -> MakeView:
    """The view of a synthetic table of the toy network, and the truth."""

    def make(
        targets: tuple[str, ...] = ("c",),
        epsilon: float = 10.0,
        n: int = 40,
        rows: str = "n",
        seed: int = 0,
        metric: Metric | None = None,
        mechanism: Mechanism | None = None,
    ) -> tuple[AttackerView, Table]:
        rng = np.random.default_rng(seed)
        table = toy_net.sample(n, rng)
        if mechanism is None:
            mechanism = PrivatePGM.for_budget(
                table.domain, targets, epsilon, 1e-5, structure="star", rows=rows
            )
        release = mechanism.release(table, rng)
        assert isinstance(release, SyntheticRelease)
        known = table.project([name for name in table.domain.names if name not in targets])
        view = AttackerView(
            release.hide_measurements(), mechanism, known, targets, toy_net, metric or ExactMatch()
        )
        return view, table.project(targets)

    return make


@pytest.fixture
def unrelated(toy_net: BayNet) -> Unrelated:
    return Unrelated(toy_net.domain, ("c",), 1.0, 1e-5, toy_net, 40)


@pytest.fixture
def unrelated_to() -> Callable[..., AttackerView]:
    """The view of a table of other people, of one setting for each prior."""
    mechanisms: dict[str, Unrelated] = {}

    def make(prior: Prior, targets: tuple[str, ...], n: int, seed: int) -> AttackerView:
        domain, rng = prior.domain, np.random.default_rng(seed)
        new = Unrelated(domain, targets, 1.0, 1e-5, prior, n)
        mechanism = mechanisms.setdefault(prior.sha256(), new)
        table = prior.sample(n, rng)
        known = table.project([name for name in domain.names if name not in targets])
        release = mechanism.release(table, rng)
        return AttackerView(release, mechanism, known, targets, prior, ExactMatch())

    return make


@pytest.fixture
def copies(toy_net: BayNet) -> Copies:
    return Copies(toy_net.domain, ("c",), np.inf, 1e-5)
