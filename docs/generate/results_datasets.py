"""The part of the results page on many data sets: does the answer hold on other data?

The games are those of the suites `datasets` and `datasets-optimum`, in a data file of
``generate.results_data``. Every data set counts alike, whatever its number of columns.
"""

from __future__ import annotations

from collections.abc import Hashable
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd

from generate import results_statistics as statistics
from generate.results_statistics import PARTS
from reconbench.reports.statistics import flip_blocks, holm
from reconbench.reports.text.number_format import budget

if TYPE_CHECKING:
    from generate.results_page import Results

LEVELS = ["prior", "weak", "realistic", "informed", "exact", "published_50"]

Record = dict[Hashable, Any]


def describe_datasets(results: Results, reference: str, weak: str) -> Record:
    """What the template says of many data sets."""
    split = results.split
    by_dataset = _average_by_dataset(results, reference, weak)
    by_budget = [
        _average(split[split["epsilon"] == epsilon]) | {"label": budget(epsilon)}
        for epsilon in sorted(split["epsilon"].unique())
    ]
    overall = _average(split)
    return {
        "names": [line["dataset"] for line in by_dataset],
        "budgets": sorted(results.cells["epsilon"].unique()),
        "setting": results.setting,
        "repetitions": _describe_span(results.lines["reps"].map(len)),
        "lost": int(results.lines[["failures", "skipped"]].sum().sum()),
        "lines": by_dataset,
        "by_budget": [*by_budget, overall | {"label": "all"}],
        "overall": overall,
        "largest": {part: sum(line["largest"] == part for line in by_dataset) for part in PARTS},
        "ahead": [line for line in by_dataset if line["verdict"] > 0],
        "behind": [line for line in by_dataset if line["verdict"] < 0],
        "fallback": int(split["fallback"].sum()),
        "cells": len(split),
        "missing": sorted(set(results.cells["dataset"]) - set(split["dataset"])),
    }


def _average(split: pd.DataFrame) -> Record:
    """Levels and parts: the mean over data sets of the mean over the cells of each."""
    columns = [*LEVELS, *PARTS, "slack", "avoidable", "gap"]
    means = split.groupby("dataset")[columns].agg(fmean)
    return {column: fmean(means[column]) for column in columns}


def _average_by_dataset(results: Results, reference: str, weak: str) -> list[Record]:
    """A line per data set, most to gain first, with a test of the reference against ``weak``."""
    leads = statistics.compute_leads(results.games, reference)
    leads = leads[leads.index.get_level_values("attack") == weak]
    lines: list[Record] = []
    for dataset, group in results.split.groupby("dataset", sort=True):
        line = _average(group)
        played = leads[leads.index.get_level_values("cell").isin(group.index)]
        own = results.levels[results.levels.index.get_level_values("cell").isin(group.index)]
        line |= {
            "dataset": dataset,
            "columns": list(dict.fromkeys(group["column"])),
            "largest": max(PARTS, key=line.__getitem__),
            "lead": fmean(played),
            "p": flip_blocks(played.groupby("rep").sum().tolist()),
            "attack_error": statistics.estimate_block_error(own["attack"]),
            "threat_error": statistics.estimate_block_error(own["threat"]),
        }
        lines.append(line)
    for line, p in zip(lines, holm([line["p"] for line in lines]), strict=True):
        significant = p < statistics.LEVEL
        line["adjusted"] = p
        line["verdict"] = (1 if line["lead"] > 0 else -1) if significant else 0
    return sorted(lines, key=lambda line: line["prior"] - line["exact"])


def _describe_span(sizes: pd.Series[int]) -> str:
    return " to ".join(map(str, sorted({sizes.min(), sizes.max()})))
