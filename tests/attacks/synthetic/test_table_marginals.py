"""Attacks on marginals, played on those of a synthetic table, are these attacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView
from reconbench.attacks.baselines import PriorGuess
from reconbench.attacks.marginals.linear import Linear
from reconbench.attacks.rap.rap import RapConverged
from reconbench.attacks.synthetic.table_marginals import TableLinear
from reconbench.attacks.synthetic.table_rap import TableRap
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease, Mechanism
from reconbench.mechanisms.marginals import PublishedMarginals, workload
from reconbench.mechanisms.synthetic.release import SyntheticRelease

MakeView = Callable[..., tuple[AttackerView, Table]]


def as_marginals(view: AttackerView, k: int) -> AttackerView:
    """Scaled counts, row by row, as a release of marginals."""
    assert isinstance(view.release, SyntheticRelease)
    table = view.release.table
    sets = workload(table.domain, view.targets, k)
    answers = []
    for columns in sets:
        counts = np.zeros([table.domain.sizes[i] for i in columns])
        for row in table.codes:
            counts[tuple(row[list(columns)])] += view.n / len(table)
        answers.append(counts)
    mechanism = PublishedMarginals(table.domain, view.targets, k, 1.0)
    release = MarginalsRelease(table.domain, sets, tuple(answers), 1.0)
    return replace(view, release=release, mechanism=mechanism)


@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
def test_they_are_the_attacks_on_scaled_counts(
    make_synthetic: MakeView, targets: tuple[str, ...]
) -> None:
    view, _ = make_synthetic(targets, n=15, rows="4n")
    rng = np.random.default_rng
    laid_out = as_marginals(view, 2)
    linear = TableLinear(k=2).reconstruct(view, rng(0))
    assert linear.guess == Linear().reconstruct(laid_out, rng(0)).guess
    rap = TableRap(k=2, steps=40, stopping="steps").reconstruct(view, rng(0))
    twin = RapConverged(steps=40).reconstruct(laid_out, rng(0))
    assert rap.guess == twin.guess and rap.info == twin.info


def test_rap_stops_where_it_does_best(
    make_synthetic: MakeView, copies: Mechanism, unrelated: Mechanism
) -> None:
    """At once where the table says nothing, and late where it says everything."""
    view, _ = make_synthetic(mechanism=unrelated)
    found = TableRap().reconstruct(view, np.random.default_rng(0))
    prior = PriorGuess().reconstruct(view, np.random.default_rng(0))
    assert found.info["steps"] == 0 and found.guess == prior.guess
    view, truth = make_synthetic(mechanism=copies)
    found = TableRap().reconstruct(view, np.random.default_rng(0))
    prior_hits = int(view.metric.score(truth, prior.guess).sum())
    assert found.info["steps"] >= 10
    assert view.metric.score(truth, found.guess).sum() > prior_hits


def test_repetitions_together_or_alone(make_synthetic: MakeView) -> None:
    views = [make_synthetic(seed=seed, rows="20n")[0] for seed in range(3)]
    views = [replace(view, mechanism=views[0].mechanism) for view in views]
    rngs = [np.random.default_rng(i) for i in range(3)]
    attack = TableRap(tables=6)
    together = attack.reconstruct_many(views, rngs)
    alone = [attack.reconstruct(view, np.random.default_rng(7)) for view in views]
    assert [each.guess for each in together] == [each.guess for each in alone]


def test_what_cannot_be_played_is_told(make_synthetic: MakeView) -> None:
    view, _ = make_synthetic()
    assert (
        TableLinear(k=6).skip(view) == "table-linear counts sets of k = 6 columns, and there are 5"
    )
    informed = replace(view, others=view.known)
    assert TableRap().skip(informed) == "table-rap plays the realistic adversary only"
    with pytest.raises(AttackError, match="table-linear: k must be at least 1, got 0"):
        TableLinear(k=0)
    with pytest.raises(AttackError, match="stopping must be 'simulated' or 'steps', got 'never'"):
        TableRap(stopping="never")
