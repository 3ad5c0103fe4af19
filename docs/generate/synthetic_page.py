"""Write docs/synthetic-results.md: synthetic tables, attacks on them, and the best possible.

    python docs/generate synthetic_page docs/synthetic.csv --out docs/synthetic-results.md

The words are in ``templates/synthetic-results.md.j2``; every number, and every word that depends on
one, is computed from the data file of ``generate.synthetic_data``.

All games of a repetition on one data set share their table across columns, generators and budgets,
so comparisons are paired, and a repetition on one data set is one block of the tests.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from generate.rendering import render
from generate.synthetic_data import FILE, SyntheticDataError
from reconbench.datasets.atomic_files import write_atomic
from reconbench.reports.statistics import find_student_half_width, flip_blocks, holm

RAW = ("naive-bayes", "random-forest", "gradient-boosting", "bayes-net", "knn")
POOLED = tuple(f"{name}-pooled" for name in RAW)
BEST, WHITE_BOX, INFORMED = "stack", "posterior", "informed"
Record = dict[str, Any]
# A data set and a repetition.
Block = tuple[str, int]

LEVEL = 0.05
# A tree is the default structure, which names of games leave out.
TITLES = {"pgm": "pgm tree"}
# Budgets between which a plateau is looked for, and one at which attacks are compared.
LOW, MIDDLE, HIGH = 1.0, 10.0, 100.0
PARTS = ("attack", "rows", "threat", "bound")


@dataclass(frozen=True)
class Interval:
    """A mean over blocks with half its 95 % Student interval, in points."""

    mean: float
    half: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        return cls(fmean(values), find_student_half_width(values))


class Outcomes:
    """The lines of the data file, and what is looked up in them."""

    def __init__(self, lines: pd.DataFrame) -> None:
        settings = lines[["n", "delta", "seed"]].drop_duplicates()
        if len(settings) != 1:
            raise SyntheticDataError(f"the page is about one n, δ and seed, got {len(settings)}")
        self.setting = settings.to_dict("records")[0]
        self.lines = lines = lines.replace({"generator": TITLES})
        self.seen = lines[(lines["access"] == "table") & (lines["adversary"] == "realistic")]
        self.inside = lines[lines["access"] == "measurements"]
        self.columns = list(lines[["dataset", "column"]].drop_duplicates().itertuples(index=False))
        self.generators = list(dict.fromkeys(self.seen["generator"]))
        self.budgets = sorted(set(lines["epsilon"]))
        self.lengths = sorted(set(self.seen["rows"]))

    def gains(
        self, lines: pd.DataFrame, column: str = "gains", **values: Any
    ) -> dict[Block, float]:
        """Gains by block, mean over the lines with these values; none if any line has none."""
        for name, value in values.items():
            lines = lines[lines[name] == value]
        found: dict[Block, list[float]] = {}
        for line in lines.to_dict("records"):
            if len(line[column]) != len(line["reps"]) or not line["reps"]:
                return {}
            for rep, gain in zip(line["reps"], line[column], strict=True):
                found.setdefault((str(line["dataset"]), rep), []).append(gain)
        expected = lines["dataset"].value_counts()
        return {
            block: fmean(each) for block, each in found.items() if len(each) == expected[block[0]]
        }

    def interval(
        self, lines: pd.DataFrame, column: str = "gains", **values: Any
    ) -> Interval | None:
        gains = self.gains(lines, column, **values)
        return Interval.of(list(gains.values())) if gains else None


def subtract(first: Mapping[Block, float], second: Mapping[Block, float]) -> list[float]:
    """Paired differences, block by block."""
    return [first[block] - second[block] for block in first if block in second]


def tabulate_attacks(outcomes: Outcomes, rows: float) -> list[Record]:
    """What every attack gains at the middle budget, by generator, mean over all columns."""
    seen = outcomes.seen[(outcomes.seen["epsilon"] == MIDDLE) & (outcomes.seen["rows"] == rows)]
    lines = [
        {"attack": attack, "raw": attack in RAW}
        | {g: outcomes.interval(seen, attack=attack, generator=g) for g in outcomes.generators}
        for attack in dict.fromkeys(seen["attack"])
        if attack != "prior"
    ]
    lines.append(
        {"attack": "best possible", "raw": False}
        | {
            g: outcomes.interval(seen, "best", attack="prior", generator=g)
            for g in outcomes.generators
        }
    )
    return lines


def compare_learners(outcomes: Outcomes) -> Record:
    """Raw learners against the prior, calibrated ones against raw ones and the prior.

    One test for every learner and generator, over all columns and finite budgets of short tables.
    """
    seen = outcomes.seen[(outcomes.seen["rows"] == 1) & (outcomes.seen["epsilon"] < inf)]
    found: dict[str, list[Record]] = {"raw": [], "against raw": [], "against prior": []}
    for generator in outcomes.generators:
        for raw, pooled in zip(RAW, POOLED, strict=True):
            worse = outcomes.gains(seen, attack=raw, generator=generator)
            better = outcomes.gains(seen, attack=pooled, generator=generator)
            who = {"generator": generator, "learner": raw}
            for name, gains in (
                ("raw", list(worse.values())),
                ("against raw", subtract(better, worse)),
                ("against prior", list(better.values())),
            ):
                if gains:
                    found[name].append(who | {"mean": fmean(gains), "p": flip_blocks(gains)})
    for tests in found.values():
        for test, p in zip(tests, holm([test["p"] for test in tests]), strict=True):
            test["significant"] = p < LEVEL
    return found


def tabulate_plateau(outcomes: Outcomes) -> list[Record]:
    """What is possible at every budget, by column and generator, and whether it still rises.

    The best possible where it is known, on the longest tables for which it is; otherwise what the
    best attack reached on the longest tables. It rises if a Student interval of the difference says
    so, at a level for all lines.
    """
    lines = []
    for dataset, column in outcomes.columns:
        for generator in outcomes.generators:
            own = outcomes.seen[
                (outcomes.seen["dataset"] == dataset)
                & (outcomes.seen["column"] == column)
                & (outcomes.seen["generator"] == generator)
            ]
            longest = max(outcomes.lengths)
            tried = [
                {
                    e: outcomes.gains(own, "best", attack="prior", epsilon=e, rows=rows)
                    for e in outcomes.budgets
                }
                for rows in reversed(outcomes.lengths)
            ]
            known = next((found for found in tried if all(found.values())), None)
            by_budget = known or {
                e: outcomes.gains(own, attack=BEST, epsilon=e, rows=longest)
                for e in outcomes.budgets
            }
            rise = subtract(by_budget[HIGH], by_budget[LOW])
            lines.append(
                {
                    "dataset": dataset,
                    "column": column,
                    "generator": generator,
                    "known": known is not None,
                    "touching": own["touching"].iloc[0] if len(own) else None,
                    "gains": {
                        e: Interval.of(list(gains.values())) if gains else None
                        for e, gains in by_budget.items()
                    },
                    "rise": Interval.of(rise) if rise else None,
                    "differences": rise,
                }
            )
    level = 1 - LEVEL / len(lines)
    for line in lines:
        half = find_student_half_width(line["differences"], level)
        line["rises"] = half is not None and line["rise"].mean > half
    return lines


def tabulate_rows(outcomes: Outcomes) -> list[Record]:
    """What the best attack gains from short and long tables, by generator and budget."""
    return [
        {
            "generator": generator,
            "epsilon": epsilon,
            "best": outcomes.interval(
                outcomes.seen, "best", attack="prior", generator=generator, epsilon=epsilon
            ),
        }
        | {
            rows: outcomes.interval(
                outcomes.seen, attack=BEST, generator=generator, epsilon=epsilon, rows=rows
            )
            for rows in outcomes.lengths
        }
        for generator in outcomes.generators
        for epsilon in outcomes.budgets
    ]


def tabulate_gap(outcomes: Outcomes) -> list[Record]:
    """The gap between the best attack on a short table and the ceiling, in four parts."""
    lines = []
    short, long = min(outcomes.lengths), max(outcomes.lengths)
    for generator in outcomes.generators:
        for epsilon in outcomes.budgets:
            where = {"generator": generator, "epsilon": epsilon}
            informed = outcomes.interval(
                outcomes.inside, "best", adversary=INFORMED, attack=INFORMED, **where
            )
            best = outcomes.interval(outcomes.seen, "best", attack="prior", rows=short, **where)
            if informed is None or best is None:
                continue
            reached = {
                rows: outcomes.interval(outcomes.seen, attack=BEST, rows=rows, **where)
                for rows in (short, long)
            }
            own = outcomes.seen[(outcomes.seen["generator"] == generator)]
            most = own[own["epsilon"] == epsilon]["most"].mean()
            at_short, at_long = (reached[rows] for rows in (short, long))
            if at_short is None or at_long is None:
                continue
            levels = (at_short.mean, at_long.mean, best.mean, informed.mean, float(most))
            lines.append(
                where
                | {
                    "rows": levels[1] - levels[0],
                    "attack": levels[2] - levels[1],
                    "threat": levels[3] - levels[2],
                    "bound": levels[4] - levels[3],
                    "gap": levels[4] - levels[0],
                    "reached": levels[0],
                }
            )
    return lines


def tabulate_memorisation(outcomes: Outcomes) -> list[Record]:
    """Gains on records of the table and on others, by generator, mean over columns and budgets."""
    seen = outcomes.seen[outcomes.seen["outside"].map(len) > 0]
    lines = []
    for generator in outcomes.generators:
        for attack in ("random-forest", BEST):
            where = {"generator": generator, "attack": attack}
            inside = outcomes.gains(seen, **where)
            outside = outcomes.gains(seen, "outside", **where)
            more = subtract(inside, outside)
            if more:
                lines.append(
                    where
                    | {
                        "inside": Interval.of(list(inside.values())),
                        "outside": Interval.of(list(outside.values())),
                        "more": Interval.of(more),
                    }
                )
    return lines


def compare_with_best(outcomes: Outcomes) -> list[Record]:
    """How far attacks on the table stay below the best possible; ``significant`` if ahead.

    One test for every attack, generator and number of rows, over all columns and budgets; one test
    for every budget alone could not fail with so few tables.
    """
    compared: list[Record] = []
    where = ["generator", "rows", "attack"]
    seen = outcomes.seen
    chosen = seen[(seen["attack"] != "prior") & (seen["best"].map(len) > 0)]
    for values, lines in chosen.groupby(where, sort=False):
        ahead = subtract(outcomes.gains(lines), outcomes.gains(lines, "best"))
        if ahead:
            named = dict(zip(where, values, strict=True))
            compared.append(named | {"ahead": Interval.of(ahead), "p": flip_blocks(ahead)})
    for line, p in zip(compared, holm([line["p"] for line in compared]), strict=True):
        line["significant"] = p < LEVEL and line["ahead"].mean > 0
    return compared


def find_largest_understatement(outcomes: Outcomes) -> Record | None:
    """The game whose stated optimum the attack on the measurements passes most, on average.

    That attack plays the same posterior with chains twice as long as the optimum's, so whatever it
    has more is what the stated optimum lacks.
    """
    inside = outcomes.inside[outcomes.inside["attack"] == WHITE_BOX]
    found: list[Record] = []
    for line in inside[inside["best"].map(len) > 0].to_dict("records"):
        ahead = [g - b for g, b in zip(line["gains"], line["best"], strict=True)]
        found.append({str(key): line[key] for key in line} | {"ahead": Interval.of(ahead)})
    return max(found, key=lambda line: line["ahead"].mean, default=None)


def render_page(lines: pd.DataFrame) -> str:
    """The whole page, as Markdown."""
    outcomes = Outcomes(lines)
    missing = {LOW, MIDDLE, HIGH} - set(outcomes.budgets)
    if missing:
        raise SyntheticDataError(f"the page needs games at ε = {min(missing):g}")
    compared = compare_with_best(outcomes)
    return render(
        "synthetic-results.md.j2",
        setting=outcomes.setting,
        columns=[f"{dataset} {column}" for dataset, column in outcomes.columns],
        generators=outcomes.generators,
        budgets=outcomes.budgets,
        lengths=outcomes.lengths,
        repetitions=max(map(len, outcomes.lines["reps"])),
        lost=int(outcomes.lines[["failures", "skipped"]].sum().sum()),
        attacks={rows: tabulate_attacks(outcomes, rows) for rows in outcomes.lengths},
        tests=compare_learners(outcomes),
        plateau=tabulate_plateau(outcomes),
        by_rows=tabulate_rows(outcomes),
        gaps=tabulate_gap(outcomes),
        memorised=tabulate_memorisation(outcomes),
        compared=compared,
        above=[line for line in compared if line["significant"]],
        understated=find_largest_understatement(outcomes),
        nearest=max(compared, key=lambda line: line["ahead"].mean) if compared else None,
        best=BEST,
        low=LOW,
        middle=MIDDLE,
        high=HIGH,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate synthetic_page", description=__doc__)
    parser.add_argument("data", type=Path, help="the CSV file of generate.synthetic_data")
    parser.add_argument("--out", type=Path, required=True, help="the page to write")
    chosen = parser.parse_args(arguments)
    try:
        write_atomic(
            chosen.out, render_page(FILE.read_csv(chosen.data.read_text(encoding="utf-8")))
        )
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
