"""The figures of a leaderboard: which rows each takes and what it shows, for page and paper.

A figure draws rows from a data source named ``rows``, whose fields are columns of the board with
every sign that is no letter or digit turned into ``_``. Names of columns, attacks and data sets
reach a figure as data only, never as part of an expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from reconbench.benchmarks.game.setting import AXES, Axis, Setting
from reconbench.benchmarks.store.summary import TOP, Kind, bounds_for_any_attack
from reconbench.reports.leaderboard.columns import AXIS_COLUMNS, Value

_WHO = ("attack", "attack_options")
_ONE_RUN = ("tightest_0.05", "tightest_0.5", "tightest_0.95")
_SUCCESS = ("success", "success_low", "success_high", "baseline_expected", "best_possible")
_RECORDS = (*_SUCCESS, *_ONE_RUN, "tightest_mean")
_PRINTED = ("paper_success", "paper", "paper_note")
_TOPS = tuple(f"ceiling_{bound}_{TOP}" for bound in bounds_for_any_attack(Kind.ONE_RUN))

PARTS: Mapping[str, str] = {
    "gap_attack": "attack weakness",
    "gap_threat": "threat model",
    "gap_bound": "bound looseness",
    "gap_open": "threat and bound",
}

ASSETS = Path(__file__).parents[1] / "assets"
DRAWINGS, SCRIPT = ASSETS / "charts.json", ASSETS / "vega.js.gz"
SOURCE = "rows"
# The attack and the adversary of a computed row.
NO_ATTACK = "none"

# What the rows of a panel have in common names it. These columns a figure draws or names itself.
_DRAWN = ("targets", "known_columns", "epsilon")


def _labelled(column: str) -> str:
    """A Vega expression for a column's value with its label; nothing where it is as usual."""
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


@dataclass(frozen=True)
class Chart:
    """A figure: the rows it takes, how many, and how it draws them.

    ``needs`` are columns that must have a value; ``varies`` is a column that must take at least two
    values among rows that agree in ``alike``; ``most`` is how many groups of ``alike`` it draws.
    ``absent`` says why it is left out where no rows are left.
    """

    name: str
    title: str
    reads: str
    columns: tuple[str, ...]
    needs: tuple[str, ...]
    alike: tuple[str, ...]
    most: int
    absent: str
    spec: Mapping[str, Any]
    varies: str = ""
    played: bool = True


def field(column: str) -> str:
    """A column's name as Vega-Lite takes it without escapes."""
    return re.sub(r"[^0-9A-Za-z]", "_", column)


def chosen(
    chart: Chart, rows: Sequence[Mapping[str, Value]]
) -> tuple[list[Mapping[str, Value]], int]:
    """The rows that a figure draws, and how many groups it leaves out for want of room."""
    groups: dict[tuple[Value, ...], list[Mapping[str, Value]]] = {}
    for row in rows:
        computed = row["attack"] == NO_ATTACK == row["adversary"]
        if computed is not chart.played and all(row.get(name) is not None for name in chart.needs):
            groups.setdefault(tuple(row[name] for name in chart.alike), []).append(row)
    kept = [
        group
        for group in groups.values()
        if not chart.varies or len({row[chart.varies] for row in group}) > 1
    ]
    return [row for group in kept[: chart.most] for row in group], max(0, len(kept) - chart.most)


def _panel(game: Sequence[str], *without: str) -> str:
    return " + ".join(_labelled(name) for name in game if name not in (*_DRAWN, *without))


def calculated(**expressions: str) -> list[dict[str, Any]]:
    return [{"calculate": text, "as": name} for name, text in expressions.items()]


def shares(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Records as a percentage of n."""
    names = [field(each) for each in columns]
    return calculated(
        **{
            f"{each}_share": f"isValid(datum.{each}) ? 100 * datum.{each} / datum.n : null"
            for each in names
        }
    )


def looked_up(texts: Mapping[str, str], key: str) -> str:
    return f"{json.dumps(dict(texts))}[datum.{key}]"


@cache
def _drawings() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(DRAWINGS.read_text(encoding="utf-8"))
    return found


def spec(
    game: Sequence[str], drawing: str, group: str, *transforms: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A drawing over the data source, its panels named by an expression over a row."""
    named = calculated(
        who=_LABEL,
        budget=_BUDGET,
        budget_order="datum.epsilon === null ? 1e300 : datum.epsilon",
        panel=_panel(game),
        group=group,
    )
    source = {"data": {"name": SOURCE}, "transform": [*named, *transforms]}
    return {**source, **_drawings()[drawing]}


def folded(columns: Sequence[str], value: str) -> list[dict[str, Any]]:
    """One line a ceiling: its bound's name and its value."""
    texts = {
        field(each): each.removeprefix("ceiling_").removeprefix("value_").removesuffix(f"_{TOP}")
        for each in columns
    }
    return [
        {"fold": list(texts), "as": ["column", "raw"]},
        {"filter": "isValid(datum.raw)"},
        *calculated(value=value, bound=looked_up(texts, "column")),
    ]


# Records, promises and hits by attack and tenth, with Wilson's interval of the share that is right.
_RELIABILITY: Sequence[Mapping[str, Any]] = (
    *calculated(tenth="split(datum.calibration, ' ')"),
    {"flatten": ["tenth"]},
    *calculated(parts="split(datum.tenth, ':')"),
    *calculated(
        tenth="datum.parts[0]",
        records="toNumber(datum.parts[1])",
        sure="toNumber(datum.parts[1]) * toNumber(datum.parts[2])",
        right="toNumber(datum.parts[3])",
    ),
    {
        "aggregate": [
            {"op": "sum", "field": each, "as": each} for each in ("records", "sure", "right")
        ],
        "groupby": ["group", "who", "tenth"],
    },
    *calculated(
        said="100 * datum.sure / datum.records",
        held="100 * datum.right / datum.records",
        middle="100 * (datum.right + 1.92) / (datum.records + 3.84)",
        half=(
            "100 * 1.96 * sqrt(datum.right * (datum.records - datum.right) / datum.records + 0.96)"
            " / (datum.records + 3.84)"
        ),
    ),
    *calculated(low="datum.middle - datum.half", high="datum.middle + datum.half"),
)

_AXES: Mapping[str, str] = {
    "epsilon": "ε",
    "target_columns": "the number of columns",
    "within": "the error",
    "n": "n",
    "k": "k",
    "value_baseline": "the baseline",
}
_READS_SWEEP = (
    "Lines with marks: attacks, with 95 % intervals. Grey dashes: the prior alone. Green dots: the "
    "best possible. Purple: the most any attack gets on average. Orange: the ceiling of a single "
    "run, from 5 % to 95 %. Higher is more leaked."
)


def _sweep_chart(
    game: Sequence[str],
    name: str,
    title: str,
    drawing: str,
    varies: str,
    without: tuple[str, ...],
    group: str,
) -> Chart:
    return Chart(
        name=name,
        title=title,
        reads=_READS_SWEEP,
        columns=(*game, "target_columns", "within", *_WHO, *_RECORDS, "flags"),
        needs=("success", varies) if varies != "epsilon" else ("success",),
        alike=tuple(each for each in game if each not in without),
        most=8,
        absent=f"no rows differ in {_AXES[varies]} and in nothing else",
        spec=spec(game, drawing, group, *shares(_RECORDS)),
        varies=varies,
    )


_TARGETS = (
    "': ' + datum.targets + (0 < datum.known && datum.known < 4 ? ', knowing ' + "
    "datum.known_columns : '')"
)
_AT = "', ε = ' + datum.budget"
_TOGETHER = "(datum.target_columns > 1 ? ', ' + datum.target_columns + ' columns at once' : '')"


def charts(columns: Sequence[str]) -> list[Chart]:
    """Every figure over a board with these columns, in the order of the page."""
    game = tuple(name for name in AXIS_COLUMNS if name in columns)
    # What games have in common that differ in which columns are hidden, and in the budget alone.
    alike = tuple(name for name in game if name not in _DRAWN)
    shape = (*alike, "target_columns")
    values = tuple(
        each for each in columns if each.startswith("value_") and each != "value_baseline"
    )
    tops = tuple(each for each in _TOPS if each in columns)
    line = calculated(line="datum.targets + ', ε ' + datum.budget")
    return [
        Chart(
            "success",
            "Prior, attacks, best possible and ceilings",
            "Grey bar: the prior alone expects this. Coloured marks: attacks, mean with 95 % "
            "interval. Green star: best possible. Purple: the most any attack gets on "
            "average. Orange whisker: ceilings of a single run at 5, 50 and 95 %. P: printed in "
            "a paper. Further right is more leaked.",
            (*game, *_WHO, *_RECORDS, *_PRINTED, "flags"),
            ("success",),
            game,
            60,
            "no attack finished a repetition",
            spec(game, "bars", "datum.panel", *line, *shares((*_RECORDS, "paper_success"))),
        ),
        _sweep_chart(
            game,
            "epsilon",
            "Success against the budget ε",
            "by-epsilon",
            "epsilon",
            ("epsilon",),
            f"datum.panel + {_TARGETS}",
        ),
        _sweep_chart(
            game,
            "columns",
            "Success against the number of columns guessed at once",
            "by-columns",
            "target_columns",
            ("targets", "known_columns"),
            f"datum.panel + {_AT}",
        ),
        _sweep_chart(
            game,
            "within",
            "Success against the L1 error that still counts",
            "by-error",
            "within",
            ("metric",),
            f"{_panel(game, 'metric')} + {_TARGETS} + {_AT}",
        ),
        _sweep_chart(
            game,
            "n",
            "Success against the number of records",
            "by-n",
            "n",
            ("n",),
            f"{_panel(game, 'n')} + {_TARGETS} + {_AT}",
        ),
        _sweep_chart(
            game,
            "k",
            "Success against the size of the marginals",
            "by-k",
            "k",
            ("k",),
            f"{_panel(game, 'k')} + {_TARGETS} + {_AT}",
        ),
        Chart(
            "heat",
            "What the ceiling leaves open, by column and budget",
            "Colour: the ceiling on the mean less the mean success, in % of n. Dark: a wide gap, "
            "so a better attack or a tighter bound is missing. Light: nothing better is possible.",
            (*game, *_WHO, "success", "tightest_mean", "gap_closed"),
            ("success", "tightest_mean"),
            (*alike, *_WHO),
            12,
            "no row has both a success and a ceiling on the mean",
            spec(
                game,
                "heat",
                "datum.who + ': ' + datum.panel",
                *calculated(open="100 * (datum.tightest_mean - datum.success) / datum.n"),
            ),
        ),
        Chart(
            "split",
            "Where the gap comes from",
            "From an attack's success up to the ceiling on the mean: what the best attack of the "
            "same adversary gains (attack weakness), what knowing all other records adds (threat "
            "model), and what no attack reaches (bound looseness). Threat and bound stand as one "
            "part where the informed adversary did not play. A part a little below 0 is luck.",
            (*game, *_WHO, *PARTS),
            ("gap_attack",),
            (*game, *_WHO),
            40,
            "no game has its best possible success: add the attack posterior",
            spec(
                game,
                "split",
                "datum.panel",
                *shares(tuple(PARTS)),
                *calculated(line="datum.targets + ', ε ' + datum.budget + ', ' + datum.who"),
                {"fold": [f"{name}_share" for name in PARTS], "as": ["key", "size"]},
                {"filter": "isValid(datum.size)"},
                *calculated(part=looked_up({f"{k}_share": v for k, v in PARTS.items()}, "key")),
            ),
        ),
        Chart(
            "time",
            "Time against success",
            "Each mark is a row. Up: more of what the prior leaves was reconstructed (normalised "
            "advantage). Right: slower.",
            (*game, *_WHO, "seconds", "normalised_advantage"),
            ("seconds", "normalised_advantage"),
            game,
            400,
            "no row has both a time and a normalised advantage",
            spec(game, "time", "datum.panel", {"filter": "datum.seconds > 0"}),
        ),
        Chart(
            "bounds",
            "The 95 % ceilings of a single run, by bound",
            "The lower a line, the tighter the bound; mean over the columns of a data set.",
            (*game, "target_columns", *_WHO, *tops),
            ("tightest_0.95",),
            shape,
            8,
            "no row has a 95 % ceiling",
            spec(
                game,
                "bounds",
                f"datum.panel + {_TOGETHER}",
                *folded(tops, "100 * datum.raw / datum.n"),
            ),
        ),
        Chart(
            "calibration",
            "How right attacks are where they are sure",
            "Records put together by the chance that the attack gives its own guess, all columns "
            "and budgets of a game. On the diagonal every chance holds; below it the attack is "
            "surer than it is right. Larger marks: more records. Bars: 95 % interval, as if "
            "records were independent.",
            (
                *game,
                "target_columns",
                *_WHO,
                "repetitions",
                "promised",
                "calibration_error",
                "calibration",
            ),
            ("calibration",),
            shape,
            8,
            "no attack gave its guesses chances between 0 and 1",
            spec(game, "calibration", f"datum.panel + {_TOGETHER}", *_RELIABILITY),
        ),
        *(
            Chart(
                name,
                title,
                "Values of bounds for one target, without a table or an attack; the metric says of "
                "what. The lower a line, the tighter the bound.",
                (*game, *_WHO, "guarantee", "value_baseline", *values),
                ("value_baseline",),
                ("dataset", "metric", "mechanism", apart),
                12,
                f"no computed rows differ in {_AXES[varies]} and in nothing else",
                spec(
                    game,
                    drawing,
                    f"datum.dataset + ', ' + datum.metric + ', ' + {told}",
                    *folded(values, "datum.raw"),
                ),
                varies=varies,
                played=False,
            )
            for name, title, drawing, varies, apart, told in (
                (
                    "computed",
                    "Bounds against the budget ε, computed",
                    "computed",
                    "epsilon",
                    "value_baseline",
                    "datum.mechanism + ', baseline ' + format(datum.value_baseline, '.3~g')",
                ),
                (
                    "computed-baseline",
                    "Bounds against the baseline, computed",
                    "computed-baseline",
                    "value_baseline",
                    "guarantee",
                    "datum.guarantee",
                ),
            )
        ),
    ]
