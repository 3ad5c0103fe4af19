"""What the suite promises of its games, checked over many of them."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from scipy.stats import binom

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.runner import one_thread
from reconbench.bounds import ApproxDP, theorem_3_5

COLUMNS = (
    ("acs", "SEX"),
    ("acs", "AGEP"),
    ("fire", "ALS Unit"),
    ("fire", "Zipcode of Incident"),
)


def test_ceilings_of_the_papers_sex_column() -> None:
    """100 targets of prior 0.56 at ε = 1, δ = 1e-5: the paper prints 84 at 95 %."""
    ceilings = theorem_3_5(np.full(100, 0.56), ApproxDP(1.0, 1e-5))
    assert ceilings == {0.05: 71, 0.5: 78, 0.95: 84}


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "column"), [("acs", "SEX"), ("fire", "ALS Unit")])
def test_rap_reconstructs_without_noise(dataset: str, column: str) -> None:
    with one_thread():
        found = [
            play(Round.draw(Game(dataset, (column,), inf, rep=rep)), AttackSpec("rap")).successes
            for rep in range(10)
        ]
    assert np.mean([count for count in found if count is not None]) >= 95 and len(found) == 10


def above(rows: list[Result], bound: str, confidence: str) -> int:
    return sum((row.successes or 0) > row.ceilings[bound][confidence] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 10.0])
def test_no_ceiling_is_passed_more_often_than_it_allows(epsilon: float) -> None:
    """200 runs at each ε, 800 in all, for every ceiling that a run stores.

    At confidence c at most a share 1 − c of runs may pass: more than the 1e-9 quantile of the
    binomial is a false alarm with probability below 1e-9. At 95 % the plain share of 5 % is asked
    for as well. The mean success may exceed a mean ceiling by 6 standard errors (1e-9) at most.
    """
    with one_thread():
        rows = [
            play(Round.draw(Game(dataset, (column,), epsilon, rep=rep)), AttackSpec("rap"))
            for dataset, column in COLUMNS
            for rep in range(50)
        ]
    for bound in ("thm35", "profile", "fdp-recursion"):
        for confidence in ("0.05", "0.5", "0.95"):
            allowed = binom.isf(1e-9, len(rows), 1 - float(confidence))
            assert above(rows, bound, confidence) <= allowed, (bound, confidence)
        assert above(rows, bound, "0.95") <= 0.05 * len(rows), bound
    for bound in ("mean", "prior-exact"):
        gaps = np.array([(row.successes or 0) - row.ceilings[bound]["mean"] for row in rows])
        assert gaps.mean() <= 6 * gaps.std(ddof=1) / np.sqrt(len(rows)), bound


def test_a_broken_mechanism_is_caught() -> None:
    """Negative control: exact marginals that claim ε = 1 are reconstructed past the ceiling."""
    rows = []
    for rep in range(4):
        honest = Round.draw(Game("acs", ("SEX",), 1.0, rep=rep))
        noiseless = Round.draw(replace(honest.game, epsilon=inf))
        claimed = replace(honest, view=replace(noiseless.view, mechanism=noiseless.mechanism))
        rows.append(play(claimed, AttackSpec("rap", {"steps": 500, "stopping": "steps"})))
    for bound in ("thm35", "profile", "fdp-recursion"):
        assert above(rows, bound, "0.95") == len(rows)
    assert all((row.successes or 0) > row.ceilings["prior-exact"]["mean"] + 10 for row in rows)
