"""Released cells, laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain, Table
from reconbench.mechanisms.measurements import Measurements

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ReleasedCells:
    """All cells of measured sets in one array, set after set.

    Set s has columns ``columns[s]``; its cells start at ``offsets[s]`` and are reached by
    ``strides[s]``: record x counts in cell offsets[s] + Σ_q strides[s, q] x[columns[s, q]].
    Sets of fewer columns than the widest one are filled up with column −1 and stride 0.
    """

    columns: Codes
    strides: Codes
    offsets: Codes
    answers: Floats

    @classmethod
    def of(cls, measurements: Measurements) -> ReleasedCells:
        sets = measurements.sets
        columns = np.full((len(sets), max(map(len, sets), default=0)), -1, dtype=np.int64)
        for row, own in zip(columns, sets, strict=True):
            row[: len(own)] = own
        sizes = np.array(measurements.domain.sizes, dtype=np.int64)[columns]
        sizes[columns < 0] = 1
        # row-major: a column's stride is the product of the sizes after it
        after = np.concatenate([sizes[:, 1:], np.ones((len(sizes), 1), dtype=np.int64)], axis=1)
        strides = np.ascontiguousarray(after[:, ::-1].cumprod(axis=1)[:, ::-1])
        strides[columns < 0] = 0
        offsets = np.cumsum(sizes.prod(axis=1)) - sizes.prod(axis=1)
        answers = [np.empty(0), *(answer.ravel() for answer in measurements.answers)]
        return cls(columns, strides, offsets, np.concatenate(answers))

    @property
    def lengths(self) -> Codes:
        """The number of cells of every set."""
        return np.diff(np.append(self.offsets, len(self.answers)))

    def locate(self, codes: Codes) -> Codes:
        """The cell of every row in every set, (rows, sets), of rows over the measured domain."""
        inside = (codes[:, self.columns] * self.strides).sum(axis=2)
        return np.asarray(inside + self.offsets)

    def locate_known(
        self, domain: Domain, known: Table, hidden: Sequence[str]
    ) -> tuple[Codes, Codes]:
        """The cells of known rows with all hidden codes 0, (rows, sets), and how far on the next
        value of each hidden column lies, (sets, hidden); ``domain`` is the measured one."""
        whole = np.zeros((len(known), len(domain)), dtype=np.int64)
        released = [name for name in domain.names if name in known.domain.names]
        whole[:, domain.positions(released)] = known.project(released).codes
        steps = [(self.strides * (self.columns == c)).sum(axis=1) for c in domain.positions(hidden)]
        return self.locate(whole), np.stack(steps, axis=1)
