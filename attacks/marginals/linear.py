"""Reconstruction by linear programming: the fit of least absolute error.

Dinur and Nissim 2003 (Revealing information while preserving privacy) round the solution of a
linear program; Annamalai et al. 2024 (A linear reconstruction approach for attribute inference
attacks against synthetic data) hold marginals in it. The hidden column of record i is relaxed to a
distribution P[i, ·], and the attack solves

    min Σ_cells |Σ_{i in the cell} P[i, v] − answer|   subject to   P[i, ·] in the simplex,

then rounds each record to the guess that the metric likes best. Written out, the program has one
row for every released cell. It shrinks, without changing its optimum, because

- a cell that no record's known values reach is a constant;
- records with the same known values are interchangeable: one distribution serves them all, and
  the optimum over their average is the optimum;
- cells with the same records and the same value v bound the same sum s, so together they are one
  convex piecewise linear function of s: one row, and one variable a breakpoint;
- s lies in an interval [lo, hi]; an answer outside it adds a linear term, which needs no row. With
  heavy noise nearly all answers do;
- the objective's slope along P[i, v] lies between two numbers, its linear terms minus and plus the
  number of answers inside their intervals. A value whose least slope exceeds the greatest slope of
  another value of the same record is zero in every optimum. Striking it out narrows the
  intervals, so this is repeated until nothing changes.

Without noise the truth has error 0, so every optimum meets all answers: rows become equations, and
a cell at lo or hi settles its records at once.

Several hidden columns: a cell with two of them is linear in the distribution over joint values, not
in one distribution a column. Where n × (joint values) is small that distribution is the unknown and
all marginals are used; otherwise each column is solved alone, from the marginals that hold no other
hidden column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, prod, sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, kron, vstack

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    Reconstruction,
    require_playable,
)
from reconbench.attacks.marginals.release_parts import ReleaseParts, skip_unless_marginals
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

JOINT_LIMIT = 5_000
# The most that the prior may add to the objective for one record where it only breaks ties.
TIE = 1e-3
SMALLEST_PRIOR = 1e-12
INFEASIBLE = 2


class Linear:
    """The L1 fit of the relaxed hidden columns under simplex constraints, solved by HiGHS.

    ``prior_weight`` w adds w (noise_sd/√2) Σ −P[i, v] log π_i(v) to the objective: at w = 1 the
    relaxed mode of the posterior if the noise were Laplace with the same variance. At 0, the
    classical attack, the prior only chooses among optima: it is weighted so little that the
    absolute error is within ``TIE`` counts a record of its minimum.
    """

    name: ClassVar[str] = "linear"

    def __init__(self, prior_weight: float = 0.0, seconds: float = 300.0) -> None:
        if not (isfinite(prior_weight) and prior_weight >= 0):
            raise AttackError(
                f"linear: prior_weight must be a finite number, 0 or more, got {prior_weight}; "
                "use 0 for the classical attack"
            )
        if not seconds > 0:
            raise AttackError(
                f"linear: seconds must be positive, got {seconds}; it limits one linear program"
            )
        self.prior_weight = prior_weight
        self.seconds = seconds

    def skip(self, view: AttackerView) -> str | None:
        reason = skip_unless_marginals(self.name, view)
        if reason is not None or not isinstance(view.release, MarginalsRelease):
            return reason
        if not _is_solved_jointly(view) and view.release.k - 1 > len(view.known.domain):
            return (
                f"linear solves each column alone when n × joint values exceeds {JOINT_LIMIT:,}, "
                f"and no {view.release.k}-way marginal holds just one hidden column"
            )
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, MarginalsRelease)
        jointly = _is_solved_jointly(view)
        blocks = [view.targets] if jointly else [(name,) for name in view.targets]
        guesses, scores, error = [], np.ones(view.n), 0.0
        for block in blocks:
            problem = least_deviations(view, release, block)
            cost = self._prior_cost(view, release, block, problem)
            relaxed = problem.solve(cost, release.noise_sd, self.seconds)
            error += problem.error(relaxed)
            weights = (relaxed / problem.copies[:, None])[problem.classes]
            sizes = view.prior.domain.project(block).sizes
            guess = view.metric.decide([weights])[:, 0]
            guesses.append(np.column_stack(np.unravel_index(guess, sizes)))
            scores *= weights.max(axis=1)
        return view.reconstruction(np.hstack(guesses), scores, {"absolute_error": error})

    def _prior_cost(
        self,
        view: AttackerView,
        release: MarginalsRelease,
        block: Sequence[str],
        problem: LeastDeviations,
    ) -> Floats:
        """What the prior adds to the objective, for each class of records and value."""
        rows = Table(view.known.domain, view.known.codes[problem.first])
        prior = view.prior.conditional(rows, block).reshape(len(rows), -1)
        surprise = -np.log(np.maximum(prior, SMALLEST_PRIOR))
        scale = self.prior_weight * release.noise_sd / sqrt(2)
        return surprise * max(scale, TIE / max(float(surprise.max()), TIE))


def _is_solved_jointly(view: AttackerView) -> bool:
    return len(view.targets) == 1 or view.n * prod(view.target_domain.sizes) <= JOINT_LIMIT


@dataclass(frozen=True)
class LeastDeviations:
    """min Σ_j |(sums @ x)[cell_j] − answer_j| over x ≥ 0, shape (classes, values), whose rows sum
    to the number of records in the class.

    ``classes`` gives every record's class and ``first`` a record of every class.
    """

    sums: csr_array
    cell: Codes
    answer: Floats
    copies: Floats
    classes: Codes
    first: Codes

    @property
    def shape(self) -> tuple[int, int]:
        classes = len(self.copies)
        return classes, self.sums.shape[1] // classes

    def error(self, x: Floats) -> float:
        return float(np.abs((self.sums @ x.ravel())[self.cell] - self.answer).sum())

    def solve(self, cost: Floats, noise_sd: float, seconds: float) -> Floats:
        """The minimiser of the error plus ⟨cost, x⟩; without noise, of the cost among the x of
        error 0, if there are any."""
        if noise_sd == 0:
            exact = self._meet_answers(cost, seconds)
            if exact is not None:
                return exact
        alive, side = self._strike_out(cost)
        kept = np.flatnonzero(side == 0)
        breakpoints, weight = np.unique(
            np.stack([self.cell[kept].astype(np.float64), self.answer[kept]]),
            axis=1,
            return_counts=True,
        )
        cell, at = breakpoints[0].astype(np.int64), breakpoints[1]
        rows, row, count = np.unique(cell, return_inverse=True, return_counts=True)
        # Σ_j w_j |s − y_j| = const − s Σ w_j + 2 Σ_j w_j (s − y_j)₊: past y_1, s is made of pieces
        # of length y_{j+1} − y_j and rising slope 2 (w_1 + ... + w_j).
        start = np.concatenate([[0], np.cumsum(count)])[:-1]
        total = np.concatenate([[0], np.cumsum(weight)])
        rising = 2.0 * (total[1:] - total[start[row]])
        length = np.append(np.diff(at), np.inf)
        length[start + count - 1] = np.inf
        cells = self.sums.shape[0]
        slope = np.bincount(self.cell, side, cells) - np.bincount(cell, weight, cells)
        pieces = coo_array(
            (-np.ones(len(at)), (row, np.arange(len(at)))), shape=(len(rows), len(at))
        )
        solved = self._program(
            alive,
            cost.ravel() + self.sums.T @ slope,
            rows,
            at[start] if len(at) else at,
            seconds,
            extra=(csr_array(pieces), rising, length),
        )
        if solved is None:
            raise AttackError("linear: HiGHS finds no distribution at all, which cannot be")
        return solved

    def _strike_out(self, cost: Floats) -> tuple[Bools, Floats]:
        """Values that can be positive in an optimum, and on which side of its interval every
        answer lies: 1 below, −1 above, 0 inside."""
        alive = np.ones(self.shape, dtype=np.bool_)
        cells = self.sums.shape[0]
        back = csr_array(self.sums.T)
        while True:
            lo, hi = self._interval(alive)
            side = np.where(
                self.answer <= lo[self.cell],
                1.0,
                np.where(self.answer >= hi[self.cell], -1.0, 0.0),
            )
            inside = np.bincount(self.cell[side == 0], minlength=cells).astype(np.float64)
            centre = cost + (back @ np.bincount(self.cell, side, cells)).reshape(self.shape)
            radius = (back @ inside).reshape(self.shape)
            best = np.where(alive, centre + radius, np.inf).min(axis=1, keepdims=True)
            struck = alive & (centre - radius > best)
            if not struck.any():
                return alive, side
            alive &= ~struck

    def _interval(self, alive: Bools) -> tuple[Floats, Floats]:
        """The least and greatest sum of every cell, given which values are left."""
        most = alive * self.copies[:, None]
        settled = most * (alive.sum(axis=1) == 1)[:, None]
        return self.sums @ settled.ravel(), self.sums @ most.ravel()

    def _meet_answers(self, cost: Floats, seconds: float) -> Floats | None:
        """The x of least cost with error 0."""
        cells = self.sums.shape[0]
        answer = np.bincount(self.cell, self.answer, cells) / np.bincount(
            self.cell, minlength=cells
        )
        if np.abs(answer[self.cell] - self.answer).max() > 0:
            return None
        back = csr_array(self.sums.T)
        alive = np.ones(self.shape, dtype=np.bool_)
        while True:
            lo, hi = self._interval(alive)
            if (answer < lo).any() or (answer > hi).any():
                return None
            open_ = alive & (alive.sum(axis=1) > 1)[:, None]
            touched = (back @ (answer == lo).astype(np.float64)).reshape(self.shape) > 0
            full = (back @ (answer == hi).astype(np.float64)).reshape(self.shape) > 0
            struck = open_ & touched
            full = open_ & full
            struck |= open_ & full.any(axis=1, keepdims=True) & ~full
            if not struck.any():
                break
            alive &= ~struck
            if not alive.any(axis=1).all():
                return None
        rows = np.flatnonzero(lo < hi)
        return self._program(alive, cost.ravel(), rows, answer[rows], seconds)

    def _program(
        self,
        alive: Bools,
        cost: Floats,
        rows: Codes,
        target: Floats,
        seconds: float,
        extra: tuple[csr_array, Floats, Floats] | None = None,
    ) -> Floats | None:
        """Minimise ⟨cost, x⟩ subject to (sums @ x)[rows] = target, over the values left.

        With ``extra`` = (columns, costs, lengths): (sums @ x)[rows] + columns @ z ≤ target, with
        further variables 0 ≤ z ≤ lengths at those costs. None if it cannot be met.
        """
        left = alive.sum(axis=1)
        x = np.where((left == 1)[:, None], alive * self.copies[:, None], 0.0).ravel()
        free = np.flatnonzero((alive & (left > 1)[:, None]).ravel())
        if len(free) == 0:
            return x.reshape(self.shape)
        open_ = np.flatnonzero(left > 1)
        row = np.searchsorted(open_, free // self.shape[1])
        simplex = csr_array(
            coo_array(
                (np.ones(len(free)), (row, np.arange(len(free)))), shape=(len(open_), len(free))
            )
        )
        matrix = self.sums[rows][:, free]
        rest = target - (self.sums @ x)[rows]
        upper = np.full(len(free), np.inf)
        if extra is None:
            given: dict[str, Any] = {
                "A_eq": vstack([simplex, matrix], format="csr"),
                "b_eq": np.concatenate([self.copies[open_], rest]),
            }
            costs = cost[free]
        else:
            columns, more, length = extra
            none = csr_array((len(open_), columns.shape[1]))
            given = {
                "A_eq": hstack([simplex, none], format="csr"),
                "b_eq": self.copies[open_],
                "A_ub": hstack([matrix, columns], format="csr"),
                "b_ub": rest,
            }
            costs = np.concatenate([cost[free], more])
            upper = np.concatenate([upper, length])
        solve: Any = linprog  # scipy's types do not cover sparse arrays
        solution = solve(
            costs,
            bounds=np.column_stack([np.zeros_like(upper), upper]),
            # An interior point with crossover ends in a vertex like the simplex method does, and
            # on long programs with many breakpoints several times sooner.
            method="highs" if extra is None else "highs-ipm",
            options={"time_limit": float(seconds)},
            **given,
        )
        if solution.status == INFEASIBLE:
            return None
        if solution.status != 0:
            raise AttackError(
                f"linear: HiGHS did not solve a program of {len(rows)} rows and {len(costs)} "
                f"variables within seconds={seconds:g}: {solution.message}; raise seconds, or hide "
                "fewer or smaller columns"
            )
        x[free] = np.maximum(solution.x[: len(free)], 0.0)
        return x.reshape(self.shape)


def least_deviations(
    view: AttackerView, release: MarginalsRelease, block: Sequence[str]
) -> LeastDeviations:
    """The program of some hidden columns, jointly, from the marginals that hold no other."""
    parts = ReleaseParts([release], view.known, view.targets)
    _, first, classes, copies = np.unique(
        view.known.codes, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    positions = release.domain.positions(block)
    sizes = [release.domain.sizes[i] for i in positions]
    joint = np.unravel_index(np.arange(prod(sizes)), sizes)
    sums, cells, answers, offset = [], [], [], 0
    for width in range(1, min(parts.k, len(block)) + 1):
        if parts.k - width > len(view.known.domain):
            continue
        incidence, reached = parts.incidence(parts.k - width)
        support, which = _distinct_rows(csr_array(incidence[:, first]))
        for hidden in combinations(sorted(positions), width):
            indices = [positions.index(i) for i in hidden]
            part_sizes = [sizes[p] for p in indices]
            values = prod(part_sizes)
            value = np.ravel_multi_index([joint[p] for p in indices], part_sizes)
            choose = coo_array(
                (np.ones(len(value)), (value, np.arange(len(value)))), shape=(values, len(value))
            )
            sums.append(kron(support, choose, format="csr"))
            cells.append((offset + which[:, None] * values + np.arange(values)).ravel())
            answers.append(parts.answers(hidden)[0][reached].ravel())
            offset += support.shape[0] * values
    return LeastDeviations(
        csr_array(vstack(sums, format="csr")),
        np.concatenate(cells),
        np.concatenate(answers),
        copies.astype(np.float64),
        classes.ravel(),
        first,
    )


def _distinct_rows(incidence: csr_array) -> tuple[csr_array, Codes]:
    """The different rows of a 0/1 matrix, and which of them each row is."""
    incidence.sort_indices()
    seen: dict[bytes, int] = {}
    which = np.empty(incidence.shape[0], dtype=np.int64)
    kept: list[int] = []
    for i, (a, b) in enumerate(zip(incidence.indptr[:-1], incidence.indptr[1:], strict=True)):
        key = incidence.indices[a:b].tobytes()
        which[i] = seen.setdefault(key, len(seen))
        if which[i] == len(kept):
            kept.append(i)
    return csr_array(incidence[kept]), which
