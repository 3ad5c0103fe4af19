"""Priors: `load_prior` and `fit`, and whatever else a caller may have for one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reconbench.benchmarks import plugins
from reconbench.datasets import BayNet, Domain, Prior, Table
from reconbench.datasets import save_prior as write_network
from reconbench.datasets.network import fit as fitting
from reconbench.datasets.own_table import (
    OwnTable,
    TableFormat,
    infer_domain,
    parse_domain,
    read_domain,
    read_own_table,
)
from reconbench.front.arguments import (
    checked,
    describe,
    list_values,
    read_choice,
    read_number,
    read_path,
    read_whole,
    refuse,
    warn_caller,
)

if TYPE_CHECKING:
    import pandas as pd

PRIORS = "a data set, such as 'acs', a .bif file, file.py:function, a prior or a pgmpy network"
TABLES = "a DataFrame, a Table, or the path of a CSV or Parquet file"
DOMAINS = "a Domain, the path of a domain file, or a mapping such as {'age': 32, 'sex': ['f', 'm']}"


class DraftedDomainWarning(UserWarning):
    """Labels and bins were taken from the records, which they reveal something about.

    Args:
        *args: The text of the warning.

    Example:
        >>> import warnings
        >>> import pandas as pd
        >>> import reconbench as rb
        >>> frame = pd.DataFrame({"sex": ["f", "m"] * 5, "ill": ["no"] * 9 + ["yes"]})
        >>> with warnings.catch_warnings(record=True, action="always") as caught:
        ...     net = rb.fit(frame, structure="independent")
        >>> caught[0].category is rb.DraftedDomainWarning
        True
    """


@checked
def load_prior(prior: str | os.PathLike[str] | Prior | Any) -> Prior:
    """Load the distribution of one record, by name or from what describes it.

    Args:
        prior: The name of a data set (`reconbench list dataset`), such as ``"acs"`` or
            ``"bn:alarm"``; the path of a ``.bif`` file; ``"file.py:function"``; or a pgmpy
            network. A prior is returned as it is.

    Returns:
        A `Prior`: it has a ``domain``, samples tables, and gives the probabilities of columns
        given others.

    Example:
        >>> import reconbench as rb
        >>> acs = rb.load_prior("acs")
        >>> acs
        BayNet(9,897 probabilities over 'AGEP', 'SCHL', 'MAR', 'RELP', ... (16 in all))
        >>> acs.domain["SEX"]
        Attribute('SEX', labels 'Male', 'Female')
    """
    if isinstance(prior, str | os.PathLike):
        return plugins.load_prior(plugins.make_absolute(os.fspath(prior)))
    if is_table(prior):
        raise refuse("prior", prior, PRIORS, "; fit one to a table with fit(table)")
    return as_prior("prior", prior, PRIORS)


@checked
def fit(
    table: pd.DataFrame | Table | str | os.PathLike[str],
    domain: Domain | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    structure: str = "greedy",
    max_parents: int = 3,
    smoothing: float = 1.0,
) -> BayNet:
    """Fit a prior, a Bayesian network, to the records of a table.

    Args:
        table: A DataFrame, a `Table`, or the path of a CSV or Parquet file.
        domain: The columns with their labels or bins, which must be public: a `Domain`, a domain
            file, or a mapping of names to numbers of values or to labels. Without one, the
            categories of categorical columns are taken, and others are drafted from the records,
            with a warning.
        structure: How to choose the network: ``greedy``, ``hill-climb``, ``chow-liu`` or
            ``independent``.
        max_parents: The largest number of parents of a column.
        smoothing: Pseudo-records per combination of parent values.

    Returns:
        The network. `save_prior` writes it to a file.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> people = rb.load_prior("acs").sample(200, np.random.default_rng(0))
        >>> rb.fit(people.project(["SEX", "MAR", "MIL"]), structure="independent")
        BayNet(12 probabilities over 'SEX', 'MAR', 'MIL')
    """
    searches = fitting.list_searches(
        read_whole("max_parents", max_parents, 1), read_number("smoothing", smoothing, above=0)
    )
    search = searches[read_choice("structure", structure, searches)]
    return fitting.fit(read_table("table", table, domain).table, search, float(smoothing))


@checked
def save_prior(
    prior: BayNet | Any, path: str | os.PathLike[str], card: Mapping[str, Any] | None = None
) -> None:
    """Write a prior to a BIF file, which `play`, `load_prior` and the command line read.

    Args:
        prior: A Bayesian network, ours or pgmpy's.
        path: The file, which ends in ``.bif``; labels and order stand in a codebook beside it.
        card: What describes the data: title, source, licence.

    Returns:
        Nothing.

    Example:
        >>> import tempfile
        >>> import reconbench as rb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rb.save_prior(rb.load_prior("nist"), f"{folder}/nist.bif")
        ...     again = rb.load_prior(f"{folder}/nist.bif")
        >>> again.sha256() == rb.load_prior("nist").sha256()
        True
    """
    net = as_prior("prior", prior, "a Bayesian network, ours or pgmpy's")
    if not isinstance(net, BayNet):
        raise refuse("prior", prior, "a Bayesian network, ours or pgmpy's")
    write_network(net, read_path("path", path), card)


def is_table(value: object) -> bool:
    """Whether a value is a table in memory: ours, or a DataFrame."""
    return isinstance(value, Table) or type(value).__name__ == "DataFrame"


def as_prior(name: str, value: object, allowed: str) -> Prior:
    """A prior as it is, of a pgmpy network, or fitted to a table in memory."""
    if isinstance(value, Prior):
        return value
    if type(value).__module__.partition(".")[0] == "pgmpy":
        from reconbench.datasets.network.pgmpy_bridge import from_pgmpy

        return from_pgmpy(value)
    if is_table(value):
        table: Any = value
        return fit(table)
    raise refuse(name, value, allowed)


def as_domain(name: str, value: object) -> Domain | None:
    """A domain in the forms that people have one; None for None."""
    if value is None or isinstance(value, Domain):
        return value
    if isinstance(value, str | os.PathLike):
        return read_domain(value)
    if isinstance(value, Mapping):
        plain = {
            key: labels if isinstance(labels, int) else list_values(name, labels, DOMAINS)
            for key, labels in value.items()
        }
        return parse_domain(value if "attributes" in value else plain)
    raise refuse(name, value, DOMAINS)


def read_table(
    name: str, value: object, domain: object = None, aside: Collection[str] = ()
) -> OwnTable:
    """A table in the forms that people have one, read by its domain.

    Without a domain, the one of a `Table` is taken, and that of any other is inferred, which is
    worth a warning where labels come from the records. Columns ``aside`` are not part of it.
    """
    declared = as_domain("domain", domain)
    if isinstance(value, Table):
        table = value.project([column for column in value.domain.names if column not in aside])
        if declared is not None and declared.leave_out(aside) != table.domain:
            raise refuse("domain", domain, f"left out, or that of the table, {value.domain!r}")
        return OwnTable(table, TableFormat("Table"), {}, {}, 0, np.arange(len(value)))
    source: Any = value
    if not isinstance(value, str | os.PathLike) and not is_table(value):
        raise refuse(name, value, TABLES)
    if declared is None:
        declared = _infer(name, source, aside)
    return read_own_table(source, declared.leave_out(aside))


def _infer(name: str, source: Any, aside: Collection[str]) -> Domain:
    if not is_table(source):
        raise refuse(
            "domain",
            None,
            "given for a table in a file",
            f"; `reconbench data fit {Path(source).name} --suggest-domain FILE` drafts one",
        )
    inferred = infer_domain(source)
    drafted = tuple(column for column in inferred.drafted if column not in aside)
    left_out = tuple(column for column in inferred.left_out if column not in aside)
    texts = []
    if drafted:
        texts.append(
            f"labels and bins of {_list(drafted)} are drafted from the records, and so "
            "reveal something about them; pass public ones as domain"
        )
    if left_out:
        texts.append(f"left out: {_list(left_out)}")
    if texts:
        text = f"{name}, {describe(source)} of {len(source):,} records: {'; '.join(texts)}"
        warn_caller(text, DraftedDomainWarning)
    return inferred.domain


def _list(names: tuple[str, ...], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
