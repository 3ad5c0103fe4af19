"""The tables of one assessment, in the forms that people have them, all read by the same domain."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconbench.datasets import BayNet, Domain, Table
from reconbench.datasets.network.bif import ENDINGS
from reconbench.front.arguments import refuse
from reconbench.front.assessing.record_columns import add_record_columns, set_aside
from reconbench.front.assessing.sources import Records
from reconbench.front.games.handover import make_folder, write_prior
from reconbench.front.priors import load_prior, read_table


@dataclass(frozen=True)
class TableReader:
    """Reads tables. Without a domain, that of the prior or else of the first table is taken.

    ``wanted`` are the columns that are known or targets.
    """

    prior: Path | None
    domain: Any
    wanted: tuple[str, ...]
    weight_column: str | None
    group_column: str | None
    _found: list[Domain] = field(default_factory=list, repr=False)

    def read(self, name: str, table: Any, *, groups: bool = True) -> Records:
        """Read records, with their weights and groups."""
        records = self.read_plain(name, table)
        group_column = self.group_column if groups else None
        return add_record_columns(records, table, self.weight_column, group_column)

    def read_plain(self, name: str, table: Any) -> Records:
        """Read records by their columns alone."""
        own = read_table(name, table, self._choose_domain(), aside=self._aside)
        self._found.append(own.table.domain)
        return Records.of(_name(table), own)

    @property
    def _aside(self) -> list[str]:
        return set_aside(self.wanted, self.weight_column, self.group_column)

    def _choose_domain(self) -> Any:
        if self._found:
            return self._found[0]
        if self.domain is None and self.prior is not None:
            return load_prior(self.prior).domain
        return self.domain


def find_prior_file(prior: object) -> Path | None:
    """The file of a prior that was given; one in memory is written to a temporary one."""
    if prior is None:
        return None
    if isinstance(prior, str | os.PathLike) and os.fspath(prior).endswith(ENDINGS):
        return Path(prior)
    net = load_prior(prior)
    if not isinstance(net, BayNet):
        raise refuse("prior", prior, "a Bayesian network for an assessment")
    return write_prior(net, make_folder(), "prior")


def _name(table: object) -> str:
    """What a report calls a table."""
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return "the table" if isinstance(table, Table) else "the DataFrame"
