"""What all assessments are told: the attacker, the table, and the prior."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reconbench.cli.terminal.own_tables import read_records
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

    def find_prior(self, records: Records) -> AbstractContextManager[PriorFile]:
        """The prior that is given, or one fitted to the records."""
        return find_prior(self.prior, records, self.announce)

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
        return read_domain(self.domain)

    def read_records(self, path: Path, domain: Domain) -> Records:
        """Read records of the owner's: columns and labels must be those of the domain."""
        own = read_records(path, domain, self.style, quiet=self.quiet)
        return Records(path.name, own.table, own.format.describe(), own.dropped)


def refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options that do not belong to what is assessed."""
    for flag, value in given.items():
        if value not in (None, (), []):
            raise ValueError(f"{flag} {why}")
