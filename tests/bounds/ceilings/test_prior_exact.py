"""The prior-exact mean ceiling: closed forms, two twins, enumerated channels, limits, bad input."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import NonlinearConstraint, brentq, minimize
from scipy.special import ndtr, ndtri

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from reconbench.bounds.ceilings.prior_exact import PriorExact, prior_exact

FloatArray = NDArray[np.float64]
GUARANTEES: list[Guarantee] = [
    GaussianDP(0.05),
    GaussianDP(0.7),
    GaussianDP(3.0),
    PureDP(0.4),
    PureDP(3.0),
    ApproxDP(1.0, 0.05),
]


def random_prior(rng: np.random.Generator, m: int) -> FloatArray:
    return rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 8.0])))


def by_slsqp(pi: FloatArray, mu: float) -> float:
    """The primal for Gaussian DP by a general solver, pulled back into the feasible set."""

    def slack(a: FloatArray) -> FloatArray:
        g = ndtr(ndtri(a) - mu)
        return np.asarray(1 - a + g - g.sum())

    def loss(a: FloatArray) -> float:
        return float(-pi @ a)

    def gradient(_: FloatArray) -> FloatArray:
        return -pi

    solved = minimize(
        loss,
        np.full(pi.size, 0.5 / pi.size),
        jac=gradient,
        constraints=NonlinearConstraint(slack, 0.0, math.inf),
        bounds=[(1e-12, 1 - 1e-12)] * pi.size,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    feasible = solved.x * (1 - max(0.0, -float(slack(solved.x).min())) * 2)
    return float(pi @ feasible)


def test_golden() -> None:
    pi = np.full((100, 2), [0.56, 0.44])
    assert prior_exact(pi, GaussianDP(0.268051)) == pytest.approx(57.33, abs=0.005)


@pytest.mark.parametrize("mu", [1e-3, 0.268051, 1.0, 4.0])
@pytest.mark.parametrize("p", [0.5, 0.56, 0.9, 0.999])
def test_two_values_are_the_bayes_error_of_theorem_d1(p: float, mu: float) -> None:
    # 1 − min over α of (1 − p) α + p f(α), at Φ⁻¹(1 − α) = ln(p/(1 − p))/μ·(−1) + μ/2.
    log_odds = math.log(p / (1 - p))
    closed = p * ndtr(mu / 2 + log_odds / mu) + (1 - p) * ndtr(mu / 2 - log_odds / mu)
    bound = PriorExact(np.array([[p, 1 - p], [1 - p, p]]), GaussianDP(mu))
    np.testing.assert_allclose(bound.per_target, closed, rtol=1e-13)
    alpha = np.linspace(0, 1, 20_001)
    error = np.min((1 - p) * alpha + p * GaussianDP(mu).tradeoff(alpha))
    assert bound.per_target[0] == pytest.approx(1 - error, abs=1e-6)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
@pytest.mark.parametrize("m", [2, 3, 10, 1000])
def test_uniform_priors_are_the_fixed_point(m: int, guarantee: Guarantee) -> None:
    # a = 1 − f((1 − a)/(m − 1))
    a = brentq(lambda a: a - 1 + float(guarantee.tradeoff((1 - a) / (m - 1))), 1 / m, 1.0)
    assert prior_exact(np.full((1, m), 1 / m), guarantee) == pytest.approx(a, rel=1e-10)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.5, 4.0])
def test_it_equals_a_general_solver(mu: float) -> None:
    rng = np.random.default_rng(20)
    for m in (2, 3, 4, 6, 9):
        pi = random_prior(rng, m)
        bound = PriorExact(pi[None], GaussianDP(mu))
        primal = by_slsqp(pi, mu)
        assert primal <= bound.mean + 1e-12
        assert bound.mean - primal < 1e-4 * bound.mean
        assert bound.gap < 1e-9


def test_randomised_response_reaches_it() -> None:
    """For priors within a factor e^ε of each other, guessing the report is all that is allowed."""
    epsilon, pi = 1.0, np.array([0.35, 0.25, 0.2, 0.2])
    truthful = math.exp(epsilon) / (math.exp(epsilon) + 3)
    assert prior_exact(pi[None], PureDP(epsilon)) == pytest.approx(truthful, rel=1e-12)


def test_the_gaussian_two_point_channel_reaches_it() -> None:
    rng = np.random.default_rng(22)
    pi, mu, runs = np.array([0.7, 0.3]), 1.3, 400_000
    x = (rng.random(runs) < pi[1]).astype(float)
    output = mu * x + rng.normal(size=runs)
    likelier = pi[1] * np.exp(mu * output - mu**2 / 2) > pi[0]
    error = 4.5 * math.sqrt(0.25 / runs)
    assert np.mean(likelier == x) == pytest.approx(prior_exact(pi[None], GaussianDP(mu)), abs=error)


@dataclass(frozen=True, eq=False)
class ChannelGuarantee:
    """The exact privacy profile of a finite channel, one row of probabilities a truth."""

    channel: FloatArray
    relation: Relation = Relation.REPLACE_ONE
    unit: str = "one record"

    def delta_at(self, epsilon: float) -> float:
        if math.isinf(epsilon):
            return max(float(p[q == 0].sum()) for p in self.channel for q in self.channel)
        excess = self.channel[:, None] - math.exp(epsilon) * self.channel[None]
        return float(np.maximum(excess, 0).sum(axis=2).max())

    def epsilon_at(self, delta: float) -> float:
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta_at(middle) <= delta else (middle, high)
        return high

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        epsilon = np.linspace(0, 20, 400)
        delta = np.array([self.delta_at(e) for e in epsilon])
        level = np.asarray(alpha)[..., None]
        lines = np.maximum(
            1 - delta - np.exp(epsilon) * level, np.exp(-epsilon) * (1 - delta - level)
        )
        return np.asarray(np.maximum(lines.max(axis=-1), 0))

    def power(self, alpha: ArrayLike) -> FloatArray:
        return 1 - self.tradeoff(alpha)

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def group(self, size: int) -> Guarantee:
        raise NotImplementedError

    def describe(self) -> str:
        return "a finite channel"


def random_channel(rng: np.random.Generator, m: int) -> FloatArray:
    outputs = int(rng.integers(2, 9))
    own = rng.dirichlet(np.full(outputs, rng.choice([0.2, 1.0, 10.0])), size=m)
    common = rng.dirichlet(np.ones(outputs))
    weight = rng.choice([0.05, 0.3, 0.9])
    return np.asarray(weight * own + (1 - weight) * common)


def check_random_channels(rng: np.random.Generator, count: int) -> None:
    tightest = 0.0
    for _ in range(count):
        m = int(rng.integers(2, 6))
        channel, pi = random_channel(rng, m), random_prior(rng, m)
        best = float(np.max(channel * pi[:, None], axis=0).sum())
        exact = ChannelGuarantee(channel)
        guarantees: list[Guarantee] = [exact]
        guarantees += [
            ApproxDP(epsilon, delta)
            for epsilon in (0.05, 0.5, 2.0)
            if (delta := exact.delta_at(epsilon)) < 1
        ]
        for guarantee in guarantees:
            bound = prior_exact(pi[None], guarantee)
            assert best <= bound + 1e-12
            tightest = max(tightest, (best - pi.max()) / max(bound - pi.max(), 1e-12))
    # The check has teeth: some channels come close to their bound.
    assert tightest > 0.95


def test_random_channels_never_pass_it() -> None:
    check_random_channels(np.random.default_rng(23), 60)


@pytest.mark.slow
def test_many_random_channels_never_pass_it() -> None:
    check_random_channels(np.random.default_rng(24), 500)


def noisy_success(rng: np.random.Generator, priors: FloatArray, mu: float, runs: int) -> FloatArray:
    """Successes of the Bayes-optimal attack when each record's one-hot code is released in noise.

    One-hot codes of two values are √2 apart, so noise of sd √2/μ makes the release μ-GDP.
    """
    n, m = priors.shape
    edges = np.cumsum(priors, axis=1)[:, :-1]
    x = np.sum(rng.random((runs, n, 1)) > edges, axis=2)
    sigma = math.sqrt(2) / mu
    noisy = np.eye(m)[x] + sigma * rng.normal(size=(runs, n, m))
    guess = np.argmax(np.log(priors) + noisy / sigma**2, axis=2)
    return np.asarray((guess == x).sum(axis=1), dtype=np.float64)


def test_simulated_attacks_stay_below_and_half_the_noise_does_not() -> None:
    rng = np.random.default_rng(25)
    likelier = rng.uniform(0.5, 0.8, size=50)
    binary = np.column_stack([likelier, 1 - likelier])
    wide = rng.dirichlet(np.full(5, 2.0), size=50)
    for priors, share in ((binary, 0.995), (wide, 0.9)):
        ceiling = prior_exact(priors, GaussianDP(1.0))
        success = noisy_success(rng, priors, 1.0, 4000)
        error = 4.5 * float(success.std()) / math.sqrt(success.size)
        assert share * ceiling - error <= success.mean() <= ceiling + error
        assert noisy_success(rng, priors, 2.0, 4000).mean() > ceiling + error


def test_limits() -> None:
    rng = np.random.default_rng(26)
    priors = rng.dirichlet(np.ones(7), size=20)
    np.testing.assert_allclose(
        PriorExact(priors, GaussianDP(0.0)).per_target, priors.max(axis=1), rtol=1e-14
    )
    np.testing.assert_allclose(
        PriorExact(priors, PureDP(1e-12)).per_target, priors.max(axis=1), rtol=1e-9
    )
    for nothing in (GaussianDP(math.inf), PureDP(math.inf), ApproxDP(math.inf, 0.1)):
        np.testing.assert_allclose(PriorExact(priors, nothing).per_target, 1.0, rtol=1e-14)
    for guarantee in GUARANTEES:
        assert prior_exact([[1.0]], guarantee) == 1.0
        assert prior_exact([[0.0, 1.0, 0.0]], guarantee) == pytest.approx(1.0, rel=1e-15)


def test_delta_alone_reveals_with_probability_delta() -> None:
    # ε → 0: reveal with probability δ, guess the likeliest otherwise.
    pi = np.array([0.5, 0.3, 0.2])
    assert prior_exact(pi[None], ApproxDP(1e-12, 0.1)) == pytest.approx(0.5 + 0.1 * 0.5, rel=1e-9)


def test_padding_and_order_do_not_matter() -> None:
    rng = np.random.default_rng(27)
    pi = rng.dirichlet(np.ones(5))
    padded = np.zeros((2, 9))
    padded[0, :5], padded[1, [8, 1, 3, 4, 0]] = pi, pi
    for guarantee in GUARANTEES:
        both = PriorExact(padded, guarantee).per_target
        np.testing.assert_allclose(both, prior_exact(pi[None], guarantee), rtol=1e-13)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 5), st.floats(0, 1))
def test_between_prior_and_published_bound_and_monotone(
    weights: list[float], mu: float, share: float
) -> None:
    pi = np.array([*weights, 0.5])
    pi /= pi.sum()
    guarantee = GaussianDP(mu)
    bound = prior_exact(pi[None], guarantee)
    assert pi.max() - 1e-12 <= bound <= float(1 - guarantee.tradeoff(pi.max())) + 1e-12
    assert bound <= prior_exact(pi[None], GaussianDP(mu + 0.2)) + 1e-12
    # Merging two values makes guessing easier.
    merged = np.concatenate([[min(pi[0] + pi[-1], 1.0)], pi[1:-1]])
    assert bound <= prior_exact(merged[None], guarantee) + 1e-12
    # So does moving mass from a less likely to a likelier value.
    sorted_pi = np.sort(pi)
    moved = sorted_pi.copy()
    moved[-1], moved[0] = moved[-1] + share * moved[0], (1 - share) * moved[0]
    assert bound <= prior_exact(moved[None], guarantee) + 1e-12


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_a_tail_only_rounds_up(guarantee: Guarantee) -> None:
    rng = np.random.default_rng(28)
    full = -np.sort(-rng.dirichlet(np.full(400, 0.05), size=10), axis=1)
    exact = PriorExact(full, guarantee).per_target
    previous = np.ones(10)
    for kept in (1, 3, 10, 40, 150):
        bound = PriorExact(full[:, :kept], guarantee, full[:, kept:].sum(axis=1)).per_target
        assert np.all(bound >= exact - 1e-12)
        assert np.all(bound <= previous + 1e-12)
        previous = bound
    np.testing.assert_allclose(previous, exact, rtol=0.02)


def test_a_tail_of_equal_values_is_exact() -> None:
    uniform = prior_exact(np.full((1, 1000), 1e-3), GaussianDP(2.0))
    assert prior_exact([[1e-3]], GaussianDP(2.0), 0.999) == pytest.approx(uniform, rel=1e-9)
    huge = prior_exact([[1e-9]], GaussianDP(2.0), 1 - 1e-9)
    # The fixed point a = 1 − f((1 − a)/(m − 1)) for nine digits.
    g = float(ndtr(ndtri(huge) - 2.0))
    assert huge + (10**9 - 1) * g == pytest.approx(1.0, rel=1e-6)


def test_repeated_priors_are_solved_once_and_put_back() -> None:
    rng = np.random.default_rng(12)
    listed, tail = rng.dirichlet(np.ones(5), size=3)[:, :4], np.zeros(3)
    tail[:2] = 1 - listed[:2].sum(axis=1)
    listed[2] /= listed[2].sum()
    # The same values with another tail would be another prior.
    which = np.array([2, 0, 1, 1, 2, 0, 0])
    for guarantee in GUARANTEES:
        many = PriorExact(listed[which], guarantee, tail[which])
        alone = [PriorExact(listed[[i]], guarantee, tail[[i]]) for i in range(3)]
        np.testing.assert_array_equal(
            many.per_target, [alone[i].per_target[0] for i in which.tolist()]
        )
        assert many.gap == pytest.approx(sum(alone[i].gap for i in which.tolist()), abs=1e-15)


def test_the_gap_is_tiny() -> None:
    priors = np.random.default_rng(29).dirichlet(np.full(46, 0.3), size=100)
    for guarantee in [*GUARANTEES, GaussianDP(1e-6)]:
        bound = PriorExact(priors, guarantee)
        assert bound.n == 100
        assert 0 <= bound.gap < 1e-9 * bound.mean


@pytest.mark.parametrize(
    ("priors", "tail", "message"),
    [
        ([[0.5, 0.6]], 0.0, "add up to 1 in each row, got 1.1"),
        ([[0.5, 0.4]], 0.0, "pass what is not listed as tail_mass"),
        ([[0.5, 0.5]], 0.1, "add up to 1"),
        ([[0.5, -0.1, 0.6]], 0.0, r"priors must be in \[0, 1\], got -0.1"),
        ([[0.5, math.nan]], 0.0, r"priors must be in \[0, 1\], got nan"),
        ([0.5, 0.5], 0.0, "non-empty 2-D array"),
        ([[]], 0.0, "non-empty 2-D array"),
        ([[0.5, 0.5]], [0.0, 0.0], "tail_mass must be one number or one per target"),
        ([[0.5, 0.5]], -0.1, r"tail_mass must be in \[0, 1\]"),
    ],
)
def test_bad_priors_are_refused(priors: object, tail: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PriorExact(np.asarray(priors, dtype=float), GaussianDP(1.0), np.asarray(tail))
