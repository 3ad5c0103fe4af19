"""What a synthesizer releases: a table of made-up records."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reconbench.datasets import Domain, DomainError, Table
from reconbench.mechanisms.measurements import Measurements


@dataclass(frozen=True, eq=False)
class SyntheticRelease:
    """A synthetic table that stands for one of ``records`` records.

    ``measurements`` are what the generator was fitted to, where it measures anything. The attacker
    sees them only in games with ``access = measurements``; see ``hide_measurements``.
    """

    domain: Domain
    table: Table
    records: int
    measurements: Measurements | None = None

    def __post_init__(self) -> None:
        if self.table.domain != self.domain:
            raise DomainError("the synthetic table's columns are not those of its domain")

    def hide_measurements(self) -> SyntheticRelease:
        """The table alone."""
        return self if self.measurements is None else replace(self, measurements=None)
