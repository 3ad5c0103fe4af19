"""Draw the leaderboard's figures with Altair and bundle the script that shows them.

    python docs/generate leaderboard_charts

writes ``reports/assets``: the marks and encodings of every figure, and Vega for the browser. Both
ship with the package, so a page needs neither Altair nor vl-convert. The fields are those of
``reports.figures.charts``.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert

from reconbench.reports.figures.chart_specs import (
    DRAWINGS,
    SCRIPT,
    SHARE_TITLE,
    SOURCE,
    field_name,
)
from reconbench.reports.figures.charts import PARTS
from reconbench.reports.figures.roles import (
    ATTACK_COLOURS,
    ATTACK_SHAPES,
    BEST,
    GUESSING,
    MOST,
    ONE_RUN,
    PRIOR,
)
from reconbench.reports.figures.svg import PALETTE

# Average width of a character of a panel's name, in pixels.
CHARACTER = 6
# One more than there are colours: scales repeat their ranges, so 7 · 8 = 56 series look different.
SHAPES = tuple(ATTACK_SHAPES)
LABELS = 180
LINE = 28
WIDTH = 460


def _wrap_label(characters: int) -> str:
    """A Vega expression for the lines of a panel's name: broken at ': ', then between words."""
    lines = r"replace(datum.label, regexp(': ', 'g'), '\n')"
    wrapped = rf"replace({lines}, regexp('(.{{1,{characters}}})( +|$)', 'gm'), '$1\n')"
    return rf"split(trim(replace({wrapped}, regexp('\n+', 'g'), '\n')), '\n')"


def _in_place() -> alt.EncodingSortField:
    """The order of the rows, most to gain first."""
    return alt.EncodingSortField(field="place", op="min")


def _panels(
    chart: alt.Chart | alt.LayerChart, columns: int, x: Literal["shared", "independent"] = "shared"
) -> alt.FacetChart:
    header = alt.Header(
        labelExpr=_wrap_label(WIDTH // columns // CHARACTER),
        labelLimit=2 * WIDTH // columns,
        labelFontWeight="bold",
        labelAnchor="start",
    )
    found: alt.FacetChart = chart.facet(
        facet=alt.Facet("group:N", title=None, sort=_in_place(), header=header),
        data=alt.NamedData(name=SOURCE),
        columns=columns,
    ).resolve_scale(y="independent", x=x, yOffset="independent")
    return found


def _legend(title: str, columns: int) -> alt.Legend:
    return alt.Legend(
        orient="top",
        columns=columns,
        labelLimit=200,
        title=title,
        symbolLimit=len(PALETTE) * len(SHAPES),
    )


def _colour_and_shape(name: str, title: str, columns: int = 2) -> tuple[alt.Color, alt.Shape]:
    """Colour and shape together, so that nothing depends on colour alone."""
    legend = _legend(title, columns)
    return (
        alt.Color(f"{name}:N", scale=alt.Scale(range=_colours(name)), legend=legend),
        alt.Shape(f"{name}:N", scale=alt.Scale(range=list(SHAPES)), legend=legend),
    )


def _line_colour(name: str = "who") -> alt.Stroke:
    """The same colours on a scale of its own, so that the legend shows marks alone."""
    own = "whose" if name == "who" else name
    return alt.Stroke(f"{own}:N", scale=alt.Scale(range=_colours(name)), legend=None)


def _colours(name: str) -> list[str]:
    """Those of attacks, which leave grey and black to what attacks are measured against."""
    return list(ATTACK_COLOURS if name == "who" else PALETTE)


def _text(name: str, title: str) -> alt.Tooltip:
    return alt.Tooltip(f"{name}:N", title=title)


def _value(name: str, title: str, how: str = ".1f") -> alt.Tooltip:
    return alt.Tooltip(f"{name}:Q", title=title, format=how)


def _where() -> list[alt.Tooltip]:
    names = {"dataset": "data set", "targets": "columns", "budget": "ε", "who": "attack"}
    return [_text(name, title) for name, title in names.items()]


def _success_tip() -> list[alt.Tooltip]:
    return [
        *_where(),
        _value("expected_success_share", "expected success, %"),
        _value("baseline_expected_share", "prior expects, %"),
        _value("best_possible_share", "best possible, %"),
        _value("tightest_mean_share", "ceiling on the mean, %"),
        _value("tightest_0_95_share", "95 % ceiling, %"),
        _text("flags", "flags"),
    ]


def bars() -> alt.FacetChart:
    """Swanberg 2025, figure 4: prior, attacks, best possible and ceilings, column by column."""
    base = alt.Chart()
    # Guessing is drawn as what attacks are measured against.
    attacks = base.transform_filter(alt.datum.attack != GUESSING)
    colour, shape = _colour_and_shape("who", "attack")
    tip = _success_tip()
    y = alt.Y("line:N", title=None, sort=None, axis=alt.Axis(labelLimit=LABELS))
    lane = alt.YOffset("who:N", sort=None)

    def x(name: str) -> alt.X:
        scale = alt.Scale(zero=False)
        return alt.X(f"{field_name(name)}_share:Q", title=SHARE_TITLE, scale=scale, stack=None)

    ticks = {"tightest_0.05": 9, "tightest_0.5": 5, "tightest_0.95": 9}
    paper = [_text("paper", "printed in"), _value("paper_success_share", "success, %")]
    return _panels(
        alt.LayerChart(
            layer=[
                base.mark_bar(style=MOST, opacity=0.4, height=12).encode(
                    y=y, x=x("baseline_expected"), x2="tightest_mean_share:Q", tooltip=tip
                ),
                base.mark_tick(style=MOST, thickness=2, size=12).encode(y=y, x=x("tightest_mean")),
                base.mark_rule(style=ONE_RUN, strokeWidth=1, yOffset=10).encode(
                    y=y, x=x("tightest_0.05"), x2="tightest_0_95_share:Q"
                ),
                *(
                    base.mark_tick(style=ONE_RUN, thickness=1, size=size, yOffset=10).encode(
                        y=y, x=x(name)
                    )
                    for name, size in ticks.items()
                ),
                base.mark_tick(style=PRIOR, thickness=1, size=LINE).encode(
                    y=y, x=x("baseline_expected")
                ),
                base.mark_tick(style=BEST, thickness=2.5, size=LINE - 8).encode(
                    y=y, x=x("best_possible"), tooltip=tip
                ),
                attacks.mark_rule(strokeWidth=2).encode(
                    y=y,
                    yOffset=lane,
                    x=x("expected_success_low"),
                    x2="expected_success_high_share:Q",
                    stroke=_line_colour(),
                ),
                attacks.mark_point(filled=True, size=55, opacity=1).encode(
                    y=y,
                    yOffset=lane,
                    x=x("expected_success"),
                    color=colour,
                    shape=shape,
                    tooltip=tip,
                ),
                base.mark_text(text="P", fontWeight="bold", yOffset=-9, style=BEST).encode(
                    y=y, x=x("paper_success"), tooltip=[*paper, _text("paper_note", "note")]
                ),
            ]
        ).properties(width=WIDTH // 2, height=alt.Step(step=LINE, **{"for": "position"})),
        columns=2,
        x="independent",
    )


def sweep(x: alt.X) -> alt.FacetChart:
    """Success over one axis: attacks as lines, prior, best possible and ceilings behind them."""
    base = alt.Chart()
    # Guessing is drawn as what attacks are measured against.
    attacks = base.transform_filter(alt.datum.attack != GUESSING)
    colour, shape = _colour_and_shape("who", "attack")
    behind = {
        "baseline_expected": (PRIOR, [6, 3]),
        "tightest_mean": (MOST, [1, 0]),
        "best_possible": (BEST, [2, 2]),
    }

    def y(name: str) -> alt.Y:
        scale = alt.Scale(zero=False)
        return alt.Y(f"{field_name(name)}_share:Q", title=SHARE_TITLE, scale=scale)

    return _panels(
        alt.LayerChart(
            layer=[
                base.mark_area(style=ONE_RUN, opacity=0.15).encode(
                    x=x, y=y("tightest_0.05").aggregate("mean"), y2="mean(tightest_0_95_share):Q"
                ),
                *(
                    base.mark_line(style=role, strokeDash=dash, strokeWidth=2).encode(
                        x=x, y=y(name).aggregate("mean")
                    )
                    for name, (role, dash) in behind.items()
                ),
                attacks.mark_line(strokeWidth=1.5).encode(
                    x=x, y=y("expected_success"), stroke=_line_colour()
                ),
                attacks.mark_rule().encode(
                    x=x,
                    y=y("expected_success_low"),
                    y2="expected_success_high_share:Q",
                    stroke=_line_colour(),
                ),
                attacks.mark_point(filled=True, size=55, opacity=1).encode(
                    x=x, y=y("expected_success"), color=colour, shape=shape, tooltip=_success_tip()
                ),
            ]
        ).properties(width=WIDTH // 2, height=190),
        columns=2,
    )


def by_budget() -> alt.X:
    order = alt.EncodingSortField(field="budget_order", op="min")
    return alt.X("budget:O", title="privacy budget ε", sort=order, axis=alt.Axis(labelAngle=0))


def by_number(column: str, title: str) -> alt.X:
    return alt.X(f"{column}:O", title=title, axis=alt.Axis(labelAngle=0))


def _by_size(column: str, title: str, scale: Literal["linear", "log"]) -> alt.X:
    return alt.X(f"{column}:Q", title=title, scale=alt.Scale(type=scale))


def heat() -> alt.FacetChart:
    """A number in every cell, white where the cell is dark."""
    scale = alt.Scale(scheme="viridis", reverse=True)
    open_ = _value("open", "ceiling less success, % of n")
    tip = [*_where(), open_, _value("gap_closed", "share of the gap closed", ".2f")]
    x = by_budget()
    order = alt.EncodingSortField(field="possible", op="max", order="descending")
    y = alt.Y("targets:N", title=None, sort=order, axis=alt.Axis(labelLimit=LABELS))
    base = alt.Chart()
    is_dark = "datum.open - datum.least > 0.5 * (datum.widest - datum.least)"
    cells = base.mark_rect(stroke="#88888866").encode(
        x=x,
        y=y,
        color=alt.Color("open:Q", title="% of n", scale=scale, legend=_gradient()),
        tooltip=tip,
    )
    numbers = base.mark_text(fontSize=11).encode(
        x=x,
        y=y,
        text=alt.Text("open:Q", format=".1f"),
        color=alt.condition(is_dark, alt.value("#ffffff"), alt.value("#000000")),
        tooltip=tip,
    )
    return _panels(
        alt.LayerChart(layer=[cells, numbers]).properties(width=WIDTH // 2, height=alt.Step(19)),
        columns=2,
    )


def _gradient() -> alt.Legend:
    return alt.Legend(orient="top", gradientLength=200)


def split() -> alt.FacetChart:
    shades = alt.Scale(
        domain=list(PARTS.values()),
        range=[PALETTE[1], PALETTE[2], PALETTE[0], PALETTE[3], PALETTE[4]],
    )
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            y=alt.Y("line:N", title=None, sort=None, axis=alt.Axis(labelLimit=LABELS)),
            x=alt.X("size:Q", title="part of the gap, % of n", stack="zero"),
            color=alt.Color("part:N", title="part", scale=shades, legend=_legend("part", 2)),
            tooltip=[*_where(), _text("part", "part"), _value("size", "% of n")],
        )
        .properties(width=WIDTH, height=alt.Step(16))
    )
    return _panels(bars, columns=1)


def time() -> alt.Chart:
    colour, shape = _colour_and_shape("who", "attack")
    advantage = _value("normalised_advantage", "normalised advantage", ".3f")
    found: alt.Chart = (
        alt.Chart()
        .mark_point(filled=True, size=50, opacity=0.7)
        .encode(
            x=alt.X(
                "seconds:Q", title="seconds for one table", scale=alt.Scale(type="log", nice=False)
            ),
            y=alt.Y("normalised_advantage:Q", title="advantage (0: prior, 1: all)"),
            color=colour,
            shape=shape,
            tooltip=[*_where(), _value("seconds", "seconds", ".3g"), advantage],
        )
        .properties(width=WIDTH, height=260)
    )
    return found


def bounds(title: str, x: alt.X) -> alt.FacetChart:
    """A line with marks per bound."""
    colour, shape = _colour_and_shape("bound", "bound", 3)
    y = alt.Y("value:Q", title=title, aggregate="mean", scale=alt.Scale(zero=False))
    mean = alt.Tooltip("value:Q", aggregate="mean", title="mean over rows", format=".4g")
    base = alt.Chart()
    line = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, stroke=_line_colour("bound"))
    marks = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=x,
        y=y,
        color=colour,
        shape=shape,
        tooltip=[_text("bound", "bound"), _text("budget", "ε"), mean],
    )
    return _panels(
        alt.LayerChart(layer=[line, marks]).properties(width=WIDTH // 2, height=200),
        columns=2,
    )


def calibration() -> alt.FacetChart:
    colour, shape = _colour_and_shape("who", "attack")
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("said:Q", title="chance the attack gives its guess, %", scale=scale)

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", title="guesses that are right, %", scale=scale)

    base = alt.Chart()
    size = alt.Size("records:Q", scale=alt.Scale(type="sqrt", range=[20, 160]), legend=None)
    corners = {"x": alt.datum(0), "y": alt.datum(0), "x2": alt.datum(100), "y2": alt.datum(100)}
    return _panels(
        alt.LayerChart(
            layer=[
                base.mark_rule(style=PRIOR, strokeDash=[4, 3], aria=False).encode(**corners),
                base.mark_line(strokeWidth=1.2).encode(x=x, y=y("held"), stroke=_line_colour()),
                base.mark_rule().encode(x=x, y=y("low"), y2="high:Q", stroke=_line_colour()),
                base.mark_point(filled=True, opacity=1).encode(
                    x=x,
                    y=y("held"),
                    size=size,
                    color=colour,
                    shape=shape,
                    tooltip=[
                        _text("who", "attack"),
                        _value("records", "records", ",.0f"),
                        _value("said", "chance given, %"),
                        _value("held", "right, %"),
                    ],
                ),
            ]
        ).properties(width=WIDTH // 2, height=WIDTH // 2),
        columns=2,
    )


def drawings() -> dict[str, Any]:
    """The figures by name, without their data and transforms."""
    made: Mapping[str, alt.TopLevelMixin] = {
        "bars": bars(),
        "by-epsilon": sweep(by_budget()),
        "by-columns": sweep(by_number("target_columns", "columns guessed at once")),
        "by-error": sweep(by_number("within", "L1 error that still counts")),
        "by-n": sweep(by_number("n", "records n")),
        "by-k": sweep(by_number("k", "columns in a marginal k")),
        "heat": heat(),
        "split": split(),
        "time": time(),
        "bounds": bounds("95 % ceiling, % of n", by_budget()),
        "calibration": calibration(),
    }
    found = {name: chart.to_dict() for name, chart in made.items()}
    for each in found.values():
        for unneeded in ("config", "$schema", "data"):
            each.pop(unneeded, None)
    return found


def drawings_json() -> str:
    return json.dumps(drawings(), ensure_ascii=False, separators=(",", ":")) + "\n"


def script() -> str:
    """Vega, Vega-Lite and vega-embed in one script."""
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]


def main(folder: Path = DRAWINGS.parent) -> None:
    (folder / DRAWINGS.name).write_text(drawings_json(), encoding="utf-8")
    (folder / SCRIPT.name).write_bytes(gzip.compress(script().encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
