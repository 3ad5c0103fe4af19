"""Suites: named sets of games as data.

A suite is a TOML file. Each ``[[games]]`` block names axes; an axis is one value or a list, and
the block stands for the product of its axes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game import Adversary, AttackSpec, Game
from reconbench.benchmarks.runner import Unit

SUITES = files("reconbench.benchmarks") / "suites"


class SuiteError(ValueError):
    """A suite that cannot be read."""


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Numbers = Annotated[list[float], BeforeValidator(_listed), Field(min_length=1)]
Integers = Annotated[list[int], BeforeValidator(_listed), Field(min_length=1)]
Texts = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]


class AttackEntry(_Strict):
    attack: str
    options: dict[str, bool | int | float | str] = {}


class Axes(_Strict):
    """Axes of a block of games. ``targets = "each"`` is every column of the data set alone."""

    dataset: Texts
    targets: Literal["each"] | list[str | list[str]] = "each"
    known: list[str] = []
    n: Integers = [100]
    k: Integers = [3]
    epsilon: Numbers
    delta: Numbers = [1e-5]
    mechanism: Texts = ["gaussian-marginals"]
    metric: Texts = ["exact"]
    adversary: Annotated[list[Adversary], BeforeValidator(_listed), Field(min_length=1)] = [
        Adversary.REALISTIC
    ]

    def expand(self, seed: int, rep: int) -> list[Game]:
        games = []
        for dataset in self.dataset:
            axes = product(
                self._target_sets(dataset),
                self.n,
                self.k,
                self.epsilon,
                self.delta,
                self.mechanism,
                self.metric,
                self.adversary,
            )
            for targets, n, k, epsilon, delta, mechanism, metric, adversary in axes:
                games.append(
                    Game(
                        dataset=dataset,
                        targets=targets,
                        known=tuple(self.known),
                        n=n,
                        k=k,
                        epsilon=epsilon,
                        delta=delta,
                        mechanism=mechanism,
                        metric=metric,
                        adversary=adversary,
                        seed=seed,
                        rep=rep,
                    )
                )
        return games

    def _target_sets(self, dataset: str) -> list[tuple[str, ...]]:
        if self.targets == "each":
            names = plugins.prior(dataset).domain.names
            return [(name,) for name in names if name not in self.known]
        return [(t,) if isinstance(t, str) else tuple(t) for t in self.targets]


class Suite(_Strict):
    name: str
    description: str
    seed: int = 0
    repetitions: int = Field(default=5, ge=1)
    attacks: Annotated[list[str | AttackEntry], Field(min_length=1)]
    games: Annotated[list[Axes], Field(min_length=1)]

    def attack_specs(self, more: Sequence[str] = ()) -> tuple[AttackSpec, ...]:
        entries = [a if isinstance(a, AttackEntry) else AttackEntry(attack=a) for a in self.attacks]
        entries += [AttackEntry(attack=spec) for spec in more]
        return tuple(AttackSpec(plugins.absolute(e.attack), e.options) for e in entries)

    def units(
        self,
        *,
        seed: int | None = None,
        repetitions: int | None = None,
        more_attacks: Sequence[str] = (),
    ) -> list[Unit]:
        """Every round of the suite, repetitions innermost."""
        attacks = self.attack_specs(more_attacks)
        chosen = self.seed if seed is None else seed
        columns = [
            [game for axes in self.games for game in axes.expand(chosen, rep)]
            for rep in range(self.repetitions if repetitions is None else repetitions)
        ]
        return [Unit(game, attacks) for games in zip(*columns, strict=True) for game in games]


def shipped() -> dict[str, Suite]:
    """The suites that come with the package, by name."""
    paths = sorted(Path(str(SUITES)).glob("*.toml"))
    return {path.stem: read_suite(path) for path in paths}


def find_suite(spec: str) -> Suite:
    """A shipped suite by name, or one in a TOML file."""
    if spec.endswith(".toml"):
        return read_suite(Path(spec))
    suites = shipped()
    if spec not in suites:
        raise SuiteError(
            f"unknown suite {spec!r}; available: {', '.join(suites)}, or path/to/suite.toml"
        )
    return suites[spec]


def read_suite(path: Path) -> Suite:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"cannot read suite {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"suite {path} is not valid TOML: {error}") from None
    try:
        return Suite.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise SuiteError(f"suite {path}, {where}: {first['msg']}") from None
