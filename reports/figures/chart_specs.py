"""How a chart of the leaderboard becomes a Vega-Lite specification: its fields, panels and scales.

A figure draws rows from a data source named ``rows``, whose fields are columns of the leaderboard
with every character that is not a letter or a digit replaced by ``_``. Names of columns, attacks
and data sets reach a figure as data only, never as part of an expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from reconbench.benchmarks.game.setting import AXES, Axis, Setting
from reconbench.benchmarks.store.tightest import TOP
from reconbench.reports.figures.roles import ROLE_COLOURS

ASSETS = Path(__file__).parents[1] / "assets"
DRAWINGS, SCRIPT = ASSETS / "charts.json", ASSETS / "vega.js.gz"
SOURCE = "rows"
# Titles of an axis of records: as they are, or beyond what the prior expects.
SHARE_TITLE = "records reconstructed, % of n"
GAIN_TITLE = "records gained over the prior, % of n"

# The records that a row is about: all of the table, unless only some were scored.
SCORED = "(datum.target_records || datum.n)"

# A panel is named by what its rows have in common, except for these columns, which figures draw.
DRAWN = ("targets", "known_columns", "epsilon")


def _label_column(column: str) -> str:
    """A Vega expression for a column's labelled value; empty text where it has its usual value."""
    axis = AXES.get(column, Axis(column, column, "", f"{column} = {{}}"))
    before, after = axis.label.split("{}")
    numeric = get_type_hints(Setting).get(column) is float
    value = f"format(datum.{column}, '~g')" if numeric else f"datum.{column}"
    text = " + ".join([repr(f", {before}"), value, *([repr(after)] if after else [])])
    if column == "dataset":
        return value
    return f"(datum.{column} === {json.dumps(axis.usual)} ? '' : {text})"


_BUDGET = "datum.epsilon === null ? '∞' : format(datum.epsilon, '.4~g')"
_LABEL = "datum.attack + (datum.attack_options === '{}' ? '' : ' ' + datum.attack_options)"


def field_name(column: str) -> str:
    """A column's name as Vega-Lite takes it without escapes."""
    return re.sub(r"[^0-9A-Za-z]", "_", column)


def name_panel(game: Sequence[str], *without: str) -> str:
    return " + ".join(_label_column(name) for name in game if name not in (*DRAWN, *without))


def calculate(**expressions: str) -> list[dict[str, Any]]:
    return [{"calculate": text, "as": name} for name, text in expressions.items()]


def calculate_shares(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Parts of the gap as a percentage of n."""
    names = [field_name(column) for column in columns]
    return calculate(
        **{
            f"{name}_share": f"isValid(datum.{name}) ? 100 * datum.{name} / {SCORED} : null"
            for name in names
        }
    )


def calculate_records(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Records as a percentage of n, beyond what the prior expects if the parameter says so."""
    less = "(gain ? datum.baseline_expected : 0)"
    names = [field_name(column) for column in columns]
    return calculate(
        **{
            f"{name}_share": f"isValid(datum.{name}) ? 100 * (datum.{name} - {less}) / {SCORED} : "
            "null"
            for name in names
        }
    )


def look_up(texts: Mapping[str, str], key: str) -> str:
    return f"{json.dumps(dict(texts))}[datum.{key}]"


@cache
def _load_drawings() -> Mapping[str, Any]:
    drawings: dict[str, Any] = json.loads(DRAWINGS.read_text(encoding="utf-8"))
    return drawings


def build_spec(
    game: Sequence[str], drawing: str, group: str, *transforms: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A drawing over the data source, its panels named by an expression over a row."""
    named = calculate(
        who=_LABEL,
        whose=_LABEL,
        budget=_BUDGET,
        budget_order="datum.epsilon === null ? 1e300 : datum.epsilon",
        panel=name_panel(game),
        group=group,
    )
    # Panels and lines keep the order of the rows: most to gain first.
    place = {"window": [{"op": "row_number", "as": "place"}]}
    source = {"data": {"name": SOURCE}, "transform": [place, *named, *transforms]}
    return {**source, **_load_drawings()[drawing]}


def fold_columns(columns: Sequence[str], value: str) -> list[dict[str, Any]]:
    """One line per ceiling: its bound's name and its value."""
    texts = {
        field_name(name): name.removeprefix("ceiling_").removesuffix(f"_{TOP}") for name in columns
    }
    return [
        {"fold": list(texts), "as": ["column", "raw"]},
        {"filter": "isValid(datum.raw)"},
        *calculate(value=value, bound=look_up(texts, "column")),
    ]


def use_measure(spec: Mapping[str, Any], gain: bool) -> dict[str, Any]:
    """Draw records as gains over the prior or as they are; leaderboard-figures.js does the same."""
    old, new = (SHARE_TITLE, GAIN_TITLE) if gain else (GAIN_TITLE, SHARE_TITLE)
    text = json.dumps(spec).replace(json.dumps(old), json.dumps(new))
    return {**json.loads(text), "params": [{"name": "gain", "value": gain}]}


def fix_looks(spec: Mapping[str, Any], attacks: Sequence[str], drawn: Sequence[str]) -> Any:
    """Give every attack the look that it has in all figures; the legend lists ``drawn`` alone.

    leaderboard-figures.js does the same.
    """

    def fix(node: Any) -> Any:
        if isinstance(node, list):
            return [fix(part) for part in node]
        if not isinstance(node, dict):
            return node
        fixed = {name: fix(part) for name, part in node.items()}
        if fixed.get("field") in ("who", "whose") and "range" in (fixed.get("scale") or {}):
            # Vega-Lite joins the legends of equal domains, and lines have none: one more value.
            lines = [] if fixed.get("legend") else [""]
            fixed["scale"] = {**fixed["scale"], "domain": [*attacks, *lines]}
            if fixed.get("legend"):
                fixed["legend"] = {**fixed["legend"], "values": list(drawn)}
        return fixed

    return fix(spec)


def role_styles(colours: Mapping[str, str] = ROLE_COLOURS) -> dict[str, dict[str, str]]:
    """The marks that are no attack, by the style that a drawing names."""
    return {role: {"color": colour} for role, colour in colours.items()}
