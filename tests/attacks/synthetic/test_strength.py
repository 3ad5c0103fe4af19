"""What pooling is worth, on ACS: paired over the same tables, and judged without luck.

Guesses are scored by their probability given all that the generator measured. Every statement is
about fixed seeds; t statistics are those of the paired differences over the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import Attack, AttackerView, ExactMatch
from reconbench.attacks.synthetic import pooled, raw
from reconbench.attacks.synthetic.table_rap import TableRap
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import Game, Round
from reconbench.datasets import shipped

Floats = npt.NDArray[np.float64]

PAIRS: list[tuple[Callable[[], Attack], Callable[[], Attack]]] = [
    (raw.NaiveBayesAttack, pooled.NaiveBayesPooled),
    (raw.BayesNetAttack, pooled.BayesNetPooled),
    (raw.NearestNeighboursAttack, pooled.NearestNeighboursPooled),
    (raw.RandomForestAttack, pooled.RandomForestPooled),
    (raw.GradientBoostingAttack, pooled.GradientBoostingPooled),
]


def draw_rounds(count: int, epsilon: float, rows: str, structure: str) -> list[Round]:
    options = Options({"structure": structure, "rows": rows})
    game = Game("acs", ("AGEP",), epsilon, mechanism="pgm", mechanism_options=options)
    return [Round.draw(game.repeat(rep)) for rep in range(count)]


def expect(attack: Attack, rounds: list[Round]) -> Floats:
    """What an attack expects on every table beyond the prior's guess, in records."""
    gains = []
    for round_ in rounds:
        guess = attack.reconstruct(round_.view, np.random.default_rng(0)).guess
        worth, base = round_.judge(guess), round_.baseline_worth
        assert worth is not None and base is not None
        gains.append(worth.expected - base.expected)
    return np.array(gains)


def t_statistic(differences: Floats) -> float:
    return float(differences.mean() / (differences.std(ddof=1) / sqrt(len(differences))))


@pytest.mark.slow
def test_pooled_learners_beat_raw_ones_and_the_prior() -> None:
    """Raw learners lose ten records of 100 and more; each is worth something when pooled, and the
    stack is worth at least as much as any. Student's t of 10 tables exceeds 4 once in 600."""
    rounds = draw_rounds(10, 10.0, "n", "star")
    best = 0.0
    for make_raw, make_pooled in PAIRS:
        alone, with_prior = expect(make_raw(), rounds), expect(make_pooled(), rounds)
        assert alone.mean() < -3
        assert t_statistic(with_prior - alone) > 4
        assert t_statistic(with_prior) > 3
        best = max(best, with_prior.mean())
    cliques, stack = expect(pooled.Cliques(), rounds), expect(pooled.Stack(), rounds)
    assert t_statistic(cliques) > 4 and t_statistic(stack) > 4
    assert stack.mean() > best - 0.5
    assert expect(TableRap(), rounds).mean() > -0.5


@pytest.mark.slow
def test_many_rows_approach_the_white_box() -> None:
    """Drawing few rows hides something, drawing many does not: with 50 n rows four fifths of what
    the measurements give away is read off the table, with n rows less than two thirds. No attack
    on the table expects more than the best possible on the measurements."""
    shares = []
    for rows in ("n", "50n"):
        rounds = draw_rounds(6, 100.0, rows, "tree")
        best = []
        for round_ in rounds:
            assert round_.best_possible is not None and round_.baseline_worth is not None
            best.append(round_.best_possible.expected - round_.baseline_worth.expected)
        gains = expect(pooled.Cliques(), rounds)
        assert t_statistic(gains - np.array(best)) < 2
        shares.append(gains.mean() / np.mean(best))
    assert shares[0] < 2 / 3 and shares[1] > 4 / 5


@pytest.mark.slow
def test_a_release_that_says_nothing_does_no_harm(
    unrelated_to: Callable[..., AttackerView],
) -> None:
    """Tables of other people, on the attacks that learn what to believe: the guess is worth what
    the prior's is, but for half a record of 100. The raw learner is worth five less, and more."""
    prior = shipped.acs()
    losses: dict[str, list[float]] = {}
    learning: list[Attack] = [pooled.NaiveBayesPooled(), pooled.Cliques(), TableRap()]
    for seed in range(5):
        view = unrelated_to(prior, ("AGEP",), 100, seed)
        _, best = view.metric.best_guess(prior, view.known, view.targets)
        for attack in (*learning, raw.NaiveBayesAttack()):
            guess = attack.reconstruct(view, np.random.default_rng(0)).guess
            worth = ExactMatch().prior_success(prior, view.known, guess)
            losses.setdefault(attack.name, []).append(float(best.sum() - worth.sum()))
    assert np.mean(losses.pop("naive-bayes")) > 5
    assert all(np.mean(loss) < 0.5 for loss in losses.values())
