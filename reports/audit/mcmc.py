"""The report of `reconbench audit mcmc`: a self-contained page and Markdown, from plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from reconbench.reports.figures.svg import (
    PALETTE,
    SOFT,
    Axis,
    Boxes,
    Dots,
    Line,
    Mark,
    Panel,
    Rules,
    draw_figure,
)
from reconbench.reports.text.document import Figure, list_first_items, render_markdown, render_page
from reconbench.reports.text.number_format import number

Document = Mapping[str, Any]

_SYMBOLS = {"epsilon": "ε", "mu": "μ", "strength": "s", "tau": "τ", "rho": "ρ"}


def audit_mcmc_html(document: Document, figures: Mapping[str, Any]) -> str:
    """One page that opens offline."""
    return render_page("audit_mcmc.md", _values(document), draw_figures(document, figures))


def audit_mcmc_markdown(document: Document) -> str:
    """The same without the figures."""
    return render_markdown("audit_mcmc.md", _values(document))


def summarise_audit(document: Document) -> list[str]:
    """What was found, in a few sentences."""
    return list_first_items(audit_mcmc_markdown(document))


def _values(document: Document) -> dict[str, object]:
    return {
        "document": document,
        "symbols": _SYMBOLS,
        "end": lambda value: "∞" if value is None else number(value, 3),
        "acceptance": [f"{rate:.2f}" for rate in document["acceptance"]],
    }


def draw_figures(document: Document, figures: Mapping[str, Any]) -> list[Figure]:
    """The joint posterior, the errors of the attacks, and two views of the chains."""
    thin = " Each thin line is one attack at other levels." if "curves" in figures["region"] else ""
    drawn = (
        (
            "What is likely: ε and the strength of the attacks",
            "The darker, the more probable. The dashed lines are the ends of the interval of ε.",
            [_joint_panel(figures["joint"], document["epsilon"])],
        ),
        (
            "Errors of the attacks",
            "Each point is one attack. Apart from the noise in its counts, no attack on a "
            f"mechanism with that ε or μ falls below its line.{thin}",
            [_region_panel(figures["region"])],
        ),
        (
            "Traces of the chains",
            "Chains that agree look alike and cover the same range.",
            _trace_panels(figures["traces"]),
        ),
        (
            "Autocorrelation of ε",
            "The faster it falls, the more independent the draws are.",
            [_autocorrelation_panel(figures["autocorrelation"])],
        ),
    )
    return [
        Figure(title, caption, draw_figure(title, panels, caption))
        for title, caption, panels in drawn
    ]


def _joint_panel(cells: Sequence[Mapping[str, float]], interval: Mapping[str, float]) -> Panel:
    top = max(cell["share"] for cell in cells)
    histogram = Boxes(
        [
            (cell["epsilon"], cell["strength"], cell["epsilon_end"], cell["strength_end"])
            for cell in cells
        ],
        colour=PALETTE[0],
        shades=[0.06 + 0.94 * cell["share"] / top for cell in cells],
    )
    ends = Rules([(interval[end], 0, interval[end], 1) for end in ("lower", "upper")], dash="5 4")
    x = Axis("ε", 0, max(max(cell["epsilon_end"] for cell in cells), interval["upper"]))
    return Panel(x, Axis("strength s", 0, 1), [histogram, ends], width=440)


def _region_panel(region: Mapping[str, Any]) -> Panel:
    curves: list[Mark] = [
        Line(_points(attack), colour="#777777", width=0.8)
        for _, attack in groupby(region.get("curves", ()), key=lambda point: point["base"])
    ]
    lines = [
        Line(_points(corners), name, PALETTE[index])
        for index, (name, corners) in enumerate(
            groupby(region["lines"], key=lambda point: str(point["curve"]))
        )
    ]
    attacks = Dots([(point["alpha"], point["beta"]) for point in region["points"]], radius=3)
    axes = Axis("false positives, α", 0, 1), Axis("false negatives, β", 0, 1)
    return Panel(*axes, [*curves, *lines, attacks], width=360, height=360)


def _points(values: Any) -> list[tuple[float, float | None]]:
    return [(value["alpha"], value["beta"]) for value in values]


def _trace_panels(values: Sequence[Mapping[str, Any]]) -> list[Panel]:
    panels = []
    for parameter, of_parameter in groupby(values, key=lambda value: value["parameter"]):
        found = list(of_parameter)
        chains = [
            Line(
                [(value["iteration"], value["value"]) for value in chain],
                f"chain {name}",
                PALETTE[index % len(PALETTE)],
                width=0.7,
            )
            for index, (name, chain) in enumerate(groupby(found, key=lambda value: value["chain"]))
        ]
        x = Axis("iteration", 0, max(1, *(value["iteration"] for value in found)))
        y = Axis.covering(_SYMBOLS[parameter], (value["value"] for value in found))
        panels.append(Panel(x, y, chains, width=540, height=110))
    return panels


def _autocorrelation_panel(values: Sequence[float]) -> Panel:
    bars = Boxes(
        [(lag - 0.4, 0, lag + 0.4, value) for lag, value in enumerate(values)], colour=SOFT
    )
    y = Axis.covering("autocorrelation", (0, *values))
    return Panel(Axis("lag", -0.5, len(values) - 0.5), y, [bars], width=440, height=140)
