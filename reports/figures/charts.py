"""The figures of a leaderboard: which rows each takes and what it shows, for page and paper.

A figure draws rows from a data source named ``rows``, whose fields are columns of the leaderboard
with every character that is not a letter or a digit replaced by ``_``. Names of columns, attacks
and data sets reach a figure as data only, never as part of an expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
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

# A panel is named by what its rows have in common, except for these columns, which figures draw.
_DRAWN = ("targets", "known_columns", "epsilon")


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


@dataclass(frozen=True)
class Chart:
    """A figure: the rows it takes, how many, and how it draws them.

    ``needs`` are columns that must have a value; ``varies`` is a column that must take at least two
    values among rows that agree in ``alike``; ``most`` is how many groups of ``alike`` it draws.
    Where another figure draws the same rows against ``rival``, they are drawn against the column
    with more values among rows that agree in all of ``alike`` but the last. ``lacks`` are columns
    that must be empty; ``among`` and ``besides`` are the mechanisms that are drawn or not.
    ``absent`` says why the figure is left out where no rows are left. leaderboard.js selects by the
    same rules.
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
    rival: str = ""
    lacks: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


def field_name(column: str) -> str:
    """A column's name as Vega-Lite takes it without escapes."""
    return re.sub(r"[^0-9A-Za-z]", "_", column)


def select_rows(
    chart: Chart, rows: Sequence[Mapping[str, Value]]
) -> tuple[list[Mapping[str, Value]], int]:
    """The rows that a figure draws, and how many groups it has no room for."""
    groups: dict[tuple[Value, ...], list[Mapping[str, Value]]] = {}
    for row in rows:
        computed = row["attack"] == NO_ATTACK == row["adversary"]
        fits = (
            all(row.get(name) is not None for name in chart.needs)
            and all(row.get(name) is None for name in chart.lacks)
            and (not chart.among or row["mechanism"] in chart.among)
            and row["mechanism"] not in chart.besides
        )
        if computed is not chart.played and fits:
            groups.setdefault(tuple(row[name] for name in chart.alike), []).append(row)
    families: dict[tuple[Value, ...], list[Mapping[str, Value]]] = {}
    for key, group in groups.items():
        families.setdefault(key[:-1], []).extend(group)

    def count_values(rows: Sequence[Mapping[str, Value]], column: str) -> int:
        return len({row[column] for row in rows})

    def is_drawn(key: tuple[Value, ...], group: Sequence[Mapping[str, Value]]) -> bool:
        if chart.varies and count_values(group, chart.varies) < 2:
            return False
        family = families[key[:-1]]
        return not chart.rival or (
            count_values(family, chart.varies) >= count_values(family, chart.rival)
        )

    kept = [group for key, group in groups.items() if is_drawn(key, group)]
    return [row for group in kept[: chart.most] for row in group], max(0, len(kept) - chart.most)


def _name_panel(game: Sequence[str], *without: str) -> str:
    return " + ".join(_label_column(name) for name in game if name not in (*_DRAWN, *without))


def calculate(**expressions: str) -> list[dict[str, Any]]:
    return [{"calculate": text, "as": name} for name, text in expressions.items()]


def calculate_shares(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Records as a percentage of n."""
    names = [field_name(column) for column in columns]
    return calculate(
        **{
            f"{name}_share": f"isValid(datum.{name}) ? 100 * datum.{name} / datum.n : null"
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
        budget=_BUDGET,
        budget_order="datum.epsilon === null ? 1e300 : datum.epsilon",
        panel=_name_panel(game),
        group=group,
    )
    source = {"data": {"name": SOURCE}, "transform": [*named, *transforms]}
    return {**source, **_load_drawings()[drawing]}


def fold_columns(columns: Sequence[str], value: str) -> list[dict[str, Any]]:
    """One line per ceiling: its bound's name and its value."""
    texts = {
        field_name(name): name.removeprefix("ceiling_")
        .removeprefix("value_")
        .removesuffix(f"_{TOP}")
        for name in columns
    }
    return [
        {"fold": list(texts), "as": ["column", "raw"]},
        {"filter": "isValid(datum.raw)"},
        *calculate(value=value, bound=look_up(texts, "column")),
    ]


# Records, summed scores and hits by attack and tenth, with Wilson's interval of the hit rate.
_RELIABILITY: Sequence[Mapping[str, Any]] = (
    *calculate(tenth="split(datum.calibration, ' ')"),
    {"flatten": ["tenth"]},
    *calculate(parts="split(datum.tenth, ':')"),
    *calculate(
        tenth="datum.parts[0]",
        records="toNumber(datum.parts[1])",
        sure="toNumber(datum.parts[1]) * toNumber(datum.parts[2])",
        right="toNumber(datum.parts[3])",
    ),
    {
        "aggregate": [
            {"op": "sum", "field": name, "as": name} for name in ("records", "sure", "right")
        ],
        "groupby": ["group", "who", "tenth"],
    },
    *calculate(
        said="100 * datum.sure / datum.records",
        held="100 * datum.right / datum.records",
        middle="100 * (datum.right + 1.92) / (datum.records + 3.84)",
        half=(
            "100 * 1.96 * sqrt(datum.right * (datum.records - datum.right) / datum.records + 0.96)"
            " / (datum.records + 3.84)"
        ),
    ),
    *calculate(low="datum.middle - datum.half", high="datum.middle + datum.half"),
)

_READS_SWEEP = (
    "Lines with marks: attacks, with 95 % intervals. Grey dashes: the prior alone. Green dots: the "
    "best possible. Purple: the most any attack gets on average. Orange: the ceilings on a single "
    "run, from 5 % to 95 %. Higher is more leaked."
)
_TARGETS = (
    "': ' + datum.targets + (0 < datum.known && datum.known < 4 ? ', knowing ' + "
    "datum.known_columns : '')"
)
_AT = "', ε = ' + datum.budget"
_TOGETHER = "(datum.target_columns > 1 ? ', ' + datum.target_columns + ' columns at once' : '')"


@dataclass(frozen=True)
class _Sweep:
    """Success against one column, over rows that agree in all others but ``free``.

    ``panel`` is what the name of a panel adds to the usual axes.
    """

    name: str
    against: str
    drawing: str
    varies: str
    varies_text: str
    free: tuple[str, ...]
    panel: str

    def make_chart(self, game: Sequence[str]) -> Chart:
        needs = ("success",) if self.varies == "epsilon" else ("success", self.varies)
        group = f"{_name_panel(game, *self.free)} + {self.panel}"
        return Chart(
            name=self.name,
            title=f"Success against {self.against}",
            reads=_READS_SWEEP,
            columns=(*game, "target_columns", "within", *_WHO, *_RECORDS, "flags"),
            needs=needs,
            alike=tuple(column for column in game if column not in self.free),
            most=8,
            absent=f"no rows differ in {self.varies_text} only",
            spec=build_spec(game, self.drawing, group, *calculate_shares(_RECORDS)),
            varies=self.varies,
        )


_SWEEPS = (
    _Sweep("epsilon", "the budget ε", "by-epsilon", "epsilon", "ε", ("epsilon",), _TARGETS),
    _Sweep(
        "columns",
        "the number of columns guessed at once",
        "by-columns",
        "target_columns",
        "the number of columns",
        ("targets", "known_columns"),
        _AT,
    ),
    _Sweep(
        "within",
        "the L1 error that still counts",
        "by-error",
        "within",
        "the error",
        ("metric",),
        f"{_TARGETS} + {_AT}",
    ),
    _Sweep("n", "the number of records", "by-n", "n", "n", ("n",), f"{_TARGETS} + {_AT}"),
    _Sweep("k", "the size of the marginals", "by-k", "k", "k", ("k",), f"{_TARGETS} + {_AT}"),
)
# Guarantees whose numbers have names, such as the levels of a census.
_NAMED = ("zcdp", "discrete-gaussian")


# Columns of a computed row that say what was asked, not what came out.
_GIVEN = ("value_baseline", "value_risk")
_BASELINE = "(datum.value_baseline > 0 ? ', baseline ' + format(datum.value_baseline, '.3~g') : '')"
# Bounds computed without a game: name, title, column that varies and its text, column that is
# equal in a panel, what the name of the panel says of it, and further rules for its rows.
_COMPUTED: Sequence[tuple[str, str, str, str, str, str, Mapping[str, Any]]] = (
    (
        "computed",
        "Bounds against the budget ε, computed",
        "epsilon",
        "ε",
        "value_baseline",
        f"datum.mechanism + {_BASELINE}",
        {"lacks": ("value_risk",), "besides": _NAMED, "rival": "value_baseline"},
    ),
    (
        "computed-risk",
        "Bounds against the risk that is allowed, computed",
        "value_risk",
        "the risk",
        "value_baseline",
        f"datum.mechanism + {_BASELINE}",
        {},
    ),
    (
        "computed-levels",
        "Bounds by level, computed",
        "targets",
        "the level",
        "value_baseline",
        f"datum.mechanism + {_BASELINE}",
        {"among": _NAMED},
    ),
    (
        "computed-baseline",
        "Bounds against the baseline, computed",
        "value_baseline",
        "the baseline",
        "guarantee",
        "datum.guarantee",
        {"lacks": ("value_risk",), "besides": _NAMED, "rival": "guarantee"},
    ),
)


def list_charts(columns: Collection[str]) -> list[Chart]:
    """Every figure over a leaderboard with these columns, in the order of the page."""
    game = tuple(name for name in AXIS_COLUMNS if name in columns)
    # What games have in common that differ only in the budget and in which columns are hidden.
    alike = tuple(name for name in game if name not in _DRAWN)
    shape = (*alike, "target_columns")
    values = tuple(name for name in columns if name.startswith("value_") and name not in _GIVEN)
    tops = tuple(name for name in _TOPS if name in columns)
    line = calculate(line="datum.targets + ', ε ' + datum.budget")
    return [
        Chart(
            "success",
            "Prior, attacks, best possible and ceilings",
            "Grey bar: what the prior alone expects. Coloured marks: attacks, mean with 95 % "
            "interval. Green star: best possible. Purple: the most any attack gets on "
            "average. Orange whisker: ceilings on a single run at 5, 50 and 95 %. P: printed in "
            "a paper. Further right is more leaked.",
            (*game, *_WHO, *_RECORDS, *_PRINTED, "flags"),
            ("success",),
            game,
            60,
            "no attack finished a repetition",
            build_spec(
                game, "bars", "datum.panel", *line, *calculate_shares((*_RECORDS, "paper_success"))
            ),
        ),
        *(sweep.make_chart(game) for sweep in _SWEEPS),
        Chart(
            "heat",
            "What the ceiling leaves open, by column and budget",
            "Colour: the ceiling on the mean minus the mean success, in % of n. Dark: a wide gap, "
            "so a better attack or a tighter bound is missing. Light: nothing better is possible.",
            (*game, *_WHO, "success", "tightest_mean", "gap_closed"),
            ("success", "tightest_mean"),
            (*alike, *_WHO),
            12,
            "no row has both a success and a ceiling on the mean",
            build_spec(
                game,
                "heat",
                "datum.who + ': ' + datum.panel",
                *calculate(open="100 * (datum.tightest_mean - datum.success) / datum.n"),
            ),
        ),
        Chart(
            "split",
            "Where the gap comes from",
            "From an attack's success up to the ceiling on the mean: what the best attack of the "
            "same adversary gains (attack weakness), what knowing all other records adds (threat "
            "model), and what no attack reaches (bound looseness). Threat and bound are one "
            "part where the informed adversary did not play. Chance can make a part slightly "
            "negative.",
            (*game, *_WHO, *PARTS),
            ("gap_attack",),
            (*game, *_WHO),
            40,
            "no game has its best possible success: add the attack posterior",
            build_spec(
                game,
                "split",
                "datum.panel",
                *calculate_shares(tuple(PARTS)),
                *calculate(line="datum.targets + ', ε ' + datum.budget + ', ' + datum.who"),
                {"fold": [f"{name}_share" for name in PARTS], "as": ["key", "size"]},
                {"filter": "isValid(datum.size)"},
                *calculate(part=look_up({f"{k}_share": v for k, v in PARTS.items()}, "key")),
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
            build_spec(game, "time", "datum.panel", {"filter": "datum.seconds > 0"}),
        ),
        Chart(
            "bounds",
            "The 95 % ceilings on a single run, by bound",
            "The lower a line, the tighter the bound. Mean over the columns of a data set.",
            (*game, "target_columns", *_WHO, *tops),
            ("tightest_0.95",),
            shape,
            8,
            "no row has a 95 % ceiling",
            build_spec(
                game,
                "bounds",
                f"datum.panel + {_TOGETHER}",
                *fold_columns(tops, "100 * datum.raw / datum.n"),
            ),
        ),
        Chart(
            "calibration",
            "Score reliability: how often attacks are right when they are sure",
            "Records grouped by the probability that the attack gives its own guess, over all "
            "columns and budgets of a game. On the diagonal every probability holds; below it the "
            "attack is overconfident. Larger marks: more records. Bars: 95 % intervals, as if "
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
            "no attack gave its guesses probabilities between 0 and 1",
            build_spec(game, "calibration", f"datum.panel + {_TOGETHER}", *_RELIABILITY),
        ),
        *(
            Chart(
                name,
                title,
                "Values of bounds for one target, computed without a table or an attack; the "
                "metric says what they are. The lower a line, the tighter the bound; for a number "
                "of queries, the higher.",
                (*game, *_WHO, "guarantee", "value_baseline", "value_risk", *values),
                ("value_baseline", varies),
                ("dataset", "metric", "mechanism", alike_column),
                12,
                f"no computed rows differ in {varies_text} only",
                build_spec(
                    game,
                    name,
                    f"datum.dataset + ', ' + datum.metric + ', ' + {panel}",
                    *fold_columns(values, "datum.raw"),
                ),
                varies=varies,
                played=False,
                **rules,
            )
            for name, title, varies, varies_text, alike_column, panel, rules in _COMPUTED
        ),
    ]
