"""Closed forms for GRR, OUE and SS against the listed channel, and their inverses."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds.rad import (
    GRR,
    OUE,
    SubsetSelection,
    epsilon_grr,
    epsilon_oue,
    epsilon_ss,
    rad_finite,
    rad_grr,
    rad_grr_within,
    rad_oue,
    rad_ss,
    success_within,
)

CHANNELS = (GRR, OUE, SubsetSelection)
FUNCTIONS = (rad_grr, rad_oue, rad_ss)


def twin(table: np.ndarray, prior: np.ndarray, aux: np.ndarray, success: np.ndarray) -> float:
    """Theorem 4.3 as it is written: sums and maxima in plain Python."""
    total = 0.0
    m = len(prior)
    for row in table:
        overall = sum(prior[z] * row[z] for z in range(m))
        for x in set(aux.tolist()):
            total += max(
                sum(
                    (row[z] - overall) * prior[z] for z in range(m) if aux[z] == x and success[g, z]
                )
                for g in range(len(success))
            )
    return total


@st.composite
def games(draw: st.DrawFn) -> tuple[float, np.ndarray, np.ndarray]:
    m = draw(st.integers(2, 6))
    raw = draw(st.lists(st.floats(0, 1), min_size=m, max_size=m).filter(lambda r: sum(r) > 0.01))
    prior = np.array(raw) / sum(raw)
    aux = np.array(draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)))
    return draw(st.floats(0, 12)), prior, aux


@pytest.mark.parametrize("kind", CHANNELS)
@settings(max_examples=30, deadline=None)
@given(game=games())
def test_closed_forms_are_theorem_4_3(
    kind: type[GRR], game: tuple[float, np.ndarray, np.ndarray]
) -> None:
    epsilon, prior, aux = game
    channel = kind(epsilon, len(prior))
    table = channel.matrix()
    np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-12)
    for labels in (np.zeros(len(prior), int), aux, np.arange(len(prior))):
        exact = twin(table, prior, labels, np.eye(len(prior)))
        assert channel.rad(prior, labels) == pytest.approx(exact, abs=1e-12)
        assert rad_finite(table, prior, labels) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_levels_of_the_channel(kind: type[GRR], epsilon: float) -> None:
    """Two likelihoods an output, e^ε apart: on the support and off it."""
    channel = kind(epsilon, 7)
    table, on = channel.matrix(), channel.supports() > 0
    for row, inside in zip(table, on, strict=True):
        if 0 < inside.sum() < 7:
            assert np.ptp(row[inside]) < 1e-15 and np.ptp(row[~inside]) < 1e-15
            assert row[inside][0] / row[~inside][0] == pytest.approx(math.exp(epsilon))


@pytest.mark.parametrize("m", [2, 3, 10, 5000])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_uniform_forms_as_printed(m: int, epsilon: float) -> None:
    e = math.exp(epsilon)
    assert rad_grr(epsilon, m) == pytest.approx((e - 1) / (e + m - 1) * (m - 1) / m, rel=1e-12)
    q = 1 / (e + 1)
    oue = (e - 1) / (2 * m) * -math.expm1((m - 1) * math.log1p(-q))
    assert rad_oue(epsilon, m) == pytest.approx(oue, rel=1e-10)
    w = max(1, math.floor(m / (e + 1)))
    p = w * e / (w * e + m - w)
    assert rad_ss(epsilon, m) == pytest.approx((p * m - w) / (m * w), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_membership_forms_as_printed(epsilon: float) -> None:
    """a(z) = z: TV (1 − κ) for GRR and OUE."""
    prior = np.array([0.5, 0.3, 0.15, 0.05])
    spread, aux = 1 - prior @ prior, np.arange(4)
    e = math.exp(epsilon)
    assert rad_grr(epsilon, prior, aux) == pytest.approx((e - 1) / (e + 3) * spread, rel=1e-13)
    assert rad_oue(epsilon, prior, aux) == pytest.approx((e - 1) / (e + 1) / 2 * spread, rel=1e-13)


def test_printed_oue_sum_needs_ascending_order() -> None:
    """Erratum: Example 4.5 does not say how π is ordered; only ascending order is right."""

    def printed(prior: np.ndarray, epsilon: float) -> float:
        q = 1 / (math.exp(epsilon) + 1)
        p, m = 1 - q, len(prior)
        first = sum(p ** (m - i) * prior[i - 1] * (1 - prior[i - 1]) for i in range(1, m + 1))
        second = sum(p ** (m - i) * prior[i - 1] * sum(prior[: i - 1]) for i in range(1, m + 1))
        return float((p - q) / (2 * p) * (first - q * second))

    prior = np.array([0.1, 0.2, 0.7])
    exact = rad_finite(OUE(1.0, 3).matrix(), prior)
    assert printed(prior, 1.0) == pytest.approx(exact, abs=1e-12)
    assert printed(prior[::-1], 1.0) < exact - 1e-3
    assert rad_oue(1.0, prior[::-1]) == pytest.approx(exact, abs=1e-12)


def test_printed_grr_form_with_a_threshold_fails() -> None:
    """Erratum: Example 4.4 with η > 0 prints the infimum outside the sum, which makes it 0."""
    m, eta, epsilon = 5, 1, 2.0
    prior = np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    errors = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    success = success_within(errors, eta)
    exact = twin(GRR(epsilon, m).matrix(), prior, np.zeros(m, int), success)
    mass = success @ prior
    nearest = np.array([mass[errors[:, z] <= eta].min() for z in range(m)])
    gap = GRR(epsilon, m).gap
    assert gap * (1 - prior @ nearest) == pytest.approx(exact, abs=1e-12)
    assert rad_grr_within(epsilon, prior, success) == pytest.approx(exact, abs=1e-12)
    printed = gap * (1 - prior.sum()) * nearest.min()
    assert exact > printed + 0.1


@pytest.mark.parametrize("seed", range(20))
def test_grr_within_any_success_sets_and_aux(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    prior, aux = rng.dirichlet(np.ones(m)), rng.integers(0, 3, m)
    success = (rng.random((int(rng.integers(1, 6)), m)) < 0.5).astype(float)
    epsilon = float(rng.exponential(2))
    exact = twin(GRR(epsilon, m).matrix(), prior, aux, success)
    assert rad_grr_within(epsilon, prior, success, aux) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_limits(function: Callable[..., float]) -> None:
    prior = np.array([0.5, 0.25, 0.125, 0.125])
    assert function(0.0, prior) == 0
    assert function(1e-9, prior) == pytest.approx(0, abs=1e-9)
    assert function(3.0, [1.0, 0.0, 0.0]) == 0
    top = 1 - prior @ prior
    limit = sum(p * (1 - p) for p in prior) / 2 if function is rad_oue else top
    assert function(math.inf, prior) == pytest.approx(limit, rel=1e-12)
    assert function(600.0, prior) == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rises_with_epsilon_for_a_uniform_prior(function: Callable[..., float]) -> None:
    found = [function(e, 50) for e in np.linspace(0, 12, 400)]
    assert (np.diff(found) >= -1e-15).all()


@pytest.mark.parametrize("function", (rad_grr, rad_oue))
def test_rises_with_epsilon_for_any_prior(function: Callable[..., float]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        prior, aux = rng.dirichlet(np.full(9, 0.3)), rng.integers(0, 3, 9)
        found = [function(e, prior, aux) for e in np.linspace(0, 12, 200)]
        assert (np.diff(found) >= -1e-15).all()


def test_subset_selection_can_fall_where_the_subset_shrinks() -> None:
    """m = 6: ω goes from 2 to 1 at e^ε = 2, where two likely values are better told apart by 2."""
    prior = [0.5, 0.5, 0, 0, 0, 0]
    before, after = rad_ss(math.log(2) - 1e-9, prior), rad_ss(math.log(2) + 1e-9, prior)
    assert before == pytest.approx(0.1, abs=1e-8) and after == pytest.approx(1 / 14, abs=1e-8)
    fixed = [rad_ss(e, prior, subset=2) for e in np.linspace(0, 5, 100)]
    assert (np.diff(fixed) > 0).all()


@pytest.mark.parametrize("m", [2, 3, 11, 200])
@pytest.mark.parametrize("epsilon", [0.02, 0.5, 1.0, 4.0, 9.0])
def test_inverses(m: int, epsilon: float) -> None:
    for prior in (np.full(m, 1 / m), np.random.default_rng(m).dirichlet(np.ones(m))):
        assert epsilon_grr(rad_grr(epsilon, prior), prior) == pytest.approx(epsilon, rel=1e-8)
        assert epsilon_oue(rad_oue(epsilon, prior), prior) == pytest.approx(epsilon, rel=1e-5)
    assert epsilon_ss(rad_ss(epsilon, m), m) == pytest.approx(epsilon, rel=1e-8)


def test_inverse_of_subset_selection_is_the_smallest_epsilon() -> None:
    rng = np.random.default_rng(0)
    grid = np.linspace(1e-3, 6, 600)
    for _ in range(10):
        prior = rng.dirichlet(np.full(12, 0.2))
        values = np.array([rad_ss(e, prior) for e in grid])
        for gamma in rng.uniform(0, values.max(), 5):
            found = epsilon_ss(gamma, prior)
            first = grid[np.argmax(values >= gamma)]
            assert first - (grid[1] - grid[0]) <= found <= first + 1e-12


@pytest.mark.parametrize("inverse", (epsilon_grr, epsilon_oue, epsilon_ss))
def test_inverses_at_the_ends(inverse: Callable[..., float]) -> None:
    assert inverse(0.0, 10) == inverse(-0.1, 10) == 0
    assert inverse(0.95, 10) == math.inf
    with pytest.raises(ValueError, match="gamma must be an advantage"):
        inverse(1.5, 10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rad_grr(-1.0, 5), "epsilon must be >= 0"),
        (lambda: rad_grr(1.0, [0.5, 0.4]), "prior must sum to 1"),
        (lambda: rad_oue(1.0, 1), "size must be at least 2"),
        (lambda: rad_ss(1.0, 5, subset=5), "subset must be between 1 and 4"),
        (lambda: rad_ss(1.0, 5, aux=[0, 1]), "aux must hold one label"),
        (lambda: GRR(1.0, 5).rad(4), "prior must have 5 values"),
        (lambda: OUE(1.0, 64).matrix(), "size must be smaller"),
        (lambda: SubsetSelection(0.1, 100).matrix(), "size must be smaller"),
        (lambda: rad_grr_within(1.0, 3, np.full((3, 3), 0.5)), "success must hold 0 or 1"),
        (lambda: success_within(np.ones(3), 1), "errors must be a table"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("kind", CHANNELS)
def test_nothing_known_is_the_prior_given(kind: type[GRR]) -> None:
    prior = np.random.default_rng(2).dirichlet(np.ones(40))
    channel = kind(1.2, 40)
    assert channel.rad_given(prior, prior[None])[0] == pytest.approx(channel.rad(prior), abs=1e-13)
    with pytest.raises(ValueError, match="conditional must have one row a record"):
        channel.rad_given(prior, prior)


def test_five_thousand_values_need_no_listing() -> None:
    prior = np.random.default_rng(1).dirichlet(np.ones(5000))
    for function, aux in product(FUNCTIONS, (None, np.arange(5000) % 7)):
        assert 0 < function(2.0, prior, aux) < 1
