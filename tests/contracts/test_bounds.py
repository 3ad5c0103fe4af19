"""Every registered bound keeps the contract that `check_bound` states.

Limits, monotonicity, coverage of the best attack and refusal of bad input, on games that are
computed exactly: no false alarms. What is particular to a theorem is tested beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy.stats import binom

from reconbench.benchmarks.plugins.bounds import find_bounds, shipped_bounds
from reconbench.benchmarks.plugins.check_bound import (
    CHECKS,
    Candidate,
    SmallGame,
    check_class,
    run_check,
)
from reconbench.benchmarks.plugins.registry import get_entries
from reconbench.bounds import CONFIDENCES, Bound, Guarantee, Kind, NotApplicable, Targets

# All that are installed, also those of other packages.
BOUNDS = {each.name: each.bound for each in find_bounds() if each.bound is not None}


def test_every_entry_point_is_a_bound_that_loads() -> None:
    assert set(get_entries("bound")) <= {each.name for each in find_bounds()}
    assert [each.error for each in find_bounds() if each.error] == []


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", BOUNDS)
def test_a_registered_bound_passes(name: str, check: str) -> None:
    seen = run_check(check, Candidate(BOUNDS[name]))
    assert seen.passed, seen.detail


@pytest.mark.parametrize("name", shipped_bounds())
def test_the_same_bound_ten_percent_lower_fails(name: str) -> None:
    """The negative control: none of our bounds is so loose that the kit would miss it."""
    honest = BOUNDS[name]

    class TooLow(honest):  # type: ignore[misc, valid-type]
        @classmethod
        def ceilings(
            cls, targets: Targets, guarantee: Guarantee, confidences: Sequence[float] = CONFIDENCES
        ) -> Mapping[str, float]:
            found = honest.ceilings(targets, guarantee, confidences)
            return {level: 0.9 * value for level, value in found.items()}

    failed = {check.name for check in check_class(TooLow) if check.passed is False}
    assert {"covers the best attack", "all records without noise"} <= failed


@pytest.mark.parametrize("name", BOUNDS)
def test_confidences_in_any_number_and_order(name: str) -> None:
    game = SmallGame(20, 0.5, 2)
    levels = (0.99, 0.2, 0.5)
    found = BOUNDS[name].ceilings(game.targets, game.guarantee, levels)
    if BOUNDS[name].kind is Kind.MEAN:
        assert set(found) == {"mean"}
    else:
        assert list(found) == ["0.99", "0.2", "0.5"]
        assert found["0.2"] <= found["0.5"] <= found["0.99"] <= 20


def test_targets_refuse_what_is_no_probability() -> None:
    game = SmallGame()
    for bad in ([1.5], [np.nan], [-0.1]):
        with pytest.raises(ValueError, match=r"best_prior_success must be in \[0, 1\]"):
            Targets(np.array(bad), game.guarantee)
    with pytest.raises(NotApplicable, match="whole priors"):
        _ = Targets(np.array([0.5]), game.guarantee).whole_priors
    with pytest.raises(NotApplicable, match="no attack"):
        _ = Targets(np.array([0.5]), game.guarantee).own_guess_success


@pytest.mark.parametrize(("top", "values", "delta"), [(0.5, 2, 0.0), (0.6, 2, 0.0), (0.4, 4, 0.01)])
def test_the_best_attack_of_the_small_game_by_simulation(
    top: float, values: int, delta: float
) -> None:
    """The kit's exact success against a simulation that shares no code; false alarms: 1e-6."""
    game = SmallGame(1, top, values, 1.0, delta)
    rng, runs = np.random.default_rng(0), 200_000
    truth = rng.choice(values, size=runs, p=game.prior)
    keep = np.e / (np.e + values - 1)
    other = (truth + rng.integers(1, values, runs)) % values
    report = np.where(rng.random(runs) < keep, truth, other)
    posterior = game.prior[:, None] * np.where(
        np.eye(values, dtype=bool), keep, (1 - keep) / (values - 1)
    )
    guess = np.where(rng.random(runs) < delta, truth, posterior.argmax(axis=0)[report])
    right = int((guess == truth).sum())
    assert binom.cdf(right, runs, game.success) > 5e-7
    assert binom.sf(right - 1, runs, game.success) > 5e-7


def test_a_class_that_is_no_bound_is_refused() -> None:
    class NoCeilings(Bound):
        name = "none"

    with pytest.raises(TypeError, match="abstract"):
        NoCeilings()  # type: ignore[abstract]
