"""No attack may get more than the best possible, beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.reports.leaderboard.checks.ahead_of_best import find_attacks_ahead
from reconbench.reports.leaderboard.checks.alarms import list_alarms


@pytest.fixture(scope="module")
def rows() -> list[Result]:
    rounds = [Round.draw(Game("acs", ("SEX",), epsilon=10.0, n=40, rep=rep)) for rep in range(12)]
    return [play(each, AttackSpec(name)) for each in rounds for name in ("rap", "posterior")]


def by_attack(rows: Sequence[Result]) -> dict[str, Summary]:
    return {summary.attack: summary for summary in summarise(rows)}


def test_what_is_drawn_is_held_against_the_same_release(rows: list[Result]) -> None:
    for name, summary in by_attack(rows).items():
        own = {row.rep: row for row in rows if row.attack == name}
        for rep, more in summary.beyond_best.items():
            best = own[rep].best_possible
            assert best is not None and more == pytest.approx((own[rep].successes or 0) - best)
        assert len(summary.beyond_best) == 12
    unknown = [replace(row, best_possible=None, best_possible_converged=False) for row in rows]
    assert not any(summary.beyond_best for summary in summarise(unknown))


def test_a_right_optimum_is_not_doubted(rows: list[Result]) -> None:
    summaries = summarise(rows)
    assert find_attacks_ahead(summaries) == [] and list_alarms(summaries) == []


def test_an_optimum_that_is_too_low_is_found(rows: list[Result]) -> None:
    """Chains that agree on a worse guess: six records below what the same attacks get."""
    low = [replace(row, best_possible=(row.best_possible or 0.0) - 6.0) for row in rows]
    summaries = summarise(low)
    found = find_attacks_ahead(summaries)
    assert {one.attack for one in found} == {"rap", "posterior"}
    assert all(one.tables == 12 and one.mean > 3 for one in found)
    assert any(
        "records per game more than the best possible" in text
        for text in list_alarms(summarise(low))
    )
    assert find_attacks_ahead(summarise(low[:4])) == []


@pytest.mark.parametrize(("more", "alarm"), [(0.0, False), (7e-15, False), (0.5, True)])
def test_certified_optima_leave_no_luck(rows: list[Result], more: float, alarm: bool) -> None:
    same = [replace(one, beyond_best=dict.fromkeys(range(5), more)) for one in summarise(rows)]
    assert bool(find_attacks_ahead(same)) is alarm


def test_false_alarms_are_as_rare_as_stated(rows: list[Result]) -> None:
    """20,000 suites of two attacks at the optimum: alarms in at most 1 of 1,000, up to 4 sigma."""
    first, second = summarise(rows)
    rng, alarms, suites = np.random.default_rng(5), 0, 20_000
    for luck in rng.binomial(100, 0.6, size=(suites, 2, 8)) - 60.0:
        pair = (replace(first, beyond_best=dict(enumerate(luck[0]))), second)
        pair = (pair[0], replace(second, beyond_best=dict(enumerate(luck[1]))))
        alarms += bool(find_attacks_ahead(pair))
    assert 0 < alarms < suites * 1e-3 + 4 * np.sqrt(suites * 1e-3)
