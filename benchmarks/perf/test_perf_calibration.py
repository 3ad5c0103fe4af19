"""Noise of DP-SGD for a risk, against riskcal's one call for the same question."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from riskcal.calibration.dpsgd import find_noise_multiplier_for_advantage

from reconbench.bounds import mechanism_calibration_report

RISK, RATE, STEPS = 0.1, 0.004, 792
RUN = f"dp-sgd:noise=?,rate={RATE},steps={STEPS}"
# Ours ends on 1e-4, riskcal's default, which takes it ten times as long as this.
PEER_GRID = 1e-3


def test_dp_sgd_against_riskcal(
    benchmark: BenchmarkFixture, least_cpu: Callable[..., list[float]]
) -> None:
    """The worst-case advantage of a run at most 0.1; riskcal on a grid ten times coarser."""

    def ours() -> float:
        return float(mechanism_calibration_report(RUN, RISK, 0.5, "worst-advantage")["value"])

    def theirs() -> float:
        return float(find_noise_multiplier_for_advantage(RISK, RATE, STEPS, grid_step=PEER_GRID))

    assert benchmark.pedantic(ours, rounds=2) == pytest.approx(theirs(), rel=2e-3)
    fast, peer = least_cpu(3, ours, theirs)
    benchmark.extra_info["over riskcal's time on a coarser grid"] = fast / peer
    assert fast / peer <= 2
