"""The Bayes-optimal attack of the informed adversary on marginals.

Whoever knows every other record in full subtracts them from the release; what is left of each
marginal is one count, in the target's own cell, and the noise. With residual r_S in the cell of the
target's known values and guessed hidden values u, and noise of standard deviation s,

    log P(u | release) = log π(u) + Σ_S (r_S(u_S) − ½)/s² + const,

so the posterior over the joint values of the hidden columns is known exactly, and the guess that
the metric likes best under it is the best possible one. The number of sets S does not depend on u,
so the −½ drops out.

The sum is taken by hidden part U ⊆ hidden columns, |U| ≤ k: the answers of all sets that hold just
U of the hidden columns are one array over the values of U, from which another record that agrees
with the target on a known columns takes C(a, k − |U|) at its own values. Time a record: one array
for each of the T sets, n (d + 2^d′) for the others, and 2^d′ Π_c V_c for d′ hidden columns of V_c
values.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    log_chances,
    require_playable,
)
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Floats = npt.NDArray[np.float64]

JOINT_LIMIT = 1 << 20


class Informed:
    """The exact posterior of one record when all others are known.

    Scores are the posterior chance that the guess succeeds under the metric, and so is the
    expectation in ``best_possible``: no attack that sees the same view has a larger one.
    """

    name: ClassVar[str] = "informed"

    def skip(self, view: AttackerView) -> str | None:
        if view.others is None:
            return "informed plays the informed adversary only"
        if not isinstance(view.release, MarginalsRelease):
            return "informed attacks marginals only"
        joint = prod(view.target_domain.sizes)
        if joint > JOINT_LIMIT:
            return (
                f"informed lists the joint values of the hidden columns: {joint:,}, more than "
                f"{JOINT_LIMIT:,}; hide fewer columns"
            )
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, MarginalsRelease)
        if view.others is None:
            raise AttackError("informed plays the informed adversary only")
        flat = informed_posterior(view, release, view.others).ravel()
        values = Table.of_all_values(view.target_domain)
        guess = view.metric.decide_joint(values.domain, values.codes, flat)
        repeated = Table(values.domain, np.broadcast_to(guess, values.codes.shape))
        success = min(float(flat @ view.metric.score(values, repeated)), 1.0)
        return view.reconstruction(guess[None], [success], best_possible=BestPossible(success))


def informed_posterior(view: AttackerView, release: MarginalsRelease, others: Table) -> Floats:
    """Compute P(joint values | release, all other records) of one record, an axis per target."""
    prior = view.prior.conditional(view.known, view.targets)[0]
    evidence = _evidence(view, release, others)
    # Without noise the values with the largest evidence are the only possible ones.
    scale = release.noise_sd**2 if release.noise_sd > 0 else np.finfo(np.float64).tiny ** 0.5
    logits = log_chances(prior) + (evidence - evidence.max()) / scale
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _evidence(view: AttackerView, release: MarginalsRelease, others: Table) -> Floats:
    """Compute Σ_S r_S(u_S) for all joint values u, one axis per target."""
    domain, sizes = release.domain, release.domain.sizes
    order = domain.positions(view.targets)
    hidden = tuple(sorted(order))
    secret = frozenset(hidden)
    codes = dict(zip(domain.positions(view.known.domain.names), view.known.codes[0], strict=True))
    where = [int(codes[i]) if i in codes else slice(None) for i in range(len(domain))]
    own: dict[tuple[int, ...], Floats] = {
        part: np.zeros([sizes[i] for i in part])
        for width in range(1, min(release.k, len(hidden)) + 1)
        for part in combinations(hidden, width)
    }
    touching = release.touching(view.targets)
    for columns, answer in zip(touching.workload, touching.answers, strict=True):
        part = tuple([i for i in columns if i in secret])
        own[part] += answer[tuple([where[i] for i in columns])]
    visible = list(codes)
    full = others.project(domain.names).codes
    agreements = (full[:, visible] == view.known.codes[0]).sum(axis=1)
    total = np.zeros([sizes[i] for i in hidden])
    for part, answers in own.items():
        ways = np.array([comb(a, release.k - len(part)) for a in range(len(visible) + 1)], float)
        cell = np.ravel_multi_index([full[:, i] for i in part], answers.shape)
        taken = np.bincount(cell, ways[agreements], answers.size).reshape(answers.shape)
        total += (answers - taken).reshape([sizes[i] if i in part else 1 for i in hidden])
    return total.transpose([hidden.index(i) for i in order])
