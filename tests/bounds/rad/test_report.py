"""The report: bounds are the functions they name, and none is below what an attack attains."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    Relation,
    as_replace_one,
)
from reconbench.bounds.guarantees.guarantee import stated_pair
from reconbench.bounds.rad import (
    FiniteChannel,
    LocalReports,
    LocationNoise,
    Secret,
    epsilon_uniform,
    rad_any,
    rad_any_aux,
    rad_approx_no_aux,
    rad_curves,
    rad_exact,
    rad_exact_aux,
    rad_gaussian,
    rad_laplace,
    rad_no_aux,
    rad_perfect,
    rad_profile,
    rad_profile_aux,
    rad_report,
    rad_uniform,
)
from reconbench.bounds.rad.known_mechanism import LOCAL, NotComputed

PRIOR = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05]
GROUPS = [0, 0, 1, 1, 1, 1]
ADD = Relation.ADD_REMOVE


def values_of(report: dict[str, Any]) -> dict[str, float]:
    return {name: row["advantage"] for name, row in report["bounds"].items()}


@pytest.mark.parametrize(
    "guarantee",
    [PureDP(1.0), ApproxDP(1.0, 1e-3), GaussianDP(1.0), LaplaceDP(0.7), GaussianDP(0.5, ADD)],
    ids=lambda each: each.describe(),
)
def test_every_row_is_the_function_that_it_names(guarantee: Guarantee) -> None:
    curve, pair = as_replace_one(guarantee), stated_pair(guarantee, 1e-5)
    epsilon, delta = pair.epsilon, getattr(pair, "delta", 0.0)
    for prior in (PRIOR, [0.2] * 5):
        secret = Secret.of(prior)
        low, high, kappa = min(prior), max(prior), float(np.dot(prior, prior))
        expected = {
            "thm42": rad_any_aux(curve, prior),
            "profile-aux": rad_profile_aux(curve, prior),
            "thm51": rad_no_aux(curve, low, high, kappa),
            "prop52": rad_approx_no_aux(epsilon, delta, low, high, kappa),
            "thm53": rad_perfect(epsilon, prior, delta),
            "exact": rad_exact(epsilon, prior, delta),
        }
        if secret.uniform:
            expected["cor54"] = rad_uniform(epsilon, len(prior), delta)
        if not isinstance(guarantee, PureDP | ApproxDP):
            expected["exact-profile"] = rad_profile(curve, prior)
        report = rad_report(guarantee, secret)
        assert values_of(report) == pytest.approx(expected, rel=1e-12)
        assert report["advantage"] == pytest.approx(min(expected.values()), rel=1e-8)
        assert set(report["not_applicable"]) | set(expected) == {
            "thm43", "thm42", "profile-aux", "thm51", "prop52", "thm53", "cor54", "exact",
            "exact-profile", "exact-aux",
        }  # fmt: skip
        assert all(row["relation"] == "replace-one" for row in report["bounds"].values())


def test_knowledge_leaves_the_bounds_that_allow_for_it() -> None:
    groups = rad_report(PureDP(1.0), Secret.of(PRIOR, GROUPS))
    assert values_of(groups) == pytest.approx(
        {
            "thm42": rad_any_aux(PureDP(1.0), PRIOR),
            "profile-aux": rad_profile_aux(PureDP(1.0), PRIOR),
            "exact-aux": rad_exact_aux(1.0, PRIOR, GROUPS),
        }
    )
    assert groups["bound"] == "exact-aux" and groups["attained"]
    unknown = rad_report(PureDP(1.0), Secret.of(PRIOR, "any"))
    assert unknown["advantage"] >= groups["advantage"]
    assert unknown["advantage"] >= rad_report(PureDP(1.0), Secret.of(PRIOR))["advantage"]
    # An error leaves only what allows for it; with the value known the exact value covers it.
    within = rad_report(PureDP(1.0), Secret.of(PRIOR, GROUPS, 1))
    assert set(within["bounds"]) == {"thm42", "profile-aux"}
    assert "exact value" in within["not_applicable"]["exact-aux"]
    sure = rad_report(PureDP(1.0), Secret.of(PRIOR, "all", 1))
    assert sure["bound"] == "exact-aux" and not sure["attained"]
    many = rad_report(PureDP(1.0), Secret.of(15, "any"))
    assert "at most 14 values, here 15" in many["not_applicable"]["exact-aux"]
    pair = rad_report(ApproxDP(1.0, 0.01), Secret.of(10, "any"))
    assert "entries here" in pair["not_applicable"]["exact-aux"]


def test_what_is_attained_says_so() -> None:
    stated = rad_report(ApproxDP(1.0, 1e-5), Secret.of(PRIOR))
    assert stated["bound"] == "exact" and stated["attained"]
    # Corollary 5.4 is the optimum for a uniform prior: named first, and attained.
    uniform = rad_report(PureDP(1.0), Secret.of(10))
    assert uniform["bound"] == "thm53" and uniform["attained"]
    assert uniform["advantage"] == pytest.approx(rad_any(1.0, 10))
    assert epsilon_uniform(uniform["advantage"], 10) == pytest.approx(1.0)
    assert not rad_report(GaussianDP(1.0), Secret.of(PRIOR))["attained"]
    assert not rad_report(PureDP(1.0, ADD), Secret.of(PRIOR))["attained"]
    assert rad_report(LocalReports("grr", 1.0, 6), Secret.of(PRIOR))["attained"]


@st.composite
def channel_games(draw: st.DrawFn) -> tuple[LocalReports, Secret]:
    m = draw(st.integers(2, 6))
    raw = draw(st.lists(st.floats(0, 1), min_size=m, max_size=m).filter(lambda r: sum(r) > 0.01))
    labels = draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    known: Any = draw(st.sampled_from(["none", "any", labels]))
    within = draw(st.integers(0, m - 2))
    mechanism = LocalReports(draw(st.sampled_from(list(LOCAL))), draw(st.floats(0.01, 8)), m)
    return mechanism, Secret.of(np.array(raw) / sum(raw), known, within)


@settings(max_examples=60, deadline=None)
@given(game=channel_games())
def test_no_bound_is_below_what_an_attack_attains(game: tuple[LocalReports, Secret]) -> None:
    mechanism, secret = game
    listed = FiniteChannel(
        mechanism.channel.matrix(), secret.prior, secret.knowledge.labels, secret.success()
    )
    report = rad_report(mechanism, secret)
    exact = report["bounds"]["thm43"]["advantage"]
    assert exact == pytest.approx(listed.rad(), abs=1e-12)
    assert all(value >= exact - 1e-9 for value in values_of(report).values())
    assert report["attack"]["success"] <= 1 + 1e-12
    assert report["attack"]["success"] - report["attack"]["success_without_target"] == (
        pytest.approx(exact, abs=1e-12)
    )


def test_half_the_epsilon_is_too_little() -> None:
    """The negative control: bounds for ε/2 do not hold for GRR with ε."""
    secret = Secret.of(PRIOR)
    exact = rad_report(LocalReports("grr", 2.0, 6), secret)["advantage"]
    assert rad_report(PureDP(1.0), secret)["advantage"] < exact


@pytest.mark.parametrize("name", list(LOCAL))
@pytest.mark.parametrize("aux", [None, GROUPS, list(range(6))])
def test_the_success_of_the_best_attack_in_closed_form(name: str, aux: list[int] | None) -> None:
    """The likeliest supported value with the label, by listing all outputs."""
    channel, labels = LOCAL[name](1.5, 6), np.zeros(6, int) if aux is None else np.array(aux)
    prior, table, on = np.array(PRIOR), channel.matrix(), channel.supports()
    total = 0.0
    for z in range(6):
        mine = np.flatnonzero(labels == labels[z])
        # Ties go to the first, and the values are in descending order.
        guesses = np.array([next((v for v in mine if row[v]), -1) for row in on])
        total += prior[z] * table[guesses == z, z].sum()
    assert channel.success(prior, aux) == pytest.approx(total, rel=1e-12)


def test_noise_on_numbers() -> None:
    laplace = rad_report(LocationNoise.for_budget("laplace", 2.0, 11), Secret.of(11))
    assert laplace["advantage"] == pytest.approx(rad_laplace(2.0, 11), rel=1e-12)
    assert laplace["bound"] == "thm43" and laplace["guarantee"].startswith("Laplace noise")
    assert laplace["attack"]["success_without_target"] == pytest.approx(1 / 11)
    gaussian = rad_report(LocationNoise("gaussian", 5.0, 11), Secret.of(11))
    assert gaussian["advantage"] == pytest.approx(rad_gaussian(0.5, 11), rel=1e-12)
    assert gaussian["guarantee"] == "2-GDP, replace-one"
    # The unit of the numbers does not matter, only noise and error over the gap.
    one = rad_report(LocationNoise("laplace", 5.0, 8, 1.0), Secret.of(8, "none", 2, 1.0))
    ten = rad_report(LocationNoise("laplace", 50.0, 8, 10.0), Secret.of(8, "none", 20, 10.0))
    assert one["advantage"] == pytest.approx(ten["advantage"], abs=2e-5)
    row = one["bounds"]["thm43"]
    assert row["at_least"] <= row["advantage"] <= row["at_least"] + 1.1e-5
    assert one["attack"] is None
    skewed = rad_report(LocationNoise("gaussian", 2.0, 6), Secret.of(PRIOR, "any"))
    assert all(value >= skewed["advantage"] - 1e-9 for value in values_of(skewed).values())


def test_what_is_not_computed_says_why() -> None:
    many = rad_report(LocationNoise("laplace", 800.0, 400), Secret.of(400, "any"))
    assert "at most 300 numbers, here 400" in many["not_applicable"]["thm43"]
    assert many["bound"] == "profile-aux"
    oue = rad_report(LocalReports("oue", 1.0, 40), Secret.of(40, "none", 2))
    assert "too many outputs to list" in oue["not_applicable"]["thm43"]
    with pytest.raises(NotComputed):
        LocalReports("grr", 1.0, 5000).exact(Secret.of(5000, "none", 2))
    grr = LocalReports("grr", 3.0, 1100).exact(Secret.of(1100, "none", 2))
    small = LocalReports("grr", 3.0, 900).exact(Secret.of(900, "none", 2))
    assert grr.success is None and small.success is not None and grr.high < small.high


def test_reports_are_json() -> None:
    for mechanism in (
        PureDP(math.inf), ApproxDP(math.inf, 0.1), GaussianDP(0.0), GaussianDP(math.inf),
        LocalReports("grr", math.inf, 6), LocalReports("ss", 1e-9, 6),
    ):  # fmt: skip
        for known in ("none", "any"):
            report = rad_report(mechanism, Secret.of(PRIOR, known))
            assert 0 <= report["advantage"] <= report["most"] + 1e-12
            json.dumps(report, allow_nan=False)


def test_curves_follow_the_report() -> None:
    secret = Secret.of(PRIOR, "any")
    values = [0.5, 1.0, 2.0]
    curves = rad_curves(PureDP, values, secret)
    reports = [values_of(rad_report(PureDP(each), secret)) for each in values]
    for name, curve in curves.items():
        assert curve == pytest.approx([report[name] for report in reports])
    known = rad_curves(lambda at: LocalReports("ss", at, 6), values, secret)
    assert {"thm43", "thm42"} <= set(known)
    mixed = rad_curves(
        lambda at: PureDP(at) if at < 1 else GaussianDP(at), values, Secret.of(PRIOR)
    )
    assert mixed["exact-profile"][0] is None and mixed["exact-profile"][1] is not None


def test_bad_mechanisms() -> None:
    with pytest.raises(ValueError, match="channel must be one of grr, oue, ss, got 'rr'"):
        LocalReports("rr", 1.0, 6)
    with pytest.raises(ValueError, match="channel must be one of laplace, gaussian"):
        LocationNoise("cauchy", 1.0, 6)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        LocalReports("grr", 0.0, 6)
    with pytest.raises(ValueError, match="mu must be finite with noise"):
        LocationNoise.for_budget("gaussian", math.inf, 6)
