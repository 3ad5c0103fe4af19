"""Exact conditionals against pgmpy's variable elimination in a loop, and BIF files read by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.datasets.bounded_files import read_text
from reconbench.datasets.network.bif import as_baynet
from reconbench.datasets.network.bif_reader import read_bif
from reconbench.datasets.network.pgmpy_bridge import from_pgmpy, quiet_pgmpy, to_pgmpy
from reconbench.datasets.shipped import acs, fire
from reconbench.datasets.standard_networks import find_file

N = 100


@pytest.mark.parametrize("targets", [["SEX"], ["AGEP"], ["AGEP", "SEX", "MAR"]], ids="+".join)
def test_conditionals_against_a_loop_of_pgmpy(
    targets: list[str], benchmark: BenchmarkFixture, fastest: Callable[..., list[float]]
) -> None:
    net = acs()
    table = net.sample(N, np.random.default_rng(0))
    known = table.project([name for name in net.domain.names if name not in targets])
    ours = benchmark(net.conditional, known, targets)
    with quiet_pgmpy():
        from pgmpy.inference import VariableElimination

        solver = VariableElimination(to_pgmpy(net))

    def query(row: int) -> Any:
        evidence = {name: int(known.column(name)[row]) for name in known.domain.names}
        factor = solver.query(targets, evidence=evidence, show_progress=False)
        return factor.values.transpose([factor.variables.index(name) for name in targets])

    def loop() -> Any:
        return np.stack([query(row) for row in range(N)])

    assert np.allclose(ours, loop(), atol=1e-12)
    fast, slow = fastest(3, lambda: net.conditional(known, targets), loop)
    benchmark.extra_info["times faster than a loop of pgmpy"] = slow / fast
    assert slow / fast >= 100


def test_likeliest_values_against_full_enumeration(
    benchmark: BenchmarkFixture, fastest: Callable[..., list[float]]
) -> None:
    net = fire()
    known = net.sample(N, np.random.default_rng(0)).project(net.visit_order[-3:])
    targets, count = net.visit_order[:4], 1024
    ours = benchmark.pedantic(lambda: net.likeliest(known, targets, count), rounds=3)

    def enumerate_all() -> Any:
        joint = net.conditional(known, targets).reshape(N, -1)
        return -np.sort(-np.partition(joint, joint.shape[1] - count, axis=1)[:, -count:], axis=1)

    np.testing.assert_allclose(ours, enumerate_all(), rtol=1e-9)
    few, many, columns, slow = fastest(
        3,
        lambda: net.likeliest(known, targets, count),
        lambda: net.likeliest(known, targets, 8 * count),
        lambda: net.likeliest(known, net.visit_order[:7], count),
        enumerate_all,
    )
    benchmark.extra_info["times faster than enumerating 4 columns"] = slow / few
    benchmark.extra_info["cost of 8,192 values over 1,024"] = many / few
    benchmark.extra_info["cost of 7 columns over 4"] = columns / few
    assert slow / few > 3
    assert many / few < 30
    # 2,400 times as many joint values.
    assert columns / few < 30


@pytest.mark.parametrize("name", ["munin1", "hailfinder"])
def test_reading_a_large_network_against_pgmpy(
    name: str, benchmark: BenchmarkFixture, fastest: Callable[..., list[float]]
) -> None:
    text = read_text(find_file(name))
    with quiet_pgmpy():
        from pgmpy.readwrite import BIFReader

    def read() -> Any:
        return as_baynet(read_bif(text))

    def read_by_pgmpy() -> Any:
        return BIFReader(string=text).get_model()

    ours = benchmark(read)
    assert ours.sha256() == from_pgmpy(read_by_pgmpy()).sha256()
    fast, slow = fastest(2, read, read_by_pgmpy)
    benchmark.extra_info["times faster than pgmpy's reader"] = slow / fast
    assert slow / fast >= 10
