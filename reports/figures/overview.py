"""The first picture of a leaderboard: what can be gained from the release, column by column.

Every line is one choice of hidden columns. A grey bar ends at the ceiling on the mean, a tick marks
the best possible, and marks with whiskers are attacks, all as records gained over guessing from the
prior, per 100. Budgets stand side by side, on a scale of their own. The template
``overview.html`` draws it as SVG without a script; places are percentages of a plot's width, so the
plot fills whatever width it gets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf

from reconbench.benchmarks.game.setting import AXES
from reconbench.reports.figures.roles import GUESSING, Look, list_looks
from reconbench.reports.figures.svg import Axis
from reconbench.reports.leaderboard.columns.dictionary import AXIS_COLUMNS, Value
from reconbench.reports.text.number_format import brief, budget, number, signed

Row = Mapping[str, Value]

# What is drawn at once and what "show all" adds: plots, lines of a plot, attacks of a line.
FIRST_PLOTS, ALL_PLOTS = 4, 16
FIRST_LINES, ALL_LINES = 16, 40
MOST_ATTACKS = 6
MOST_BUDGETS = 3
# Heights in pixels of a lane of a line, of the title of a plot, and of its axis.
_LANE, _TITLE, _AXIS = 8, 24, 26
_LONGEST_NAME = 19
# Intervals stretch the axis by at most this share of what is drawn without them.
_STRETCH = 0.3

_LINE_COLUMNS = ("targets", "known", "known_columns")


@dataclass(frozen=True)
class Mark:
    """An attack's gain and its interval; an end beyond the axis is drawn as an arrow."""

    look: Look
    y: float
    x: float
    low: float | None
    high: float | None
    beyond_low: bool = False
    beyond_high: bool = False


@dataclass(frozen=True)
class Line:
    """One choice of hidden columns at one budget; places in percent of the width."""

    y: float
    text: str
    most: float | None
    best: float | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Plot:
    """One budget: its lines on one axis."""

    title: str
    text: str
    zero: float
    ticks: tuple[tuple[float, str], ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Name:
    """The name of a line, and what the prior gets of 100 records."""

    y: float
    short: str
    full: str
    prior: str


@dataclass(frozen=True)
class Group:
    """Plots of one data set and setting, one per budget, whose lines have the same names."""

    title: str
    names: tuple[Name, ...]
    plots: tuple[Plot, ...]
    height: int
    line: int
    left_out: str


@dataclass(frozen=True)
class Overview:
    """The picture: groups to show at once, more groups, and what stays out of both."""

    first: tuple[Group, ...]
    more: tuple[Group, ...]
    more_plots: int
    looks: tuple[Look, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Gains:
    """One game in records per 100 beyond the prior's expectation."""

    prior: float
    most: float | None
    best: float | None
    attacks: Mapping[str, tuple[float, float | None, float | None]]

    @property
    def possible(self) -> float:
        """What can be gained, as far as it is known."""
        known = [value for value in (self.most, self.best) if value is not None]
        return known[0] if known else max((gain for gain, _, _ in self.attacks.values()), default=0)


_Lines = dict[tuple[Value, ...], dict[float, _Gains]]


def build_overview(rows: Sequence[Row], attacks: Sequence[str]) -> Overview | None:
    """Lay out the picture; ``attacks`` are ordered as ranked. None if no attack finished."""
    games = _collect_games(rows)
    if not games:
        return None
    drawn = [look for look in list_looks(attacks) if look.attack != GUESSING]
    looks, dropped = drawn[:MOST_ATTACKS], [look.attack for look in drawn[MOST_ATTACKS:]]
    order = sorted(games, key=lambda key: -_interest(games[key]))
    first: list[tuple[Value, ...]] = []
    count = 0
    for key in order:
        plots = min(MOST_BUDGETS, len(_budgets(games[key])))
        if first and count + plots > FIRST_PLOTS:
            break
        first.append(key)
        count += plots
    whole = [key for key in order if _is_cut(games[key]) or key not in first]
    more: list[tuple[Value, ...]] = []
    count = 0
    for key in whole:
        if more and count + len(_budgets(games[key])) > ALL_PLOTS:
            break
        more.append(key)
        count += len(_budgets(games[key]))
    axes = _fit_axes([games[key] for key in (*first, *more)], looks)
    names = {key: _name_group(key, order) for key in order}
    notes = []
    if len(axes) > 1:
        notes.append("Each budget has its own scale.")
    shown = {look.attack for look in looks}
    if any(
        gains.most is not None and gains.attacks[name][0] > gains.most + 0.05
        for key in (*first, *more)
        for by_budget in games[key].values()
        for gains in by_budget.values()
        for name in shown & gains.attacks.keys()
    ):
        notes.append("A mark beyond its bar is there by chance, unless a flag says otherwise.")
    if dropped:
        notes.append(f"{len(dropped)} lower-ranked attacks are in the table alone.")
    if len(more) < len(whole):
        notes.append(
            f"{len(whole) - len(more)} more settings are in the figures and the table alone."
        )
    return Overview(
        tuple(_draw_group(names[key], games[key], looks, axes, brief_form=True) for key in first),
        tuple(_draw_group(names[key], games[key], looks, axes, brief_form=False) for key in more),
        sum(len(_budgets(games[key])) for key in more),
        tuple(looks),
        tuple(notes),
    )


def _collect_games(rows: Sequence[Row]) -> dict[tuple[Value, ...], _Lines]:
    """Games by all that names a group, then by line and budget."""
    shared = [name for name in AXIS_COLUMNS if name not in (*_LINE_COLUMNS, "epsilon")]
    by_game: dict[tuple[tuple[Value, ...], tuple[Value, ...], float], list[Row]] = {}
    for row in rows:
        if row.get("expected_success") is None or row.get("baseline_expected") is None:
            continue
        group = tuple(row.get(name) for name in shared)
        line = tuple(row.get(name) for name in _LINE_COLUMNS)
        by_game.setdefault((group, line, float(row["epsilon"] or 0.0)), []).append(row)
    games: dict[tuple[Value, ...], _Lines] = {}
    for (group, line, epsilon), own in by_game.items():
        games.setdefault(group, {}).setdefault(line, {})[epsilon] = _measure(own)
    return games


def _measure(rows: Sequence[Row]) -> _Gains:
    first = rows[0]
    prior = _number(first, "baseline_expected") or 0.0
    scale = 100 / (_number(first, "n") or 1.0)

    def gain(row: Row, column: str) -> float | None:
        value = _number(row, column)
        return None if value is None else scale * (value - prior)

    return _Gains(
        scale * prior,
        gain(first, "tightest_mean"),
        gain(first, "best_possible"),
        {
            label_row(row): (
                gain(row, "expected_success") or 0.0,
                gain(row, "expected_success_low"),
                gain(row, "expected_success_high"),
            )
            for row in rows
        },
    )


def label_row(row: Row) -> str:
    """The attack of a row with its options, as the ranking names it."""
    options = row.get("attack_options")
    return str(row["attack"]) if options in (None, "{}") else f"{row['attack']} {options}"


def _number(row: Row, column: str) -> float | None:
    value = row.get(column)
    return None if value is None else float(value)


def _budgets(lines: _Lines) -> list[float]:
    return sorted({epsilon for by_budget in lines.values() for epsilon in by_budget})


def _interest(lines: _Lines) -> float:
    return max(gains.possible for by_budget in lines.values() for gains in by_budget.values())


def _is_cut(lines: _Lines) -> bool:
    return len(lines) > FIRST_LINES or len(_budgets(lines)) > MOST_BUDGETS


def _choose_budgets(budgets: Sequence[float]) -> list[float]:
    """The smallest, the largest, and some between them."""
    if len(budgets) <= MOST_BUDGETS:
        return list(budgets)
    last = MOST_BUDGETS - 1
    return [budgets[round(index * (len(budgets) - 1) / last)] for index in range(MOST_BUDGETS)]


def _fit_axes(groups: Sequence[_Lines], looks: Sequence[Look]) -> dict[float, Axis]:
    """An axis for every budget, around what is drawn at it in any group."""
    shown = {look.attack for look in looks}
    means: dict[float, list[float]] = {}
    ends: dict[float, list[float]] = {}
    for lines in groups:
        for by_budget in lines.values():
            for epsilon, gains in by_budget.items():
                drawn = [own for name, own in gains.attacks.items() if name in shown]
                places = (0.0, gains.most, gains.best, *(gain for gain, _, _ in drawn))
                means.setdefault(epsilon, []).extend(v for v in places if v is not None)
                limits = (limit for _, low, high in drawn for limit in (low, high))
                ends.setdefault(epsilon, []).extend(v for v in limits if v is not None)
    axes = {}
    for epsilon, values in means.items():
        least, most = min(values), max(values)
        room = _STRETCH * max(most - least, 1.0)
        start = max(min([least, *ends[epsilon]]), least - room)
        end = min(max([most, *ends[epsilon]]), most + room)
        margin = 0.03 * max(end - start, 1.0)
        axes[epsilon] = Axis("", start - margin, end + margin)
    return axes


def _name_group(key: tuple[Value, ...], keys: Sequence[tuple[Value, ...]]) -> str:
    """The data set, and the axes in which this group is unusual or differs from the others."""
    shared = [name for name in AXIS_COLUMNS if name not in (*_LINE_COLUMNS, "epsilon")]
    parts = []
    for index, name in enumerate(shared):
        value = key[index]
        if value is None or value == "":
            continue
        differs = len({other[index] for other in keys}) > 1
        axis = AXES.get(name)
        if name == "dataset":
            parts.append(str(value))
        elif axis is None:
            parts += [f"{name} = {value}"] if differs else []
        elif differs or (axis.usual is not None and value != axis.usual):
            parts.append(axis.label.format(axis.text(value)))
    return ", ".join(brief(part, 40) for part in parts)


def _draw_group(
    title: str,
    lines: _Lines,
    looks: Sequence[Look],
    axes: Mapping[float, Axis],
    *,
    brief_form: bool,
) -> Group:
    most = FIRST_LINES if brief_form else ALL_LINES
    order = sorted(lines, key=lambda key: -max(g.possible for g in lines[key].values()))
    kept = order[:most]
    budgets = _choose_budgets(_budgets(lines)) if brief_form else _budgets(lines)
    height = max(20, _LANE * max(1, len(looks)) + 4)
    names = []
    for index, key in enumerate(kept):
        full = _name_line(key, order)
        prior = next(iter(lines[key].values())).prior
        names.append(
            Name(_TITLE + height * (index + 0.5), brief(full, _LONGEST_NAME), full, number(prior))
        )
    hidden = {"line": len(order) - len(kept), "budget": len(_budgets(lines)) - len(budgets)}
    left_out = [
        f"{count} more {noun}{'' if count == 1 else 's'}" for noun, count in hidden.items() if count
    ]
    return Group(
        title,
        tuple(names),
        tuple(
            _draw_plot(
                title,
                epsilon,
                [(name, lines[key].get(epsilon)) for name, key in zip(names, kept, strict=True)],
                looks,
                axes[epsilon],
            )
            for epsilon in budgets
        ),
        _TITLE + height * len(kept) + _AXIS,
        height,
        " and ".join(left_out),
    )


def _name_line(key: tuple[Value, ...], keys: Sequence[tuple[Value, ...]]) -> str:
    """The hidden columns, and what is known where lines of these columns differ in it."""
    same = [other for other in keys if other[0] == key[0]]
    return str(key[0]) if len(same) == 1 else f"{key[0]}, knowing {key[2] or 'nothing'}"


def _draw_plot(
    group: str,
    epsilon: float,
    lines: Sequence[tuple[Name, _Gains | None]],
    looks: Sequence[Look],
    axis: Axis,
) -> Plot:
    def place(value: float) -> float:
        return round(100 * axis.share(value), 2)

    drawn = []
    for name, gains in lines:
        if gains is None:
            continue
        marks = []
        for index, look in enumerate(looks):
            if look.attack not in gains.attacks:
                continue
            gain, low, high = gains.attacks[look.attack]
            marks.append(
                Mark(
                    look,
                    name.y + _LANE * (index - (len(looks) - 1) / 2),
                    place(gain),
                    None if low is None else place(low),
                    None if high is None else place(high),
                    low is not None and low < axis.low,
                    high is not None and high > axis.high,
                )
            )
        drawn.append(
            Line(
                name.y,
                _describe(name.full, epsilon, gains),
                None if gains.most is None else place(gains.most),
                None if gains.best is None else place(gains.best),
                tuple(marks),
            )
        )
    title = "no noise (ε = ∞)" if isinf(epsilon) else f"ε = {budget(epsilon)}"
    return Plot(
        title,
        f"{group}, {title}: records gained over guessing, per 100, for {len(drawn)} choices of "
        "hidden columns. The table below has the numbers.",
        place(0.0),
        tuple((place(value), label.replace("-", "−")) for value, label in axis.labelled()),
        tuple(drawn),
    )


def _describe(name: str, epsilon: float, gains: _Gains) -> str:
    """What a line shows, in words."""
    parts = [f"{name}, ε = {budget(epsilon)}. Guessing: {number(gains.prior)} of 100."]
    if gains.best is not None:
        parts.append(f"Best possible: {signed(gains.best)}.")
    if gains.most is not None:
        parts.append(f"Ceiling on the mean: {signed(gains.most)}.")
    for attack, (gain, low, high) in gains.attacks.items():
        if attack != GUESSING:
            ends = "" if low is None or high is None else f" ({signed(low)} to {signed(high)})"
            parts.append(f"{brief(attack)}: {signed(gain)}{ends}.")
    return " ".join(parts)
