"""Suites: named sets of games and of computations, as data.

A suite is a TOML file. Each ``[[games]]`` block names axes; an axis is one value or a list, and
the block stands for the product of its axes. ``[[curves]]`` blocks are computations without a
table or an attack, see ``benchmarks.computations``. A suite may include others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from reconbench.benchmarks import plugins
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.computations.guarantees import Guarantees
from reconbench.benchmarks.computations.kinds import KINDS, Curve
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.nesting import measure_depth
from reconbench.benchmarks.plugins.bounds import check_bound_files
from reconbench.benchmarks.run.runner import Unit
from reconbench.benchmarks.store.store import identify_attack
from reconbench.benchmarks.suites.game_block import (
    AttackEntry,
    Attacks,
    GameBlock,
    MechanismEntry,
    Strict,
)
from reconbench.datasets.near_names import suggest_name

# More rows are refused unless asked for: planning alone would take minutes and gigabytes.
MOST_ROWS = 1_000_000
# A suite is a short text. More than this is a mistake, or meant to do harm.
MOST_BYTES = 4 << 20
DEEPEST = 20

SUITES = files("reconbench.benchmarks.suites") / "shipped"


class SuiteError(ValueError):
    """A suite that cannot be read."""


class Suite(Strict):
    """A TOML file as it was read and validated; ``parts`` adds the suites that it includes."""

    name: str = Field(min_length=1)
    description: str
    seed: Annotated[int, Field(strict=True)] = 0
    repetitions: Annotated[int, Field(ge=1, strict=True)] = 5
    attacks: Attacks | None = None
    games: Annotated[list[GameBlock], Field(min_length=1)] | None = None
    curves: Annotated[list[Curve], Field(min_length=1)] | None = None
    bounds: Annotated[list[str], Field(min_length=1)] | None = None
    include: Annotated[list[str], Field(min_length=1)] | None = None

    _parts: tuple[Suite, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not (self.games or self.curves or self.include):
            raise ValueError("nothing to run; add [[games]], [[curves]] or include = [...]")
        bare = [i for i, axes in enumerate(self.games or ()) if axes.attacks is None]
        if bare and self.attacks is None:
            raise ValueError(
                f"attacks: games.{bare[0]} has none; add attacks = [...] to the suite or the block"
            )
        return self

    @property
    def parts(self) -> tuple[Suite, ...]:
        """This suite and the ones that it includes, each once, in the order of the file."""
        parts = {self.name: self}
        for part in self._parts:
            parts |= {inner.name: inner for inner in part.parts if inner.name not in parts}
        return tuple(parts.values())

    def units(
        self,
        *,
        seed: int | None = None,
        repetitions: int | None = None,
        more_attacks: Sequence[str | AttackSpec] = (),
        more_bounds: Sequence[str] = (),
        most_rows: int = MOST_ROWS,
    ) -> list[Unit]:
        """Every round of the suite, repetitions innermost; a round that two blocks share, once.

        None if the suite has computations only. Refused before anything is listed if there are more
        than ``most_rows`` rows.
        """
        rows = self.count_rows(repetitions=repetitions, more_attacks=len(more_attacks))
        if rows > most_rows:
            raise SuiteError(
                f"suite {self.name} has {rows:,} rows, more than {most_rows:,}; list fewer values, "
                f"lower the repetitions, or allow it with --max-rows {rows}"
            )
        more = tuple(
            spec if isinstance(spec, AttackSpec) else AttackSpec(plugins.make_absolute(spec))
            for spec in more_attacks
        )
        rounds: dict[Game, dict[tuple[str, str], AttackSpec]] = {}
        for part in self.parts:
            for game, attacks in part._rounds(seed, repetitions):
                specs = rounds.setdefault(game, {})
                for spec in (*attacks, *more):
                    specs.setdefault(identify_attack(spec), spec)
        if more and not rounds:
            raise SuiteError(
                f"suite {self.name} has computations only, nothing that attack {more[0].spec!r} "
                "could play; leave it out, or choose a suite with games"
            )
        own_bounds = [spec for part in self.parts for spec in part.bounds or ()]
        bounds = check_bound_files((*own_bounds, *more_bounds))
        return [Unit(game, tuple(specs.values()), bounds) for game, specs in rounds.items()]

    def count_rows(self, *, repetitions: int | None = None, more_attacks: int = 0) -> int:
        """How many rows the games ask for, before ``exclude``, counted without listing them.

        A round that two blocks share counts twice.
        """
        rows = 0
        for part in self.parts:
            for index, axes in enumerate(part.games or ()):
                attacks = len(axes.attacks or part.attacks or ()) + more_attacks
                reps = repetitions or axes.repetitions or part.repetitions
                with part.prefix_errors(index):
                    rows += axes.count() * reps * attacks
        return rows

    def computations(self) -> list[tuple[str, Curve]]:
        """The computations of this suite and of those it includes, with the name of theirs."""
        return [(part.name, curve) for part in self.parts for curve in part.curves or ()]

    def points(self) -> list[Point]:
        """The rows of all computations, yet to be computed."""
        every = (point for name, curve in self.computations() for point in curve.points(name))
        points = list(islice(every, MOST_ROWS + 1))
        if len(points) > MOST_ROWS:
            raise SuiteError(
                f"suite {self.name} has more than {MOST_ROWS:,} computed rows; list fewer values"
            )
        return points

    @contextmanager
    def prefix_errors(self, index: int) -> Iterator[None]:
        """Begin every error with the suite and the block that caused it."""
        try:
            yield
        except ValueError as error:
            raise SuiteError(f"suite {self.name}, games.{index}.{error}") from None

    def _rounds(
        self, seed: int | None, repetitions: int | None
    ) -> Iterator[tuple[Game, tuple[AttackSpec, ...]]]:
        for index, axes in enumerate(self.games or ()):
            where = f"suite {self.name}, games.{index}"
            own = axes.attacks is not None
            attacks = self._specs(
                axes.attacks or self.attacks or [], where if own else f"suite {self.name}"
            )
            reps = repetitions or axes.repetitions or self.repetitions
            with self.prefix_errors(index):
                games = axes.expand(self.seed if seed is None else seed)
            for game in games:
                for rep in range(reps):
                    yield game.repeat(rep), attacks

    def _specs(self, entries: Sequence[AttackEntry], where: str) -> tuple[AttackSpec, ...]:
        specs = tuple(AttackSpec(plugins.make_absolute(e.attack), e.options) for e in entries)
        for spec in specs:
            try:
                plugins.check_known("attack", spec.spec)
            except plugins.PluginError as error:
                raise SuiteError(f"{where}.attacks: {error}") from None
        return specs


def shipped() -> dict[str, Suite]:
    """The suites that come with the package, by name."""
    paths = sorted(Path(str(SUITES)).glob("*.toml"))
    return {path.stem: read_suite(path) for path in paths}


def find_suite(spec: str) -> Suite:
    """A shipped suite by name, or one in a TOML file."""
    return read_suite(_path(spec, Path()))


def read_suite(path: Path) -> Suite:
    return _read(path, ())


def _read(path: Path, within: tuple[Path, ...]) -> Suite:
    path = path.resolve()
    if path in within:
        chain = " -> ".join(suite.stem for suite in (*within[within.index(path) :], path))
        raise SuiteError(f"suite {within[-1]}, include: the suites include each other: {chain}")
    if len(within) >= DEEPEST:
        raise SuiteError(f"suite {within[-1]}, include: more than {DEEPEST} suites in one another")
    raw = _read_toml(path)
    try:
        suite = Suite.model_validate(_resolve_files(raw, path.parent))
    except ValidationError as error:
        raise SuiteError(f"suite {path}, {_describe_first(error)}") from None
    parts = []
    for spec in suite.include or ():
        try:
            part = _path(spec, path.parent)
        except SuiteError as error:
            raise SuiteError(f"suite {path}, include: {error}") from None
        parts.append(_read(part, (*within, path)))
    suite._parts = tuple(parts)
    return suite


def _read_toml(path: Path) -> dict[str, Any]:
    """Parse a file that may be too large or nested too deeply to be a suite."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SuiteError(f"cannot read suite {path}: it has more than {MOST_BYTES >> 20} MiB")
        raw = tomllib.loads(content.decode())
        if measure_depth(raw) > DEEPEST:
            raise RecursionError
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"cannot read suite {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"suite {path} is not valid TOML: {error}") from None
    except RecursionError:
        raise SuiteError(
            f"suite {path} is not a suite: its values are nested more than {DEEPEST} deep"
        ) from None
    return raw


def _resolve_files(raw: Any, folder: Path) -> Any:
    """What was read, with paths of plugins and priors resolved against the suite's folder."""
    if isinstance(raw, dict):
        return {
            key: raw[key] if key == "options" else _resolve_files(raw[key], folder) for key in raw
        }
    if isinstance(raw, list):
        return [_resolve_files(item, folder) for item in raw]
    file = plugins.get_file(raw) if isinstance(raw, str) else None
    if file is None or Path(file).is_absolute() or not (folder / file).is_file():
        return raw
    return plugins.move_file(raw, folder / file)


def _path(spec: str, folder: Path) -> Path:
    if spec.endswith(".toml"):
        if not (folder / spec).is_file():
            raise SuiteError(f"cannot read suite {folder / spec}: no such file")
        return folder / spec
    paths = {path.stem: path for path in sorted(Path(str(SUITES)).glob("*.toml"))}
    if spec not in paths:
        raise SuiteError(
            f"unknown suite {spec!r}; available: {', '.join(paths)}, or path/to/suite.toml"
            f"{suggest_name(spec, paths)}"
        )
    return paths[spec]


def _describe_first(error: ValidationError) -> str:
    """The first error in one line; unknown keys come before the keys that are missing for them."""
    first = min(error.errors(), key=lambda details: details["type"] != "extra_forbidden")
    location = first["loc"]
    if location[:1] == ("curves",) and len(location) > 2:
        location = (*location[:2], *location[3:])  # without the kind of computation
    keys = [str(key) for key in location if not str(key).startswith("function-")]
    text, kind = first["msg"].removeprefix("Value error, "), first["type"]
    if kind == "extra_forbidden":
        text += _suggest_key(first["loc"])
    elif kind == "too_short":
        text += "; give a value or leave the key out"
    elif kind == "missing":
        text += f"; add {keys[-1]} = ..."
    elif kind != "value_error":
        text += f", got {first['input']!r}"[:120]
    return f"{'.'.join(keys) or 'the file'}: {text}"


def _suggest_key(location: tuple[int | str, ...]) -> str:
    """The key that was most likely meant by an unknown one, or all that are allowed there."""
    models: dict[str, type[BaseModel]] = {
        "games": GameBlock,
        "attacks": AttackEntry,
        "mechanism": MechanismEntry,
        "guarantee": Guarantees,
        **KINDS,
    }
    names = [str(key) for key in location[:-1] if not isinstance(key, int)]
    if names and names[-1] not in models:
        return f"; see docs/computations.md for the keys of {names[-1]}"
    allowed = list((models.get(names[-1], Suite) if names else Suite).model_fields)
    return suggest_name(str(location[-1]), allowed) or f"; known keys: {', '.join(allowed)}"
