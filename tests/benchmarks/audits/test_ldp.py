"""Audits of local randomisers: the law of the game, coverage, wrong clients, foreign clients."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from reconbench.benchmarks.audits.ldp import (
    CHANNELS,
    READERS,
    AuditError,
    Outcome,
    batches,
    client_of,
    cumulative,
    draw,
    estimates,
    likeliest,
    load_client,
    play,
)
from reconbench.benchmarks.plugins import PluginError
from reconbench.bounds.audit import MeasuredRad, audit_grr, audit_ss
from reconbench.bounds.rad import SubsetSelection
from reconbench.mechanisms.local.reports import BitLists

ZIPF = np.arange(1, 9) ** -1.1 / (np.arange(1, 9) ** -1.1).sum()


def audited(
    name: str, epsilon: float, prior: np.ndarray, trials: int, seed: int = 3
) -> tuple[Outcome, list[float]]:
    client = client_of(CHANNELS[name](epsilon, prior.size))
    outcome = play(client, name, prior, trials, np.random.default_rng(seed))
    return outcome, [each.lower for each in estimates(outcome, name, prior)]


def slow_guess(members: list[int], prior: np.ndarray, rng: np.random.Generator) -> int:
    if not members:
        return int(rng.integers(prior.size))
    best = max(prior[z] for z in members)
    return int(rng.choice([z for z in members if prior[z] == best]))


@pytest.mark.parametrize("prior", [np.full(8, 0.125), ZIPF], ids=["uniform", "zipf"])
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_measured_advantage_is_the_exact_one(
    name: str, epsilon: float, prior: np.ndarray
) -> None:
    """18 settings at 1e-6 a side: a false alarm in 3 of 100,000 runs at most."""
    channel = CHANNELS[name](epsilon, prior.size)
    outcome, _ = audited(name, epsilon, prior, 60_000)
    for replaced in (outcome.chance(prior), outcome.replaced):
        low, high = MeasuredRad(outcome.real, replaced).interval(1 - 2e-6)
        assert low <= channel.rad(prior) <= high
    assert outcome.times_guessed.sum() == outcome.trials


@pytest.mark.parametrize("prior", [np.full(5, 0.2), np.array([0.4, 0.3, 0.3, 0.0, 0.0])])
def test_guesses_are_of_the_largest_prior_and_uniform_among_equals(prior: np.ndarray) -> None:
    """20,000 guesses a set; a share off by 0.02 would be 5.6 sd or more."""
    rng, twin = np.random.default_rng(0), np.random.default_rng(1)
    sets = [[1, 2, 4], [3, 4], [], [0, 1], [2]]
    n = 20_000
    members = np.array([z for each in sets for z in each] * n)
    counts = np.array([len(each) for each in sets] * n)
    found = likeliest(members, counts, prior, rng).reshape(n, len(sets))
    for column, each in zip(found.T, sets, strict=True):
        slow = [slow_guess(each, prior, twin) for _ in range(n)]
        assert np.abs(np.bincount(column, minlength=5) - np.bincount(slow, minlength=5)).max() < (
            0.02 * n * math.sqrt(2)
        )
        assert set(column) == set(slow)


def test_all_sets_empty() -> None:
    found = likeliest(np.empty(0, dtype=np.int64), np.zeros(500, dtype=np.int64), ZIPF, rng())
    assert set(found) == set(range(8))


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_bits_and_lists_are_read_alike() -> None:
    on = rng().random((400, 8)) < 0.3
    lists = BitLists(np.r_[0, np.cumsum(on.sum(axis=1))], np.nonzero(on)[1], 8)
    reader = READERS["oue"]
    guesses = [reader.guess(each, 400, ZIPF, rng()) for each in (on, on.astype(np.uint8), lists)]
    assert np.array_equal(guesses[0], guesses[1]) and np.array_equal(guesses[0], guesses[2])


def test_batches_bound_the_memory_and_sum_to_the_trials() -> None:
    for trials, cells in ((1, 1), (10**6, 1), (10**6, 5000), (7, 10**9)):
        sizes = batches(trials, cells)
        assert sum(sizes) == trials and min(sizes) > 0
        assert max(sizes) * cells <= max(1 << 22, cells)
    with pytest.raises(AuditError, match="trials"):
        batches(0, 1)


def test_draws_follow_the_prior() -> None:
    """4,000,000 draws: 5 sd of the likeliest value is 0.0013."""
    prior = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
    found = np.bincount(draw(cumulative(prior), 4_000_000, rng()), minlength=6) / 4e6
    assert np.abs(found - prior).max() < 0.0013
    assert found[0] == found[2] == found[5] == 0


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("prior", [np.full(8, 0.125), ZIPF], ids=["uniform", "zipf"])
def test_a_client_that_ignores_its_input_shows_nothing(name: str, prior: np.ndarray) -> None:
    """The null: 3 audits at 99 % in 6 settings and small samples; seeded, so it cannot flicker."""
    for trials in (1, 3, 50, 5000):
        _, lower = audited(name, 0.0, prior, trials)
        assert lower == [0, 0, 0]


def reversing(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 7 - values


def test_reversed_labels_are_no_leakage_that_the_attack_sees() -> None:
    outcome = play(reversing, "grr", np.full(8, 0.125), 1000, rng())
    assert outcome.hits == 0
    assert [each.lower for each in estimates(outcome, "grr", np.full(8, 0.125))] == [0, 0, 0]


@pytest.mark.parametrize("name", READERS)
def test_twice_the_epsilon_is_caught(name: str) -> None:
    outcome, _ = audited(name, 2.0, np.full(20, 0.05), 100_000)
    found = estimates(outcome, name, np.full(20, 0.05))
    assert found[0].verdict(1.0).violated and not found[0].verdict(2.1).violated
    assert str(found[0].verdict(1.0)) == "violates ε = 1 with confidence 99 %"


@pytest.mark.parametrize("prior", [np.full(20, 0.05), np.arange(1, 21) / 210])
def test_subsets_are_taken_as_large_as_they_are(prior: np.ndarray) -> None:
    """20/(e^1.5 + 1) = 3.65 is rounded to 4 by other libraries, to 3 by Example 4.6; at 99.99 %."""
    outcome = play(client_of(SubsetSelection(1.5, 20, 4)), "ss", prior, 200_000, rng())
    assert outcome.width == 4
    measured = outcome.measured(prior)
    assert estimates(outcome, "ss", prior, confidence=0.9999)[0].covers(1.5)
    assert audit_ss(prior, 4).audit(measured, 0.9999).covers(1.5)
    assert not audit_ss(prior, 3).audit(measured, 0.9999).covers(1.5)

    sizes = iter((2, 2, 3))
    with pytest.raises(AuditError, match="as many values each time, got 2 and 3"):
        play(lambda values, _: np.zeros((len(values), next(sizes)), int), "ss", prior, 9, rng())


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("prior", [np.full(8, 0.125), ZIPF], ids=["uniform", "zipf"])
def test_a_correct_client_is_rarely_flagged(name: str, prior: np.ndarray) -> None:
    """300 audits at 90 %: each flags at most 10 % (5 % for rad). P[Bin(300, 0.1) > 58] < 1e-6."""
    epsilon = 1.3
    client = client_of(CHANNELS[name](epsilon, prior.size))
    source = np.random.default_rng(17)
    alarms, missed = np.zeros(3), 0
    for _ in range(300):
        outcome = play(client, name, prior, 300, source)
        found = estimates(outcome, name, prior, confidence=0.9)
        alarms += [each.verdict(epsilon).violated for each in found]
        missed += not found[0].covers(epsilon)
    assert binom.sf(58, 300, 0.1) < 1e-6
    assert alarms.max() <= 58 and missed <= 58


@pytest.mark.parametrize("name", ["grr", "ss"])
def test_epsilon_14_of_3052_values(name: str) -> None:
    """What the acceptance experiment shows, on one seed; LDP-Auditor stays below its cap."""
    prior = np.full(3052, 1 / 3052)
    outcome, _ = audited(name, 14.0, prior, 10**6, seed=1)
    exact, black_box, auditor = estimates(outcome, name, prior)
    assert exact.covers(14.0) and exact.upper - exact.lower < 0.2
    assert 13.8 < black_box.lower <= 14.0
    assert auditor.lower <= 12.149


def test_one_seed_one_outcome_and_the_client_has_its_own_stream() -> None:
    first, again = (audited("ss", 1.0, ZIPF, 500)[0] for _ in range(2))
    assert first.hits == again.hits and np.array_equal(first.times_guessed, again.times_guessed)
    seen: list[np.random.Generator] = []

    def client(values: np.ndarray, inner: np.random.Generator) -> np.ndarray:
        seen.append(inner)
        return values

    source = rng()
    play(client, "grr", ZIPF, 10, source)
    assert all(each is not source for each in seen)


CLIENT = """
import numpy as np

def honest(values, rng):
    p = np.e / (np.e + 9)
    other = rng.integers(9, size=len(values))
    return np.where(rng.random(len(values)) < p, values, other + (other >= values))

def in_place(values, rng):
    values[:] = honest(values, rng)
    return values

def shy(values, rng):
    return values[:-1]

def wild(values, rng):
    return values + 10

def broken(values, rng):
    raise RuntimeError("no luck")

number = 3
"""


def test_clients_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLIENT)
    prior = np.full(10, 0.1)
    for name in ("honest", "in_place"):
        outcome = play(load_client(f"{path}:{name}"), "grr", prior, 50_000, rng())
        assert audit_grr(prior).audit(outcome.measured(prior), 0.9999).covers(1.0)
    for name in ("shy", "wild"):
        with pytest.raises(AuditError, match="must return 100 values of 0 to 9"):
            play(load_client(f"{path}:{name}"), "grr", prior, 100, rng())
    with pytest.raises(AuditError, match="RuntimeError: no luck"):
        play(load_client(f"{path}:broken"), "grr", prior, 100, rng())
    with pytest.raises(AuditError, match="must be a function"):
        load_client(f"{path}:number")
    with pytest.raises(AuditError, match=r"file\.py:function"):
        load_client("grr")
    with pytest.raises(PluginError, match="no plugin file"):
        load_client(f"{tmp_path / 'none.py'}:honest")


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("grr", np.zeros((4, 2), dtype=int)),
        ("grr", np.zeros(4)),
        ("ss", np.zeros(4, dtype=int)),
        ("ss", np.zeros((4, 0), dtype=int)),
        ("ss", np.full((4, 2), -1)),
        ("oue", np.zeros((4, 7), dtype=bool)),
        ("oue", np.full((4, 8), 2)),
        ("oue", np.full((4, 8), -1)),
        ("oue", BitLists(np.zeros(4, dtype=np.int64), np.empty(0, dtype=np.int64), 8)),
    ],
)
def test_reports_of_another_form_are_refused(name: str, report: object) -> None:
    with pytest.raises(AuditError, match="the client must return"):
        READERS[name].guess(report, 4, ZIPF, rng())


def test_unknown_mechanisms_are_refused() -> None:
    with pytest.raises(AuditError, match="available: grr, oue, ss"):
        play(reversing, "rappor", ZIPF, 10, rng())
