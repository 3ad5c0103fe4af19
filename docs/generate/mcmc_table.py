"""Write docs/mcmc-table1.csv: errors of attacks on networks trained on MNIST, and ε from them.

    reconbench data fetch mnist
    reconbench run mcmc-table1
    python docs/generate mcmc_table results/mcmc-table1 --out docs/mcmc-table1.csv

One line per algorithm, way to decide and δ: the interval of ε with the errors on every challenge
base, from which it can be computed again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from generate.outcome_lists import OutcomeFile
from generate.stored_points import Values, read_points
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.computations.mcmc import HIGH, LOW, MEDIAN, PROVED, STRENGTH
from reconbench.benchmarks.computations.mcmc_images import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    SHARED,
    name_algorithm,
)
from reconbench.benchmarks.store.store import Key
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.datasets.atomic_files import write_atomic

LISTS = {"false_positives": int, "false_negatives": int}
NUMBERS = {"low": LOW, "median": MEDIAN, "high": HIGH, "strength": STRENGTH, "proved": PROVED}
COLUMNS = ("algorithm", "decisions", "delta", "challenges", *NUMBERS, *LISTS)
FILE = OutcomeFile(COLUMNS, LISTS, decimals=0, texts=("algorithm", "decisions"))


def make_lines(found: Sequence[tuple[Point, Values]]) -> pd.DataFrame:
    """One line per posterior, with the errors that it was computed from."""
    values = {point.key: each for point, each in found}
    return pd.DataFrame(
        [_make_line(point, own, values) for point, own in found if point.inputs],
        columns=COLUMNS,
    )


def _make_line(point: Point, own: Values, values: dict[Key, Values]) -> dict[str, object]:
    decisions = point.asked["decisions"]
    challenges = point.inputs[0].asked["challenges"]
    asked = point.inputs[0].asked
    errors = {
        column: tuple(int(values[each.key][f"{decisions}-{name}"]) for each in point.inputs)
        for column, name in (
            ("false_positives", FALSE_POSITIVES),
            ("false_negatives", FALSE_NEGATIVES),
        )
    }
    return {
        "algorithm": name_algorithm(asked["start"], asked["sigma"]),
        "decisions": decisions,
        "delta": point.promise.delta,
        "challenges": challenges if decisions == SHARED else challenges - challenges // 2,
        **{column: own[name] for column, name in NUMBERS.items()},
        **errors,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate mcmc_table", description=__doc__)
    parser.add_argument("store", type=Path, help="the output folder of `reconbench run`")
    parser.add_argument("--suite", default="mcmc-table1", help="a copy with fewer bases")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    chosen = parser.parse_args(arguments)
    try:
        points = find_suite(chosen.suite).points()
        write_atomic(chosen.out, FILE.to_csv(make_lines(read_points(points, [chosen.store]))))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
