"""The tables and the prior of an assessment, and what its report says of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reconbench.benchmarks.assess.assessment import Groups, Weights
    from reconbench.benchmarks.assess.report import TableSource
    from reconbench.datasets import BayNet, Table
    from reconbench.datasets.own_table import OwnTable

    Codes = npt.NDArray[np.int64]

PRIOR_FILE = "prior.bif"


@dataclass(frozen=True)
class Records:
    """Records of the owner's, what they are called, and how they were read.

    ``positions`` are those in the source, counted from 0. ``weights`` and ``groups`` are what other
    columns say of them, see ``record_columns``.
    """

    name: str
    table: Table
    format: str
    dropped: int
    positions: Codes
    weights: Weights | None = None
    groups: Groups | None = None

    @classmethod
    def of(cls, name: str, own: OwnTable) -> Records:
        """As they were read."""
        return cls(name, own.table, own.format.describe(), own.dropped, own.positions)

    def pick(self, chosen: Codes, name: str) -> Records:
        """Some of them, under another name."""
        weights = self.weights
        if weights is not None:
            weights = replace(weights, values=weights.values[chosen])
        table = type(self.table)(self.table.domain, self.table.codes[chosen])
        return replace(
            self, name=name, table=table, positions=self.positions[chosen], weights=weights
        )


@dataclass(frozen=True)
class PriorFile:
    """The prior that an assessment plays with, as a file; ``fitted`` is the network behind it.

    ``source`` are the records that it was fitted to, where these are not the ones assessed.
    """

    path: Path
    fitted: BayNet | None = None
    card: Mapping[str, Any] | None = None
    source: Records | None = None

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
    given: Path | None,
    records: Records,
    announce: Callable[[str], None],
    source: Records | None = None,
) -> Iterator[PriorFile]:
    """The prior that is given, or one fitted to the records, or to other ones.

    Games read a prior from a file. The fitted one is in a folder of its own while they are played:
    nothing is written to the folder of the report before there is one. ``announce`` is told what
    takes a while.
    """
    if given is not None:
        yield PriorFile(given)
        return
    with TemporaryDirectory(prefix="reconbench-assess-") as folder:
        announce("fitting a prior to the table" if source is None else "fitting a prior")
        yield _fit_prior(records, Path(folder) / PRIOR_FILE, source)


def _fit_prior(records: Records, path: Path, source: Records | None) -> PriorFile:
    from reconbench.datasets import save_prior
    from reconbench.datasets.network.fit import GreedyMutualInformation, estimate_network, fit

    search = GreedyMutualInformation()
    used = source or records
    fitting: dict[str, Any] = {"structure": repr(search)}
    if used.weights is None:
        fitted = fit(used.table, search)
    else:
        fitted = estimate_network(used.table, search, weights=used.weights.values)
        fitting["weights"] = used.weights.column
    card = {"title": used.name, "records": len(used.table), "fitting": fitting}
    save_prior(fitted, path, card)
    return PriorFile(path, fitted, card, source)


def split_records(records: Records, share: float, seed: int) -> tuple[Records, Records]:
    """A random share of the records, for the prior, and the others, which are assessed."""
    import numpy as np

    from reconbench.benchmarks.game.random_streams import make_stream

    count = round(share * len(records.table))
    if not 0 < count < len(records.table):
        raise ValueError(
            f"a share of {share:g} of {len(records.table)} records leaves nothing to fit or to "
            "assess; choose one nearer to 0.5"
        )
    axes: dict[str, object] = {"seed": seed, "table": records.table.sha256()}
    order = make_stream("records for the prior", axes).permutation(len(records.table))
    first, rest = np.sort(order[:count]), np.sort(order[count:])
    part = f"a random {100 * share:.3g} % of {records.name}"
    return records.pick(first, part), records.pick(rest, f"the rest of {records.name}")


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
    weights, source = records.weights, prior.source
    # A prior of the population describes the weighted records, and not how many there are.
    fit = None if weights else check_prior_fit(net, records.table, targets, known)
    return TableSource(
        table=records.name,
        records=len(records.table),
        prior=prior.path.name,
        fitted=prior.fitted is not None and source is None,
        left_out=tuple(name for name in records.table.domain.names if name not in played),
        release=release,
        held_out=None if held_out is None else held_out.name,
        format=records.format,
        dropped=records.dropped,
        fit=fit,
        prior_table=None if source is None else source.name,
        prior_records=None if source is None else len(source.table),
        weights=None if weights is None else weights.column,
        effective=None if weights is None else weights.effective,
    )
