"""Calibration: closed forms, round trips, whole columns, and no answer said out loud."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

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
    PriorExact,
    PureDP,
    Relation,
    ReRoPure,
    SharpestBound,
    Success,
    Theorem35,
    UnifiedBound,
    WorstAdvantage,
    as_replace_one,
    beta,
    calibrate,
    calibration_report,
    count_queries,
    epsilon_protect,
    generalised_advantage,
    laplace_queries,
    laplace_queries_pure,
)
from reconbench.bounds.guarantees.guarantee import stated_pair

ADD = Relation.ADD_REMOVE


def test_closed_forms() -> None:
    # 1 − f(b) = Φ(Φ⁻¹(b) + μ) = threshold.
    found = calibrate(Success(np.array([0.1]), UnifiedBound()), 0.4, GaussianFamily())
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


@settings(max_examples=25, deadline=None)
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
    gains = SharpestBound().success(priors, GaussianDP(mean.value)) - priors
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
    risk = Advantage(np.array([0.1]), UnifiedBound())
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


def gaussian_accuracy(sigma: float, distance: float, prior: float = 0.5) -> float:
    """The best guess of one of two values, `distance` apart, behind Gaussian noise: exact."""
    mu, odds = distance / sigma, math.log(prior / (1 - prior))
    hit, miss = float(ndtr(mu / 2 + odds / mu)), float(ndtr(mu / 2 - odds / mu))
    return prior * hit + (1 - prior) * miss


@pytest.mark.parametrize("baseline", [0.5, 0.7])
def test_noise_for_add_remove_keeps_the_risk_in_truth(baseline: float) -> None:
    """A sum of values in [−1, 1]: one record adds at most 1, replacing one moves it by up to 2."""
    limit = 0.191463 if baseline == 0.5 else 0.05
    report = calibration_report(limit, baseline, relation="add-remove")
    assert report["relation"] == "add-or-remove-one" and set(report["bound"]) == {"epsilon", "mu"}
    assert gaussian_accuracy(report["sigma"], 2.0, baseline) - baseline <= limit + 1e-9
    assert gaussian_accuracy(report["sigma"], 2.0, baseline) - baseline == pytest.approx(limit)
    # The noise for replace-one with sensitivity 1 would not do.
    wrong = calibration_report(limit, baseline)["sigma"]
    assert gaussian_accuracy(wrong, 2.0, baseline) - baseline > limit + 0.01
    if baseline == 0.5:
        assert wrong == pytest.approx(1.0, abs=1e-4)
        assert gaussian_accuracy(wrong, 2.0) - 0.5 == pytest.approx(0.341, abs=5e-4)


def test_every_measure_converts_an_add_remove_guarantee() -> None:
    for measure, limit in (("success", 0.6), ("generalised-advantage", 0.2), ("ceiling", 0.9)):
        base = [0.4] * 20
        replaced = calibration_report(limit, base, measure)
        added = calibration_report(limit, base, measure, relation="add-remove")
        for name in ("epsilon", "mu"):
            assert replaced[name] / 2.01 <= added[name] < replaced[name]
    worst = calibration_report(0.3, 0.0, "worst-advantage", relation=Relation.ADD_REMOVE)
    assert worst["bound"] == {"epsilon": "tv", "mu": "tv"}
    assert Theorem35(np.full(20, 0.4), stated_pair(ApproxDP(0.3, 1e-5, ADD), 1e-5)).n == 20


def test_pairs_under_replace_one() -> None:
    pair = stated_pair(ApproxDP(1.0, 1e-5, ADD), 1e-5)
    assert isinstance(pair, ApproxDP) and pair.epsilon == 2.0
    assert pair.delta == pytest.approx(1e-5 * (1 + math.e), rel=1e-12)
    whole = as_replace_one(ApproxDP(1.0, 1e-5, ADD))
    assert whole.delta_at(2.0) <= pair.delta_at(2.0) * (1 + 1e-12)
    assert stated_pair(PureDP(1.0, ADD), 0.1) == PureDP(2.0)
    assert stated_pair(ApproxDP(20.0, 1e-5, ADD), 1e-5).epsilon == math.inf
    assert stated_pair(GaussianDP(0.5, ADD), 1e-5).epsilon == GaussianDP(1.0).epsilon_at(1e-5)
    with pytest.raises(ValueError, match="relation must be replace-one or add-remove, got 'swap'"):
        calibration_report(0.1, 0.1, relation="swap")


def test_one_sharpest_named_bound_in_python_and_report() -> None:
    report = calibration_report(0.1, 0.1)
    found = calibrate(Advantage(np.array([0.1])), 0.1, GaussianFamily())
    assert found.value == pytest.approx(report["mu"]) == pytest.approx(0.50601, abs=1e-5)
    assert found.bound == report["bound"]["mu"] == found.to_json()["bound"] == "prior-exact"
    added = calibrate(Advantage(np.array([0.01])), 0.1, GaussianFamily(ADD))
    assert added.bound == "f-dp"


def test_a_whole_prior_needs_half_the_noise() -> None:
    report = calibration_report(0.1, [0.5], priors=[[0.5, 0.3, 0.2]])
    assert report["sigma"] == pytest.approx(0.996, abs=5e-4)
    assert report["sigma"] < calibration_report(0.1, 0.5)["sigma"] / 1.9
    mu = 1 / report["sigma"]
    assert PriorExact(np.array([[0.5, 0.3, 0.2]]), GaussianDP(mu)).mean - 0.5 <= 0.1
    with pytest.raises(ValueError, match="baseline must be the largest probability"):
        calibration_report(0.1, [0.6], priors=[[0.5, 0.3, 0.2]])
    with pytest.raises(ValueError, match="priors must add up to 1"):
        calibration_report(0.1, [0.5], priors=[[0.5, 0.3]])
    with pytest.raises(ValueError, match="a whole prior is for exact match"):
        calibration_report(0.1, [0.5], priors=[[0.5, 0.5]], any_event=True)


def test_a_success_event_of_several_values_needs_more_noise() -> None:
    exact, event = calibration_report(0.1, 0.5), calibration_report(0.1, 0.5, any_event=True)
    assert event["sigma"] > exact["sigma"] and event["bound"]["mu"] == "profile-recursion"


def test_answers_are_sentences() -> None:
    free = calibration_report(0.1, 0.9)
    assert free["mu"] is None and free["sigma"] == 0.0
    assert free["answer"]["mu"].startswith("no noise is needed: without any, the advantage is 0.1")
    none = calibration_report(0.05, 0.1, "success")
    assert none["answer"]["mu"].startswith("unreachable: no mu keeps the risk at or below 0.05")
    assert "replace-one neighbours, by prior-exact" in calibration_report(0.1, 0.1)["answer"]["mu"]


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
