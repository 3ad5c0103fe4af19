"""The order of a leaderboard's rows, and each attack's rank in its game."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.columns import as_json


def game(row: Summary) -> tuple[Hashable, ...]:
    """What all attacks that meet in one game have in common."""
    return (*setting(row), row.targets, row.known)


def setting(row: Summary) -> tuple[Hashable, ...]:
    """What games have in common that differ at most in which columns are targets and known."""
    return (
        row.dataset,
        row.data_hash,
        len(row.targets),
        len(row.known),
        row.n,
        row.k,
        row.epsilon,
        row.delta,
        row.mechanism,
        as_json(row.mechanism_options),
        row.metric,
        row.adversary,
        row.attacker_prior,
        row.seed,
        row.advantage,
    )


def ordered(summaries: Sequence[Summary]) -> list[Summary]:
    """By data set and column as they first appear, then ε, game, and falling mean success."""
    datasets = _first_seen(row.dataset for row in summaries)
    columns = _first_seen((row.dataset, row.targets) for row in summaries)
    games = _first_seen(game(row) for row in summaries)
    return sorted(
        summaries,
        key=lambda row: (
            datasets[row.dataset],
            columns[row.dataset, row.targets],
            row.epsilon,
            games[game(row)],
            row.success is None,
            -(row.success or 0.0),
        ),
    )


def ranks(summaries: Sequence[Summary]) -> list[int | None]:
    """1 + the number of attacks in the same game with more success; None without a result."""
    found: dict[tuple[Hashable, ...], list[float]] = {}
    for row in summaries:
        if row.success is not None:
            found.setdefault(game(row), []).append(row.success)
    return [
        None if row.success is None else 1 + sum(other > row.success for other in found[game(row)])
        for row in summaries
    ]


def _first_seen(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}
