"""Table 1 on images: a row for each base, posteriors from these rows, runs that were stopped."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from reconbench.attacks.membership import Normal, decide, decide_by_each_other
from reconbench.benchmarks.audits import train
from reconbench.benchmarks.audits.train import AuditError, FromImages, TrainingAudit
from reconbench.benchmarks.computations import mcmc_images
from reconbench.benchmarks.computations.computation import ComputationError, Point
from reconbench.benchmarks.computations.kinds import Curve
from reconbench.benchmarks.computations.mcmc_images import McmcImages
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.runner import Replay, execute, plan, read_rows
from reconbench.benchmarks.store.store import Store
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.audit import mcmc
from reconbench.datasets.sources import SourceError
from reconbench.datasets.sources.packages.images import fetch_images
from reconbench.mechanisms.training.algorithms import DpSgd, Network

TEXT = """
compute = "mcmc-images"
images = "mnist"
fixed_start = [0.0, 0.1]
random_start = 0.3
bases = 3
challenges = 12
size = 30
epochs = 4
hidden = 6
batch = 10
decisions = ["shared", "split"]
delta = 0.01
tau_sd = 0.01
"""


# Errors of three bases, by attack.
COUNTED = [
    {
        "shared-false-positives": x,
        "shared-false-negatives": y,
        "split-false-positives": v,
        "split-false-negatives": w,
    }
    for x, y, v, w in ((1.0, 2.0, 0.0, 1.0), (0.0, 4.0, 1.0, 0.0), (2.0, 1.0, 0.0, 3.0))
]


def read(text: str = TEXT) -> McmcImages:
    block = TypeAdapter[Any](Curve).validate_python(tomllib.loads(text))
    assert isinstance(block, McmcImages)
    return block


@pytest.fixture
def fetched(small_mnist: Path, idx_files: dict[str, bytes], tmp_path: Path) -> Iterator[None]:
    for name, content in idx_files.items():
        (tmp_path / name).write_bytes(content)
    fetch_images("mnist", [tmp_path / name for name in idx_files])
    mcmc_images._attacked.cache_clear()
    yield
    mcmc_images._attacked.cache_clear()


def count_errors(counts: mcmc.Counts, *settings: object) -> dict[str, float]:
    """In place of a posterior, which takes seconds."""
    return {"epsilon-median": float(counts.columns.sum())}


def base_points(points: list[Point]) -> list[Point]:
    return [point for point in points if not point.inputs]


def run(points: list[Point], folder: Path, jobs: int = 1, most: int = 10**9) -> list[Result]:
    """Compute what a store lacks; stop after ``most`` rows, as if killed."""
    seen: list[Result] = []

    class Killed(Exception):
        pass

    def progress(done: int, row: Result) -> None:
        seen.append(row)
        if len(seen) == most:
            raise Killed

    with Store(folder) as store:
        chosen = plan([], store, Replay.MISSING, points)
        try:
            execute(chosen, store, jobs=jobs, progress=progress)
        except Killed:
            return seen
        return read_rows(chosen, store)


def test_the_suite_is_the_papers() -> None:
    """20 bases, 999 images, 100 challenges each way, 128 units, 200 epochs of 10 batches."""
    points = find_suite("mcmc-table1").points()
    bases, posteriors = base_points(points), [point for point in points if point.inputs]
    assert (len(bases), len(posteriors)) == (120, 24)
    asked = bases[0].asked
    names = ("size", "challenges", "hidden", "epochs", "batch", "rate", "level")
    assert [asked[name] for name in names] == [999, 100, 128, 200, 100, 0.01, 0.1]
    labels = [point.label for point in bases[:6]]
    assert labels == [
        f"{name}, base 1"
        for name in (
            "A1",
            "A3, sigma 0.1",
            "A2",
            "A4, sigma 0.1",
            "A4, sigma 0.05",
            "A4, sigma 0.01",
        )
    ]
    assert all(len(point.inputs) == 20 for point in posteriors)
    assert len({point.key.text for point in points}) == len(points)


def test_points_need_no_images(small_mnist: Path) -> None:
    """What is asked for is known without the data, and the error comes before anything is run."""
    points = list(read().points("mine"))
    assert len(points) == 9 + 6
    with pytest.raises(SourceError, match="fetch it with: reconbench data fetch mnist"):
        plan([], Store(small_mnist), Replay.MISSING, points).check()


def test_a_run_that_was_stopped_goes_on(
    fetched: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcmc_images, "sample_posterior", count_errors)
    points = list(read().points("mine"))
    whole = run(points, tmp_path / "whole")
    assert [row.status for row in whole] == [Status.OK] * 15
    part = run(points, tmp_path / "part", most=5)
    assert len(part) == 5
    rest: list[Point] = []
    with Store(tmp_path / "part") as store:
        rest = plan([], store, Replay.MISSING, points).points
    assert [point.label for point in rest] == [point.label for point in points[5:]]
    assert [row.ceilings for row in run(points, tmp_path / "part")] == [
        row.ceilings for row in whole
    ]


def test_one_base_is_trained_once_per_start_for_all_noise_levels(
    fetched: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int | None, int]] = []
    inner = TrainingAudit.noised_losses

    def counted(self: TrainingAudit, base: int, sigmas: Any, threads: int = 1) -> Any:
        calls.append((base, self.training.start_seed, threads))  # type: ignore[attr-defined]
        return inner(self, base, sigmas, threads)

    monkeypatch.setattr(TrainingAudit, "noised_losses", counted)
    points = base_points(list(read().points("mine")))
    rows = run(points, tmp_path / "one", jobs=2)
    assert calls == [(base, start, 2) for base in range(3) for start in (0, None)]
    assert [row.ceilings for row in run(points, tmp_path / "two")] == [r.ceilings for r in rows]


def test_counts_are_those_of_the_attacks(fetched: None) -> None:
    """The row of A3 on the second base, from losses that are computed here."""
    block = read()
    point = next(p for p in block.points("mine") if p.label == "A3, sigma 0.1, base 2")
    values = block.evaluate(point)
    losses = block._audit("fixed").noised_losses(1, (0.0, 0.1))
    out, in_ = losses[1]
    rng = np.random.default_rng(0)
    shared = decide_by_each_other(out, in_, (0.1,), rng)
    assert values["shared-false-positives"] == shared.false_positives[0]
    assert values["shared-false-negatives"] == shared.false_negatives[0]
    learnt = Normal.fit(out[:6]), Normal.fit(in_[:6])
    assert values["split-false-positives"] == decide(out[6:], *learnt, 0.1, rng).sum()
    assert values["split-false-negatives"] == (~decide(in_[6:], *learnt, 0.1, rng)).sum()


def test_noise_is_added_to_the_same_models(fetched: None) -> None:
    audit = read()._audit("random")
    losses = audit.noised_losses(0, (0.0, 1e-6, 0.3))
    (plain, _), (nearly, _), (noisy, _) = losses
    assert nearly == pytest.approx(plain, rel=1e-3) and not np.allclose(noisy, plain, rtol=0.05)
    again = audit.noised_losses(0, (0.3,), threads=3)
    assert np.array_equal(again[0][0], noisy) and np.array_equal(again[0][1], losses[2][1])
    assert not np.array_equal(replace(audit, seed=1).noised_losses(0, (0.3,))[0][0], noisy)
    private = DpSgd(30, 1.0, Network(0), batch=10)
    for training in (private, replace(audit.training, output_noise=0.1)):  # type: ignore[type-var]
        with pytest.raises(AuditError, match="added to the weights of plain SGD"):
            replace(audit, training=training).noised_losses(0, (0.1,))


def test_posteriors_say_which_base_is_missing(fetched: None, tmp_path: Path) -> None:
    points = list(read().points("mine"))
    posterior = points[-1]
    with pytest.raises(ComputationError, match="only 0 of 3 challenge bases are done"):
        posterior.row()
    done = [point.attempt() for point in posterior.inputs]
    failed = replace(done[1], status=Status.FAILED, error="disk full", ceilings={})
    row = replace(posterior, answers=(done[0], failed, done[2])).attempt()
    assert row.status is Status.FAILED
    assert "only 2 of 3 challenge bases are done; the first says: disk full" in str(row.error)


def test_posteriors_are_those_of_the_counts_in_the_rows(fetched: None) -> None:
    """12 challenges each way shared, 6 split; τ counts for the first only."""
    text = TEXT.replace("fixed_start = [0.0, 0.1]", "").replace(
        "random_start = 0.3", "random_start=0"
    )
    points = list(read(text).points("mine"))
    answers = tuple(
        replace(point.attempt(), ceilings={name: {"mean": value} for name, value in row.items()})
        for point, row in zip(base_points(points), COUNTED, strict=True)
    )
    shared, split = (replace(point, answers=answers) for point in points[3:])
    values = split.computation.evaluate(split)
    counts = mcmc.Counts.of([(0, 6, 1, 6), (1, 6, 0, 6), (0, 6, 3, 6)])
    exact = mcmc.grid_posterior(counts, 0.01, cells=60, strength_cells=30)
    median = float(exact.epsilon_quantile(0.5))
    assert values["epsilon-median"] == pytest.approx(median, rel=0.1)
    seen: list[tuple[mcmc.Counts, object]] = []

    def note(counts: mcmc.Counts, likelihood: object, *settings: object) -> dict[str, float]:
        seen.append((counts, likelihood))
        return {}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mcmc_images, "sample_posterior", note)
        for point in (shared, split):
            point.computation.evaluate(point)
    assert seen[0][0].columns.tolist() == [[1, 12, 2, 12], [0, 12, 4, 12], [2, 12, 1, 12]]
    likelihoods = [likelihood for _, likelihood in seen]
    assert likelihoods == [mcmc.CorrelatedNormal(0.01), mcmc.IndependentBinomial()]


def test_fewer_bases_share_the_rows_of_more(fetched: None) -> None:
    more = {point.key.text for point in base_points(list(read().points("mine")))}
    fewer = read(TEXT.replace("bases = 3", "bases = 2"))
    assert {point.key.text for point in base_points(list(fewer.points("mine")))} < more
    other = read(TEXT.replace("delta = 0.01", "delta = 0.1"))
    assert {point.key.text for point in base_points(list(other.points("mine")))} == more
    seeded = read(TEXT + "seed = 1")
    assert not {point.key.text for point in base_points(list(seeded.points("mine")))} & more


def test_images_are_drawn_without_replacement(fetched: None) -> None:
    population = FromImages("mnist")
    drawn = population.draw(300, np.random.default_rng(0))
    assert (len(drawn), drawn.features, drawn.classes) == (300, 64, 10)
    with pytest.raises(AuditError, match="needs 301 records, there are 300"):
        population.draw(301, np.random.default_rng(0))
    assert "mnist" in population.name and len(population.name) > 130
    with pytest.raises(SourceError, match="unknown images"):
        FromImages("cifar")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mnist", "cifar"), "unknown images 'cifar'"),
        (("challenges = 12", "challenges = 5"), "greater than or equal to 6"),
        (
            ("fixed_start = [0.0, 0.1]\nrandom_start = 0.3\n", ""),
            "give fixed_start or random_start",
        ),
        (("random_start = 0.3", "random_start = -0.3"), "greater than or equal to 0"),
        (("tau_sd = 0.01", "tau_sd = 0"), "greater than 0"),
    ],
)
def test_wrong_blocks_are_refused(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        read(TEXT.replace(*change))


def test_threads_of_computations_are_the_jobs_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def collect(audit: TrainingAudit, number: int) -> list[object]:
        threads.append(number)
        raise AuditError("that is all")

    monkeypatch.setattr(train, "collect", collect)
    block = (
        'compute="mcmc-train"\nalgorithm="A1"\nbases=4\nchallenges=4\nshadows=4\nsize=9\nepochs=1'
    )
    (point,) = TypeAdapter[Any](Curve).validate_python(tomllib.loads(block)).points("mine")
    run([point], tmp_path, jobs=3)
    assert threads == [3]
