"""The data file of the results page, from the stores of its suites.

    python docs/generate results_data results/attacks results/optimum --out docs/results.csv

One line an attack and game with every repetition's outcome, so that each number of the page can be
computed again from this file alone. ``generate.results_page`` does so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store import export_import
from reconbench.benchmarks.store.summary import Outcomes, outcomes_csv, pooled, stated_optimum
from reconbench.datasets.atomic_files import write_atomic

PUBLISHED = "thm35"
EXACT = "prior-exact"


class GapError(ValueError):
    """Rows of which no results page can be made."""


def stored_rows(folder: Path) -> list[Result]:
    """Every current row of a store, which is only read; rows made by other code are left out."""
    entries = export_import.read(folder)
    return [entry.row for entry in export_import.drop_stale(entries)]


def outcomes(rows: Iterable[Result]) -> list[Outcomes]:
    """The rows of each game and attack together; games by data set, column, ε and adversary."""
    cells: dict[tuple[object, ...], dict[int, Result]] = {}
    for row in rows:
        by_rep = cells.setdefault(row.cell, {})
        if row.rep in by_rep:
            raise GapError(
                f"two rows of {row.attack!r} on {', '.join(row.targets)}, ε = {row.epsilon:g}, "
                f"repetition {row.rep}: the stores mix versions; run into an empty folder"
            )
        by_rep[row.rep] = row
    found = [_outcomes([by_rep[rep] for rep in sorted(by_rep)]) for by_rep in cells.values()]
    return sorted(found, key=_order)


def _outcomes(rows: Sequence[Result]) -> Outcomes:
    first = rows[0]
    if len(first.targets) != 1:
        raise GapError(f"the page shows single columns, got targets {', '.join(first.targets)}")
    (column,) = first.targets
    done = [row for row in rows if row.status is Status.OK and row.successes is not None]
    stated = [stated_optimum(row) for row in done]
    best = [each for each in stated if each is not None]
    if best and len(best) < len(done):
        raise GapError(
            f"{first.attack!r} on {column}, ε = {first.epsilon:g} states the best possible in "
            f"{len(best)} of {len(done)} repetitions; run into an empty folder"
        )
    options = json.dumps(first.attack_options, sort_keys=True) if first.attack_options else ""
    return Outcomes(
        dataset=first.dataset,
        column=column,
        values=_values(first, column),
        n=first.n,
        k=first.k,
        epsilon=first.epsilon,
        delta=first.delta,
        mechanism=first.mechanism,
        metric=first.metric,
        adversary=first.adversary,
        attack=f"{first.attack} {options}".strip(),
        seed=first.seed,
        failures=sum(row.status is Status.FAILED for row in rows),
        skipped=sum(row.status is Status.SKIPPED for row in rows),
        reps=tuple(row.rep for row in done),
        successes=tuple(row.successes or 0 for row in done),
        prior=fmean(row.baseline_expected for row in rows),
        published_50=_published(done, "0.5"),
        published_95=_published(done, "0.95"),
        best=tuple(each.expected for each in best),
        best_error=pooled(best).error if best else None,
        unconverged=tuple(
            row.rep for row, each in zip(done, stated, strict=True) if each and not each.converged
        ),
        exact=tuple(row.ceilings[EXACT]["mean"] for row in done) if best else (),
    )


def _published(rows: Sequence[Result], confidence: str) -> float | None:
    found = [row.ceilings[PUBLISHED][confidence] for row in rows if PUBLISHED in row.ceilings]
    return fmean(found) if found else None


def _values(row: Result, column: str) -> int:
    prior = plugins.prior(row.dataset)
    if prior.sha256() != row.data_hash:
        raise GapError(f"{row.dataset} has another prior now than when its rows were played")
    return prior.domain[column].size


def _order(each: Outcomes) -> tuple[object, ...]:
    place = plugins.prior(each.dataset).domain.position(each.column)
    return (each.dataset, place, each.epsilon, each.adversary, each.attack, each.seed)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate results_data", description=__doc__)
    parser.add_argument("stores", nargs="+", type=Path, help="output folders of `reconbench run`")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    chosen = parser.parse_args(arguments)
    try:
        rows = (row for folder in chosen.stores for row in stored_rows(folder))
        write_atomic(chosen.out, outcomes_csv(outcomes(rows)))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
