"""Corollary 3.4 from few runs: its standard error, and ceilings that allow for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import ApproxDP, CompactTail, Corollary34, PureDP, run_tail

FloatArray = NDArray[np.float64]
GUARANTEE = ApproxDP(1.0, 1e-5)
GAMES = 250


RUNS = [run_tail(np.full(30, p), GUARANTEE) for p in (0.1, 0.4, 0.7)]


def draw_run(rng: np.random.Generator) -> CompactTail:
    """Guesses whose prior success varies a lot from run to run."""
    return RUNS[rng.integers(3)]


def test_standard_error_is_that_of_a_mean() -> None:
    rng = np.random.default_rng(80)
    runs = [draw_run(rng) for _ in range(12)]
    bound = Corollary34(runs, GUARANTEE)
    v = np.arange(1, 31)
    tails = np.array([run.tail(v) for run in runs])
    np.testing.assert_allclose(
        bound.standard_error(v), tails.std(axis=0, ddof=1) / math.sqrt(12), rtol=1e-12
    )
    assert float(Corollary34(runs[:1], GUARANTEE).standard_error(5)) == math.inf
    assert float(Corollary34([runs[0]] * 5, GUARANTEE).standard_error(5)) == pytest.approx(0)


def test_upper_tail_closed_form() -> None:
    # A mean of 0 over R runs: KL(0 ‖ p) = −ln(1 − p), so p = 1 − error^(1/R).
    runs = [CompactTail(4, 1, (0.0,))] * 50
    bound = Corollary34(runs, PureDP(1.0))
    assert float(bound.upper_tail(2, 0.05)) == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-9)
    assert bound.upper_tail([0, 5], 0.05).tolist() == [1.0, 0.0]
    certain = Corollary34([CompactTail(4, 5, ())], PureDP(1.0))
    assert certain.upper_tail(4, 0.5) == 1.0


def test_it_is_too_low_as_rarely_as_promised_and_the_plain_mean_is_not() -> None:
    rng = np.random.default_rng(81)
    expected = Corollary34(RUNS, GUARANTEE)
    for confidence, error in ((0.5, 0.1), (0.95, 0.1)):
        truth = expected.ceiling(confidence)
        bounds = [Corollary34([draw_run(rng) for _ in range(10)], GUARANTEE) for _ in range(GAMES)]
        low = np.mean([bound.safe_ceiling(confidence, error) < truth for bound in bounds])
        # A false alarm of 4.5 standard errors.
        assert low <= error + 4.5 * math.sqrt(error * (1 - error) / GAMES)
        assert np.mean([bound.ceiling(confidence) < truth for bound in bounds]) > 0.25


def test_it_comes_down_to_the_mean_with_more_runs() -> None:
    rng = np.random.default_rng(82)
    runs = [draw_run(rng) for _ in range(1500)]
    gaps = []
    for count in (1, 10, 100, 1500):
        bound = Corollary34(runs[:count], GUARANTEE)
        gaps.append(bound.safe_ceiling(0.9) - bound.ceiling(0.9))
        assert np.all(bound.upper_tail(np.arange(31)) >= bound.tail(np.arange(31)))
        assert bound.safe_ceiling(0.9, 1e-6) >= bound.safe_ceiling(0.9, 0.2)
    assert gaps[0] > 0
    assert 0 <= gaps[-1] <= 2


def test_bad_input_is_refused() -> None:
    bound = Corollary34([CompactTail(4, 1, (0.5,))], PureDP(1.0))
    with pytest.raises(ValueError, match="error must be strictly between 0 and 1"):
        bound.safe_ceiling(0.5, 0.0)
    with pytest.raises(ValueError, match="confidence must be"):
        bound.safe_ceiling(1.0)
