"""The tables and the prior of an assessment, and what its report says of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.report import TableSource
    from reconbench.datasets import BayNet, Table

PRIOR_FILE = "prior.bif"


@dataclass(frozen=True)
class Records:
    """Records of the owner's, what they are called, and how they were read."""

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
def find_prior(
    given: Path | None, records: Records, announce: Callable[[str], None]
) -> Iterator[PriorFile]:
    """The prior that is given, or one fitted to the records.

    Games read a prior from a file. The fitted one is in a folder of its own while they are played:
    nothing is written to the folder of the report before there is one. ``announce`` is told what
    takes a while.
    """
    if given is not None:
        yield PriorFile(given)
        return
    with TemporaryDirectory(prefix="reconbench-assess-") as folder:
        announce("fitting a prior to the table")
        yield _fit_prior(records, Path(folder) / PRIOR_FILE)


def _fit_prior(records: Records, path: Path) -> PriorFile:
    from reconbench.datasets import save_prior
    from reconbench.datasets.network.fit import GreedyMutualInformation, fit

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
