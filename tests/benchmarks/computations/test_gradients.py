"""Simulated gradient inversion against its law, and the computations made of it."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy.stats import binomtest, norm

from reconbench.benchmarks.computations import gradient_errors
from reconbench.benchmarks.computations.gradient_errors import (
    Errors,
    Scales,
    SimulationError,
    images,
    real_images,
    simulate,
)
from reconbench.benchmarks.computations.kinds import Curve
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import GradientError, risk_corridor
from reconbench.datasets import DomainError
from reconbench.datasets.sources import SourceError
from reconbench.datasets.sources.packages.images import fetch_images
from reconbench.mechanisms.gradient_steps import (
    DeepNetwork,
    GradientNetwork,
    GradientStep,
    IdleNetwork,
    OptimalNetwork,
)

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4
NORM = 1.01


def attacked(
    network: GradientNetwork,
    sigma: float,
    dimension: int,
    *,
    count: int = 2000,
    steps: int = 1,
    scales: Scales = Scales.KNOWN,
    seed: int = 0,
) -> Errors:
    rng = np.random.default_rng(seed)
    vectors = images(count, dimension, NORM, rng)
    return simulate(vectors, GradientStep(network, sigma, steps=steps), rng, scales)


@pytest.mark.parametrize("dimension", [4, 3072])
@pytest.mark.parametrize("sigma", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_optimal_attack_follows_the_law(dimension: int, sigma: float, steps: int) -> None:
    """KS at 1e-4 a test; a law whose σ is off by 10 % either way is rejected."""
    count = 2000 if dimension == 4 else 400
    found = attacked(OptimalNetwork(), sigma, dimension, count=count, steps=steps)
    assert found.p_value() > FALSE_ALARM and found.p_value_smaller() > FALSE_ALARM
    for wrong in (0.9, 1.1):
        law = GradientError.of(dimension, wrong * sigma, NORM, steps)
        assert replace(found, law=law).p_value() < FALSE_ALARM


def test_more_rows_than_needed_and_fewer() -> None:
    """(C/‖X‖)² = 24.5 rows: 25 reach the law, C/‖X‖ = 5 of the published theorem do not."""
    rng = np.random.default_rng(0)
    vectors = images(1000, 4, NORM, rng)
    for rows, reached in ((25, True), (40, True), (5, False)):
        found = simulate(vectors, GradientStep(OptimalNetwork(rows), 0.2, clip=5.0), rng)
        assert (found.p_value() > FALSE_ALARM) is reached
        assert found.p_value_smaller() > FALSE_ALARM


@pytest.mark.parametrize("dimension", [4, 256])
@pytest.mark.parametrize(
    "network",
    [OptimalNetwork(bias=True), IdleNetwork(idle_gradient=1e-3), DeepNetwork(bias=False)],
    ids=lambda n: n.name,
)
def test_other_networks_are_no_better_and_worse_where_they_must_be(
    network: GradientNetwork, dimension: int
) -> None:
    """Corollary IV.2: parameters beside the layer only add to the norm that is clipped."""
    found = attacked(network, 0.1, dimension, count=500)
    assert found.p_value_smaller() > FALSE_ALARM
    assert found.p_value() < FALSE_ALARM and found.ratio > 1.5


def test_idle_parameters_cost_their_share() -> None:
    """v = σ²(‖X‖² + r²) for one clipped row and an idle gradient of norm r."""
    found = attacked(IdleNetwork(idle=10**6, idle_gradient=1e-3), 0.1, 4)
    law = GradientError(4, 0.01 * (NORM**2 + 1))
    assert replace(found, law=law).p_value() > FALSE_ALARM


def test_assumed_scales_show_at_small_noise_only() -> None:
    """What figure 4 shows of a deep network: a floor of error that larger noise hides."""
    deep = DeepNetwork(bias=False, trap=30.0)
    few, many = (
        attacked(deep, sigma, 4, count=500, scales=Scales.ASSUMED) for sigma in (1e-3, 1.0)
    )
    assert few.ratio > 50 and many.p_value() > FALSE_ALARM
    assert attacked(deep, 1e-3, 4, count=500).ratio < 1.2


def test_a_ratio_passes_the_published_bound() -> None:
    """Corollary IV.6 is not a bound on every attack: in many dimensions with much noise the ratio
    shrinks towards 0, which is closer than any unbiased estimate."""
    found = attacked(OptimalNetwork(bias=True), 1.0, 3072, count=400, scales=Scales.ESTIMATED)
    assert found.p_value_smaller() < 1e-12
    claimed = 1e-6
    assert (
        binomtest(round(found.share_within(claimed) * 400), 400, claimed, "greater").pvalue
        < FALSE_ALARM
    )


def test_records_of_any_norm_share_one_law() -> None:
    """Numeric rows whose norms differ by a hundred: relative to their norm all errors have the law;
    as they are, the law of the smallest norm is passed by none too often (Corollary IV.6)."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, 7)) * np.exp(rng.uniform(0, 5, (2000, 1)))
    step = GradientStep(OptimalNetwork(rows=40), sigma=0.2, clip=5.0)
    found = simulate(rows, step, rng)
    assert found.sizes.min() == 1.0 and found.sizes.max() > 100
    assert found.p_value() > FALSE_ALARM
    assert replace(found, sizes=np.ones(2000)).p_value() < FALSE_ALARM
    assert replace(found, law=GradientError(7, 1.21 * found.law.variance)).p_value() < FALSE_ALARM
    assert found.share_within(0.3) < 0.3


def test_quantiles_and_psnr() -> None:
    found = attacked(OptimalNetwork(), 0.1, 4)
    assert binomtest(round(2000 * found.share_within(0.3)), 2000, 0.3).pvalue > FALSE_ALARM
    assert found.psnr == pytest.approx(10 * np.log10(found.spans**2 / found.mse))


def test_wrong_simulations_are_told() -> None:
    rng = np.random.default_rng(0)
    step = GradientStep(OptimalNetwork(), 0.1)
    with pytest.raises(SimulationError, match="records of zeros have no law"):
        simulate(np.diag([1.0, 0.0]), step, rng)
    with pytest.raises(SimulationError, match="rows of numbers, got shape"):
        simulate(np.ones(3), step, rng)
    with pytest.raises(SimulationError, match="batch 1, got 2"):
        simulate(np.eye(2), GradientStep(OptimalNetwork(), 0.1, batch=2), rng)
    with pytest.raises(SimulationError, match="the network has none"):
        simulate(np.eye(2), step, rng, Scales.ESTIMATED)
    with pytest.raises(SimulationError, match="images need count"):
        images(0, 1, 1.0, rng)


CURVES: TypeAdapter[Any] = TypeAdapter(Curve)


def rows_of(text: str) -> list[tuple[str, dict[str, float]]]:
    curve = CURVES.validate_python(tomllib.loads(text))
    points = list(curve.points("try"))
    assert len({point.key for point in points}) == len(points)
    return [
        (point.label, {name: value["mean"] for name, value in point.row().ceilings.items()})
        for point in points
    ]


def test_figure_1() -> None:
    found = dict(
        rows_of(
            'compute = "gradient-sigma"\ngamma = 0.1\ncandidates = 11\nerror = [0.25, 1, 5.4, 5.6]'
        )
    )
    z = norm.ppf(0.55)
    assert found["error 0.25"]["scratch"] == pytest.approx(0.5 / z)
    assert found["error 0.25"]["scratch-published"] == pytest.approx(0.5 / z)
    # From an error of 1 on guessing 0 succeeds: the published curve goes on, and crosses at 5.49.
    assert "scratch" not in found["error 1"]
    below, above = found["error 5.4"], found["error 5.6"]
    assert below["scratch-published"] < below["identification"] < above["scratch-published"]


def test_figure_3() -> None:
    found = rows_of(
        'compute = "gradient-risk"\ncandidates = 10\nsigma = [0.5, 2]\nerror = [0.01, 0.3]'
    )
    assert len(found) == 4
    assert found[1][1]["scratch"] == pytest.approx(2 * norm.cdf(math.sqrt(0.3) / 0.5) - 1)
    assert found[0][1]["identification"] == pytest.approx(norm.cdf(norm.ppf(0.1) + 2))
    ((_, corridor),) = rows_of('compute = "gradient-corridor"\ncandidates = 10\nsigma = 2')
    assert corridor["corridor"] == pytest.approx(risk_corridor(2.0, 1, 10)[0].error)
    assert corridor["zero-guess"] == 1.0


@pytest.mark.parametrize(("dimension", "decibels"), [(4, "false"), (4, "true"), (3072, "false")])
def test_figures_4_and_5(dimension: int, decibels: str) -> None:
    found = rows_of(
        'compute = "gradient-errors"\nnetwork = ["optimal", "deep"]\nsigma = [0.01, 1]\n'
        f"dimension = {dimension}\nnorm = 1.01\nsamples = 300\ndecibels = {decibels}"
    )
    assert len(found) == 4
    for label, values in found:
        assert values["ks-smaller"] > FALSE_ALARM
        if label.startswith("optimal"):
            assert values["ks"] > FALSE_ALARM
            assert values["ratio"] == pytest.approx(1, abs=0.2)
        if decibels == "false":
            seen = [values[f"seen-{q}"] for q in ("05", "25", "50", "75", "95")]
            assert seen == sorted(seen)
        else:
            assert abs(values["seen-50"] - values["law-50"]) < 1.5


def test_points_are_repeatable_and_depend_on_what_is_asked() -> None:
    text = 'compute = "gradient-errors"\nnetwork = "optimal"\nsigma = 0.1\nsamples = 50\n'
    assert rows_of(text) == rows_of(text)
    assert rows_of(text) != rows_of(text + "seed = 1")
    keys = [
        next(iter(CURVES.validate_python(tomllib.loads(each)).points("try"))).key
        for each in (text, text + "seed = 1", text + 'scales = "assumed"', text + "steps = 2")
    ]
    assert len(set(keys)) == 4


def test_rows_of_a_suite_can_be_told_apart() -> None:
    """By what a stored row says: its suite, quantity, point and budget."""
    for name in ("riess", "riess-fig4"):
        told = [
            (each.suite, each.metric, each.label, each.promise.epsilon, each.kind)
            for each in find_suite(name).points()
        ]
        assert len(set(told)) == len(told)


def test_errors_of_records_in_a_file(tmp_path: Path) -> None:
    """Images as IDX, an array and a table of numbers: the same records, the same errors."""
    pixels = np.random.default_rng(0).integers(1, 256, (30, 3, 2)).astype(np.uint8)
    flat = pixels.reshape(30, 6) / 255
    files = [tmp_path / name for name in ("pixels.idx", "pixels.npy", "pixels.csv")]
    files[0].write_bytes(b"\0\0\x08\x03" + np.array([30, 3, 2], ">u4").tobytes() + pixels.tobytes())
    np.save(files[1], flat.reshape(30, 3, 2))
    pd.DataFrame(flat).to_csv(files[2], index=False)
    text = 'compute = "gradient-errors"\nnetwork = "optimal"\nsigma = 0.1\nrows = 30\n'
    rows = [rows_of(f'{text}records = "{file}"') for file in files]
    for ((label, values),), file in zip(rows, files, strict=True):
        assert label == f"optimal, {file.name}, rows 30, sigma 0.1"
        assert values["ks"] > FALSE_ALARM and values == rows[0][0][1]
    before = next(
        iter(CURVES.validate_python(tomllib.loads(f'{text}records = "{files[1]}"')).points("s"))
    )
    np.save(files[1], flat[::-1])
    after = next(
        iter(CURVES.validate_python(tomllib.loads(f'{text}records = "{files[1]}"')).points("s"))
    )
    assert before.key != after.key
    with pytest.raises(
        ValidationError, match="leave out dimension, norm: the records determine them"
    ):
        rows_of(f'{text}records = "{files[1]}"\ndimension = 6\nnorm = 1.0')
    with pytest.raises(DomainError, match="no file"):
        rows_of(f'{text}records = "{tmp_path / "none.npy"}"')


REAL = """
compute = "gradient-errors"
images = "mnist"
network = "optimal"
dimension = 12
norm = 1.01
sigma = 0.1
"""


def test_errors_of_images_of_a_fetched_source(
    small_mnist: Path, idx_files: dict[str, bytes], tmp_path: Path
) -> None:
    """Resized, of one norm, under the law; what is asked for is known before they are fetched."""
    curve = CURVES.validate_python(tomllib.loads(REAL))
    (point,) = curve.points("s")
    assert point.label == "optimal, mnist, sigma 0.1" and point.asked["images"][0] == "mnist"
    assert "images" not in next(iter(find_suite("riess-fig4").points())).asked
    with pytest.raises(SourceError, match="fetch it with: reconbench data fetch mnist"):
        curve.check_data()
    assert "fetch it with" in point.attempt().error
    for name, content in idx_files.items():
        (tmp_path / name).write_bytes(content)
    fetch_images("mnist", [tmp_path / name for name in idx_files])
    vectors = real_images("mnist", 12, NORM)
    assert vectors.shape == (300, 12)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.full(300, NORM))
    (values,) = (values for _, values in rows_of(REAL))
    assert values["ks"] > FALSE_ALARM and values["ratio"] == pytest.approx(1, abs=0.1)
    (ten_times,) = (values for _, values in rows_of(REAL.replace("0.1", "1.0")))
    assert ten_times["law-50"] == pytest.approx(100 * values["law-50"])
    with pytest.raises(ValidationError, match="records and images exclude each other"):
        CURVES.validate_python(tomllib.loads(f'{REAL}records = "a.npy"'))
    with pytest.raises(ValidationError, match="unknown images 'cifar'; use one of"):
        CURVES.validate_python(tomllib.loads(REAL.replace("mnist", "cifar")))


def test_blank_images_have_no_norm(small_mnist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blank = np.zeros((3, 16), dtype=np.float32)
    blank[0] = 0.5
    monkeypatch.setattr(gradient_errors, "load_images", lambda source: (blank, np.zeros(3)))
    with pytest.raises(SimulationError, match="2 images of mnist are blank"):
        real_images("mnist", 4, NORM)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('compute = "gradient-errors"\nnetwork = "big"\nsigma = 1', "unknown network 'big'"),
        ('compute = "gradient-risk"\nsigma = 0\nerror = 1\ncandidates = 2', "greater than 0"),
        ('compute = "gradient-corridor"\nsigma = 1\ncandidates = 1', "greater than or equal to 2"),
        ('compute = "gradient-sigma"\ngamma = 2\nerror = 1\ncandidates = 2', "less than 1"),
    ],
)
def test_wrong_curves_are_told(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CURVES.validate_python(tomllib.loads(text))
