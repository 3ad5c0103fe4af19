"""Values that papers print for games that we play too: shown beside a row, never ranked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reconbench.benchmarks.game.setting import AXES, Axis, make_plain_axis
from reconbench.benchmarks.store.summary import Summary

FILE = Path(__file__).parent / "papers.json"
# Other seeds draw other tables of the same game, and these two only measure more.
_HARMLESS = ("seed", "advantage", "held_out")


@dataclass(frozen=True)
class PrintedValues:
    """Successes out of n as a paper prints them; ``ceilings`` by confidence."""

    paper: str
    dataset: str
    targets: tuple[str, ...]
    epsilon: float
    n: int
    known: int
    metric: str
    attack: str
    baseline: float | None
    success: float | None
    ceilings: Mapping[str, float]
    note: str

    def __post_init__(self) -> None:
        for value in (self.baseline, self.success, *self.ceilings.values()):
            if value is not None and not 0 <= value <= self.n:
                raise ValueError(f"{FILE.name}: {value!r} is not between 0 and {self.n} records")

    @property
    def game(self) -> tuple[object, ...]:
        own = (self.dataset, self.targets, self.epsilon, self.n, self.known)
        return (*own, self.metric, self.attack)


@cache
def load_printed_values() -> Mapping[tuple[object, ...], PrintedValues]:
    """The printed values of all games and attacks that ship with the package."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    values = [PrintedValues(**{**entry, "targets": tuple(entry["targets"])}) for entry in entries]
    return {value.game: value for value in values}


def find_printed_values(row: Summary) -> PrintedValues | None:
    """What a paper prints for this game and attack, if nothing else about the game is unusual."""
    if row.attack_options or any(_is_unusual(row, axis) for axis in AXES.values()):
        return None
    game = (row.dataset, row.targets, row.epsilon, row.n, len(row.known), row.metric, row.attack)
    return load_printed_values().get(game)


def _is_unusual(row: Summary, axis: Axis) -> bool:
    """Whether a row has another value than the usual one on an axis that changes its numbers."""
    if axis.usual is None or axis.name in _HARMLESS:
        return False
    return str(make_plain_axis(getattr(row, axis.name))) != str(axis.usual)
