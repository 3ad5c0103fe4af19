"""What all assessments are told: the attacker, the table, and the prior."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reconbench.cli._options import name_flag
from reconbench.cli.terminal.own_tables import read_records
from reconbench.front.assessing.record_columns import add_record_columns, set_aside
from reconbench.front.assessing.sources import PriorFile, Records, find_prior

if TYPE_CHECKING:
    from reconbench.datasets import Domain
    from reconbench.datasets.own_table import CsvStyle


@dataclass(frozen=True)
class Attacker:
    """The options that say who attacks, and where the answer goes."""

    targets: tuple[str, ...]
    known: tuple[str, ...]
    metric: str
    attacks: tuple[str, ...]
    threshold: int
    seed: int
    domain: Path | None
    prior: Path | None
    out: Path
    quiet: bool
    as_json: bool
    style: CsvStyle
    prior_from: Path | None = None
    weight_column: str | None = None
    group_column: str | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """The fields of a question."""
        return {
            "targets": self.targets,
            "known": self.known,
            "metric": self.metric,
            "attacks": self.attacks,
            "threshold": self.threshold,
            "seed": self.seed,
        }

    def announce(self, text: str) -> None:
        """Say what takes a while."""
        if not self.quiet:
            typer.echo(text, err=True)

    def announce_attack(self, attack: str) -> None:
        """Say which attack plays now."""
        self.announce(f"playing {attack}")

    def find_prior(
        self, records: Records, source: Records | None = None
    ) -> AbstractContextManager[PriorFile]:
        """The prior that is given, or one fitted to the records, or to other ones."""
        return find_prior(self.prior, records, self.announce, source)

    def read_domain(self, what: str = "assess") -> Domain:
        """The columns and labels that the domain file or the prior declares."""
        from reconbench.benchmarks import plugins
        from reconbench.datasets.own_table import read_domain

        if self.domain is None and self.prior is None:
            raise ValueError(
                f"{what} needs --domain FILE, which declares the columns and labels "
                "(`reconbench data fit TABLE --suggest-domain FILE` drafts one), or --prior "
                "FILE.bif"
            )
        if self.prior is not None and not self.prior.name.endswith((".bif", ".bif.gz")):
            raise ValueError(f"--prior must be a .bif file, got {str(self.prior)!r}")
        if self.domain is None:
            return plugins.load_prior(str(self.prior)).domain
        wanted = (*self.targets, *self.known)
        aside = set_aside(wanted, self.weight_column, self.group_column, name_flag)
        return read_domain(self.domain).leave_out(aside)

    def read_records(self, path: Path, domain: Domain) -> Records:
        """Read records of the owner's: columns and labels must be those of the domain."""
        return Records.of(path.name, read_records(path, domain, self.style, quiet=self.quiet))

    def read_table(self, path: Path, domain: Domain) -> Records:
        """The same with the weights and the groups of the records."""
        records = self.read_records(path, domain)
        columns = self.weight_column, self.group_column
        return add_record_columns(records, path, *columns, self.style)

    def read_prior_source(self, domain: Domain) -> Records | None:
        """Other records that the prior is fitted to, if any are given."""
        if self.prior_from is None:
            return None
        records = self.read_records(self.prior_from, domain)
        return add_record_columns(records, self.prior_from, self.weight_column, None, self.style)


def refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options that do not belong to what is assessed."""
    for flag, value in given.items():
        if value not in (None, (), []):
            raise ValueError(f"{flag} {why}")
