"""RAP against the plain way of computing it: every query of the workload, one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import AttackerView
from reconbench.attacks.rap.descent import SMALLEST_PRIOR
from reconbench.attacks.rap.marginal_fit import CellFit, KernelFit, MarginalFit
from reconbench.attacks.rap.paths import Descent
from reconbench.benchmarks.game.play import Game, Round
from reconbench.mechanisms import MarginalsRelease

STEPS = 1_000
LEARNING_RATE = 0.05

Fastest = Callable[..., list[float]]


def game(n: int = 100) -> tuple[AttackerView, MarginalsRelease]:
    torch.set_num_threads(1)
    view = Round.draw(Game("acs", ("SEX",), 3.0, n=n)).view
    assert isinstance(view.release, MarginalsRelease)
    return view, view.release


def prepare(form: type[KernelFit] | type[CellFit], n: int = 100) -> tuple[Descent, MarginalFit]:
    view, release = game(n)
    prior = torch.from_numpy(view.prior.conditional(view.known, view.targets))
    fit = form.of([release], view.known, view.targets)
    return Descent([prior.clamp_min(SMALLEST_PRIOR).log()[None]], LEARNING_RATE), fit


def descend(steps: int) -> float:
    path, fit = prepare(KernelFit)
    for _ in range(steps):
        path.step(fit)
    return float(fit.loss_and_gradient(path.relaxed())[0])


class QueryByQuery:
    """One-hot records, an index triple for every query, autograd and torch's own Adam."""

    def __init__(self) -> None:
        view, release = game()
        domain = release.domain
        start = np.concatenate([[0], np.cumsum(domain.sizes)])
        cells = [
            np.indices(answer.shape).reshape(len(columns), -1).T + start[list(columns)]
            for columns, answer in zip(release.workload, release.answers, strict=True)
        ]
        self.queries = torch.from_numpy(np.concatenate(cells))
        self.answers = torch.from_numpy(np.concatenate([a.ravel() for a in release.answers]))
        prior = torch.from_numpy(view.prior.conditional(view.known, view.targets))
        self.logits = prior.clamp_min(SMALLEST_PRIOR).log().requires_grad_()
        self.blocks = [
            torch.from_numpy(np.eye(attribute.size)[view.known.column(attribute.name)])
            if attribute.name in view.known.domain
            else None
            for attribute in domain
        ]
        self.adam = torch.optim.Adam([self.logits], lr=LEARNING_RATE)

    def loss(self) -> torch.Tensor:
        hidden = self.logits.softmax(dim=1)
        records = torch.cat([hidden if b is None else b for b in self.blocks], dim=1)
        found = records[:, self.queries].prod(dim=2).sum(dim=0)
        return ((found - self.answers) ** 2).sum()

    def run(self, steps: int) -> float:
        for _ in range(steps):
            self.adam.zero_grad()
            torch.autograd.backward(self.loss())
            self.adam.step()
        return float(self.loss().detach())


def test_thousand_steps_against_query_by_query(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    """Both reach the same loss; the twin is timed over fewer steps."""
    assert descend(10) == pytest.approx(QueryByQuery().run(10), rel=1e-9)
    benchmark.pedantic(descend, args=(STEPS,), rounds=3, iterations=1)
    plain, few = QueryByQuery(), 10
    ours, theirs = fastest(3, lambda: descend(STEPS), lambda: plain.run(few))
    ratio = (theirs / few) / (ours / STEPS)
    benchmark.extra_info["times faster than query by query"] = ratio
    assert ratio >= 30


def test_growth_with_records(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    """Past the n² forms, four times the records cost about four times as much a step."""
    small, large = prepare(CellFit, 2_500), prepare(CellFit, 10_000)
    benchmark.pedantic(large[0].step, args=(large[1],), rounds=5, iterations=1)
    short, long = fastest(7, lambda: small[0].step(small[1]), lambda: large[0].step(large[1]))
    benchmark.extra_info["cost of 4 times the records"] = long / short
    assert long / short < 10
