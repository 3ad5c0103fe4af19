from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import inf, prod
from typing import Any

import numpy as np
import pytest
import torch

from reconbench.attacks import AttackError, AttackerView
from reconbench.attacks.baselines import PriorGuess
from reconbench.attacks.rap.descent import Objective, Problem, batches
from reconbench.attacks.rap.hidden_products import HiddenProducts
from reconbench.attacks.rap.marginal_fit import CellFit, KernelFit
from reconbench.attacks.rap.paths import Descent, FormPaths, GramPaths, Penalised
from reconbench.attacks.rap.problem import build_problem, require_marginals
from reconbench.attacks.rap.rap import Rap, RapConverged, RapMap, weigh_by_noise
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]
OBJECTIVES = [Objective(), weigh_by_noise(2.0, True), weigh_by_noise(2.0, False)]


def problem(view: AttackerView, restarts: int = 1) -> Problem:
    return build_problem(view, np.random.default_rng(0), restarts)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
def test_gradient_is_autograd(
    make_view: MakeView, targets: tuple[str, ...], objective: Objective
) -> None:
    """The written-out objective, differentiated by torch."""
    view, _ = make_view(targets, n=15)
    log_priors = problem(view).log_priors
    fit = KernelFit.of([require_marginals(view.release)], view.known, view.targets)
    rng = np.random.default_rng(5)
    columns = [
        torch.from_numpy(rng.dirichlet(np.ones(size), size=(1, view.n))).requires_grad_()
        for size in view.target_domain.sizes
    ]
    loss, gradients = Penalised(fit, objective, log_priors).loss_and_gradient(
        [column.detach() for column in columns]
    )
    expected = objective.error * fit.loss_and_gradient(columns)[0].sum()
    for column, log_prior in zip(columns, log_priors, strict=True):
        expected = expected - objective.prior * (column * torch.from_numpy(log_prior)).sum()
        expected = expected + objective.entropy * (column * column.log()).sum()
    torch.autograd.backward(expected)
    assert float(loss.sum()) == pytest.approx(float(expected.detach()), rel=1e-12)
    for column, gradient in zip(columns, gradients, strict=True):
        assert column.grad is not None
        assert torch.allclose(column.grad, gradient, rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_batched_descent_is_the_plain_one(make_view: MakeView, objective: Objective) -> None:
    """Single precision in one tensor against double precision, view by view."""
    views = [make_view(("c",), epsilon=10.0, n=30, seed=seed)[0] for seed in range(3)]
    problems = [problem(view, restarts=2) for view in views]
    paths = GramPaths(problems, objective, 0.05)
    plain = []
    for view, each in zip(views, problems, strict=True):
        fit = KernelFit.of([require_marginals(view.release)] * 2, view.known, view.targets)
        logits = [torch.from_numpy(start.copy()) for start in each.starts]
        descent = Descent(logits, 0.05)
        plain.append((descent, Penalised(fit, objective, each.log_priors)))
    for _ in range(60):
        paths.step()
        for descent, twin in plain:
            descent.step(twin)
    (column,) = paths.relaxed()
    for mine, losses, (descent, twin) in zip(column, paths.losses(), plain, strict=True):
        relaxed = descent.relaxed()
        assert np.allclose(mine[0], relaxed[0].numpy(), atol=1e-3)
        assert np.allclose(losses[0], twin.loss_and_gradient(relaxed)[0].numpy(), rtol=1e-4)


def test_forms_of_the_descent_agree(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long table's path, forced on a short one, against the Gram form."""
    view, _ = make_view(("c",), epsilon=10.0)
    gram = problem(view, restarts=3)
    monkeypatch.setattr("reconbench.attacks.rap.descent.GRAM_LIMIT", 5)
    cells = problem(view, restarts=3)
    found = [next(batches([each], weigh_by_noise(2.0, True), 0.05))[1] for each in (gram, cells)]
    assert [type(each) for each in found] == [GramPaths, FormPaths]
    for _ in range(40):
        for paths in found:
            paths.step()
    one, other = found
    assert np.allclose(one.relaxed()[0], other.relaxed()[0], atol=1e-3)
    assert np.allclose(one.losses(), other.losses(), rtol=1e-4)


def test_the_loss_of_rap_map_has_one_minimum(make_view: MakeView) -> None:
    """Convex with one hidden column: random starts end where the prior's start does."""
    view, _ = make_view(("c",), epsilon=3.0)
    objective = weigh_by_noise(require_marginals(view.release).noise_sd, True)
    ((_, paths),) = batches([problem(view, restarts=4)], objective, 0.05)
    for _ in range(1_500):
        paths.step()
    (column,) = paths.relaxed()
    assert np.abs(column[0, 0] - column[0, 0, 0]).max() < 0.01


def test_without_noise_the_error_alone_rules() -> None:
    assert weigh_by_noise(0.0, True) == Objective()


@pytest.mark.slow
def test_rap_map_never_costs_against_the_prior(make_view: MakeView) -> None:
    """At ε = 0.5 the prior holds rap-map, and at ε = 10 the release helps it.

    200 paired games of 30 records: the mean difference has a standard error below 0.15 records, so
    -0.7 is more than four of them away. The negative control takes the noise as forty times
    smaller than it is and must fall below.
    """
    gap: dict[float | str, list[int]] = {0.5: [], 10.0: [], "control": []}
    for seed in range(200):
        for epsilon in (0.5, 10.0):
            view, truth = make_view(epsilon=epsilon, seed=seed)
            prior = PriorGuess().reconstruct(view, np.random.default_rng(seed))
            noise_sd = require_marginals(view.release).noise_sd
            players: dict[float | str, Objective] = {epsilon: weigh_by_noise(noise_sd, True)}
            if epsilon == 0.5:
                players["control"] = weigh_by_noise(noise_sd / 40, True)
            for name, objective in players.items():
                ((_, paths),) = batches([problem(view)], objective, 0.05)
                for _ in range(300):
                    paths.step()
                guess = Table(truth.domain, view.metric.decide([paths.relaxed()[0][0, 0, 0]]))
                score = view.metric.score(truth, guess).sum()
                gap[name].append(int(score) - int(view.metric.score(truth, prior.guess).sum()))
    assert np.mean(gap[0.5]) > -0.7
    assert np.mean(gap[10.0]) > 1
    assert np.mean(gap["control"]) < -2


@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
@pytest.mark.parametrize("attack", [Rap, RapConverged, RapMap])
def test_restarts_never_end_higher(
    make_view: MakeView, attack: type[Rap | RapConverged | RapMap], targets: tuple[str, ...]
) -> None:
    options: dict[str, Any] = {"stopping": "steps"} if attack is Rap else {}
    for epsilon in (3.0, inf):
        view, _ = make_view(targets, epsilon=epsilon, n=20)
        one, many = (
            attack(steps=60, restarts=restarts, **options)
            .reconstruct(view, np.random.default_rng(1))
            .info["loss"]
            for restarts in (1, 6)
        )
        # start 0 is the same path up to the rounding of its matrix products
        assert many <= one + 1e-4 * abs(one) + 1e-4


def test_restarts_help_where_the_loss_has_many_minima(make_view: MakeView) -> None:
    view, _ = make_view(("a", "c"), epsilon=inf, n=20)
    losses = [
        RapConverged(steps=300, restarts=restarts)
        .reconstruct(view, np.random.default_rng(1))
        .info["loss"]
        for restarts in (1, 8)
    ]
    assert losses[1] < losses[0]


def test_restarts_with_simulated_stopping(make_view: MakeView) -> None:
    view, truth = make_view(epsilon=inf, n=20, k=4)
    found = Rap(restarts=3, steps=200).reconstruct(view, np.random.default_rng(1))
    baseline, _ = view.metric.best_guess(view.prior, view.known, view.targets)
    right = [int(view.metric.score(truth, guess).sum()) for guess in (found.guess, baseline)]
    assert right[0] > right[1]


@pytest.mark.parametrize("attack", [Rap, RapConverged, RapMap])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"learning_rate": -1.0}, "learning_rate must be positive, got -1"),
        ({"restarts": 0}, "restarts must be at least 1, got 0"),
    ],
)
def test_bad_options(
    attack: type[Rap | RapConverged | RapMap], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AttackError, match=f"{attack.name}: {message}"):
        attack(**options)


@pytest.mark.parametrize("form", [KernelFit, CellFit])
@pytest.mark.parametrize(("targets", "k"), [(("c", "a"), 3), (("d", "a", "b", "c"), 3)])
def test_records_alike_are_one_row_that_counts_for_all(
    make_view: MakeView, form: type[KernelFit | CellFit], targets: tuple[str, ...], k: int
) -> None:
    view, _ = make_view(targets, k=k, n=40)
    release, rng = require_marginals(view.release), np.random.default_rng(3)
    codes, row = np.unique(view.known.codes, axis=0, return_inverse=True)
    row = row.reshape(-1)
    assert len(codes) < view.n
    few = [
        torch.from_numpy(rng.dirichlet(np.ones(size), size=(2, len(codes))))
        for size in view.target_domain.sizes
    ]
    counts = np.bincount(row).astype(np.float64)
    short = form.of([release] * 2, Table(view.known.domain, codes), targets, counts)
    whole = form.of([release] * 2, view.known, targets)
    loss, slopes = short.loss_and_gradient(few)
    expected, expected_slopes = whole.loss_and_gradient([column[:, row] for column in few])
    assert torch.allclose(loss, expected, rtol=1e-10)
    for slope, other in zip(slopes, expected_slopes, strict=True):
        assert torch.allclose(slope[:, row], other, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_records_alike_are_descended_once(make_view: MakeView, objective: Objective) -> None:
    """The path of one row per group against that of all records."""
    view, _ = make_view(("d", "a"), epsilon=10.0, n=40)
    mine = problem(view)
    paths = FormPaths(mine, objective, 0.05)
    fit = KernelFit.of([require_marginals(view.release)], view.known, view.targets)
    plain = Descent([torch.from_numpy(start.copy()) for start in mine.starts], 0.05)
    for _ in range(60):
        paths.step()
        plain.step(Penalised(fit, objective, mine.log_priors))
    for column, other in zip(paths.relaxed(), plain.relaxed(), strict=True):
        assert np.allclose(column[0, 0], other.numpy(), atol=1e-6)


def test_products_are_those_of_every_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of up to four columns, some without a statistic, with one row for all or one each."""
    rng, sizes = np.random.default_rng(0), (2, 3, 1, 2, 3)
    statistics = {
        columns: rng.standard_normal((2, 1 if h == 4 else 3, prod(sizes[c] for c in columns)))
        for h in (1, 2, 4)
        for columns in combinations(range(5), h)
    }
    columns = [torch.from_numpy(rng.random((2, 3, size))).requires_grad_() for size in sizes]
    expected = torch.zeros(2, 3, dtype=torch.float64)
    for chosen, table in statistics.items():
        product = columns[chosen[0]]
        for c in chosen[1:]:
            product = (product[..., :, None] * columns[c][..., None, :]).flatten(-2)
        expected = expected + (product * torch.from_numpy(table)).sum(dim=-1)
    torch.autograd.backward(expected.sum())
    for most in (1, 1 << 20):
        monkeypatch.setattr("reconbench.attacks.rap.hidden_products.MOST_PRODUCTS", most)
        total, slopes = HiddenProducts(sizes, statistics).contract(
            [column.detach() for column in columns]
        )
        assert torch.allclose(total, expected.detach())
        for column, slope in zip(columns, slopes, strict=True):
            assert column.grad is not None
            assert torch.allclose(slope, column.grad)
