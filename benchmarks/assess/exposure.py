"""Which records of a real table an attack gets right, by kind of record, small kinds suppressed.

Shares are means over the records of a kind and over repetitions of the noise. A kind of fewer than
``threshold`` records is not shown, and subtraction must not reveal fewer records either:

- from the total: the kinds of a column are suppressed, smallest first, until at least two non-empty
  ones and at least ``threshold`` records are hidden together;
- from a kind of another column, such as a county less its towns: where kinds of one column lie
  within a kind of another and leave fewer records of it, the smallest of them is suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from reconbench.datasets import Attribute, Table

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mean:
    """A mean over repetitions; ``margin`` is half its 95 % interval, None for one repetition."""

    value: float
    margin: float | None

    @classmethod
    def from_values(cls, values: Sequence[float] | Floats) -> Mean:
        array = np.asarray(values, dtype=np.float64)
        count = len(array)
        if count < 2:
            return cls(float(array.mean()), None)
        half = student.ppf(0.975, count - 1) * array.std(ddof=1) / np.sqrt(count)
        return cls(float(array.mean()), float(half))


@dataclass(frozen=True)
class Kind:
    """The records with one label of a column: shares right without and with the release."""

    column: str
    label: str
    records: int
    prior: float
    attack: Mean

    @property
    def gain(self) -> float:
        return self.attack.value - self.prior


@dataclass(frozen=True)
class Kinds:
    """A column's kinds of record that may be shown, most exposed first, and what was hidden."""

    column: str
    shown: tuple[Kind, ...]
    hidden_labels: int
    hidden_records: int


def list_kinds(
    attribute: Attribute,
    codes: Codes,
    prior: Bools,
    hits: Bools,
    hidden: Bools,
    weights: Floats | None = None,
) -> Kinds:
    """List the kinds of one column, from what is right on each record.

    ``prior`` is (n,): right without the release; ``hits`` is (repetitions, n); ``hidden`` marks the
    labels that may not be shown. With ``weights`` shares are weighted; records are counted.
    """
    counts = np.bincount(codes, minlength=attribute.size)
    shown = []
    for code in np.flatnonzero(~hidden):
        own = codes == code
        share = None if weights is None else weights[own]
        shown.append(
            Kind(
                attribute.name,
                attribute.labels[code],
                int(counts[code]),
                float(np.average(prior[own], weights=share)),
                Mean.from_values(np.average(hits[:, own], axis=1, weights=share)),
            )
        )
    shown.sort(key=lambda kind: (-kind.gain, -kind.attack.value))
    return Kinds(attribute.name, tuple(shown), int(hidden.sum()), int(counts[hidden].sum()))


def find_suppressed(counts: Codes, threshold: int, already: Bools | bool = False) -> Bools:
    """Find the kinds of one column that may not be shown, from their numbers of records."""
    hidden: Bools = (counts < threshold) | already
    for code in np.argsort(counts, kind="stable"):
        together = counts[hidden & (counts > 0)]
        if len(together) == 0 or (len(together) > 1 and together.sum() >= threshold):
            break
        hidden[code] = True
    return hidden


def find_suppressed_together(
    columns: Sequence[Codes], sizes: Sequence[int], threshold: int
) -> list[Bools]:
    """Find the kinds of each column that may not be shown when all columns are."""
    counts = [np.bincount(c, minlength=size) for c, size in zip(columns, sizes, strict=True)]
    hidden = [find_suppressed(column, threshold) for column in counts]
    while (risk := _find_left_over(columns, hidden, threshold)) is not None:
        index, code = risk
        hidden[index][code] = True
        hidden[index] = find_suppressed(counts[index], threshold, hidden[index])
    return hidden


def _find_left_over(
    columns: Sequence[Codes], hidden: Sequence[Bools], threshold: int
) -> tuple[int, int] | None:
    """Find a column and a kind of it that, with others, leaves too few records of a wider kind.

    The hidden kinds of a column are known together, as the total less those shown.
    """
    for outer, wide in enumerate(columns):
        size = len(hidden[outer])
        groups = np.where(hidden[outer][wide], size, wide)
        for inner, narrow in enumerate(columns):
            if inner == outer:
                continue
            width = len(hidden[inner])
            pairs = np.bincount(groups * width + narrow, minlength=(size + 1) * width)
            pairs = pairs.reshape(size + 1, width)
            within = (pairs == pairs.sum(axis=0)) & (pairs > 0) & ~hidden[inner]
            rest = pairs.sum(axis=1) - (pairs * within).sum(axis=1)
            risky = np.flatnonzero(within.any(axis=1) & (rest > 0) & (rest < threshold))
            if len(risky):
                inside = np.flatnonzero(within[risky[0]])
                return inner, int(inside[np.argmin(pairs[risky[0], inside])])
    return None


@dataclass(frozen=True)
class Column:
    """A target column on its own: the share of its cells that are right."""

    column: str
    prior: float
    attack: Mean


@dataclass(frozen=True)
class Exposure:
    """The exposure of all columns and kinds on one table at one budget."""

    columns: tuple[Column, ...]
    by_target: tuple[Kinds, ...]
    by_known: tuple[Kinds, ...]

    @classmethod
    def measure(
        cls,
        truth: Table,
        known: Table,
        prior: Table,
        guesses: Codes,
        hits: Bools,
        threshold: int,
        weights: Floats | None = None,
    ) -> Exposure:
        """Measure the exposure of the records of one table.

        ``prior`` holds the guesses without the release, ``guesses`` those of the attack,
        (repetitions, n, targets), and ``hits`` the successes by the metric, (1 + repetitions, n),
        the prior's first.
        """
        right = guesses == truth.codes
        columns = [
            Column(
                name,
                float(np.average(prior.codes[:, i] == truth.codes[:, i], weights=weights)),
                Mean.from_values(np.average(right[:, :, i], axis=1, weights=weights)),
            )
            for i, name in enumerate(truth.domain.names)
        ]
        columns.sort(key=lambda column: column.prior - column.attack.value)
        attributes = (*truth.domain, *known.domain)
        codes = [*truth.codes.T, *known.codes.T]
        sizes = [attribute.size for attribute in attributes]
        kinds = tuple(
            list_kinds(attribute, column, hits[0], hits[1:], hidden, weights)
            for attribute, column, hidden in zip(
                attributes, codes, find_suppressed_together(codes, sizes, threshold), strict=True
            )
        )
        split = len(truth.domain)
        return cls(tuple(columns), kinds[:split], kinds[split:])
