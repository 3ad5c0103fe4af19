"""Figures of docs/gradients.md: the risk corridor, and simulated errors on their law."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import (
    GradientError,
    identification_sigma,
    risk_corridor,
    zero_guess_error,
)
from reconbench.reports.figures.spreads import Spread, draw_spreads
from reconbench.reports.figures.svg import (
    PALETTE,
    SOFT,
    Axis,
    Band,
    Line,
    Panel,
    Rules,
    draw_figure,
)

GAMMA, CANDIDATES = 0.1, 11
DIMENSIONS = (1, 4, 3072)
SUITES = ("riess-fig4", "riess-fig5")
ENDS = ("05", "25", "50", "75", "95")
NETWORKS = {"optimal": "the layer alone", "idle": "a million idle parameters", "deep": "a deep net"}


def needed_noise(error: float) -> float:
    """σ that keeps an error of η at risk γ from scratch, for N = 1 and ‖X‖ = 1 (figure 1)."""
    return math.sqrt(error / float(GradientError.of(1, 1.0).mse_quantile(GAMMA)))


def corridor_widths(dimension: int) -> list[tuple[float, float]]:
    """(σ, η(γ) over ‖X‖²/N), γ the chance of identification among the candidates."""
    corridor = risk_corridor(np.geomspace(0.03, 30, 120), dimension, CANDIDATES)
    return [(each.sigma, each.error / each.free_error) for each in corridor]


def corridor() -> str:
    """The risk corridor, after Riess 2026, figure 1, and its width by noise."""
    identification, free = identification_sigma(GAMMA, CANDIDATES), zero_guess_error(1)
    below, above = np.linspace(0, free, 41).tolist(), np.linspace(free, 7, 121).tolist()
    band = [(error, needed_noise(error), identification) for error in below]
    at_one_risk = Panel(
        Axis("allowed error η (MSE, N = 1, norm 1)", 0, 7),
        Axis("noise multiplier σ for γ = 10 %", 0, 25),
        [
            Band(band, "the corridor", PALETTE[0], 0.15),
            Line([(e, needed_noise(e)) for e in below], "from scratch (Riess 2026)", PALETTE[0]),
            Line(
                [(error, needed_noise(error)) for error in above],
                "the same, where guessing 0 is as close",
                PALETTE[1],
                "5 4",
            ),
            Line(
                [(0, identification), (7, identification)],
                f"identification among {CANDIDATES}",
                PALETTE[2],
            ),
        ],
        "The corridor at one risk",
    )
    widths = {dimension: corridor_widths(dimension) for dimension in DIMENSIONS}
    values = [width for line in widths.values() for _, width in line]
    by_noise = Panel(
        Axis("noise multiplier σ", 0.03, 30, log=True),
        Axis("width / error of guessing 0", min(values), max(values), log=True),
        [
            Rules([(0.03, 1, 30, 1)], "guessing 0 is as close", SOFT, "4 4"),
            *(
                Line(line, f"N = {dimension:,}", PALETTE[3 + index])
                for index, (dimension, line) in enumerate(widths.items())
            ),
        ],
        f"Its width by noise, {CANDIDATES} candidates",
    )
    return draw_figure(
        "The risk corridor of gradient inversion",
        [at_one_risk, by_noise],
        "Left, the noise for a risk of 10 % by allowed error; right, the corridor's width by noise "
        "as a multiple of the error of guessing 0.",
        columns=2,
    )


@dataclass(frozen=True)
class ErrorQuantiles:
    """Quantiles of simulated errors and of their law, over the predicted mean σ²‖X‖²/k."""

    network: str
    dimension: int
    sigma: float
    seen: dict[str, float]
    law: dict[str, float]

    @classmethod
    def of(cls, point: Point) -> ErrorQuantiles:
        asked, sigma = point.asked, point.promise.asked["sigma"]
        law = GradientError.of(asked["dimension"], sigma, asked["norm"], asked["steps"])
        values = {name: each["mean"] for name, each in point.row().ceilings.items()}
        seen, predicted = (
            {end: values[f"{kind}-{end}"] / law.variance for end in ENDS}
            for kind in ("seen", "law")
        )
        return cls(NETWORKS[asked["network"]], asked["dimension"], sigma, seen, predicted)


def simulated_points(suites: Iterable[str] = SUITES) -> list[Point]:
    """The points of the suites with known scales, in MSE."""
    every = [point for name in suites for point in find_suite(name).points()]
    return [p for p in every if p.asked["scales"] == "known" and not p.asked["decibels"]]


def gradient_errors() -> str:
    """Simulated errors on the bands of their law, after Riess 2026, figures 4 and 5."""
    return draw_errors([ErrorQuantiles.of(point) for point in simulated_points()])


def draw_errors(quantiles: list[ErrorQuantiles]) -> str:
    """One panel per dimension and network."""
    networks = list(dict.fromkeys(each.network for each in quantiles))
    panels = []
    for dimension in dict.fromkeys(each.dimension for each in quantiles):
        alike = [each for each in quantiles if each.dimension == dimension]
        ends = [each.seen[end] for each in alike for end in ("05", "95")]
        y = Axis.covering("error / σ²‖X‖²", ends)
        for network in networks:
            points = [each for each in alike if each.network == network]
            panels.append(_error_panel(f"{network}, N = {dimension:,}", points, y))
    return draw_figure(
        "Simulated errors of gradient inversion on their law",
        panels,
        "Errors over their predicted mean by noise multiplier: quantiles seen in simulations as "
        "boxes on the bands of the law, 5 to 95 % and 25 to 75 %.",
        columns=len(networks),
    )


def _error_panel(title: str, points: list[ErrorQuantiles], y: Axis) -> Panel:
    x = Axis("noise multiplier σ", 0.0008, 12.5, log=True)
    spreads = [
        Spread(p.sigma, tuple(p.seen[end] for end in ENDS), tuple(p.law[end] for end in ENDS))
        for p in points
    ]
    return Panel(x, y, draw_spreads(spreads), title, width=270, height=180)
