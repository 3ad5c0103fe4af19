"""Attacks on marginals that converge on the release reconstruct a short table without noise."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from reconbench.attacks import Attack, AttackerView
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.rap.confidence_ranked import ConfidenceRanked
from reconbench.attacks.rap.rap import Rap, RapConverged, RapMap
from reconbench.datasets import Table

LEAST = {("c",): 45, ("a", "c"): 35}


@pytest.mark.parametrize(
    ("attack", "targets", "least"),
    [
        (attack, targets, least)
        for attack in (Posterior, Rap, RapConverged, RapMap)
        for targets, least in LEAST.items()
    ]
    + [(ConfidenceRanked, ("c",), 42)],
)
def test_exact_marginals_are_reconstructed(
    make_view: Callable[..., tuple[AttackerView, Table]],
    attack: Callable[[], Attack],
    targets: tuple[str, ...],
    least: int,
) -> None:
    """Of 60 records; those that share all their known values cannot be told apart."""
    right = total = 0
    for seed in range(5):
        view, truth = make_view(targets, epsilon=inf, n=12, k=4, seed=seed)
        found = attack().reconstruct(view, np.random.default_rng(seed))
        baseline, _ = view.metric.best_guess(view.prior, view.known, view.targets)
        right += int(view.metric.score(truth, found.guess).sum())
        total += int(view.metric.score(truth, baseline).sum())
    assert right >= least > total
