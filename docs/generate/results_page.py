"""Write docs/results.md: are the published ceilings loose, or the attacks weak?

    python docs/generate results_page docs/results.csv --datasets docs/datasets.csv --out docs

Writes ``results.md`` and ``img/results-gap.svg`` from data files of ``generate.results_data``: the
games on every column of two data sets, and those on three columns of every data set.
The words are in ``templates/results.md.j2``; every number, and every word that depends on one, is
computed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Sequence
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from generate import results_statistics as statistics
from generate.rendering import render
from generate.results_data import CELL, FILE, ResultsError, split_games
from generate.results_datasets import describe_datasets
from generate.results_statistics import INFORMED, PARTS, REALISTIC
from reconbench.benchmarks.store.optimum import REFERENCES
from reconbench.datasets.atomic_files import write_atomic
from reconbench.reports.statistics import holm
from reconbench.reports.text.number_format import budget, name

WEAK = "rap"
REFERENCE = REFERENCES[REALISTIC]
# Attacks that fit the release and use the prior at most to start or to break ties.
FITS = ("rap", "linear")
FAR = 1.96
FIGURE = Path("img") / "results-gap.svg"
LEVELS = ["weak", "realistic", "informed", "exact", "published_50"]

Record = dict[Hashable, Any]


class Results:
    """All outcomes of one setting, checked to hold what the page is about.

    With ``expected``, attacks are scored by what their guesses are worth given the release, which
    has the mean of the successes and a fraction of their noise; where that is not known, as drawn.
    """

    def __init__(self, lines: pd.DataFrame, *, expected: bool = False) -> None:
        setting = lines[["n", "k", "delta", "mechanism", "metric", "seed"]].drop_duplicates()
        if len(setting) != 1:
            raise ResultsError(
                f"the page is about one n, k, δ, mechanism, metric and seed, got {len(setting)}"
            )
        self.lines, self.games = lines, split_games(lines)
        if expected and self.games["expected"].notna().all():
            self.games["success"] = self.games["expected"]
        self.setting = setting.to_dict("records")[0]
        cells = self.games[["cell", *CELL]].drop_duplicates().set_index("cell")
        columns = cells["dataset"] + " " + cells["column"]
        self.cells = cells.assign(
            label=columns.map(name),
            title=columns.map(name) + ", ε = " + cells["epsilon"].map(budget),
            name=columns + ", ε = " + cells["epsilon"].map("{:g}".format),
        )
        self.levels = statistics.compute_levels(self.games, WEAK)
        if self.levels.empty:
            raise ResultsError(
                f"no column at any budget was played by all of {WEAK}, {REFERENCE} and "
                f"{REFERENCES[INFORMED]}, each with the best possible stated: run the suites "
                "attacks and optimum"
            )
        self.split = statistics.split_gap(self.levels).join(self.cells)

    def to_records(self, frame: pd.DataFrame) -> list[Record]:
        """The rows of a frame by cell, with the names of their cells; None for a missing number."""
        cells = self.cells[self.cells.columns.difference(frame.columns)]
        named = frame.reset_index().join(cells, on="cell")
        return named.astype(object).mask(named.isna(), None).to_dict("records")


def render_page(results: Results, many: Results | None = None) -> str:
    """The whole page, as Markdown; ``many`` are the games on all data sets."""
    games, cells = results.games, results.cells
    realistic = games[games["adversary"] == REALISTIC]
    ours = realistic[realistic["attack"] == REFERENCE].groupby("cell")
    means = realistic.groupby(["cell", "attack"])["success"].agg(fmean)
    noiseless = (
        _select_cells(means, cells.index[cells["epsilon"] == inf]).groupby("attack").agg(fmean)
    )
    optima = pd.DataFrame(index=cells.index).assign(
        lowest=ours["success"].min(),
        best=ours["best"].agg(fmean),
        unconverged=ours["converged"].size() - ours["converged"].sum(),
    )
    leads = statistics.compute_leads(games, REFERENCE)
    comparisons = statistics.compare_by_cell(leads)
    return render(
        "results.md.j2",
        columns=cells.drop_duplicates(["dataset", "column"]).groupby("dataset", sort=False).size(),
        budgets=sorted(cells["epsilon"].unique()),
        setting=results.setting,
        datasets=None if many is None else describe_datasets(many, REFERENCE, WEAK),
        repetitions=results.lines.groupby("adversary")["reps"].agg(_describe_span).to_dict(),
        lost=int(results.lines[["failures", "skipped"]].sum().sum()),
        figure=FIGURE.as_posix(),
        parts={"attack": "the attack", "threat": "the threat model", "bound": "the bound"},
        split=results.to_records(results.split),
        below=int((results.split["weak"] < results.split["prior"]).sum()),
        totals=results.split[[*PARTS, "avoidable", "gap"]].sum().to_dict(),
        by_budget=_average_by_budget(results),
        reference=REFERENCE,
        others=[attack for attack in realistic["attack"].unique() if attack != REFERENCE],
        comparisons=results.to_records(comparisons),
        blocks=_compare_by_budget(leads, cells),
        cells=results.to_records(optima[optima.index.isin(realistic["cell"])]),
        means=means.to_dict(),
        verdicts=comparisons["verdict"].to_dict(),
        noiseless=noiseless.sort_values(ascending=False, kind="stable"),
        fits=FITS,
        calibrations=_calibrate_groups(results),
        tightness=results.to_records(statistics.measure_tightness(games)),
        least_expected=statistics.LEAST_EXPECTED,
        least_games=statistics.LEAST_GAMES,
        level=statistics.LEVEL,
        far=FAR,
        inf=inf,
    )


def _select_cells(values: pd.Series[Any], cells: pd.Index[Any]) -> pd.Series[Any]:
    return values.loc[values.index.get_level_values("cell").isin(cells)]


def _describe_span(reps: pd.Series[Any]) -> str:
    """``20``, or ``18 to 20`` repetitions."""
    sizes = [len(each) for each in reps]
    return " to ".join(map(str, sorted({min(sizes), max(sizes)})))


def _group_by_budget(cells: pd.DataFrame) -> dict[str, pd.Index[Any]]:
    """The cells of each ε, and all of them."""
    budgets = sorted(cells["epsilon"].unique())
    groups = {budget(epsilon): cells.index[cells["epsilon"] == epsilon] for epsilon in budgets}
    return groups | {"all": cells.index}


def _average_by_budget(results: Results) -> list[Record]:
    """Means over cells with standard errors, by ε and over all."""
    lines: list[Record] = []
    for label, cells in _group_by_budget(results.split).items():
        numbers = results.split.loc[cells].select_dtypes(float)
        lines.append({column: fmean(numbers[column]) for column in numbers} | {"label": label})
        for part in ("attack", "threat"):
            played = _select_cells(results.levels[part], cells)
            lines[-1][f"{part}_error"] = statistics.estimate_block_error(played)
    return lines


def _compare_by_budget(leads: pd.Series[float], cells: pd.DataFrame) -> dict[Hashable, Record]:
    """Tests over all columns by ε and attack; p-values adjusted by Holm over all of them."""
    tests = pd.concat(
        {
            label: statistics.compare_over_cells(_select_cells(leads, group))
            for label, group in _group_by_budget(cells).items()
        }
    )
    return tests.assign(p=holm(tests["p"].tolist())).to_dict("index")


def _calibrate_groups(results: Results) -> list[Record]:
    """What the best possible attacks expected and got, by attack and with or without noise."""
    realistic, informed = (statistics.calibrate(results.games, who) for who in REFERENCES)
    noisy = results.cells["epsilon"].loc[realistic.index] < inf
    groups = {
        f"{REFERENCE}, with noise": realistic[noisy],
        f"{REFERENCE}, ε = ∞": realistic[~noisy],
        REFERENCES[INFORMED]: informed,
    }
    return [
        {"label": label, "cells": results.to_records(group), "test": statistics.chi_square(group)}
        for label, group in groups.items()
    ]


def draw_gap(results: Results) -> str:
    """The gap of every cell as a stacked bar: a standalone SVG file."""
    split = results.split
    return render(
        "results_gap.svg.j2",
        weak=WEAK,
        n=results.setting["n"],
        budgets=sorted(split["epsilon"].unique()),
        columns=list(dict.fromkeys(split["dataset"] + " " + split["column"])),
        bars=results.to_records(split),
        levels=LEVELS,
        edges=split[LEVELS].cummax(axis=1).to_dict("index"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate results_page", description=__doc__)
    parser.add_argument("data", type=Path, help="the CSV file of generate.results_data")
    parser.add_argument("--datasets", type=Path, help="the same, of the games on all data sets")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    chosen = parser.parse_args(arguments)
    try:
        results = Results(FILE.read_csv(chosen.data.read_text(encoding="utf-8")))
        many = None
        if chosen.datasets is not None:
            text = chosen.datasets.read_text(encoding="utf-8")
            many = Results(FILE.read_csv(text), expected=True)
        (chosen.out / FIGURE).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(chosen.out / "results.md", render_page(results, many))
        write_atomic(chosen.out / FIGURE, draw_gap(results))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
