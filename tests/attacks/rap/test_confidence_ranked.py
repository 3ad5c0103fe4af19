from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.rap.confidence_ranked import (
    ConfidenceRanked,
    draw_candidates,
    guess_by_votes,
    measure_agreement,
)
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]


@pytest.mark.parametrize("targets", [("c",), ("a", "c")])
def test_scores_are_shares_of_models(make_view: MakeView, targets: tuple[str, ...]) -> None:
    view, _ = make_view(targets)
    found = ConfidenceRanked(models=8, steps=20).reconstruct(view, np.random.default_rng(0))
    assert found.scores is not None
    assert np.isin(np.round(found.scores * 8, 9), np.arange(1, 9)).all()
    assert found.info["models"] == 8
    assert found.info["mean_agreement"] == pytest.approx(found.scores.mean())
    assert found.info["unanimous"] == (found.scores == 1).mean()
    assert all(isinstance(value, float) for value in found.info.values())


def test_same_seed_same_table(make_view: MakeView) -> None:
    view, _ = make_view()
    one, other = (
        ConfidenceRanked(steps=20).reconstruct(view, np.random.default_rng(2)) for _ in range(2)
    )
    assert one.guess == other.guess
    np.testing.assert_array_equal(one.scores, other.scores)


def ranked(make_view: MakeView, epsilon: float, shuffled: bool) -> tuple[float, float]:
    """Success on the surest and on the least sure third of 30 records, over 40 games."""
    thirds = np.zeros(2)
    for seed in range(40):
        view, truth = make_view(epsilon=epsilon, seed=seed)
        rng = np.random.default_rng(seed)
        found = ConfidenceRanked(steps=100).reconstruct(view, rng)
        assert found.scores is not None
        scores = rng.permutation(found.scores) if shuffled else found.scores
        right = view.metric.score(truth, found.guess)[np.argsort(-scores, kind="stable")]
        thirds += right[:10].mean() / 40, right[-10:].mean() / 40
    return thirds[0], thirds[1]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [3.0, 30.0, inf])
def test_surer_records_are_right_more_often(make_view: MakeView, epsilon: float) -> None:
    """400 records in each third: a difference has a standard error below 0.036.

    The negative control shuffles the scores: within 0.15, four standard errors, of no difference.
    """
    top, bottom = ranked(make_view, epsilon, shuffled=False)
    assert top > bottom + 0.15
    top, bottom = ranked(make_view, epsilon, shuffled=True)
    assert abs(top - bottom) < 0.15


def test_rounding_draws_from_the_weights() -> None:
    """20,000 draws with chances 0.1, 0.2, 0.7: 6 standard deviations are below 0.02."""
    column = np.broadcast_to(np.array([0.1, 0.2, 0.7]), (20_000, 1, 3))
    drawn = draw_candidates([column, column], np.random.default_rng(0))
    assert drawn.shape == (20_000, 1, 2)
    for c in range(2):
        shares = np.bincount(drawn[:, 0, c], minlength=3) / 20_000
        assert np.abs(shares - [0.1, 0.2, 0.7]).max() < 0.02


def test_votes(make_view: MakeView) -> None:
    view, _ = make_view(("a", "c"), n=2)
    # record 0: each column's own mode is (1, 1), but the joint mode is (1, 3)
    candidates = np.array(
        [[[1, 3], [0, 0]], [[1, 3], [0, 1]], [[0, 1], [0, 1]], [[2, 1], [2, 1]], [[1, 1], [0, 1]]]
    )
    guess = guess_by_votes(view, candidates)
    assert guess.tolist() == [[1, 3], [0, 1]]
    assert measure_agreement(view, candidates, guess).tolist() == [0.4, 0.6]


def test_the_metric_decides_on_the_votes(make_view: MakeView) -> None:
    view, _ = make_view(("c",), n=1, metric=WithinL1(1))
    candidates = np.array([[[0]], [[0]], [[0]], [[2]], [[2]], [[3]], [[3]]])
    guess = guess_by_votes(view, candidates)
    assert guess.tolist() == [[1]]
    assert measure_agreement(view, candidates, guess).tolist() == [pytest.approx(5 / 7)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": 1}, "models must be at least 2, got 1"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"spread": -1.0}, "spread must be 0 or more, got -1"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AttackError, match=f"confidence-ranked: {message}"):
        ConfidenceRanked(**options)
