"""Games on standard networks, zeros in their tables included, from the prior to the ceilings."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.plugins import PluginError

ATTACKS = ("prior", "rap", "posterior")
# Small ones with all other columns known, large ones with the suggested columns.
PLAYED = ("asia", "survey", "child", "insurance", "alarm", "hepar2", "diabetes", "munin1", "link")


def suggested(name: str, **changed: object) -> Game:
    game = plugins.read_card(f"bn:{name}")["game"]
    made = Game(f"bn:{name}", tuple(game["targets"]), 3.0, n=20)
    if "known" in game:
        made = replace(made, known=tuple(game["known"]))
    return replace(made, **changed)  # type: ignore[arg-type]


def play_all(game: Game) -> dict[str, Result]:
    round_ = Round.draw(game)
    return {name: play(round_, AttackSpec(name)) for name in ATTACKS}


def read_scores(row: Result) -> tuple[int, float]:
    """The successes of a row and their expectation; it must have been played."""
    assert row.status is Status.OK, row.error
    assert row.successes is not None and row.expected_successes is not None
    return row.successes, row.expected_successes


def check_rows(rows: dict[str, Result], n: int) -> None:
    for row in rows.values():
        successes, expected = read_scores(row)
        assert 0 <= successes <= n and -1e-9 <= expected <= n + 1e-9
        assert row.ceilings, "no ceiling holds"
        for levels in row.ceilings.values():
            assert all(isfinite(value) and -1e-9 <= value <= n + 1e-9 for value in levels.values())
    mean = rows["posterior"].ceilings["prior-exact"]["mean"]
    assert rows["prior"].baseline_expected <= mean + 1e-9


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", PLAYED)
def test_games_end_to_end(name: str) -> None:
    check_rows(play_all(suggested(name)), 20)


@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
@pytest.mark.parametrize(
    ("dataset", "targets"),
    [
        # either is tub or lung, without noise: most joint values are impossible
        ("bn:asia", ("tub", "either")),
        ("bn:insurance", ("Accident", "ThisCarDam", "Theft")),
        ("columns:bn:asia:tub,either", ("tub", "either")),
    ],
)
def test_impossible_values_are_never_guessed(
    dataset: str, targets: tuple[str, ...], epsilon: float
) -> None:
    rows = play_all(Game(dataset, targets, epsilon, n=20))
    check_rows(rows, 20)
    if epsilon == float("inf"):
        assert read_scores(rows["posterior"])[0] >= read_scores(rows["prior"])[0]


def test_a_column_that_others_determine() -> None:
    """Given tub and lung there is nothing to guess: prior, attacks and ceilings are all of it."""
    rows = play_all(Game("bn:asia", ("either",), 1.0, n=20))
    check_rows(rows, 20)
    for row in rows.values():
        assert row.successes == 20 and row.expected_successes == pytest.approx(20)
        assert all(value == 20 for bound in row.ceilings.values() for value in bound.values())


def test_the_informed_adversary() -> None:
    game = suggested("asia", adversary="informed", targets=("either", "lung"), n=10)
    row = play(Round.draw(game), AttackSpec("informed"))
    assert 0 <= read_scores(row)[0] <= 10


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("attack", ["cliques", "table-rap", "knn-pooled"])
def test_attacks_on_synthetic_tables(attack: str) -> None:
    """Logarithms of impossible values are never subtracted from each other."""
    game = Game("bn:insurance", ("Accident",), 3.0, n=15, mechanism="privbayes")
    row = play(Round.draw(game), AttackSpec(attack))
    assert row.status is Status.OK and row.successes is not None and 0 <= row.successes <= 15


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("mechanism", ["grr", "gradient"])
def test_other_releases(mechanism: str) -> None:
    attack = {"grr": "optimal", "gradient": "agia-prior"}[mechanism]
    game = Game("bn:asia", ("either",), 3.0, n=10, mechanism=mechanism)
    assert 0 <= read_scores(play(Round.draw(game), AttackSpec(attack)))[0] <= 10


def test_reliability_of_posteriors_over_many_tables() -> None:
    """The expected successes are the mean of the successes; a wrong zero would show here.

    40 tables of 20 records: the sum of 800 indicators lies within 4 standard deviations of the
    sum of their probabilities but for a false alarm of 6e-5. As a negative control, the prior's
    own expectation must not explain the successes of the attack at ε = ∞.
    """
    played = [
        play(
            Round.draw(suggested("insurance", epsilon=float("inf"), rep=rep)),
            AttackSpec("posterior"),
        )
        for rep in range(40)
    ]
    won = sum(read_scores(row)[0] for row in played)
    expected = np.array([read_scores(row)[1] for row in played])
    spread = np.sqrt(max(float((expected * (1 - expected / 20)).sum()), 1.0))
    assert abs(won - expected.sum()) < 4 * spread
    prior = sum(row.baseline_expected for row in played)
    assert abs(won - prior) > 4 * spread


def test_too_many_marginals_are_refused_at_once() -> None:
    """There are 187 million sets of 4 columns: listing them would take minutes and gigabytes."""
    game = Game("bn:munin", ("R_LNLW_MED_TIME",), 3.0, mechanism_options=Options({"k": 4}), n=20)
    with pytest.raises(PluginError, match=r"4-way marginals have .* name fewer known ones"):
        Round.draw(game)
