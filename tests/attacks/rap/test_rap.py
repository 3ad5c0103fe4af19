from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.baselines import PriorGuess, RandomGuess
from reconbench.attacks.rap.descent import SMALLEST_PRIOR
from reconbench.attacks.rap.marginal_fit import (
    CellFit,
    KernelFit,
    marginal_fit,
)
from reconbench.attacks.rap.paths import Descent
from reconbench.attacks.rap.problem import require_marginals
from reconbench.attacks.rap.rap import Rap
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]


def naive_loss(view: AttackerView, columns: list[torch.Tensor], world: int) -> float:
    """Query by query, cell by cell."""
    release = require_marginals(view.release)
    relaxed = {name: columns[i][world].numpy() for i, name in enumerate(view.targets)}
    total = 0.0
    for sets, answer in zip(release.workload, release.answers, strict=True):
        names = [release.domain.names[i] for i in sets]
        for cell in product(*(range(release.domain.sizes[i]) for i in sets)):
            mass = np.ones(view.n)
            for name, value in zip(names, cell, strict=True):
                column = relaxed.get(name)
                mass = mass * (
                    view.known.column(name) == value if column is None else column[:, value]
                )
            total += float((mass.sum() - answer[cell]) ** 2)
    return total


@pytest.mark.parametrize(
    ("targets", "k"),
    [
        (("c",), 3),
        (("c",), 1),
        (("c",), 5),
        (("c", "a"), 3),
        (("d", "a", "c"), 3),
        (("a", "b", "c", "d"), 3),
        (("a", "b", "c", "d"), 2),
        (("a", "b"), 1),
        (("a", "b", "c", "d"), 5),
    ],
)
def test_every_form_is_the_query_by_query_loss(
    make_view: MakeView, targets: tuple[str, ...], k: int
) -> None:
    view, _ = make_view(targets, k=k, n=12)
    rng = np.random.default_rng(5)
    columns = [
        torch.from_numpy(rng.dirichlet(np.ones(size), size=(2, view.n)))
        for size in view.target_domain.sizes
    ]
    releases = [require_marginals(view.release), require_marginals(view.release)]
    fits = [form.of(releases, view.known, targets) for form in (CellFit, KernelFit)]
    expected = [naive_loss(view, columns, world) for world in range(2)]
    step = 1e-6
    for fit in fits:
        loss, gradients = fit.loss_and_gradient(columns)
        assert np.allclose(loss.numpy(), expected, rtol=1e-10)
        for c, gradient in enumerate(gradients):
            bump = torch.zeros_like(columns[c])
            bump[:, 3, 1] = step
            moved = [columns[i] + bump if i == c else columns[i] for i in range(len(columns))]
            back = [columns[i] - bump if i == c else columns[i] for i in range(len(columns))]
            slope = (fit.loss_and_gradient(moved)[0] - fit.loss_and_gradient(back)[0]) / (2 * step)
            assert torch.allclose(gradient[:, 3, 1], slope, rtol=1e-3, atol=1e-2)


def test_forms_agree_on_gradients(make_view: MakeView) -> None:
    view, _ = make_view(("a", "c", "d"), n=20)
    rng = np.random.default_rng(5)
    columns = [
        torch.from_numpy(rng.dirichlet(np.ones(size), size=(1, view.n)))
        for size in view.target_domain.sizes
    ]
    pairs = [
        form.of([require_marginals(view.release)], view.known, view.targets).loss_and_gradient(
            columns
        )[1]
        for form in (CellFit, KernelFit)
    ]
    for one, other in zip(*pairs, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-8)


def test_form_follows_size(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = make_view(("c",))
    two, _ = make_view(("c", "a"))
    pick = [
        type(marginal_fit([require_marginals(v.release)], v.known, v.targets)) for v in (one, two)
    ]
    assert pick == [CellFit, KernelFit]
    monkeypatch.setattr("reconbench.attacks.rap.marginal_fit.KERNEL_LIMIT", 5)
    pick = [
        type(marginal_fit([require_marginals(v.release)], v.known, v.targets)) for v in (one, two)
    ]
    assert pick == [CellFit, CellFit]


def test_descent_is_adam(make_view: MakeView) -> None:
    """Step for step the same as torch.optim on the same loss through autograd."""
    view, _ = make_view(("c",), epsilon=10.0)
    fit = KernelFit.of([require_marginals(view.release)], view.known, view.targets)
    prior = torch.from_numpy(view.prior.conditional(view.known, ["c"]))
    start = prior.clamp_min(SMALLEST_PRIOR).log()[None]
    path = Descent([start.clone()], 0.05)
    logits = start.clone().requires_grad_()
    adam = torch.optim.Adam([logits], lr=0.05)
    for _ in range(50):
        path.step(fit)
        adam.zero_grad()
        relaxed = logits.softmax(dim=-1)
        torch.autograd.backward(fit.loss_and_gradient([relaxed])[0].sum())
        adam.step()
    assert torch.allclose(path.relaxed()[0], logits.detach().softmax(dim=-1), rtol=1e-6, atol=1e-9)


def test_steps_lower_the_loss_and_are_counted(make_view: MakeView) -> None:
    view, _ = make_view(epsilon=10.0)
    losses = [
        Rap(steps=steps, stopping="steps").reconstruct(view, np.random.default_rng(0)).info
        for steps in (1, 10, 300)
    ]
    assert [info["steps"] for info in losses] == [1, 10, 300]
    assert losses[0]["loss"] > losses[1]["loss"] > losses[2]["loss"]


def test_same_seed_same_guess(make_view: MakeView) -> None:
    view, _ = make_view(epsilon=3.0)
    twice = [Rap().reconstruct(view, np.random.default_rng(4)) for _ in range(2)]
    assert twice[0].guess == twice[1].guess and twice[0].info == twice[1].info


@pytest.mark.slow
def test_simulated_stopping_never_costs_against_the_prior(make_view: MakeView) -> None:
    """At tiny ε the converged attack falls below the prior; the stopped one stays with it.

    400 paired games of 30 records: the mean difference has a standard error below 0.1 records, so
    a floor of -0.5 is more than five standard errors away (false alarms below 1e-6).
    """
    stopped: list[int] = []
    converged: list[int] = []
    prior: list[int] = []
    for seed in range(400):
        view, truth = make_view(epsilon=0.5, seed=seed)
        for into, attack in (
            (stopped, Rap(worlds=16)),
            (converged, Rap(steps=300, stopping="steps")),
            (prior, PriorGuess()),
        ):
            found = attack.reconstruct(view, np.random.default_rng(seed))
            into.append(int(view.metric.score(truth, found.guess).sum()))
    assert np.mean(stopped) - np.mean(prior) > -0.5
    assert np.mean(converged) - np.mean(prior) < -2


def test_metric_decides_the_guess(make_view: MakeView) -> None:
    view, _ = make_view(metric=WithinL1(1))
    guess, success = view.metric.best_guess(view.prior, view.known, view.targets)
    found = PriorGuess().reconstruct(view, np.random.default_rng(0))
    assert found.guess == guess and found.scores is not None
    assert np.array_equal(found.scores, success)
    assert Rap(steps=5).reconstruct(view, np.random.default_rng(0)).guess.domain == guess.domain


def test_random_guesses_are_uniform(make_view: MakeView) -> None:
    view, _ = make_view(n=4_000)
    codes = RandomGuess().reconstruct(view, np.random.default_rng(0)).guess.codes[:, 0]
    # 4,000 draws over 4 values: 6 standard deviations are 164
    assert np.abs(np.bincount(codes, minlength=4) - 1_000).max() < 164


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"stopping": "never"}, "must be 'simulated' or 'steps'"),
        ({"worlds": 0}, "worlds must be at least 1"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AttackError, match=message):
        Rap(**options)
