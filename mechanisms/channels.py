"""Reports through any channel with finitely many outputs.

A mechanism of one's own that sends every record's value through a table P(θ | value) releases a
`ChannelRelease`: the attack `optimal` and the exact ceiling on the reconstruction advantage then
apply to it as they do to GRR, OUE and SS, whose tables are too long to list.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain
from reconbench.mechanisms.base import MechanismError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ChannelRelease:
    """One output for every record of a table, in its order: P(outputs[i] | value of record i).

    ``table`` has one row an output and one column for each joint value of ``columns``, the last
    column of which changes fastest. Records are reported independently of each other.
    """

    domain: Domain
    columns: tuple[str, ...]
    table: Floats
    outputs: Codes

    def __post_init__(self) -> None:
        values = prod(self.domain.project(self.columns).sizes)
        if self.table.ndim != 2 or self.table.shape[1] != values:
            raise MechanismError(
                f"table must have one column for each of the {values} joint values of "
                f"{', '.join(self.columns)}, got shape {self.table.shape}"
            )
        off = float(np.abs(self.table.sum(axis=0) - 1).max())
        if not (self.table.min() >= 0 and off <= SUM_TOLERANCE):
            raise MechanismError("table must hold probabilities, each column with a sum of 1")
        outputs = self.outputs
        if (
            outputs.ndim != 1
            or outputs.size == 0
            or not 0 <= outputs.min() <= outputs.max() < len(self.table)
        ):
            raise MechanismError(
                f"outputs must be one row of the table a record, from 0 to {len(self.table) - 1}"
            )


def sample_outputs(table: Floats, values: Codes, rng: np.random.Generator) -> Codes:
    """One output for every value, from a channel with outputs down and values across."""
    below = table.cumsum(axis=0)
    outputs = np.empty(len(values), dtype=np.int64)
    uniforms = rng.random(len(values))
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], np.arange(below.shape[1] + 1))
    for value, (start, end) in enumerate(pairwise(ends)):
        mine = order[start:end]
        column = below[:, value]
        outputs[mine] = np.searchsorted(column[:-1], uniforms[mine] * column[-1], side="right")
    return outputs
