"""Reconstruction advantage: structure against the listed channel, batches against one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from scipy import sparse
from scipy.optimize import linprog

from reconbench.benchmarks.audits.ldp import READERS
from reconbench.bounds.rad import (
    GRR,
    OUE,
    SubsetSelection,
    SupportChannel,
    rad_exact,
    rad_exact_aux,
    rad_finite,
    rad_grr,
    rad_oue,
    rad_ss,
)
from reconbench.mechanisms.local.reports import Subsets, sample_reports

Fastest = Callable[..., list[float]]
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TRIALS = 1_000_000
# A trial at a time is too slow for a million: so many, and the time of one compared.
SINGLE = 20_000


def skewed(m: int) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(m))


@pytest.mark.parametrize(
    ("closed", "channel", "least"),
    [
        (rad_grr, GRR(2.0, 2000), 100.0),
        (rad_oue, OUE(2.0, 16), 100.0),
        (rad_ss, SubsetSelection(1.0, 20), 30.0),
    ],
    ids=["grr", "oue", "ss"],
)
def test_closed_form_against_the_listed_channel(
    benchmark: BenchmarkFixture,
    fastest: Fastest,
    closed: Callable[[float, Floats], float],
    channel: GRR | OUE | SubsetSelection,
    least: float,
) -> None:
    """Theorem 4.3 on the sizes that can be listed; and at 5,000 values by structure alone."""
    prior, large = skewed(channel.size), skewed(5000)

    def listed() -> float:
        return rad_finite(channel.matrix(), prior)

    assert closed(channel.epsilon, prior) == pytest.approx(listed(), abs=1e-12)
    benchmark(closed, channel.epsilon, large)
    ours, theirs = fastest(3, lambda: closed(channel.epsilon, prior), listed)
    benchmark.extra_info[f"times faster than listed, {channel.size} values"] = theirs / ours
    assert theirs / ours >= least


def full_program(epsilon: float, prior: Floats) -> float:
    """The largest RAD over all ε-DP kernels from values to guesses: m² variables."""
    m, weight = prior.size, math.exp(epsilon)
    pairs = np.nonzero(~np.eye(m, dtype=bool))
    differences = np.zeros((pairs[0].size, m))
    differences[np.arange(pairs[0].size), pairs[0]] = 1.0
    differences[np.arange(pairs[0].size), pairs[1]] = -weight
    solve: Any = linprog  # scipy's types do not cover sparse arrays
    found = solve(
        -(np.diag(prior) - np.outer(prior, prior)).ravel(),
        A_ub=sparse.kron(sparse.eye_array(m), differences, format="csr"),
        b_ub=np.zeros(m * pairs[0].size),
        A_eq=sparse.kron(np.ones((1, m)), sparse.eye_array(m), format="csr"),
        b_eq=np.ones(m),
    )
    return float(-found.fun)


def test_exact_black_box_against_the_full_program(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    """Twelve values in both; a million by the closed form, and how the program over sets grows."""
    prior, large = skewed(12), skewed(10**6)
    assert rad_exact(1.0, prior) == pytest.approx(full_program(1.0, prior), abs=1e-7)
    benchmark(rad_exact, 1.0, large)
    ours, theirs = fastest(3, lambda: rad_exact(1.0, prior), lambda: full_program(1.0, prior))
    benchmark.extra_info["times faster than the full program, 12 values"] = theirs / ours
    for m in (6, 8, 10, 12):
        known, values = skewed(m), np.arange(m)
        (seconds,) = fastest(1, lambda k=known, v=values: rad_exact_aux(1.0, k, v))
        benchmark.extra_info[f"seconds with a(z) = z, {m} values"] = seconds
    assert theirs / ours >= 50


def guess_one_by_one(reports: Codes, prior: Floats) -> Codes:
    """Algorithm 1 as it is written: w of every value, for every report."""
    values = np.arange(prior.size)
    guesses = []
    for members in reports:
        held = np.isin(values, members)
        weights = (held - prior[held].sum()) * prior
        guesses.append(int(weights.argmax()))
    return np.array(guesses)


@pytest.mark.parametrize("name", ["grr", "ss"])
def test_optimal_attack_against_one_report_at_a_time(
    benchmark: BenchmarkFixture, fastest: Fastest, name: str
) -> None:
    rng, prior = np.random.default_rng(1), skewed(5000)
    channel: SupportChannel = GRR(2.0, 5000) if name == "grr" else SubsetSelection(4.0, 5000)
    drawn = sample_reports(channel, rng.integers(0, 5000, 2000), rng)
    reports = drawn.chosen if isinstance(drawn, Subsets) else drawn.values  # type: ignore[union-attr]

    def guess() -> Codes:
        return READERS[name].guess(reports, len(reports), prior, rng)

    np.testing.assert_array_equal(guess(), guess_one_by_one(reports, prior))
    benchmark(guess)
    ours, theirs = fastest(3, guess, lambda: guess_one_by_one(reports, prior))
    benchmark.extra_info["times faster than one report at a time"] = theirs / ours
    assert theirs / ours >= 20


def report_one_by_one(channel: SupportChannel, values: Codes, rng: np.random.Generator) -> int:
    """The mechanisms as the paper states them, one trial after the other."""
    size, total = channel.size, 0
    for value in values.tolist():
        others = np.delete(np.arange(size), value)
        if isinstance(channel, GRR):
            keep = rng.random() < channel.truthful
            total += value if keep else int(rng.choice(others))
        elif isinstance(channel, SubsetSelection):
            keep = rng.random() < channel.truthful
            chosen = rng.choice(others, channel.subset - keep, replace=False)
            total += int(chosen.sum()) + value * keep
        else:
            chances = np.full(size, 1 / (math.exp(channel.epsilon) + 1))
            chances[value] = 0.5
            total += int((rng.random(size) < chances).sum())
    return total


@pytest.mark.parametrize(
    ("channel", "over_twin", "over_client"),
    [(GRR(3.0, 100), 50.0, 5.0), (OUE(3.0, 100), 3.0, 3.0), (SubsetSelection(2.0, 100), 20.0, 3.0)],
    ids=["grr", "oue", "ss"],
)
def test_samplers_against_one_trial_at_a_time(
    benchmark: BenchmarkFixture,
    fastest: Fastest,
    channel: SupportChannel,
    over_twin: float,
    over_client: float,
) -> None:
    """A million trials, against a plain twin and against the clients of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    clients = {GRR: GRR_Client, OUE: UE_Client, SubsetSelection: SS_Client}
    client: Any = clients[type(channel)]  # type: ignore[index]
    rng = np.random.default_rng(2)
    values = rng.integers(0, channel.size, TRIALS)
    few = values[:SINGLE]
    listed = few.tolist()

    def theirs() -> None:
        for value in listed:
            client(value, channel.size, channel.epsilon)

    def ours() -> object:
        return sample_reports(channel, values, rng)

    ours(), client(0, channel.size, channel.epsilon)  # compile
    benchmark.pedantic(ours, rounds=1, iterations=1)
    mine, twin, other = fastest(2, ours, lambda: report_one_by_one(channel, few, rng), theirs)
    mine /= TRIALS / SINGLE
    benchmark.extra_info["times faster than one trial at a time"] = twin / mine
    benchmark.extra_info["times faster than multi-freq-ldpy"] = other / mine
    assert twin / mine >= over_twin and other / mine >= over_client
