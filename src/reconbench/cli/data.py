"""`reconbench data`: describe, fit and sample priors; fetch public tables; release marginals."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json, split_columns
from reconbench.cli.terminal.progress import report_download
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    from reconbench.datasets.network.fit import StructureSearch

app = typer.Typer(
    help="Describe priors, fit one to your own table, sample tables, fetch public sources, release "
    "marginals.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Structure(StrEnum):
    GREEDY = "greedy"
    HILL_CLIMB = "hill-climb"
    CHOW_LIU = "chow-liu"
    INDEPENDENT = "independent"


class Source(StrEnum):
    ACS = "acs"
    FIRE = "fire"


@app.command()
def describe(
    prior: Annotated[str, typer.Argument(help="A data set (see `list dataset`) or a .bif file.")],
    column: Annotated[str | None, typer.Option(help="Show the labels of one column.")] = None,
    as_json: Json = False,
) -> None:
    """Show a prior: its columns, labels, network and provenance.

    \b
    Examples:
      reconbench data describe acs
      reconbench data describe fire --column "ALS Unit"
      reconbench data describe prior.bif --json
    """
    from reconbench.benchmarks import plugins
    from reconbench.datasets import BayNet

    loaded = plugins.load_prior(prior)
    card = _read_card(prior)
    columns = loaded.domain.attributes if column is None else (loaded.domain[column],)
    if as_json:
        described: dict[str, Any] = {
            "name": prior,
            "sha256": loaded.sha256(),
            "visit_order": list(loaded.visit_order),
            "columns": [attribute.to_json() for attribute in columns],
            "card": card,
        }
        typer.echo(json.dumps(described, ensure_ascii=False, indent=1))
        return
    if column is not None:
        labels = columns[0].labels
        print_table(column, ["code", "label"], [[i, label] for i, label in enumerate(labels)])
        return
    parents = {
        name: ", ".join(loaded.domain.names[p] for p in loaded.parents[i])
        if isinstance(loaded, BayNet)
        else ""
        for i, name in enumerate(loaded.domain.names)
    }
    print_table(
        card.get("title", prior),
        ["column", "values", "ordinal", "visited", "parents"],
        [
            [
                attribute.name,
                attribute.size,
                "yes" if attribute.ordinal else "",
                loaded.visit_order.index(attribute.name) + 1,
                parents[attribute.name],
            ]
            for attribute in columns
        ],
    )
    print_pairs({key: value for key, value in card.items() if isinstance(value, str)})
    scores = card.get("held_out", {}).get("mean_log_likelihood_nats", {})
    if scores:
        print_table(
            "Held-out log-likelihood, nats per record (larger is better)",
            ["model", "score"],
            [[name, f"{score:.3f}"] for name, score in scores.items()],
        )


@app.command()
def fit(
    table: Annotated[Path, typer.Argument(help="A CSV file with a header.")],
    domain: Annotated[Path | None, typer.Option(help="The domain file (JSON).")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The .bif file to write.")] = None,
    suggest_domain: Annotated[
        Path | None, typer.Option(help="Write a draft domain file to edit, and stop.")
    ] = None,
    structure: Annotated[
        Structure, typer.Option(help="How to choose the network.")
    ] = Structure.GREEDY,
    max_parents: Annotated[
        int, typer.Option(min=1, help="Largest number of parents of a column.")
    ] = 3,
    smoothing: Annotated[
        float, typer.Option(help="Pseudo-records per combination of parent values.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Fit a prior to your own table.

    The attacker is assumed to know labels and bin edges, so they must be public: they come from a
    domain file, not from the table. `--suggest-domain` drafts one to edit.

    \b
    Examples:
      reconbench data fit table.csv --suggest-domain domain.json
      reconbench data fit table.csv --domain domain.json -o prior.bif
      reconbench game --dataset prior.bif --targets income --epsilon 1
    """
    from reconbench.datasets import own_table, save_prior
    from reconbench.datasets.atomic_files import write_json_atomic
    from reconbench.datasets.network import fit as fitting
    from reconbench.datasets.network.bif import codebook_path

    if suggest_domain is not None:
        write_json_atomic(suggest_domain, own_table.suggest_domain(table))
        typer.echo(
            f"{suggest_domain}: a draft; read its notes and edit it, then use it with --domain"
        )
        return
    if domain is None or out is None:
        raise ValueError(
            "data fit needs --domain FILE and --out FILE.bif; "
            "--suggest-domain FILE drafts a domain file to edit"
        )
    codebook_path(out)
    records = own_table.read_table(table, own_table.read_domain(domain))
    searches: dict[str, StructureSearch] = {
        Structure.GREEDY: fitting.GreedyMutualInformation(max_parents, smoothing=smoothing),
        Structure.HILL_CLIMB: fitting.HillClimbBIC(max_parents),
        Structure.CHOW_LIU: fitting.ChowLiu(),
        Structure.INDEPENDENT: fitting.Independent(),
    }
    net = fitting.fit(records, searches[structure], smoothing)
    names = (structure, Structure.CHOW_LIU, Structure.INDEPENDENT)
    compared: dict[str, StructureSearch] = {name: searches[name] for name in names}
    scores = fitting.score_held_out(records, compared, smoothing) if len(records) >= 10 else {}
    card = {
        "title": table.name,
        "records": len(records),
        "data_sha256": records.sha256(),
        "fitting": {"structure": repr(searches[structure]), "smoothing": smoothing},
        "held_out": {"mean_log_likelihood_nats": scores},
    }
    save_prior(net, out, card)
    if as_json:
        summary = {"prior": str(out), "codebook": str(codebook_path(out)), **card}
        typer.echo(json.dumps(summary, ensure_ascii=False))
        return
    for name, score in scores.items():
        typer.echo(f"held-out log-likelihood, {name}: {score:.3f} nats per record")
    typer.echo(str(out))


@app.command()
def sample(
    prior: Annotated[str, typer.Argument(help="A data set (see `list dataset`) or a .bif file.")],
    n: Annotated[int, typer.Option("-n", help="Number of records.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same table.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The CSV file to write; default: print.")
    ] = None,
) -> None:
    """Sample a table from a prior, as CSV with labels.

    \b
    Example:
      reconbench data sample acs -n 1000 -o people.csv
    """
    import numpy as np

    from reconbench.benchmarks import plugins

    table = plugins.load_prior(prior).sample(n, np.random.default_rng(seed))
    _write_csv(table.to_pandas().to_csv(index=False), out)


@app.command()
def fetch(
    source: Annotated[Source, typer.Argument(help="A public source.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The CSV file to write.")],
    state: Annotated[str, typer.Option(help="ACS: two-letter state.")] = "CA",
    year: Annotated[int, typer.Option(help="ACS: survey year.")] = 2018,
    file: Annotated[
        Path | None, typer.Option(help="A file that you already have; default: download it.")
    ] = None,
) -> None:
    """Fetch a public source as a table, and write its domain file beside it.

    \b
    Examples:
      reconbench data fetch acs --state CA -o acs-ca.csv
      reconbench data fetch fire --file Fire_Calls.csv -o fire.csv
      reconbench data fit acs-ca.csv --domain acs-ca.domain.json -o acs-ca.bif
    """
    from reconbench.datasets.atomic_files import write_json_atomic
    from reconbench.datasets.sources import load_acs, load_fire

    progress = report_download()
    if source is Source.ACS:
        loaded = load_acs(state, year, file, progress=progress)
    else:
        loaded = load_fire(file, progress=progress)
    domain = out.with_suffix(".domain.json")
    _write_csv(loaded.to_pandas().to_csv(index=False), out)
    write_json_atomic(domain, loaded.domain.to_json())
    typer.echo(f"{out}: {len(loaded)} records")
    typer.echo(str(domain))


@app.command()
def release(
    table: Annotated[Path, typer.Argument(help="Your table: CSV with a header.")],
    domain: Annotated[Path, typer.Option(help="The domain file (JSON); it must be public.")],
    epsilon: Annotated[float, typer.Option(help="Total privacy budget ε of the file.")],
    delta: Annotated[float, typer.Option(help="Total δ of the file, greater than 0.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The CSV file to write.")],
    k: Annotated[int, typer.Option("-k", "--k", help="Columns in a marginal.")] = 3,
    columns: Annotated[
        list[str] | None, typer.Option(help="Columns to use, comma-separated; default: all.")
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(help="Release only marginals with one of these columns, comma-separated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Release k-way marginals of a table for publication, with OpenDP's discrete Gaussian noise.

    All other releases of reconbench are for measuring risk: their noise is drawn in floating point
    from a seed and must not be published (Mironov 2012). This command needs the extra
    reconbench[release]. The file as a whole is (ε, δ)-DP for replacing one record; the number of
    records and the domain file are taken as public. Every further release spends its own budget.

    \b
    Examples:
      reconbench data release people.csv --domain domain.json --epsilon 1 --delta 1e-6 -o out.csv
      reconbench assess --release out.csv --truth people.csv --domain domain.json \\
          --targets income --noise-sd SCALE
    """
    from reconbench.datasets import own_table
    from reconbench.mechanisms.marginals_csv import write_release
    from reconbench.mechanisms.vetted_release import release_vetted_marginals

    records = own_table.read_table(table, own_table.read_domain(domain))
    chosen = split_columns(columns or [])
    vetted = release_vetted_marginals(
        records.project(chosen) if chosen else records,
        epsilon,
        delta,
        k=k,
        hidden=split_columns(targets or []),
    )
    write_release(vetted.release, out)
    summary = {
        "marginals": len(vetted.release.workload),
        "cells": vetted.release.cells,
        "scale": vetted.scale,
        "rho": vetted.rho,
        "epsilon": epsilon,
        "delta": delta,
        "relation": vetted.budget.relation.value,
        "file": str(out),
    }
    if as_json:
        typer.echo(json.dumps(summary))
        return
    typer.echo(
        f"{out}: {summary['marginals']} marginals, {summary['cells']} cells; discrete Gaussian of "
        f"scale {vetted.scale:.6g}, {vetted.rho:.4g}-zCDP, ({epsilon:g}, {delta:g})-DP, "
        f"{summary['relation']}"
    )


def _write_csv(text: str, out: Path | None) -> None:
    from reconbench.datasets.atomic_files import write_atomic

    if out is None:
        typer.echo(text, nl=False)
    else:
        write_atomic(out, text)


def _read_card(prior: str) -> dict[str, Any]:
    from reconbench.datasets import shipped
    from reconbench.datasets.network.bif import load_codebook

    if prior.endswith(".bif"):
        card: dict[str, Any] = load_codebook(Path(prior)).get("card", {})
        return card
    return shipped.card(prior) if (shipped.DATA / f"{prior}.bif").is_file() else {}
