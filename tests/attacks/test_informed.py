from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.informed import Informed, informed_posterior
from reconbench.benchmarks.game import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.results import Status
from reconbench.benchmarks.runner import one_thread
from reconbench.datasets import Table
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]


def informed(view: AttackerView, truth: Table, i: int) -> AttackerView:
    table = view.known.join(truth).project(view.release.domain.names)
    others = Table(table.domain, np.delete(table.codes, i, axis=0))
    target = Table(view.known.domain, view.known.codes[i : i + 1])
    return replace(view, known=target, others=others)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_posterior_is_the_gaussian_likelihood_of_whole_tables(make_view: MakeView, k: int) -> None:
    """Against the full squared error of every possible table, cell by cell."""
    view, truth = make_view(("c",), epsilon=20.0, n=8, k=k)
    for i in range(3):
        mine = informed(view, truth, i)
        found = informed_posterior(mine, mine.release, mine.others)[0]
        prior = view.prior.conditional(view.known, ["c"])[i]
        logs = []
        for value in range(4):
            codes = truth.codes.copy()
            codes[i] = value
            table = view.known.join(Table(truth.domain, codes)).project(view.release.domain.names)
            error = sum(
                float(((marginal_counts(table, columns) - answer) ** 2).sum())
                for columns, answer in zip(view.release.workload, view.release.answers, strict=True)
            )
            logs.append(np.log(prior[value]) - error / (2 * view.release.noise_sd**2))
        expected = np.exp(np.array(logs) - max(logs))
        assert np.allclose(found, expected / expected.sum(), rtol=1e-6, atol=1e-12)


def test_exact_marginals_leave_no_doubt(make_view: MakeView) -> None:
    view, truth = make_view(("c",), epsilon=inf, n=10)
    for i in range(10):
        mine = informed(view, truth, i)
        guess = Informed().reconstruct(mine, np.random.default_rng(0)).guess
        assert guess.codes[0, 0] == truth.codes[i, 0]


def test_who_plays_which_adversary() -> None:
    game = Game("acs", ("SEX",), 1.0, n=20)
    assert play(Round.of(game), AttackSpec("informed")).status is Status.SKIPPED
    harder = replace(game, adversary=Adversary.INFORMED)
    assert play(Round.of(harder), AttackSpec("rap")).status is Status.SKIPPED
    row = play(Round.of(harder), AttackSpec("prior"))
    assert row.successes == row.baseline_successes and row.adversary == "informed"
    assert Round.of(harder).table_hash == Round.of(game).table_hash
    with pytest.raises(ValueError, match="adversary must be realistic or informed"):
        Adversary.parse("omniscient")


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
        rows = [play(Round.of(game), AttackSpec("informed")) for game in games]
        half = [
            Round.of(replace(game, epsilon=epsilon / 2)).ceilings(np.zeros(100))["prior-exact"][
                "mean"
            ]
            for game in games[:50]
        ]
    successes = np.array([row.successes for row in rows], dtype=np.float64)
    gaps = successes - [row.ceilings["prior-exact"]["mean"] for row in rows]
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    assert abs(gaps.mean()) <= 4 * error
    assert successes.mean() - np.mean(half) > 4 * error
