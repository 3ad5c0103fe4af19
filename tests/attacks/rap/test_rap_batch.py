"""Repetitions attacked together give, to the last bit, what each gives alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import numpy as np
import pytest
import torch

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.marginals.release_parts import ReleaseParts, shared_parts
from reconbench.attacks.rap.problem import build_problem, require_marginals
from reconbench.attacks.rap.rap import Rap, RapConverged, RapMap
from reconbench.benchmarks.game.play import Game, Round
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]
Batched = Rap | RapConverged | RapMap


def assert_alone_is_together(
    attack: Batched, views: Sequence[AttackerView], split: int = 2
) -> None:
    rngs = [[np.random.default_rng(i) for i in range(len(views))] for _ in range(3)]
    alone = [attack.reconstruct(view, rng) for view, rng in zip(views, rngs[0], strict=True)]
    together = attack.reconstruct_many(views, rngs[1])
    parts = [
        found
        for some in (slice(None, split), slice(split, None))
        for found in attack.reconstruct_many(views[some], rngs[2][some])
    ]
    for one, *others in zip(alone, together, parts, strict=True):
        for other in others:
            assert one.guess == other.guess
            assert one.scores is not None and other.scores is not None
            assert np.array_equal(one.scores, other.scores)
            assert one.info == other.info
    after = [[rng.random() for rng in each] for each in rngs]
    assert after[0] == after[1] == after[2]


@pytest.mark.parametrize(
    "attack",
    [
        Rap(),
        Rap(restarts=3, steps=50),
        Rap(stopping="steps", steps=40),
        RapConverged(steps=60),
        RapConverged(steps=30, restarts=4),
        RapMap(steps=60),
        RapMap(steps=60, entropy=False, restarts=2),
    ],
)
@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
def test_alone_is_together(make_view: MakeView, attack: Batched, targets: tuple[str, ...]) -> None:
    views = [make_view(targets, epsilon=5.0, n=21, seed=seed)[0] for seed in range(5)]
    assert_alone_is_together(attack, views)


@pytest.mark.parametrize("attack", [Rap(steps=100), RapMap(steps=30)])
def test_alone_is_together_for_other_metrics_and_k(make_view: MakeView, attack: Batched) -> None:
    for k in (1, 2, 5):
        views = [make_view(k=k, metric=WithinL1(1), seed=seed)[0] for seed in range(3)]
        assert_alone_is_together(attack, views)


def test_alone_is_together_across_blocks(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconbench.attacks.rap.descent.BLOCK", 300)
    views = [make_view(n=25, seed=seed)[0] for seed in range(5)]
    assert_alone_is_together(RapConverged(steps=30), views)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "column"),
    [("acs", "SEX"), ("acs", "AGEP"), ("fire", "Zipcode of Incident")],
)
def test_six_together_are_six_alone(dataset: str, column: str) -> None:
    for epsilon in (1.0, 10.0, inf):
        games = [Game(dataset, (column,), epsilon, seed=77, rep=rep) for rep in range(6)]
        views = [Round.draw(game).view for game in games]
        for attack in (Rap(steps=300), RapConverged(steps=200), RapMap(steps=200)):
            assert_alone_is_together(attack, views)


@pytest.mark.slow
def test_six_together_are_six_alone_on_two_threads() -> None:
    """The batch is long enough for torch to split it between threads; a single run is not."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        games = [Game("acs", ("AGEP",), 3.0, seed=77, rep=rep) for rep in range(6)]
        views = [Round.draw(game).view for game in games]
        assert_alone_is_together(RapConverged(steps=20, restarts=8), views)
    finally:
        torch.set_num_threads(before)


def test_views_stop_each_at_their_own_step(make_view: MakeView) -> None:
    views = [make_view(epsilon=20.0, seed=seed)[0] for seed in range(8)]
    found = Rap().reconstruct_many(views, [np.random.default_rng(i) for i in range(8)])
    assert len({each.info["steps"] for each in found}) > 1


def test_views_of_different_games_are_refused(make_view: MakeView) -> None:
    rng = np.random.default_rng(0)
    views = [make_view(n=20)[0], make_view(n=21)[0]]
    for attack in (Rap(), RapConverged(), RapMap()):
        with pytest.raises(AttackError, match="repetitions of one game, got 2"):
            attack.reconstruct_many(views, [rng, rng])
        with pytest.raises(AttackError, match="one generator per view"):
            attack.reconstruct_many(views[:1], [rng, rng])
        with pytest.raises(AttackError, match="at least one view"):
            attack.reconstruct_many([], [])


def test_simulated_tables_are_distributed_like_released_ones(make_view: MakeView) -> None:
    """Gathered answers of simulated tables against those of tables the mechanism releases.

    4,000 draws of each: means within 6 standard errors in each of 12 · 4 numbers, and second
    moments between records within 6 standard errors of noise_sd² G.
    """
    view, _ = make_view(n=12, epsilon=3.0)
    rng = np.random.default_rng(3)
    draws, n, size = 4_000, view.n, 4
    truth = rng.integers(size, size=(n, 1))
    built = build_problem(view, rng, 1, np.broadcast_to(truth, (draws, n, 1))).tables
    assert not isinstance(built, tuple)
    simulated = built.gathered[1:]
    table = view.known.join(Table(view.target_domain, truth)).project(view.release.domain.names)
    releases = [require_marginals(view.mechanism.release(table, rng)) for _ in range(draws)]
    played = ReleaseParts(releases, view.known, view.targets)
    real = played.gathered(tuple(played.order))
    release = require_marginals(view.release)
    noise, gram = release.noise_sd, shared_parts(view.known, release.k - 1)
    error = noise * np.sqrt(gram.diagonal()[:, None] * 2 / draws)
    assert (np.abs(simulated.mean(axis=0) - real.mean(axis=0)) < 6 * error).all()
    spread = noise**2 * np.sqrt(
        (gram**2 + np.outer(gram.diagonal(), gram.diagonal())) / (draws * size)
    )
    for sample in (simulated, real):
        centred = sample - sample.mean(axis=0)
        moments = np.einsum("wiv,wjv->ij", centred, centred) / (draws * size)
        assert (np.abs(moments - noise**2 * gram) < 6 * spread).all()


def test_gathered_answers_cell_by_cell(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in (1, 1 << 18):
        monkeypatch.setattr("reconbench.attacks.marginals.release_parts.GATHERED_TOGETHER", limit)
        for targets, k in ((("c",), 3), (("c", "a"), 3), (("c",), 1), (("d", "a"), 2)):
            view, _ = make_view(targets, n=9, k=k)
            release = require_marginals(view.release)
            parts = ReleaseParts([release], view.known, view.targets)
            hidden = tuple(sorted(parts.order))
            found = parts.gathered(hidden)[0]
            names = view.release.domain.names
            sizes = [view.release.domain.sizes[i] for i in hidden]
            for record in range(view.n):
                expected = np.zeros(sizes)
                for sets, answer in zip(release.workload, release.answers, strict=True):
                    if set(sets) & set(parts.order) == set(hidden):
                        where = tuple(
                            slice(None) if i in hidden else view.known.column(names[i])[record]
                            for i in sets
                        )
                        expected += answer[where]
                row = found[record] if len(found) > 1 else found[0]
                assert np.allclose(row, expected.ravel())
