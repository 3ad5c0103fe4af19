"""Imputation: a classifier trained on public records, blind to the release.

Jayaraman and Evans 2022 (Are attribute inference attacks just imputation?) ask what of an attack's
success is inference about the population and not about the records behind the release. The answer
is this attack: draw public records from the prior, fit a multinomial logistic regression of each
hidden column on the one-hot known columns,

    min_W  mean_j −log softmax(W x_j)[y_j] + (l2/2) ‖W‖²,

and predict. It never looks at the release, so its reconstruction advantage is 0; an attack that
does no better has learnt nothing from the release.

Several hidden columns are predicted in the order of the targets, each conditioned on the known
columns and on those predicted before it: a chain of classifiers (Read et al. 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

from reconbench.attacks.base import AttackError, AttackerView, Reconstruction
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Imputation:
    """Multinomial logistic regression on public records, ``records`` of them."""

    name: ClassVar[str] = "imputation"
    looks_at_release: ClassVar[bool] = False

    def __init__(self, records: int = 10_000, l2: float = 1e-3, iterations: int = 50) -> None:
        for option, value in (("records", records), ("iterations", iterations)):
            if value < 1:
                raise AttackError(f"imputation: {option} must be at least 1, got {value}")
        if not (isfinite(l2) and l2 > 0):
            raise AttackError(
                f"imputation: l2 must be a positive number, got {l2}; it keeps the weights of "
                "values that no public record has finite"
            )
        self.records = records
        self.l2 = l2
        self.iterations = iterations

    def skip(self, view: AttackerView) -> str | None:
        if view.others is not None:
            return "imputation plays the realistic adversary only: its guesses would be the same"
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        public = view.prior.sample(self.records, rng)
        names = list(view.known.domain.names)
        table = view.known
        guesses, scores = [], np.ones(view.n)
        for target in view.targets:
            size = view.prior.domain[target].size
            weights = logistic_regression(
                one_hot(public, names), public.column(target), size, self.l2, self.iterations
            )
            chances = softmax(one_hot(table, names) @ weights)
            guess = view.metric.decide([chances])
            guesses.append(guess[:, 0])
            scores *= chances.max(axis=1)
            table = table.join(Table(view.prior.domain.project([target]), guess))
            names.append(target)
        return view.reconstruction(np.column_stack(guesses), scores)


def one_hot(table: Table, names: Sequence[str]) -> csr_array:
    """Indicators of the columns' values, after a column of ones."""
    sizes = [table.domain[name].size for name in names]
    starts = np.concatenate([[0], np.cumsum(sizes)]) + 1
    n = len(table)
    features = np.column_stack(
        [np.zeros(n, dtype=np.int64)]
        + [table.column(name) + start for name, start in zip(names, starts[:-1], strict=True)]
    )
    ends = np.arange(n + 1) * features.shape[1]
    return csr_array((np.ones(features.size), features.ravel(), ends), shape=(n, int(starts[-1])))


def logistic_regression(
    features: csr_array, labels: Codes, size: int, l2: float, iterations: int
) -> Floats:
    """Weights (features, values) of least penalised log-loss, by L-BFGS from the frequencies.

    Records with the same features are summed first: the loss only needs how often each label
    follows each different row.
    """
    rows, counts = _counted(features, labels, size)
    total = counts.sum()
    row_totals = counts.sum(axis=1, keepdims=True)
    back = csr_array(rows.T)
    shape = (rows.shape[1], size)

    def loss_and_gradient(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        logits = rows @ weights
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        mass = chances.sum(axis=1, keepdims=True)
        norm = np.log(mass) + logits.max(axis=1, keepdims=True)
        loss = (np.vdot(row_totals, norm) - np.vdot(counts, logits)) / total
        slope = back @ (chances * (row_totals / mass) - counts) / total
        return float(loss + l2 / 2 * (flat @ flat)), (slope + l2 * weights).ravel()

    start = np.zeros(shape)
    start[0] = np.log(counts.sum(axis=0) + 1 / size) - np.log(total + 1)
    start[0] -= start[0].mean()
    solution = minimize(
        loss_and_gradient,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    return np.asarray(solution.x).reshape(shape)


def softmax(logits: Floats) -> Floats:
    return np.asarray(np.exp(logits - logsumexp(logits, axis=1, keepdims=True)))


def _counted(features: csr_array, labels: Codes, size: int) -> tuple[csr_array, Floats]:
    """The different rows, and how often each label follows them."""
    width = int(features.indptr[1])
    _, first, which = np.unique(
        features.indices.reshape(-1, width), axis=0, return_index=True, return_inverse=True
    )
    cells = np.bincount(which.ravel() * size + labels, minlength=len(first) * size)
    return csr_array(features[first]), cells.reshape(-1, size).astype(np.float64)
