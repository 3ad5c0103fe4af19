"""The leaderboard as one self-contained page: its data as JSON, its script and its figures.

Nothing is fetched and nothing is evaluated: the policy in the page admits the two scripts by their
hashes alone, and Vega runs its expressions in an interpreter. Values reach the page as JSON in
which ``<``, ``>`` and ``&`` are escaped, and the script writes them as text.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from reconbench.benchmarks.game.setting import AXES, dump_axes
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.figures.chart_specs import ASSETS, GAIN_TITLE, SCRIPT, SHARE_TITLE
from reconbench.reports.figures.charts import NO_ATTACK, Chart, list_charts, select_rows
from reconbench.reports.figures.computed import SuiteDrawing, draw_single_panels
from reconbench.reports.figures.overview import build_overview
from reconbench.reports.figures.roles import ATTACK_COLOURS, GUESSING, list_looks
from reconbench.reports.leaderboard.columns.dictionary import AXIS_COLUMNS, PRINTED, Value
from reconbench.reports.leaderboard.flags import MEANINGS, Weight
from reconbench.reports.leaderboard.glossary import GLOSSARY
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.leaderboard.ranking import DatasetRanking, RankedAttack
from reconbench.reports.leaderboard.summary_text import (
    write_computed,
    write_summary,
    write_trust,
)
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.text.number_format import number, p_value, signed
from reconbench.reports.text.templates import printable, template

_SCRIPT_PARTS = ("table", "figures", "page")
# Numbers on the page keep this many digits; the CSV has them in full.
DIGITS = 7
# The most attacks that the ranking by data set has columns for.
MOST_ATTACKS = 8
# The table's columns, and those that it shows only where rows differ in them.
_SHOWN = (
    "dataset",
    "targets",
    "epsilon",
    "attack",
    "rank",
    "expected_success",
    "baseline_expected",
    "best_possible",
    "tightest_mean",
    "gap_closed",
    "best_attack_95",
    "tightest_0.95",
    "normalised_advantage",
    "against_prior",
    "against_rap",
    "seconds",
    "flags",
)
_IF_DIFFERENT = (
    "attack_options",
    *(name for name in AXIS_COLUMNS if name not in _SHOWN and name != "known_columns"),
    "repetitions",
    "failures",
    "skipped",
    "error",
)
TITLES: Mapping[str, str] = {
    **{name: axis.title for name, axis in AXES.items()},
    "dataset": "data set",
    "targets": "columns",
    "epsilon": "ε",
    "expected_success": "expected success",
    "baseline_expected": "baseline",
    "best_possible": "best possible",
    "tightest_mean": "ceiling on the mean",
    "best_attack_95": "best attack, 95 %",
    "tightest_0.95": "95 % ceiling",
    "gap_closed": "gap closed",
    "normalised_advantage": "advantage",
    "against_prior": "vs prior",
    "against_rap": "vs rap",
    "attack_options": "options",
}


def render_page(
    leaderboard: Leaderboard, title: str, facts: Mapping[str, str], stale: int = 0
) -> str:
    """The page as text; ``facts`` says how the results were made, by name."""
    drawn, left_out = _choose_charts(leaderboard)
    scripts = {"vega": _read_vega() if drawn else "", "app": _read_script()}
    computed = all(row.computed for row in leaderboard.summaries)
    attacks = [attack.attack for attack in leaderboard.ranking]
    return template("leaderboard.html").render(
        title=title,
        facts=facts,
        stale=stale,
        leaderboard=leaderboard,
        finished=any(row.expected_success is not None for row in leaderboard.summaries),
        computed=computed,
        overview=build_overview(leaderboard.rows, attacks),
        curves=_draw_curves(leaderboard),
        failures=[row for row in leaderboard.summaries if row.error][:20],
        summary=write_computed(leaderboard) if computed else write_summary(leaderboard),
        trust=write_trust(leaderboard),
        percent=lambda share: f"{number(100 * share)} %",
        rankings=_group_ranking(leaderboard),
        by_dataset=_group_datasets(leaderboard),
        link=lambda name: "#all&" + urlencode({"dataset": name}),
        comparisons=leaderboard.comparisons,
        number=number,
        signed=signed,
        p_value=p_value,
        raised=[(flag, MEANINGS[flag], count) for flag, count in leaderboard.count_flags().items()],
        serious=(Weight.ALARM, Weight.CAUTION),
        meanings=MEANINGS,
        glossary=GLOSSARY,
        charts=drawn,
        left_out=left_out,
        filters={name: TITLES[name] for name in ("dataset", "targets", "epsilon")}
        | {"attack": "attack"},
        style=Markup(_read_asset("leaderboard.css")),
        colours=ATTACK_COLOURS,
        scripts={name: Markup(text) for name, text in scripts.items() if text},
        hashes=" ".join(f"'sha256-{_hash_script(text)}'" for text in scripts.values() if text),
        data=Markup(_format_json(_build_payload(leaderboard, facts, drawn))),
    )


def _choose_charts(leaderboard: Leaderboard) -> tuple[list[Chart], dict[str, str]]:
    """The figures that the rows allow, and why each of the others is left out."""
    charts = list_charts(leaderboard.columns)
    drawn = [chart for chart in charts if select_rows(chart, leaderboard.rows)[0]]
    return drawn, {chart.title: chart.absent for chart in charts if chart not in drawn}


def _draw_curves(leaderboard: Leaderboard) -> dict[str, SuiteDrawing]:
    """The panels of every suite of computations, by its name."""
    suites = dict.fromkeys(row.dataset for row in leaderboard.summaries if row.computed)
    drawn = {suite: draw_single_panels(leaderboard.summaries, suite) for suite in suites}
    return {suite: drawing for suite, drawing in drawn.items() if drawing.panels}


def _group_ranking(leaderboard: Leaderboard) -> dict[str, list[RankedAttack]]:
    """The ranked attacks by adversary and attacker's prior."""
    groups: dict[str, list[RankedAttack]] = {}
    for attack in leaderboard.ranking:
        groups.setdefault(_name_group(attack), []).append(attack)
    return groups


def _name_group(ranked: RankedAttack | DatasetRanking) -> str:
    other = ranked.attacker_prior != "same"
    prior = f", attacker's prior {ranked.attacker_prior}" if other else ""
    return f"{ranked.adversary} adversary{prior}"


@dataclass(frozen=True)
class DatasetTable:
    """The rankings on every data set of one adversary: a line each, a column per attack.

    ``overall`` are the attacks over the whole suite, in the order of the columns; ``left_out`` are
    attacks for which there is no room.
    """

    attacks: tuple[str, ...]
    left_out: int
    overall: tuple[RankedAttack, ...]
    lines: tuple[tuple[DatasetRanking, tuple[RankedAttack | None, ...]], ...]

    @property
    def cells(self) -> int:
        return sum(ranking.cells for ranking, _ in self.lines)


def _group_datasets(leaderboard: Leaderboard) -> dict[str, DatasetTable]:
    """A table by adversary and attacker's prior; the prior's guess closes nothing and has none."""
    groups: dict[str, list[DatasetRanking]] = {}
    for ranking in leaderboard.by_dataset:
        groups.setdefault(_name_group(ranking), []).append(ranking)
    overall = _group_ranking(leaderboard)
    tables = {}
    for group, rankings in groups.items():
        every = [each for each in overall[group] if each.attack != GUESSING]
        shown = tuple(every[:MOST_ATTACKS])
        names = tuple(each.attack for each in shown)
        lines = []
        for ranking in rankings:
            own = {each.attack: each for each in ranking.attacks}
            lines.append((ranking, tuple(own.get(name) for name in names)))
        if shown:
            left_out = len(every) - len(shown)
            tables[group] = DatasetTable(names, left_out, shown, tuple(lines))
    return tables


def _build_payload(
    leaderboard: Leaderboard, facts: Mapping[str, str], drawn: Sequence[Chart]
) -> dict[str, Any]:
    cells = {name: [row[name] for row in leaderboard.rows] for name in leaderboard.columns}
    reps = [sorted(row.outcomes) for row in leaderboard.summaries]
    cells["_reps"] = [" ".join(map(str, own)) for own in reps]
    for index, name in enumerate(("_got", "_prior")):
        cells[name] = [
            " ".join(str(row.outcomes[rep][index]) for rep in own)
            for row, own in zip(leaderboard.summaries, reps, strict=True)
        ]
    cells["_id"] = [_name_row(row) for row in leaderboard.summaries]
    cells["_facts"] = [json.dumps(_format_facts(row)) for row in leaderboard.summaries]
    different = [name for name in _IF_DIFFERENT if len(set(cells.get(name, ()))) > 1]
    values = [name for name in leaderboard.columns if name.startswith("value_")]
    played = any(not row.computed for row in leaderboard.summaries)
    results = [name for name in _SHOWN[4:-1] if name in leaderboard.columns] if played else []
    return {
        "size": len(leaderboard.rows),
        "columns": [
            {
                "name": name,
                "kind": column.kind,
                "meaning": column.meaning,
                "direction": str(column.direction),
            }
            for name, column in leaderboard.columns.items()
            if name not in PRINTED or any(value is not None for value in cells[name])
        ],
        "cells": {name: _pack_column(values) for name, values in cells.items()},
        "shown": [*_SHOWN[:4], *results[:2], *different, *results[2:], *values, _SHOWN[-1]],
        "titles": {**TITLES, **{name: name.removeprefix("value_") for name in values}},
        "flags": {
            flag: {"weight": meaning.weight, "text": meaning.text}
            for flag, meaning in MEANINGS.items()
        },
        "glossary": GLOSSARY,
        "facts": [[name, value] for name, value in facts.items()],
        "none": NO_ATTACK,
        "guessing": GUESSING,
        "measures": {"share": SHARE_TITLE, "gain": GAIN_TITLE},
        "attacks": [
            printable(look.attack) for look in list_looks(a.attack for a in leaderboard.ranking)
        ],
        "charts": [
            {item.name: getattr(chart, item.name) for item in fields(chart)} for chart in drawn
        ],
    }


def _name_row(row: Summary) -> str:
    """A short name for links: the same as long as the game and the attack are."""
    text = json.dumps([dump_axes(row.setting), label_attack(row)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _format_facts(row: Summary) -> list[tuple[str, str]]:
    """What the mechanism states about itself, by name, as a person reads it."""
    return [
        (name, f"{value:.6g}".replace("-", "−").replace("inf", "∞"))
        for name, value in sorted(row.facts.items())
    ]


def _pack_column(values: Sequence[Value]) -> dict[str, Any]:
    """A column as one value, as indices into its different values, or as it is."""
    plain = [_to_plain(value) for value in values]
    indices = {value: index for index, value in enumerate(dict.fromkeys(plain))}
    if len(indices) == 1:
        return {"same": plain[0]}
    if len(indices) * 2 < len(plain):
        return {"values": list(indices), "indices": [indices[value] for value in plain]}
    return {"values": plain}


def _to_plain(value: Value) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return printable(value) if isinstance(value, str) else value


def _format_json(payload: object) -> str:
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash_script(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _read_script() -> str:
    """The page's own script: its parts share one scope, and nothing outside sees it."""
    body = "".join(_read_asset(f"leaderboard-{part}.js") for part in _SCRIPT_PARTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


@cache
def _read_vega() -> str:
    return gzip.decompress(SCRIPT.read_bytes()).decode()
