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
from functools import cache
from typing import Any

from markupsafe import Markup

from reconbench.benchmarks.game.setting import AXES
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.figures.charts import ASSETS, NO_ATTACK, SCRIPT, Chart, charts, chosen
from reconbench.reports.leaderboard.columns import AXIS_COLUMNS, Value
from reconbench.reports.leaderboard.glossary import GLOSSARY
from reconbench.reports.leaderboard.row_warnings import MEANINGS
from reconbench.reports.leaderboard.summary_text import in_short
from reconbench.reports.leaderboard.table import PRINTED, Board
from reconbench.reports.text.number_format import number
from reconbench.reports.text.templates import printable, template

# Numbers on the page keep this many digits; the CSV has them in full.
DIGITS = 7
# The table's columns, and those that it shows only where rows differ in them.
_SHOWN = (
    "dataset",
    "targets",
    "epsilon",
    "attack",
    "rank",
    "success",
    "baseline_expected",
    "best_possible",
    "tightest_mean",
    "tightest_0.95",
    "gap_closed",
    "normalised_advantage",
    "against_prior",
    "against_prior_holm",
    "against_rap",
    "against_rap_holm",
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
    "baseline_expected": "baseline",
    "best_possible": "best possible",
    "tightest_mean": "ceiling on the mean",
    "tightest_0.95": "95 % ceiling",
    "gap_closed": "gap closed",
    "normalised_advantage": "advantage",
    "against_prior": "vs prior",
    "against_prior_holm": "p (Holm)",
    "against_rap": "vs rap",
    "against_rap_holm": "p (Holm)",
    "attack_options": "options",
}


def page(board: Board, title: str, facts: Mapping[str, str], stale: int = 0) -> str:
    """The page as text; ``facts`` says how the results came about, by name."""
    drawn, left_out = _figures(board)
    scripts = {"vega": _vega() if drawn else "", "app": _asset("leaderboard.js")}
    finished = any(row.success is not None for row in board.summaries)
    return template("leaderboard.html").render(
        title=title,
        facts=facts,
        stale=stale,
        board=board,
        finished=finished,
        computed=all(row.computed for row in board.summaries),
        failures=[row for row in board.summaries if row.error][:20],
        short=in_short(board),
        percent=lambda share: f"{number(100 * share)} %",
        leagues=_leagues(board),
        raised=[(flag, MEANINGS[flag], count) for flag, count in board.raised().items()],
        meanings=MEANINGS,
        glossary=GLOSSARY,
        dictionary=list(board.described.values()),
        charts=drawn,
        left_out=left_out,
        filters={name: TITLES[name] for name in ("dataset", "targets", "epsilon")}
        | {"attack": "attack"},
        style=Markup(_asset("leaderboard.css")),
        scripts={name: Markup(text) for name, text in scripts.items() if text},
        hashes=" ".join(f"'sha256-{_digest(text)}'" for text in scripts.values() if text),
        data=Markup(_json(_payload(board, facts, drawn))),
    )


def _figures(board: Board) -> tuple[list[Chart], dict[str, str]]:
    """The figures that the rows allow, and why each of the others is left out."""
    every = charts(board.columns)
    drawn = [each for each in every if chosen(each, board.rows)[0]]
    return drawn, {each.title: each.absent for each in every if each not in drawn}


def _leagues(board: Board) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for each in board.standings:
        prior = "" if each.attacker_prior == "same" else f", attacker's prior {each.attacker_prior}"
        found.setdefault(f"{each.adversary} adversary{prior}", []).append(each)
    return found


def _payload(board: Board, facts: Mapping[str, str], drawn: Sequence[Chart]) -> dict[str, Any]:
    cells = {name: [row[name] for row in board.rows] for name in board.columns}
    reps = [sorted(row.outcomes) for row in board.summaries]
    pairs = list(zip(board.summaries, reps, strict=True))
    cells["_reps"] = [" ".join(map(str, found)) for found in reps]
    for place, name in enumerate(("_got", "_prior")):
        cells[name] = [" ".join(str(row.outcomes[r][place]) for r in found) for row, found in pairs]
    cells["_facts"] = [json.dumps(_format_facts(row)) for row in board.summaries]
    different = [name for name in _IF_DIFFERENT if len(set(cells.get(name, ()))) > 1]
    values = [name for name in board.columns if name.startswith("value_")]
    played = any(not row.computed for row in board.summaries)
    return {
        "size": len(board.rows),
        "columns": [
            {
                "name": name,
                "kind": each.kind,
                "meaning": each.meaning,
                "direction": str(each.direction),
            }
            for name, each in board.described.items()
            if name not in PRINTED or any(value is not None for value in cells[name])
        ],
        "cells": {name: _packed(values) for name, values in cells.items()},
        "shown": [*_SHOWN[:4], *different, *(_SHOWN[4:-1] if played else ()), *values, _SHOWN[-1]],
        "titles": {**TITLES, **{name: name.removeprefix("value_") for name in values}},
        "flags": {
            flag: {"weight": each.weight, "text": each.text} for flag, each in MEANINGS.items()
        },
        "glossary": GLOSSARY,
        "facts": [[name, value] for name, value in facts.items()],
        "none": NO_ATTACK,
        "charts": [
            {
                "name": each.name,
                "title": each.title,
                "reads": each.reads,
                "columns": each.columns,
                "needs": each.needs,
                "alike": each.alike,
                "most": each.most,
                "absent": each.absent,
                "varies": each.varies,
                "played": each.played,
                "spec": each.spec,
            }
            for each in drawn
        ],
    }


def _format_facts(row: Summary) -> list[tuple[str, str]]:
    """What the mechanism states about itself, by name, as a person reads it."""
    return [
        (name, f"{value:.6g}".replace("-", "−").replace("inf", "∞"))
        for name, value in sorted(row.facts.items())
    ]


def _packed(values: Sequence[Value]) -> dict[str, Any]:
    """A column as one value, as places in a list of its different values, or as it is."""
    plain = [_plain(value) for value in values]
    places = {value: place for place, value in enumerate(dict.fromkeys(plain))}
    if len(places) == 1:
        return {"same": plain[0]}
    if len(places) * 2 < len(plain):
        return {"values": list(places), "places": [places[value] for value in plain]}
    return {"values": plain}


def _plain(value: Value) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return printable(value) if isinstance(value, str) else value


def _json(payload: object) -> str:
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    return gzip.decompress(SCRIPT.read_bytes()).decode()
