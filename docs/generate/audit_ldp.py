"""Play RAD audits and LDP-Auditor over ε: writes docs/audit-ldp.csv, the table of docs/audit.md.

    python docs/generate audit_ldp --out docs/audit-ldp.csv

After Guerra-Balboa 2026, Figure 5: 3,052 equally likely values, 10^6 trials, as in the suite
``rad-fig5``; takes some minutes.
``python docs/generate figures audit-ldp`` draws the table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from reconbench.benchmarks.computations.rad.audits import play_audits
from reconbench.datasets.atomic_files import write_atomic
from reconbench.reports.figures.svg import (
    PALETTE,
    SOFT,
    Axis,
    Dots,
    Mark,
    Panel,
    Rules,
    draw_figure,
)

TABLE = Path(__file__).resolve().parents[1] / "audit-ldp.csv"
VALUES = 3052
TRIALS = 10**6
CONFIDENCE = 0.99
EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0, 11.0, 12.0, 13.0, 14.0, 16.0)
MECHANISMS = ("grr", "ss", "oue")


def tabulate_audits(
    mechanisms: Sequence[str], epsilons: Sequence[float], values: int, trials: int, seed: int
) -> pd.DataFrame:
    """One row per audit; an infinite end is missing."""
    rows = []
    for name in mechanisms:
        for epsilon in epsilons:
            outcome, found = play_audits(name, epsilon, values, trials, CONFIDENCE, seed)
            for estimate in found:
                numbers = estimate.to_dict()
                rows.append(
                    {
                        "mechanism": name,
                        "epsilon": epsilon,
                        "values": values,
                        "trials": trials,
                        "confidence": CONFIDENCE,
                        "hits": outcome.hits,
                        "method": estimate.method,
                        "estimate": numbers["epsilon"],
                        "lower": numbers["lower"],
                        "upper": numbers["upper"],
                    }
                )
    return pd.DataFrame(rows)


def audit_ldp() -> str:
    """The committed table as panels by mechanism: the true ε across, what the audits say up."""
    audits = pd.read_csv(TABLE)
    edge = audits["epsilon"].max() + 2
    panels = [
        Panel(
            Axis("true ε", 0, edge),
            Axis("audited ε", 0, edge),
            [
                Rules([(0, 0, edge, edge)], "audited = true", SOFT, "4 4"),
                *_draw_marks(audits[audits["mechanism"] == name], f"rad-{name}"),
            ],
            name.upper(),
            width=250,
            height=250,
        )
        for name in MECHANISMS
    ]
    return draw_figure(
        "RAD audits and LDP-Auditor by true ε",
        panels,
        "One panel per mechanism. An end beyond the axis is drawn at its edge.",
        columns=len(panels),
    )


def _draw_marks(audits: pd.DataFrame, exact: str) -> Iterator[Mark]:
    def points(method: str, column: str) -> list[tuple[float, float]]:
        chosen = audits[audits["method"] == method]
        return list(zip(chosen["epsilon"], chosen[column], strict=True))

    lower, upper = points(exact, "lower"), points(exact, "upper")
    ends = [(x, low, x, high) for (x, low), (_, high) in zip(lower, upper, strict=True)]
    # LDP-Auditor as published reports its lower bound, and so does the black box here.
    black_box, auditor = points("rad-black-box", "lower"), points("ldp-auditor", "lower")
    yield Dots(black_box, "RAD, black box: lower bound", PALETTE[2], filled=False, radius=6)
    yield Rules(ends, "RAD, exact: 99 % interval", PALETTE[0], width=2)
    yield Dots(points(exact, "estimate"), "RAD, exact: 99 % interval", PALETTE[0], radius=3)
    yield Dots(auditor, "LDP-Auditor: lower bound", PALETTE[1], filled=False, radius=2.5)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the table, a CSV file")
    parser.add_argument("--mechanism", choices=MECHANISMS, action="append", help="repeatable")
    parser.add_argument("--epsilon", type=float, action="append", help="repeatable")
    parser.add_argument("--domain-size", type=int, default=VALUES)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    audits = tabulate_audits(
        options.mechanism or MECHANISMS,
        options.epsilon or EPSILONS,
        options.domain_size,
        options.trials,
        options.seed,
    )
    text = audits.to_csv(index=False, float_format="%.6g", na_rep="inf", lineterminator="\n")
    write_atomic(options.out, text)


if __name__ == "__main__":
    main()
