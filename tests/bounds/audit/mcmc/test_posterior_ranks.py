"""Simulation-based calibration (Talts et al. 2018): the true value's rank among posterior draws.

ε and s from the prior, counts from the model, draws from the sampler: the rank is uniform if and
only if the sampler meets the posterior on average. Each test of uniformity has a false-alarm rate
of 0.1 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from reconbench.bounds import Relation
from reconbench.bounds.audit.mcmc import (
    Counts,
    IndependentBinomial,
    Prior,
    Run,
    Settings,
)
from reconbench.bounds.audit.mcmc.sampler import sample

FromModel = Callable[..., Counts]

FALSE_ALARM = 1e-3
DRAWS, THIN, BINS = 99, 40, 10
SETTINGS = Settings(chains=1, iterations=DRAWS * THIN, warmup=1500, auxiliary=60)


class Ranks(NamedTuple):
    epsilon: np.ndarray
    strength: np.ndarray
    covered: np.ndarray

    def p_values(self) -> tuple[float, float]:
        """Of uniform ranks, for ε and for s."""
        first, second = (
            chisquare(np.bincount(each * BINS // (DRAWS + 1), minlength=BINS)).pvalue
            for each in (self.epsilon, self.strength)
        )
        return float(first), float(second)


def ranks(
    from_model: FromModel, repetitions: int, attacks: int, jacobian: float = 1.0, seed: int = 5
) -> Ranks:
    rng = np.random.default_rng(seed)
    prior, delta = Prior(4.0), 0.01
    found, covered = [], []
    for _ in range(repetitions):
        epsilon, s = abs(rng.normal(0, np.sqrt(prior.variance))), rng.random()
        counts = from_model(epsilon, s, delta, attacks, 60, rng)
        run = Run(counts, delta, Relation.ADD_REMOVE, prior, IndependentBinomial())
        draws, _ = sample(run, SETTINGS, rng, jacobian=jacobian)
        low, high = np.quantile(draws[0], [0.05, 0.95], axis=0)
        covered.append((low <= (epsilon, s)) & ((epsilon, s) <= high))
        found.append((draws[0, THIN - 1 :: THIN] < (epsilon, s)).sum(axis=0))
    epsilons, strengths = np.array(found).T
    return Ranks(epsilons, strengths, np.array(covered))


@pytest.mark.slow
@pytest.mark.parametrize("attacks", [1, 4])
def test_ranks_are_uniform_and_intervals_cover_as_they_claim(
    from_model: FromModel, attacks: int
) -> None:
    repetitions = 300
    found = ranks(from_model, repetitions, attacks)
    assert min(found.p_values()) > FALSE_ALARM
    for hits in found.covered.sum(axis=0):
        assert binom.ppf(FALSE_ALARM / 2, repetitions, 0.9) <= hits
        assert hits <= binom.ppf(1 - FALSE_ALARM / 2, repetitions, 0.9)


@pytest.mark.slow
def test_a_walk_without_its_jacobian_is_found_out(from_model: FromModel) -> None:
    assert ranks(from_model, 100, attacks=1, jacobian=0.0).p_values()[0] < 1e-6
