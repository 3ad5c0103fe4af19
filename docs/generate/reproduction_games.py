"""Write docs/reproduction-games.csv: the games behind the figures of Swanberg 2025, from a store.

    reconbench run swanberg --reps 30 --out results/swanberg
    python docs/generate reproduction_games results/swanberg

One line per attack and game: counts of n records, means over repetitions with 95 % intervals. The
page of ``generate.reproduction`` reads that file and plays nothing. The committed file has 30
tables for every game of the four figures.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from generate.results_data import FILE, read_current_rows
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.store.summary import summarise
from reconbench.datasets.atomic_files import write_atomic

DOCS = Path(__file__).resolve().parents[1]
PLAYED = DOCS / "reproduction-games.csv"
# Single columns, table by table: see ``generate.results_data``.
OUTCOMES = DOCS / "results.csv"
# Where the page looks at figure 5.
EPSILONS = (0.1, 1, 10, 100, inf)
PROVED = ("fdp-recursion", "profile-recursion")

Attacks = dict[str, dict[Hashable, Any]]


class PlayedError(ValueError):
    """No played games to show."""


def summarise_games(rows: Sequence[Result]) -> pd.DataFrame:
    """The finished games among rows, with the ceilings of Theorem 3.5 and the tightest proved."""
    lines = []
    for game in summarise(rows):
        published = game.ceilings.get("thm35")
        if game.success is None or game.success_low is None or published is None:
            continue
        lines.append(
            {
                "dataset": game.dataset,
                "targets": ", ".join(game.targets),
                "columns": len(game.targets),
                "known": len(game.known),
                "epsilon": game.epsilon,
                "metric": game.metric,
                "attack": game.attack,
                "n": game.n,
                "repetitions": game.repetitions,
                "success": game.success,
                "low": game.success_low,
                "high": game.success_high,
                "prior": game.baseline,
                "prior_expected": game.baseline_expected,
                "ceiling_5": published["0.05"],
                "ceiling_50": published["0.5"],
                "ceiling_95": published["0.95"],
                "tightest_95": min(
                    game.ceilings[name]["0.95"] for name in PROVED if name in game.ceilings
                ),
            }
        )
    return pd.DataFrame(lines).round(3)


def read_games() -> pd.DataFrame:
    """The games in the repository."""
    if not PLAYED.is_file():
        raise PlayedError(
            f"no {PLAYED}: run `reconbench run swanberg --out results/swanberg`, then "
            "`python docs/generate reproduction_games results/swanberg`"
        )
    return pd.read_csv(PLAYED)


def describe_figures(games: pd.DataFrame) -> dict[str, Any]:
    """What ``templates/reproduction_figures.md.j2`` shows of figures 4 to 7."""
    tables = sorted({games["repetitions"].min(), games["repetitions"].max()})
    alone = (games["columns"] == 1) & (games["known"] > 3) & (games["epsilon"] == 1)
    rap = games[alone & (games["metric"] == "exact") & (games["attack"] == "rap")]
    behind = rap[rap["success"] < rap["prior"]]
    hidden = [
        (dataset, columns, attacks)
        for dataset in ("acs", "fire")
        for columns in range(1, 14)
        if (attacks := _select_hidden(games, dataset, columns))
    ]
    return {
        "repetitions": " to ".join(map(str, tables)),
        "sex": _select_column(games, "acs", "SEX"),
        "sex_gains": compute_gains_by_table("acs", "SEX", 1.0),
        "columns": len(rap),
        "low": rap.loc[rap["ceiling_95"] < 80, "targets"].tolist(),
        "behind": (behind["prior"] - behind["success"]).tolist(),
        "beyond": int((behind["prior"] > behind["high"]).sum()),
        "epsilons": EPSILONS,
        "schl": _select_column(games, "acs", "SCHL", inf),
        "schl_gains": _compute_gains(games, "acs", "SCHL"),
        "schl_most": count_distinguishable("acs", "SCHL", int(tables[-1])),
        "als": _select_column(games, "fire", "ALS Unit", inf),
        "als_gains": _compute_gains(games, "fire", "ALS Unit"),
        "als_most": count_distinguishable("fire", "ALS Unit", int(tables[-1])),
        "hidden": hidden,
        "fire": {columns: _select_hidden(games, "fire", columns)["rap"] for columns in (1, 3)},
        "age": _select_column(games, "acs", "AGEP", metric="l1:1"),
        "age_signs": _count_signs(games, "acs", "AGEP"),
        "zip_signs": _count_signs(games, "fire", "Zipcode of Incident"),
    }


def _index_by_attack(games: pd.DataFrame) -> Attacks:
    """Games by attack, each with its success and interval as text; none without all three."""
    found = {
        game["attack"]: game
        | {"shown": f"{game['success']:.1f} [{game['low']:.1f}, {game['high']:.1f}]"}
        for game in games.to_dict("records")
    }
    return found if {"prior", "rap", "posterior"} <= found.keys() else {}


def _select_column(
    games: pd.DataFrame, dataset: str, column: str, epsilon: float = 1.0, metric: str = "exact"
) -> Attacks:
    """All attacks on one column with every other column known."""
    chosen = (games["dataset"] == dataset) & (games["targets"] == column) & (games["known"] > 3)
    chosen &= (games["epsilon"] == epsilon) & (games["metric"] == metric)
    attacks = _index_by_attack(games[chosen])
    if not attacks:
        raise PlayedError(f"{PLAYED.name} lacks {dataset} {column} at epsilon {epsilon:g}")
    return attacks


def _select_hidden(games: pd.DataFrame, dataset: str, columns: int) -> Attacks:
    """All attacks of figure 6 on this many hidden columns."""
    chosen = (games["dataset"] == dataset) & (games["columns"] == columns)
    return _index_by_attack(games[chosen & (games["known"] == 3) & (games["epsilon"] == 3)])


def _compute_gain(attacks: Attacks) -> float:
    return float(attacks["rap"]["success"] - attacks["prior"]["success"])


def _compute_gains(games: pd.DataFrame, dataset: str, column: str) -> list[float]:
    """RAP's gain over the prior by ε, to a tenth and without the sign of a zero."""
    gains = [_compute_gain(_select_column(games, dataset, column, epsilon)) for epsilon in EPSILONS]
    return [round(gain, 1) + 0 for gain in gains]


def _count_signs(games: pd.DataFrame, dataset: str, column: str) -> list[int]:
    """At how many errors RAP is ahead of the prior, level with it, and behind."""
    of_column = games[(games["dataset"] == dataset) & (games["targets"] == column)]
    metrics = set(of_column["metric"]) - {"exact"}
    gains = [
        _compute_gain(_select_column(games, dataset, column, metric=metric)) for metric in metrics
    ]
    return [sum(np.sign(gain) == sign for gain in gains) for sign in (1, 0, -1)]


def compute_gains_by_table(dataset: str, column: str, epsilon: float) -> list[int]:
    """RAP's gain over the prior on each table of the results page."""
    successes: dict[str, dict[int, int]] = {}
    for line in FILE.read_csv(OUTCOMES.read_text(encoding="utf-8")).to_dict("records"):
        setting = [line[name] for name in ("dataset", "column", "epsilon", "adversary")]
        if setting == [dataset, column, epsilon, "realistic"]:
            successes[line["attack"]] = dict(zip(line["reps"], line["successes"], strict=True))
    return [successes["rap"][rep] - prior for rep, prior in successes["prior"].items()]


def count_distinguishable(dataset: str, column: str, repetitions: int, n: int = 100) -> float:
    """The most right guesses of a column, mean over tables, however much a release reveals.

    Records that are alike in all known columns get one guess, the likeliest of theirs: swapping
    their hidden values changes neither the prior nor any marginal.
    """
    prior, game = plugins.load_prior(dataset), Game(dataset, (column,), inf, n=n)
    most = []
    for rep in range(repetitions):
        table = prior.sample(n, game.repeat(rep).make_stream("table", prior, Seeds.TABLE))
        hidden = table.domain.position(column)
        groups: dict[bytes, Counter[int]] = {}
        for codes in table.codes:
            known = bytes(np.delete(codes, hidden))
            groups.setdefault(known, Counter())[int(codes[hidden])] += 1
        most.append(sum(max(group.values()) for group in groups.values()))
    return fmean(most)


def main(folder: str) -> None:
    rows = read_current_rows(Path(folder))
    write_atomic(PLAYED, summarise_games(rows).to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    main(sys.argv[1])
