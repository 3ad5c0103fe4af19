from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackerView, WithinL1
from reconbench.attacks.marginals.informed import Informed, informed_posterior
from reconbench.attacks.marginals.measured import read_measurements
from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.run.runner import one_thread
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = npt.NDArray[np.float64]


def informed(view: AttackerView, truth: Table, i: int) -> AttackerView:
    table = view.known.join(truth).project(view.release.domain.names)
    others = Table(table.domain, np.delete(table.codes, i, axis=0))
    target = Table(view.known.domain, view.known.codes[i : i + 1])
    return replace(view, known=target, others=others)


def enumerated(view: AttackerView, truth: Table, i: int) -> Floats:
    """The posterior of record i from the full squared error of every possible table."""
    release = view.release
    assert isinstance(release, MarginalsRelease)
    sizes = view.target_domain.sizes
    logs = np.log(view.prior.conditional(view.known, view.targets)[i])
    for values in np.ndindex(sizes):
        codes = truth.codes.copy()
        codes[i] = values
        table = view.known.join(Table(truth.domain, codes)).project(release.domain.names)
        error = sum(
            float(((marginal_counts(table, columns) - answer) ** 2).sum())
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        logs[values] -= error / (2 * release.noise_sd**2)
    expected = np.exp(logs - logs.max())
    return np.asarray(expected / expected.sum())


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("targets", [("c",), ("c", "a"), ("e", "b", "c"), ("d", "c", "b", "a")])
def test_posterior_is_the_gaussian_likelihood_of_whole_tables(
    make_view: MakeView, k: int, targets: tuple[str, ...]
) -> None:
    view, truth = make_view(targets, epsilon=20.0, n=8, k=k)
    for i in range(3):
        mine = informed(view, truth, i)
        assert mine.others is not None
        found = informed_posterior(mine, read_measurements(mine), mine.others)
        assert found.shape == view.target_domain.sizes
        expected = enumerated(view, truth, i)
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-12)
        guess = Informed().reconstruct(mine, np.random.default_rng(0))
        assert tuple(guess.guess.codes[0]) == np.unravel_index(expected.argmax(), expected.shape)
        assert guess.best_possible is not None
        assert guess.best_possible.expected == pytest.approx(expected.max())
        assert guess.scores is not None and guess.scores[0] == guess.best_possible.expected


def test_l1_scores_are_the_mass_of_the_window(make_view: MakeView) -> None:
    view, truth = make_view(("c",), epsilon=10.0, n=8, metric=WithinL1(1))
    for i in range(4):
        posterior = enumerated(view, truth, i)
        windows = [posterior[max(v - 1, 0) : v + 2].sum() for v in range(4)]
        found = Informed().reconstruct(informed(view, truth, i), np.random.default_rng(0))
        assert found.guess.codes[0, 0] == int(np.argmax(windows))
        assert found.scores is not None and found.scores[0] == pytest.approx(max(windows))


@pytest.mark.parametrize("targets", [("c",), ("a", "c")])
def test_promised_success_is_the_success(make_view: MakeView, targets: tuple[str, ...]) -> None:
    """1,200 targets of 60 games: the mean of success minus score is 0 within 4 standard errors (a
    false alarm below 1e-4). Negative control: squared scores promise too little and fail."""
    gaps, wrong = [], []
    for seed in range(60):
        view, truth = make_view(targets, epsilon=6.0, n=20, k=2, seed=seed)
        for i in range(20):
            found = Informed().reconstruct(informed(view, truth, i), np.random.default_rng(0))
            assert found.best_possible is not None
            right = float((found.guess.codes[0] == truth.codes[i]).all())
            gaps.append(right - found.best_possible.expected)
            wrong.append(right - found.best_possible.expected**2)
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) <= 4 * error
    assert abs(np.mean(wrong)) > 4 * error


def test_joint_domains_too_long_to_list_are_skipped() -> None:
    round_ = Round.draw(
        Game("fire", ("Call Type", "Station Area", "Zipcode of Incident", "City", "Battalion"), 1.0)
    )
    view = informed(round_.view, round_.truth, 0)
    reason = Informed().skip(view)
    assert reason is not None and "hide fewer columns" in reason


@pytest.mark.parametrize("targets", [("c",), ("d", "c")])
def test_exact_marginals_leave_no_doubt(make_view: MakeView, targets: tuple[str, ...]) -> None:
    view, truth = make_view(targets, epsilon=inf, n=10)
    for i in range(10):
        mine = informed(view, truth, i)
        guess = Informed().reconstruct(mine, np.random.default_rng(0)).guess
        assert np.array_equal(guess.codes[0], truth.codes[i])


def test_who_plays_which_adversary() -> None:
    game = Game("acs", ("SEX",), 1.0, n=20)
    assert play(Round.draw(game), AttackSpec("informed")).status is Status.SKIPPED
    harder = replace(game, adversary=Adversary.INFORMED)
    assert play(Round.draw(harder), AttackSpec("rap")).status is Status.SKIPPED
    row = play(Round.draw(harder), AttackSpec("prior"))
    assert row.successes == row.baseline_successes and row.adversary == "informed"
    assert Round.draw(harder).table_hash == Round.draw(game).table_hash
    with pytest.raises(ValueError, match="adversary must be realistic or informed"):
        replace(game, adversary="omniscient")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [3.0, 10.0])
def test_a_binary_column_meets_the_prior_exact_ceiling(epsilon: float) -> None:
    """200 games: the optimum's mean success is the ceiling, within 4 standard errors either way.

    A correct ceiling and attack fail with probability below 1e-4. Negative control: the ceiling of
    half the budget is passed by more than that.
    """
    games = [
        Game("acs", ("SEX",), epsilon, adversary=Adversary.INFORMED, rep=rep) for rep in range(200)
    ]
    with one_thread():
        rows = [play(Round.draw(game), AttackSpec("informed")) for game in games]
        half = [
            Round.draw(replace(game, epsilon=epsilon / 2))
            .compute_bounds(np.zeros(100))
            .ceilings["prior-exact"]["mean"]
            for game in games[:50]
        ]
    successes = np.array([row.successes for row in rows], dtype=np.float64)
    gaps = successes - [row.ceilings["prior-exact"]["mean"] for row in rows]
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    assert abs(gaps.mean()) <= 4 * error
    assert successes.mean() - np.mean(half) > 4 * error
