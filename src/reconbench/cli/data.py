"""`reconbench data`: describe, fit and sample priors; fetch public tables; release marginals."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from reconbench.cli._options import Decimal, Encoding, Json, Separator, split_columns
from reconbench.cli.sources import fetch
from reconbench.cli.terminal.own_tables import describe_misfit, read_records, say, write_csv
from reconbench.cli.terminal.tables import make_printable, print_pairs, print_table

app = typer.Typer(
    help="Describe priors, fit one to your own table, sample tables, fetch public sources, release "
    "marginals.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


# One record says nothing about how columns hang together.
FEWEST_RECORDS = 2


class Structure(StrEnum):
    GREEDY = "greedy"
    HILL_CLIMB = "hill-climb"
    CHOW_LIU = "chow-liu"
    INDEPENDENT = "independent"


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
      reconbench data describe bn:insurance
      reconbench data describe prior.bif --json
    """
    from reconbench.benchmarks import plugins
    from reconbench.datasets import BayNet
    from reconbench.datasets.standard_networks import PREFIX

    loaded = plugins.load_prior(prior)
    card = plugins.read_card(prior)
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
        str(card.get("title", prior)),
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
    shown = {
        key: make_printable(f"{value:,}" if isinstance(value, int) else value)
        for key, value in card.items()
        if isinstance(value, str | int)
    }
    print_pairs(shown)
    game = card.get("game")
    if prior.startswith(PREFIX) and isinstance(game, dict):
        flags = [part for key, names in game.items() for part in (f"--{key}", ",".join(names))]
        command = ["reconbench", "game", "--dataset", prior, *flags, "--epsilon", "1"]
        typer.echo(f"play: {shlex.join(command)}")
    scores = card.get("held_out", {}).get("mean_log_likelihood_nats", {})
    if scores:
        print_table(
            "Held-out log-likelihood, nats per record (larger is better)",
            ["model", "score"],
            [[name, f"{score:.3f}"] for name, score in scores.items()],
        )


@app.command()
def fit(
    table: Annotated[Path, typer.Argument(help="A CSV file with a header, or a .parquet file.")],
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
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    as_json: Json = False,
) -> None:
    """Fit a prior to your own table.

    The attacker is assumed to know labels and bin edges, so they must be public: they come from a
    domain file, not from the table. `--suggest-domain` drafts one to edit.

    How a CSV is written (separator, encoding, decimal sign) is found out and said; where it cannot
    be told, the error names the option that decides. What the network cannot express is reported:
    the pairs of columns whose counts in the table it does not explain.

    \b
    Examples:
      reconbench data fit table.csv --suggest-domain domain.json
      reconbench data fit table.csv --domain domain.json -o prior.bif
      reconbench game --dataset prior.bif --targets income --epsilon 1
    """
    from reconbench.datasets import DomainError, save_prior
    from reconbench.datasets.atomic_files import write_json_atomic
    from reconbench.datasets.network import fit as fitting
    from reconbench.datasets.network.bif import codebook_path
    from reconbench.datasets.network.misfit import measure_misfit
    from reconbench.datasets.own_table import CsvStyle, read_domain
    from reconbench.datasets.own_table.draft import draft_domain, is_draft

    style = CsvStyle(separator, encoding, decimal)
    if suggest_domain is not None:
        if suggest_domain.exists() and not is_draft(suggest_domain):
            raise ValueError(
                f"{suggest_domain} exists and is no draft: it would be lost; choose another name"
            )
        draft, found = draft_domain(table, style)
        write_json_atomic(suggest_domain, draft)
        say(table, found.describe())
        typer.echo(
            f"{suggest_domain}: a draft; read its notes and edit it, then use it with --domain"
        )
        return
    if domain is None or out is None:
        raise ValueError(
            "data fit needs --domain FILE and --out FILE.bif; "
            "--suggest-domain FILE drafts a domain file to edit"
        )
    codebook = codebook_path(out)
    for given in (domain, table):
        if codebook.resolve() == given.resolve():
            raise ValueError(
                f"{out} comes with a codebook, {codebook}, which would overwrite {given}; choose "
                "another name"
            )
    own = read_records(table, read_domain(domain), style)
    records = own.table
    if len(records) < FEWEST_RECORDS:
        raise ValueError(
            f"{table} has {len(records)} record; a network needs at least {FEWEST_RECORDS}"
        )
    searches = fitting.list_searches(max_parents, smoothing)
    net = fitting.fit(records, searches[structure], smoothing)
    names = (structure, Structure.CHOW_LIU, Structure.INDEPENDENT)
    compared = {name.value: searches[name] for name in names}
    scores = fitting.score_held_out(records, compared, smoothing) if len(records) >= 10 else {}
    card: dict[str, Any] = {
        "title": table.name,
        "records": len(records),
        "records_dropped": own.dropped,
        "data_sha256": records.sha256(),
        "fitting": {"structure": repr(searches[structure]), "smoothing": smoothing},
        "held_out": {"mean_log_likelihood_nats": scores},
    }
    try:
        misfit = measure_misfit(net, records)
        card["misfit"] = misfit.to_json()
        lines = describe_misfit(misfit)
    except DomainError as error:
        lines = [f"whether the network misses anything is not known: {error}"]
    save_prior(net, out, card)
    if as_json:
        read = {"format": own.format.describe(), "missing": own.missing, "other": own.other}
        summary = {"prior": str(out), "codebook": str(codebook), "read": read, **card}
        typer.echo(json.dumps(summary, ensure_ascii=False))
        return
    for line in lines:
        typer.echo(line)
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
    write_csv(table.to_csv(), out)


app.command(help=fetch.HELP)(fetch.fetch)


@app.command()
def release(
    table: Annotated[Path, typer.Argument(help="Your table: CSV with a header, or .parquet.")],
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
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
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
    from reconbench.datasets.own_table import CsvStyle, read_domain
    from reconbench.mechanisms.marginals_csv import write_release
    from reconbench.mechanisms.vetted_release import release_vetted_marginals

    style = CsvStyle(separator, encoding, decimal)
    records = read_records(table, read_domain(domain), style).table
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
