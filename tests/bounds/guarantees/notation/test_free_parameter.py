"""The one parameter given as `?`."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.bounds import (
    Advantage,
    GaussianFamily,
    WorstAdvantage,
    calibrate,
    laplace_queries,
    mechanism_calibration_report,
    parse_mechanism,
)
from reconbench.bounds.guarantees.notation.free_parameter import open_parameter, solve_free

RISK = Advantage(np.array([0.1]))


def test_gaussian_noise_agrees_with_the_family() -> None:
    mu = calibrate(RISK, 0.1, GaussianFamily()).value
    for text, expected in (("gaussian:sigma=?", 1 / mu), ("gdp:mu=?", mu)):
        found = solve_free(RISK, 0.1, parse_mechanism(text))
        assert found is not None and found.value == pytest.approx(expected, rel=1e-3)
        assert found.risk <= 0.1 and not found.limit
    sensitive = solve_free(RISK, 0.1, parse_mechanism("gaussian:sigma=3,sensitivity=?"))
    assert sensitive is not None and sensitive.value == pytest.approx(3 * mu, rel=1e-3)


def test_whole_numbers_are_exact() -> None:
    found = solve_free(RISK, 0.05, parse_mechanism("laplace:scale=5,queries=?"))
    assert found is not None
    assert found.value == laplace_queries(RISK, 0.05, 5.0).queries
    one_more = parse_mechanism(f"laplace:scale=5,queries={found.value + 1:g}")
    assert RISK(one_more.guarantee()) > 0.05


def test_steps_of_dp_sgd() -> None:
    risk = WorstAdvantage()
    found = solve_free(risk, 0.15, parse_mechanism("dp-sgd:noise=1,rate=0.1,steps=?"))
    assert found is not None and found.risk <= 0.15
    one_more = parse_mechanism(f"dp-sgd:noise=1,rate=0.1,steps={found.value + 1:g}")
    assert risk(one_more.guarantee()) > 0.15


@pytest.mark.parametrize(
    ("text", "threshold", "expected"),
    [
        ("dp-sgd:noise=?,rate=0.004,steps=792", 0.1, 0.4487),
        ("dp-sgd:noise=1,rate=?,steps=500", 0.05, 0.008119),
        ("gaussian:sigma=?+laplace:scale=5", 0.2, 1.144),
    ],
)
def test_the_value_keeps_the_threshold_and_little_less_does_not(
    text: str, threshold: float, expected: float
) -> None:
    """On the fine grid; the values are those of losses composed by dp-accounting."""
    risk = Advantage(np.array([0.01 if "noise=?" in text else 0.1]))
    mechanism = parse_mechanism(text)
    found = solve_free(risk, threshold, mechanism)
    assert found is not None and found.value == pytest.approx(expected, rel=1e-4)
    assert found.risk == risk(mechanism.fill(found.value).guarantee()) <= threshold
    weaker = found.value * 1.005**-found.parameter.protects
    assert risk(mechanism.fill(weaker).guarantee()) > threshold


def test_no_answer_and_no_limit() -> None:
    assert solve_free(RISK, 0.1, parse_mechanism("gaussian:sigma=?+pure:epsilon=9")) is None
    report = mechanism_calibration_report("gaussian:sigma=?+pure:epsilon=9", 0.1, 0.1)
    assert report["value"] is None and "unreachable: no sigma" in report["answer"]
    free = mechanism_calibration_report("gaussian:sigma=?", 0.1, 0.95)
    assert free["at_limit"] and "every sigma" in free["answer"]


def test_whole_priors_need_less_noise() -> None:
    priors = [[0.5, 0.3, 0.2]]
    best = mechanism_calibration_report("gaussian:sigma=?", 0.1, 0.5)
    whole = mechanism_calibration_report("gaussian:sigma=?", 0.1, [0.5], priors=priors)
    assert best["value"] == pytest.approx(1.97, abs=5e-3)
    assert whole["value"] == pytest.approx(0.996, abs=1e-3) and whole["bound"] == "prior-exact"
    assert whole["solved"] == f"gaussian:sigma={whole['value']}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gaussian:sigma=2", "exactly one free parameter .* got none"),
        ("gaussian:sigma=?+laplace:scale=?", "got sigma of gaussian, scale of laplace"),
        ("dp-sgd:noise=?,rate=?,steps=9", "got noise of dp-sgd, rate of dp-sgd"),
        ("randomized-response:epsilon=1,values=?", "must be given"),
    ],
)
def test_free_parameters_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mechanism_calibration_report(text, 0.1, 0.1)


def test_measures_are_checked() -> None:
    with pytest.raises(ValueError, match="measure must be one of success"):
        mechanism_calibration_report("gaussian:sigma=?", 0.1, 0.1, "harm")
    with pytest.raises(ValueError, match="threshold must be in"):
        mechanism_calibration_report("gaussian:sigma=?", 2, 0.1)


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("gaussian:sigma=2,queries=3", ("gaussian:sigma=?,queries=3", "sigma", 2.0)),
        ("dp-sgd:noise=1,rate=0.1,steps=9", ("dp-sgd:noise=?,rate=0.1,steps=9", "noise", 1.0)),
        ("approx:epsilon=1,delta=1e-5", ("approx:epsilon=?,delta=1e-05", "epsilon", 1.0)),
        (
            "curve:points.csv+laplace:scale=5,queries=2",
            ("curve:points.csv+laplace:scale=?,queries=2", "scale", 5.0),
        ),
        ("rdp:order=2,epsilon=1", None),
        ("curve:points.csv,queries=2", None),
    ],
)
def test_the_parameter_that_a_figure_varies(
    text: str, opened: tuple[str, str, float] | None
) -> None:
    found = open_parameter(parse_mechanism(text))
    assert opened == (None if found is None else (found[0].text, found[1].name, found[2]))
    if found is not None:
        assert found[0].fill(found[2]).text == parse_mechanism(text).text
