"""`ceiling`, `risk`, `calibrate` and `audit`: the numbers of the commands, in a table and words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reconbench as rb
from reconbench.bounds import calibration_report, risk_report


def test_ceilings(tmp_path: Path) -> None:
    answer = rb.ceiling(0.56, n=100, epsilon=1)
    frame = answer.frame.set_index(["bound", "confidence"]).ceiling
    assert frame["thm35", 0.95] == 84 == rb.theorem_3_5([0.56] * 100, rb.ApproxDP(1, 1e-5))[0.95]
    assert answer.frame[answer.frame.confidence.isna()].bound.tolist() == ["mean", "prior-exact"]
    first, second = answer.summary().splitlines()
    assert "100 targets" in first and "(1, 1e-05)-DP" in first
    assert second.startswith("Any attack recovers at most 84 with probability 95 % or more")
    assert second.endswith("at most 73.1 on average.")
    (tmp_path / "priors.csv").write_text("prior\n" + "0.56\n" * 100)
    for prior in ([0.56] * 100, np.full(100, 0.56), tmp_path / "priors.csv"):
        assert rb.ceiling(prior, epsilon="1").frame.equals(answer.frame)
    whole = rb.ceiling([[0.5, 0.3, 0.2]] * 10, mu=0)
    assert whole.frame.set_index("bound").ceiling["prior-exact"] == pytest.approx(5.0)
    only = rb.ceiling(0.5, epsilon=1, bound="thm35", confidence=0.99)
    assert only.frame.bound.tolist() == ["thm35"] and only.frame.confidence.tolist() == [0.99]
    tight = rb.ceiling(0.56, epsilon=1, gaussian=True).document["bounds"]["thm35"]["ceilings"]
    assert tight["0.95"] == 84


def test_risks() -> None:
    answer = rb.risk(0.1, mu=1)
    expected = risk_report(0.1, rb.GaussianDP(1.0))
    assert dict(answer.document) == expected
    assert answer.frame.set_index("bound").success["f-dp"] == pytest.approx(0.389144, abs=1e-6)
    assert f"by {expected['bound']}" in answer.summary()
    several = rb.risk([0.1, 0.2], mechanism="gaussian:sigma=1")
    assert several.frame.baseline.unique().tolist() == [0.1, 0.2]
    assert len(several.document["reports"]) == 2


def test_calibrations() -> None:
    answer = rb.calibrate(0.05, 0.01)
    assert dict(answer.document) == calibration_report(0.05, 0.01)
    values = answer.frame.set_index("parameter").value
    assert values["sigma"] == pytest.approx(1 / values["mu"])
    free = rb.calibrate(0.1, 0.9)
    assert "no noise is needed" in free.summary() and np.isinf(free.frame.value[0])
    never = rb.calibrate(0.05, 0.1, measure="success")
    assert "unreachable" in never.summary()
    with pytest.raises(ValueError, match="nothing to plot"):
        never.plot()
    solved = rb.calibrate(0.1, [[0.5, 0.3, 0.2]], mechanism="gaussian:sigma=?")
    assert solved.frame.value[0] == pytest.approx(0.996, abs=1e-3)
    assert solved.plot().svg.startswith("<svg")
    worst = rb.calibrate(0.1, measure="worst-advantage")
    assert worst.frame.parameter.tolist() == ["epsilon", "mu", "sigma"]


def test_audits_of_counts() -> None:
    rad = rb.audit(
        "rad", hits=700, trials=1000, chance=0.01, domain_size=100, epsilon=4, mechanism="grr"
    )
    exact = rad.frame.iloc[0]
    assert 5.2 < exact.lower < exact.epsilon < exact.upper < 5.7 and exact.violated
    assert np.isinf(rad.frame.upper[1]) and "violates ε = 4" in rad.summary()
    replaced = rb.audit(
        "rad", hits=70, trials=100, replaced_hits=9, replaced_trials=100, prior=[0.1] * 10
    )
    assert replaced.frame.verdict.isna().all()
    positives = rb.audit("positives", tp=900, fp=30, trials=1000, epsilon=2, confidence=0.95)
    assert positives.frame.violated.all()
    one_run = rb.audit("one-run", canaries=1000, guesses=1000, right=500, epsilon=0.5)
    assert one_run.frame.lower.tolist() == [0.0, 0.0] and not one_run.frame.violated.any()


def test_an_audit_of_a_client() -> None:
    """A function in memory is attacked like one in a file, and blamed for its errors."""

    def leaky(values: Any, rng: np.random.Generator) -> Any:
        return values

    given: dict[str, Any] = {"mechanism": "grr", "domain_size": 20, "trials": 2_000}
    honest = rb.audit("ldp", epsilon=1, **given)
    assert not honest.frame.violated.any() and honest.document["client"] == "shipped"
    found = rb.audit("ldp", epsilon=1, client=leaky, **given)
    assert found.frame.violated.all() and found.document["client"] == "leaky"
    prior = np.full(20, 0.05)
    same = rb.audit("ldp", epsilon=1, client=leaky, mechanism="grr", prior=prior, trials=2_000)
    assert same.frame.equals(found.frame)

    def broken(values: Any, rng: np.random.Generator) -> Any:
        raise KeyError("no")

    with pytest.raises(ValueError, match="client 'broken' failed on"):
        rb.audit("ldp", epsilon=1, client=broken, **given)


ANSWERS: dict[str, Callable[[], rb.Answer]] = {
    "ceiling": lambda: rb.ceiling(0.5, n=10, epsilon=1),
    "risk": lambda: rb.risk(0.1, epsilon=1),
    "calibration": lambda: rb.calibrate(0.05, 0.01),
    "audit": lambda: rb.audit("one-run", canaries=100, guesses=50, right=40, epsilon=0.5),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_shows_and_saves_itself(kind: str, tmp_path: Path) -> None:
    answer = ANSWERS[kind]()
    assert answer.kind == kind and len(repr(answer).splitlines()) == 1
    page = answer._repr_html_()
    assert "<svg" in page and "<table" in page and "<li>" in page
    out = answer.save(tmp_path / "new" / "folder")
    document = json.loads((out / f"{kind}.json").read_text())
    assert document == json.loads(json.dumps(dict(answer.document)))
    assert len(pd.read_csv(out / f"{kind}.csv")) == len(answer.frame)
    assert (out / f"{kind}.svg").read_text().startswith("<svg")
