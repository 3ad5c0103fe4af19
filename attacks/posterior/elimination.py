"""The exact posterior, record by record: sums over the counts of the cells that are still open.

Records meet only in the cells that both may count in. Take them one after the other, and call a
known cell of a set open from its first record to its last. Given the counts of the open cells, what
came before says nothing of what comes after, so the sum over all tables is a sum over paths through
these counts (variable elimination): with N the counts after record i, u its joint value, and φ the
likelihood of the cells that close with it,
    B_i(N) = Σ_u π_i(u) φ(N + u) B_{i+1}(N + u)    from the last record back, and
    P(u | N) = π_i(u) φ(N + u) B_{i+1}(N + u) / B_i(N).
Going forward, P(u | N) gives the posterior of every record, and of any number of successes. Sets
without noise have likelihood 0 or 1. It is worth it where few records share a cell, or the hidden
columns have few values and few sets hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from reconbench.attacks.base import AttackerView, BestPossible, log_chances
from reconbench.attacks.metrics import scores_by_record
from reconbench.attacks.posterior.evidence import Evidence, list_values
from reconbench.attacks.posterior.posteriors import (
    ColumnPosteriors,
    JointPosteriors,
    Posteriors,
    number_groups,
    number_values,
    sum_by_group,
)
from reconbench.bounds import CompactTail
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Ways on from the counts of open cells, over all records, and numbers of successes beside them.
MOST_STEPS = 1 << 21
# The same times the counts that are open: bounds memory where records share cells of many sets.
MOST_COUNTS = 400_000_000
MOST_SUCCESSES = 1 << 23
# Joint values times records.
MOST_VALUES = 1 << 20
# Orders of the records that are compared, unless one has this many times too many steps.
ORDERS = 4
HOPELESS = 1e6
# Sets that are counted first: no more states are open in them than in all.
GLANCE = 8


@dataclass(frozen=True, eq=False)
class Step:
    """What one record may do to each state of the open cells: (states, its values) each.

    ``values`` are its possible joint values, ``onto`` the numbers of the states that they lead to,
    and ``logits`` the logarithms of prior and of the likelihood of cells that close; −inf where a
    table cannot be. After it there are ``states``.
    """

    values: Codes
    onto: Codes
    logits: Floats
    states: int


@dataclass(frozen=True, eq=False)
class EliminatedPosterior:
    """The exact posterior of every record; ``order`` are the records as they were taken.

    ``chances`` of each step's values, (states, values), are given the state before it.
    """

    view: AttackerView
    order: Codes
    steps: tuple[Step, ...]
    chances: tuple[Floats, ...]

    @property
    def info(self) -> dict[str, float]:
        return {"certified": 1.0}

    @cached_property
    def _joint(self) -> Floats:
        """P(joint value | release) of every record, the same for those that are known to be alike:
        (n, values)."""
        view = self.view
        total = np.zeros((1, view.n, len(list_values(view.target_domain.sizes))))
        reached: Floats = np.ones(1)
        for record, step, chances in zip(self.order, self.steps, self.chances, strict=True):
            flow = reached[:, None] * chances
            total[0, record, step.values] = flow.sum(axis=0)
            onto = np.bincount(step.onto.ravel(), flow.ravel(), minlength=step.states)
            reached = onto.astype(np.float64)
        group = number_groups(view.known)
        mean = sum_by_group(total, group)[0] / np.bincount(group)[:, None]
        return np.asarray(mean[group])

    @property
    def posteriors(self) -> Posteriors:
        view, group = self.view, number_groups(self.view.known)
        _, first = np.unique(group, return_index=True)
        own = self._joint[first]
        if len(view.targets) == 1:
            return ColumnPosteriors(view, group, own[None])
        owners, flat = np.nonzero(own > 0)
        codes = list_values(view.target_domain.sizes)[flat]
        draws = [(np.zeros(len(owners), dtype=np.int64), owners, codes, own[owners, flat])]
        return JointPosteriors(group, view.target_domain.sizes, draws, view=view)

    def find_best_possible(self, records: int | None = None) -> BestPossible:
        """What the best guesses are worth on the first ``records``; all by default."""
        posteriors = self.posteriors
        guess = posteriors.guess([0])[:records]
        expected = float(posteriors.success(0, guess).sum())
        return BestPossible(expected, successes=self._count_successes(guess))

    def _count_successes(self, guess: Codes) -> CompactTail | None:
        """The distribution of the number of the first records that a guess gets right."""
        if not scores_by_record(self.view.metric):
            return None
        count = len(guess)
        states = sum(chances.shape[0] for chances in self.chances)
        if states * (count + 1) > MOST_SUCCESSES:
            return None
        every = Table.of_all_values(self.view.target_domain)
        hits: dict[tuple[int, ...], Bools] = {}
        for own in np.unique(guess, axis=0):
            guessed = Table(every.domain, np.broadcast_to(own, every.codes.shape))
            hits[tuple(own)] = self.view.metric.score(every, guessed)
        spread = np.zeros((1, count + 1))
        spread[0, 0] = 1.0
        for record, step, chances in zip(self.order, self.steps, self.chances, strict=True):
            after = np.zeros((step.states, count + 1))
            for index, value in enumerate(step.values):
                moved = spread * chances[:, index, None]
                if record < count and hits[tuple(guess[record])][value]:
                    moved[:, 1:], moved[:, 0] = moved[:, :-1].copy(), 0.0
                np.add.at(after, step.onto[:, index], moved)
            spread = after
        total = spread.sum(axis=0)
        return CompactTail.of_chances(np.minimum(total / total.sum(), 1.0))


def eliminate(view: AttackerView, evidence: Evidence) -> EliminatedPosterior | None:
    """The exact posterior; None where it would take too long, or no table is possible."""
    if view.n * prod(view.target_domain.sizes) > MOST_VALUES:
        return None
    values = list_values(view.target_domain.sizes)
    starts, steps = evidence.cells.locate_known(
        evidence.measurements.domain, view.known, view.targets
    )
    # joint values that a set does not tell apart, and how many it does
    places = [np.unique(values @ step, return_inverse=True) for step in steps]
    widths = np.array([len(offsets) for offsets, _ in places])
    order = _choose_order(starts, widths, len(values))
    if order is None:
        return None
    known, group = view.known.distinct()
    log_prior = log_chances(view.prior.conditional(known, view.targets)).reshape(len(known), -1)
    layout = [place for _, place in places]
    cells = [offsets for offsets, _ in places]
    frontier = Frontier(evidence, layout, cells, starts[order])
    taken = tuple(frontier.take(i, log_prior[group[record]]) for i, record in enumerate(order))
    chances: list[Floats] = []
    after: Floats = np.zeros(1)
    for step in reversed(taken):
        logits = step.logits + after[step.onto]
        top = logits.max(axis=1)
        # states that nothing can follow are never reached
        weights = np.exp(logits - np.where(np.isfinite(top), top, 0.0)[:, None])
        total = weights.sum(axis=1)
        chances.append(weights / np.where(total > 0, total, 1.0)[:, None])
        after = top + log_chances(total)
    if not np.isfinite(after[0]):
        return None
    return EliminatedPosterior(view, order, taken, tuple(reversed(chances)))


class Frontier:
    """The counts of open cells, all that can be, as records are taken one after the other."""

    def __init__(
        self, evidence: Evidence, layout: list[Codes], cells: list[Codes], starts: Codes
    ) -> None:
        """``layout[s]`` is the place of each joint value in set s, ``cells[s]`` the offset of each
        place, and ``starts``, (n, sets), the known cells of the records in their order."""
        self._evidence, self._layout, self._cells, self._starts = evidence, layout, cells, starts
        self._last = {}
        for i, row in enumerate(starts):
            for start in row:
                self._last[int(start)] = i
        self._sizes = dict(zip(*np.unique(starts, return_counts=True), strict=True))
        self._open: dict[int, tuple[int, int]] = {}
        self._counts = np.zeros((1, 0), dtype=np.int64)

    def take(self, i: int, log_prior: Floats) -> Step:
        """Count record i in, in every way; what is closed then is weighed and left behind."""
        possible = np.flatnonzero(log_prior > -np.inf)
        for s, start in enumerate(self._starts[i]):
            if int(start) not in self._open:
                self._open[int(start)] = (s, self._counts.shape[1])
                fresh = np.zeros((len(self._counts), len(self._cells[s])), dtype=np.int64)
                self._counts = np.concatenate([self._counts, fresh], axis=1)
        before = len(self._counts)
        counts = np.repeat(self._counts, len(possible), axis=0)
        rows = np.arange(len(counts))
        logits = np.tile(log_prior[possible], before)
        for s, start in enumerate(self._starts[i]):
            _, first = self._open[int(start)]
            counts[rows, first + np.tile(self._layout[s][possible], before)] += 1
        for start in map(int, self._starts[i]):
            if self._last[start] == i:
                logits += self._weigh(start, counts)
        kept = self._close(i)
        sizes = [size for start in self._open for size in self._spans(start)]
        owners = np.zeros(len(counts), dtype=np.int64)
        index, first_rows = number_values(owners, counts[:, kept], sizes)
        self._counts = counts[first_rows][:, kept]
        shape = before, len(possible)
        return Step(possible, index.reshape(shape), logits.reshape(shape), len(first_rows))

    def _weigh(self, start: int, counts: Codes) -> Floats:
        """The log-likelihood of the counts of a known cell."""
        s, first = self._open[start]
        own = counts[:, first : first + len(self._cells[s])]
        errors = (own - self._evidence.cells.answers[start + self._cells[s]]) ** 2
        noise_sd = self._evidence.measurements.noise_sds[s]
        if noise_sd == 0:
            return np.where(errors.sum(axis=1) > 0, -np.inf, 0.0)
        return np.asarray(-errors.sum(axis=1) / (2 * noise_sd**2))

    def _close(self, i: int) -> Codes:
        """Forget the cells whose last record was i; returns the counts that stay, as positions."""
        kept, still = [np.empty(0, dtype=np.int64)], {}
        end = 0
        for start, (s, first) in self._open.items():
            width = len(self._cells[s])
            if self._last[start] > i:
                still[start] = s, end
                kept.append(np.arange(first, first + width))
                end += width
        self._open = still
        return np.concatenate(kept)

    def _spans(self, start: int) -> list[int]:
        """How many different counts each place of a known cell can have."""
        s, _ = self._open[start]
        return [self._sizes[start] + 1] * len(self._cells[s])


def _choose_order(starts: Codes, widths: Codes, values: int) -> Codes | None:
    """An order of the records with few states of open cells; None if all have too many.

    Records that share the cells of one set are taken together; sets with many cells go first.
    """
    distinct = np.array([len(np.unique(column)) for column in starts.T])
    majors = np.argsort(-distinct, kind="stable")
    fewest, best = np.inf, None
    for major in majors[:ORDERS]:
        others = [s for s in majors if s != major]
        order = np.lexsort(starts[:, [*others[::-1], major]].T)
        few = majors[:GLANCE]
        if _bound_steps(starts[order][:, few], widths[few], values)[0] > HOPELESS * MOST_STEPS:
            break
        count, kept = _bound_steps(starts[order], widths, values)
        if count < fewest and kept <= MOST_COUNTS:
            fewest, best = count, order
        if count > HOPELESS * MOST_STEPS:
            break
    return best if fewest <= MOST_STEPS else None


def _bound_steps(starts: Codes, widths: Codes, values: int) -> tuple[float, float]:
    """At least the number of ways on from the states of open cells, over all records in order; and
    the same times the counts that are open before each record, as numbers to keep.

    k records of a known cell can be spread over its V places in C(k + V − 1, V − 1) ways, and the
    states are no more than the product over open cells; nor than the joint values of the records
    since no cell was open.
    """
    n = len(starts)
    change, opened = np.zeros(n), np.zeros(n)
    for column, width in zip(starts.T, widths, strict=True):
        _, cell, size = np.unique(column, return_inverse=True, return_counts=True)
        by_cell = np.argsort(cell, kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[by_cell] = np.arange(n) - np.repeat(np.cumsum(size) - size, size) + 1

        def spread(k: Codes, width: int = int(width)) -> Floats:
            return np.asarray(gammaln(k + width) - gammaln(width) - gammaln(k + 1))

        closes = rank == size[cell]
        change += np.where(closes, 0.0, spread(rank)) - spread(rank - 1)
        opened += width * ((rank == 1).astype(float) - closes)
    after = np.cumsum(change)
    empty = after < 1e-9
    last_empty = np.maximum.accumulate(np.where(empty, np.arange(n), -1))
    since = np.arange(n) - last_empty
    states = np.minimum(after, since * np.log(values))
    before = np.concatenate([[0.0], states[:-1]])
    ways = values * np.exp(np.minimum(before, 60.0))
    open_counts = np.concatenate([[0.0], np.cumsum(opened)[:-1]])
    return float(ways.sum()), float((ways * open_counts).sum())
