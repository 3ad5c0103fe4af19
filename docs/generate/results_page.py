"""The results page from its data file: are the published ceilings loose, or the attacks weak?

    python docs/generate results_page docs/results.csv --out docs

Writes ``results.md`` and ``img/results-gap.svg``. Every number, and every word that depends on one,
is computed from the data file, which ``generate.results_data`` makes from the stores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from generate import results_tables as tables
from generate.gap_svg import gap_svg
from reconbench.benchmarks.store.summary import REFERENCES, Outcomes, read_outcomes
from reconbench.reports.leaderboard.columns import ReportError
from reconbench.reports.statistics import (
    INFORMED,
    REALISTIC,
    Split,
    block_error,
    realistic,
    splits,
)
from reconbench.reports.text.number_format import (
    budget,
    listed,
    name,
    number,
    of,
    percent,
    prose,
    table,
    with_error,
)

WEAK = "rap"
PARTS: Mapping[str, str] = {
    "attack": "the attack",
    "threat": "the threat model",
    "bound": "the bound",
}
FIGURE = Path("img") / "results-gap.svg"


@dataclass(frozen=True)
class Results:
    """All outcomes of one setting, checked to hold what the page is about."""

    found: tuple[Outcomes, ...]

    def __post_init__(self) -> None:
        settings = {
            (each.n, each.k, each.delta, each.mechanism, each.metric) for each in self.found
        }
        if len(settings) != 1 or len({each.seed for each in self.found}) != 1:
            raise ReportError(
                f"the page is about one n, k, δ, mechanism, metric and seed, got {len(settings)}"
            )
        if not self.splits:
            needed = f"{WEAK}, {REFERENCES[REALISTIC]} and {REFERENCES[INFORMED]}"
            raise ReportError(
                f"no column at any budget was played by all of {needed}, each with the best "
                "possible stated: run the suites attacks and optimum"
            )

    @classmethod
    def read(cls, text: str) -> Results:
        return cls(tuple(read_outcomes(text)))

    @cached_property
    def splits(self) -> list[Split]:
        return splits(self.found, WEAK)

    @property
    def n(self) -> int:
        return self.found[0].n

    def figure(self) -> str:
        return gap_svg(self.splits, WEAK, self.n)


def page(results: Results) -> str:
    """The whole page, as Markdown."""
    parts = results.splits
    lines = [
        "# Are the ceilings loose, or the attacks weak?",
        "",
        prose(
            "Generated from [results.csv](results.csv) by "
            "`python docs/generate results_page`; a test holds this page against it. "
            "`make results` plays all games again."
        ),
        "",
        prose(
            "Swanberg et al. 2025 find their attack on noisy marginals, RAP, far below their "
            "ceiling and leave open (section 7.1) whether better attacks exist or the ceiling is "
            "loose. Here the best possible attack is computed: for the attacker who knows the "
            "other columns of every record (`posterior`), and for the one whom the bounds assume, "
            "who knows all other records in full (`informed`). What lies between RAP and the "
            "published ceiling is therefore split without a rest into the **attack** (realistic "
            "optimum − RAP), the **threat model** (informed optimum − realistic optimum) and the "
            "**bound** (published ceiling − informed optimum)."
        ),
        "",
        prose(_setting(results)),
        "",
        "## The answer",
        "",
        prose(_verdict(parts)),
        "",
        *_by_budget(parts),
        "",
        f"![{_alternative(parts)}]({FIGURE.as_posix()})",
        "",
        *_remarks(parts),
        "",
        *tables.every_cell(parts, WEAK, PARTS),
        "",
        *tables.against_others(results.found),
        "",
        *tables.without_noise(results.found),
        "",
        *tables.calibration(results.found),
        "",
        *tables.informed_optimum(results.found),
        "",
    ]
    return "\n".join(lines)


def _setting(results: Results) -> str:
    first = results.found[0]
    columns = dict.fromkeys((each.dataset, each.column) for each in results.found)
    datasets = dict.fromkeys(dataset for dataset, _ in columns)
    counts = [
        f"{sum(dataset == each for dataset, _ in columns)} columns of {name(each)}"
        for each in datasets
    ]
    budgets = sorted({each.epsilon for each in results.found})
    attacks = dict.fromkeys(name(each.attack) for each in realistic(results.found))
    informed = [each for each in results.found if each.adversary == INFORMED]
    failures = sum(each.failures + each.skipped for each in results.found)
    return (
        f"Played: {listed(counts)}, each hidden alone; ε = "
        f"{listed([budget(each) for each in budgets])}; n = {first.n}, k = {first.k}, "
        f"δ = {first.delta:g}, {name(first.mechanism)}, {name(first.metric)} match, seed "
        f"{first.seed}. {_games(realistic(results.found))} a cell for each of {len(attacks)} "
        f"attacks ({listed(list(attacks))}), {_games(informed)} for the informed optimum; "
        f"{failures or 'no'} game{'s' if failures != 1 else ''} failed or declined. The two share "
        "tables and noise, so differences are paired."
    )


def _games(found: Sequence[Outcomes]) -> str:
    counts = sorted({len(each.reps) for each in found})
    return f"{counts[0]} games" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} games"


def _verdict(parts: Sequence[Split]) -> str:
    gap = sum(each.gap for each in parts)
    sizes = {part: sum(getattr(each, part) for each in parts) for part in PARTS}
    order = sorted(sizes, key=lambda part: -sizes[part])
    largest = {part: sum(largest_part(each) == part for each in parts) for part in PARTS}
    shares = [f"{PARTS[part]} {percent(sizes[part], gap)}" for part in order[1:]]
    leads = [f"{PARTS[part]} in {of(largest[part], len(parts), 'cells')}" for part in order]
    return (
        f"**{'Mostly' if 2 * sizes[order[0]] > gap else 'More than anything else'} "
        f"{PARTS[order[0]]}: {percent(sizes[order[0]], gap)} of the gap** between RAP and the "
        f"median of Theorem 3.5, over all {len(parts)} cells (a column at a budget); "
        f"{listed(shares)}. The largest part is {listed(leads)}. The prior-exact ceiling on "
        f"the mean removes {percent(sum(each.avoidable for each in parts), sizes['bound'])} of "
        "what the bound leaves open."
    )


def largest_part(split: Split) -> str:
    return max(PARTS, key=lambda part: float(getattr(split, part)))


def _by_budget(parts: Sequence[Split]) -> list[str]:
    rows = []
    for epsilon in sorted({each.cell.epsilon for each in parts}):
        rows.append(_row(budget(epsilon), [p for p in parts if p.cell.epsilon == epsilon]))
    rows.append(_row("all", parts))
    header = [
        "ε",
        "prior",
        "RAP",
        "realistic optimum",
        "informed optimum",
        "prior-exact",
        "Theorem 3.5, 50 %",
        "95 %",
        "attack",
        "threat model",
        "bound",
        "bound, to the 95 % ceiling",
    ]
    return [
        prose(
            "Records, means over columns; in brackets the share of the gap; ± is a standard error "
            "over games."
        ),
        "",
        *table(header, rows),
    ]


def _row(label: str, parts: Sequence[Split]) -> list[str]:
    def mean(field: str) -> float:
        return fmean(float(getattr(each, field)) for each in parts)

    gap = mean("gap")
    attack = with_error(mean("attack"), block_error([each.attack_by_rep for each in parts]))
    threat = with_error(mean("threat"), block_error([each.threat_by_rep for each in parts]))
    top, wide = mean("published_95") - mean("informed"), mean("published_95") - mean("weak")
    levels = (
        "prior",
        "weak",
        "realistic",
        "informed",
        "exact",
        "published_50",
        "published_95",
    )
    return [
        label,
        *(number(mean(level)) for level in levels),
        f"{attack} ({percent(mean('attack'), gap)})",
        f"{threat} ({percent(mean('threat'), gap)})",
        f"{number(mean('bound'))} ({percent(mean('bound'), gap)})",
        f"{number(top)} ({percent(top, wide)})",
    ]


def _alternative(parts: Sequence[Split]) -> str:
    told = []
    for epsilon in sorted({each.cell.epsilon for each in parts}):
        here = [each for each in parts if each.cell.epsilon == epsilon]
        sizes = ", ".join(
            f"{PARTS[part]} {number(fmean(float(getattr(each, part)) for each in here))}"
            for part in PARTS
        )
        told.append(f"at ε = {budget(epsilon)} {sizes}")
    return (
        "Stacked bars, a column a line and a budget a panel, from RAP to the published ceiling; "
        f"mean records: {'; '.join(told)}"
    )


def _remarks(parts: Sequence[Split]) -> list[str]:
    below = sum(each.weak < each.prior for each in parts)
    fallback = [each for each in parts if each.fallback]
    stand_in = "; elsewhere the mean success of `posterior` stands for it (marked *)"
    remarks = (
        "RAP gets less than the best guess from the prior alone in "
        f"{of(below, len(parts), 'cells')}: there, part of what is put down to the attack is that "
        "it makes too little of the prior.",
        "The published ceiling is about a single run, at 50 % its median, while the optima are "
        "expectations; the prior-exact ceiling is about the expectation too. Parts below zero are "
        "chance, or an integer median below a mean.",
        "The attack's part is the lead of `posterior` over RAP game by game, and RAP is put that "
        "far below the optimum: the luck of the tables drawn, which both share, is left out. The "
        "plain means of RAP are in the tables of attacks below.",
        "The computation of the realistic optimum converged in every game of "
        f"{of(len(parts) - len(fallback), len(parts), 'cells')}{stand_in if fallback else ''}.",
    )
    return [prose(f"- {each}", indent="  ") for each in remarks]


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate results_page", description=__doc__)
    parser.add_argument("data", type=Path, help="the CSV file of generate.results_data")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    chosen = parser.parse_args(arguments)
    try:
        results = Results.read(chosen.data.read_text(encoding="utf-8"))
        write(chosen.out / "results.md", page(results))
        write(chosen.out / FIGURE, results.figure())
    except (ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
