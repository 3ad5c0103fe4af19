"""The game that an audit of a local randomiser plays: many reports, many guesses, counts.

The client is a black box, ``client(values, rng) -> reports``: it gets an array of n values from 0
to m − 1 and returns n reports, in the form of the mechanism that it claims to be:

- ``grr``: n values;
- ``ss``: an n × ω array, the ω different values of each subset;
- ``oue``: an n × m array of bits, or `mechanisms.local.reports.BitLists` when few are on.

The attack has the largest reconstruction advantage against the mechanism (Guerra-Balboa 2026,
Theorem 4.3): it guesses the member of the reported set with the largest prior, at random among
equals. A report of no value leaves all guesses equally good: one at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks import plugins
from reconbench.bounds.audit import (
    Counted,
    EpsilonEstimate,
    LdpAuditor,
    MeasuredRad,
    Proportion,
    RadAudit,
    audit_black_box,
    audit_grr,
    audit_oue,
    audit_ss,
    chance_of_guesses,
)
from reconbench.bounds.rad import GRR, OUE, SubsetSelection, SupportChannel
from reconbench.mechanisms.local.reports import BitLists, Bits, OneValue, sample_reports

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Client = Callable[[Codes, np.random.Generator], object]

# Reported values or bits that a batch may hold at once.
CELLS = 1 << 22
LONGEST_BATCH = 1 << 17


class AuditError(ValueError):
    """A client or a prior that cannot be audited."""


class Reader(Protocol):
    """The optimal guess from reports of one form."""

    def cells(self, m: int) -> int:
        """Numbers that one report may hold."""

    def guess(self, reports: object, n: int, prior: Floats, rng: np.random.Generator) -> Codes:
        """One guess for each of n reports; refuses reports that are not of the form."""

    def width(self, reports: object) -> int:
        """Values in every report that it guessed from; 0 where their number is random."""

    def audit(self, prior: Floats, width: int) -> RadAudit:
        """The exact RAD audit of the mechanism, for reports of so many values."""


class ReadValue:
    """A reported value is guessed as it is."""

    def cells(self, m: int) -> int:
        return 1

    def guess(self, reports: object, n: int, prior: Floats, rng: np.random.Generator) -> Codes:
        return _codes(reports, n, 1, prior.size)

    def width(self, reports: object) -> int:
        return 1

    def audit(self, prior: Floats, width: int) -> RadAudit:
        return audit_grr(prior)


class ReadSubset:
    """The likeliest member of the subset, equal ones at random."""

    def cells(self, m: int) -> int:
        return m

    def guess(self, reports: object, n: int, prior: Floats, rng: np.random.Generator) -> Codes:
        chosen = _codes(reports, n, 2, prior.size)
        counts = np.full(n, chosen.shape[1], dtype=np.int64)
        return likeliest(chosen.reshape(-1), counts, prior, rng)

    def width(self, reports: object) -> int:
        return int(np.shape(np.asarray(reports))[1])

    def audit(self, prior: Floats, width: int) -> RadAudit:
        return audit_ss(prior, width)


class ReadBits:
    """The likeliest value whose bit is on, equal ones at random."""

    def cells(self, m: int) -> int:
        return m

    def guess(self, reports: object, n: int, prior: Floats, rng: np.random.Generator) -> Codes:
        if isinstance(reports, BitLists):
            if len(reports) != n or reports.size != prior.size:
                raise AuditError(
                    f"the client must return {n} lists of {prior.size} values, got "
                    f"{len(reports)} of {reports.size}"
                )
            return likeliest(reports.values, np.diff(reports.starts), prior, rng)
        on = np.asarray(reports)
        if on.shape != (n, prior.size) or on.dtype.kind not in "biu" or _outside_bits(on):
            raise AuditError(
                f"the client must return {n} × {prior.size} bits for {n} values, got {_form(on)}"
            )
        places = np.flatnonzero(on)
        return likeliest(places % prior.size, np.count_nonzero(on, axis=1), prior, rng)

    def width(self, reports: object) -> int:
        return 0

    def audit(self, prior: Floats, width: int) -> RadAudit:
        return audit_oue(prior)


def likeliest(
    members: Codes, counts: npt.NDArray[np.int64], prior: Floats, rng: np.random.Generator
) -> Codes:
    """Of every set the member of largest prior, equal ones at random; of an empty set any value.

    ``members`` holds the sets one after the other, ``counts`` their sizes.
    """
    filled = counts > 0
    if prior.min() < prior.max() and filled.any():
        starts = (np.cumsum(counts) - counts)[filled]
        weights = prior[members]
        kept = weights == np.repeat(np.maximum.reduceat(weights, starts), counts[filled])
        counts = counts.copy()
        counts[filled] = np.add.reduceat(kept, starts, dtype=np.int64)
        members = members[kept]
    starts = np.cumsum(counts) - counts
    guesses = rng.integers(prior.size, size=len(counts))
    guesses[filled] = members[starts[filled] + rng.integers(counts[filled])]
    return guesses


READERS: Mapping[str, Reader] = {"grr": ReadValue(), "oue": ReadBits(), "ss": ReadSubset()}
CHANNELS: Mapping[str, Callable[[float, int], SupportChannel]] = {
    "grr": GRR,
    "oue": OUE,
    "ss": SubsetSelection,
}


def reader_of(mechanism: str) -> Reader:
    """How reports of a mechanism are read."""
    if mechanism not in READERS:
        raise AuditError(f"unknown mechanism {mechanism!r}; available: {', '.join(READERS)}")
    return READERS[mechanism]


def client_of(channel: SupportChannel) -> Client:
    """The shipped sampler of a channel, as a client."""

    def client(values: Codes, rng: np.random.Generator) -> object:
        match sample_reports(channel, values, rng):
            case OneValue() as reports:
                return reports.values
            case BitLists() as reports:
                return reports
            case Bits() as reports:
                return reports.on
            case reports:
                return reports.chosen

    return client


def load_client(spec: str) -> Client:
    """A client of the user's own, by ``path/to/file.py:function``."""
    path = plugins.get_file(spec)
    if path is None or not path.endswith(".py"):
        raise AuditError(f"client {spec!r} must be path/to/file.py:function")
    return guard_client(plugins.load_from_file(spec), spec)


def guard_client(function: object, name: str = "") -> Client:
    """A function of somebody else's as a client, whose errors are blamed on it."""
    called = name or name_client(function)
    if not callable(function):
        raise AuditError(f"client {called!r} must be a function of (values, rng)")

    def client(values: Codes, rng: np.random.Generator) -> object:
        try:
            return function(values, rng)
        except Exception as error:  # foreign code: whatever it raises is its fault
            raise AuditError(
                f"client {called!r} failed on {len(values)} values: {type(error).__name__}: {error}"
            ) from error

    return client


def name_client(function: object) -> str:
    """What a function calls itself."""
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Counts of ``trials`` reports of random values, and of as many of each of two fixed values.

    ``hits``: the guess was the value. ``replaced_hits``: it was another draw of the prior.
    ``times_guessed``: how often each value was guessed, in the same trials. ``true_positives`` and
    ``false_positives``: guesses of the first value when the input is it, and when it is the last.
    ``width``: values in every report, 0 if their number is random.
    """

    trials: int
    hits: int
    replaced_hits: int
    times_guessed: npt.NDArray[np.int64]
    true_positives: int
    false_positives: int
    width: int

    @property
    def real(self) -> Counted:
        return Counted(self.hits, self.trials)

    @property
    def replaced(self) -> Counted:
        return Counted(self.replaced_hits, self.trials)

    def chance(self, prior: Floats) -> Proportion:
        """The success in the replaced world with the target averaged out."""
        return chance_of_guesses(self.times_guessed, prior)

    def measured(self, prior: Floats) -> MeasuredRad:
        return MeasuredRad(self.real, self.chance(prior))


def play(
    client: Client,
    mechanism: str,
    prior: Floats,
    trials: int,
    rng: np.random.Generator,
    advance: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run the client 3 · ``trials`` times, in batches of bounded memory.

    The client draws from a generator of its own. ``advance`` is called after every batch.
    """
    reader, m = reader_of(mechanism), prior.size
    inner, drawn = rng.spawn(1)[0], cumulative(prior)
    hits = replaced = true_positives = false_positives = 0
    times = np.zeros(m, dtype=np.int64)
    widths: set[int] = set()

    def attack(values: Codes) -> Codes:
        # A client may randomise its array in place.
        reports = client(values.copy(), inner)
        guesses = reader.guess(reports, len(values), prior, rng)
        widths.add(reader.width(reports))
        if len(widths) > 1:
            sizes = " and ".join(str(width) for width in sorted(widths))
            raise AuditError(f"the client must report as many values each time, got {sizes}")
        return guesses

    for n in batches(trials, reader.cells(m)):
        values = draw(drawn, n, rng)
        guesses = attack(values)
        hits += int((guesses == values).sum())
        replaced += int((guesses == draw(drawn, n, rng)).sum())
        times += np.bincount(guesses, minlength=m)
        true_positives += int((attack(np.zeros(n, dtype=np.int64)) == 0).sum())
        false_positives += int((attack(np.full(n, m - 1, dtype=np.int64)) == 0).sum())
        advance()
    return Outcome(trials, hits, replaced, times, true_positives, false_positives, widths.pop())


def estimates(
    outcome: Outcome, mechanism: str, prior: Floats, delta: float = 0.0, confidence: float = 0.99
) -> list[EpsilonEstimate]:
    """ε by RAD through the mechanism's own ceiling, by RAD as a black box, and by LDP-Auditor."""
    reader = reader_of(mechanism)
    measured = outcome.measured(prior)
    positives = Counted(outcome.true_positives, outcome.trials)
    negatives = Counted(outcome.false_positives, outcome.trials)
    return [
        reader.audit(prior, outcome.width).audit(measured, confidence),
        audit_black_box(prior, delta).audit(measured, confidence),
        LdpAuditor(delta).audit(positives, negatives, confidence),
    ]


def batches(trials: int, cells: int) -> list[int]:
    """Sizes of batches that sum to ``trials``."""
    if trials < 1:
        raise AuditError(f"trials must be at least 1, got {trials}")
    size = max(1, min(LONGEST_BATCH, CELLS // cells))
    full, rest = divmod(trials, size)
    return [size] * full + [rest] * (rest > 0)


def cumulative(prior: Floats) -> Floats:
    """Cumulative probabilities that end in exactly 1."""
    total = np.cumsum(prior)
    return np.asarray(total / total[-1])


def draw(drawn: Floats, n: int, rng: np.random.Generator) -> Codes:
    """n values of a prior, from its cumulative probabilities."""
    return np.searchsorted(drawn, rng.random(n), side="right").astype(np.int64)


def _codes(reports: object, n: int, ndim: int, m: int) -> Codes:
    found = np.asarray(reports)
    fits = found.ndim == ndim and len(found) == n and found.size > 0
    if not fits or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= m:
        wanted = f"{n} values" if ndim == 1 else f"{n} subsets, an array of {n} rows,"
        raise AuditError(
            f"the client must return {wanted} of 0 to {m - 1} for {n} values, got {_form(found)}"
        )
    return found.astype(np.int64, copy=False)


def _outside_bits(on: npt.NDArray[np.generic]) -> bool:
    return on.dtype.kind != "b" and bool(((on != 0) & (on != 1)).any())


def _form(found: npt.NDArray[np.generic]) -> str:
    text = f"an array of shape {found.shape} and type {found.dtype}"
    numbers = found.dtype.kind in "iuf" and found.size > 0
    return f"{text} from {found.min()} to {found.max()}" if numbers else text
