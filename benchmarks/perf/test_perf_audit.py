"""A million trials of a local audit against one trial at a time: the same game in plain Python, and
the clients of multi-freq-ldpy alone."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.benchmarks.audits.ldp import CHANNELS, client_of, play

VALUES = 3052
TRIALS = 10**6
# Trials of the twin; what is compared is the time of one trial.
FEW = {"grr": 4_000, "ss": 2_000, "oue": 300}


def report(name: str, z: int, epsilon: float, rng: np.random.Generator) -> list[int]:
    """One report as a list of supported values, from the definition of the client."""
    e, m = float(np.exp(epsilon)), VALUES
    if name == "oue":
        on = rng.random(m) < 1 / (e + 1)
        on[z] = rng.random() < 0.5
        return np.flatnonzero(on).tolist()
    w = max(1, int(m / (e + 1))) if name == "ss" else 1
    kept = rng.random() < w * e / (w * e + m - w)
    others = rng.choice(m - 1, size=w - kept, replace=False, shuffle=False)
    return [z] * bool(kept) + [int(o) + (o >= z) for o in others]


def one_at_a_time(name: str, epsilon: float, trials: int, rng: np.random.Generator) -> list[int]:
    """Hits, hits on a fresh target, true and false positives."""

    def guess(z: int) -> int:
        members = report(name, z, epsilon, rng)
        return members[rng.integers(len(members))] if members else int(rng.integers(VALUES))

    counts = [0, 0, 0, 0]
    for _ in range(trials):
        z = int(rng.integers(VALUES))
        found = guess(z)
        counts[0] += found == z
        counts[1] += found == rng.integers(VALUES)
        counts[2] += guess(0) == 0
        counts[3] += guess(VALUES - 1) == 0
    return counts


def clients_alone(name: str, epsilon: float, trials: int) -> None:
    """The three reports of every trial by multi-freq-ldpy, and neither guesses nor counts."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    client = {"grr": GRR_Client, "ss": SS_Client, "oue": UE_Client}[name]
    for i in range(trials):
        for z in (i % VALUES, 0, VALUES - 1):
            client(z, VALUES, epsilon)


@pytest.mark.parametrize("name", FEW)
def test_a_million_trials_against_one_at_a_time(benchmark: BenchmarkFixture, name: str) -> None:
    epsilon, prior = 9.0, np.full(VALUES, 1 / VALUES)
    client = client_of(CHANNELS[name](epsilon, VALUES))
    rng = np.random.default_rng(0)
    play(client, name, prior, 1000, rng)
    clients_alone(name, epsilon, 1)  # compile
    begun = time.perf_counter()
    clients_alone(name, epsilon, FEW[name])
    theirs = (time.perf_counter() - begun) / FEW[name]
    begun = time.perf_counter()
    slow = one_at_a_time(name, epsilon, FEW[name], rng)
    twin = (time.perf_counter() - begun) / FEW[name]
    begun = time.perf_counter()
    outcome = benchmark.pedantic(partial(play, client, name, prior, TRIALS, rng), rounds=1)
    ours = (time.perf_counter() - begun) / TRIALS
    # The same game: shares of hits within 6 standard deviations of the twin's.
    share = outcome.hits / TRIALS
    assert abs(slow[0] / FEW[name] - share) < 6 * (share * (1 - share) / FEW[name]) ** 0.5
    benchmark.extra_info["times a trial of the twin"] = twin / ours
    benchmark.extra_info["times faster than multi-freq-ldpy's clients alone"] = theirs / ours
    assert twin / ours >= 20 and theirs / ours >= 2
