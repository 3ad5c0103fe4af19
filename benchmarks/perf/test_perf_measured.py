"""The posterior on measured sets: its judge against the general form, exact sums against chains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import AttackerView
from reconbench.attacks.judges import find_judge
from reconbench.attacks.posterior import elimination, posterior
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.benchmarks.game.play import Game, Round
from reconbench.datasets import Table
from reconbench.mechanisms.measurements import measure

Fastest = Callable[..., list[float]]


def view_pairs(target: str, partners: tuple[str, ...], noise_sd: float, n: int) -> AttackerView:
    """The counts of pairs of the target and other columns of acs."""
    torch.set_num_threads(1)
    played = Round.draw(Game("acs", (target,), 1.0, n=n))
    domain, own = played.table.domain, played.table.domain.position(target)
    sets = tuple(
        (min(own, i), max(own, i)) for i in domain.positions(partners or domain.names) if i != own
    )
    rng = np.random.default_rng(1)
    measured = measure(played.table, sets, (noise_sd,) * len(sets), rng)
    return replace(played.view, release=measured)


def test_a_judge_by_rows_against_looking_up_cells(
    benchmark: BenchmarkFixture, fastest: Fastest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A star of 15 pairs, 100 records, ε near 30, at as many noise levels."""
    view = view_pairs("AGEP", (), 1.2, 100)
    rows = posterior.choose_model(view, Evidence.of(view))
    assert isinstance(rows, GramModel)
    monkeypatch.setattr(CellModel, "step", rows.step)

    def judge(form: type[GramModel] | type[CellModel]) -> None:
        monkeypatch.setattr(posterior, "choose_model", lambda *game: form(*game[:2]))
        find_judge(view, np.random.default_rng(0))

    quick, general = fastest(3, lambda: judge(GramModel), lambda: judge(CellModel))
    benchmark.extra_info["cells over rows, time"] = general / quick
    benchmark(lambda: judge(GramModel))
    assert general >= 1.5 * quick


def test_rows_of_equal_cells_against_rows_of_records(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    """Two pairs on 1,500 records: what moves with a change is as long as there are known cells."""
    view = view_pairs("AGEP", ("MIG", "DIS"), 3.0, 1_500)
    evidence = Evidence.of(view)
    model, rng = GramModel(view, evidence), np.random.default_rng(0)
    assert len(model._gram) <= 10

    def find_every_record(known: Table) -> tuple[Table, np.ndarray]:
        return known, np.arange(len(known))

    object.__setattr__(evidence, "find_rows", find_every_record)
    long = GramModel(view, evidence)
    assert len(long._gram) == 1_500
    at, weights = np.arange(4)[:, None], np.array([evidence.weight])
    for form in (model, long):
        form.start(4, 1, rng)
    rows, records = fastest(5, *(lambda m=m: m.sweep(at, weights, rng) for m in (model, long)))
    benchmark.extra_info["a row for each record over rows of cells, time"] = records / rows
    benchmark(lambda: model.sweep(at, weights, rng))
    assert records >= 1.5 * rows


def test_exact_sums_against_chains_without_noise(
    benchmark: BenchmarkFixture, fastest: Fastest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pair of a binary column: no error at all, and quicker than the chains of a judge."""
    view = view_pairs("SEX", ("MAR",), 0.0, 100)

    def judge(most: int) -> None:
        monkeypatch.setattr(elimination, "MOST_STEPS", most)
        judge = find_judge(view, np.random.default_rng(0))
        assert judge is None or judge.exact == (most > 0)

    most = elimination.MOST_STEPS
    sums, chains = fastest(3, lambda: judge(most), lambda: judge(0))
    benchmark.extra_info["chains over exact sums, time"] = chains / sums
    benchmark(lambda: judge(most))
    assert chains >= 3 * sums


def test_a_judge_takes_no_longer_than_the_attack(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    view = view_pairs("SCHL", ("AGEP", "DREM"), 0.52, 100)

    def attack() -> None:
        Posterior().reconstruct(view, np.random.default_rng(0))

    judge, whole = fastest(3, lambda: find_judge(view, np.random.default_rng(0)), attack)
    benchmark.extra_info["judge over attack, time"] = judge / whole
    benchmark(lambda: find_judge(view, np.random.default_rng(0)))
    assert judge <= whole
