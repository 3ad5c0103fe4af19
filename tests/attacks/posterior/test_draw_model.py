"""Fresh draws with evidence from agreements: against marginals counted the plain way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.draws import model as draw_model
from reconbench.attacks.posterior.draws.agreements import Agreements
from reconbench.attacks.posterior.draws.model import DrawModel
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.joint.model import JointModel
from reconbench.attacks.posterior.posterior import Plan, Posterior, choose_model
from reconbench.attacks.rap.problem import require_marginals
from reconbench.datasets import Table
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]

SHAPES = [
    (("a", "b"), 3),
    (("d", "b", "a"), 3),
    (("c", "a"), 1),
    (("d", "a", "c"), 2),
    (("b", "c"), 4),
    (("a", "b", "c", "d"), 3),
]


def whole_table(view: AttackerView, hidden: np.ndarray) -> Table:
    """The table with the given hidden columns, in the order of the release."""
    joined = view.known.join(Table(view.target_domain, hidden))
    return joined.project(require_marginals(view.release).domain.names)


@pytest.mark.parametrize(("targets", "k"), SHAPES)
def test_answers_are_those_of_the_cells(
    make_view: MakeView, targets: tuple[str, ...], k: int
) -> None:
    view, truth = make_view(targets, k=k, n=20)
    release = require_marginals(view.release).touching(targets)
    agreements = Agreements(view, release)
    table = whole_table(view, np.asarray(truth.codes))
    expected = np.zeros(view.n)
    for columns, answer in zip(release.workload, release.answers, strict=True):
        expected += answer[tuple(table.codes[:, columns].T)]
    found = agreements.sum_answers(truth.codes, agreements.group)
    # answers are kept in single precision
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(("targets", "k"), SHAPES)
def test_errors_are_those_of_the_table_reached(
    make_view: MakeView, targets: tuple[str, ...], k: int
) -> None:
    view, _ = make_view(targets, k=k, epsilon=10.0, n=15)
    release = require_marginals(view.release).touching(targets)
    model, rng = DrawModel(view, Evidence.of(view)), np.random.default_rng(0)
    model.start(2, 1, rng)
    for _ in range(20):
        errors = model.sweep(np.arange(2)[:, None], np.array([0.1]), rng)
    constant = sum(float((answer**2).sum()) for answer in release.answers)
    for error, hidden in zip(errors, model.tables(np.arange(2)), strict=True):
        table = whole_table(view, hidden)
        expected = sum(
            ((marginal_counts(table, columns) - answer) ** 2).sum()
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        assert error + constant == pytest.approx(expected, rel=1e-4)


def test_chances_of_all_values_add_up_to_one(make_view: MakeView) -> None:
    """Each is estimated by itself, drawn or not; 2,000 states."""
    view, _ = make_view(("a", "d"), epsilon=10.0, n=10)
    model = DrawModel(view, Evidence.of(view))
    plan = Plan(np.array([require_marginals(view.release).noise_sd ** -2]), np.ones(20), (500,))
    Posterior().run(view, model, plan, np.random.default_rng(1))
    found = model.posteriors()
    sizes = view.target_domain.sizes
    total = np.zeros(view.n)
    for flat in range(prod(sizes)):
        guess = np.tile(np.unravel_index(flat, sizes), (view.n, 1))
        chances = np.array([found.success(chain, guess) for chain in range(4)])
        batches = np.array([found.judge(chain, guess) for chain in range(4)])
        assert np.allclose(batches.mean(axis=1), chances.sum(axis=1))
        total += chances.mean(axis=0)
    assert np.allclose(total, 1, atol=0.03)


def test_both_forms_judge_and_guess_alike(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weak evidence; each within five of its own standard errors of the other."""
    view, _ = make_view(("a", "c", "d"), epsilon=1.0, n=40)
    followed = Posterior(sweeps=400).reconstruct(view, np.random.default_rng(0))
    monkeypatch.setattr(draw_model, "MOST_RECORDS", 5)
    counted = Posterior(sweeps=400).reconstruct(view, np.random.default_rng(1))
    best = followed.best_possible, counted.best_possible
    assert best[0] is not None and best[1] is not None
    assert best[0].converged and best[1].converged
    gap = abs(best[0].expected - best[1].expected)
    assert gap < 5 * np.hypot(best[0].error, best[1].error)


def test_few_states_are_kept_of_many_sweeps(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_model, "KEPT", 1_000)
    view, _ = make_view(("a", "c"), epsilon=1.0, n=30)
    found = Posterior(sweeps=100).reconstruct(view, np.random.default_rng(0))
    assert found.best_possible is not None and found.best_possible.converged


def test_the_form_is_the_cheapest_that_holds(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(view: AttackerView) -> type:
        return type(choose_model(view, Evidence.of(view)))

    assert choose(make_view(("c",), epsilon=1.0)[0]) is GramModel
    several = make_view(("a", "c"), epsilon=1.0)[0]
    assert choose(several) is DrawModel
    assert choose(make_view(("a", "c"), epsilon=30.0)[0]) is JointModel
    assert choose(make_view(("a", "c"), epsilon=30.0, n=2_001)[0]) is CellModel
    release = require_marginals(several.release)
    fewer = replace(release, workload=release.workload[1:], answers=release.answers[1:])
    assert choose(replace(several, release=fewer)) is CellModel
    monkeypatch.setattr(draw_model, "MOST_RECORDS", 10)
    assert choose(several) is CellModel
