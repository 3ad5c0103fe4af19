"""RAD audits: inversion against the paper and by enumeration, exact coverage, null, limits."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from reconbench.bounds.audit import (
    AUDITS,
    Counted,
    Known,
    MeasuredRad,
    audit_black_box,
    audit_grr,
    audit_oue,
    audit_ss,
)

ZIPF = np.array([0.55, 0.2, 0.12, 0.08, 0.05])
MILLION = 10**6


def exactly(gamma: float) -> MeasuredRad:
    """An advantage known without error."""
    return MeasuredRad(Known(max(gamma, 0.0)), Known(max(-gamma, 0.0)))


def channel(name: str, epsilon: float, m: int) -> np.ndarray:
    """P(output | value), one row an output, from the definitions of the three clients."""
    e = math.exp(epsilon)
    if name == "grr":
        return np.where(np.eye(m) > 0, e, 1) / (e + m - 1)
    if name == "oue":
        q = 1 / (e + 1)
        outputs = np.array(list(product((0, 1), repeat=m)))
        chances = np.where(outputs, q, 1 - q)
        return np.asarray(chances.prod(axis=1, keepdims=True) * 0.5 / chances)
    w = max(1, math.floor(m / (e + 1)))
    inside = np.array([[z in s for z in range(m)] for s in combinations(range(m), w)])
    p = w * e / (w * e + m - w)
    return np.where(inside, p / math.comb(m - 1, w - 1), (1 - p) / math.comb(m - 1, w))


def listed_rad(name: str, epsilon: float, prior: np.ndarray) -> float:
    """Theorem 4.3 for exact match without auxiliary knowledge, Eq. 6, output by output."""
    likelihood = channel(name, epsilon, prior.size)
    assert likelihood.sum(axis=0) == pytest.approx(1)
    weight = (likelihood - (likelihood @ prior)[:, None]) * prior
    return float(weight.max(axis=1).sum())


@pytest.mark.parametrize("prior", [np.full(5, 0.2), np.full(8, 0.125), ZIPF], ids=len)
@pytest.mark.parametrize("name", AUDITS)
def test_inversion_of_the_enumerated_advantage(name: str, prior: np.ndarray) -> None:
    for epsilon in (0.05, 0.7, 1.7, 3.0, 6.0):
        found = AUDITS[name](prior).audit(exactly(listed_rad(name, epsilon, prior)))
        assert found.lower <= epsilon + 1e-7 and found.upper >= epsilon - 1e-7
        if name != "ss":
            assert found.estimate == pytest.approx(epsilon, abs=1e-7)


def test_ends_enclose_every_epsilon_of_one_advantage() -> None:
    """Subset selection under a skewed prior: the advantage falls where the subset shrinks."""
    prior = np.array([0.671, 0.316, 0.013, 0.0, 0.0, 0.0])
    grid = np.linspace(0.01, 4, 400)
    rad = np.array([listed_rad("ss", float(e), prior) for e in grid])
    assert (np.diff(rad) < -0.01).any()
    for gamma in (0.05, 0.1, 0.15, 0.2):
        found = audit_ss(prior).audit(exactly(gamma))
        passing = grid[rad >= gamma]
        below = grid[rad <= gamma]
        assert found.lower == pytest.approx(passing[0], abs=0.011)
        assert found.upper == pytest.approx(below[-1], abs=0.011)


@pytest.mark.parametrize("subset", [1, 2, 5])
def test_known_subsets_belong_to_one_epsilon(subset: int) -> None:
    """Subsets of any size, enumerated; the usual one at these ε is 3, 1 and 1 of 6 values."""
    prior = np.array([0.671, 0.316, 0.013, 0.0, 0.0, 0.0])
    inside = np.array([[z in s for z in range(6)] for s in combinations(range(6), subset)])
    for epsilon in (0.0, 1.0, 3.0):
        levels = np.where(inside, math.exp(epsilon), 1.0)
        likelihood = levels / levels.sum(axis=0)
        weight = (likelihood - (likelihood @ prior)[:, None]) * prior
        found = audit_ss(prior, subset).audit(exactly(float(weight.max(axis=1).sum())))
        assert found.lower == pytest.approx(epsilon, abs=1e-9)
        assert found.upper == pytest.approx(epsilon, abs=1e-9)
    # Five of six values name the two likely ones too often to tell them apart well.
    assert math.isinf(audit_ss(prior, 5).audit(exactly(0.3)).lower)
    with pytest.raises(ValueError, match="subset must be between 1 and 5"):
        audit_ss(prior, 6)


@pytest.mark.parametrize("m", [2, 10, pytest.param(3052, marks=pytest.mark.slow)])
def test_uniform_inversions_equal_the_printed_forms(m: int) -> None:
    """Eq. 12, which GRR's own inverse equals, and Examples 4.5 and 4.6, in 50 digits."""
    with mpmath.workdps(50):
        for epsilon in (0.5, 3.0, 9.0, 14.0):
            e = mpmath.exp(epsilon)
            grr = (e - 1) / (e + m - 1) * (m - 1) / m
            printed = mpmath.log((grr * m + 1) / (1 - grr * m / (m - 1)))
            assert float(printed) == pytest.approx(epsilon, abs=1e-30)
            for audit in (audit_grr(m), audit_black_box(m)):
                assert audit.audit(exactly(float(grr))).estimate == pytest.approx(epsilon, abs=1e-7)
            p = e / (1 + e)
            oue = (2 * p - 1) * (1 - p ** (m - 1)) / (2 * m * (1 - p))
            # Its slope falls to 1e-7 and less at large ε for small m: the advantage saturates.
            found = audit_oue(m).audit(exactly(float(oue))).estimate
            assert found == pytest.approx(epsilon, abs=1e-5)
            w = max(1, math.floor(m / (math.exp(epsilon) + 1)))
            p = w * e / (w * e + m - w)
            found_ss = audit_ss(m).audit(exactly(float((p * m - w) / (m * w))))
            assert found_ss.estimate == pytest.approx(epsilon, abs=1e-7)


def test_half_of_the_budget_goes_to_either_world_that_needs_it() -> None:
    real, replaced = Counted(80, 100), Counted(20, 90)
    low, high = MeasuredRad(real, replaced).interval(0.96)
    assert low == real.lower(0.01) - replaced.upper(0.01)
    assert high == real.upper(0.01) - replaced.lower(0.01)
    assert MeasuredRad(real, Known(0.1)).interval(0.96)[0] == real.lower(0.02) - 0.1


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 2), (10, 10), (25, 40)])
def test_the_interval_covers_exactly(n: int, k: int) -> None:
    """Every outcome enumerated: independent worlds, and worlds that share every trial's luck."""
    x, y = np.arange(n + 1), np.arange(k + 1)
    for confidence in (0.5, 0.9, 0.99):
        ends = np.array(
            [
                [
                    MeasuredRad(Counted(int(a), n), Counted(int(b), k)).interval(confidence)
                    for b in y
                ]
                for a in x
            ]
        )
        for s1, s0 in product((0.0, 0.03, 0.5, 0.8, 1.0), repeat=2):
            chance = np.outer(binom.pmf(x, n, s1), binom.pmf(y, k, s0))
            below, above = ends[..., 0] > s1 - s0 + 1e-12, ends[..., 1] < s1 - s0 - 1e-12
            assert chance[below].sum() <= (1 - confidence) / 2 + 1e-12
            assert chance[above].sum() <= (1 - confidence) / 2 + 1e-12
        if n == k:
            for s in (0.1, 0.5):  # the same trials in both worlds: the advantage is 0
                same = np.asarray(binom.pmf(x, n, s))
                both = ends[x, x]
                assert same[both[:, 0] > 0].sum() <= (1 - confidence) / 2 + 1e-12


@pytest.mark.parametrize("m", [2, 7, 100])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_epsilon_is_covered_exactly_in_small_samples(m: int, n: int) -> None:
    """GRR with the optimal attack, by enumeration of the hits."""
    x = np.arange(n + 1)
    found = [audit_grr(m).audit(MeasuredRad(Counted(int(k), n), Known(1 / m)), 0.9) for k in x]
    blind = [
        audit_black_box(m).audit(MeasuredRad(Counted(int(k), n), Known(1 / m)), 0.9) for k in x
    ]
    for epsilon in (0.0, 0.3, 1.0, 4.0, 10.0):
        hit = 1 / (1 + (m - 1) * math.exp(-epsilon))
        chance = binom.pmf(x, n, hit)
        above = np.array([each.lower > epsilon + 1e-9 for each in found])
        under = np.array([each.upper < epsilon - 1e-9 for each in found])
        assert chance[above].sum() <= 0.05 + 1e-12 and chance[under].sum() <= 0.05 + 1e-12
        assert chance[[each.lower > epsilon + 1e-9 for each in blind]].sum() <= 0.05 + 1e-12


@pytest.mark.parametrize("m", [2, 10, pytest.param(3052, marks=pytest.mark.slow)])
def test_chance_level_and_reversed_guesses_show_nothing(m: int) -> None:
    for n in (m,) if m > 1000 else (m, 10 * m, 1000 * m):
        for hits in (n // m, n // (2 * m), 0):
            for replaced in (Known(1 / m), Counted(n // m, n)):
                measured = MeasuredRad(Counted(hits, n), replaced)
                for audit in (audit_black_box(m), *(make(m) for make in AUDITS.values())):
                    assert audit.audit(measured).lower == 0
    # Attacks that are wrong on purpose have a negative advantage: no leakage either.
    assert audit_grr(m).audit(MeasuredRad(Counted(0, 50), Counted(50, 50))).estimate == 0


def test_saturation_is_infinite_above_and_finite_below() -> None:
    for audit in (audit_grr(3052), audit_ss(3052)):
        found = audit.audit(MeasuredRad(Counted(MILLION, MILLION), Known(1 / 3052)))
        assert math.isinf(found.upper) and math.isinf(found.estimate)
        assert 20 < found.lower < 21
    # OUE reveals the value half the time at most: half of the trials say nothing about ε.
    found = audit_oue(3052).audit(MeasuredRad(Counted(500_000, MILLION), Known(1 / 3052)))
    assert math.isinf(found.upper) and found.lower > 10


def test_more_hits_and_more_trials_never_say_less() -> None:
    m = 50
    found = [audit_grr(m).audit(MeasuredRad(Counted(k, 200), Known(1 / m))) for k in range(201)]
    assert np.all(np.diff([each.lower for each in found]) >= 0)
    assert all(a.upper <= b.upper for a, b in pairwise(found))
    lows = [
        audit_black_box(m).audit(MeasuredRad(Counted(n // 2, n), Known(1 / m))).lower
        for n in (10, 100, 1000, MILLION)
    ]
    assert np.all(np.diff(lows) > 0)


def test_delta_lowers_the_black_box_bound() -> None:
    measured = MeasuredRad(Counted(600, 1000), Known(0.1))
    lows = [audit_black_box(10, delta).audit(measured).lower for delta in (0.0, 1e-5, 0.05, 0.6)]
    assert np.all(np.diff(lows) < 0) and lows[-1] == 0
    assert lows[0] - lows[1] < 1e-3


def test_bad_input_is_refused() -> None:
    for prior in (1, [1.0], [0.5, 0.4], [0.5, -0.1, 0.6]):
        with pytest.raises(ValueError, match="prior"):
            audit_grr(prior)
    with pytest.raises(ValueError, match="delta"):
        audit_black_box(10, 1.0)
    with pytest.raises(ValueError, match="confidence"):
        audit_grr(10).audit(exactly(0.1), 1.0)
