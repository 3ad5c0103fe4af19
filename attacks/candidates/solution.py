"""Every table that exact marginals leave possible, and what is known of each record from them.

Records that agree in all known columns cannot be told apart, so a table is counts y[known row,
value]. They are whole numbers that add up to the records of each row and to every released cell.
Bounds propagation fixes most of them, and often all. What stays free falls into parts that share
no constraint; the solutions of each part are enumerated, and weighted by the prior:
    P(y) ∝ Π_rows m! / Π_v y_v!  Π_v π(v | row)^y_v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln, ndtr

from reconbench.attacks.base import AttackerView
from reconbench.attacks.candidates.cells import ReleasedCells
from reconbench.attacks.candidates.kernels import enumerate_solutions, tighten
from reconbench.attacks.candidates.listing import Candidates, list_candidates
from reconbench.mechanisms.measurements import Measurements

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Joint values of all known rows together, and cells they count in.
MOST_VALUES = 1 << 17
MOST_ENTRIES = 1 << 25
# Solutions of one part that are listed, in numbers and in all.
MOST_NUMBERS = 1 << 22
MOST_SOLUTIONS = 1 << 14
# Looks at a term of an equation in that search.
WORK = 50_000_000
# With this probability or less some released count is not what it rounds to.
MISROUNDED = 1e-9


@dataclass(frozen=True, eq=False)
class Part:
    """Variables that depend on each other: every solution, (solutions, variables), and its
    probability."""

    variables: Codes
    solutions: Codes
    chances: Floats


@dataclass(frozen=True, eq=False)
class ExactTables:
    """The tables that exact marginals leave possible.

    ``low`` and ``high`` bound the count of every candidate; ``parts`` are the ways to fill what
    they leave open. ``unlisted`` are the variables of parts whose solutions were not all found.
    """

    candidates: Candidates
    low: Codes
    high: Codes
    parts: tuple[Part, ...]
    unlisted: Codes

    @property
    def certain(self) -> bool:
        """Whether all tables are listed."""
        return not len(self.unlisted)

    @property
    def count(self) -> float:
        """How many tables there are, apart from swaps of records with the same known row."""
        return prod(float(len(part.solutions)) for part in self.parts)

    def mark_possible(self, sizes: Sequence[int]) -> Bools:
        """Which joint values, numbered in row-major order, each known row may have."""
        listed = self.candidates
        marked = np.zeros((len(listed.sizes), prod(sizes)), dtype=np.bool_)
        value = np.ravel_multi_index(tuple(listed.codes.T), tuple(sizes))
        marked[listed.owners, value] = self.high > 0
        return marked

    def expected_counts(self) -> Floats:
        """E[count] of every candidate; all tables must be listed."""
        counts = self.low.astype(np.float64)
        for part in self.parts:
            counts[part.variables] = part.chances @ part.solutions
        return counts

    def bound_success(self) -> float:
        """A number of exact matches that no attack exceeds in expectation.

        Records of one row are alike, so the best guess is one value for all of them. It cannot be
        right more often than that value may occur.
        """
        most = self.high.astype(np.float64)
        for part in self.parts:
            most[part.variables] = part.chances @ part.solutions
        return float(np.maximum.reduceat(most, self.candidates.ends[:-1]).sum())


def keep_readable(measurements: Measurements) -> Measurements:
    """The sets whose counts are as good as known: noise hides none of them from rounding."""
    kept, missed = [], 0.0
    for index in np.argsort(measurements.noise_sds, kind="stable"):
        answer, sd = measurements.answers[index], measurements.noise_sds[index]
        if sd == 0 and not np.array_equal(np.round(answer), answer):
            continue
        missed += 2 * ndtr(-0.5 / sd) * answer.size if sd > 0 else 0.0
        if missed > MISROUNDED:
            break
        kept.append(int(index))
    return measurements.select(sorted(kept))


def find_exact_tables(view: AttackerView, measurements: Measurements) -> ExactTables | None:
    """The tables that measured sets leave possible; None if they are too noisy or too many.

    ``measurements`` are the sets that hold a hidden column.
    """
    if not measurements.sets or len(keep_readable(measurements).sets) < len(measurements.sets):
        return None
    counts = np.round(ReleasedCells.of(measurements).answers)
    candidates = list_candidates(view, measurements, counts, MOST_VALUES)
    if candidates is None or candidates.cells.size > MOST_ENTRIES:
        return None
    system = System.of(candidates, counts)
    low = np.zeros(len(candidates.codes), dtype=np.int64)
    most = counts[candidates.cells].min(axis=1).astype(np.int64)
    high = np.minimum(candidates.sizes[candidates.owners], most)
    if not system.tighten(low, high):
        return None
    parts, unlisted = [], [np.empty(0, dtype=np.int64)]
    for variables in system.split(low, high):
        part = _list_solutions(candidates, system, variables, low, high)
        if part is None:
            unlisted.append(variables)
        else:
            parts.append(part)
    return ExactTables(candidates, low, high, tuple(parts), np.concatenate(unlisted))


def _list_solutions(
    candidates: Candidates, system: System, variables: Codes, low: Codes, high: Codes
) -> Part | None:
    if len(variables) ** 2 > MOST_NUMBERS:  # what the search keeps of its way
        return None
    own = system.restrict(variables, low)
    most = max(1, min(MOST_SOLUTIONS, MOST_NUMBERS // len(variables)))
    solutions, complete = own.enumerate(low[variables], high[variables], most)
    if not complete or not len(solutions):
        return None
    prior = np.where(solutions > 0, solutions * candidates.log_prior[variables], 0.0)
    logits = (prior - gammaln(solutions + 1)).sum(axis=1)
    if logits.max() == -inf:
        return None
    chances = np.exp(logits - logits.max())
    return Part(variables, solutions, chances / chances.sum())


@dataclass(frozen=True, eq=False)
class System:
    """Linear equations between counts: which variables add up to each sum, both ways round."""

    sums: Codes
    owners: Codes
    owner_ends: Codes
    members: Codes
    member_ends: Codes

    @classmethod
    def of(cls, candidates: Candidates, counts: Floats) -> System:
        """One equation for every known row, and one for every cell that a candidate counts in."""
        values, sets = candidates.cells.shape
        reached, cell = np.unique(candidates.cells, return_inverse=True)
        equations = np.column_stack([cell.reshape(values, sets), len(reached) + candidates.owners])
        sums = np.concatenate([counts[reached], candidates.sizes]).astype(np.int64)
        return cls.build(sums, equations.ravel(), np.repeat(np.arange(values), sets + 1), values)

    @classmethod
    def build(cls, sums: Codes, equations: Codes, variables: Codes, count: int) -> System:
        """From pairs of an equation and a variable in it."""
        by_variable = np.argsort(variables, kind="stable")
        by_equation = np.argsort(equations, kind="stable")
        return cls(
            sums,
            equations[by_variable],
            np.searchsorted(variables[by_variable], np.arange(count + 1)),
            variables[by_equation],
            np.searchsorted(equations[by_equation], np.arange(len(sums) + 1)),
        )

    def tighten(self, low: Codes, high: Codes) -> bool:
        """Narrow bounds in place as far as single equations can; False if nothing is possible."""
        every = np.arange(len(self.sums))
        return tighten(low, high, *self._arrays, every)

    def enumerate(self, low: Codes, high: Codes, most: int) -> tuple[Codes, bool]:
        """Up to ``most`` solutions between bounds, and whether these are all."""
        nodes = WORK // max(len(self.members), 1)
        return enumerate_solutions(low, high, *self._arrays, most, nodes)

    def split(self, low: Codes, high: Codes) -> list[Codes]:
        """The free variables in parts that share no equation."""
        free = low < high
        equation, variable = self._pairs()
        kept = free[variable]
        equation, variable = equation[kept], variable[kept]
        if not len(variable):
            return []
        size = len(low) + len(self.sums)
        graph = coo_array(
            (np.ones(len(variable)), (variable, len(low) + equation)), shape=(size, size)
        )
        _, label = connected_components(graph, directed=False)
        labels = label[: len(low)]
        return [np.flatnonzero(free & (labels == part)) for part in np.unique(labels[free])]

    def restrict(self, variables: Codes, low: Codes) -> System:
        """The equations between some variables, with all others at their lower bounds."""
        index = np.full(len(low), -1)
        index[variables] = np.arange(len(variables))
        equation, variable = self._pairs()
        inside = index[variable] >= 0
        used, own = np.unique(equation[inside], return_inverse=True)
        outside = ~inside
        taken = np.bincount(
            equation[outside], low[variable[outside]], minlength=len(self.sums)
        ).astype(np.int64)
        return System.build(
            (self.sums - taken)[used], own.ravel(), index[variable[inside]], len(variables)
        )

    def _pairs(self) -> tuple[Codes, Codes]:
        """Equation and variable of every term."""
        return np.repeat(np.arange(len(self.sums)), np.diff(self.member_ends)), self.members

    @property
    def _arrays(self) -> tuple[Codes, Codes, Codes, Codes, Codes]:
        return self.sums, self.owners, self.owner_ends, self.members, self.member_ends
