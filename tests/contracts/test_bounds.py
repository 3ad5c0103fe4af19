"""Every registered bound keeps the contract that `check_bound` states.

Limits, monotonicity, coverage of the best attack and refusal of bad input, on games that are
computed exactly: no false alarms. What is particular to a theorem is tested beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt
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
from reconbench.bounds import (
    CONFIDENCES,
    ApproxDP,
    Bound,
    GaussianDP,
    Guarantee,
    HighProbabilityBound,
    Kind,
    NotApplicable,
    PureDP,
    Relation,
    Targets,
    WholePriors,
    run_tail,
)
from reconbench.bounds.ceilings.base import BestGuessBound

Floats = npt.NDArray[np.float64]


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


MUS = (0.0, 0.05, 0.2, 0.8, 3.0, math.inf)
TAILS = {name: bound for name, bound in BOUNDS.items() if issubclass(bound, HighProbabilityBound)}
FROM_BEST_GUESS = {
    name: bound for name, bound in TAILS.items() if issubclass(bound, BestGuessBound)
}
WHOLE = np.random.default_rng(66).dirichlet(np.ones(5), size=30)


def targets(best: Floats, budget: ApproxDP | PureDP, whole: Floats | None = None) -> Targets:
    """What every bound may ask for, all of the same prior success."""
    priors = WholePriors(best[:, None], 1 - best) if whole is None else WholePriors(whole)
    return Targets(
        best,
        budget,
        guess_success=best,
        runs=(run_tail(best, budget),),
        read_whole_priors=lambda: priors,
        read_misfit_success=lambda: best,
    )


def apply(
    name: str, budget: ApproxDP | PureDP, guarantee: Guarantee
) -> HighProbabilityBound | None:
    """A bound on targets of different priors, or of one prior; None where it takes neither."""
    for whole in (WHOLE, np.tile(WHOLE[0], (30, 1))):
        with suppress(NotApplicable):
            return TAILS[name].apply(targets(whole.max(axis=1), budget, whole), guarantee)
    return None


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize(
    "guarantee",
    [PureDP(0.5), PureDP(1.0), ApproxDP(1.0, 1e-3), GaussianDP(0.3), GaussianDP(1.5)],
    ids=lambda g: g.describe(),
)
def test_tails_fall_and_ceilings_are_what_they_say(name: str, guarantee: Guarantee) -> None:
    """Never increasing, 1 up to v = 0, 0 above n; a ceiling is the smallest v that its tail has."""
    budget = guarantee.to_approx(1e-5) if isinstance(guarantee, GaussianDP) else guarantee
    assert isinstance(budget, PureDP | ApproxDP)
    bound = apply(name, budget, guarantee)
    if bound is None:
        assert not isinstance(guarantee, PureDP)
        return
    n = bound.n
    tails = bound.tail(np.arange(n + 2))
    assert n == 30 and np.all(np.diff(tails) <= 1e-12)
    assert bound.tail([-1.0, 0.0, n + 1e-9, n + 1, 1e9]).tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert bound.tail(2.5) == bound.tail(3) and np.shape(bound.tail([[1, 2]])) == (1, 2)
    for confidence in (0.01, *CONFIDENCES, 0.999):
        v = bound.ceiling(confidence)
        assert tails[v + 1] <= (1 - confidence) * (1 + 1e-9)
        assert v == 0 or tails[v] > (1 - confidence) * (1 - 1e-9)


@pytest.mark.parametrize("name", TAILS)
def test_more_gaussian_leakage_never_lowers_a_tail(name: str) -> None:
    previous = np.zeros(32)
    for mu in MUS:
        guarantee = GaussianDP(mu)
        budget = ApproxDP(max(guarantee.epsilon_at(1e-5), 1e-12), 1e-5)
        bound = apply(name, budget, guarantee)
        if bound is None:
            continue
        tails = bound.tail(np.arange(32))
        assert np.all(tails >= previous * (1 - 1e-9))
        assert math.isfinite(mu) or np.all(tails[:31] == 1)
        previous = tails


@pytest.mark.parametrize("name", TAILS)
def test_impossible_and_certain_targets(name: str) -> None:
    certain = np.eye(3)[np.arange(10) % 3]
    bound = TAILS[name].apply(targets(np.ones(10), PureDP(0.1), certain), PureDP(0.1))
    assert bound.ceiling(0.01) == 10


@pytest.mark.parametrize("name", [*FROM_BEST_GUESS, "thm32", "cor34"])
def test_without_noise_all_that_is_possible(name: str) -> None:
    some_impossible = np.array([0.0, 0.0, 0.1, 0.9, 1.0])
    bound = TAILS[name].apply(targets(some_impossible, PureDP(math.inf)), PureDP(math.inf))
    assert [bound.ceiling(c) for c in (0.01, 0.5, 0.99)] == [3, 3, 3]
    nothing = TAILS[name].apply(targets(np.zeros(10), PureDP(3.0)), PureDP(3.0))
    assert nothing.ceiling(0.999) == 0


@pytest.mark.parametrize("name", TAILS)
def test_bad_confidences_and_thresholds_are_refused(name: str) -> None:
    bound = TAILS[name].apply(targets(np.full(3, 0.5), PureDP(1.0)), PureDP(1.0))
    for bad in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(ValueError, match="confidence must be"):
            bound.ceiling(bad)
    with pytest.raises(ValueError, match="v must be numbers, got nan"):
        bound.tail(math.nan)


@pytest.mark.parametrize("name", BOUNDS)
def test_other_neighbours_are_refused_with_the_conversion(name: str) -> None:
    added = PureDP(1.0, Relation.ADD_REMOVE)
    with pytest.raises(ValueError, match=r"replace-one.*(2·epsilon|as_replace_one)"):
        BOUNDS[name].ceilings(targets(WHOLE.max(axis=1), added, WHOLE), added)


@pytest.mark.parametrize("name", FROM_BEST_GUESS)
def test_bad_prior_successes_are_refused(name: str) -> None:
    build = FROM_BEST_GUESS[name]
    with pytest.raises(ValueError, match="best_prior_success must be a non-empty"):
        build(np.array([]), PureDP(1.0))
    with pytest.raises(ValueError, match=r"best_prior_success must be in \[0, 1\], got nan"):
        build(np.array([math.nan]), PureDP(1.0))


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
    keep = math.e / (math.e + values - 1)
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
