"""Theorem 4.3 for listed channels: every attack enumerated, Eq. 5 and its erratum."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds.rad import (
    GRR,
    FiniteChannel,
    optimal_attack,
    rad_finite,
    rad_given,
    rad_membership,
    success_within,
)


def game(seed: int, values: int = 5, outputs: int = 6) -> FiniteChannel:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, values + 1))
    table = rng.dirichlet(np.full(int(rng.integers(1, outputs + 1)), 0.5), size=m).T
    prior = rng.dirichlet(np.full(m, rng.uniform(0.2, 3)))
    aux = rng.integers(0, 3, m)
    success = (rng.random((int(rng.integers(1, 5)), m)) < 0.5).astype(float)
    return FiniteChannel(table, prior, aux, success if rng.random() < 0.7 else None)


def rad_by_definition(channel: FiniteChannel, guesses: np.ndarray) -> float:
    """Definition 4.1, in plain Python: both worlds, record by record."""
    m = len(channel.prior)
    total = 0.0
    for z1, theta in product(range(m), range(len(channel.table))):
        guess = guesses[theta, channel.labels[z1]]
        hit = guess == z1 if channel.success is None else channel.success[guess, z1]
        total += channel.prior[z1] * channel.table[theta, z1] * hit
        for z0 in range(m):
            both = channel.prior[z1] * channel.prior[z0]
            total -= both * channel.table[theta, z0] * hit
    return total


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_optimal_attack_has_the_bound_as_its_advantage(seed: int) -> None:
    """Corollary 4.9 by enumeration: to 1e-12."""
    channel = game(seed)
    best = channel.optimal()
    assert rad_by_definition(channel, best) == pytest.approx(channel.rad(), abs=1e-12)
    assert channel.rad_of(best) == pytest.approx(channel.rad(), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_deterministic_attack_passes_the_bound(seed: int) -> None:
    """All attacks of a small game; mixtures of them are averages."""
    channel = game(seed, values=3, outputs=2)
    guesses = len(channel.prior) if channel.success is None else len(channel.success)
    shape = channel.optimal().shape
    every = product(range(guesses), repeat=shape[0] * shape[1])
    advantages = [channel.rad_of(np.array(each).reshape(shape)) for each in every]
    assert max(advantages) == pytest.approx(channel.rad(), abs=1e-12)


def test_success_is_not_advantage() -> None:
    """An attack that ignores the output succeeds often and has no advantage."""
    channel = FiniteChannel(GRR(1.0, 3).matrix(), np.array([0.8, 0.1, 0.1]))
    blind = np.zeros((3, 1), dtype=int)
    assert channel.success_of(blind) == pytest.approx(0.8)
    assert channel.rad_of(blind) == pytest.approx(0, abs=1e-15)
    assert channel.rad_of(channel.optimal()) > 0.05


def test_knowing_more_never_hurts() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        m = 5
        table, prior = rng.dirichlet(np.ones(4), size=m).T, rng.dirichlet(np.ones(m))
        coarse = rng.integers(0, 2, m)
        fine = coarse * 3 + rng.integers(0, 3, m)
        none, some, more = (rad_finite(table, prior, aux) for aux in (None, coarse, fine))
        everything = rad_finite(table, prior, np.arange(m))
        assert none <= some + 1e-15 <= more + 2e-15 <= everything + 3e-15
        assert everything == pytest.approx(rad_membership(table, prior), abs=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_knowledge_beside_the_reported_value(seed: int) -> None:
    """Values and knowledge with a joint prior: the mean of the parts is Theorem 4.3 on pairs."""
    rng = np.random.default_rng(seed)
    m, known = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    joint = rng.dirichlet(np.full(m * known, 0.7)).reshape(known, m)
    table = rng.dirichlet(np.ones(4), size=m).T
    success = (rng.random((3, m)) < 0.5).astype(float) if seed % 2 else None
    guesses = np.eye(m) if success is None else success
    given = joint / joint.sum(axis=1, keepdims=True)
    parts = rad_given(table, joint.sum(axis=0), given[[*range(known), 0]], success)
    assert parts[-1] == parts[0]
    exact = rad_finite(
        np.tile(table, (1, known)),
        joint.ravel(),
        np.repeat(np.arange(known), m),
        np.tile(guesses, (1, known)),
    )
    assert joint.sum(axis=1) @ parts[:-1] == pytest.approx(exact, abs=1e-12)


def test_equation_5_needs_a_guess_that_fails() -> None:
    """Erratum: with η the diameter every guess succeeds, and no attack has any advantage."""
    table, prior = GRR(2.0, 4).matrix(), np.array([0.4, 0.3, 0.2, 0.1])
    values = np.arange(4)
    errors = np.abs(np.subtract.outer(values, values))
    printed = rad_membership(table, prior)
    assert printed > 0.2
    for eta in (0, 1):
        near = rad_finite(table, prior, values, success_within(errors, eta))
        assert near == pytest.approx(printed, abs=1e-14)
    all_succeed = rad_finite(table, prior, values, success_within(errors, 3))
    assert all_succeed == pytest.approx(0, abs=1e-15)


def test_useless_channels_and_sure_targets() -> None:
    same = np.tile([[0.3], [0.7]], (1, 4))
    assert rad_finite(same, 4) == pytest.approx(0, abs=1e-16)
    assert rad_finite(np.eye(3), [0.0, 1.0, 0.0]) == 0
    assert rad_finite(np.eye(3), 3) == pytest.approx(2 / 3)
    assert rad_finite(np.ones((1, 1)), 1) == 0


def test_attack_may_miss_on_purpose() -> None:
    """a(z) known, output that speaks against it: the best guess is a value of another label."""
    guesses = optimal_attack(np.eye(3), 3, [0, 1, 2])
    for theta, label in product(range(3), range(3)):
        assert (guesses[theta, label] == label) == (theta == label)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rad_finite(np.ones((2, 3)) / 2, 2), "prior must have 3 values"),
        (lambda: rad_finite(np.ones(3), 3), "table must have one row an output"),
        (lambda: rad_finite(np.eye(3), 3, success=np.eye(2)), "success must have one row a guess"),
        (lambda: rad_finite(np.eye(3), 3, aux=[1]), "aux must hold one label"),
        (lambda: rad_finite(np.eye(2) * 2, 2), "table must be in"),
        (lambda: rad_given(np.eye(2), 2, [0.5, 0.5]), "conditional must have one row a record"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
