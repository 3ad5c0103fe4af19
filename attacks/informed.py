"""The Bayes-optimal attack of the informed adversary on marginals.

Whoever knows every other record in full subtracts them from the release; what is left of each
marginal is one count, in the target's own cell, and the noise. With residual r_S in the cell of the
target's known values and a guessed value v, and noise of standard deviation s,

    log P(v | release) = log π(v) + Σ_S (r_S(v) − ½)/s² + const,

so the posterior is known exactly, and its best guess is the best possible one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import comb

from reconbench.attacks._api import AttackError, AttackerView, Reconstruction
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Floats = npt.NDArray[np.float64]


class Informed:
    """The exact posterior of one record when all others are known; one hidden column."""

    name: ClassVar[str] = "informed"

    def skip(self, view: AttackerView) -> str | None:
        if view.others is None:
            return "informed plays the informed adversary only"
        if not isinstance(view.release, MarginalsRelease):
            return "informed attacks marginals only"
        if len(view.targets) != 1:
            return "informed attacks one hidden column"
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        if view.others is None or not isinstance(view.release, MarginalsRelease):
            raise AttackError("informed needs the other records and a release of marginals")
        posterior = informed_posterior(view, view.release, view.others)
        guess = view.metric.decide([posterior])
        return view.reconstruction(guess, posterior.max(axis=1))


def informed_posterior(view: AttackerView, release: MarginalsRelease, others: Table) -> Floats:
    """P(value | release, all other records) of the one target, shape (1, V)."""
    (target,) = view.targets
    prior = view.prior.conditional(view.known, [target])
    evidence = _own_cells(view.known, release, target) - _from_others(
        view.known, others, release, target
    )
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior[0])
    # Without noise the values with the largest evidence are the only possible ones.
    scale = release.noise_sd**2 if release.noise_sd > 0 else np.finfo(np.float64).tiny ** 0.5
    logits = log_prior + (evidence - evidence.max()) / scale
    weights = np.exp(logits - logits.max())
    return np.asarray((weights / weights.sum())[None])


def _own_cells(known: Table, release: MarginalsRelease, target: str) -> Floats:
    """Σ over marginals of the answers in the target's own cells, for each value."""
    hidden, names = release.domain.position(target), release.domain.names
    total = np.zeros(release.domain.sizes[hidden])
    for columns, answer in zip(release.workload, release.answers, strict=True):
        cell = tuple(int(known.column(names[i])[0]) for i in columns if i != hidden)
        total += np.moveaxis(answer, columns.index(hidden), -1)[cell]
    return total


def _from_others(known: Table, others: Table, release: MarginalsRelease, target: str) -> Floats:
    """What the other records add there: C(agreements, k − 1) marginals each, at their own value."""
    agreements = sum(
        (others.column(name) == known.column(name)[0]).astype(np.int64)
        for name in known.domain.names
    )
    shared = comb(np.asarray(agreements), release.k - 1)
    size = release.domain[target].size
    return np.bincount(others.column(target), weights=shared, minlength=size).astype(np.float64)
