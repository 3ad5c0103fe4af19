"""What measured sets tell of the hidden columns: their cells, and how much each set weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView
from reconbench.attacks.candidates.cells import ReleasedCells
from reconbench.attacks.marginals.measured import find_width, read_measurements
from reconbench.attacks.marginals.release_parts import shared_parts
from reconbench.attacks.posterior.chains import TRADE, coldest_level, smallest_misfit
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.measurements import Measurements

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The measured sets that hold a hidden column; there is at least one.

    The log-likelihood of a table x is −weight Σ_s scales[s] ‖Q_s(x) − answers_s‖² / 2: ``weight``
    is the inverse noise variance of the set with the least noise, and ``scales`` are those of all
    sets over it. A set whose noise is next to none weighs as if it had a little more: see
    `chains.coldest_level`.
    """

    measurements: Measurements
    targets: tuple[str, ...]

    @classmethod
    def of(cls, view: AttackerView) -> Evidence:
        return cls(read_measurements(view), view.targets)

    @property
    def sets(self) -> int:
        return len(self.measurements.sets)

    @property
    def weight(self) -> float:
        return float(self._weights.max())

    @cached_property
    def scales(self) -> Floats:
        return np.ascontiguousarray(self._weights / self.weight)

    @property
    def total(self) -> float:
        """The scales of all sets, added up: what a record's own cells weigh at weight 1."""
        return float(self.scales.sum())

    @property
    def misfit(self) -> int:
        """Half the squared error that a trade of two records leaves at least, if it leaves any."""
        complete = self.marginals
        return TRADE if complete is None else smallest_misfit(len(complete.domain), complete.k)

    @property
    def is_loose(self) -> bool:
        """Whether a trade may be seen in one set alone: at little noise, many tables then fit about
        as well and lie far apart."""
        return self.misfit == TRADE

    @cached_property
    def _weights(self) -> Floats:
        return np.array([coldest_level(sd, self.misfit) for sd in self.measurements.noise_sds])

    @cached_property
    def marginals(self) -> MarginalsRelease | None:
        """The sets as marginals, where they are all sets of one width with equal noise."""
        own = self.measurements
        if find_width(own, self.targets) is None:
            return None
        return MarginalsRelease(own.domain, own.sets, own.answers, own.noise_sds[0])

    @cached_property
    def cells(self) -> ReleasedCells:
        return ReleasedCells.of(self.measurements)

    def find_rows(self, known: Table) -> tuple[Table, Codes]:
        """Records that differ in the known columns of the sets, and the number of each record's."""
        held = {i for columns in self.measurements.sets for i in columns}
        names = [self.measurements.domain.names[i] for i in sorted(held)]
        visible = [name for name in names if name not in self.targets]
        if not visible:
            return Table(known.domain, known.codes[:1]), np.zeros(len(known), dtype=np.int64)
        _, group = known.project(visible).distinct()
        _, first = np.unique(group, return_index=True)
        return Table(known.domain, known.codes[first]), group

    @cached_property
    def parts(self) -> dict[tuple[int, ...], list[int]]:
        """The sets by the hidden columns that they hold, as positions among the targets."""
        order = list(self.measurements.domain.positions(self.targets))
        found: dict[tuple[int, ...], list[int]] = {}
        for index, columns in enumerate(self.measurements.sets):
            part = tuple(sorted(order.index(i) for i in columns if i in order))
            found.setdefault(part, []).append(index)
        return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))

    def is_blind(self, part: tuple[int, ...]) -> bool:
        """Whether no set with these hidden columns holds a known one: all rows are alike then."""
        return all(len(self.measurements.sets[s]) == len(part) for s in self.parts[part])

    def share(self, rows: Table, part: tuple[int, ...]) -> Floats:
        """The scales of the sets with these hidden columns whose known columns two rows agree on,
        added up: (rows, rows)."""
        complete = self.marginals
        if complete is not None:
            names = [name for name in complete.domain.names if name in rows.domain.names]
            return shared_parts(rows.project(names), complete.k - len(part))
        starts, _ = self.cells.locate_known(self.measurements.domain, rows, self.targets)
        total = np.zeros((len(rows), len(rows)))
        for s in self.parts[part]:
            total += self.scales[s] * (starts[:, s, None] == starts[None, :, s])
        return total

    def share_known(self, rows: Table) -> Floats:
        """The same of all sets together, whichever hidden columns they hold."""
        complete = self.marginals
        if complete is not None:
            names = [name for name in complete.domain.names if name in rows.domain.names]
            return shared_parts(rows.project(names), complete.k - 1)
        return np.asarray(sum(self.share(rows, part) for part in self.parts))

    def gather(self, rows: Table, values: Codes) -> Floats:
        """The scaled answers in the cells of every row and joint value, added up: (rows, values).

        ``values`` are (values, targets).
        """
        starts, strides = self.cells.locate_known(self.measurements.domain, rows, self.targets)
        total = np.zeros((len(rows), len(values)))
        for start, steps, scale in zip(starts.T, strides, self.scales, strict=True):
            total += scale * self.cells.answers[start[:, None] + values @ steps]
        return total

    @cached_property
    def constant(self) -> float:
        """Σ_s scales[s] ‖answers_s‖²."""
        squares = [float((answer**2).sum()) for answer in self.measurements.answers]
        return float(self.scales @ squares)

    def fits(self, table: Table) -> bool:
        """Whether a whole table has the very counts of the sets without noise."""
        own = self.measurements
        exact = [s for s, sd in enumerate(own.noise_sds) if sd == 0]
        whole = table.project(own.domain.names) if exact else table
        return all(
            np.array_equal(marginal_counts(whole, own.sets[s]), own.answers[s]) for s in exact
        )


def list_values(sizes: Sequence[int]) -> Codes:
    """All joint values in row-major order, (values, columns)."""
    return np.indices(tuple(sizes)).reshape(len(sizes), -1).T
