"""The risk corridor of gradient inversion, drawn: the figure in docs/gradients.md.

    python docs/generate corridor_figure --out docs/img/corridor.png

Left, after Riess 2026, figure 1: the noise that keeps the risk at 10 %. Right: the corridor's
width by noise, as a multiple of the error of guessing 0. Drawing needs vl-convert:
pip install 'reconbench[figures]'.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.bounds.gradients import (
    GradientError,
    identification_sigma,
    risk_corridor,
    zero_guess_error,
)
from reconbench.datasets.atomic_files import write_atomic

GAMMA, CANDIDATES = 0.1, 11
DIMENSIONS = (1, 4, 3072)
SCRATCH, PUBLISHED = "from scratch (Riess 2026)", "the same, where guessing 0 is as close"
IDENTIFICATION = f"identification among {CANDIDATES}"
COLOURS = {SCRATCH: "#0072b2", PUBLISHED: "#d55e00", IDENTIFICATION: "#009e73"}

Rows = list[dict[str, Any]]


def noise_rows() -> Rows:
    """σ by error for N = 1 and ‖X‖ = 1, as in figure 1 of Riess 2026."""
    needed, free = identification_sigma(GAMMA, CANDIDATES), zero_guess_error(1)
    unit = float(GradientError.of(1, 1.0).mse_quantile(GAMMA))
    found: Rows = []
    for error in np.linspace(0, 7, 141).tolist():
        sigma = math.sqrt(error / unit)
        found.append({"error": error, "sigma": needed, "who": IDENTIFICATION})
        if error <= free:
            found.append({"error": error, "sigma": sigma, "who": SCRATCH, "other": needed})
        if error >= free:
            found.append({"error": error, "sigma": sigma, "who": PUBLISHED})
    return found


def corridor_rows() -> Rows:
    """η(γ) over ‖X‖²/N by σ, γ the chance of identification among 11."""
    sigmas = np.geomspace(0.03, 30, 120)
    return [
        {
            "sigma": each.sigma,
            "width": each.error / each.free_error,
            "who": f"N = {dimension:,}",
        }
        for dimension in DIMENSIONS
        for each in risk_corridor(sigmas, dimension, CANDIDATES)
    ]


def chart() -> dict[str, Any]:
    """Both panels in Vega-Lite."""
    x = {"field": "error", "type": "quantitative", "title": "allowed error η (MSE, N = 1, norm 1)"}
    y = {"field": "sigma", "type": "quantitative", "title": "noise multiplier σ for γ = 10 %"}
    colour = {
        "field": "who",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
    }
    dash = {
        "field": "who",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(COLOURS), "range": [[1, 0], [5, 4], [1, 0]]},
    }
    left = {
        "width": 300,
        "height": 260,
        "title": "The corridor at one risk",
        "data": {"values": noise_rows()},
        "layer": [
            {
                "transform": [{"filter": f"datum.who == '{SCRATCH}'"}],
                "mark": {"type": "area", "opacity": 0.15, "color": COLOURS[SCRATCH]},
                "encoding": {"x": x, "y": y, "y2": {"field": "other"}},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
            },
        ],
    }
    level = {"type": "log"}
    noise = {"field": "sigma", "type": "quantitative", "title": "noise multiplier σ"}
    width = {
        "field": "width",
        "type": "quantitative",
        "title": "width of the corridor / error of guessing 0",
        "axis": {"format": "~g", "values": [10.0**p for p in range(-4, 7, 2)]},
    }
    who = {
        "field": "who",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"range": ["#0072b2", "#cc79a7", "#b38600"]},
    }
    right = {
        "width": 300,
        "height": 260,
        "title": f"Its width by noise, {CANDIDATES} candidates",
        "layer": [
            {
                "data": {"values": corridor_rows()},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": noise | {"scale": level, "axis": {"format": "~g", "tickCount": 4}},
                    "y": width | {"scale": level},
                    "color": who,
                },
            },
            {
                "data": {"values": [{"width": 1.0}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#777777"},
                "encoding": {"y": width | {"scale": level}},
            },
        ],
    }
    return {
        "hconcat": [left, right],
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        "config": {
            "legend": {"orient": "bottom", "labelLimit": 400, "columns": 1},
            "background": "white",
        },
    }


def picture(drawn: dict[str, Any]) -> bytes:
    """A chart as PNG."""
    try:
        import vl_convert
    except ImportError:
        raise ValueError("drawing needs vl-convert: pip install 'reconbench[figures]'") from None
    return bytes(vl_convert.vegalite_to_png(drawn, scale=1.5))


def draw(
    about: str | None, made: Callable[[], dict[str, Any]], arguments: Sequence[str] | None
) -> None:
    """The command of a figure: make its chart and write it where it is asked for."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the figure, a PNG file")
    out = parser.parse_args(arguments).out
    try:
        write_atomic(out, picture(made()))
    except ValueError as error:
        parser.error(str(error))


def main(arguments: Sequence[str] | None = None) -> None:
    draw(__doc__, chart, arguments)


if __name__ == "__main__":
    main()
