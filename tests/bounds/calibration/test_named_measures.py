"""Measures by name: the reconstruction advantage, singling out, and whole priors."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from reconbench.bounds import (
    ApproxDP,
    EpsilonFamily,
    GaussianDP,
    GaussianFamily,
    PriorExact,
    PureDP,
    ReconstructionAdvantage,
    Relation,
    SinglingOut,
    SinglingOutAnyone,
    SinglingOutTarget,
    as_replace_one,
    calibrate,
    calibration_report,
    mechanism_calibration_report,
    parse_guarantee,
)
from reconbench.bounds.calibration.named import MEASURES, named_risk
from reconbench.bounds.rad import (
    LocalReports,
    Secret,
    epsilon_exact,
    epsilon_uniform,
    rad_exact,
    rad_exact_aux,
    rad_profile,
    rad_profile_aux,
    rad_report,
)

PRIOR = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05]
ADD = Relation.ADD_REMOVE


def test_rad_against_closed_forms() -> None:
    """Corollary 5.4 for equally likely values, the optimum for others, each inverted."""
    uniform = calibration_report(0.1, None, "rad", 0.0, priors=[[0.1] * 10])
    assert uniform["epsilon"] == pytest.approx(epsilon_uniform(0.1, 10), rel=1e-8)
    assert uniform["reference"]["epsilon"].startswith("Guerra-Balboa 2026, Theorem 5.3")
    skewed = calibration_report(0.1, None, "rad", 1e-3, priors=[PRIOR])
    assert skewed["epsilon"] == pytest.approx(epsilon_exact(0.1, PRIOR, 1e-3), rel=1e-8)
    assert skewed["bound"] == {"epsilon": "exact", "mu": "exact-profile"}
    assert rad_profile(GaussianDP(skewed["mu"]), PRIOR) == pytest.approx(0.1, rel=1e-8)
    # Whatever is known, many values: tanh(ε/4).
    unknown = calibration_report(0.2, None, "rad", 0.0, priors=np.full((1, 500), 0.002),
                                 knowledge="any")  # fmt: skip
    assert unknown["epsilon"] == pytest.approx(4 * math.atanh(0.2), rel=1e-8)
    assert unknown["bound"]["epsilon"] == "profile-aux"
    assert rad_profile_aux(GaussianDP(unknown["mu"]), 500) == pytest.approx(0.2, rel=1e-8)


def test_rad_with_groups_of_few_values_uses_the_program() -> None:
    found = calibration_report(
        0.1, None, "rad", 0.0, priors=[PRIOR], knowledge=["a", "a", "b", "b", "b", "b"]
    )
    assert found["bound"]["epsilon"] == "exact-aux"
    assert rad_exact_aux(found["epsilon"], PRIOR, [0, 0, 1, 1, 1, 1]) == pytest.approx(0.1)
    nothing = calibration_report(0.1, None, "rad", 0.0, priors=[PRIOR])
    assert found["epsilon"] < nothing["epsilon"]


def test_rad_is_that_of_the_report_and_of_the_worst_secret() -> None:
    secrets = [Secret.of(10), Secret.of(PRIOR), Secret.of(PRIOR, [0, 0, 1, 1, 1, 1])]
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 1e-3), GaussianDP(0.7), GaussianDP(0.7, ADD)):
        each = [rad_report(guarantee, secret)["advantage"] for secret in secrets]
        found = ReconstructionAdvantage(secrets)(guarantee)
        assert found == pytest.approx(max(each), rel=1e-9)
        source = ReconstructionAdvantage(secrets[:1]).source(guarantee)
        assert source.name == rad_report(guarantee, secrets[0])["bound"]
    both = calibration_report(0.1, None, "rad", priors=[PRIOR, [0.9, 0.1, 0, 0, 0, 0]])
    one = calibration_report(0.1, None, "rad", priors=[PRIOR])
    assert both["mu"] <= one["mu"]
    with pytest.raises(ValueError, match="at least one secret"):
        ReconstructionAdvantage([])


def test_rad_keeps_a_channel_below_the_threshold_and_twice_the_budget_does_not() -> None:
    """GRR at the calibrated ε gains at most the threshold, exactly computed."""
    found = calibration_report(0.1, None, "rad", 0.0, priors=[[0.1] * 10])
    kept = LocalReports("grr", found["epsilon"], 10).exact(Secret.of(10)).high
    assert kept <= 0.1 + 1e-9 and kept == pytest.approx(0.1)
    assert LocalReports("grr", 2 * found["epsilon"], 10).exact(Secret.of(10)).high > 0.2


def test_rad_under_add_remove_and_of_a_mechanism() -> None:
    replaced = calibration_report(0.1, None, "rad", priors=[PRIOR])
    added = calibration_report(0.1, None, "rad", priors=[PRIOR], relation="add-remove")
    assert added["mu"] == pytest.approx(replaced["mu"] / 2, rel=1e-6)
    solved = mechanism_calibration_report("gaussian:sigma=?", 0.1, None, "rad", priors=[PRIOR])
    assert solved["value"] == pytest.approx(1 / replaced["mu"], rel=1e-3)
    assert solved["bound"] == "exact-profile" and "exact black-box" in solved["reference"]
    counts = "laplace:scale=?,relation=add-remove"
    histogram = mechanism_calibration_report(counts, 0.1, None, "rad", priors=[PRIOR])
    run = as_replace_one(parse_guarantee(histogram["solved"]))
    assert histogram["relation"] == "add-or-remove-one" and histogram["risk"] <= 0.1
    assert rad_profile(run, PRIOR) == pytest.approx(histogram["risk"], rel=1e-6)


def test_errors_of_a_guess_need_more_noise_and_are_asked_for() -> None:
    exact = calibration_report(0.1, None, "rad", priors=[[0.1] * 10])
    near = calibration_report(0.1, None, "rad", priors=[[0.1] * 10], within=2)
    assert near["sigma"] > exact["sigma"] and near["bound"]["mu"] == "profile-aux"


def test_singling_out_anyone() -> None:
    """n (1 − f(w)) = t inverted: Φ⁻¹(t/n) − Φ⁻¹(w) for μ, ln(t/(n w)) for ε."""
    found = calibration_report(0.05, 1e-6, "singling-out", 0.0, records=10_000)
    assert found["mu"] == pytest.approx(float(ndtri(5e-6) - ndtri(1e-6)), rel=1e-8)
    assert found["epsilon"] == pytest.approx(math.log(5.0), rel=1e-8)
    assert found["bound"] == {"epsilon": "pso", "mu": "pso"}
    assert found["reference"]["mu"] == "Kulynych 2025, Theorem F.2"
    added = calibration_report(
        0.05, 1e-6, "singling-out", 0.0, records=10_000, relation="add-remove"
    )
    assert added["epsilon"] == pytest.approx(math.log(5.0) / 2, rel=1e-8)
    # δ of 1e-5 for each of 10,000 records is more than the threshold.
    late = calibration_report(0.05, 1e-6, "singling-out", records=10_000)
    assert "epsilon" not in late and "unreachable" in late["answer"]["epsilon"]
    # The largest weight that is covered, for every number of records.
    for records in range(1, 200):
        assert SinglingOutAnyone(np.array([1 / records]), records)(GaussianDP(0.1)) <= 1
        assert float(SinglingOut(records).success(1 / records, GaussianDP(0.1))) <= 1


def test_singling_out_one_person() -> None:
    """1 − f(w) under add-remove; replace-one has the smaller of it and the recursion."""
    added = calibration_report(
        0.05, 1e-3, "singling-out", 0.0, candidates=100, relation="add-remove"
    )
    assert added["mu"] == pytest.approx(float(ndtri(0.05) - ndtri(1e-3)), rel=1e-8)
    assert added["bound"]["mu"] == "f-dp"
    replaced = calibration_report(0.05, 1e-3, "singling-out", 0.0, candidates=100)
    assert replaced["bound"]["epsilon"] == "profile-recursion"
    # β = e^ε w/(1 + (e^ε − 1) w) inverted.
    odds = 0.05 / 0.95 * 0.999 / 0.001
    assert replaced["epsilon"] == pytest.approx(math.log(odds), rel=1e-8)
    assert replaced["mu"] >= added["mu"]


def test_a_whole_prior_enters_by_prior_exact() -> None:
    """Success and advantage of a known prior are those of `PriorExact`, exactly."""
    whole = np.array([[0.5, 0.3, 0.2]])
    for measure, limit, base in (("success", 0.6, 0.0), ("advantage", 0.1, 0.5)):
        found = calibration_report(limit, None, measure, priors=whole)
        assert found["bound"] == {"epsilon": "prior-exact", "mu": "prior-exact"}
        assert found["reference"]["mu"] == PriorExact.reference
        for guarantee in (GaussianDP(found["mu"]), ApproxDP(found["epsilon"], 1e-5)):
            risk = float(PriorExact(whole, guarantee).per_target[0]) - base
            assert risk == pytest.approx(limit, rel=1e-7) and risk <= limit + 1e-9
        assert calibration_report(limit, 0.5, measure)["mu"] < found["mu"]
    solved = mechanism_calibration_report("laplace:scale=?", 0.1, priors=whole)
    risk = PriorExact(whole, parse_guarantee(solved["solved"])).per_target[0] - 0.5
    assert solved["bound"] == "prior-exact" and risk == pytest.approx(solved["risk"])


def test_a_baseline_of_one_over_m_stands_for_m_equal_values() -> None:
    for m in (2, 7, 49, 300):
        whole = calibration_report(0.1, None, "advantage", priors=np.full((1, m), 1 / m))
        assert calibration_report(0.1, 1 / m)["mu"] == pytest.approx(whole["mu"], rel=1e-6)


@pytest.mark.parametrize("measure", list(MEASURES))
def test_every_measure_names_bound_relation_and_theorem(measure: str) -> None:
    asked: dict[str, dict[str, Any]] = {
        "rad": {"priors": [PRIOR]},
        "singling-out": {"candidates": 4},
    }
    bases: dict[str, Any] = {"rad": None, "ceiling": [0.2] * 30}
    details, base = asked.get(measure, {}), bases.get(measure, 0.2)
    report = calibration_report(0.4, base, measure, relation="add-remove", **details)
    json.dumps(report, allow_nan=False)
    for name in ("epsilon", "mu"):
        answer = report["answer"][name]
        assert "add-or-remove-one neighbours" in answer
        assert f"by {report['bound'][name]}: {report['reference'][name]}" in answer
    risk = named_risk(measure, base, **details)
    found = calibrate(risk, 0.4, GaussianFamily(ADD))
    assert found.value == pytest.approx(report["mu"])
    assert found.to_json()["reference"] == report["reference"]["mu"]
    # The parameter keeps the threshold, and a little more does not.
    assert found.risk <= 0.4 < risk(GaussianDP(found.value * (1 + 1e-6), ADD))


@pytest.mark.parametrize(
    ("arguments", "details", "message"),
    [
        ((0.1, 0.1, "rda"), {}, "got 'rda': did you mean 'rad'"),
        ((0.1, 0.1, "x"), {}, "measure must be one of success, advantage"),
        ((0.1, 0.1, "rad"), {}, "measure rad needs the whole prior"),
        ((0.1, None, "advantage"), {}, "baseline must be given, or priors"),
        ((0.1, None, "rad"), {"priors": [PRIOR], "any_event": True}, "state within instead"),
        ((0.1, None, "rad"), {"priors": [PRIOR], "within": -1}, "within must be >= 0"),
        ((0.1, None, "rad"), {"priors": [[0.5, 0.6]]}, "prior must sum to 1"),
        ((0.1, None, "rad"), {"priors": [PRIOR], "knowledge": "x"}, "knowledge must be none, any"),
        ((0.1, None, "rad"), {"priors": [PRIOR], "knowledge": [0, 1]}, "one label for each of the"),
        ((0.1, 0.1), {"knowledge": "any"}, "knowledge is for measure rad, got measure advantage"),
        ((0.1, 0.1), {"within": 1}, "within is for measure rad"),
        ((0.1, 0.1), {"records": 9}, "records is for measure singling-out"),
        ((0.1, 0.01, "singling-out"), {}, "needs either records .* or candidates"),
        ((0.1, 0.01, "singling-out"), {"records": 9, "candidates": 9}, "needs either records"),
        ((0.1, 0.2, "singling-out"), {"records": 10}, r"at most 1/records = 0\.1, got 0\.2"),
        ((0.1, 0.2, "singling-out"), {"candidates": 9}, "at most 1/candidates"),
        ((0.1, 0.2, "singling-out"), {"records": 0}, "records must be an integer >= 1"),
        ((0.1, None, "singling-out"), {"records": 9}, "needs the weight of the predicate"),
        ((0.1, 0.1, "advantage", 1e-5, math.inf), {}, "sensitivity must be finite, got inf"),
    ],
)
def test_bad_questions(arguments: tuple[Any, ...], details: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        calibration_report(*arguments, **details)
    assert "\n" not in str(error.value)


def test_families_and_measures_in_python() -> None:
    risk = ReconstructionAdvantage([Secret.of(PRIOR)])
    found = calibrate(risk, 0.1, EpsilonFamily(1e-3))
    assert rad_exact(found.value, PRIOR, 1e-3) == pytest.approx(0.1)
    assert (found.bound, found.risk <= 0.1) == ("exact", True)
    target = SinglingOutTarget(np.array([0.01]), 50)
    assert target.source(GaussianDP(1.0)).name in {"f-dp", "profile-recursion"}
