"""Tables that fit a release without noise, against all tables one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.candidates import solution
from reconbench.attacks.candidates.solution import ExactTables, System, find_exact_tables
from reconbench.attacks.judges import find_judge
from reconbench.attacks.marginals.measured import read_measurements
from reconbench.attacks.posterior.exact import ExactPosterior
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.rap.problem import require_marginals
from reconbench.attacks.rap.rap import Rap, RapConverged
from reconbench.benchmarks.game.game import Game
from reconbench.benchmarks.game.round import Round
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

GAMES = [
    (("c",), 3, 4, ()),
    (("c",), 1, 4, ()),
    (("a", "d"), 2, 3, ()),
    (("a", "b"), 3, 3, ("c",)),
    (("a", "b", "d"), 1, 2, ()),
]


def fit_all_tables(view: AttackerView) -> tuple[Codes, Floats]:
    """Every hidden table that fits, as numbers of joint values (tables, n), and its posterior."""
    release = require_marginals(view.release)
    values = np.array(list(product(*(range(size) for size in view.target_domain.sizes))))
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    fitting, weights = [], []
    for choice in product(range(len(values)), repeat=view.n):
        table = view.known.join(Table(view.target_domain, values[list(choice)]))
        table = table.project(release.domain.names)
        if all(
            np.array_equal(marginal_counts(table, columns), np.round(answer))
            for columns, answer in zip(release.workload, release.answers, strict=True)
        ):
            fitting.append(choice)
            weights.append(prior[np.arange(view.n), list(choice)].prod())
    return np.array(fitting), np.array(weights) / np.sum(weights)


def solve(view: AttackerView) -> ExactTables:
    tables = find_exact_tables(view, read_measurements(view))
    assert tables is not None
    return tables


@pytest.mark.parametrize(("targets", "k", "n", "left_out"), GAMES)
def test_it_is_the_enumerated_posterior(
    make_view: MakeView, targets: tuple[str, ...], k: int, n: int, left_out: tuple[str, ...]
) -> None:
    for seed in range(4):
        view, _ = make_view(targets, k=k, epsilon=inf, n=n, seed=seed, left_out=left_out)
        fitting, weights = fit_all_tables(view)
        exact = ExactPosterior(view, solve(view))
        assert exact.tables.certain
        sizes = view.target_domain.sizes
        for flat, codes in enumerate(product(*(range(size) for size in sizes))):
            chance = exact.posteriors.success(0, np.tile(codes, (n, 1)))
            assert chance == pytest.approx(weights @ (fitting == flat), abs=1e-12)
        best = exact.find_best_possible()
        most = sum(np.bincount(column, weights).max() for column in fitting.T)
        assert best.expected == pytest.approx(most)
        assert best.expected <= exact.tables.bound_success() + 1e-9
        guess = np.ravel_multi_index(tuple(exact.posteriors.guess([0]).T), sizes)
        hits = (fitting == guess).sum(axis=1)
        assert best.successes is not None
        for v in range(n + 1):
            assert best.successes.tail(v) == pytest.approx(weights @ (hits >= v), abs=1e-9)


def test_attack_and_judge_read_the_same_tables(make_view: MakeView) -> None:
    view, truth = make_view(("a", "c"), epsilon=inf, n=30)
    found = Posterior().reconstruct(view, np.random.default_rng(0))
    judge = find_judge(view, np.random.default_rng(1))
    assert judge is not None and judge.exact and judge.best_possible is not None
    assert found.best_possible is not None and found.info["certified"] == 1
    assert found.best_possible.expected == pytest.approx(judge.best_possible.expected)
    assert judge.judge(found.guess.codes).expected == pytest.approx(found.best_possible.expected)
    assert judge.judge(truth.codes).expected <= found.best_possible.expected + 1e-9


def test_little_noise_is_rounded_and_much_is_not(make_view: MakeView) -> None:
    view, _ = make_view(("a", "d"), k=2, epsilon=inf, n=5)
    release, rng = require_marginals(view.release), np.random.default_rng(0)

    def add_noise(noise_sd: float) -> MarginalsRelease:
        answers = tuple(a + rng.normal(0, noise_sd, a.shape) for a in release.answers)
        return replace(release, answers=answers, noise_sd=noise_sd)

    exact = solve(view).expected_counts()
    assert np.array_equal(solve(replace(view, release=add_noise(0.05))).expected_counts(), exact)
    noisy = replace(view, release=add_noise(0.2))
    assert find_exact_tables(noisy, read_measurements(noisy)) is None


@pytest.mark.usefixtures("by_chains")
def test_a_search_that_is_cut_still_bounds(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds of which propagation leaves something open: with no search at all, nothing is called
    certain, the bound holds, and the attack samples what is possible."""
    monkeypatch.setattr(solution, "WORK", 0)
    cut = 0
    for seed in range(20):
        view, _ = make_view(("a", "b"), k=1, epsilon=inf, n=3, seed=seed)
        tables = solve(view)
        if tables.certain:
            continue
        cut += 1
        fitting, weights = fit_all_tables(view)
        most = sum(np.bincount(column, weights).max() for column in fitting.T)
        assert tables.bound_success() >= most - 1e-9
        possible = tables.mark_possible(view.target_domain.sizes)
        assert all(
            possible[group, fitting[:, record]].all()
            for record, group in enumerate(tables.candidates.group)
        )
        found = Posterior(sweeps=50, rounds=1).reconstruct(view, np.random.default_rng(0))
        assert found.info["best_possible_at_most"] == tables.bound_success()
        assert "certified" not in found.info
    assert cut >= 5


def test_equations_are_solved_as_by_hand() -> None:
    """Random systems of 0/1 equations between six counts, against all tables of counts."""
    rng = np.random.default_rng(0)
    everything = np.array(list(product(range(3), repeat=6)))
    for _ in range(50):
        terms = rng.random((4, 6)) < 0.5
        terms[0] = True
        truth = rng.integers(0, 3, 6)
        equation, variable = np.nonzero(terms)
        system = System.build(terms @ truth, equation, variable, 6)
        expected = everything[(everything @ terms.T == terms @ truth).all(axis=1)]
        low, high = np.zeros(6, dtype=np.int64), np.full(6, 2)
        assert system.tighten(low, high)
        assert (expected >= low).all() and (expected <= high).all()
        found, complete = system.enumerate(low, high, 1_000)
        assert complete
        assert {tuple(row) for row in found} == {tuple(row) for row in expected}
        some, complete = system.enumerate(low, high, 1)
        assert len(some) == 1 and complete == (len(expected) == 1)
        low, high = np.zeros(6, dtype=np.int64), np.full(6, 2)
        impossible = System.build(terms @ truth + 13 * (np.arange(4) == 0), equation, variable, 6)
        assert not impossible.tighten(low, high)


def test_rap_starts_from_what_is_possible(make_view: MakeView) -> None:
    """It is worth no less than from the prior, over ten games, and never more than the optimum."""
    gains = []
    for seed in range(10):
        view, _ = make_view(("a", "c"), epsilon=inf, n=20, seed=seed)
        exact = ExactPosterior(view, solve(view))
        worth = [
            exact.posteriors.success(
                0, attack.reconstruct(view, np.random.default_rng(0)).guess.codes
            )
            for attack in (Rap(), Rap(stopping="steps"))
        ]
        assert worth[0].sum() <= exact.find_best_possible().expected + 1e-9
        gains.append(worth[0].sum() - worth[1].sum())
    assert np.mean(gains) >= 0


COLUMNS = (
    *("SCHL", "AGEP", "MIL", "RELP", "MAR", "ESP", "DREM"),
    *("DIS", "DEAR", "SEX", "MIG", "DEYE", "RAC1P"),
)


@pytest.mark.parametrize("hidden", [1, 2, 3, 5, 8, 13])
def test_acs_tables_are_certified_and_nobody_is_ahead(hidden: int) -> None:
    """k = 3, n = 100: the only table that fits, up to records known to be alike."""
    reached, rival = 0, 0
    for rep in range(3):
        drawn = Round.draw(
            Game(dataset="acs", targets=COLUMNS[:hidden], epsilon=inf, seed=9, rep=rep)
        )
        found = Posterior().reconstruct(drawn.view, np.random.default_rng(0))
        best = found.best_possible
        assert best is not None and best.converged and best.error == 0
        assert found.info["certified"] == 1
        assert drawn.best_possible is not None
        assert drawn.best_possible.expected == pytest.approx(best.expected)
        reached += drawn.successes(found.guess)
        if hidden <= 3:
            guess = RapConverged().reconstruct(drawn.view, np.random.default_rng(0)).guess
            worth = drawn.judge(guess)
            assert worth is not None and worth.expected <= best.expected + 1e-9
            rival += drawn.successes(guess)
    assert reached >= rival
