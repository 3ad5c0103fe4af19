"""Calibration: closed forms, round trips, whole columns, and no answer said out loud."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from reconbench.bounds import (
    Advantage,
    ApproxDP,
    BinaryPriorBound,
    CeilingShare,
    EpsilonFamily,
    GaussianDP,
    GaussianFamily,
    GeneralisedAdvantage,
    NoAnswerError,
    OneTargetBound,
    PureDP,
    Relation,
    ReRoPure,
    Success,
    Theorem35,
    UnifiedBound,
    WorstAdvantage,
    beta,
    calibrate,
    calibration_report,
    count_queries,
    epsilon_protect,
    generalised_advantage,
    laplace_queries,
    laplace_queries_pure,
)


def test_closed_forms() -> None:
    # 1 − f(b) = Φ(Φ⁻¹(b) + μ) = threshold.
    found = calibrate(Success(np.array([0.1])), 0.4, GaussianFamily())
    assert found.value == pytest.approx(float(ndtri(0.4) - ndtri(0.1)), rel=1e-9)
    assert found.sigma(3.0) == pytest.approx(3.0 / found.value)
    # e^ε b = threshold.
    found = calibrate(Success(np.array([0.01]), ReRoPure()), 0.2, EpsilonFamily())
    assert found.value == pytest.approx(math.log(20), rel=1e-9)
    assert found.guarantee == PureDP(found.value)
    # tanh(ε/2) = threshold.
    found = calibrate(WorstAdvantage(), 0.3, EpsilonFamily())
    assert found.value == pytest.approx(2 * math.atanh(0.3), rel=1e-9)
    # b = 1/2, two values: Φ(μ/2).
    found = calibrate(Success(np.array([0.5]), BinaryPriorBound()), 0.7, GaussianFamily())
    assert found.value == pytest.approx(2 * float(ndtri(0.7)), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 0.9), st.floats(0.01, 0.95))
def test_the_answer_keeps_the_threshold_and_a_little_more_does_not(
    baseline: float, threshold: float
) -> None:
    for risk in (Advantage(np.array([baseline])), GeneralisedAdvantage(np.array([baseline]))):
        for family in (EpsilonFamily(1e-6), GaussianFamily()):
            found = calibrate(risk, threshold, family)
            assert found.risk <= threshold
            if math.isinf(found.value):
                continue
            assert found.risk == pytest.approx(threshold, rel=1e-6)
            assert risk(family.guarantee(found.value * (1 + 1e-6))) > threshold


def test_epsilon_protect() -> None:
    assert epsilon_protect(1e-9) == pytest.approx(17.779, abs=5e-4)
    for prior in (1e-6, 0.01, 0.3):
        epsilon = epsilon_protect(prior, delta=1e-5, advantage=0.1)
        reached = float(beta(prior, epsilon)) + 1e-5
        assert float(generalised_advantage(reached, prior)) == pytest.approx(0.1, rel=1e-9)
        # The theorem for every attack weighs δ by 1 − β: a little more room.
        by_theorem = calibrate(
            GeneralisedAdvantage(np.array([prior]), OneTargetBound()), 0.1, EpsilonFamily(1e-5)
        )
        assert epsilon <= by_theorem.value * (1 + 1e-9)
        assert by_theorem.value == pytest.approx(epsilon, rel=0.2)
    assert epsilon_protect(0.0) == math.inf
    assert epsilon_protect(1.0) == math.inf
    with pytest.raises(NoAnswerError, match=r"delta = 0\.1 alone"):
        epsilon_protect(0.5, delta=0.1, advantage=0.05)


def test_a_whole_column() -> None:
    priors = np.array([0.9, 0.5, 0.2, 0.05])
    worst = calibrate(Advantage(priors), 0.1, GaussianFamily())
    each = [calibrate(Advantage(np.array([p])), 0.1, GaussianFamily()).value for p in priors]
    assert worst.value == pytest.approx(min(each), rel=1e-8)
    mean = calibrate(Advantage(priors, mean=True), 0.1, GaussianFamily())
    gains = UnifiedBound().success(priors, GaussianDP(mean.value)) - priors
    assert float(gains.mean()) == pytest.approx(0.1, rel=1e-6)
    assert mean.value > worst.value


def test_a_ceiling_at_a_confidence() -> None:
    priors = np.full(100, 0.56)
    found = calibrate(CeilingShare(priors, 0.95), 0.84, EpsilonFamily(1e-5))
    # At ε = 1 the 95 % ceiling is 84, and it stays there a little beyond.
    assert 1.0 <= found.value < 1.1
    assert Theorem35(priors, ApproxDP(found.value, 1e-5)).ceiling(0.95) == 84
    assert Theorem35(priors, ApproxDP(found.value * (1 + 1e-8), 1e-5)).ceiling(0.95) == 85
    by_mu = calibrate(CeilingShare(priors, 0.95, delta=1e-5), 0.84, GaussianFamily())
    assert GaussianDP(by_mu.value).epsilon_at(1e-5) == pytest.approx(found.value, rel=1e-6)
    with pytest.raises(NoAnswerError, match=r"no epsilon keeps the risk at or below 0\.5"):
        calibrate(CeilingShare(priors, 0.95), 0.5, EpsilonFamily(1e-5))
    sure = calibrate(CeilingShare(priors, 0.95), 1.0, EpsilonFamily(1e-5))
    assert sure.value == math.inf


def test_no_answer_and_every_answer() -> None:
    with pytest.raises(NoAnswerError, match=r"no mu keeps the risk.*it is 0\.3 even as mu goes"):
        calibrate(Success(np.array([0.3])), 0.2, GaussianFamily())
    free = calibrate(Advantage(np.array([0.9])), 0.1, GaussianFamily())
    assert free.value == math.inf
    assert free.risk == pytest.approx(0.1)
    assert json.loads(json.dumps(free.to_json()))["mu"] is None
    assert free.to_json()["unbounded"] is True
    assert free.sigma() == 0.0


def test_stricter_thresholds_and_larger_baselines_mean_less_budget() -> None:
    def epsilon(threshold: float, baseline: float) -> float:
        risk = GeneralisedAdvantage(np.array([baseline]), OneTargetBound())
        return calibrate(risk, threshold, EpsilonFamily(1e-6)).value

    assert epsilon(0.01, 0.1) < epsilon(0.05, 0.1) < epsilon(0.2, 0.1)
    assert epsilon(0.05, 0.5) < epsilon(0.05, 0.1) < epsilon(0.05, 1e-6)


def test_simulated_risk_keeps_the_threshold_and_half_the_noise_does_not() -> None:
    """False-alarm rate 4e-6 a comparison."""
    rng = np.random.default_rng(41)
    trials, threshold = 200_000, 0.75
    found = calibrate(Success(np.array([0.5]), BinaryPriorBound()), threshold, GaussianFamily())
    secret = rng.integers(0, 2, trials)

    def accuracy(sigma: float) -> float:
        return float(np.mean((secret + rng.normal(0, sigma, trials) > 0.5) == secret))

    error = math.sqrt(threshold * (1 - threshold) / trials)
    assert accuracy(found.sigma()) == pytest.approx(threshold, abs=4.5 * error)
    assert accuracy(found.sigma() / 2) > threshold + 4.5 * error


def test_laplace_queries() -> None:
    """Kulynych 2025, appendix G: scale 5, baseline 0.1, advantage at most 0.2."""
    risk = Advantage(np.array([0.1]))
    assert laplace_queries(risk, 0.2, 5.0).queries == 15
    standard = laplace_queries_pure(risk, 0.2, 5.0)
    assert standard.queries == 5
    assert standard.risk == pytest.approx(0.1 * math.e - 0.1)
    assert laplace_queries_pure(risk, 0.2, 0.5).queries == 0


def test_counting_queries() -> None:
    risk = WorstAdvantage()
    count = count_queries(risk, 0.5, lambda k: GaussianDP(0.1 * math.sqrt(k)))
    limit = (2 * float(ndtri(0.75)) / 0.1) ** 2
    assert count.queries == math.floor(limit)
    assert count_queries(risk, 1.0, lambda k: GaussianDP(1.0), most=50).queries == 50


def test_report() -> None:
    report = json.loads(json.dumps(calibration_report(0.05, 1e-9, "generalised-advantage")))
    assert report["epsilon"] == pytest.approx(17.779, abs=0.001)
    assert report["sigma"] == pytest.approx(1 / report["mu"])
    assert max(report["risk"].values()) <= 0.05 and set(report["risk"]) == {"epsilon", "mu"}
    none = calibration_report(0.05, 0.1, "success")
    assert "no epsilon keeps" in none["no_answer"]["epsilon"]
    assert "sigma" not in none and "epsilon" not in none
    with pytest.raises(ValueError, match="measure must be one of success, advantage"):
        calibration_report(0.05, 0.1, "hope")


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"threshold must be in \[0, 1\], got 2"):
        calibrate(WorstAdvantage(), 2.0, GaussianFamily())
    with pytest.raises(ValueError, match="threshold must be"):
        calibrate(WorstAdvantage(), math.nan, GaussianFamily())
    with pytest.raises(ValueError, match="baselines must be a non-empty"):
        Success(np.array([]))
    with pytest.raises(ValueError, match="baselines must be in"):
        Advantage(np.array([1.5]))
    with pytest.raises(ValueError, match="confidence must be strictly between"):
        CeilingShare(np.array([0.5]), confidence=1.0)
    with pytest.raises(ValueError, match="sigma needs a calibrated mu"):
        calibrate(WorstAdvantage(), 0.3, EpsilonFamily()).sigma()
    with pytest.raises(ValueError, match="delta must be"):
        calibrate(WorstAdvantage(), 0.3, EpsilonFamily(delta=1.0))
    with pytest.raises(ValueError, match="replace-one"):
        calibrate(
            Success(np.array([0.1]), OneTargetBound()), 0.3, GaussianFamily(Relation.ADD_REMOVE)
        )
