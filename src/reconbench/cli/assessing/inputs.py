"""What all assessments are told: the attacker, the table, and the prior."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from reconbench.cli.terminal.own_tables import read_records

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.report import TableSource
    from reconbench.datasets import BayNet, Domain, Table
    from reconbench.datasets.own_table import CsvStyle

PRIOR_FILE = "prior.bif"


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

    def announce(self, attack: str) -> None:
        """Say which attack plays now."""
        if not self.quiet:
            typer.echo(f"playing {attack}", err=True)

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


@dataclass(frozen=True)
class Records:
    """Records of the owner's, the name of their file, and how it was read."""

    name: str
    table: Table
    format: str
    dropped: int


@dataclass(frozen=True)
class PriorFile:
    """The prior that an assessment plays with, as a file; ``fitted`` is the network behind it."""

    path: Path
    fitted: BayNet | None = None
    card: Mapping[str, Any] | None = None

    @property
    def spec(self) -> str:
        """What a game calls it."""
        return str(self.path.resolve())

    def keep(self, out: Path) -> None:
        """Write a fitted prior into the folder of the report."""
        from reconbench.datasets import save_prior

        if self.fitted is not None:
            save_prior(self.fitted, out / PRIOR_FILE, self.card)


@contextmanager
def find_prior(attacker: Attacker, records: Records) -> Iterator[PriorFile]:
    """The prior that is given, or one fitted to the records.

    Games read a prior from a file. The fitted one is in a folder of its own while they are played:
    nothing is written to the folder of the report before there is one.
    """
    if attacker.prior is not None:
        yield PriorFile(attacker.prior)
        return
    with TemporaryDirectory(prefix="reconbench-assess-") as folder:
        yield _fit_prior(records, Path(folder) / PRIOR_FILE, quiet=attacker.quiet)


def _fit_prior(records: Records, path: Path, *, quiet: bool) -> PriorFile:
    from reconbench.datasets import save_prior
    from reconbench.datasets.network.fit import GreedyMutualInformation, fit

    if not quiet:
        typer.echo("fitting a prior to the table", err=True)
    search = GreedyMutualInformation()
    table = records.table
    card = {"title": records.name, "records": len(table), "fitting": {"structure": repr(search)}}
    fitted = fit(table, search)
    save_prior(fitted, path, card)
    return PriorFile(path, fitted, card)


def describe_source(
    records: Records,
    prior: PriorFile,
    played: Collection[str],
    targets: Sequence[str],
    *,
    release: str | None = None,
    held_out: Records | None = None,
) -> TableSource:
    """Where the numbers of a report come from; ``played`` are the known and wanted columns."""
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.assess.prior_fit import check_prior_fit
    from reconbench.benchmarks.assess.report import TableSource

    net = prior.fitted or plugins.load_prior(prior.spec)
    known = [name for name in played if name not in targets]
    return TableSource(
        table=records.name,
        records=len(records.table),
        prior=prior.path.name,
        fitted=prior.fitted is not None,
        left_out=tuple(name for name in records.table.domain.names if name not in played),
        release=release,
        held_out=None if held_out is None else held_out.name,
        format=records.format,
        dropped=records.dropped,
        fit=check_prior_fit(net, records.table, targets, known),
    )


def refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options that do not belong to what is assessed."""
    for flag, value in given.items():
        if value not in (None, (), []):
            raise ValueError(f"{flag} {why}")
