"""The weights of `PriorExactSets`, by linear programming in which g is replaced by tangents.

`AnyProgram` takes any success sets, `IntervalProgram` those that are intervals of the values, where
m² constraints become 5m. Under truth w the guesses have total 1 and cover demands d_z: p_w for w
itself, g(p_z) for the others. Matrices whose rows have consecutive ones are totally unimodular, so
demands can be covered if and only if those of every *spread* set have a total of at most 1, where
no guess succeeds on two values of a spread set. One without w asks no more of truth w than of the
truths it holds, as g(p) ≤ p, so what is left is, for every w,

    p_w + F(left_w) + B(right_w) ≤ 1,

with F(k) the largest total of g(p) over spread sets of values below k, B(k) from k on, and
left_w, …, right_w − 1 the values that share a guess with w. F and B follow by dynamic programming:
docs/prior-exact.md has the proof. The multipliers of F and B are flows: λ_w starts at w and splits
at every value between taking it and passing it by. Any such flow is a valid W.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees._conjugate import Response, hockey_stick

# Tables drawn from one prior share many of their records' priors.
_REMEMBERED = 1 << 12


@dataclass(frozen=True, eq=False)
class Weights:
    """What the bound needs of W: Σ_w max over u of Σ_{z in S_u} W_wz, W_zz and Σ_{w≠z} W_wz."""

    total: float
    own: FloatArray
    others: FloatArray

    def bound(self, pi: FloatArray, respond: Response) -> float:
        """The dual value, valid at any weights ≥ 0."""
        gained = hockey_stick(respond, np.maximum(pi - self.own, 0.0), self.others)
        return self.total + float(gained.sum())


class SetProgram(Protocol):
    """Whatever finds good weights for a prior."""

    def weights(self, pi: FloatArray) -> Weights: ...


@dataclass(frozen=True, eq=False)
class AnyProgram:
    """max π·p over p, t ≥ g(p) by its tangents, and guess probabilities q(u | w) that cover them.

    Under truth w the guesses that succeed on z have probability at least p_z for w = z and t_z
    otherwise. The multipliers of these m² constraints are the weights.
    """

    success: NDArray[np.bool_]
    slopes: FloatArray
    constants: FloatArray

    def weights(self, pi: FloatArray) -> Weights:
        # Imported on first use: it would double the time that importing this package takes.
        from scipy.optimize import linprog

        guesses, m = self.success.shape
        limits = np.concatenate([np.zeros(m * m), np.repeat(self.constants, m), np.ones(m)])
        objective = np.concatenate([-pi, np.zeros(m + guesses * m)])
        solved = linprog(objective, A_ub=self._matrix, b_ub=limits, bounds=(0, 1), method="highs")
        if solved.status != 0:
            # Any weights are valid: these give Kulynych 2025, Theorem 3.1, or better.
            return self._weights(np.tile(pi, (m, 1)) / m)
        return self._weights(np.maximum(-solved.ineqlin.marginals[: m * m], 0.0).reshape(m, m))

    def _weights(self, w: FloatArray) -> Weights:
        own = np.diag(w)
        return Weights(float((w @ self.success.T).max(axis=1).sum()), own, w.sum(axis=0) - own)

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


@dataclass(frozen=True)
class Intervals:
    """Value z shares a guess with the values left[z], …, right[z] − 1 and no others."""

    left: tuple[int, ...]
    right: tuple[int, ...]

    @classmethod
    def of(cls, success: NDArray[np.bool_]) -> Intervals | None:
        """None if a success set has a gap, or if no guess succeeds on some value."""
        sets = success[success.any(axis=1)]
        m = success.shape[1]
        first, end = sets.argmax(axis=1), m - sets[:, ::-1].argmax(axis=1)
        if not success.any(axis=0).all() or np.any(end - first != sets.sum(axis=1)):
            return None
        left = np.where(sets, first[:, None], m).min(axis=0)
        right = np.where(sets, end[:, None], 0).max(axis=0)
        return cls(tuple(left.tolist()), tuple(right.tolist()))


@dataclass(frozen=True)
class IntervalProgram:
    """max π·p over p, t ≥ g(p) by its tangents, and F and B as above; all in [0, 1].

    Tangents are t ≥ slope·p − constant.
    """

    intervals: Intervals
    slopes: tuple[float, ...]
    constants: tuple[float, ...]

    @property
    def m(self) -> int:
        return len(self.intervals.left)

    def weights(self, pi: FloatArray) -> Weights:
        return _remembered(self, pi.tobytes())

    def solve(self, pi: FloatArray) -> Weights:
        """The same, solved afresh."""
        # Imported on first use: it would double the time that importing this package takes.
        from scipy.optimize import linprog

        m = self.m
        limits = np.concatenate([np.ones(m), np.zeros(4 * m), np.repeat(self.constants, m)])
        objective = np.concatenate([-pi, np.zeros(3 * m)])
        solved = linprog(objective, A_ub=self._matrix, b_ub=limits, bounds=(0, 1), method="highs")
        if solved.status != 0:
            # Any weights are valid, also none: the caller has another bound.
            return Weights(0.0, np.zeros(m), np.zeros(m))
        found = np.maximum(-solved.ineqlin.marginals[: 5 * m], 0.0)
        own, take_below, pass_below, take_above, pass_above = found.reshape(5, m)
        # λ_w is W_ww and the total of row w, whose every spread set holds w.
        return Weights(
            float(own.sum()),
            own,
            self._routed(own, _share(take_below, pass_below), _share(take_above, pass_above)),
        )

    def _routed(self, own: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
        """The flow that takes each value, given the shares that take it of what arrives there.

        The linear program's own flow is this one up to its tolerance; routed again, nothing is
        lost or made, so that the weights are valid as they stand.
        """
        left, right, m = self.intervals.left, self.intervals.right, self.m
        # down[k] arrives at F(k), the values below k; up[k] at B(k), the values from k on.
        down, up, taken = np.zeros(m + 1), np.zeros(m + 1), np.zeros(m)
        np.add.at(down, list(left), own)
        np.add.at(up, list(right), own)
        for z in range(m - 1, -1, -1):
            share = down[z + 1] * below[z]
            taken[z] += share
            down[left[z]] += share
            down[z] += down[z + 1] - share
        for z in range(m):
            share = up[z] * above[z]
            taken[z] += share
            up[right[z]] += share
            up[z + 1] += up[z] - share
        return taken

    @cached_property
    def _matrix(self) -> Any:  # a sparse array: scipy's types know dense ones only here
        from scipy.sparse import block_array, csr_array, eye_array, kron

        m = self.m
        one = eye_array(m, format="csr")
        nodes = eye_array(m + 1, format="csr")
        # F has nodes 1, …, m and B has 0, …, m − 1; F(0) = B(m) = 0.
        f, b = nodes[:, 1:], nodes[:, :-1]
        left, right, here = list(self.intervals.left), list(self.intervals.right), np.arange(m)
        lines = np.array(self.slopes)[:, None]
        blocks: list[list[Any]] = [
            [one, None, f[left], b[right]],  # p_w + F(left) + B(right) ≤ 1
            [None, one, f[left] - f[here + 1], None],  # t_z + F(left) ≤ F(z + 1)
            [None, None, f[here] - f[here + 1], None],  # F(z) ≤ F(z + 1)
            [None, one, None, b[right] - b[here]],  # t_z + B(right) ≤ B(z)
            [None, None, None, b[here + 1] - b[here]],  # B(z + 1) ≤ B(z)
            [kron(lines, one), kron(-np.ones_like(lines), one), None, None],
        ]
        return csr_array(block_array(blocks))


@lru_cache(maxsize=_REMEMBERED)
def _remembered(program: IntervalProgram, pi: bytes) -> Weights:
    return program.solve(np.frombuffer(pi))


def _share(taken: FloatArray, passed: FloatArray) -> FloatArray:
    """The share that is taken; all of it where nothing arrives."""
    total = taken + passed
    return np.divide(taken, total, out=np.ones_like(total), where=total > 0)
