"""Write docs/results.csv, the data of the results page, from the stores of its suites.

    python docs/generate results_data results/attacks results/optimum --out docs/results.csv

One line per attack, column and budget, with the outcome of every repetition, so that each number of
the page can be computed again from this file alone. ``generate.results_page`` does so.

Lists (``successes``, ``expected``, ``best``, ``exact``) go with ``reps``. ``expected`` is what the
guesses are worth given the release. ``best`` is what the best possible
attack expects and ``exact`` the prior-exact ceiling on the mean; only reference attacks have them.
``best_error`` is the Monte Carlo error of the mean of ``best``, ``unconverged`` the repetitions in
which it is not to be trusted. The other numbers are means over repetitions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd

from generate.outcome_lists import OutcomeFile
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store import export_import
from reconbench.benchmarks.store.optimum import REFERENCES, pool_optima, read_stated_optimum
from reconbench.datasets.atomic_files import write_atomic

PUBLISHED = "thm35"
EXACT = "prior-exact"
CELL = ["dataset", "column", "values", "epsilon"]
LISTS = {"reps": int, "successes": int, "best": float, "unconverged": int, "exact": float}
LISTS |= {"expected": float}
# Lists that files from before them do not have.
LATER = ("expected",)
TEXTS = ("dataset", "column", "mechanism", "metric", "adversary", "attack")
OPTIONAL = ("published_50", "published_95", "best_error")
COLUMNS = (
    *("dataset", "column", "values", "n", "k", "epsilon", "delta", "mechanism", "metric"),
    *("adversary", "attack", "seed", "failures", "skipped", "prior", *OPTIONAL, *LISTS),
)


FILE = OutcomeFile(COLUMNS, LISTS, decimals=2, texts=TEXTS, optional=OPTIONAL, later=LATER)


class ResultsError(ValueError):
    """Rows of which no results page can be made."""


def read_current_rows(folder: Path) -> list[Result]:
    """Read every current row of a store; rows made by other code are left out."""
    entries = export_import.read(folder)
    return [entry.row for entry in export_import.drop_stale(entries)]


def join_repetitions(rows: Iterable[Result]) -> pd.DataFrame:
    """Join the repetitions of each attack and game to one line, in the order of the file."""
    cells: dict[tuple[object, ...], dict[int, Result]] = {}
    for row in rows:
        by_rep = cells.setdefault(row.cell, {})
        if row.rep in by_rep:
            raise ResultsError(
                f"two rows of {row.attack!r} on {', '.join(row.targets)}, ε = {row.epsilon:g}, "
                f"repetition {row.rep}: the stores mix versions; run into an empty folder"
            )
        by_rep[row.rep] = row
    lines = [_join_line([by_rep[rep] for rep in sorted(by_rep)]) for by_rep in cells.values()]
    lines.sort(key=_sort_key)
    return pd.DataFrame(lines, columns=COLUMNS)


def _join_line(rows: Sequence[Result]) -> dict[str, object]:
    first = rows[0]
    if len(first.targets) != 1:
        raise ResultsError(f"the page shows single columns, got targets {', '.join(first.targets)}")
    (column,) = first.targets
    prior = plugins.load_prior(first.dataset)
    if prior.sha256() != first.data_hash:
        raise ResultsError(f"{first.dataset} has another prior now than when its rows were played")
    done = [row for row in rows if row.status is Status.OK and row.successes is not None]
    stated = {
        row.rep: optimum
        for row in done
        if row.attack in REFERENCES.values() and (optimum := read_stated_optimum(row)) is not None
    }
    if stated and len(stated) < len(done):
        raise ResultsError(
            f"{first.attack!r} on {column}, ε = {first.epsilon:g} states the best possible in "
            f"{len(stated)} of {len(done)} repetitions; run into an empty folder"
        )
    trusted = [optimum for optimum in stated.values() if optimum.converged]
    published = [row.ceilings[PUBLISHED] for row in done if PUBLISHED in row.ceilings]
    options = json.dumps(first.attack_options, sort_keys=True) if first.attack_options else ""
    return {
        "dataset": first.dataset,
        "column": column,
        "values": prior.domain[column].size,
        "n": first.n,
        "k": int(first.facts["mechanism.k"]),
        "epsilon": first.epsilon,
        "delta": first.delta,
        "mechanism": first.mechanism,
        "metric": first.metric,
        "adversary": first.adversary,
        "attack": f"{first.attack} {options}".strip(),
        "seed": first.seed,
        "failures": sum(row.status is Status.FAILED for row in rows),
        "skipped": sum(row.status is Status.SKIPPED for row in rows),
        "prior": fmean(row.baseline_expected for row in rows),
        "published_50": fmean(each["0.5"] for each in published) if published else None,
        "published_95": fmean(each["0.95"] for each in published) if published else None,
        "best_error": pool_optima(trusted).error if trusted else None,
        "reps": tuple(row.rep for row in done),
        "successes": tuple(row.successes for row in done),
        "best": tuple(
            np.nan if optimum.expected is None else optimum.expected for optimum in stated.values()
        ),
        "unconverged": tuple(rep for rep, optimum in stated.items() if not optimum.converged),
        "exact": tuple(row.ceilings[EXACT]["mean"] for row in done) if stated else (),
        "expected": _read_expected(done),
    }


def _read_expected(rows: Sequence[Result]) -> tuple[float, ...]:
    """What the guesses are worth given the release, if that is known in every repetition."""
    scores = [row.expected_successes for row in rows]
    return tuple(score for score in scores if score is not None) if None not in scores else ()


def _sort_key(line: dict[str, object]) -> tuple[object, ...]:
    position = plugins.load_prior(str(line["dataset"])).domain.position(str(line["column"]))
    names = ("epsilon", "adversary", "attack", "seed")
    return (line["dataset"], position, *(line[name] for name in names))


def split_games(lines: pd.DataFrame) -> pd.DataFrame:
    """One row per game: ``rep``, ``success``, ``expected``, ``best``, ``converged``, ``exact``.

    ``cell`` numbers the columns at a budget in the order of the lines.
    """
    games = lines.assign(cell=lines.groupby(CELL, sort=False).ngroup())
    games = games[games["reps"].map(len) > 0]
    for line in games.to_dict("records"):
        for name in ("successes", "best", "exact", "expected"):
            if len(line[name]) != len(line["reps"]) and (line[name] or name == "successes"):
                raise ResultsError(
                    f"{line['attack']!r} on {line['column']}: {len(line[name])} {name} for "
                    f"{len(line['reps'])} repetitions"
                )
    pairs = list(zip(games["reps"], games["unconverged"], strict=True))
    games["converged"] = [[rep not in unconverged for rep in reps] for reps, unconverged in pairs]
    for name in ("best", "exact", "expected"):
        games[name] = [
            values or (np.nan,) * len(reps)
            for values, reps in zip(games[name], games["reps"], strict=True)
        ]
    by_rep = {"reps": "rep", "successes": "success"}
    by_rep |= {name: name for name in ("best", "exact", "expected")}
    games = games.explode([*by_rep, "converged"]).rename(columns=by_rep)
    types = {"rep": int, "success": int, "converged": bool}
    types |= dict.fromkeys(("best", "exact", "expected"), float)
    return games.astype(types).reset_index(drop=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate results_data", description=__doc__)
    parser.add_argument("stores", nargs="+", type=Path, help="output folders of `reconbench run`")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    chosen = parser.parse_args(arguments)
    try:
        rows = (row for folder in chosen.stores for row in read_current_rows(folder))
        write_atomic(chosen.out, FILE.to_csv(join_repetitions(rows)))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
