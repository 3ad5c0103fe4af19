"""Figures 4 to 7 of Swanberg 2025 on other priors: the games that remain of each suite.

The shipped priors stand in: those of the paper's own data have the same columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.suites.replaced_axes import replace_axes
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.reports.figures.charts import list_charts
from reconbench.reports.leaderboard.columns.dictionary import AXIS_COLUMNS
from reconbench.reports.text.number_format import budget

# The figure of a leaderboard that shows what a figure of the paper shows.
CHARTS: Mapping[int, str] = {4: "success", 5: "epsilon", 6: "columns", 7: "within"}


def list_own_figures() -> list[dict[str, object]]:
    """A line per figure: its games on either data set, and the figure of the page."""
    titles = {chart.name: chart.title for chart in list_charts(AXIS_COLUMNS)}
    return [
        {
            "number": number,
            "chart": titles[chart],
            **{name: describe_games(_play_on(number, name)) for name in ("acs", "fire")},
        }
        for number, chart in CHARTS.items()
    ]


def _play_on(number: int, dataset: str) -> list[Game]:
    suite = replace_axes(find_suite(f"swanberg-fig{number}"), {"dataset": [dataset]}).suite
    return [unit.game for unit in suite.units(repetitions=1)]


def describe_games(games: Sequence[Game]) -> str:
    """Which columns, budgets and errors the games have, in a few words."""
    sizes = sorted({len(game.targets) for game in games})
    sets = list(dict.fromkeys(game.targets for game in games))
    if sizes != [1]:
        what = f"{sizes[0]} to {sizes[-1]} columns at once, {len(games[0].known)} known"
    else:
        what = sets[0][0] if len(sets) == 1 else f"{len(sets)} columns alone"
    epsilons = sorted({game.epsilon for game in games})
    span = " to ".join(dict.fromkeys(map(budget, (epsilons[0], epsilons[-1]))))
    errors = [game.metric.partition(":")[2] for game in games if game.metric != "exact"]
    within = f", within errors {errors[0]} to {errors[-1]}" if errors else ""
    return f"{len(games)} games: {what}, ε = {span}{within}"
