"""What papers print for games that are also played here: shown beside a row, never ranked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reconbench.benchmarks.store.summary import Summary

FILE = Path(__file__).parent / "papers.json"


@dataclass(frozen=True)
class Printed:
    """Successes out of n as a paper prints them; ``ceilings`` by confidence."""

    paper: str
    dataset: str
    targets: tuple[str, ...]
    epsilon: float
    n: int
    metric: str
    attack: str
    baseline: float | None
    success: float | None
    ceilings: Mapping[str, float]
    note: str

    def __post_init__(self) -> None:
        given = [self.baseline, self.success, *self.ceilings.values()]
        for value in given:
            if value is not None and not 0 <= value <= self.n:
                raise ValueError(f"{FILE.name}: {value!r} is not between 0 and {self.n} records")

    @property
    def game(self) -> tuple[object, ...]:
        return (self.dataset, self.targets, self.epsilon, self.n, self.metric, self.attack)


@cache
def printed() -> Mapping[tuple[object, ...], Printed]:
    """Every printed value that ships, by game and attack."""
    raw = json.loads(FILE.read_text(encoding="utf-8"))
    found = [Printed(**{**each, "targets": tuple(each["targets"])}) for each in raw]
    return {each.game: each for each in found}


def printed_for(row: Summary) -> Printed | None:
    """What a paper prints for this game and attack, if the adversary is the paper's."""
    if row.adversary != "realistic" or row.attacker_prior != "same" or row.attack_options:
        return None
    return printed().get((row.dataset, row.targets, row.epsilon, row.n, row.metric, row.attack))
