"""Bounds on one target: enumeration over random channels, closed forms, simulation, limits."""

from __future__ import annotations

import json
import math
from itertools import combinations

import mpmath
import numpy as np
import pytest
import riskcal.analysis as riskcal
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize_scalar
from scipy.special import ndtr, ndtri

from reconbench.bounds import (
    RISK_BOUNDS,
    ZCDP,
    ApproxDP,
    BinaryPriorBound,
    FanoRenyi,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    OneTargetBound,
    PriorExact,
    PriorExactBound,
    PrivacyProfile,
    Profile,
    ProfileBound,
    ProfileRecursion,
    ProfileRecursionBound,
    PureDP,
    RandomisedResponse,
    Relation,
    RenyiDP,
    ReRoPure,
    ReRoRenyi,
    ReRoZCDP,
    RiskBound,
    SharpestBound,
    Theorem35,
    TotalVariationBound,
    UnifiedBound,
    advantage,
    bayes_error,
    compare_bounds,
    fano_information,
    generalised_advantage,
    risk_bounds,
    risk_report,
    worst_advantage,
)
from reconbench.bounds.guarantees.guarantee import stated_pair

FloatArray = NDArray[np.float64]
ERRORS = 4.5
GUARANTEES: list[Guarantee] = [
    PureDP(1.0),
    ApproxDP(2.0, 1e-4),
    GaussianDP(0.8),
    LaplaceDP(1.5),
    RandomisedResponse(5, 2.0),
    ZCDP(0.3),
]


def random_channel(rng: np.random.Generator, values: int) -> FloatArray:
    """P[output | value], one row a value, between nearly useless and nearly revealing."""
    outputs = int(rng.integers(2, 7))
    smooth = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 5.0])), size=values)
    weight = rng.choice([0.05, 0.4, 0.95])
    return np.asarray(weight * smooth + (1 - weight) * rng.dirichlet(np.ones(outputs)))


def exact_profile(channel: FloatArray) -> PrivacyProfile:
    """δ(ε) of the channel at every ε where it bends: the whole curve, nothing lost."""
    pairs = [(p, q) for i, p in enumerate(channel) for j, q in enumerate(channel) if i != j]
    ratios = np.concatenate([np.log(p / q) for p, q in pairs])
    epsilons = np.append(0.0, ratios[ratios > 0])
    deltas = [
        max(float(np.maximum(p - math.exp(e) * q, 0).sum()) for p, q in pairs) for e in epsilons
    ]
    return PrivacyProfile(epsilons, np.array(deltas))


def exact_renyi(channel: FloatArray, orders: FloatArray) -> RenyiDP:
    pairs = [(p, q) for i, p in enumerate(channel) for j, q in enumerate(channel) if i != j]
    epsilons = [
        max(math.log(float(np.sum(p**t * q ** (1 - t)))) / (t - 1) for p, q in pairs)
        for t in orders
    ]
    return RenyiDP(orders, np.maximum(epsilons, 0))


def best_success(prior: FloatArray, channel: FloatArray, hits: FloatArray) -> tuple[float, float]:
    """The baseline and the success of the best attack; hits[z, g] says whether g is right for z."""
    baseline = min(1.0, float(np.max(prior @ hits)))
    return baseline, float(np.max((prior[:, None] * channel).T @ hits, axis=1).sum())


def test_no_attack_on_a_random_channel_passes_any_bound() -> None:
    rng = np.random.default_rng(31)
    orders = np.array([1.2, 2.0, 5.0, 20.0])
    closest = math.inf
    for _ in range(250):
        values = int(rng.integers(2, 6))
        channel = random_channel(rng, values)
        prior = rng.dirichlet(np.full(values, rng.choice([0.3, 1.0, 20.0])))
        near = np.abs(np.subtract.outer(np.arange(values), np.arange(values))) <= 1
        exact = np.eye(values)
        profile, renyi = exact_profile(channel), exact_renyi(channel, orders)
        pure = PureDP(max(profile.epsilon_at(0.0), 1e-9))
        for hits in (exact, near.astype(float)):
            baseline, success = best_success(prior, channel, hits)
            pairs: list[tuple[RiskBound, Guarantee]] = [
                (UnifiedBound(), profile),
                (TotalVariationBound(), profile),
                (ProfileRecursionBound(), profile),
                (ReRoPure(), pure),
                (ReRoRenyi(), renyi),
                (ReRoRenyi(order=2.0), renyi),
                (FanoRenyi(), renyi),
                (UnifiedBound(), renyi),
            ]
            if hits is exact:
                pairs += [
                    (OneTargetBound(0.01), profile),
                    (ProfileBound(), profile),
                    (PriorExactBound(), profile),
                ]
            for bound, guarantee in pairs:
                assert success <= float(bound.success(baseline, guarantee)) + 1e-12
        if values == 2:
            baseline, success = best_success(prior, channel, exact)
            ceiling = float(BinaryPriorBound().success(baseline, profile))
            assert success <= ceiling + 1e-12
            closest = min(closest, ceiling - success)
        baseline, success = best_success(prior, channel, exact)
        information = max(mutual_information(prior, channel), 0.0)
        assert success <= fano_information(prior, information) + 1e-9
        assert information <= float(renyi.epsilons[0]) + 1e-12
    # Two values leave nothing between the bound and the best attack.
    assert closest < 1e-9


def mutual_information(prior: FloatArray, channel: FloatArray) -> float:
    joint = prior[:, None] * channel
    product = prior[:, None] * joint.sum(axis=0)
    return float(np.sum(joint * np.log(joint / product)))


def test_randomised_response_reaches_the_one_target_bound() -> None:
    """Uniform prior: guessing the report is right with probability β exactly."""
    for values, epsilon in [(2, 0.5), (5, 1.0), (100, 3.0)]:
        bound = float(OneTargetBound().success(1 / values, PureDP(epsilon)))
        assert bound == pytest.approx(RandomisedResponse(values, epsilon).truthful, rel=1e-12)


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("prior", [0.5, 0.7, 0.99])
def test_bayes_error_of_gaussian_dp(mu: float, prior: float) -> None:
    """Closed form, direct minimisation and riskcal, which returns the error."""
    guarantee = GaussianDP(mu)
    found = minimize_scalar(
        lambda a: (1 - prior) * a + prior * float(guarantee.tradeoff(a)),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert bayes_error(guarantee, prior) == pytest.approx(min(found.fun, 1 - prior), abs=1e-8)
    assert bayes_error(guarantee, prior) == pytest.approx(bayes_error(guarantee, 1 - prior))
    assert bayes_error(guarantee, prior) == pytest.approx(
        float(riskcal.get_bayes_risk_from_gdp(mu, prior)), abs=1e-6
    )


def test_small_baselines_keep_their_digits() -> None:
    with mpmath.workdps(40):
        z = mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(x) / mpmath.mpf("1e-30")), -11.4)
        truth = mpmath.ncdf(z + 1)
    success = float(UnifiedBound().success(1e-30, GaussianDP(1.0)))
    assert success == pytest.approx(float(truth), rel=1e-9)
    assert float(UnifiedBound().success(1e-30, PureDP(1.0))) == pytest.approx(math.e * 1e-30)


def test_zcdp_bound_is_the_best_order() -> None:
    for rho, baseline in [(0.01, 1e-9), (0.3, 0.01), (1.0, 0.1), (2.0, 1e-4)]:
        rate = -math.log(baseline)
        found = minimize_scalar(
            lambda t, rate=rate, rho=rho: (1 - 1 / t) * (rho * t - rate),
            bounds=(1.0, 1e4),
            method="bounded",
        )
        bound = float(ReRoZCDP().success(baseline, ZCDP(rho)))
        assert bound == pytest.approx(math.exp(found.fun), rel=1e-6)
        ours = float(ReRoRenyi().success(baseline, ZCDP(rho)))
        assert bound <= ours * (1 + 1e-12)
        assert ours == pytest.approx(bound, rel=1e-2)
    assert ReRoZCDP().success(0.05, GaussianDP(1.0)) == ReRoZCDP().success(0.05, ZCDP(0.5))


def test_order_of_the_bounds() -> None:
    """f-DP ≤ Fano ≤ ReRo for the same Rényi guarantee, and ReRo pure is the limit of all."""
    base = np.geomspace(1e-9, 0.9, 25)
    orders = np.array([1.5, 3.0, 12.0])
    renyi = RenyiDP(orders, 0.2 * orders)
    unified = UnifiedBound().success(base, renyi)
    fano, rero = FanoRenyi().success(base, renyi), ReRoRenyi().success(base, renyi)
    assert np.all(unified <= fano + 1e-12)
    assert np.all(fano <= rero + 1e-12)
    one, pure = OneTargetBound().success(base, PureDP(1.0)), ReRoPure().success(base, PureDP(1.0))
    assert np.all(one <= UnifiedBound().success(base, PureDP(1.0)) + 1e-12)
    assert np.all(one <= pure + 1e-12)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
@pytest.mark.parametrize("bound", RISK_BOUNDS, ids=lambda b: b.name)
def test_limits_and_monotonicity(bound: RiskBound, guarantee: Guarantee) -> None:
    if bound.refuses(guarantee):
        return
    base = np.array([0.0, 1e-9, 0.01, 0.3, 0.5, 0.8, 1.0])
    success = bound.success(base, guarantee)
    covered = ~np.isnan(success)
    assert np.all(success[covered] >= base[covered] - 1e-12)
    assert np.all(success[covered] <= 1.0)
    assert success[-1] == pytest.approx(1.0)
    assert np.all(np.diff(success[covered]) >= -1e-12)
    assert covered.all() or bound.name == "binary"


@pytest.mark.parametrize("bound", RISK_BOUNDS, ids=lambda b: b.name)
def test_perfect_privacy_and_none(bound: RiskBound) -> None:
    base = np.array([1e-6, 0.2, 0.6, 1.0])
    for nothing in (PureDP(math.inf), GaussianDP(math.inf), ZCDP(math.inf)):
        if bound.refuses(nothing) is None:
            values = bound.success(base, nothing)
            assert np.all((values == 1.0) | np.isnan(values))
    if bound.name == "thm35":
        bound = OneTargetBound(0.0)  # no δ to add
    perfect = bound.success(base, GaussianDP(0.0))
    # The grid of orders ends short of t → ∞.
    np.testing.assert_allclose(perfect[~np.isnan(perfect)], base[~np.isnan(perfect)], rtol=3e-3)


def test_simulated_randomised_response_stays_below_and_half_the_noise_passes() -> None:
    """Guess the report among 1,000 values. False-alarm rate 4e-6 a comparison."""
    rng = np.random.default_rng(32)
    values, epsilon, trials = 1_000, 3.0, 200_000
    right = RandomisedResponse(values, epsilon)

    def success(mechanism: RandomisedResponse) -> float:
        return float(np.mean(rng.random(trials) < mechanism.truthful))

    honest, broken = success(right), success(RandomisedResponse(values, 2 * epsilon))
    bounds: list[tuple[RiskBound, Guarantee]] = [
        (UnifiedBound(), right),
        (OneTargetBound(), right),
        (TotalVariationBound(), right),
        (ReRoPure(), PureDP(epsilon)),
        (ReRoRenyi(), right),
        (FanoRenyi(), right),
    ]
    for bound, guarantee in bounds:
        ceiling = float(bound.success(1 / values, guarantee))
        error = math.sqrt(ceiling * (1 - ceiling) / trials)
        assert honest <= ceiling + ERRORS * error
        assert broken > ceiling + ERRORS * error


def test_simulated_gaussian_meets_the_binary_bound_and_half_the_noise_passes() -> None:
    rng = np.random.default_rng(33)
    prior, mu, trials = 0.7, 1.0, 200_000
    secret = rng.random(trials) < prior
    ceiling = float(BinaryPriorBound().success(prior, GaussianDP(mu)))
    error = math.sqrt(0.25 / trials)

    def accuracy(true_mu: float) -> float:
        seen = secret * true_mu + rng.normal(size=trials)
        # Bayes: log-likelihood ratio μ y − μ²/2 plus log prior odds.
        return float(np.mean((true_mu * seen - true_mu**2 / 2 + math.log(7 / 3) > 0) == secret))

    assert accuracy(mu) == pytest.approx(ceiling, abs=ERRORS * error)
    assert accuracy(2 * mu) > ceiling + ERRORS * error
    # Noise at a quarter of the scale passes the bounds that know less about the prior.
    sharp = accuracy(8 * mu)
    for bound in (UnifiedBound(), OneTargetBound()):
        assert sharp > float(bound.success(prior, GaussianDP(mu))) + ERRORS * error


def test_gaussian_attack_reaches_the_unified_bound() -> None:
    """One record with prior b differs from all others, which look alike: 1 − f(b) is a test's."""
    b, mu = 0.05, 1.5
    threshold = -float(ndtri(b))
    power = float(UnifiedBound().success(b, GaussianDP(mu)))
    rng = np.random.default_rng(34)
    assert np.mean(rng.normal(mu, 1.0, 200_000) > threshold) == pytest.approx(power, abs=0.005)


def test_advantages() -> None:
    assert advantage([0.5, 0.2], [0.1, 0.2]).tolist() == pytest.approx([0.4, 0.0])
    found = generalised_advantage([0.55, 0.2, 1.0, 1.0], [0.1, 0.2, 0.3, 1.0])
    assert found.tolist() == pytest.approx([0.5, 0.0, 1.0, 0.0])
    gain, _ = worst_advantage(UnifiedBound(), GaussianDP(1.0))
    assert gain == pytest.approx(GaussianDP(1.0).total_variation(), rel=1e-6)


def test_reports_are_json_and_say_what_is_left_out() -> None:
    report = json.loads(json.dumps(risk_report(0.1, GaussianDP(1.0))))
    assert report["success"] == min(row["success"] for row in report["bounds"].values())
    assert report["tv"] == pytest.approx(GaussianDP(1.0).total_variation())
    assert report["bounds"]["f-dp"]["advantage"] == pytest.approx(0.2891437)
    assert set(report["not_applicable"]) == {"rero-pure", "binary"}
    assert "does not cover a baseline of 0.1" in report["not_applicable"]["binary"]
    # Exact match is an assumption: the headline uses it and says so, beside any event.
    high = risk_report(0.7, GaussianDP(1.0))
    assert high["bound"] == "prior-exact" and high["any_event"]["bound"] == "profile-recursion"
    assert high["success"] < high["any_event"]["success"] < high["bounds"]["f-dp"]["success"]


def test_relations_are_converted_where_a_bound_needs_it() -> None:
    added = risk_report(0.7, GaussianDP(1.0, Relation.ADD_REMOVE))
    assert added["relation"] == "add-or-remove-one" and "binary" not in added["not_applicable"]
    replaced = risk_report(0.7, GaussianDP(2.0))
    for name in ("thm35", "profile", "prior-exact", "profile-recursion", "binary"):
        assert added["bounds"][name]["relation"] == "replace-one"
        assert added["bounds"][name]["success"] == replaced["bounds"][name]["success"]
    for name in ("f-dp", "tv", "fano"):
        assert added["bounds"][name]["relation"] == "add-or-remove-one"
    assert compare_bounds([0.1], GaussianDP(1.0, Relation.ADD_REMOVE))["not_applicable"].keys() == {
        "rero-pure"
    }
    # thm35 converts its pair; the curve of the pair has no ε at the same δ.
    pair = risk_report(0.6, ApproxDP(0.4, 1e-5, Relation.ADD_REMOVE))["bounds"]["thm35"]
    twice = ApproxDP(0.8, 1e-5 * (1 + math.exp(0.4)))
    assert pair["success"] == pytest.approx(float(OneTargetBound().success(0.6, twice)))


def test_f_dp_holds_for_add_remove_as_it_is() -> None:
    """Release: the other records alone give N(0, 1), the target moves it by up to 1 either way.

    Under add-or-remove-one that is 1-GDP. The best attack on ±1 reaches 1 − f(1/2) exactly.
    """
    bound = float(UnifiedBound().success(0.5, GaussianDP(1.0, Relation.ADD_REMOVE)))
    assert bound == pytest.approx(float(ndtr(1.0)))
    exact = float(ndtr(2.0 / 2))
    assert exact <= bound + 1e-15
    # Bounds that compare two values of the target would be too small without the conversion.
    assert float(PriorExactBound().success(0.5, GaussianDP(1.0))) < exact
    sharp = float(SharpestBound().success(0.5, GaussianDP(1.0, Relation.ADD_REMOVE)))
    assert sharp == pytest.approx(exact)


def test_one_name_is_one_bound() -> None:
    """risk and ceiling print the same number under the same name, with one target."""
    for guarantee in (ApproxDP(1.0, 1e-5), GaussianDP(0.8), PureDP(2.0), LaplaceDP(1.0)):
        for base in (0.01, 0.3, 0.6):
            rows = risk_report(base, guarantee)["bounds"]
            budget = stated_pair(guarantee, 1e-5)
            printed = float(Theorem35(np.array([base]), budget).tail(1))
            assert rows["thm35"]["success"] == pytest.approx(printed, rel=1e-9)
            over_profile = float(Profile(np.array([base]), guarantee).tail(1))
            assert rows["profile"]["success"] == pytest.approx(over_profile, rel=2e-3)
            proved = float(ProfileRecursion(np.array([base]), guarantee).tail(1))
            assert rows["profile-recursion"]["success"] == pytest.approx(proved, rel=3e-2)
            known = PriorExact(np.array([[base]]), guarantee, 1 - base).mean
            assert rows["prior-exact"]["success"] == pytest.approx(known, rel=1e-9)
            assert known <= over_profile * (1 + 1e-9)
    found = risk_report(0.6, ApproxDP(1.0, 1e-5))["bounds"]
    assert found["thm35"]["success"] == pytest.approx(0.80305, abs=1e-5)
    assert found["profile"]["success"] == pytest.approx(0.78485, abs=1e-5)


def most_success(prior: FloatArray, hits: FloatArray, epsilon: float, delta: float) -> float:
    """The success of the best (ε, δ)-DP mechanism that outputs a guess: a linear program.

    Variables P[guess g | value z] and, for each pair of values and guess, its excess.
    """
    values, guesses = hits.shape
    pairs = [(z, w) for z in range(values) for w in range(values) if z != w]
    size = values * guesses
    total = size + len(pairs) * guesses
    rows, limits = [], []
    for k, (z, w) in enumerate(pairs):
        summed = np.zeros(total)
        for g in range(guesses):
            row, slack = np.zeros(total), size + k * guesses + g
            row[z * guesses + g], row[w * guesses + g], row[slack] = 1, -math.exp(epsilon), -1
            rows.append(row)
            limits.append(0.0)
            summed[slack] = 1
        rows.append(summed)
        limits.append(delta)
    equal = np.kron(np.eye(values), np.ones(guesses))
    equal = np.hstack([equal, np.zeros((values, total - size))])
    gain = np.concatenate([(prior[:, None] * hits).ravel(), np.zeros(total - size)])
    done = linprog(-gain, np.array(rows), limits, equal, np.ones(values), (0, 1))
    assert done.fun is not None, done.message
    return -float(done.fun)


def test_theorem_35_with_one_target_by_linear_programs() -> None:
    """Exact match: never passed, attained for uniform priors. Sets of values: passed."""
    rng = np.random.default_rng(35)
    for _ in range(12):
        values = int(rng.integers(2, 5))
        prior = rng.dirichlet(np.full(values, rng.choice([0.5, 2.0, 50.0])))
        epsilon, delta = float(rng.uniform(0.05, 2)), float(rng.uniform(0.001, 0.3))
        true = most_success(prior, np.eye(values), epsilon, delta)
        pair = ApproxDP(epsilon, delta)
        assert true <= float(OneTargetBound().success(prior.max(), pair)) + 1e-9
        assert true == pytest.approx(PriorExact(prior[None], pair).mean, abs=1e-7)
    even = most_success(np.full(4, 0.25), np.eye(4), 1.0, 0.1)
    assert even == pytest.approx(float(OneTargetBound().success(0.25, ApproxDP(1.0, 0.1))))
    for values, size, epsilon, known in ((4, 2, 1.0, 0.7714), (6, 2, 0.1, 0.4364)):
        sets = list(combinations(range(values), size))
        twos = np.array([[float(z in chosen) for chosen in sets] for z in range(values)])
        true = most_success(np.full(values, 1 / values), twos, epsilon, 0.1)
        assert true == pytest.approx(known, abs=1e-4)
        base, pair = size / values, ApproxDP(epsilon, 0.1)
        for printed in (OneTargetBound(), ProfileBound()):
            assert true > float(printed.success(base, pair)) + 0.005
        assert true <= float(ProfileRecursionBound().success(base, pair)) + 1e-9


def test_any_event_bound_against_its_formula_and_f_dp() -> None:
    base = np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 1.0])
    found = ProfileRecursionBound().success(base, ApproxDP(1.0, 0.05))
    pairs = [(e, ApproxDP(1.0, 0.05).delta_at(e)) for e in np.linspace(0, 1, 65)]
    slow = [min((math.exp(e) * b + d) / (1 + math.expm1(e) * b) for e, d in pairs) for b in base]
    np.testing.assert_allclose(found, np.minimum(slow, 1), rtol=1e-12)
    for guarantee in (PureDP(1.0), ApproxDP(2.0, 1e-4), GaussianDP(0.8), LaplaceDP(1.5)):
        sharp = ProfileRecursionBound().success(base, guarantee)
        # The grid of ε is coarse where it is large, which small baselines ask for.
        assert np.all(sharp <= UnifiedBound().success(base, guarantee) * 1.05 + 1e-12)


def test_several_baselines_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="baseline must be one number, got 2: use compare_bounds"):
        risk_report([0.1, 0.2], GaussianDP(1.0))  # type: ignore[arg-type]
    assert risk_report(np.array([0.1]), GaussianDP(1.0))["baseline"] == 0.1  # type: ignore[arg-type]


def test_average_table_bounds_in_a_table() -> None:

    table = json.loads(json.dumps(compare_bounds([0.1, 0.6], PureDP(1.0), risk_bounds(2))))
    assert table["bounds"]["binary"]["success"][0] is None
    assert table["bounds"]["pso"]["success"][1] is None
    assert set(table["bounds"]) == {bound.name for bound in risk_bounds(2)}
    assert json.dumps(risk_report(0.3, PureDP(math.inf)))


def test_fano_information() -> None:
    uniform = np.full(8, 1 / 8)
    assert fano_information(uniform, 0.0) == pytest.approx(1 / 8, abs=1e-7)
    assert fano_information(uniform, math.log(8)) == 1.0
    assert fano_information([1.0, 0.0], 0.0) == 1.0
    assert fano_information([0.9, 0.1], 0.0) == pytest.approx(0.9, abs=1e-7)
    # d_KL(s‖1/m) = I for a uniform prior: the same root, the other way round.
    s = fano_information(uniform, 0.5)
    assert s * math.log(8 * s) + (1 - s) * math.log((1 - s) * 8 / 7) == pytest.approx(0.5)
    values = [fano_information([0.5, 0.3, 0.2], i) for i in (0.0, 0.05, 0.3, 0.8, math.inf)]
    assert values == sorted(values)


@pytest.mark.parametrize("bad", [-0.1, 1.5, math.nan, "half"])
def test_bad_baselines_are_refused(bad: float) -> None:
    for bound in RISK_BOUNDS:
        with pytest.raises(ValueError, match="baseline must be"):
            bound.success(bad, GaussianDP(1.0))
    with pytest.raises(ValueError, match="baseline must be"):
        risk_report(bad, GaussianDP(1.0))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"does not fit.*pure DP"):
        ReRoPure().success(0.1, GaussianDP(1.0))
    for bound in (ReRoRenyi(), FanoRenyi()):
        with pytest.raises(ValueError, match=r"does not fit.*RenyiDP, ZCDP or GaussianDP"):
            bound.success(0.1, ApproxDP(1.0, 1e-5))
    with pytest.raises(ValueError, match=r"does not fit.*zero-concentrated"):
        ReRoZCDP().success(0.1, LaplaceDP(1.0))
    with pytest.raises(ValueError, match="replace-one"):
        OneTargetBound().success(0.1, PureDP(1.0, Relation.ADD_REMOVE))
    with pytest.raises(ValueError, match="order must be > 1"):
        ReRoRenyi(order=1.0).success(0.1, ZCDP(1.0))
    with pytest.raises(ValueError, match="sum to 1"):
        fano_information([0.5, 0.1], 0.1)
    with pytest.raises(ValueError, match="non-empty"):
        compare_bounds([], PureDP(1.0))
