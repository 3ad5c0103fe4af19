"""Fit the shipped priors from raw files of the public sources.

    python -m reconbench.datasets.shipped.fit_priors --extracts DIR [--only NAME ...]

``DIR`` holds the raw files that the recipes name; docs/data.md says where each came from. Networks,
codebooks and provenance cards go to ``datasets/shipped/data``. The same file gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.domain import Domain
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import save_prior
from reconbench.datasets.network.fit import (
    ChowLiu,
    HillClimbBIC,
    Independent,
    StructureSearch,
    fit,
    score_held_out,
)
from reconbench.datasets.shipped import DATA
from reconbench.datasets.shipped.recipes import RECIPES, Recipe
from reconbench.datasets.table import Table

HELD_OUT = 0.2
SPLIT_SEED = 0
DIGITS = 7
SELECTION = "smoothing and max_cells among a few values, by score and size, on the held-out share"


def build(recipe: Recipe, folder: Path) -> tuple[BayNet, dict[str, Any]]:
    """The network fitted to the whole extract, and its card with held-out scores."""
    raw = {name: (folder / name).read_bytes() for name in recipe.files}
    table = recipe.read(folder)
    net = _rounded(fit(table, recipe.search, recipe.smoothing))
    rivals: dict[str, StructureSearch] = {
        "shipped": recipe.search,
        "hill_climb_bic": HillClimbBIC(),
        "chow_liu": ChowLiu(),
        "independent": Independent(),
    }
    scores = score_held_out(table, rivals, recipe.smoothing, share=HELD_OUT, seed=SPLIT_SEED)
    card: dict[str, Any] = {
        **recipe.provenance,
        "records": len(table),
        "data_sha256": hashlib.sha256(b"".join(raw.values())).hexdigest(),
        "fitting": {
            "structure": repr(recipe.search),
            "smoothing": recipe.smoothing,
            "digits": DIGITS,
            "cpt_cells": sum(cpt.size for cpt in net.cpts),
        },
        "held_out": {
            "share": HELD_OUT,
            "split_seed": SPLIT_SEED,
            "mean_log_likelihood_nats": {name: round(score, 4) for name, score in scores.items()},
        },
    }
    if len(raw) > 1:  # data_sha256 is that of all files, one after the other
        card["files_sha256"] = {
            name: hashlib.sha256(content).hexdigest() for name, content in raw.items()
        }
    if recipe.with_counts:
        card["fitting"]["selection"] = SELECTION
        card["furthest_column"] = measure_furthest_column(net, table)
        card["furthest_pair"] = measure_furthest_pair(net, table)
        card["counts"] = {
            attribute.name: np.bincount(
                table.column(attribute.name), minlength=attribute.size
            ).tolist()
            for attribute in table.domain
        }
    return net, card


def measure_furthest_column(net: BayNet, table: Table) -> dict[str, Any]:
    """The column whose shares in the table are furthest from the network's, in total variation.

    Smoothing and contexts that the table does not have leave a little.
    """
    gaps = {}
    for attribute in net.domain:
        shares = np.bincount(table.column(attribute.name), minlength=attribute.size) / len(table)
        model = np.exp(net.log_evidence(Table.of_all_values(Domain((attribute,)))))
        gaps[attribute.name] = float(np.abs(shares - model).sum() / 2)
    furthest = max(gaps, key=gaps.__getitem__)
    return {"column": furthest, "total_variation": round(gaps[furthest], 4)}


def measure_furthest_pair(net: BayNet, table: Table) -> dict[str, Any]:
    """The two columns whose joint shares in the table are furthest from the network's.

    The distance is the Kullback-Leibler divergence in nats; pairs of a sample from the network
    itself are at about half their number of cells over the number of records.
    """
    gaps = {}
    for pair in combinations(net.domain.names, 2):
        part = table.project(pair)
        cells, counts = np.unique(part.codes, axis=0, return_counts=True)
        shares = counts / counts.sum()
        model = net.log_evidence(Table(part.domain, cells))
        gaps[pair] = float((shares * (np.log(shares) - model)).sum())
    furthest = max(gaps, key=gaps.__getitem__)
    return {"columns": list(furthest), "divergence_nats": round(gaps[furthest], 4)}


def _rounded(net: BayNet) -> BayNet:
    """CPTs to a few significant digits, so that the shipped files stay small.

    The largest cell of a row takes up the slack, to 12 decimals, so that rows still sum to one.
    """
    cpts = []
    for cpt in net.cpts:
        scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(cpt)))
        rows = (np.round(cpt * scale) / scale).reshape(-1, cpt.shape[-1])
        largest = (np.arange(len(rows)), rows.argmax(axis=1))
        rows[largest] = 0.0
        rows[largest] = np.round(1.0 - rows.sum(axis=1), 12)
        cpts.append(rows.reshape(cpt.shape))
    return BayNet(net.domain, net.parents, tuple(cpts), net.visit_order)


def main() -> None:
    # pgmpy's hill climbing breaks ties in the order of hashes, which moves that rival's score in
    # the card (not the network). Hashes can only be fixed from the start of a process.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})
    names = [recipe.name for recipe in RECIPES]
    parser = argparse.ArgumentParser(description="Fit the shipped priors from raw files.")
    parser.add_argument("--extracts", type=Path, required=True, help="folder of the raw files")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    chosen = [recipe for recipe in RECIPES if recipe.name in arguments.only]
    for name in (name for recipe in chosen for name in recipe.files):
        if not (arguments.extracts / name).is_file():
            parser.error(f"no file {arguments.extracts / name}; fit the others with --only")
    for recipe in chosen:
        net, card = build(recipe, arguments.extracts)
        save_prior(net, arguments.out / f"{recipe.name}.bif", card)


if __name__ == "__main__":
    main()
