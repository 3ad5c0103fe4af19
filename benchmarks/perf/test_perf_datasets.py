"""Exact conditionals of a batch of records against a loop of pgmpy's variable elimination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.datasets.network.pgmpy_bridge import quiet_pgmpy, to_pgmpy
from reconbench.datasets.shipped import acs

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
