"""The optimal attack on DP-SGD: played against its bounds, and the computations made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy.stats import norm

from reconbench.benchmarks.audits.train import FromPrior, FromRecords
from reconbench.benchmarks.computations.computation import ComputationError, Point
from reconbench.benchmarks.computations.kinds import Curve
from reconbench.benchmarks.computations.rad.bounds import THEOREM_4_2
from reconbench.benchmarks.computations.rad.training import (
    KNOWN,
    PUBLISHED,
    RAD,
    RERO,
    RERO_BOUND,
    THEOREM_5_1,
    RecordPool,
    TrainingAttack,
    bound_risks,
    knowledge_of,
    simulate,
)
from reconbench.benchmarks.run import runner
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds import Relation
from reconbench.bounds.rad import SampledAttack, dp_sgd_rad, optimal_sampled
from reconbench.datasets.sources._download import SourceError
from reconbench.datasets.sources.packages.images import fetch_images
from reconbench.mechanisms.training.algorithms import Network, Records
from reconbench.mechanisms.training.candidates import CandidateTraining

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4
CURVES: TypeAdapter[Any] = TypeAdapter(Curve)
SMALL: Mapping[str, Any] = {
    "compute": "rad-training",
    "known": list(KNOWN),
    "size": 39,
    "steps": 10,
    "hidden": 4,
    "samples": 800,
    "confidence": 1 - FALSE_ALARM,
}


def points_of(**settings: Any) -> list[Point]:
    return list(CURVES.validate_python({**SMALL, **settings}).points("try"))


def rows_of(**settings: Any) -> dict[str, dict[str, float]]:
    return {
        point.label: {name: value["mean"] for name, value in point.row().ceilings.items()}
        for point in points_of(**settings)
    }


def opposite(rng: np.random.Generator) -> RecordPool:
    """Two candidates that differ in the class alone: opposite gradients under logistic regression,
    so that replacing one by the other is as visible as replacing a record can be."""
    vectors = rng.random((21, 4))
    known = Records.of_vectors(vectors[:20], rng.integers(2, size=20), 2)
    return RecordPool(known, Records.of_vectors(np.repeat(vectors[20:], 2, axis=0), [0, 1], 2))


def attack_opposite(noise: float, known: str) -> SampledAttack:
    rng = np.random.default_rng(5)
    pool = opposite(rng)
    training = CandidateTraining(Network(0), noise, steps=4, rate=2.0)
    return optimal_sampled(
        simulate(training, pool, 4000, rng),
        2,
        aux=knowledge_of(known, pool.candidates).labels,
        confidence=1 - FALSE_ALARM,
    )


@pytest.mark.parametrize("known", KNOWN)
def test_theorem_4_2_is_reached_by_two_opposite_gradients(known: str) -> None:
    """½ (2Φ(√T/σ) − 1), whatever is known. Half the noise breaks it, and so does the attack what
    is printed: μ = √T/σ compares a record with none."""
    sigma, mu = 3.0, 2 / 3
    exact = (2 * norm.cdf(mu) - 1) / 2
    guarantee = CandidateTraining(Network(0), sigma, steps=4).guarantee(Relation.ADD_REMOVE)
    bounds = bound_risks(guarantee, 2, known)
    assert bounds[THEOREM_4_2] == pytest.approx(exact)
    assert bounds[PUBLISHED] == pytest.approx((2 * norm.cdf(mu / 2) - 1) / 2)
    assert bounds[RERO_BOUND] == pytest.approx(norm.cdf(mu))
    found = attack_opposite(sigma, known)
    assert found.rad.low <= exact <= found.rad.high
    assert found.rad.low > bounds[PUBLISHED]
    # Whoever is right half the time by chance is right with probability ½ + RAD.
    assert found.success.low <= 0.5 + exact <= found.success.high
    assert attack_opposite(sigma / 2, known).rad.low > exact


def test_bounds_without_knowledge_are_those_of_example_5_5() -> None:
    guarantee = CandidateTraining(Network(10), 27.0).guarantee(Relation.ADD_REMOVE)
    bounds = bound_risks(guarantee, 8, "nothing")
    assert bounds[THEOREM_5_1] == pytest.approx(dp_sgd_rad(27.0, 100, 8), rel=1e-12)
    printed = dp_sgd_rad(27.0, 100, 8, "add-remove")
    assert bounds[PUBLISHED] == pytest.approx(printed, rel=1e-12)
    assert bounds[THEOREM_4_2] == pytest.approx(7 / 8 * (2 * norm.cdf(10 / 27) - 1))
    assert bounds[RERO_BOUND] == pytest.approx(norm.cdf(norm.ppf(1 / 8) + 10 / 27))
    assert bounds[THEOREM_5_1] < bounds[THEOREM_4_2]
    assert THEOREM_5_1 not in bound_risks(guarantee, 8, "class")


def test_knowledge_breaks_the_bound_on_success_and_none_on_advantage() -> None:
    """The message of figure 3, on noise at which the budgets are about those of its first points.

    Intervals miss with a probability of at most 1e-4 each, of which there are 12.
    """
    found = rows_of(noise=[12.0, 4.0])
    assert len(found) == 6
    for label, values in found.items():
        advantage = THEOREM_5_1 if label.startswith("nothing") else THEOREM_4_2
        assert values[f"{RAD}-low"] <= values[advantage]
        assert 0 < values[RAD] < values[f"{RAD}-high"]
        if label.startswith("nothing"):
            assert values[f"{RERO}-low"] <= values[RERO_BOUND]
        else:
            assert values[f"{RERO}-low"] > values[RERO_BOUND]
    for noise in (12, 4):
        each = [found[f"{known} known, noise {noise}"][RAD] for known in KNOWN]
        assert each == sorted(each) and len(set(each)) == 3


def test_the_attack_as_it_is_played() -> None:
    """Right or wrong, in both worlds, as in Definition 4.1: what is averaged has the same mean."""
    rng = np.random.default_rng(7)
    pool = RecordPool.draw(FromPrior("acs", "MAR"), 39, 4, rng)
    training, runs = CandidateTraining(Network(4), 3.0, steps=10), 3000
    drawn, replaced = rng.integers(4, size=(2, runs))
    logs = training.log_likelihoods(pool.known, pool.candidates, drawn, rng)
    posterior = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    for known in KNOWN:
        labels = knowledge_of(known, pool.candidates).labels

        def hits(target: np.ndarray, aux: np.ndarray = labels) -> np.ndarray:
            open_ = np.where(aux[target][:, None] == aux, posterior - 1 / 4, -1.0)
            chosen = open_.argmax(axis=1)
            # A loss in all of them: guess something else.
            lost = (open_.max(axis=1) < 0) & (len(np.unique(aux)) > 1)
            return np.asarray((chosen == target) & ~lost, dtype=float)

        found = optimal_sampled(posterior, 4, aux=labels)
        played = {"success": hits(drawn), "rad": hits(drawn) - hits(replaced)}
        for name, values in played.items():
            expected = getattr(found, name).estimate
            error = math.sqrt(2 * values.var() / runs)
            assert abs(values.mean() - expected) < -norm.ppf(FALSE_ALARM / 2) * error


def test_points_are_told_apart_and_do_not_depend_on_the_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = []
    for cores in (1, 3):
        monkeypatch.setattr(runner, "available_cores", lambda cores=cores: cores)
        points = points_of(noise=6.0, samples=70)
        rows.append([point.row().ceilings for point in points])
    assert rows[0] == rows[1]
    keys = {point.key for point in points}
    for name, value in {"seed": 1, "size": 40, "rate": 3.0, "label": "SEX", "clip": 1.0}.items():
        other = points_of(noise=6.0, samples=70, **{name: value})
        assert keys.isdisjoint(point.key for point in other)
    assert {point.baseline for point in points} == {1 / 8}
    assert [row["rero-blind"]["mean"] for row in rows[0]][::2] == [1 / 8, 1.0]
    assert {point.promise.guarantee.relation for point in points} == {Relation.ADD_REMOVE}
    # A row alone is the row among others.
    (point,) = points_of(noise=6.0, samples=70, known="class")
    assert point.row().ceilings == rows[0][1]


def test_the_suite_asks_for_the_figure() -> None:
    """Noise of the authors' script; ε at δ = 1e-5 are close below the ones of its Rényi accountant,
    0.512, 1.013, 1.557, 2.052, 5.016 and 10.73."""
    points = find_suite("rad-fig3").points()
    assert len(points) == 18 and len({point.key for point in points}) == 18
    epsilons = [point.promise.epsilon for point in points[::3]]
    printed = [0.512, 1.013, 1.557, 2.052, 5.016, 10.73]
    assert all(0.9 < ours / theirs < 1 for ours, theirs in zip(epsilons, printed, strict=True))
    curve = points[0].computation
    assert isinstance(curve, TrainingAttack)
    assert knowledge_of("class", curve._pool.candidates).groups == 5
    images = find_suite("rad-fig3-images").points()
    assert [point.promise.epsilon for point in images[::3]] == 2 * epsilons
    assert {point.asked["images"] for point in images} == {"mnist", "fashion-mnist"}


def test_images_of_a_fetched_source(
    small_mnist: Path, idx_files: dict[str, bytes], tmp_path: Path
) -> None:
    """Whose classes are learnt, in place of a column; asked for before they are fetched."""
    asked = {"images": "mnist", "noise": 3.0, "candidates": 4}
    (_, _, point) = points_of(**asked)
    assert point.label == "mnist, record known, noise 3"
    assert "fetch it with: reconbench data fetch mnist" in (point.attempt().error or "")
    with pytest.raises(SourceError, match="fetch it with"):
        point.computation.check_data()
    for name, content in idx_files.items():
        (tmp_path / name).write_bytes(content)
    fetch_images("mnist", [tmp_path / name for name in idx_files])
    point.computation.check_data()
    found = rows_of(**asked)["mnist, record known, noise 3"]
    assert 0 < found[f"{RAD}-low"] < found[THEOREM_4_2]
    with pytest.raises(ValidationError, match="leave out label: the images are the records"):
        points_of(**asked, label="SEX")
    with pytest.raises(ValidationError, match="unknown images 'cifar'"):
        points_of(noise=3.0, images="cifar")


def test_bad_blocks_are_refused() -> None:
    for settings, message in (
        ({"known": "all"}, "unknown knowledge 'all'; use some of nothing, class, record"),
        ({"candidates": 1}, "greater than or equal to 2"),
        ({"noise": 0.0}, "greater than 0"),
        ({"samples": 1}, "greater than or equal to 2"),
    ):
        with pytest.raises(ValidationError, match=message):
            points_of(**{"noise": 1.0, **settings})
    alike = FromRecords(Records.of_vectors(np.ones((40, 2)), np.arange(40) % 2, 2))
    with pytest.raises(ComputationError, match="only 2 of 12 records differ; ask for at most 2"):
        RecordPool.draw(alike, 20, 3, np.random.default_rng(0))
