"""The order of a leaderboard's rows, and each attack's rank in its game."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary


def ordered(summaries: Sequence[Summary]) -> list[Summary]:
    """By data set and column as they first appear, then ε, game, and falling mean success."""
    datasets = _first_seen(row.dataset for row in summaries)
    columns = _first_seen((row.dataset, row.targets) for row in summaries)
    games = _first_seen(row.setting for row in summaries)
    return sorted(
        summaries,
        key=lambda row: (
            datasets[row.dataset],
            columns[row.dataset, row.targets],
            row.epsilon,
            games[row.setting],
            row.success is None,
            -(row.success or 0.0),
        ),
    )


def ranks(summaries: Sequence[Summary]) -> list[int | None]:
    """1 + the number of attacks in the same game with more success; None without a result."""
    found: dict[Setting, list[float]] = {}
    for row in summaries:
        if row.success is not None:
            found.setdefault(row.setting, []).append(row.success)
    return [
        None
        if row.success is None
        else 1 + sum(other > row.success for other in found[row.setting])
        for row in summaries
    ]


def _first_seen(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}
