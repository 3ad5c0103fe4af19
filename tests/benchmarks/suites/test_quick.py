"""The suite of `make bench`: its scores separate the attacks and agree with its ceilings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.runner import play_units
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.reports import Leaderboard
from reconbench.reports.leaderboard.checks.alarms import list_alarms


@pytest.fixture(scope="module")
def rows() -> list[Result]:
    return [row for _, _, row in play_units(find_suite("quick").units(), jobs=1)]


def lead(rows: Sequence[Result], epsilon: float | None = None) -> dict[tuple[str, str], float]:
    """The adjusted p-value of every attack that is ahead of another."""
    chosen = [row for row in rows if epsilon in (None, row.epsilon)]
    pairs = Leaderboard.from_summaries(summarise(chosen)).comparisons
    return {(pair.attack, pair.other): pair.adjusted for pair in pairs if pair.is_ahead}


@pytest.mark.slow
def test_five_tables_separate_the_attacks(rows: list[Result]) -> None:
    """Five repetitions are ten tables, so the smallest p is 2/2¹⁰, times three pairs."""
    order = {("posterior", "rap"), ("posterior", "prior"), ("rap", "prior")}
    first = [row for row in rows if row.rep < 5]
    assert set(lead(first)) == set(lead(first, 10.0)) == order
    assert max(lead(first, 10.0).values()) < 0.01
    assert set(lead(rows)) == order


@pytest.mark.slow
def test_scores_and_ceilings_agree(rows: list[Result]) -> None:
    """At ε = 1 the optimum comes close to the ceiling, so chance puts a few means above it; each
    says so."""
    board = Leaderboard.from_summaries(summarise(rows))
    above = []
    for summary, values in zip(board.summaries, board.rows, strict=True):
        most = tightest_mean(summary.ceilings)
        assert summary.expected_success is not None and most is not None
        if summary.expected_success > most + 1e-9:
            above.append(summary)
            assert "above-mean-by-chance" in str(values["flags"]).split()
            assert summary.expected_success_low is not None and summary.expected_success_low < most
        gap = values["gap_closed"]
        assert gap is None or -0.5 < float(gap) < 1.5
    assert len(above) <= 0.05 * len(board.rows)
    assert list_alarms(board.summaries) == []
    assert board.self_check is not None and board.self_check.passed


@pytest.mark.slow
def test_the_optimum_is_between_guess_and_ceiling(rows: list[Result]) -> None:
    for row in rows:
        best, prior, got = row.best_possible, row.expected_baseline, row.expected_successes
        assert best is not None and prior is not None and got is not None
        assert best >= prior and row.best_possible_converged
        if row.scored_by == "sampled posterior":
            errors = (row.best_possible_se or 0.0) + (row.expected_successes_se or 0.0)
            assert got <= best + 6 * errors + 0.5
