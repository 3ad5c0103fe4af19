"""Write docs/synthetic.csv, the data of the page on synthetic tables, from a store of its suite.

    python docs/generate synthetic_data results/synthetic --out docs/synthetic.csv

One line per game and attack. ``gains`` and ``best`` have a number for each of ``reps``: what the
attack and the best possible expect beyond the prior's guess, in percent of the records, without the
luck of the draw (see docs/scores.md). ``best`` is empty where it is not known. ``most`` is the
ceiling on the mean, less what the prior's guess expects; ``outside`` the gains on records that were
not in the table. ``touching`` is the number of measured sets that hold the column, where the sets
do not depend on the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from generate.outcome_lists import OutcomeFile
from generate.results_data import read_current_rows
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.rows import ROWS_PER_RECORD
from reconbench.benchmarks.store.optimum import read_stated_optimum
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.datasets.atomic_files import write_atomic

LISTS = {"reps": int, "gains": float, "best": float, "outside": float}
TEXTS = ("dataset", "column", "generator", "access", "adversary", "attack", "scored_by")
COLUMNS = (
    *("dataset", "column", "generator", "rows", "epsilon", "access", "adversary", "attack"),
    *(
        "n",
        "delta",
        "seed",
        "failures",
        "skipped",
        "touching",
        "prior",
        "most",
        "scored_by",
        *LISTS,
    ),
)


FILE = OutcomeFile(COLUMNS, LISTS, decimals=3, texts=TEXTS, optional=("most", "touching"))


class SyntheticDataError(ValueError):
    """Rows or a data file of which no page can be made."""


def join_repetitions(rows: Sequence[Result]) -> pd.DataFrame:
    """One line per game and attack, in the order of the suite."""
    by_cell: dict[tuple[object, ...], list[Result]] = {}
    for row in rows:
        by_cell.setdefault(row.cell, []).append(row)
    lines = [
        _join_line(summary, cell)
        for summary, cell in zip(summarise(rows), by_cell.values(), strict=True)
    ]
    if not lines:
        raise SyntheticDataError("the store has no current row: play the suite synthetic")
    return pd.DataFrame(lines, columns=COLUMNS)


def _join_line(summary: Summary, rows: Iterable[Result]) -> dict[str, object]:
    if len(summary.targets) != 1:
        raise SyntheticDataError(f"the page shows single columns, got {summary.column}")
    if ROWS_PER_RECORD not in summary.facts and summary.repetitions:
        raise SyntheticDataError(f"{summary.mechanism} does not release a synthetic table")
    done = {row.rep: row for row in rows if row.status is Status.OK and row.rep in summary.gains}
    reps = sorted(done)
    share = 100 / summary.scored
    optima = [read_stated_optimum(done[rep]) for rep in reps]
    best = [
        share * (optimum.expected - done[rep].baseline_expected)
        for rep, optimum in zip(reps, optima, strict=True)
        if optimum is not None and optimum.expected is not None
    ]
    outside = [gain for rep in reps if (gain := _gain_outside(done[rep])) is not None]
    most = tightest_mean(summary.ceilings)
    return {
        "dataset": summary.dataset,
        "column": summary.column,
        "generator": name_generator(summary),
        "rows": summary.facts.get(ROWS_PER_RECORD, 0.0),
        "epsilon": summary.epsilon,
        "access": summary.access,
        "adversary": summary.adversary,
        "attack": summary.attack,
        "n": summary.n,
        "delta": summary.delta,
        "seed": summary.seed,
        "failures": summary.failures,
        "skipped": summary.skipped,
        "touching": count_touching_sets(summary),
        "prior": share * summary.baseline_expected,
        "most": None if most is None else share * (most - summary.baseline_expected),
        "scored_by": summary.scored_by,
        "reps": tuple(reps),
        "gains": tuple(share * summary.gains[rep] for rep in reps),
        "best": tuple(best) if len(best) == len(reps) else (),
        "outside": tuple(outside) if len(outside) == len(reps) else (),
    }


def _gain_outside(row: Result) -> float | None:
    """What the guesses for held-out records gain over the prior's, in percent of these."""
    if row.held_out_expected is None or row.held_out_baseline is None:
        return None
    return 100 * (row.held_out_expected - row.held_out_baseline) / row.held_out


def name_generator(summary: Summary) -> str:
    """``pgm star``, ``mst``: a mechanism and how it is structured, without the number of rows."""
    options = summary.mechanism_options.without("rows")
    return " ".join([summary.mechanism, *map(str, options.values())])


def count_touching_sets(summary: Summary) -> int | None:
    """How many sets of a fixed workload hold the hidden column."""
    prior = plugins.load_prior(summary.dataset)
    names = [name for name in prior.domain.names if name in (*summary.known, *summary.targets)]
    domain = prior.domain.project(names)
    mechanism = plugins.build_mechanism(
        summary.mechanism,
        domain,
        summary.targets,
        summary.epsilon,
        summary.delta,
        options=summary.mechanism_options,
        prior=prior,
    )
    sets = getattr(mechanism, "sets", None)
    column = domain.position(summary.column)
    return None if sets is None else sum(column in each for each in sets)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate synthetic_data", description=__doc__)
    parser.add_argument("store", type=Path, help="the output folder of `reconbench run synthetic`")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    chosen = parser.parse_args(arguments)
    try:
        write_atomic(chosen.out, FILE.to_csv(join_repetitions(read_current_rows(chosen.store))))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
