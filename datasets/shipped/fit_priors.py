"""Fit the shipped priors from extracts of the public sources.

    python -m reconbench.datasets.shipped.fit_priors --extracts DIR

``DIR`` holds ``acs.csv`` and ``fire.csv``: integer codes into the domains of
``reconbench.datasets.shipped.codebooks``. Networks, codebooks and provenance cards go to
``datasets/data``.
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.domain import Domain
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import save_prior
from reconbench.datasets.network.fit import (
    ChowLiu,
    GreedyMutualInformation,
    HillClimbBIC,
    Independent,
    StructureSearch,
    fit,
    score_held_out,
)
from reconbench.datasets.shipped import DATA, codebooks
from reconbench.datasets.table import Table

HELD_OUT = 0.2
SPLIT_SEED = 0
DIGITS = 7


@dataclass(frozen=True)
class Recipe:
    """What to fit, and what a reader must know of where it came from."""

    name: str
    domain: Domain
    search: GreedyMutualInformation
    smoothing: float
    provenance: dict[str, str]


RECIPES = (
    Recipe(
        name="acs",
        domain=codebooks.ACS,
        search=GreedyMutualInformation(max_parents=3, max_cells=20_000, smoothing=2.0),
        smoothing=2.0,
        provenance={
            "title": "American Community Survey, Montana",
            "source": "US Census Bureau, ACS Public Use Microdata Sample, 1-year person file "
            "(2018 or before), the 16 features of folktables' ACSEmployment",
            "licence": "public domain (US Census Bureau)",
            "extract": "10,336 people of Montana; AGEP in decades; values that PUMS leaves blank "
            "are a label of their own",
            "difference": "Swanberg 2025 fitted California 2018. Montana is smaller and more "
            "homogeneous, so prior success is higher on most columns and absolute figures are "
            "not comparable with the paper's. `reconbench data fetch acs --state CA` followed by "
            "`reconbench data fit` gives a California prior.",
        },
    ),
    Recipe(
        name="fire",
        domain=codebooks.FIRE,
        search=GreedyMutualInformation(max_parents=3, max_cells=15_000, smoothing=1.0),
        smoothing=1.0,
        provenance={
            "title": "San Francisco Fire Department Calls for Service",
            "source": "City and County of San Francisco, DataSF, data set nuek-vuh3, the ten "
            "categorical columns",
            "licence": "Open Data Commons Public Domain Dedication and Licence (PDDL)",
            "extract": "18,114 unit responses of 31 December 2016 to 7 January 2017 and of 7 to "
            "20 April 2020; about two rows a call, so many near-duplicates",
            "difference": "Swanberg 2025 used the whole file at the time, with the same ten "
            "columns; 21 days hold fewer rare values, and the codebook here is the public one, "
            "so that Zipcode of Incident has 28 values and not 26.",
        },
    ),
)


def build(recipe: Recipe, extract: Path) -> tuple[BayNet, dict[str, Any]]:
    """The network fitted to the whole extract, and its card with held-out scores."""
    raw = extract.read_bytes()
    header = extract.open(encoding="utf-8").readline().rstrip("\r\n").split(",")
    codes = np.loadtxt(extract, delimiter=",", skiprows=1, dtype=np.int64, encoding="utf-8")
    table = Table(recipe.domain.project(header), codes).project(recipe.domain.names)
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
        "data_sha256": hashlib.sha256(raw).hexdigest(),
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
    return net, card


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
    parser = argparse.ArgumentParser(description="Fit the shipped priors from extracts.")
    parser.add_argument("--extracts", type=Path, required=True, help="folder of acs.csv, fire.csv")
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    for recipe in RECIPES:
        net, card = build(recipe, arguments.extracts / f"{recipe.name}.csv")
        save_prior(net, arguments.out / f"{recipe.name}.bif", card)


if __name__ == "__main__":
    main()
