"""Bayesian networks over categorical columns, run on their conditional probability tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Domain, DomainError, preview
from reconbench.datasets.network.elimination import (
    CHUNK_CELLS,
    MAX_CLIQUE_CELLS,
    Codes,
    Elimination,
    Factor,
    Floats,
    elimination_order,
    find_quantiles,
    largest_clique,
    remaining_scopes,
    restrict,
)
from reconbench.datasets.network.likeliest import list_likeliest
from reconbench.datasets.table import Table, number_rows

SUM_TOLERANCE = 1e-6
# Odds of one column are cut here, so that those of all columns together stay within doubles.
_LOG_RANGE = 600.0


@dataclass(frozen=True, eq=False)
class BayNet:
    """A Bayesian network: each column given its parents, in visit order.

    ``parents[i]`` are positions in the domain; ``cpts[i]`` has one axis a parent, in that order,
    and a last axis for the column itself, along which it sums to one.

    Args:
        domain: The columns.
        parents: For each column, the positions of its parents.
        cpts: For each column, its probabilities given the parents.
        visit_order: The names of all columns, parents first.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> domain = rb.Domain((rb.Attribute("sex", ("f", "m")), rb.Attribute("ill", ("n", "y"))))
        >>> ill = np.array([[0.9, 0.1], [0.8, 0.2]])
        >>> rb.BayNet(domain, ((), (0,)), (np.array([0.5, 0.5]), ill), ("sex", "ill"))
        BayNet(6 probabilities over 'sex', 'ill')
    """

    domain: Domain
    parents: tuple[tuple[int, ...], ...]
    cpts: tuple[Floats, ...]
    visit_order: tuple[str, ...]

    def __post_init__(self) -> None:
        d = len(self.domain)
        if len(self.parents) != d or len(self.cpts) != d:
            raise DomainError(f"a network over {d} columns needs {d} parent sets and {d} CPTs")
        if sorted(self.visit_order) != sorted(self.domain.names):
            raise DomainError("the visit order must name every column of the domain once")
        seen: set[int] = set()
        for position in self.domain.positions(self.visit_order):
            late = [p for p in self.parents[position] if p not in seen]
            if late:
                raise DomainError(
                    f"column {self.domain.names[position]!r} comes before its parent "
                    f"{self.domain.names[late[0]]!r} in the visit order, or the network is cyclic"
                )
            seen.add(position)
        object.__setattr__(self, "cpts", tuple(self._check_cpt(i) for i in range(d)))

    def __repr__(self) -> str:
        cells = sum(cpt.size for cpt in self.cpts)
        return f"BayNet({cells:,} probabilities over {preview(self.domain.names, 4)})"

    def _check_cpt(self, position: int) -> Floats:
        name, sizes = self.domain.names[position], self.domain.sizes
        cpt = np.array(self.cpts[position], dtype=np.float64)
        expected = (*(sizes[p] for p in self.parents[position]), sizes[position])
        if cpt.shape != expected:
            raise DomainError(f"the CPT of {name!r} has shape {cpt.shape}, expected {expected}")
        if not np.isfinite(cpt).all() or (cpt < 0).any():
            raise DomainError(f"the CPT of {name!r} has a value that is not a probability")
        totals = cpt.sum(axis=-1, keepdims=True)
        gap = float(np.abs(totals - 1).max())
        if gap > SUM_TOLERANCE:
            raise DomainError(
                f"the CPT of {name!r} does not sum to 1: a row is off by {gap:.3g}, "
                f"at most {SUM_TOLERANCE:g} is allowed"
            )
        if gap > 1e-12:
            cpt /= totals
        cpt.setflags(write=False)
        return cpt

    @cached_property
    def _scopes(self) -> tuple[tuple[int, ...], ...]:
        return tuple((*parents, i) for i, parents in enumerate(self.parents))

    @cached_property
    def _cumulative(self) -> tuple[Floats, ...]:
        sums = [cpt.cumsum(axis=-1).reshape(-1, cpt.shape[-1]) for cpt in self.cpts]
        return tuple(cumulative / cumulative[:, -1:] for cumulative in sums)

    def sha256(self) -> str:
        """A hash of the distribution and its schema, the same for equal networks."""
        return self._hash

    @cached_property
    def _hash(self) -> str:
        digest = hashlib.sha256(self.domain.canonical().encode())
        digest.update(repr((self.parents, self.visit_order)).encode())
        for cpt in self.cpts:
            digest.update(cpt.astype("<f8").tobytes())
        return digest.hexdigest()

    def sample(self, n: int, rng: np.random.Generator) -> Table:
        """Ancestral sampling, one vectorised draw a column."""
        if n < 1:
            raise DomainError(f"n must be at least 1, got {n}")
        codes = np.empty((n, len(self.domain)), dtype=np.int64)
        sizes = self.domain.sizes
        for position in self.domain.positions(self.visit_order):
            row = np.zeros(n, dtype=np.int64)
            for parent in self.parents[position]:
                row = row * sizes[parent] + codes[:, parent]
            uniform = rng.random(n)
            step = max(1, CHUNK_CELLS // sizes[position])
            for start in range(0, n, step):
                part = slice(start, start + step)
                below = self._cumulative[position][row[part]] <= uniform[part, None]
                codes[part, position] = below.sum(axis=1)
        return Table(self.domain, codes)

    def conditional(self, known: Table, targets: Sequence[str]) -> Floats:
        """P(targets | known) of every record, one axis a target after the record axis."""
        evidence, wanted = self._split(known, targets)
        plan = self._plan(evidence, wanted, evidence_only=False)

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Floats, ...]:
            batch = plan.start(part, size)
            for variable in plan.order:
                batch.sum_out(variable)
            joint = np.broadcast_to(
                batch.joint(wanted), (size, *(self.domain.sizes[v] for v in wanted))
            )
            total = joint.sum(axis=tuple(range(1, joint.ndim)), keepdims=True)
            return (joint / np.where(total > 0, total, np.nan),)

        several = len(wanted) > 1 or bool(plan.order)
        (result,) = _in_chunks(solve, evidence, len(known), plan.cells, distinct=several)
        self._refuse_impossible(np.isnan(result.reshape(len(known), -1)[:, 0]))
        return result

    def draw(
        self, known: Table, targets: Sequence[str], count: int, rng: np.random.Generator
    ) -> Codes:
        """``count`` joint values of the targets for every record, from P(targets | known).

        Shape (count, n, targets). Columns are summed out one by one and drawn in reverse, also
        those nobody asked for, which keeps the factors small; the inference is done once for all
        records that agree in what is known, however many draws are taken.
        """
        evidence, wanted = self._split(known, targets)
        drawn_too = self._with_ancestors([*evidence, *wanted]) - set(evidence)
        plan, order, cells = self._traced_plan(evidence, tuple(sorted(drawn_too)))

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Codes, ...]:
            distinct, which = _distinct(part, size)
            kinds = int(which.max()) + 1
            batch = plan.start(distinct, kinds)
            traces = [(variable, *batch.draw_out(variable)) for variable in order]
            drawn = np.empty((size, count, len(wanted)), dtype=np.int64)
            step = max(1, CHUNK_CELLS // (size * max(self.domain.sizes[v] for v in wanted)))
            for first in range(0, count, step):
                now = min(step, count - first)
                chosen: dict[int, Codes] = {}
                for variable, scope, below in reversed(traces):
                    own = which if below.shape[0] == kinds else np.zeros(size, np.int64)
                    rows = np.broadcast_to(own[:, None], (size, now))
                    for v in scope:
                        rows = rows * self.domain.sizes[v] + chosen[v]
                    chosen[variable] = find_quantiles(below, rows, rng.random((size, now)))
                drawn[:, first : first + now] = np.stack([chosen[v] for v in wanted], axis=-1)
            return (drawn,)

        # Every record has draws of its own, so records that agree are kept apart here.
        (result,) = _in_chunks(solve, evidence, len(known), cells, distinct=False)
        return result.transpose(1, 0, 2)

    def log_evidence(self, known: Table) -> Floats:
        """log P(known) of every record."""
        evidence, _ = self._split(known, ())
        plan = self._plan(evidence, (), evidence_only=True)

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Floats, ...]:
            batch = plan.start(part, size)
            for variable in plan.order:
                batch.sum_out(variable)
            return (_log_total(batch, size),)

        several = bool(plan.order)
        return _in_chunks(solve, evidence, len(known), plan.cells, distinct=several)[0]

    def log_prob(self, table: Table) -> Floats:
        """log P of whole records."""
        return self.log_evidence(table.project(self.domain.names))

    def map(self, known: Table, targets: Sequence[str]) -> tuple[Table, Floats]:
        """The likeliest joint value of the targets of every record, and its probability."""
        evidence, wanted = self._split(known, targets)
        plan, last, cells = self._traced_plan(evidence, wanted)

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Floats | Codes, ...]:
            batch = plan.start(part, size)
            for variable in plan.order:
                batch.sum_out(variable)
            chosen = _trace_back(batch, last, size)
            return np.column_stack([chosen[v] for v in wanted]), _log_total(batch, size)

        guesses, log_joint = _in_chunks(solve, evidence, len(known), cells, distinct=True)
        self._refuse_impossible(np.isneginf(log_joint))
        probability = np.exp(log_joint - self.log_evidence(known))
        return Table(self.domain.project(targets), guesses), np.minimum(probability, 1.0)

    def likeliest(self, known: Table, targets: Sequence[str], count: int) -> Floats:
        """The probabilities of the ``count`` likeliest joint values of the targets of every record.

        Shape (n, count), largest first; narrower where the targets have fewer values. No value that
        is left out is likelier than the last one. Time and memory are linear in ``count``.
        """
        if count < 1:
            raise DomainError(f"count must be at least 1, got {count}")
        evidence, wanted = self._split(known, targets)
        plan, last, cells = self._traced_plan(evidence, wanted)
        widest = count * max(self.domain.sizes[v] for v in wanted)

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Floats, ...]:
            batch = plan.start(part, size)
            for variable in plan.order:
                batch.sum_out(variable)
            ratios = list_likeliest(batch, last, size, count)
            return ratios, _log_total(batch, size)

        ratios, log_joint = _in_chunks(
            solve, evidence, len(known), max(cells, widest), distinct=True
        )
        self._refuse_impossible(np.isneginf(log_joint))
        top = np.minimum(np.exp(log_joint - self.log_evidence(known)), 1.0)
        return np.asarray(top[:, None] * ratios)

    def can_find_mode(self, known: Sequence[str], targets: Sequence[str]) -> bool:
        """Say whether ``find_mode`` with these known columns fits in memory."""
        try:
            self._traced_plan(self.domain.positions(known), self.domain.positions(targets))
        except DomainError:
            return False
        return True

    def find_mode(
        self, known: Table, targets: Sequence[str], log_likelihoods: Sequence[Floats]
    ) -> tuple[Codes, Floats]:
        """Find argmax over u of P(u | known) Π_c exp(ℓ_c(u_c)) of every record, and its posterior.

        ``log_likelihoods`` has an (n, size) array for each target, up to a constant per record;
        those further than 600 over the number of targets below the best count as that far. They
        are one more factor for each target, of that column alone, so they make no clique larger.
        """
        evidence, wanted = self._split(known, targets)
        plan, last, cells = self._traced_plan(evidence, wanted)
        lowest = -_LOG_RANGE / len(log_likelihoods)
        likelihoods = {
            column: np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), lowest))
            for column, logs in zip(wanted, log_likelihoods, strict=True)
        }

        def solve(start: int, part: dict[int, Codes], size: int) -> tuple[Codes, Floats]:
            batch = plan.start(part, size)
            for column, likelihood in likelihoods.items():
                batch.factors.append(Factor((column,), likelihood[start : start + size]))
            for variable in plan.order:
                batch.sum_out(variable)
            total = Elimination(list(batch.factors), batch.log_scale)
            for variable in last:
                total.sum_out(variable)
            chosen = _trace_back(batch, last, size)
            top, mass = batch.joint(()), total.joint(())
            # A record that is impossible under the prior has no posterior: its guess scores 0.
            ratio = top / np.where(mass > 0, mass, 1.0)
            chance = ratio * np.exp(batch.log_scale - total.log_scale)
            return np.column_stack([chosen[v] for v in wanted]), np.minimum(chance, 1.0)

        guess, chance = _in_chunks(solve, evidence, len(known), cells, distinct=False)
        return guess, chance

    def _split(
        self, known: Table, targets: Sequence[str]
    ) -> tuple[dict[int, Codes], tuple[int, ...]]:
        wanted = self.domain.positions(targets)
        evidence = {}
        for attribute in known.domain:
            position = self.domain.position(attribute.name)
            if attribute.size != self.domain.sizes[position]:
                raise DomainError(
                    f"column {attribute.name!r} has {attribute.size} labels in the table and "
                    f"{self.domain.sizes[position]} in the prior"
                )
            if position in wanted:
                raise DomainError(f"column {attribute.name!r} is both known and a target")
            evidence[position] = known.column(attribute.name)
        return evidence, wanted

    def _plan(
        self, evidence: Collection[int], wanted: tuple[int, ...], *, evidence_only: bool
    ) -> _Plan:
        """What to multiply and what to sum out.

        A column that is neither asked for nor an ancestor of what is sums to one and is left out;
        so is, for conditionals, a CPT all of whose columns are known.
        """
        needed = self._with_ancestors([*evidence, *wanted])
        tables = [
            (self._scopes[v], self.cpts[v])
            for v in sorted(needed)
            if evidence_only or any(u not in evidence for u in self._scopes[v])
        ]
        free = [[u for u in scope if u not in evidence] for scope, _ in tables]
        sizes = self.domain.sizes
        order = elimination_order(free, needed - set(evidence) - set(wanted), sizes)
        keep = () if evidence_only else wanted
        plan = _Plan(tables, order, set(evidence), largest_clique(free, order, sizes, keep))
        _refuse_large(plan.cells)
        return plan

    def _with_ancestors(self, columns: Iterable[int]) -> set[int]:
        closure: set[int] = set()
        stack = list(columns)
        while stack:
            v = stack.pop()
            if v not in closure:
                closure.add(v)
                stack.extend(self.parents[v])
        return closure

    def _traced_plan(
        self, evidence: Collection[int], wanted: tuple[int, ...]
    ) -> tuple[_Plan, list[int], int]:
        """A plan that leaves the wanted columns, their own order after it, and the cells needed."""
        plan = self._plan(evidence, wanted, evidence_only=True)
        left = plan.leftover([scope for scope, _ in plan.tables])
        last = elimination_order(left, wanted, self.domain.sizes)
        cells = max(plan.cells, largest_clique(left, last, self.domain.sizes, ()))
        _refuse_large(cells)
        return plan, last, cells

    def _refuse_impossible(self, impossible: npt.NDArray[np.bool_]) -> None:
        if impossible.any():
            raise DomainError(
                f"record {int(impossible.argmax())} has probability 0 under the prior; fit it "
                "with smoothing, or check that the table and the prior belong together"
            )


@dataclass(frozen=True)
class _Plan:
    tables: list[tuple[tuple[int, ...], Floats]]
    order: list[int]
    evidence: set[int]
    cells: int

    def start(self, evidence: dict[int, Codes], size: int) -> Elimination:
        factors = [restrict(scope, cpt, evidence) for scope, cpt in self.tables]
        return Elimination([Factor((), np.ones(size)), *factors], np.zeros(size))

    def leftover(self, scopes: list[tuple[int, ...]]) -> list[frozenset[int]]:
        """The scopes that remain once ``order`` has been summed out."""
        free = [frozenset(scope) - self.evidence for scope in scopes]
        return remaining_scopes(free, self.order)


def _trace_back(batch: Elimination, order: Sequence[int], size: int) -> dict[int, Codes]:
    """Eliminate variables by maximum, and find the value of each at the maximum."""
    traces = [(variable, *batch.max_out(variable)) for variable in order]
    chosen: dict[int, Codes] = {}
    for variable, scope, best in reversed(traces):
        rows = np.arange(size) if best.shape[0] == size else np.zeros(size, np.int64)
        chosen[variable] = best[(rows, *(chosen[v] for v in scope))]
    return chosen


def _log_total(batch: Elimination, size: int) -> Floats:
    total = batch.joint(())
    with np.errstate(divide="ignore"):
        return np.broadcast_to(np.log(total) + batch.log_scale, (size,))


def _in_chunks(
    solve: Callable[[int, dict[int, Codes], int], tuple[npt.NDArray[Any], ...]],
    evidence: dict[int, Codes],
    n: int,
    cells: int,
    *,
    distinct: bool,
) -> tuple[npt.NDArray[Any], ...]:
    """Solve for all records, a chunk at a time; if ``distinct``, once for all that agree.

    ``solve`` gets the first record of a chunk, the evidence on the chunk, and its size.
    """
    if distinct:
        evidence, which = _distinct(evidence, n)
        n = int(which.max()) + 1
    step = max(1, CHUNK_CELLS // cells)
    parts = [
        solve(
            start,
            {v: codes[start : start + step] for v, codes in evidence.items()},
            min(step, n - start),
        )
        for start in range(0, n, step)
    ]
    whole = parts[0]
    if len(parts) > 1:
        whole = tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return tuple(array[which] for array in whole) if distinct else whole


def _distinct(evidence: dict[int, Codes], size: int) -> tuple[dict[int, Codes], Codes]:
    """The evidence that occurs, and which of it every one of ``size`` records has."""
    if not evidence:
        return {}, np.zeros(size, dtype=np.int64)
    rows = np.column_stack(list(evidence.values()))
    first, which = number_rows(rows, [int(codes.max()) + 1 for codes in evidence.values()])
    return dict(zip(evidence, rows[first].T, strict=True)), which


def _refuse_large(cells: int) -> None:
    if cells > MAX_CLIQUE_CELLS:
        raise DomainError(
            f"exact inference would need {cells:,} numbers per record; hide fewer columns or fit "
            "the network with fewer parents"
        )
