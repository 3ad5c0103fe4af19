"""Guarantees by text: every kind against a closed form or dp-accounting, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as losses
from hypothesis import given
from hypothesis import strategies as st

from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    LaplaceDP,
    PureDP,
    RandomisedResponse,
    Relation,
    RenyiDP,
    as_replace_one,
    optimal_composition,
    parse_guarantee,
    parse_mechanism,
)
from reconbench.bounds.guarantees.notation.kinds import KINDS

ALPHA = np.array([0.0, 1e-6, 1e-3, 0.05, 0.3, 0.8, 1.0])
ONE, ADD = Relation.REPLACE_ONE, Relation.ADD_REMOVE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gaussian:sigma=2", GaussianDP(0.5)),
        ("gaussian: sigma = 4 , sensitivity = 2, queries=9", GaussianDP(1.5)),
        ("laplace:scale=5,sensitivity=2", LaplaceDP(0.4)),
        ("gdp:mu=1,relation=add-remove", GaussianDP(1.0, ADD)),
        ("zcdp:rho=0.5", ZCDP(0.5)),
        ("zcdp:rho=0.1+zcdp:rho=0.2,queries=2", ZCDP(0.5)),
        ("gaussian:sigma=2+gdp:mu=1.2", GaussianDP(1.3)),
        ("pure:epsilon=1", PureDP(1.0)),
        ("approx:epsilon=1,delta=1e-5", ApproxDP(1.0, 1e-5)),
        ("randomized-response:epsilon=1", RandomisedResponse(2, 1.0)),
        ("randomized-response:values=5,epsilon=1e+0", RandomisedResponse(5, 1.0)),
        ("gdp:mu=1+gdp:mu=1,relation=add-remove", None),
    ],
)
def test_kinds_with_a_closed_form(text: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="must share a neighbouring relation"):
            parse_guarantee(text)
        return
    found = parse_guarantee(text)
    assert type(found) is type(expected) and found.relation is expected.relation
    np.testing.assert_allclose(found.power(ALPHA), expected.power(ALPHA), rtol=1e-12)


def test_renyi() -> None:
    found = parse_guarantee("rdp:order=2/8,epsilon=0.1/0.4,queries=2")
    expected = RenyiDP(np.array([2.0, 8.0]), np.array([0.2, 0.8]))
    np.testing.assert_allclose(found.power(ALPHA), expected.power(ALPHA), rtol=1e-12)


EVENTS: dict[str, DpEvent] = {
    "laplace:scale=5,queries=15": SelfComposedDpEvent(LaplaceDpEvent(5.0), 15),
    "dp-sgd:noise=1,rate=0.01,steps=50": SelfComposedDpEvent(
        PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0)), 50
    ),
    "gaussian:sigma=3,queries=2+laplace:scale=8,sensitivity=2": ComposedDpEvent(
        [SelfComposedDpEvent(GaussianDpEvent(3.0), 2), LaplaceDpEvent(4.0)]
    ),
}


@pytest.mark.parametrize("text", EVENTS)
def test_kinds_by_loss_distributions(text: str) -> None:
    accountant = PLDAccountant()
    accountant.compose(EVENTS[text])
    found = parse_guarantee(text)
    for delta in (1e-6, 1e-3):
        expected = accountant.get_epsilon(delta)
        assert expected - 1e-9 <= found.epsilon_at(delta) <= expected * 1.005


def test_discrete_gaussians() -> None:
    pld = losses.from_discrete_gaussian_mechanism(6.0, sensitivity=2).self_compose(3)
    found = parse_guarantee("discrete-gaussian:sigma=6,sensitivity=2,queries=3")
    for epsilon in (0.0, 0.5, 2.0):
        delta = pld.get_delta_for_epsilon(epsilon)
        assert found.delta_at(epsilon) == pytest.approx(delta, rel=1e-3)


@pytest.mark.parametrize("pair", [PureDP(0.3), ApproxDP(0.3, 1e-4)])
def test_curves_compose_as_the_optimal_composition(pair: PureDP | ApproxDP) -> None:
    """Kairouz, Oh and Viswanath 2015: the grid adds little and never takes away."""
    delta = f",delta={pair.delta}" if isinstance(pair, ApproxDP) else ""
    kind = "approx" if delta else "pure"
    found = parse_guarantee(f"{kind}:epsilon=0.3{delta},queries=12")
    exact = optimal_composition([pair] * 12)
    gap = found.power(ALPHA) - exact.power(ALPHA)
    assert np.all(gap >= -1e-10) and np.all(gap <= 1e-4)
    assert found.total_variation() < PureDP(3.6).total_variation() / 1.5


def test_a_gaussian_seen_through_its_curve_costs_little() -> None:
    """A curve of points of GDP, composed with Gaussian noise, against the exact sum."""
    found = parse_guarantee("gaussian:sigma=2+randomized-response:epsilon=1e-6")
    exact = GaussianDP(0.5)
    gap = found.power(ALPHA) - exact.power(ALPHA)
    assert np.all(gap >= -1e-9) and np.all(gap <= 1e-4)


def test_concentrated_parts_are_not_taken_for_gaussian_noise() -> None:
    mixed = parse_guarantee("zcdp:rho=0.02+gaussian:sigma=5")
    assert mixed.total_variation() > GaussianDP(math.sqrt(0.04 + 0.04)).total_variation()
    assert mixed.total_variation() >= ZCDP(0.02).total_variation()


def test_relations() -> None:
    text = "dp-sgd:noise=1,rate=0.01,steps=50"
    added, replaced = parse_guarantee(text), parse_guarantee(text, "replace-one")
    assert added.relation is ADD and added.describe() == f"{text}, add-or-remove-one"
    assert replaced.relation is ONE and text in replaced.describe()
    expected = as_replace_one(added)
    np.testing.assert_allclose(replaced.power(ALPHA), expected.power(ALPHA), rtol=1e-12)
    assert parse_guarantee("gaussian:sigma=1", "add-remove").relation is ADD
    with_gaussian = parse_guarantee("gaussian:sigma=1,relation=add-remove", "replace-one")
    assert with_gaussian == GaussianDP(2.0)
    with pytest.raises(ValueError, match=r"dp-sgd add-or-remove-one, laplace replace-one: state"):
        parse_guarantee(f"{text}+laplace:scale=5")
    both = parse_guarantee(f"{text}+laplace:scale=5", "add-remove")
    assert both.total_variation() > LaplaceDP(0.2).total_variation()
    assert both.total_variation() > added.total_variation()
    converted = parse_guarantee(f"{text}+laplace:scale=5", "replace-one")
    assert converted.relation is ONE and converted.total_variation() > both.total_variation()
    for refused in ("laplace:scale=5,relation=replace-one", "randomized-response:epsilon=1"):
        with pytest.raises(ValueError, match="no conversion to add-or-remove-one"):
            parse_guarantee(refused, "add-remove")


def test_curve_files(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("alpha,beta\n0,1\n0.25,0.5\n0.5,0.25\n1,0\n")
    found = parse_guarantee(f"curve:{file}")
    np.testing.assert_allclose(found.tradeoff([0.0, 0.125, 0.5]), [1.0, 0.75, 0.25])
    assert found.describe() == "the curve points.csv, replace-one"
    both = parse_guarantee(f"curve:{file},queries=2,relation=add-remove")
    # Two releases at (0, 1), (1/4, 1/2), (1/2, 1/4), (1, 0): losses ±log 2 and 0.
    assert both.relation is ADD
    assert both.delta_at(math.log(2)) == pytest.approx(1 / 4 - 2 / 16, abs=1e-4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n0,1\n1,0\n", "must start with the header alpha,beta"),
        ("", "must start with the header"),
        ("alpha,beta\n0,1\n", "2 to 20000 points, got 1"),
        ("alpha,beta\n0,1\n0.5,__import__\n1,0\n", "point 2 must be two numbers"),
        ("alpha,beta\n0,1\n0.5,0.2,3\n1,0\n", "point 2 must be two numbers"),
        ("alpha,beta\n0,1\n0.5,nan\n1,0\n", "point 2 must be finite"),
        ("alpha,beta\n0,1\n0.5,0.7\n1,0\n", "must not exceed 1 − alpha"),
        ("alpha,beta\n0,0.8\n0.2,0.1\n0.5,0.3\n1,0\n", "must not increase"),
        ("alpha,beta\n0,0.9\n0.4,0.59\n0.5,0.1\n1,0\n", "must be convex"),
        ("alpha,beta\n0.1,0.9\n1,0\n", "must run from 0 to 1"),
        ("alpha,beta\n" + "0,1\n" * 300_000, "at most 1000000 bytes"),
        ("alpha,beta\n" + "0,1\n" * 30_000, "2 to 20000 points, got 30000"),
    ],
)
def test_bad_curve_files(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "points.csv"
    file.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        parse_guarantee(f"curve:{file}")
    assert str(file) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown kind ''"),
        ("gausian:sigma=1", "unknown kind 'gausian' in mechanism; did you mean 'gaussian'"),
        ("randomised-response:epsilon=1", "did you mean 'randomized-response'"),
        ("dp_sgd:noise=1", "did you mean 'dp-sgd'"),
        ("gaussian:sgma=1", "unknown parameter 'sgma' of gaussian; did you mean 'sigma'"),
        ("gaussian:zzz=1", "use one of sigma, sensitivity, queries, relation"),
        ("gaussian", "gaussian needs sigma: standard deviation"),
        ("gaussian:", "gaussian needs sigma"),
        ("dp-sgd:noise=1,rate=0.1", "dp-sgd needs steps"),
        ("gaussian:sigma=", "'sigma=' in gaussian must be name=value"),
        ("gaussian:2", "'2' in gaussian must be name=value; names: sigma"),
        ("gaussian:sigma=1,sigma=2", "sigma of gaussian is given twice"),
        ("gaussian:sigma=1,relation=add-remove,relation=add-remove", "relation of gaussian is giv"),
        ("gaussian:sigma=nan", "sigma of gaussian must be finite, got nan"),
        ("gaussian:sigma=inf", "must be finite"),
        ("gaussian:sigma=1e999", "must be finite"),
        ("gaussian:sigma=0", r"sigma of gaussian must be in \[1e-09, 1e\+12\], got 0"),
        ("gaussian:sigma=-1", "must be in"),
        ("gaussian:sigma=two", "sigma of gaussian must be a number, got 'two'"),
        ("gaussian:sigma=1_0", "must be a number"),
        ("gaussian:sigma=2**3", "must be a number"),
        ("gaussian:sigma=1+laplace", "must be a number, got '1"),
        ("gaussian:sigma=1+", "must be a number"),
        ("gaussian:sigma=1+laplce:scale=2", "did you mean 'laplace'"),
        ("dp-sgd:noise=1,rate=1.5,steps=10", "rate of dp-sgd must be in"),
        ("dp-sgd:noise=1,rate=0.1,steps=1.5", "steps of dp-sgd must be an integer, got 1.5"),
        ("dp-sgd:noise=1,rate=0.1,steps=1e9", "steps of dp-sgd must be in"),
        ("approx:epsilon=1,delta=1", "delta of approx must be in"),
        ("rdp:order=1,epsilon=1", "order of rdp must be in"),
        ("rdp:order=2/4,epsilon=1", "one epsilon for every order, got 2 orders and 1"),
        ("rdp:order=?,epsilon=1", "order of rdp must be given"),
        ("gaussian:sigma=?", r"sigma of gaussian must be a number, got '\?'"),
        ("gaussian:sigma=1,relation=swap", "relation must be replace-one or add-remove"),
        ("randomized-response:epsilon=1,relation=add-remove", "no conversion"),
        ("randomized-response:epsilon=1,values=1", "values of randomized-response must be in"),
        ("curve:", "curve needs the name of a CSV file"),
        ("curve:queries=2", "curve needs the name of a CSV file"),
        ("curve:/nowhere/points.csv", "cannot read the curve"),
        ("curve:/dev/zero", "it is not a file"),
        ("gaussian:sigma=1" + " " * 10_000, "at most 10000 letters"),
        ("+".join(["gdp:mu=1"] * 101), "at most 100 parts"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        parse_guarantee(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["laplace:scale=1e-6,queries=1000000", "zcdp:rho=1e6+pure:epsilon=600"]
)
def test_hopeless_losses_promise_nothing(text: str) -> None:
    found = parse_guarantee(text)
    assert found.total_variation() == 1.0 and found.epsilon_at(1e-5) == math.inf


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from([kind for kind in KINDS.values() if kind.name != "rdp"]))
        fields = ["points+1.csv"] if kind.file else []
        for parameter in kind.parameters:
            if parameter.required or draw(st.booleans()):
                number = draw(st.floats(max(parameter.least, 1e-12), parameter.most))
                if parameter.whole:
                    number = float(min(parameter.most, math.ceil(number)))
                fields.append(f"{parameter.name}={number!r}")
        if draw(st.booleans()):
            fields.append("relation=replace-one")
        parts.append(f"{kind.name}:{','.join(fields)}")
    return " + ".join(parts)


@given(texts())
def test_canonical_text_round_trips(text: str) -> None:
    first = parse_mechanism(text)
    again = parse_mechanism(first.text)
    assert again == first and again.text == first.text
