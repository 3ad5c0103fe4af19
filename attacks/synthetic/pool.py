"""Evidence pooled with the prior, and the guess that follows.

Of hidden column c of a record, evidence is a number e_c(v) for each value v; pooled with the prior,

    p(u) ∝ π(u | known columns) exp(Σ_c e_c(u_c)).

Scores are probabilities under the pool: that the guess succeeds. Without evidence, or where all of
it is zero, the pool is the prior and so is the guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, Reconstruction, log_chances
from reconbench.attacks.metrics import ExactMatch, scores_by_record
from reconbench.attacks.posterior.posteriors import ColumnPosteriors
from reconbench.datasets import BayNet, Table

Floats = npt.NDArray[np.float64]

# Joint values of the hidden columns times records that are listed.
MAX_LISTED = 1 << 22


def guess_from_pool(
    view: AttackerView, evidence: Sequence[Floats], info: Mapping[str, float] | None = None
) -> Reconstruction:
    """The best guess under the pool; ``evidence`` is (n, V) for each hidden column."""
    if not any(column.any() for column in evidence):
        guess, success = view.metric.best_guess(view.prior, view.known, view.targets)
        return Reconstruction(guess, success, dict(info or {}))
    if len(view.targets) == 1:
        chances = pool(view.prior.conditional(view.known, view.targets), evidence[0])
        posterior = ColumnPosteriors(view, np.arange(view.n), chances[None])
        codes = posterior.guess([0])
        return view.reconstruction(codes, posterior.success(0, codes), info)
    prior = view.prior
    if (
        isinstance(view.metric, ExactMatch)
        and isinstance(prior, BayNet)
        and prior.can_find_mode(view.known.domain.names, view.targets)
    ):
        mode, chance = prior.find_mode(view.known, view.targets, evidence)
        return view.reconstruction(mode, chance, info)
    listed = view.n * prod(view.target_domain.sizes)
    if scores_by_record(view.metric) and listed <= MAX_LISTED:
        return _guess_from_list(view, evidence, info)
    columns = [
        pool(prior.conditional(view.known, [name]), column)
        for name, column in zip(view.targets, evidence, strict=True)
    ]
    scores = np.prod([column.max(axis=1) for column in columns], axis=0)
    return view.reconstruction(view.metric.decide(columns), scores, info)


def pool(chances: Floats, evidence: Floats) -> Floats:
    """The pool of prior chances and evidence, (n, V)."""
    logits = log_chances(chances) + evidence
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _guess_from_list(
    view: AttackerView, evidence: Sequence[Floats], info: Mapping[str, float] | None
) -> Reconstruction:
    """List all joint values of the hidden columns, for whatever metric."""
    sizes = view.target_domain.sizes
    total = np.zeros((view.n, *sizes))
    for axis, column in enumerate(evidence):
        total += column.reshape(view.n, *(s if i == axis else 1 for i, s in enumerate(sizes)))
    joint = view.prior.conditional(view.known, view.targets)
    chances = pool(joint.reshape(view.n, -1), total.reshape(view.n, -1))
    every = Table.of_all_values(view.target_domain)
    codes = np.array([view.metric.decide_joint(every.domain, every.codes, own) for own in chances])
    scores = np.empty(view.n)
    for record, guess in enumerate(codes):
        repeated = Table(every.domain, np.broadcast_to(guess, every.codes.shape))
        scores[record] = chances[record] @ view.metric.score(every, repeated)
    return view.reconstruction(codes, np.minimum(scores, 1.0), info)
