"""LiRA: the size of its test, the paper's sign, and the cost-saving measurement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binomtest, ncx2, norm

from reconbench.attacks.membership import (
    MembershipError,
    Normal,
    OneByOne,
    decide,
    decide_by_each_other,
    measure,
    measure_fast,
    measure_split,
)

TRIALS = 40_000
# Two-sided, for each of the binomial checks below; there are some 60 of them.
FALSE_ALARM = 1e-6
PAIRS = [
    (0.0, 1.0, 1.0, 0.5),
    (0.0, 1.0, -1.0, 0.5),
    (0.0, 1.0, 1.0, 2.0),
    (0.0, 1.0, -1.0, 2.0),
    (0.0, 1.0, 0.0, 2.0),
    (0.0, 1.0, 0.0, 0.5),
    (3.0, 1e-3, 2.9, 1e-3),
    (0.0, 1.0, 0.5, 1 + 1e-9),
    (0.0, 1.0, -0.5, 1 - 1e-9),
    (0.0, 1.0, 0.0, 1.0),
]


def normal(mean: float, sd: float) -> Normal:
    return Normal(np.array(mean), np.array(sd))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("level", [0.01, 0.1, 0.9])
def test_the_size_is_the_level(pair: tuple[float, ...], level: float) -> None:
    rng = np.random.default_rng(1)
    losses = rng.normal(pair[0], pair[1], TRIALS)
    found = decide(losses, normal(*pair[:2]), normal(*pair[2:]), level, rng)
    assert binomtest(int(found.sum()), TRIALS, level).pvalue > FALSE_ALARM


def test_the_printed_sign_keeps_the_size_and_loses_the_power() -> None:
    """(ℓ + R)² with R = +c, as printed, looks on the wrong side of zero; R = −c does not."""
    rng = np.random.default_rng(2)
    mean0, sd0, mean1, sd1 = 2.0, 1.0, 3.0, 0.5
    centre = (mean0 / sd0**2 - mean1 / sd1**2) / (1 / sd0**2 - 1 / sd1**2)
    out, in_ = rng.normal(mean0, sd0, TRIALS), rng.normal(mean1, sd1, TRIALS)

    def rejected(losses: npt.NDArray[np.float64], r: float) -> float:
        delta = mean0 / sd0 + r / sd0
        return float(np.mean((losses + r) ** 2 <= sd0**2 * ncx2.ppf(0.1, 1, delta**2)))

    for r in (centre, -centre):
        assert rejected(out, r) == pytest.approx(0.1, abs=0.01)
    assert rejected(in_, centre) < 0.001
    ours = decide(in_, normal(mean0, sd0), normal(mean1, sd1), 0.1, rng).mean()
    assert ours == pytest.approx(rejected(in_, -centre), abs=1e-9) and ours > 0.3


@pytest.mark.parametrize("pair", PAIRS[:6])
def test_decisions_are_those_of_the_chi_squared_form(pair: tuple[float, ...]) -> None:
    mean0, sd0, mean1, sd1 = pair
    rng = np.random.default_rng(3)
    losses = rng.normal(mean0, 3 * sd0, 2_000)
    centre = (mean0 / sd0**2 - mean1 / sd1**2) / (1 / sd0**2 - 1 / sd1**2)
    far = (losses - centre) ** 2 / sd0**2
    off = ((mean0 - centre) / sd0) ** 2
    expected = far <= ncx2.ppf(0.1, 1, off) if sd0 > sd1 else far >= ncx2.ppf(0.9, 1, off)
    assert (decide(losses, normal(*pair[:2]), normal(*pair[2:]), 0.1, rng) == expected).all()


def test_no_test_of_the_same_size_has_more_power() -> None:
    """Neyman and Pearson: against one-sided thresholds of the same level on either side."""
    rng = np.random.default_rng(4)
    for mean0, sd0, mean1, sd1 in PAIRS[:6]:
        taken = rng.normal(mean1, sd1, TRIALS)
        power = decide(taken, normal(mean0, sd0), normal(mean1, sd1), 0.1, rng).mean()
        for sign in (1, -1):
            threshold = sign * (taken - mean0) / sd0 > norm.isf(0.1)
            assert power >= threshold.mean() - 4 * 0.5 / np.sqrt(TRIALS)


def test_losses_without_spread_decide_for_certain() -> None:
    """Training without any randomness: a difference shows, none is a guess."""
    rng = np.random.default_rng(5)
    apart = decide_by_each_other(np.full(50, 1.0), np.full(50, 0.9), (0.1,), rng)
    assert (apart.false_positives, apart.false_negatives) == ((0,), (0,))
    same = decide_by_each_other(np.full(4_000, 1.0), np.full(4_000, 1.0), (0.1,), rng)
    assert binomtest(same.false_positives[0], 4_000, 0.1).pvalue > FALSE_ALARM
    assert binomtest(same.false_negatives[0], 4_000, 0.9).pvalue > FALSE_ALARM


def test_leaving_one_out_is_fitting_the_others() -> None:
    losses = np.random.default_rng(6).normal(1e3, 1, 20)
    found = Normal.fit_without_each(losses)
    for j in range(20):
        others = np.delete(losses, j)
        assert found.mean[j] == pytest.approx(others.mean(), rel=1e-13)
        assert found.sd[j] == pytest.approx(others.std(ddof=1), rel=1e-9)


def gaussian_mean(noise: float) -> OneByOne[npt.NDArray[np.float64], float]:
    """Releases the sum of the data with noise; the loss of a record pulls towards it."""
    return OneByOne(
        train=lambda data, rng: float(data.sum() + rng.normal(0, noise)),
        loss=lambda model, record: -model * float(record[0]),
    )


def test_both_measurements_find_the_errors_of_the_optimal_test() -> None:
    """Gaussian noise of sd 1 on a sum that the record moves by 2: power Φ(2 − z)."""
    rng = np.random.default_rng(7)
    data, record = np.zeros(1), np.array([2.0])
    both = np.concatenate([data, record])
    trainer = gaussian_mean(1.0)
    levels = (0.1, 0.3)
    fast = measure_fast(trainer, data, both, record, challenges=4_000, levels=levels, rng=rng)
    slow = measure(trainer, data, both, record, challenges=300, shadows=200, levels=levels, rng=rng)
    split = measure_split(
        trainer, data, both, record, challenges=4_000, shadows=4_000, levels=levels, rng=rng
    )
    for found, allowed in ((fast, 0.03), (slow, 0.09), (split, 0.04)):
        for place, level in enumerate(levels):
            missed = norm.cdf(norm.isf(level) - 2.0)
            assert found.false_positives[place] / found.out == pytest.approx(level, abs=allowed)
            assert found.false_negatives[place] / found.in_ == pytest.approx(missed, abs=allowed)


def test_decisions_of_a_learnt_test_are_binomial_and_those_of_cross_feeding_are_not() -> None:
    """The spread of error counts over repetitions, against that of the binomial."""
    rng = np.random.default_rng(10)
    out, in_ = rng.normal(0, 1, (2_000, 40)), rng.normal(1, 1, (2_000, 40))
    learnt = Normal(np.array(0.1), np.array(1.1)), Normal(np.array(0.9), np.array(0.9))
    fixed = [int(decide(each, *learnt, 0.1, rng).sum()) for each in out]
    rate = float(np.mean(fixed)) / 40
    assert np.var(fixed) == pytest.approx(40 * rate * (1 - rate), rel=0.15)
    fed = [
        decide_by_each_other(a, b, (0.1,), rng).false_positives[0]
        for a, b in zip(out, in_, strict=True)
    ]
    rate = float(np.mean(fed)) / 40
    assert np.var(fed) != pytest.approx(40 * rate * (1 - rate), rel=0.3)


def test_without_a_trace_the_attack_is_at_chance() -> None:
    rng = np.random.default_rng(8)
    data, record = np.zeros(1), np.zeros(1)
    found = measure_fast(
        gaussian_mean(1.0), data, data, record, challenges=2_000, levels=(0.1,), rng=rng
    )
    errors = (found.false_positives[0] + found.false_negatives[0]) / 2_000
    assert errors == pytest.approx(1.0, abs=0.08)


def test_what_cannot_be_measured_is_said() -> None:
    rng = np.random.default_rng(9)
    with pytest.raises(MembershipError, match="level must be strictly between 0 and 1, got 1"):
        decide(0.0, normal(0, 1), normal(1, 1), 1.0, rng)
    with pytest.raises(MembershipError, match="3 models or more"):
        decide_by_each_other(np.zeros(2), np.zeros(2), (0.1,), rng)
    with pytest.raises(MembershipError, match="training went astray"):
        decide_by_each_other(np.array([0.0, np.nan, 1.0]), np.zeros(3), (0.1,), rng)
