from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.marginals import linear as module
from reconbench.attacks.marginals.linear import TIE, Linear, least_deviations
from reconbench.attacks.rap.problem import require_marginals
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Status
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

MakeView = Callable[..., tuple[AttackerView, Table]]


def naive(view: AttackerView, block: Sequence[str]) -> float:
    """The least error over the cells that a record can reach, by the program as it is written:
    one distribution a record, one row and two deviations a cell."""
    release = require_marginals(view.release)
    domain = release.domain
    sizes = [domain[name].size for name in block]
    values = np.indices(sizes).reshape(len(sizes), -1).T
    width = len(values)
    rows: list[int] = []
    columns: list[int] = []
    answers: list[float] = []
    for sets, answer in zip(release.workload, release.answers, strict=True):
        names = [domain.names[i] for i in sets]
        if not set(names).intersection(view.targets) <= set(block):
            continue
        for cell in np.ndindex(answer.shape):
            here = [
                i * width + u
                for i in range(view.n)
                for u in range(width)
                if all(
                    (values[u, block.index(c)] if c in block else view.known.column(c)[i]) == x
                    for c, x in zip(names, cell, strict=True)
                )
            ]
            if not here:
                continue
            rows += [len(answers)] * len(here)
            columns += here
            answers.append(float(answer[cell]))
    cells, variables = len(answers), view.n * width
    rows += [*range(cells), *range(cells)]
    columns += [variables + j for j in range(2 * cells)]
    data = np.concatenate([np.ones(len(rows) - cells), -np.ones(cells)])
    simplex = np.arange(variables) // width + cells
    matrix = coo_array(
        (
            np.concatenate([data, np.ones(variables)]),
            (np.concatenate([rows, simplex]), np.concatenate([columns, np.arange(variables)])),
        )
    )
    solve: Any = linprog  # scipy's types do not cover sparse arrays
    found = solve(
        np.concatenate([np.zeros(variables), np.ones(2 * cells)]),
        A_eq=matrix.tocsr(),
        b_eq=np.concatenate([answers, np.ones(view.n)]),
    )
    return float(found.fun)


def solved(view: AttackerView, block: Sequence[str]) -> float:
    """The error of the reduced program's solution, with no prior at all."""
    problem = least_deviations(view, require_marginals(view.release), block)
    x = problem.solve(np.zeros(problem.shape), require_marginals(view.release).noise_sd, 60.0)
    assert (x >= 0).all() and np.allclose(x.sum(axis=1), problem.copies)
    return problem.error(x)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [1.0, 10.0, 60.0, inf])
def test_reduced_program_has_the_naive_optimum(make_view: MakeView, k: int, epsilon: float) -> None:
    for seed in range(3):
        view, _ = make_view(("c",), epsilon=epsilon, n=12, k=k, seed=seed)
        assert solved(view, ["c"]) == pytest.approx(naive(view, ["c"]), rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("targets", [("c", "b"), ("a", "c"), ("d", "b", "a")])
@pytest.mark.parametrize("epsilon", [10.0, inf])
def test_joint_program_has_the_naive_optimum(
    make_view: MakeView, targets: tuple[str, ...], epsilon: float
) -> None:
    view, _ = make_view(targets, epsilon=epsilon, n=8, k=3)
    for block in (targets, targets[:1]):
        assert solved(view, block) == pytest.approx(naive(view, block), rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("epsilon", [2.0, 10.0, 60.0])
def test_the_prior_only_breaks_ties(make_view: MakeView, epsilon: float) -> None:
    view, _ = make_view(("c",), epsilon=epsilon, n=20, k=2)
    least = solved(view, ["c"])
    error = Linear().reconstruct(view, np.random.default_rng(0)).info["absolute_error"]
    assert least - 1e-6 <= error <= least + 20 * TIE
    heavy = Linear(prior_weight=1e6).reconstruct(view, np.random.default_rng(0)).guess
    favourite, _ = view.prior.map(view.known, view.targets)
    assert heavy == favourite


def test_exact_marginals_of_a_short_table_are_reconstructed(make_view: MakeView) -> None:
    """Records with the same known values cannot be told apart, so the table has none."""
    view, truth = make_view(("c",), epsilon=inf, n=6, seed=2)
    assert len(np.unique(view.known.codes, axis=0)) == 6
    found = Linear().reconstruct(view, np.random.default_rng(0))
    assert found.guess == truth
    assert found.scores is not None and (found.scores == 1).all()


def test_answers_without_noise_that_contradict_each_other_are_fitted(make_view: MakeView) -> None:
    view, _ = make_view(("c",), epsilon=20.0, n=12, k=2)
    noisy = require_marginals(view.release)
    claimed = MarginalsRelease(noisy.domain, noisy.workload, noisy.answers, 0.0)
    problem = least_deviations(view, claimed, ["c"])
    x = problem.solve(np.zeros(problem.shape), 0.0, 60.0)
    assert problem.error(x) == pytest.approx(solved(view, ["c"]), rel=1e-7)


def test_l1_metric_rounds_to_the_window(make_view: MakeView) -> None:
    view, _ = make_view(("c",), epsilon=5.0, metric=WithinL1(3))
    found = Linear().reconstruct(view, np.random.default_rng(0))
    assert (found.guess.codes == 0).all()


def test_columns_alone_where_the_joint_is_too_large(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, truth = make_view(("b", "c"), epsilon=inf, n=6, k=2, seed=2)
    both = Linear().reconstruct(view, np.random.default_rng(0)).guess
    monkeypatch.setattr(module, "JOINT_LIMIT", 1)
    alone = Linear().reconstruct(view, np.random.default_rng(0)).guess
    for guess in (both, alone):
        assert (guess.codes == truth.codes).mean() > 0.7
    narrow, _ = make_view(("a", "b", "c", "d"), n=6, k=3)
    reason = Linear().skip(narrow)
    assert reason is not None and "just one hidden column" in reason


def test_skips_and_refusals(make_view: MakeView) -> None:
    view, _ = make_view(("c",), epsilon=10.0)
    with pytest.raises(AttackError, match="prior_weight must be a finite number"):
        Linear(prior_weight=-1.0)
    with pytest.raises(AttackError, match="seconds must be positive"):
        Linear(seconds=0.0)
    with pytest.raises(AttackError, match=r"HiGHS did not solve .* raise seconds"):
        Linear(seconds=1e-9).reconstruct(view, np.random.default_rng(0))
    game = Game("acs", ("SEX",), 1.0, n=20)
    assert play(Round.draw(game), AttackSpec("linear")).status is Status.OK
