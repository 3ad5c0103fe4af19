"""Simulated errors of gradient inversion on their law, drawn: after Riess 2026, figures 4 and 5.

    python docs/generate gradient_errors_figure --out docs/img/gradient-errors.png

The points of the suites `riess-fig4` and `riess-fig5`: every error over the predicted mean
σ²‖X‖²/k, so that the law is the same at every σ. Boxes are the quantiles that were seen, 5 to 95
and 25 to 75 %, bands those of the law. Drawing needs vl-convert: pip install
'reconbench[figures]'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from generate.corridor_figure import Rows, draw
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import GradientError

SUITES = ("riess-fig4", "riess-fig5")
ENDS = ("05", "25", "50", "75", "95")
TITLES = {"optimal": "the layer alone", "idle": "a million idle parameters", "deep": "a deep net"}


def simulated(suites: Iterable[str] = SUITES) -> list[Point]:
    """The points with known scales, in MSE."""
    every = [point for name in suites for point in find_suite(name).points()]
    return [p for p in every if p.asked["scales"] == "known" and not p.asked["decibels"]]


def error_rows(points: Iterable[Point]) -> Rows:
    """Quantiles seen and predicted, over the predicted mean error."""
    found: Rows = []
    for point in points:
        asked, sigma = point.asked, point.promise.asked["sigma"]
        law = GradientError.of(asked["dimension"], sigma, asked["norm"], asked["steps"])
        values = {name: each["mean"] for name, each in point.row().ceilings.items()}
        row = {"network": TITLES[asked["network"]], "sigma": sigma, "n": asked["dimension"]}
        for end in ENDS:
            for kind in ("seen", "law"):
                row[f"{kind}{end}"] = values[f"{kind}-{end}"] / law.variance
        found.append(row | {"p": values["ks"]})
    return found


def chart(rows: Rows) -> dict[str, Any]:
    """A panel a dimension and network in Vega-Lite."""
    x = {
        "field": "sigma",
        "type": "quantitative",
        "scale": {"type": "log"},
        "title": "noise multiplier σ",
        "axis": {"format": "~g", "values": [0.001, 0.01, 0.1, 1, 10], "grid": False},
    }

    def panel(network: str, dimension: int) -> dict[str, Any]:
        alike = [row for row in rows if row["n"] == dimension]
        some = [row for row in alike if row["network"] == network]
        ends = [min(row["seen05"] for row in alike), max(row["seen95"] for row in alike)]

        def y(name: str) -> dict[str, Any]:
            return {
                "field": name,
                "type": "quantitative",
                "title": "error / σ²‖X‖²",
                "scale": {"zero": False, "domain": ends, "nice": True},
                "axis": {"grid": False},
            }

        bands = [
            {
                "mark": {"type": "area", "color": "#0072b2", "opacity": opacity},
                "encoding": {"x": x, "y": y(f"law{low}"), "y2": {"field": f"law{high}"}},
            }
            for low, high, opacity in (("05", "95", 0.15), ("25", "75", 0.25))
        ]
        boxes = [
            {
                "mark": {"type": "rule", "color": "#222222", "strokeWidth": width},
                "encoding": {"x": x, "y": y(f"seen{low}"), "y2": {"field": f"seen{high}"}},
            }
            for low, high, width in (("05", "95", 1.2), ("25", "75", 6))
        ]
        middle = {
            "mark": {"type": "point", "color": "#f0e442", "filled": True, "size": 14, "opacity": 1},
            "encoding": {"x": x, "y": y("seen50")},
        }
        return {
            "width": 210,
            "height": 150,
            "title": f"{network}, N = {dimension:,}",
            "data": {"values": some},
            "layer": [*bands, *boxes, middle],
        }

    networks = list(dict.fromkeys(row["network"] for row in rows))
    dimensions = list(dict.fromkeys(row["n"] for row in rows))
    return {
        "vconcat": [
            {"hconcat": [panel(network, dimension) for network in networks]}
            for dimension in dimensions
        ],
        "config": {"background": "white"},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    draw(__doc__, lambda: chart(error_rows(simulated())), arguments)


if __name__ == "__main__":
    main()
