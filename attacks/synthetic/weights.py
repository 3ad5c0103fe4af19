"""How much of what a source says to believe: weights of a log-linear pool, learnt by practice.

The pool of a prior π and sources s that say e_s(v) of the hidden value v of a record is

    p(v) ∝ π(v) exp(Σ_s w_s e_s(v)),     w ≥ 0.

Practice is records whose hidden value is known. There the mean log-probability of the truth is
concave in w (a conditional logit), and its maximum is found by L-BFGS-B. Negative weights are not
allowed: with them stacking is known to overfit (Breiman 1996, Stacked regressions).

Weights that only follow chance must come out as zero, for they can only do harm. So they are
checked: fitted without a fifth of the groups of records and tried on these, as they are and shrunk
to three quarters, a half and a quarter. The share that does best is taken if its gain over the
prior exceeds its standard error over the groups, and otherwise none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FOLDS = 5
SHARES = np.array([1.0, 0.75, 0.5, 0.25])
RIDGE = 1.0


@dataclass(frozen=True, eq=False)
class Practice:
    """Records whose hidden value is known: what the sources say of them, (N, V, S), the logarithm
    of the prior, (N, V), the truth, and the number of the group that each belongs to, (N,).

    Records of a group are not independent.
    """

    evidence: Floats
    log_prior: Floats
    truth: Codes
    group: Codes

    def select(self, chosen: npt.NDArray[np.bool_]) -> Practice:
        return Practice(
            self.evidence[chosen], self.log_prior[chosen], self.truth[chosen], self.group[chosen]
        )

    def score(self, weights: Floats) -> Floats:
        """The log-probability of the truth under the pool, (N,)."""
        logits = self.log_prior + self.evidence @ weights
        records = np.arange(len(self.truth))
        return np.asarray(logits[records, self.truth] - logsumexp(logits, axis=1))

    def slope(self, weights: Floats) -> tuple[float, Floats]:
        """The total log-probability of the truth, and its gradient in the weights."""
        logits = self.log_prior + self.evidence @ weights
        norm = logsumexp(logits, axis=1, keepdims=True)
        chances = np.exp(logits - norm)
        records = np.arange(len(self.truth))
        total = float((logits[records, self.truth] - norm[:, 0]).sum())
        expected = np.einsum("nv,nvs->s", chances, self.evidence)
        return total, self.evidence[records, self.truth].sum(axis=0) - expected


def fit_weights(practice: Sequence[Practice]) -> Floats:
    """Weights that practice supports, (S,): all of them zero where it supports none."""
    groups = np.unique(np.concatenate([part.group for part in practice]))
    folds = min(FOLDS, len(groups))
    whole = maximise(practice)
    if folds < 2 or not whole.any():
        return np.zeros_like(whole)
    gains = np.zeros((len(SHARES), len(groups)))
    for fold in range(folds):
        left_out = groups[fold::folds]
        weights = maximise([part.select(~np.isin(part.group, left_out)) for part in practice])
        for part in practice:
            tried = part.select(np.isin(part.group, left_out))
            index = np.searchsorted(groups, tried.group)
            base = tried.score(np.zeros_like(weights))
            for share, gain in zip(SHARES, gains, strict=True):
                np.add.at(gain, index, tried.score(share * weights) - base)
    mean, error = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(len(groups))
    best = int(mean.argmax())
    return SHARES[best] * whole if mean[best] > error[best] else np.zeros_like(whole)


def maximise(practice: Sequence[Practice]) -> Floats:
    """The weights of largest penalised log-probability."""

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, gradient = RIDGE / 2 * float(weights @ weights), RIDGE * weights
        for part in practice:
            total, slope = part.slope(weights)
            loss, gradient = loss - total, gradient - slope
        return loss, gradient

    sources = practice[0].evidence.shape[2]
    found = minimize(
        objective,
        np.zeros(sources),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * sources,
    )
    return np.asarray(found.x, dtype=np.float64)
