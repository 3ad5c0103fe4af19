"""The figures of a leaderboard: which rows each takes and what it shows, for page and paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reconbench.benchmarks.store.summary import Kind
from reconbench.benchmarks.store.tightest import TOP, bounds_for_any_attack
from reconbench.reports.figures.chart_specs import (
    DRAWN,
    SCORED,
    build_spec,
    calculate,
    calculate_records,
    calculate_shares,
    fold_columns,
    look_up,
    name_panel,
    use_measure,
)
from reconbench.reports.figures.roles import BEST, MOST, ONE_RUN, PRIOR
from reconbench.reports.leaderboard.columns.dictionary import AXIS_COLUMNS, Value

_WHO = ("attack", "attack_options")
_ONE_RUN = ("tightest_0.05", "tightest_0.5", "tightest_0.95")
_SUCCESS = (
    "expected_success",
    "expected_success_low",
    "expected_success_high",
    "baseline_expected",
    "best_possible",
)
_RECORDS = (*_SUCCESS, *_ONE_RUN, "tightest_mean")
_PRINTED = ("paper_success", "paper", "paper_note")
_TOPS = tuple(f"ceiling_{bound}_{TOP}" for bound in bounds_for_any_attack(Kind.ONE_RUN))

PARTS: Mapping[str, str] = {
    "gap_attack": "attack weakness",
    "gap_rows": "sampling of rows",
    "gap_threat": "threat model",
    "gap_bound": "bound looseness",
    "gap_open": "threat and bound",
}

# The attack and the adversary of a computed row.
NO_ATTACK = "none"
# How a figure measures records: as they are, or as gains over what the prior expects.
SHARE, GAIN = "share", "gain"


@dataclass(frozen=True)
class Chart:
    """A figure: the rows it takes, how many, and how it draws them.

    ``needs`` are columns that must have a value; ``varies`` is a column that must take at least two
    values among rows that agree in ``alike``; ``most`` is how many groups of ``alike`` it draws,
    those with most to gain first.
    Computed rows have figures of their own, see ``computed``. ``absent`` says why the figure is
    left out where no rows are left. ``measure`` is set where readers choose between records and
    gains, and ``roles`` names the marks that are no attack. leaderboard-figures.js selects by the
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
    measure: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)


def measure_interest(rows: Sequence[Mapping[str, Value]]) -> float:
    """What these rows leave to gain, as a share of n: figures draw most of it first."""

    def gain(row: Mapping[str, Value]) -> float:
        top, prior = row.get("tightest_mean"), row.get("baseline_expected")
        top = row.get("expected_success") if top is None else top
        return 0.0 if top is None or prior is None else (float(top) - float(prior)) / _size(row)

    return max(map(gain, rows))


def _size(row: Mapping[str, Value]) -> float:
    return float(row.get("n") or 1)


def select_rows(
    chart: Chart, rows: Sequence[Mapping[str, Value]]
) -> tuple[list[Mapping[str, Value]], int]:
    """The rows that a figure draws, and how many groups it has no room for."""
    groups: dict[tuple[Value, ...], list[Mapping[str, Value]]] = {}
    for row in rows:
        computed = row["attack"] == NO_ATTACK == row["adversary"]
        if not computed and all(row.get(name) is not None for name in chart.needs):
            groups.setdefault(tuple(row[name] for name in chart.alike), []).append(row)
    kept = [
        group
        for group in groups.values()
        if not chart.varies or len({row[chart.varies] for row in group}) > 1
    ]
    kept.sort(key=lambda group: -measure_interest(group))
    return [row for group in kept[: chart.most] for row in group], max(0, len(kept) - chart.most)


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
            *({"op": "sum", "field": name, "as": name} for name in ("records", "sure", "right")),
            {"op": "min", "field": "place", "as": "place"},
        ],
        "groupby": ["group", "who", "whose", "tenth"],
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
    "Coloured lines with marks: attacks, expected success with 95 % intervals. Grey dashes: the "
    "prior alone. Black dots: the best possible. Grey line: the ceiling on the mean. Grey area: "
    "the ceilings on a single run, from 5 % to 95 %. Higher is more leaked."
)
_ROLES: Mapping[str, str] = {
    PRIOR: "the prior alone",
    BEST: "best possible",
    MOST: "ceiling on the mean",
    ONE_RUN: "ceilings on a single run, 5 to 95 %",
}
_COLON = "': ' + "
_TARGETS = (
    f"{_COLON}datum.targets + (0 < datum.known && datum.known < 4 ? ', knowing ' + "
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
        needs = ("expected_success", *(() if self.varies == "epsilon" else (self.varies,)))
        group = f"{name_panel(game, *self.free)} + {self.panel}"
        return Chart(
            name=self.name,
            title=f"Success against {self.against}",
            reads=_READS_SWEEP,
            columns=(*game, "target_columns", "within", *_WHO, *_RECORDS, "flags"),
            needs=needs,
            alike=tuple(column for column in game if column not in self.free),
            most=8,
            absent=f"no rows differ in {self.varies_text} only",
            spec=use_measure(
                build_spec(game, self.drawing, group, *calculate_records(_RECORDS)), False
            ),
            varies=self.varies,
            measure=SHARE,
            roles={f"{role}-line": text for role, text in _ROLES.items()},
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


def list_charts(columns: Collection[str]) -> list[Chart]:
    """Every figure over a leaderboard with these columns, in the order of the page."""
    game = tuple(name for name in AXIS_COLUMNS if name in columns)
    # What games have in common that differ only in the budget and in which columns are hidden.
    alike = tuple(name for name in game if name not in DRAWN)
    shape = (*alike, "target_columns")
    tops = tuple(name for name in _TOPS if name in columns)
    line = calculate(line=f"{_TARGETS.removeprefix(_COLON)}")
    parts = {name: title for name, title in PARTS.items() if name in columns}
    return [
        Chart(
            "success",
            "Prior, attacks, best possible and ceilings",
            "Coloured marks: attacks, expected success with 95 % interval. Grey bar: from the "
            "prior to the ceiling on the mean, the most that any attack gets on average. Black "
            "tick: best possible. Grey whisker with ends: ceilings on a single run, from 5 to "
            "95 %. P: printed in a paper. Further right is more leaked.",
            (*game, *_WHO, *_RECORDS, *_PRINTED, "flags"),
            ("expected_success",),
            game,
            60,
            "no attack finished a repetition",
            use_measure(
                build_spec(
                    game,
                    "bars",
                    f"datum.panel + {_AT}",
                    *line,
                    *calculate_records((*_RECORDS, "paper_success")),
                ),
                True,
            ),
            measure=GAIN,
            roles=_ROLES,
        ),
        *(sweep.make_chart(game) for sweep in _SWEEPS),
        Chart(
            "heat",
            "What the ceiling leaves open, by column and budget",
            "Numbers: the ceiling on the mean minus the expected success, in % of n. Dark: a wide "
            "gap, so a better attack or a tighter bound is missing. Light: nothing better is "
            "possible. Below 0: above the ceiling by chance, unless a flag says otherwise.",
            (*game, *_WHO, *_SUCCESS, "tightest_mean", "gap_closed"),
            ("expected_success", "tightest_mean"),
            (*alike, *_WHO),
            12,
            "no row has both a success and a ceiling on the mean",
            build_spec(
                game,
                "heat",
                "datum.who + ': ' + datum.panel",
                *calculate(
                    open=f"100 * (datum.tightest_mean - datum.expected_success) / {SCORED}",
                    possible=f"(datum.tightest_mean - datum.baseline_expected) / {SCORED}",
                ),
                {
                    "joinaggregate": [
                        {"op": "min", "field": "open", "as": "least"},
                        {"op": "max", "field": "open", "as": "widest"},
                    ]
                },
            ),
        ),
        Chart(
            "split",
            "Where the gap comes from",
            "From an attack's success up to the ceiling on the mean: what the best attack of the "
            "same adversary gains (attack weakness), what a longer synthetic table adds (sampling "
            "of rows), what knowing all other records adds (threat model), and what no attack "
            "reaches (bound looseness). Threat and bound are one part where the informed adversary "
            "did not play. Chance can make a part slightly negative.",
            (*game, *_WHO, *parts),
            ("gap_attack",),
            (*game, *_WHO),
            40,
            "no game has its best possible success: add the attack posterior",
            build_spec(
                game,
                "split",
                "datum.panel",
                *calculate_shares(tuple(parts)),
                *calculate(line="datum.targets + ', ε ' + datum.budget + ', ' + datum.who"),
                {"fold": [f"{name}_share" for name in parts], "as": ["key", "size"]},
                {"filter": "isValid(datum.size)"},
                *calculate(part=look_up({f"{k}_share": v for k, v in parts.items()}, "key")),
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
                *fold_columns(tops, f"100 * datum.raw / {SCORED}"),
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
    ]
