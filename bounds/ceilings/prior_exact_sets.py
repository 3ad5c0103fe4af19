"""The prior-exact mean ceiling when a guess succeeds on a set of values, such as within an error.

Guess u succeeds on the truths z with success[u, z]. Let p_z = P[the guess succeeds | truth = z].
f-DP on the event {the guess would succeed on z} gives it at least g(p_z) under every other truth,
and under each truth the guess is one u. So for any weights W ≥ 0, one row a truth w,

    Σ_z π_z p_z ≤ Σ_w max over u of Σ_{z in S_u} W_wz + Σ_z H(π_z − W_zz, Σ_{w≠z} W_wz)

with H(u, w) = max over a of u·a − w·g(a): weak duality, proved in docs/prior-exact.md. For exact
match and W_wz = y_w it is the bound of `PriorExact`; for W_wz proportional to π_z it is Kulynych
2025, Theorem 3.1. The weights are found by linear programming and the bound is evaluated at them,
so an inexact solution costs tightness, never validity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import MeanBound, Targets
from reconbench.bounds.ceilings.prior_exact import (
    PriorExact,
    check_totals,
    prior_exact_bound,
    prior_rows,
)
from reconbench.bounds.ceilings.programs.set_programs import (
    AnyProgram,
    IntervalProgram,
    Intervals,
    SetProgram,
)
from reconbench.bounds.guarantees._conjugate import (
    Response,
    best_response,
    hockey_stick,
    largest_epsilon,
)
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one

# Tangents of g at slopes e^±ε: this many on either side, up to where δ(ε) is negligible.
_TANGENTS = 40
_NEGLIGIBLE = 1e-6
_STEEPEST = 40.0


@dataclass(frozen=True, eq=False)
class PriorExactSets(MeanBound):
    """E[L] ≤ Σ_i C_i for a metric by success sets, for any attack on an f-DP mechanism.

    `priors` is (n, m), one row a target; `success` is (guesses, m) and says which guesses succeed
    on which truths, the same for every target: `within(m, error)` for an ordinal column. Never
    above 1 − f(best prior success). Exact for exact match; for other sets it is a valid bound
    that uses one event a truth, and need not be the least one.

    Assumes a guarantee for replace-one neighbours; the expectation is over the target and the
    coins, given any other records. Solves one linear program per distinct prior, of 4m variables
    if every success set is an interval of the values and of m² otherwise; priors met before are
    not solved again, nor those that one guess covers.
    """

    priors: FloatArray
    guarantee: Guarantee
    success: NDArray[np.bool_]

    name: ClassVar[str] = PriorExact.name
    reference: ClassVar[str] = PriorExact.reference
    statement: ClassVar[str] = PriorExact.statement
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        priors = prior_rows(self.priors)
        check_totals(priors.sum(axis=1), "list every value")
        success = np.array(self.success, dtype=bool)
        if success.ndim != 2 or success.shape[0] == 0 or success.shape[1] != priors.shape[1]:
            raise ValueError(
                f"success must have one row per guess and one column per value "
                f"({priors.shape[1]}), got an array of shape {success.shape}"
            )
        success.setflags(write=False)
        require_replace_one(self.guarantee, self.reference)
        object.__setattr__(self, "priors", priors)
        object.__setattr__(self, "success", success)

    @property
    def n(self) -> int:
        return len(self.priors)

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> MeanBound:
        return prior_exact_bound(targets.whole_priors, guarantee)

    @cached_property
    def per_target(self) -> FloatArray:
        """An upper bound on P[the guess succeeds on target i], target by target."""
        rows, which = np.unique(self.priors, axis=0, return_inverse=True)
        rows = rows / rows.sum(axis=1, keepdims=True)
        covered = (~((rows > 0) @ ~self.success.T)).any(axis=1)
        best_prior = np.where(covered, 1.0, np.minimum((rows @ self.success.T).max(axis=1), 1.0))
        ceilings = np.asarray(self.guarantee.power(best_prior))
        ceilings[~covered] = np.minimum(ceilings[~covered], self._duals(rows[~covered]))
        return np.asarray(ceilings[which.reshape(-1)])

    def _duals(self, rows: FloatArray) -> FloatArray:
        if len(rows) and np.array_equal(self.success, np.eye(len(self.success))):
            return PriorExact(rows, self.guarantee).per_target
        respond = best_response(self.guarantee)
        slopes, constants = _tangents(self.guarantee, respond)
        intervals = Intervals.of(self.success)
        program: SetProgram = (
            AnyProgram(self.success, slopes, constants)
            if intervals is None
            else IntervalProgram(intervals, tuple(slopes.tolist()), tuple(constants.tolist()))
        )
        return np.array([program.weights(pi).bound(pi, respond) for pi in rows])


def within(values: int, error: float) -> NDArray[np.bool_]:
    """Success sets of an ordinal column: guess u succeeds on truth z when |u − z| ≤ error."""
    code = np.arange(values)
    return np.asarray(np.abs(code[:, None] - code) <= error)


def _tangents(guarantee: Guarantee, respond: Response) -> tuple[FloatArray, FloatArray]:
    """Slopes s and constants H(s, 1) of lines below g: g(p) ≥ s·p − H(s, 1)."""
    steepest = min(largest_epsilon(guarantee, _NEGLIGIBLE), _STEEPEST)
    logs = steepest * np.linspace(0, 1, _TANGENTS)
    slopes = np.exp(np.concatenate([-logs[:0:-1], logs]))
    return slopes, hockey_stick(respond, slopes, np.ones_like(slopes))
