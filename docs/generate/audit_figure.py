"""RAD audits beside LDP-Auditor, over ε: the table and the figure in docs/audit.md.

    python docs/generate audit_figure --out docs/audit-ldp.csv
    python docs/generate audit_figure --out docs/audit-ldp.csv --draw audit-ldp.png

After Guerra-Balboa 2026, Figure 5: 3,052 equally likely values, 10^6 trials. The first line plays
every audit and writes the table, some minutes; the second draws the table that is there. Drawing
needs vl-convert: pip install 'reconbench[figures]'.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.benchmarks.audits.ldp import CHANNELS, client_of, estimates, play
from reconbench.benchmarks.game.random_streams import stream
from reconbench.datasets.atomic_files import write_atomic

VALUES = 3052
TRIALS = 10**6
CONFIDENCE = 0.99
EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0, 11.0, 12.0, 13.0, 14.0, 16.0)
MECHANISMS = ("grr", "ss", "oue")
COLUMNS = (
    "mechanism",
    "epsilon",
    "values",
    "trials",
    "confidence",
    "hits",
    "method",
    "estimate",
    "lower",
    "upper",
)
EXACT = "RAD, exact: 99 % interval"
LABELS = {
    "rad-black-box": "RAD, black box: lower bound",
    "ldp-auditor": "LDP-Auditor: lower bound",
}
Row = Mapping[str, str | float | int | None]


def rows(
    mechanisms: Sequence[str], epsilons: Sequence[float], values: int, trials: int, seed: int
) -> Iterator[Row]:
    """One row an audit; an infinite end is None."""
    prior = np.full(values, 1 / values)
    for name in mechanisms:
        for epsilon in epsilons:
            axes = {"mechanism": name, "epsilon": epsilon, "values": values, "seed": seed}
            client = client_of(CHANNELS[name](epsilon, values))
            outcome = play(client, name, prior, trials, stream("audit figure", axes))
            for each in estimates(outcome, name, prior, confidence=CONFIDENCE):
                found = each.to_dict()
                yield {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "values": values,
                    "trials": trials,
                    "confidence": CONFIDENCE,
                    "hits": outcome.hits,
                    "method": each.method,
                    "estimate": found["epsilon"],
                    "lower": found["lower"],
                    "upper": found["upper"],
                }


def table(found: Sequence[Row]) -> str:
    """The rows as CSV; numbers to six digits, infinity as inf."""

    def cell(value: str | float | int | None) -> str:
        if value is None:
            return "inf"
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(row[name]) for name in COLUMNS] for row in found)
    return text.getvalue()


def figure(path: Path) -> bytes:
    """A PNG of a table: a panel a mechanism, the true ε across, what the audits say up."""
    try:
        import vl_convert
    except ImportError:
        raise ValueError("drawing needs vl-convert: pip install 'reconbench[figures]'") from None
    with path.open(encoding="utf-8", newline="") as text:
        return bytes(vl_convert.vegalite_to_png(_panels(list(csv.DictReader(text))), scale=1.3))


def _panels(read: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The figure in Vega-Lite; an end beyond the axis goes to its edge."""
    edge = max(float(row["epsilon"]) for row in read) + 2
    shown = []
    for row in read:
        exact = row["method"] == f"rad-{row['mechanism']}"
        # LDP-Auditor as published reports its lower bound, and so does the black box here.
        point = row["estimate"] if exact else row["lower"]
        shown.append(
            {
                "mechanism": row["mechanism"].upper(),
                "epsilon": float(row["epsilon"]),
                "audit": LABELS.get(row["method"], EXACT),
                "point": min(float(point), edge),
                "low": float(row["lower"]) if exact else None,
                "high": min(float(row["upper"]), edge) if exact else None,
            }
        )
    scale = {"domain": [0, edge]}
    x = {"field": "epsilon", "type": "quantitative", "title": "true ε", "scale": scale}
    y = {"type": "quantitative", "title": "audited ε", "scale": scale}
    colours = {"domain": [EXACT, *LABELS.values()], "range": ["#0072b2", "#009e73", "#d55e00"]}
    colour = {"field": "audit", "type": "nominal", "title": None, "scale": colours}
    shape = {"field": "audit", "type": "nominal", "title": None}
    diagonal = {"type": "line", "color": "#999999", "strokeDash": [4, 4]}
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    return {
        "data": {"values": shown},
        "facet": {
            "column": {
                "field": "mechanism",
                "title": None,
                "sort": [name.upper() for name in MECHANISMS],
            }
        },
        "spec": {
            "width": 250,
            "height": 250,
            "layer": [
                {"mark": diagonal, "encoding": {"x": x, "y": y | {"field": "epsilon"}}},
                {
                    "mark": {"type": "rule", "strokeWidth": 2},
                    "encoding": {"x": x, "color": colour, **ends},
                },
                {
                    "mark": {"type": "point", "filled": False, "size": 55},
                    "encoding": {"x": x, "y": y | {"field": "point"}, "color": colour}
                    | {"shape": shape | {"scale": {"domain": colours["domain"]}}},
                },
            ],
        },
        "config": {"legend": {"orient": "bottom", "labelLimit": 400}, "background": "white"},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the table, a CSV file")
    parser.add_argument("--draw", type=Path, help="draw the table at --out instead, as PNG")
    parser.add_argument("--mechanism", choices=MECHANISMS, action="append", help="repeatable")
    parser.add_argument("--epsilon", type=float, action="append", help="repeatable")
    parser.add_argument("--domain-size", type=int, default=VALUES)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.draw is not None:
        options.draw.write_bytes(figure(options.out))
        return
    found = list(
        rows(
            options.mechanism or MECHANISMS,
            options.epsilon or EPSILONS,
            options.domain_size,
            options.trials,
            options.seed,
        )
    )
    write_atomic(options.out, table(found))


if __name__ == "__main__":
    main()
