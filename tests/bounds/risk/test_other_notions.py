"""Singling out, Narcissus resiliency, unbiased reconstruction, memorisation, leaked bits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    LaplaceDP,
    Narcissus,
    PureDP,
    RandomisedResponse,
    Relation,
    SinglingOut,
    bits_leaked,
    leak_probability,
    memorisation,
    singling_out_approx,
    singling_out_baseline,
    strong_singling_out,
    unbiased_reconstruction,
)


def singling_out_success(values: int, records: int, epsilon: float) -> float:
    """ "Has the value that record 1 reported": P[exactly one record has it], by enumeration."""
    mechanism = RandomisedResponse(values, epsilon)
    total = 0.0
    for table in itertools.product(range(values), repeat=records):
        for report in range(values):
            p = mechanism.truthful if report == table[0] else mechanism.each_other
            total += p * (table.count(report) == 1)
    return float(total / values**records)


@pytest.mark.parametrize(("values", "records"), [(4, 2), (6, 3), (9, 3)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_singling_out_by_enumeration(values: int, records: int, epsilon: float) -> None:
    guarantee, weight = PureDP(epsilon), 1 / values
    truth = singling_out_success(values, records, epsilon)
    bound = float(SinglingOut(records).success(weight, guarantee))
    assert truth <= bound + 1e-12
    assert bound <= float(singling_out_approx(weight, guarantee, records)) + 1e-12
    blind = singling_out_success(values, records, 1e-12)
    assert blind == pytest.approx(float(singling_out_baseline(weight, records)), rel=1e-9)


def test_singling_out_forms_and_a_negative_control() -> None:
    guarantee, n = ApproxDP(1.0, 1e-6), 100
    weights = np.array([0.0, 1e-6, 1e-4, 0.01])
    expected = np.minimum(1.0, n * (math.e * weights + 1e-6))
    np.testing.assert_allclose(singling_out_approx(weights, guarantee, n), expected)
    steep = SinglingOut(n).success(weights[:3], guarantee)
    np.testing.assert_allclose(steep, expected[:3])
    assert np.isnan(SinglingOut(n).success(0.02, guarantee))
    assert float(singling_out_baseline(1.0, 1)) == 1.0
    assert float(singling_out_baseline(0.001, 1_000)) == pytest.approx(0.999**999)
    # Twice the budget on one record of three, many values: the bound for ε is passed.
    broken = singling_out_success(40, 2, 8.0)
    assert broken > float(SinglingOut(2).success(1 / 40, PureDP(2.0)))


@pytest.mark.parametrize("records", [1, 2, 5])
def test_narcissus_for_whole_tables(records: int) -> None:
    """Randomised response, record by record; the property is "the table is exactly this"."""
    values, epsilon = 50, 1.0
    mechanism = RandomisedResponse(values, epsilon)
    baseline = values**-records
    bound = float(Narcissus(records).success(baseline, PureDP(epsilon)))
    assert mechanism.truthful**records <= bound
    half_the_noise = RandomisedResponse(values, 2 * epsilon).truthful ** records
    assert half_the_noise > bound
    by_curve = float(Narcissus(records).success(baseline, mechanism))
    assert by_curve <= bound + 1e-12
    gaussian = float(Narcissus(records).success(0.01, GaussianDP(0.2)))
    assert gaussian == pytest.approx(float(GaussianDP(0.2 * records).power(0.01)))


def test_narcissus_limits() -> None:
    assert float(Narcissus(3).success(0.0, PureDP(1.0))) == 0.0
    assert float(Narcissus(3).success(1.0, PureDP(1.0))) == 1.0
    assert float(Narcissus(10**6).success(0.5, GaussianDP(1.0))) == 1.0
    rising = [float(Narcissus(n).success(0.01, LaplaceDP(0.1))) for n in (1, 2, 4, 8)]
    assert rising == sorted(rising)


def test_unbiased_and_strong_forms_are_the_curve_at_their_own_baselines() -> None:
    guarantee = RandomisedResponse(10, 2.0)
    # Guessing the report: right on a fresh record with probability 1/10, whatever the prior.
    assert guarantee.truthful <= float(unbiased_reconstruction(0.1, guarantee)) + 1e-12
    assert float(unbiased_reconstruction(0.1, guarantee)) == pytest.approx(
        float(guarantee.power(0.1))
    )
    assert strong_singling_out([0.0, 0.1], guarantee, 10).tolist() == pytest.approx(
        guarantee.power([0.0, 0.1]).tolist()
    )


def test_memorisation_is_met_by_the_best_test_and_passed_with_half_the_noise() -> None:
    mu = 1.0
    limit = float(memorisation(GaussianDP(mu)))
    # Reject above μ/2: in-sample rate Φ(μ/2), out-of-sample rate Φ(−μ/2).
    assert ndtr(mu / 2) - ndtr(-mu / 2) == pytest.approx(limit, rel=1e-12)
    assert ndtr(mu) - ndtr(-mu) > limit
    given = memorisation(GaussianDP(mu), [0.0, float(ndtr(-mu / 2)), 1.0])
    assert given.tolist() == pytest.approx([0.0, limit, 0.0])
    assert np.all(memorisation(GaussianDP(mu), np.linspace(0, 1, 99)) <= limit + 1e-12)


def test_bits() -> None:
    assert leak_probability(0.0, 1.0) == 1.0
    assert leak_probability(1.0, 1.0) == pytest.approx(RandomisedResponse(2, 1.0).truthful)
    assert leak_probability(5.0, 0.0) == pytest.approx(1 / 32)
    for epsilon in (0.0, 1.0, 17.0, 800.0):
        for alpha in (1e-9, 0.05, 0.9):
            assert leak_probability(bits_leaked(alpha, epsilon), epsilon) == pytest.approx(alpha)
    # ε = 17 against 9 digits: printed as "very low".
    assert leak_probability(9 * math.log2(10), 17.0) == pytest.approx(0.0236, abs=5e-5)
    grows = [bits_leaked(0.05, epsilon) for epsilon in (0.0, 0.5, 2.0, 10.0)]
    assert grows == sorted(grows)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"weight must be at most 0\.01"):
        singling_out_approx(0.5, PureDP(1.0), 100)
    with pytest.raises(ValueError, match="records must be an integer >= 1, got 0"):
        Narcissus(0)
    with pytest.raises(ValueError, match="records must be an integer"):
        SinglingOut(2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="probability must be strictly between"):
        bits_leaked(0.0, 1.0)
    with pytest.raises(ValueError, match="bits must be >= 0"):
        leak_probability(-1.0, 1.0)
    with pytest.raises(ValueError, match="out_of_sample must be in"):
        memorisation(PureDP(1.0), 1.5)
    added = PureDP(1.0, Relation.ADD_REMOVE)
    calls: list[Callable[[], object]] = [
        lambda: Narcissus(2).success(0.1, added),
        lambda: SinglingOut(2).success(0.1, added),
        lambda: singling_out_approx(0.1, added, 2),
        lambda: unbiased_reconstruction(0.1, added),
        lambda: memorisation(added),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"replace-one.*as_replace_one"):
            call()
