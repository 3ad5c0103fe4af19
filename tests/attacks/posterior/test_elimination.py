"""Exact posteriors from the counts of open cells, against enumeration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.posterior import elimination
from reconbench.attacks.posterior.elimination import eliminate
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.datasets import Table
from reconbench.mechanisms.measurements import Measurements, measure

MakeView = Callable[..., tuple[AttackerView, Table]]
Enumerate = Callable[[AttackerView], tuple[np.ndarray, np.ndarray]]

GAMES = [
    (("c",), ((2, 4),), (0.7,), 5),
    (("c",), ((0, 2), (1, 2, 3), (2,)), (0.8, 1.5, 2.0), 5),
    (("c",), ((2, 4), (0, 2)), (0.0, 1.0), 5),
    (("b",), ((0, 1), (1, 2, 4), (0, 1)), (0.5, 0.0, 2.0), 8),
    (("a", "c"), ((0, 2), (0, 1), (2, 3, 4)), (1.0, 0.7, 2.0), 3),
    (("d", "b"), ((1, 3), (1,), (0, 3)), (0.0, 0.0, 1.0), 5),
    (("c",), ((0, 1, 2, 3, 4),), (0.5,), 5),
]


def make_game(
    make_view: MakeView,
    targets: tuple[str, ...],
    sets: tuple[tuple[int, ...], ...],
    sds: tuple[float, ...],
    n: int,
    seed: int,
) -> AttackerView:
    view, truth = make_view(targets, n=n, seed=seed)
    table = view.known.join(truth).project(view.release.domain.names)
    return replace(view, release=measure(table, sets, sds, np.random.default_rng(1_000 + seed)))


@pytest.mark.parametrize(("targets", "sets", "sds", "n"), GAMES)
def test_it_is_the_enumerated_posterior(
    make_view: MakeView,
    enumerate_tables: Enumerate,
    targets: tuple[str, ...],
    sets: tuple[tuple[int, ...], ...],
    sds: tuple[float, ...],
    n: int,
) -> None:
    """Of every record and value, of the optimum, and of the number of successes; all exactly."""
    for seed in range(3):
        view = make_game(make_view, targets, sets, sds, n, seed)
        tables, weights = enumerate_tables(view)
        found = eliminate(view, Evidence.of(view))
        assert found is not None
        sizes, values = view.target_domain.sizes, int(np.prod(view.target_domain.sizes))
        exact = np.array([np.bincount(column, weights, values) for column in tables.T])
        for flat, codes in enumerate(np.ndindex(sizes)):
            chance = found.posteriors.success(0, np.tile(codes, (n, 1)))
            assert chance == pytest.approx(exact[:, flat], abs=1e-12)
        guess = np.ravel_multi_index(tuple(found.posteriors.guess([0]).T), sizes)
        for records in (n, 2):
            best = found.find_best_possible(records)
            assert best.expected == pytest.approx(exact.max(axis=1)[:records].sum())
            assert best.error == 0 and best.successes is not None
            hits = (tables == guess)[:, :records].sum(axis=1)
            tail = [weights[hits >= v].sum() for v in range(records + 1)]
            assert best.successes.tail(np.arange(records + 1)) == pytest.approx(tail, abs=1e-9)


def test_half_the_noise_is_another_posterior(
    make_view: MakeView, enumerate_tables: Enumerate
) -> None:
    """The negative control."""
    view = make_game(make_view, *GAMES[1], seed=0)
    tables, weights = enumerate_tables(view)
    assert isinstance(view.release, Measurements)
    halved = tuple(sd / 2 for sd in view.release.noise_sds)
    believed = replace(view, release=replace(view.release, noise_sds=halved))
    wrong = eliminate(believed, Evidence.of(believed))
    assert wrong is not None
    exact = np.bincount(tables[:, 0], weights, 4)
    chances = [wrong.posteriors.success(0, np.full((5, 1), v))[0] for v in range(4)]
    assert np.abs(exact - chances).max() > 0.05


def test_too_many_steps_are_not_taken(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is at least what is taken; one fewer, and nothing is."""
    view = make_game(make_view, ("d",), ((3, 4), (2, 3)), (1.0, 1.0), 20, 0)
    found = eliminate(view, Evidence.of(view))
    assert found is not None
    taken = sum(chances.size for chances in found.chances)
    monkeypatch.setattr(elimination, "MOST_STEPS", taken - 1)
    assert eliminate(view, Evidence.of(view)) is None
    star = make_game(make_view, ("c",), ((0, 2), (1, 2), (2, 3), (2, 4)), (1.0,) * 4, 60, 0)
    monkeypatch.undo()
    assert eliminate(star, Evidence.of(star)) is None


def test_too_many_counts_are_not_kept(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few ways on can still be many numbers, one for each open cell. The bound covers them."""
    view = make_game(make_view, ("d",), ((3, 4), (2, 3)), (1.0, 1.0), 20, 0)
    kept: list[int] = []
    take = elimination.Frontier.take

    def count(frontier: elimination.Frontier, i: int, log_prior: np.ndarray) -> elimination.Step:
        width = frontier._counts.shape[1]
        step = take(frontier, i, log_prior)
        kept.append(step.onto.size * width)
        return step

    monkeypatch.setattr(elimination.Frontier, "take", count)
    assert eliminate(view, Evidence.of(view)) is not None
    monkeypatch.setattr(elimination, "MOST_COUNTS", sum(kept) - 1)
    assert sum(kept) > 100 and eliminate(view, Evidence.of(view)) is None


def test_counts_of_no_table_have_no_posterior(make_view: MakeView) -> None:
    view = make_game(make_view, *GAMES[2], seed=0)
    assert isinstance(view.release, Measurements)
    answers = (view.release.answers[0] + 1.0, view.release.answers[1])
    wrong = replace(view, release=replace(view.release, answers=answers))
    assert eliminate(wrong, Evidence.of(wrong)) is None


def test_chances_of_successes_add_up_whatever_is_rounded(make_view: MakeView) -> None:
    for seed in range(40):
        view = make_game(make_view, ("c",), ((2, 3), (2,)), (0.3, 0.0), 5, seed)
        found = eliminate(view, Evidence.of(view))
        assert found is not None
        successes = found.find_best_possible().successes
        assert successes is not None and successes.tail(0) == 1.0


def test_a_few_sets_never_have_more_states_than_all() -> None:
    """So a glance at them refuses nothing that all sets together would take."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        n, sets = rng.integers(1, 30), rng.integers(1, 12)
        starts = rng.integers(0, rng.integers(1, 10), size=(n, sets))
        widths = rng.integers(1, 5, size=sets)
        whole, _ = elimination._bound_steps(starts, widths, 6)
        few = rng.permutation(sets)[: rng.integers(1, sets + 1)]
        assert elimination._bound_steps(starts[:, few], widths[few], 6)[0] <= whole * (1 + 1e-12)
