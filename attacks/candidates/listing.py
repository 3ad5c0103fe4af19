"""The joint values of the hidden columns that exact counts leave possible, for every known row.

A record makes the count of each of its own cells at least 1, so values that touch an empty cell are
impossible. They are built column by column, which leaves few partial values at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView
from reconbench.attacks.candidates.cells import ReleasedCells
from reconbench.attacks.candidates.kernels import list_values
from reconbench.datasets import Table
from reconbench.mechanisms.measurements import Measurements

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Joint values of the hidden columns by known row, row after row.

    ``group`` numbers the known row of every record, ``sizes`` counts the records of each;
    ``codes[ends[g] : ends[g + 1]]``, (values, hidden), are those of row g, ``owners`` the row of
    each value, and ``log_prior`` log P(value | known row). ``cells``, (values, sets), are the
    cells that a record with that value counts in.
    """

    group: Codes
    sizes: Codes
    ends: Codes
    codes: Codes
    owners: Codes
    log_prior: Floats
    cells: Codes


def list_candidates(
    view: AttackerView, measurements: Measurements, counts: Floats, most: int
) -> Candidates | None:
    """The values that every known row of a view may have; None if they are more than ``most``.

    ``measurements`` are the sets that hold a hidden column, ``counts`` the whole numbers in their
    cells, end to end.
    """
    known, group = view.known.distinct()
    cells = ReleasedCells.of(measurements)
    starts, strides = cells.locate_known(measurements.domain, known, view.targets)
    last = (strides > 0) * np.arange(1, len(view.targets) + 1)
    order = np.argsort(last.max(axis=1), kind="stable")
    ends = np.searchsorted(
        last.max(axis=1)[order], np.arange(1, len(view.targets) + 1), side="right"
    )
    sizes = np.array(view.target_domain.sizes, dtype=np.int64)
    lists, total = [], 0
    for start in starts:
        values = list_values(start, strides, counts, sizes, order, ends, most - total)
        if len(values) and values[0, 0] < 0:
            return None
        lists.append(values)
        total += len(values)
        if total > most or not len(values):
            return None
    lengths = np.array([len(values) for values in lists])
    codes = np.concatenate(lists)
    owners = np.repeat(np.arange(len(known)), lengths)
    log_prior = _log_prior(view, known, codes, owners)
    return Candidates(
        group,
        np.bincount(group, minlength=len(known)),
        np.concatenate([[0], lengths.cumsum()]),
        codes,
        owners,
        log_prior,
        starts[owners] + codes @ strides.T,
    )


def _log_prior(view: AttackerView, known: Table, codes: Codes, owners: Codes) -> Floats:
    """log P(value | known row)."""
    rows = Table(known.domain, known.codes[owners])
    whole = rows.join(Table(view.target_domain, codes))
    return np.asarray(view.prior.log_evidence(whole) - view.prior.log_evidence(known)[owners])
