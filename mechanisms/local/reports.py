"""Local reports: every record randomises its own values before they leave its hands.

GRR, OUE and SS (Guerra-Balboa 2026, Examples 4.4 to 4.6) report one value of a finite domain: the
joint value of the hidden columns or, with the option ``record``, of the whole record. Reports of n
records are n independent runs, one a record and in the order of the table: the collector knows who
sent what. Replacing a record changes its own report alone, so the release is ε-DP for replace-one
neighbours; no δ is needed, and it is ignored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import PureDP, Relation
from reconbench.bounds.rad import GRR, OUE, SubsetSelection, SupportChannel
from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MAX_VALUES = 1 << 20
# Bits of one release, and uniforms of one block of subsets.
MAX_BITS = 1 << 31
_BLOCK = 1 << 22
# Below this chance of a bit, it is quicker to draw the gaps between the bits that are on.
_SPARSE = 0.1


class Reports(Protocol):
    """The supported values S_i of every record i."""

    def __len__(self) -> int: ...

    def hold(self, values: Codes) -> Bools:
        """Whether each of a record's listed values (row i: those of record i) is in S_i."""

    def mass(self, prior: Floats) -> Floats:
        """π(S_i) of every record, for a prior over all values."""

    def first(self, rank: Codes) -> Codes:
        """The smallest rank of a value in S_i, of every record; the number of values if S_i = ∅."""


@dataclass(frozen=True, eq=False)
class OneValue:
    """One reported value a record: S_i holds it alone."""

    values: Codes

    def __len__(self) -> int:
        return len(self.values)

    def hold(self, values: Codes) -> Bools:
        same: Bools = values == self.values[:, None]
        return same

    def mass(self, prior: Floats) -> Floats:
        return prior[self.values]

    def first(self, rank: Codes) -> Codes:
        return rank[self.values]


class Bits(Reports):
    """One bit for every record and value: S_i holds the values whose bit is on."""

    @property
    @abstractmethod
    def on(self) -> Bools:
        """The bits, one row per record and one column per value."""


@dataclass(frozen=True, eq=False)
class DenseBits(Bits):
    """Bits as they are."""

    bits: Bools

    @property
    def on(self) -> Bools:
        return self.bits

    def __len__(self) -> int:
        return len(self.on)

    def hold(self, values: Codes) -> Bools:
        return np.take_along_axis(self.on, values, axis=1)

    def mass(self, prior: Floats) -> Floats:
        return np.minimum(self.on @ prior, 1.0)

    def first(self, rank: Codes) -> Codes:
        order, size = np.argsort(rank), self.on.shape[1]
        ranks = np.full(len(self), size, dtype=np.int64)
        left, start, width = np.arange(len(self)), 0, 16
        # Most reports have a bit on among the first few values: the others are searched further.
        while start < size and len(left):
            bits = self.on[np.ix_(left, order[start : start + width])]
            at = bits.argmax(axis=1)
            hit = bits[np.arange(len(left)), at]
            ranks[left[hit]] = start + at[hit]
            left, start, width = left[~hit], start + width, 2 * width
        return ranks


@dataclass(frozen=True, eq=False)
class BitLists(Bits):
    """The bits that are on, when few are: record i has values[starts[i] : starts[i + 1]]."""

    starts: Codes
    values: Codes
    size: int

    @property
    def on(self) -> Bools:
        return self._rows(0, len(self))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def hold(self, values: Codes) -> Bools:
        held = np.empty(values.shape, dtype=bool)
        step = max(1, _BLOCK // self.size)
        for start in range(0, len(self), step):
            end = min(start + step, len(self))
            held[start:end] = np.take_along_axis(self._rows(start, end), values[start:end], axis=1)
        return held

    def _rows(self, start: int, end: int) -> Bools:
        ends = self.starts[start : end + 1]
        on = np.zeros((end - start, self.size), dtype=bool)
        rows = np.repeat(np.arange(end - start), np.diff(ends))
        on[rows, self.values[ends[0] : ends[-1]]] = True
        return on

    def mass(self, prior: Floats) -> Floats:
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return np.minimum(np.bincount(rows, prior[self.values], len(self)), 1.0)

    def first(self, rank: Codes) -> Codes:
        # One more rank behind every list stands for none, and for the end of the list.
        ranks = np.insert(rank[self.values], self.starts[1:], self.size)
        return np.asarray(np.minimum.reduceat(ranks, self.starts[:-1] + np.arange(len(self))))


@dataclass(frozen=True, eq=False)
class Subsets:
    """ω different values a record, in no order."""

    chosen: Codes

    def __len__(self) -> int:
        return len(self.chosen)

    def hold(self, values: Codes) -> Bools:
        held = np.empty(values.shape, dtype=bool)
        size = int(max(values.max(initial=0), self.chosen.max(initial=0))) + 1
        step = max(1, _BLOCK // size)
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            on = np.zeros((len(values[part]), size), dtype=bool)
            np.put_along_axis(on, self.chosen[part], True, axis=1)
            held[part] = np.take_along_axis(on, values[part], axis=1)
        return held

    def mass(self, prior: Floats) -> Floats:
        return np.asarray(np.minimum(prior[self.chosen].sum(axis=1), 1.0))

    def first(self, rank: Codes) -> Codes:
        return np.asarray(rank[self.chosen].min(axis=1))


@dataclass(frozen=True, eq=False)
class LocalRelease:
    """A report for every record of a table, about the joint value of ``columns``."""

    domain: Domain
    columns: tuple[str, ...]
    channel: SupportChannel
    reports: Reports

    def __post_init__(self) -> None:
        values = prod(self.domain.project(self.columns).sizes)
        if values != self.channel.size:
            raise MechanismError(
                f"the columns have {values} joint values and the channel {self.channel.size}"
            )


def sample_grr(channel: GRR, values: Codes, rng: np.random.Generator) -> OneValue:
    """One GRR report for every value."""
    keep = rng.random(len(values)) < channel.truthful
    other = rng.integers(0, channel.size - 1, len(values))
    return OneValue(np.where(keep, values, other + (other >= values)))


def sample_oue(channel: OUE, values: Codes, rng: np.random.Generator) -> Bits:
    """One OUE report for every value."""
    n, q = len(values), channel.others_on
    if q < _SPARSE:
        return _sparse_oue(channel, values, rng)
    if n * channel.size > MAX_BITS:
        raise MechanismError(
            f"{n:,} reports of {channel.size:,} bits are more than {MAX_BITS:,}; release fewer "
            "records or report fewer columns"
        )
    on = np.empty((n, channel.size), dtype=bool)
    step = max(1, _BLOCK // channel.size)
    for start in range(0, n, step):
        part = on[start : start + step]
        part[:] = rng.random(part.shape) < q
    on[np.arange(n), values] = rng.random(n) < 0.5
    return DenseBits(on)


def _sparse_oue(channel: OUE, values: Codes, rng: np.random.Generator) -> BitLists:
    n, others = len(values), channel.size - 1
    rows, bits = np.divmod(_draw_successes(n * others, channel.others_on, rng), others)
    bits += bits >= values[rows]
    ends = np.cumsum(np.bincount(rows, minlength=n))
    own = rng.random(n) < 0.5
    starts = np.concatenate([[0], ends + np.cumsum(own)])
    return BitLists(starts, np.insert(bits, ends[own], values[own]), channel.size)


def sample_ss(channel: SubsetSelection, values: Codes, rng: np.random.Generator) -> Subsets:
    """One SS report for every value."""
    from reconbench.mechanisms.local._subsets import subsets

    n, width = len(values), channel.subset
    keep = rng.random(n) < channel.truthful
    chosen = np.empty((n, width), dtype=np.int64)
    step = max(1, _BLOCK // width)
    for start in range(0, n, step):
        part = slice(start, start + step)
        uniforms = rng.random((len(values[part]), width))
        chosen[part] = subsets(values[part], keep[part], uniforms, channel.size)
    return Subsets(chosen)


def sample_reports(
    channel: SupportChannel, values: Codes, rng: np.random.Generator
) -> OneValue | Bits | Subsets:
    """Draw one report for every value, by the channel's own sampler."""
    match channel:
        case GRR():
            return sample_grr(channel, values, rng)
        case OUE():
            return sample_oue(channel, values, rng)
        case SubsetSelection():
            return sample_ss(channel, values, rng)
    raise MechanismError(
        f"no sampler for {type(channel).__name__}: use GRR, OUE or SubsetSelection"
    )


@dataclass(frozen=True, eq=False)
class ReportLikelihoods:
    """Likelihoods of drawn reports, for ``reconbench.bounds.rad.rad_sampled``.

    It takes the place of the listed channel where that is too long, for any error and aux.
    """

    channel: SupportChannel
    prior: Floats

    def __call__(self, count: int, rng: np.random.Generator) -> Floats:
        size = self.channel.size
        values = rng.choice(size, count, p=self.prior)
        every = np.broadcast_to(np.arange(size), (count, size))
        held = sample_reports(self.channel, values, rng).hold(every)
        return np.where(held, 1.0, np.exp(-self.channel.epsilon))


def _draw_successes(count: int, chance: float, rng: np.random.Generator) -> Codes:
    """Draw which of ``count`` independent trials succeed, by the gaps between successes."""
    if chance == 0:
        return np.empty(0, dtype=np.int64)
    blocks, last = [], -1
    while last < count:
        expected = (count - last) * chance
        draws = int(expected + 5 * sqrt(expected)) + 8
        # A gap beyond the end is as good as the end; the cap keeps the sum within 64 bits.
        blocks.append(last + np.cumsum(np.minimum(rng.geometric(chance, draws), count + 1)))
        last = int(blocks[-1][-1])
    successes = np.concatenate(blocks)
    return successes[successes < count]


@dataclass(frozen=True)
class LocalReports(BudgetedMechanism, ABC):
    """What GRR, OUE and SS have in common; ``record`` reports the whole record's joint value."""

    channel_facts: ClassVar[tuple[str, ...]]

    record: bool = False

    def __post_init__(self) -> None:
        if not self.hidden:
            raise MechanismError("at least one column must be hidden")
        if not 2 <= self.size <= MAX_VALUES:
            raise MechanismError(
                f"local reports need between 2 and {MAX_VALUES:,} joint values, the columns "
                f"{', '.join(self.columns)} have {self.size:,}; report fewer or coarser columns"
            )
        _ = self.budget, self.guarantee

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        record: bool = False,
    ) -> Self:
        """With ``record``, every column is reported, not just the hidden ones."""
        return cls(domain, tuple(hidden), epsilon, delta, record)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns whose joint value is reported, in the order of the domain."""
        self.domain.positions(self.hidden)
        return tuple(n for n in self.domain.names if self.record or n in self.hidden)

    @property
    def size(self) -> int:
        return prod(self.domain.project(self.columns).sizes)

    @cached_property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, Relation.REPLACE_ONE)

    @property
    @abstractmethod
    def channel(self) -> SupportChannel: ...

    def release(self, table: Table, rng: np.random.Generator) -> LocalRelease:
        self.check_table(table)
        part = table.project(self.columns)
        values = np.ravel_multi_index(tuple(part.codes.T), part.domain.sizes).astype(np.int64)
        reports = sample_reports(self.channel, values, rng)
        return LocalRelease(self.domain, self.columns, self.channel, reports)

    def facts(self) -> dict[str, float]:
        named = {name: float(getattr(self.channel, name)) for name in self.channel_facts}
        return {"values": float(self.size), **named}


@dataclass(frozen=True)
class GRRReports(LocalReports):
    """Generalised randomised response."""

    name: ClassVar[str] = "grr"
    channel_facts: ClassVar[tuple[str, ...]] = ("truthful",)

    @cached_property
    def channel(self) -> GRR:
        return GRR(self.epsilon, self.size)


@dataclass(frozen=True)
class OUEReports(LocalReports):
    """Optimal unary encoding."""

    name: ClassVar[str] = "oue"
    channel_facts: ClassVar[tuple[str, ...]] = ("others_on",)

    @cached_property
    def channel(self) -> OUE:
        return OUE(self.epsilon, self.size)


@dataclass(frozen=True)
class SSReports(LocalReports):
    """Subset selection."""

    name: ClassVar[str] = "ss"
    channel_facts: ClassVar[tuple[str, ...]] = ("truthful", "subset")

    @cached_property
    def channel(self) -> SubsetSelection:
        return SubsetSelection(self.epsilon, self.size)
