"""Risk, noise and accuracy of models trained with DP-SGD: Kulynych 2025, figures 1, 7 and 9."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.benchmarks.computations import training
from reconbench.benchmarks.computations.computation import ComputationError, Point
from reconbench.benchmarks.computations.training import (
    NoiseForRisk,
    Run,
    TrainingRisk,
    read_between,
)
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.suites.suite import SuiteError, find_suite, read_suite
from reconbench.bounds import GaussianDP, Relation, ReRoRenyi, worst_advantage

CLT = Relation.ADD_REMOVE


def points(suite: str, kind: str = "training-risk") -> list[Point]:
    return [point for point in find_suite(suite).points() if point.kind == kind]


def values(point: Point) -> dict[str, float]:
    return {name: levels["mean"] for name, levels in point.row().ceilings.items()}


def build(**changes: Any) -> TrainingRisk:
    asked = {"noise": [1.0, 2.0], "accuracy": [70.0, 60.0], "rate": 0.01, "steps": 10}
    asked |= {"compute": "training-risk", "bounds": ["f-dp"], **changes}
    return TrainingRisk.model_validate(asked)


def test_what_the_runs_promise_is_what_the_paper_prints() -> None:
    """ε at δ = 1e-5: 3.95, 3.2, 2.7, 1.9 and 1.45."""
    first, *_, last = [point.row() for point in points("kulynych-fig1") if point.risk is None]
    assert (first.epsilon, last.epsilon) == pytest.approx((3.946, 1.449), abs=1.5e-3)
    assert first.guarantee.startswith("DP-SGD, noise 0.5715, rate 0.0038, 792 steps")
    assert first.relation == "add-or-remove-one" and first.baseline_expected == 0
    risks = [point.options["accuracy"] for point in points("kulynych-fig1") if point.risk is None]
    # "Up to 18 pp" is from the noisiest run to the least noisy one.
    assert max(risks) - min(risks) == pytest.approx(18.35, abs=0.01)


def test_the_accuracies_at_one_risk_are_those_printed() -> None:
    """From 52 % to 70 % with GPT-2; from 65 % to 68 % on CIFAR-10 at risk 0.25."""
    (text,) = (point for point in points("kulynych-fig1") if point.risk == 0.155)
    found = values(text)
    assert found["rero-rdp"] == pytest.approx(52, abs=0.5)
    assert found["f-dp"] == pytest.approx(70, abs=0.5)
    (image,) = (point for point in points("kulynych-fig7") if point.risk == 0.25)
    found = values(image)
    assert (round(found["rero-rdp"]), round(found["f-dp"])) == (65, 68)
    assert image.row().metric == "accuracy"


def test_the_noise_at_one_risk_keeps_it() -> None:
    (point,) = (p for p in points("kulynych-fig1", "training-noise") if p.risk == 0.15)
    found = values(point)
    assert 1 - found["f-dp"] / found["rero-rdp"] == pytest.approx(0.22, abs=0.005)
    for name, noise in found.items():
        run = build(noise=noise, accuracy=60.0, steps=792, rate=point.asked["rate"], bounds=[name])
        assert [values(each)[name] for each in run.points("s")] == [pytest.approx(0.15, abs=1e-3)]


def test_statistics_before_a_training_that_tells_nothing_are_gaussian_noise() -> None:
    """Four releases of sd 4 are one of sd 2, by curves and by Rényi divergences."""
    run = Run(50.0, 1e-6, 1, sigma=4.0, statistics=4)
    alone = GaussianDP(math.sqrt(4) / 4.0, CLT)
    assert run.curve().total_variation() == pytest.approx(alone.total_variation(), abs=1e-3)
    by_renyi = worst_advantage(ReRoRenyi(), run.renyi())[0]
    assert by_renyi == pytest.approx(worst_advantage(ReRoRenyi(), alone)[0], abs=2e-3)
    with_training = Run(1.0, 0.01, 100, sigma=4.0, statistics=4)
    assert with_training.curve().total_variation() > run.curve().total_variation()


def test_reading_between_runs() -> None:
    risks, accuracies = [0.3, 0.1, 0.2], [70.0, 50.0, 60.0]
    assert read_between(risks, accuracies, 0.15) == pytest.approx(55)
    assert read_between(risks, accuracies, 0.3) == 70
    assert math.isnan(read_between(risks, accuracies, 0.31))
    assert math.isnan(read_between(risks, accuracies, 0.09))
    assert read_between([0.2], [60.0], 0.2) == 60


def test_listing_points_composes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "curve", lambda self: pytest.fail("composed"))
    for suite in ("kulynych-fig1", "kulynych-fig7"):
        listed = points(suite)
        assert len({point.key for point in listed}) == len(listed)
        assert len({point.label for point in listed}) == len(listed)


def test_what_is_missing_to_compose_is_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["dp_accounting", *(name for name in sys.modules if "dp_accounting." in name)]:
        monkeypatch.setitem(sys.modules, name, None)
    training._compose_renyi.cache_clear()
    row = points("kulynych-fig7")[0].attempt()
    assert row.status is Status.FAILED and math.isinf(row.epsilon)
    assert row.error == (
        "Rényi accounting of DP-SGD needs dp-accounting: pip install 'reconbench[accounting]'"
    )


def test_less_noise_and_more_steps_are_more_risk() -> None:
    (low, high) = (values(point)["f-dp"] for point in build().points("s"))
    assert low > high > 0
    (more, _) = (values(point)["f-dp"] for point in build(steps=40).points("s"))
    assert more > low
    assert [run.steps for run, _ in build(steps=[10, 40]).runs] == [10, 40]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"accuracy": [70.0]}, "2 runs have 1 accuracies"),
        ({"steps": [1, 2, 3]}, "2 runs have 2 accuracies and 3 numbers of steps"),
        ({"accuracy": [70.0, 101.0]}, "less than or equal to 100"),
        ({"rate": 0.0}, "greater than 0"),
        ({"noise": [1.0, -1.0]}, "greater than 0"),
        ({"risk": [1.5]}, "less than 1"),
        ({"bounds": ["x"]}, "unknown bound 'x'"),
        ({"statistics": {"sigma": 0.0}}, "greater than 0"),
    ],
)
def test_bad_runs(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**changes)


def test_no_noise_that_keeps_a_risk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"compute": "training-noise", "rate": 0.01, "steps": 10, "risk": 0.01}
    computation = NoiseForRisk.model_validate({**asked, "bounds": ["f-dp", "rero-zcdp"]})
    (point,) = computation.points("s")
    assert math.isnan(computation._find_noise("rero-zcdp", 0.01))
    monkeypatch.setattr(training, "measure_worst", lambda bound, guarantee: 0.5)
    with pytest.raises(ComputationError, match="raise the risk or train for fewer steps"):
        computation.evaluate(point)
    monkeypatch.setattr(training, "measure_worst", lambda bound, guarantee: 0.0)
    assert computation.evaluate(point)["f-dp"] == training.LEAST_NOISE


def test_a_worst_case_beside_baselines() -> None:
    """Figure 9: the worst case is at most the total variation, and above every baseline."""
    found = find_suite("kulynych-fig9").points()
    assert len(found) == 24
    chosen = [point for point in found if point.label == "8 block"]
    assert [point.options["baseline"] for point in chosen] == [0.01, 0.1, "worst-case"]
    risks = [values(point) for point in chosen]
    for name in ("f-dp", "rero-zcdp"):
        assert np.argmax([each[name] for each in risks]) == 2
    assert all(each["f-dp"] < each["rero-zcdp"] for each in risks)


def test_a_worst_case_of_a_success_is_refused(tmp_path: Path) -> None:
    text = (
        'name = "s"\ndescription = ""\n[[curves]]\ncompute = "success"\nbaseline = 0.1\n'
        'bounds = ["f-dp"]\nworst_case = true\nguarantee.pure = { epsilon = 1 }\n'
    )
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SuiteError, match="worst_case is for the advantage, got 'success'"):
        read_suite(tmp_path / "s.toml")


def test_generalised_advantages() -> None:
    """(success − baseline)/(1 − baseline), as the success of the same point says."""
    point = find_suite("swanberg-fig2").points()[20]
    gain = values(point)["thm35"]
    plain = replace(point, computation=point.computation.model_copy(update={"compute": "success"}))
    success = values(plain)["thm35"]
    assert gain == pytest.approx((success - point.baseline) / (1 - point.baseline))
    assert point.metric == "generalised advantage"
