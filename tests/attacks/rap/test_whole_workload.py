"""A release with marginals that hold no hidden column: attacks do as if these were not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from reconbench.attacks import Attack, AttackerView, ExactMatch
from reconbench.benchmarks import plugins
from reconbench.datasets import BayNet, Table
from reconbench.mechanisms import GaussianMarginals, MarginalsRelease

ATTACKS = ("posterior", "rap", "averaging", "linear", "informed")


def views(
    net: BayNet, targets: Sequence[str], epsilon: float, n: int = 12
) -> tuple[AttackerView, AttackerView, Table]:
    """The same noisy answers twice: the whole workload, and what of it touches the targets."""
    rng = np.random.default_rng(3)
    table = net.sample(n, rng)
    mechanism = GaussianMarginals.for_budget(
        net.domain, targets, epsilon, 1e-5, k=2, workload="all"
    )
    release = mechanism.release(table, rng)
    part = release.touching(targets)
    assert len(part.workload) < len(release.workload)
    known = table.project([name for name in net.domain.names if name not in targets])
    whole = AttackerView(release, mechanism, known, tuple(targets), net, ExactMatch())
    return whole, replace(whole, release=part), table


@pytest.mark.parametrize("epsilon", [3.0, inf])
@pytest.mark.parametrize("targets", [("c",), ("a", "c")])
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_ignore_marginals_without_a_hidden_column(
    toy_net: BayNet, name: str, targets: tuple[str, ...], epsilon: float
) -> None:
    whole, part, table = views(toy_net, targets, epsilon)
    attack: Attack = plugins.construct_attack(name)
    if name == "informed":
        others = Table(table.domain, table.codes[1:])
        first = Table(whole.known.domain, whole.known.codes[:1])
        whole, part = (replace(view, known=first, others=others) for view in (whole, part))
    found, expected = (attack.reconstruct(view, np.random.default_rng(0)) for view in (whole, part))
    assert found.guess == expected.guess
    assert found.best_possible == expected.best_possible
    assert dict(found.info) == pytest.approx(dict(expected.info), nan_ok=True)


def test_noise_of_marginals_without_a_hidden_column_does_not_matter(toy_net: BayNet) -> None:
    """Whatever these marginals say, the posterior is the same."""
    whole, _, _ = views(toy_net, ("c",), 3.0)
    release = whole.release
    assert isinstance(release, MarginalsRelease)
    secret = set(release.domain.positions(("c",)))
    shifted = tuple(
        answer if secret & set(columns) else answer + 1000.0
        for columns, answer in zip(release.workload, release.answers, strict=True)
    )
    other = replace(whole, release=replace(release, answers=shifted))
    attack: Attack = plugins.construct_attack("posterior")
    found = [attack.reconstruct(view, np.random.default_rng(0)) for view in (whole, other)]
    assert found[0].best_possible == found[1].best_possible
    assert found[0].best_possible is not None and found[0].best_possible.converged
