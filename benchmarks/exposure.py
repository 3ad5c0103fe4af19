"""Which records of a real table an attack gets right, by kind of record, small kinds suppressed.

Shares are means over the records of a kind and over repetitions of the noise. A kind of fewer than
``threshold`` records is not shown. Nor may it be found by subtracting those shown from the total:
kinds are suppressed, smallest first, until at least two that are not empty and at least
``threshold`` records are hidden together.
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
    """A mean over repetitions; ``margin`` is half of its 95 % interval, None for one repetition."""

    value: float
    margin: float | None

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> Mean:
        found = np.asarray(values, dtype=np.float64)
        count = len(found)
        if count < 2:
            return cls(float(found.mean()), None)
        half = student.ppf(0.975, count - 1) * found.std(ddof=1) / np.sqrt(count)
        return cls(float(found.mean()), float(half))


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


def kinds(attribute: Attribute, codes: Codes, prior: Bools, hits: Bools, threshold: int) -> Kinds:
    """``prior`` is (n,): right without the release; ``hits`` is (repetitions, n)."""
    counts = np.bincount(codes, minlength=attribute.size)
    hidden = suppressed(counts, threshold)
    found = []
    for code in np.flatnonzero(~hidden):
        mine = codes == code
        share = Mean.of(hits[:, mine].mean(axis=1))
        label = attribute.labels[code]
        found.append(
            Kind(attribute.name, label, int(counts[code]), float(prior[mine].mean()), share)
        )
    found.sort(key=lambda kind: (-kind.gain, -kind.attack.value))
    return Kinds(attribute.name, tuple(found), int(hidden.sum()), int(counts[hidden].sum()))


def suppressed(counts: Codes, threshold: int) -> Bools:
    """Which kinds of record may not be shown, given how many records each has."""
    hidden: Bools = counts < threshold
    for code in np.argsort(counts, kind="stable"):
        together = counts[hidden & (counts > 0)]
        if len(together) == 0 or (len(together) > 1 and together.sum() >= threshold):
            break
        hidden[code] = True
    return hidden


@dataclass(frozen=True)
class Column:
    """A target column on its own: the share of its cells that are right."""

    column: str
    prior: float
    attack: Mean


@dataclass(frozen=True)
class Exposure:
    """All of the above on one table at one budget."""

    columns: tuple[Column, ...]
    by_target: tuple[Kinds, ...]
    by_known: tuple[Kinds, ...]

    @classmethod
    def of(
        cls, truth: Table, known: Table, prior: Table, guesses: Codes, hits: Bools, threshold: int
    ) -> Exposure:
        """``prior`` holds the guesses without the release, ``guesses`` those of the attack,
        (repetitions, n, targets), and ``hits`` its successes by the metric, (1 + repetitions, n),
        of which the first row is the prior's."""
        right = guesses == truth.codes
        columns = [
            Column(
                name,
                float((prior.codes[:, i] == truth.codes[:, i]).mean()),
                Mean.of(right[:, :, i].mean(axis=1)),
            )
            for i, name in enumerate(truth.domain.names)
        ]
        columns.sort(key=lambda each: each.prior - each.attack.value)
        by_target, by_known = (
            tuple(
                kinds(attribute, table.codes[:, i], hits[0], hits[1:], threshold)
                for i, attribute in enumerate(table.domain)
            )
            for table in (truth, known)
        )
        return cls(tuple(columns), by_target, by_known)
