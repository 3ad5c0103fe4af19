"""The report of `reconbench audit mcmc`: a self-contained page and Markdown, from plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from markupsafe import Markup

from reconbench.reports.leaderboard.columns import ReportError
from reconbench.reports.text import number_format
from reconbench.reports.text.templates import template

Document = Mapping[str, Any]

_SYMBOLS = {"epsilon": "ε", "strength": "s", "tau": "τ", "rho": "ρ"}


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG, with what it shows in words."""

    title: str
    caption: str
    svg: str

    @property
    def markup(self) -> Markup:
        # From vl-convert, which escapes the text of a figure; its data are numbers of ours.
        return Markup(self.svg)


@dataclass(frozen=True)
class Grid:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def audit_mcmc_html(document: Document, figures: Mapping[str, Any]) -> str:
    """One page that opens offline."""
    return template("audit_mcmc.html").render(
        title=_title(document),
        sentences=sentences(document),
        warnings=document["warnings"],
        drawings=drawings(document, figures),
        grids=_grids(document),
        notes=_notes(document),
    )


def audit_mcmc_markdown(document: Document) -> str:
    """The same without the figures."""
    lines = [f"# {number_format.name(_title(document))}", ""]
    for sentence in sentences(document):
        lines += [number_format.prose(sentence), ""]
    for warning in document["warnings"]:
        lines += [number_format.prose(f"**Warning:** {warning}"), ""]
    for grid in _grids(document):
        lines += [f"## {grid.title}", "", *number_format.table(grid.header, grid.rows), ""]
    lines += ["## How to read it", ""]
    lines += [number_format.prose(f"- {note}", "  ") for note in _notes(document)]
    return "\n".join(lines) + "\n"


def sentences(document: Document) -> list[str]:
    """What was found, in plain words."""
    e, s = document["epsilon"], document["strength"]
    level = f"{100 * e['level']:g} %"
    found = [
        f"Given the counts and the prior, ε at δ = {document['delta']:g} is between "
        f"{e['lower']:.3f} and {e['upper']:.3f} with probability {level}; its median is "
        f"{e['median']:.3f}."
    ]
    if s["lower"] == s["upper"]:
        found.append(f"The strength of the attacks was taken to be {s['median']:g}.")
    else:
        found.append(
            f"Every attack reaches at least a share s of that ε; s is between {s['lower']:.2f} and "
            f"{s['upper']:.2f} with probability {level}, its median is {s['median']:.2f}."
        )
    lower = document["compare"]["clopper_pearson"]["lower"]
    if lower is not None:
        found.append(
            f"The errors of the attacks alone prove ε of at least {lower:.3f} (Clopper-Pearson, "
            f"{level}); what lies above rests on the model and on the prior."
        )
    if document.get("promised") is not None:
        found.append(
            f"What was attacked, {document['algorithm']}, guarantees ε of at most "
            f"{document['promised']:.3f} at this δ for {document['relation']} neighbours."
        )
    return found


def drawings(document: Document, figures: Mapping[str, Any]) -> list[Drawing]:
    draw = converter()
    specs = (
        (
            "What is likely: ε and the strength of the attacks",
            "The darker, the more probable. Between the dashed lines is the interval of ε.",
            _joint(figures["joint"], document["epsilon"]),
        ),
        (
            "Errors of the attacks",
            "Each point is an attack. No attack on an (ε, δ)-DP mechanism is below its line, but "
            "for the noise of its counts."
            + (
                " A thin line is an attack at other levels."
                if figures["region"].get("curves")
                else ""
            ),
            _region(figures["region"]),
        ),
        (
            "Traces of the chains",
            "Chains that agree look alike, like a hairy caterpillar.",
            _traces(figures["traces"]),
        ),
        (
            "Autocorrelation of ε",
            "The faster it falls, the more the draws are worth.",
            _autocorrelation(figures["autocorrelation"]),
        ),
    )
    return [
        Drawing(title, caption, str(draw.vegalite_to_svg(json.dumps({**_COMMON, **spec}))))
        for title, caption, spec in specs
    ]


_COMMON = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "background": "white",
    "config": {"font": "sans-serif", "view": {"stroke": "#cccccc"}},
}


def _joint(cells: Sequence[Mapping[str, float]], interval: Mapping[str, float]) -> dict[str, Any]:
    histogram = {
        "data": {"values": list(cells)},
        "mark": "rect",
        "encoding": {
            "x": {"field": "epsilon", "type": "quantitative", "title": "ε"},
            "x2": {"field": "epsilon_end"},
            "y": {
                "field": "strength",
                "type": "quantitative",
                "title": "strength s",
                "scale": {"domain": [0, 1]},
            },
            "y2": {"field": "strength_end"},
            "color": {
                "field": "share",
                "type": "quantitative",
                "title": "share",
                "scale": {"scheme": "viridis", "reverse": True},
            },
        },
    }
    ends = {
        "data": {"values": [{"epsilon": interval[end]} for end in ("lower", "upper")]},
        "mark": {"type": "rule", "strokeDash": [5, 4]},
        "encoding": {"x": {"field": "epsilon", "type": "quantitative"}},
    }
    return {"width": 420, "height": 300, "layer": [histogram, ends]}


def _region(region: Mapping[str, Any]) -> dict[str, Any]:
    alpha = {
        "field": "alpha",
        "type": "quantitative",
        "title": "false positives, α",
        "scale": {"domain": [0, 1]},
    }
    beta = {**alpha, "field": "beta", "title": "false negatives, β"}
    lines = {
        "data": {"values": region["lines"]},
        "mark": {"type": "line", "clip": True},
        "encoding": {
            "x": alpha,
            "y": beta,
            "order": {"field": "order", "type": "quantitative"},
            "color": {"field": "curve", "type": "nominal", "title": None, "sort": None},
        },
    }
    # The same attacks at other levels, one thin line each, where they are known.
    curves = {
        "data": {"values": region.get("curves", [])},
        "mark": {"type": "line", "color": "#777777", "strokeWidth": 0.8},
        "encoding": {
            "x": alpha,
            "y": beta,
            "order": {"field": "order", "type": "quantitative"},
            "detail": {"field": "base", "type": "nominal"},
        },
    }
    points = {
        "data": {"values": region["points"]},
        "mark": {"type": "point", "color": "black", "filled": True},
        "encoding": {"x": alpha, "y": beta},
    }
    return {"width": 340, "height": 340, "layer": [curves, lines, points]}


def _traces(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    shown = [{**each, "parameter": _SYMBOLS[each["parameter"]]} for each in values]
    return {
        "data": {"values": shown},
        "facet": {
            "row": {
                "field": "parameter",
                "type": "nominal",
                "title": None,
                "sort": list(_SYMBOLS.values()),
            }
        },
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 520,
            "height": 110,
            "mark": {"type": "line", "strokeWidth": 0.7},
            "encoding": {
                "x": {"field": "iteration", "type": "quantitative"},
                "y": {
                    "field": "value",
                    "type": "quantitative",
                    "title": None,
                    "scale": {"zero": False},
                },
                "color": {"field": "chain", "type": "nominal"},
            },
        },
    }


def _autocorrelation(values: Sequence[float]) -> dict[str, Any]:
    return {
        "width": 420,
        "height": 120,
        "data": {"values": [{"lag": i, "value": value} for i, value in enumerate(values)]},
        "mark": "bar",
        "encoding": {
            "x": {"field": "lag", "type": "quantitative"},
            "y": {"field": "value", "type": "quantitative", "title": "autocorrelation"},
        },
    }


def converter() -> Any:
    """What turns figures into SVG, or an error that says how to get it."""
    try:
        return import_module("vl_convert")
    except ImportError:
        raise ReportError(
            "the figures of the report need vl-convert: pip install 'reconbench[figures]'; --json "
            "works without it"
        ) from None


def _title(document: Document) -> str:
    attacks = document["attacks"]
    return f"ε from {attacks:,} membership attack{'s' if attacks > 1 else ''}"


def _grids(document: Document) -> list[Grid]:
    posterior = [
        [
            _SYMBOLS[name],
            *(
                number_format.number(document[name][each], 3)
                for each in ("median", "lower", "upper")
            ),
            number_format.number(document[name]["r_hat"], 3),
            number_format.number(document[name]["ess_bulk"], 0),
            number_format.number(document[name]["ess_tail"], 0),
        ]
        for name in _SYMBOLS
        if name in document
    ]
    beta, pearson = (document["compare"][each] for each in ("joint_beta", "clopper_pearson"))
    readings = [
        ["this posterior", *_interval(document["epsilon"], "median")],
        [f"joint Beta, s = 1, attack {beta['attack']}", *_interval(beta, "epsilon")],
        ["Clopper-Pearson, all attacks, s = 1", *_interval(pearson, "epsilon")],
    ]
    ends = ["ε", "lower", "upper"]
    found = [
        Grid(
            "Posterior",
            ["parameter", "median", "lower", "upper", "R-hat", "ESS bulk", "ESS tail"],
            posterior,
        ),
        Grid("Other readings of the same counts", ["reading", *ends], readings),
    ]
    if document["other_priors"]:
        rows = [
            [each["prior"], *_interval(each["epsilon"], "median")]
            for each in document["other_priors"]
        ]
        found.append(Grid("Under other priors", ["prior", *ends], rows))
    if document["other_deltas"]:
        rows = [
            [f"{each['delta']:g}", *_interval(each["epsilon"], "median")]
            for each in document["other_deltas"]
        ]
        found.append(Grid("At other δ", ["δ", *ends], rows))
    return found


def _interval(entry: Mapping[str, Any], middle: str) -> list[str]:
    return [_end(entry[each]) for each in (middle, "lower", "upper")]


def _end(value: float | None) -> str:
    return "∞" if value is None else number_format.number(value, 3)


def _notes(document: Document) -> list[str]:
    without, within = document["hypotheses"]
    return [
        f"Neighbours: {document['relation']}. False positives were counted on {without}, false "
        f"negatives on {within}.",
        *([f"Attacked: {document['training']}."] if "training" in document else []),
        f"Prior: {document['prior']}. Counts: {document['likelihood']}.",
        f"{document['chains']} chains of {document['iterations']:,} iterations; acceptance "
        f"{number_format.listed([f'{rate:.2f}' for rate in document['acceptance']])}.",
        "An interval of a posterior is not a proof: it is as good as the model, in which the "
        "errors of the attacks are spread evenly between a share s of ε and ε itself.",
        f"Method: {document['reference']}.",
    ]
