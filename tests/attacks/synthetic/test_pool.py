"""The pool is what its formula says, and scores are probabilities under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackerView, ColumnsRight, ExactMatch, Metric, WithinL1
from reconbench.attacks.baselines import PriorGuess
from reconbench.attacks.synthetic.pool import guess_from_pool
from reconbench.datasets import BayNet, Domain, Prior, Table

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = npt.NDArray[np.float64]


def draw_evidence(view: AttackerView, seed: int = 0) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(view.n, size)) for size in view.target_domain.sizes]


def pool_by_hand(view: AttackerView, evidence: list[Floats]) -> Floats:
    """π(u) exp(Σ_c e_c(u_c)), record by record and value by value."""
    every = Table.of_all_values(view.target_domain).codes
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    pooled = np.empty_like(prior)
    for i in range(view.n):
        for j, value in enumerate(every):
            total = sum(evidence[c][i, v] for c, v in enumerate(value))
            pooled[i, j] = prior[i, j] * np.exp(total)
    return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("targets", "metric"),
    [
        (("c",), ExactMatch()),
        (("c",), WithinL1(1)),
        (("c", "a"), ExactMatch()),
        (("d", "c", "a"), ColumnsRight(2)),
    ],
)
def test_guesses_are_the_best_under_the_pool(
    make_synthetic: MakeView, targets: tuple[str, ...], metric: Metric
) -> None:
    view, _ = make_synthetic(targets, n=12, metric=metric)
    evidence = draw_evidence(view)
    found = guess_from_pool(view, evidence)
    pooled = pool_by_hand(view, evidence)
    every = Table.of_all_values(view.target_domain)
    for i in range(view.n):
        worth = []
        for guess in every.codes:
            repeated = Table(every.domain, np.tile(guess, (len(every), 1)))
            worth.append(float(pooled[i] @ metric.score(every, repeated)))
        assert found.scores is not None
        assert found.scores[i] == pytest.approx(max(worth), rel=1e-9)
        chosen = np.ravel_multi_index(tuple(found.guess.codes[i]), every.domain.sizes)
        assert worth[int(chosen)] == pytest.approx(max(worth), rel=1e-9)


@dataclass(frozen=True)
class Plain:
    """A prior with the methods of the contract alone."""

    net: BayNet

    @property
    def domain(self) -> Domain:
        return self.net.domain

    @property
    def visit_order(self) -> tuple[str, ...]:
        return self.net.visit_order

    def __getattr__(self, name: str) -> object:
        if name in ("sha256", "sample", "conditional", "log_evidence", "map"):
            return getattr(self.net, name)
        raise AttributeError(name)


def test_any_prior_will_do(make_synthetic: MakeView, toy_net: BayNet) -> None:
    """The joint mode by elimination is that of a prior that can only list."""
    from dataclasses import replace
    from typing import cast

    view, _ = make_synthetic(("c", "a"), n=15)
    plain = replace(view, prior=cast(Prior, Plain(toy_net)))
    evidence = draw_evidence(view)
    first, second = guess_from_pool(view, evidence), guess_from_pool(plain, evidence)
    assert first.guess == second.guess
    assert first.scores == pytest.approx(second.scores, rel=1e-9)


@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
@pytest.mark.parametrize("metric", [ExactMatch(), ColumnsRight(1)])
def test_without_evidence_the_guess_is_the_priors(
    make_synthetic: MakeView, targets: tuple[str, ...], metric: Metric
) -> None:
    view, _ = make_synthetic(targets, metric=metric)
    found = guess_from_pool(view, [np.zeros((view.n, s)) for s in view.target_domain.sizes])
    prior = PriorGuess().reconstruct(view, np.random.default_rng(0))
    assert found.guess == prior.guess
    assert found.scores is not None and prior.scores is not None
    assert np.array_equal(found.scores, prior.scores)
