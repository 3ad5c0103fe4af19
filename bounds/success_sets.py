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
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._conjugate import Response, best_response, hockey_stick, largest_epsilon
from ._validate import FloatArray
from .guarantees import Guarantee
from .prior_exact import check_totals, prior_rows
from .relation import require_replace_one

# Tangents of g at slopes e^±ε: this many on either side, up to where δ(ε) is negligible.
_TANGENTS = 40
_NEGLIGIBLE = 1e-6
_STEEPEST = 40.0


@dataclass(frozen=True, eq=False)
class PriorExactSets:
    """E[L] ≤ Σ_i C_i for a metric by success sets, for any attack on an f-DP mechanism.

    `priors` is (n, m), one row a target; `success` is (guesses, m) and says which guesses succeed
    on which truths, the same for every target: `within(m, error)` for an ordinal column. Never
    above 1 − f(best prior success). Exact for exact match; for other sets it is a valid bound
    that uses one event a truth, and need not be the least one.

    Assumes a guarantee for replace-one neighbours; the expectation is over the target and the
    coins, given any other records. Solves one linear program of m² variables per distinct prior.
    """

    priors: FloatArray
    guarantee: Guarantee
    success: NDArray[np.bool_]

    name: ClassVar[str] = "prior-exact"
    reference: ClassVar[str] = "reconbench, prior-exact mean ceiling for success sets"
    summary: ClassVar[str] = "any f-DP, success sets such as within an error, mean over attacks"

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
        """The number of targets."""
        return len(self.priors)

    @cached_property
    def per_target(self) -> FloatArray:
        """An upper bound on P[the guess succeeds on target i], target by target."""
        respond = best_response(self.guarantee)
        rows, which = np.unique(self.priors, axis=0, return_inverse=True)
        rows = rows / rows.sum(axis=1, keepdims=True)
        program = _Program(self.success, *_tangents(self.guarantee, respond))
        dual = np.array([_bound(pi, program.weights(pi), self.success, respond) for pi in rows])
        best_prior = np.minimum((rows @ self.success.T).max(axis=1), 1.0)
        ceilings = np.minimum(dual, self.guarantee.power(best_prior))[which.reshape(-1)]
        return np.asarray(ceilings)

    @property
    def mean(self) -> float:
        """No attack's expected number of successes is larger."""
        return float(self.per_target.sum())


def within(values: int, error: float) -> NDArray[np.bool_]:
    """Success sets of an ordinal column: guess u succeeds on truth z when |u − z| ≤ error."""
    code = np.arange(values)
    return np.asarray(np.abs(code[:, None] - code) <= error)


def _bound(
    pi: FloatArray, weights: FloatArray, success: NDArray[np.bool_], respond: Response
) -> float:
    """The dual value at any weights ≥ 0."""
    own = np.diag(weights)
    rows = (weights @ success.T).max(axis=1).sum()
    return float(rows + hockey_stick(respond, np.maximum(pi - own, 0), weights.sum(0) - own).sum())


def _tangents(guarantee: Guarantee, respond: Response) -> tuple[FloatArray, FloatArray]:
    """Slopes s and constants H(s, 1) of lines below g: g(p) ≥ s·p − H(s, 1)."""
    steepest = min(largest_epsilon(guarantee, _NEGLIGIBLE), _STEEPEST)
    logs = steepest * np.linspace(0, 1, _TANGENTS)
    slopes = np.exp(np.concatenate([-logs[:0:-1], logs]))
    return slopes, hockey_stick(respond, slopes, np.ones_like(slopes))


@dataclass(frozen=True, eq=False)
class _Program:
    """max π·p over p, t ≥ g(p) by its tangents, and guess probabilities q(u | w) that cover them.

    Under truth w the guesses that succeed on z have probability at least p_z for w = z and t_z
    otherwise. The multipliers of these m² constraints are the weights.
    """

    success: NDArray[np.bool_]
    slopes: FloatArray
    constants: FloatArray

    def weights(self, pi: FloatArray) -> FloatArray:
        # Imported on first use: it would double the time that importing this package takes.
        from scipy.optimize import linprog

        guesses, m = self.success.shape
        limits = np.concatenate([np.zeros(m * m), np.repeat(self.constants, m), np.ones(m)])
        objective = np.concatenate([-pi, np.zeros(m + guesses * m)])
        solved = linprog(objective, A_ub=self._matrix, b_ub=limits, bounds=(0, 1), method="highs")
        if solved.status != 0:
            # Any weights are valid: these give Kulynych 2025, Theorem 3.1, or better.
            return np.asarray(np.tile(pi, (m, 1)) / m)
        return np.asarray(np.maximum(-solved.ineqlin.marginals[: m * m], 0.0).reshape(m, m))

    @cached_property
    def _matrix(self) -> Any:  # a sparse array: scipy's types know dense ones only here
        from scipy.sparse import block_array, csr_array, kron

        guesses, m = self.success.shape
        identity, every = np.eye(m), np.tile(np.eye(m), (m, 1))
        # Row w·m + z: p_z where z = w, t_z elsewhere.
        own = every * np.repeat(identity, m, axis=0)
        covered = kron(identity, self.success.T.astype(np.float64))
        lines = self.slopes[:, None]
        blocks: list[list[Any]] = [
            [csr_array(own), csr_array(every - own), -covered],
            [kron(lines, identity), kron(-np.ones_like(lines), identity), None],
            [None, None, kron(identity, np.ones((1, guesses)))],
        ]
        return csr_array(block_array(blocks))
