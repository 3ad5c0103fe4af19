"""Noisy numbers: closed forms, the enclosing quadrature and the simulations against each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import quad

from reconbench.bounds.rad import (
    GRR,
    OUE,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    SubsetSelection,
    rad_finite,
    rad_gaussian,
    rad_laplace,
    rad_location,
    rad_nested,
    rad_sampled,
    rad_uniform_location,
    success_within,
)

NOISES = (LaplaceNoise(0.4), GaussianNoise(0.3))
# The quadrature is exact up to the rounding of a few thousand additions.
ROUNDING = 1e-13


def by_quad(
    noise: Noise, values: np.ndarray, prior: np.ndarray, aux: np.ndarray, success: np.ndarray
) -> float:
    """The integral of Theorem 4.3 as it is written, by an adaptive rule."""

    def integrand(theta: float) -> float:
        densities = noise.density(theta - values)
        weights = (densities - densities @ prior) * prior
        return float(sum((success @ (weights * (aux == x))).max() for x in np.unique(aux)))

    ends = values.min() - noise.reach(), values.max() + noise.reach()
    cuts = np.concatenate([values, np.linspace(*ends, 40)])
    return float(quad(integrand, *ends, points=np.unique(cuts), limit=2000, epsabs=1e-9)[0])


@pytest.mark.parametrize("m", [2, 3, 11, 41])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 20.0])
def test_equally_spaced_closed_forms(m: int, epsilon: float) -> None:
    values = np.linspace(0, 1, m)
    laplace, gaussian = LaplaceNoise(1 / epsilon), GaussianNoise(1 / epsilon)
    printed = (m - 1) / m * (1 - math.exp(-epsilon / (2 * (m - 1))))
    assert rad_laplace(epsilon, m) == pytest.approx(printed, rel=1e-9)
    for noise, exact in (
        (laplace, rad_laplace(epsilon, m)),
        (gaussian, rad_gaussian(1 / epsilon, m)),
    ):
        assert rad_uniform_location(noise, values) == pytest.approx(exact, abs=1e-14)
        found = rad_location(noise, values, m, tolerance=2e-13)
        assert found.low - ROUNDING <= exact <= found.high + ROUNDING
        assert found.width <= 1e-12


@pytest.mark.parametrize("noise", NOISES)
def test_uneven_values_have_less_advantage_than_printed(noise: Noise) -> None:
    """Erratum: Examples 4.7 and 4.8 are exact for equal gaps only. m = 3, values 0, 0.1, 1."""
    uneven = np.array([0.0, 0.1, 1.0])
    exact = rad_uniform_location(noise, uneven)
    printed = (
        rad_laplace(1 / noise.scale, 3) if isinstance(noise, LaplaceNoise) else rad_gaussian(0.3, 3)
    )
    assert exact < printed - 0.01
    found = rad_location(noise, uneven, 3)
    assert found.low - ROUNDING <= exact <= found.high + ROUNDING
    assert by_quad(noise, uneven, np.full(3, 1 / 3), np.zeros(3), np.eye(3)) == pytest.approx(
        exact, abs=1e-7
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("seed", range(6))
def test_enclosure_holds_the_integral(noise: Noise, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    values = rng.integers(0, 4, m) / 3
    prior, aux = rng.dirichlet(np.ones(m)), rng.integers(0, 3, m)
    success = (rng.random((4, m)) < 0.5).astype(float)
    found = rad_location(noise, values, prior, aux, success)
    exact = by_quad(noise, values, prior, aux, success)
    assert found.width <= 1e-8
    assert found.low - 1e-6 <= exact <= found.high + 1e-6


@pytest.mark.parametrize("noise", NOISES)
def test_cut_off_outputs_are_a_finite_channel_at_the_ends(noise: Noise) -> None:
    """With both ends between the values hardly anything is left but two outputs."""
    values, prior = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.3, 0.2])
    found = rad_location(noise, values, prior, clamp=(0.999999, 1.000001))
    low = noise.below(1.0 - values)
    coarse = rad_finite(np.vstack([low, 1 - low]), prior)
    assert found.high == pytest.approx(coarse, abs=1e-4)
    assert found.high <= rad_location(noise, values, prior).high + 1e-9


def test_limits() -> None:
    values = np.linspace(0, 1, 5)
    assert rad_laplace(0.0, 5) == 0 and rad_gaussian(1e9, 5) < 1e-9
    assert rad_laplace(1e6, 5) == pytest.approx(0.8) and rad_gaussian(1e-4, 5) == pytest.approx(0.8)
    assert rad_laplace(1.0, 1) == rad_gaussian(1.0, 1) == 0
    prior = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    tiny = rad_location(GaussianNoise(1e-3), values, prior)
    assert tiny.low == pytest.approx(1 - prior @ prior, abs=1e-9)
    for many in (5, 101):
        everything = success_within(np.zeros((many, many)), 0)
        # equal up to rounding, which must not make the bound negative
        even = np.exp(np.full(many, -math.log(many)))
        even /= even.sum()
        none = rad_location(LaplaceNoise(50.0), np.arange(many), even, success=everything)
        assert 0 <= none.low <= none.high < 1e-12
    same = rad_location(LaplaceNoise(1.0), np.zeros(5), prior)
    assert same.low == pytest.approx(0, abs=1e-12) and same.high < 1e-8


@dataclass(frozen=True)
class Plane:
    """Gaussian noise on a point of the plane: the channel of a two-dimensional query."""

    points: np.ndarray
    prior: np.ndarray
    sd: float

    def __call__(self, count: int, rng: np.random.Generator) -> np.ndarray:
        drawn = self.points[rng.choice(len(self.prior), count, p=self.prior)]
        outputs = drawn + rng.normal(0, self.sd, drawn.shape)
        squares = ((outputs[:, None] - self.points) ** 2).sum(axis=2)
        return np.asarray(
            np.exp(-(squares - squares.min(axis=1, keepdims=True)) / (2 * self.sd**2))
        )


def test_sampled_outputs_in_the_plane() -> None:
    """Points on a line: the second coordinate is noise alone, so one dimension gives the truth."""
    prior = np.array([0.5, 0.3, 0.2])
    points = np.column_stack([[0.0, 0.5, 1.0], np.zeros(3)])
    exact = rad_location(GaussianNoise(0.3), points[:, 0], prior).low
    found = rad_sampled(Plane(points, prior, 0.3), prior, np.random.default_rng(0), outputs=40_000)
    assert found.low <= exact <= found.high
    assert found.high - found.low < 0.05


@pytest.mark.slow
def test_coverage_of_the_sampled_interval() -> None:
    """Empirical Bernstein holds at any size: 200 intervals of 90 %, at most 20 expected misses.

    More than 35 misses have a chance below 1e-3 even if 10 % were exact; it is conservative.
    """
    prior = np.array([0.5, 0.3, 0.2])
    points = np.column_stack([[0.0, 0.5, 1.0], np.zeros(3)])
    exact = rad_location(GaussianNoise(0.3), points[:, 0], prior).low
    rng = np.random.default_rng(3)
    plane = Plane(points, prior, 0.3)
    misses = 0
    for _ in range(200):
        found = rad_sampled(plane, prior, rng, outputs=500, confidence=0.9)
        misses += not found.low <= exact <= found.high
    assert misses <= 35


@pytest.mark.parametrize("kind", [GRR, OUE, SubsetSelection])
def test_sampled_outputs_of_local_reports(kind: type[GRR]) -> None:
    """Any error and aux by simulation, against the listed channel."""
    m, rng = 6, np.random.default_rng(1)
    channel = kind(1.5, m)
    table, prior, aux = channel.matrix(), rng.dirichlet(np.ones(m)), np.arange(m) % 2
    success = success_within(np.abs(np.subtract.outer(np.arange(m), np.arange(m))), 1)

    def likelihoods(count: int, rng: np.random.Generator) -> np.ndarray:
        return table[rng.choice(len(table), count, p=table @ prior)]

    found = rad_sampled(likelihoods, prior, rng, aux=aux, success=success, outputs=40_000)
    exact = rad_finite(table, prior, aux, success)
    assert found.low <= exact <= found.high


@dataclass(frozen=True)
class Square:
    """z uniform on [0, 1], output z + N(0, sd²), guesses on a grid, right within η."""

    sd: float
    eta: float
    guesses: int = 21
    label_count: int = 1

    def draw_prior(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return rng.random(count)

    def draw_output(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return values + rng.normal(0, self.sd, len(values))

    def density(self, outputs: np.ndarray, values: np.ndarray) -> np.ndarray:
        return GaussianNoise(self.sd).density(outputs[:, None] - values)

    def success(self, values: np.ndarray) -> np.ndarray:
        grid = np.linspace(0, 1, self.guesses)
        return np.asarray(np.abs(grid[:, None] - values) <= self.eta, dtype=float)

    def labels(self, values: np.ndarray) -> np.ndarray:
        return (values * self.label_count).astype(np.int64)


@pytest.mark.parametrize("label_count", [1, 2])
def test_nested_simulation_encloses_a_fine_grid(label_count: int) -> None:
    """A continuous prior against 400 equally likely values, whose truth is enclosed."""
    model = Square(0.2, 0.1, label_count=label_count)
    fine = (np.arange(400) + 0.5) / 400
    exact = rad_location(
        GaussianNoise(0.2), fine, 400, model.labels(fine), model.success(fine), tolerance=1e-4
    )
    found = rad_nested(model, np.random.default_rng(4), inner=2000, confidence=0.99)
    assert found.low <= exact.high + 1e-3 and exact.low - 1e-3 <= found.high
    assert found.high - found.low < 0.1
    # Plugging in a small inner sample is biased upwards: the interval must say so.
    rough = rad_nested(model, np.random.default_rng(5), inner=50, confidence=0.99)
    assert rough.low <= exact.high and exact.low <= rough.high
    assert rough.high - rough.low > found.high - found.low


@pytest.mark.slow
def test_coverage_of_the_nested_interval() -> None:
    """60 intervals of 90 %: with 10 % misses, more than 16 have a chance below 1e-4."""
    model = Square(0.2, 0.1)
    fine = (np.arange(400) + 0.5) / 400
    exact = rad_location(GaussianNoise(0.2), fine, 400, None, model.success(fine), tolerance=1e-4)
    truth = (exact.low + exact.high) / 2
    rng = np.random.default_rng(8)
    misses = 0
    for _ in range(60):
        found = rad_nested(model, rng, batches=16, outer=64, inner=200, confidence=0.9)
        misses += not found.low <= truth <= found.high
    assert misses <= 16


def test_nested_simulation_without_leakage() -> None:
    """A noise that drowns everything, and guesses that all succeed: next to 0 and 0 itself."""
    model = Square(50.0, 0.1)
    fine = (np.arange(400) + 0.5) / 400
    exact = rad_location(GaussianNoise(50.0), fine, 400, None, model.success(fine), tolerance=1e-5)
    found = rad_nested(model, np.random.default_rng(6), confidence=0.999)
    assert found.low - 1e-5 <= exact.high and exact.low <= found.high + 1e-5
    assert found.high < 0.01
    sure = rad_nested(Square(0.2, 2.0), np.random.default_rng(7))
    assert sure.low == pytest.approx(0, abs=1e-12) == sure.high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LaplaceNoise(0.0), "scale must be > 0"),
        (lambda: GaussianNoise(math.inf), "sd must be finite"),
        (lambda: rad_location(NOISES[0], [0, 1], 3), "prior must have 2 values"),
        (lambda: rad_location(NOISES[0], [0, math.nan], 2), "values must be finite"),
        (lambda: rad_location(NOISES[0], [0, 1], 2, clamp=(1, 0)), "clamp must be an interval"),
        (
            lambda: rad_sampled(
                Plane(np.eye(2), np.ones(2) / 2, 1.0), 2, np.random.default_rng(), outputs=1
            ),
            "outputs must be at least 2",
        ),
        (
            lambda: rad_nested(Square(1.0, 0.1), np.random.default_rng(), batches=1),
            "batches and inner must be at least 2",
        ),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
