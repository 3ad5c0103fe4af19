"""Ceilings on the expected number of targets recovered, from the attack's own guesses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import MeanBound, Targets
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one


@dataclass(frozen=True, eq=False)
class MeanFromGuess(MeanBound):
    """Kulynych 2025, Lemma C.3, target by target: E[L] ≤ Σ_i (1 − f(b_i)), for any metric.

    b_i is the prior success of the guesses that the attack makes: the probability that they
    succeed on a fresh record from target i's prior, **averaged over tables and coins**.
    `prior_success` is (n,), or (runs, n) with one row a run; rows are averaged before f is applied.

    Why this order: for fixed other records and a fixed fresh record, Lemma C.3 (replace-one)
    bounds target i's success by 1 − f(b) with b averaged over the coins; 1 − f is concave, so by
    Jensen averaging b over the fresh record and the other records keeps the bound. Averaging
    1 − f(b) over runs instead would come out too low. With few runs the mean of b carries their
    sampling error. With the best prior success max_z P[ℓ_i(X_i, z) = 1] in place of b_i it needs
    no run and holds for every attack (Kulynych 2025, Theorem 3.1).

    Assumes a metric that decomposes and replace-one neighbours; targets may depend on each other
    if each prior is conditional on the others.
    """

    prior_success: FloatArray
    guarantee: Guarantee

    name: ClassVar[str] = "mean"
    reference: ClassVar[str] = "Kulynych 2025, Lemma C.3"
    statement: ClassVar[str] = (
        "Any f-DP, any metric: the sum over targets of 1 − f(success of the best prior guess)."
    )
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        runs = _validate.probabilities("prior_success", self.prior_success)
        if runs.ndim not in (1, 2) or runs.size == 0:
            raise ValueError(
                "prior_success must be a non-empty array, one value per target, or one row per "
                f"run and one column per target, got an array of shape {runs.shape}"
            )
        runs = runs.copy()
        runs.setflags(write=False)
        object.__setattr__(self, "prior_success", runs)
        require_replace_one(self.guarantee, self.reference)

    @property
    def n(self) -> int:
        return int(self.prior_success.shape[-1])

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        return cls(targets.best_prior_success, guarantee)

    @cached_property
    def per_target(self) -> FloatArray:
        """1 − f(b_i), for each target."""
        b = np.mean(np.atleast_2d(self.prior_success), axis=0)
        success = self.guarantee.power(np.minimum(b, 1.0))
        success.setflags(write=False)
        return success


def mean_ceiling(prior_success: ArrayLike, guarantee: Guarantee) -> float:
    """The mean ceiling of `MeanFromGuess`."""
    return MeanFromGuess(np.asarray(prior_success), guarantee).mean
