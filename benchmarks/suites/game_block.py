"""A suite's block of games: values on the axes of a setting, and their product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Self, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game import misfit
from reconbench.benchmarks.game.options import Option, Options
from reconbench.benchmarks.game.play import Game, check
from reconbench.benchmarks.game.setting import AXES, Adversary, Setting
from reconbench.datasets import Prior

EACH = "each"


class AxesError(ValueError):
    """Axes that do not make games."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def told_attacks(value: Any) -> Any:
    """Attacks may be given by name alone."""
    return _entries(value, "attack")


def told_mechanisms(value: Any) -> Any:
    """Mechanisms may be given by name alone."""
    return _entries(value, "mechanism")


def _entries(value: Any, key: str) -> list[Any]:
    return [{key: each} if isinstance(each, str) else each for each in listed(value)]


def span(text: str, prefix: str) -> range | None:
    """The whole numbers of ``prefix:A-B`` or ``prefix:A``; None if the text is something else."""
    kind, _, numbers = text.partition(":")
    low, _, high = numbers.partition("-")
    if kind != prefix or not low.isdecimal() or not (high or low).isdecimal():
        return None
    return range(int(low), int(high or low) + 1)


def _column_sets(value: Any) -> Any:
    """A list of column sets, or one of the words that stand for several."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise ValueError('give "each", "visit:A-B" or a list of columns, at least one')
    for each in value:
        names = each if isinstance(each, list) else [each]
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"a column is named by a text, several by a list of texts, got {each!r}"
            )
    return value


def _known(value: Any) -> Any:
    if isinstance(value, str):
        if span(value, "last") is None:
            raise ValueError(f'give a list of columns or "last:N", got {value!r}')
        return value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f'give a list of columns or "last:N", got {value!r}')
    return value


def _metrics(value: Any) -> Any:
    found = []
    for text in listed(value):
        errors = span(text, "l1") if isinstance(text, str) else None
        if isinstance(text, str) and errors is None:
            text = plugins.make_absolute(text)
        found += [text] if errors is None else [f"l1:{error}" for error in errors]
    return found


def _adversaries(value: Any) -> Any:
    for each in listed(value):
        if each not in list(Adversary):
            raise ValueError(f"use {' or '.join(Adversary)}, got {each!r}")
    return listed(value)


def _attacker_priors(value: Any) -> Any:
    for each in listed(value):
        misfit.check_spec(str(each))
    return listed(value)


Whole = Annotated[int, Field(ge=1, strict=True)]
Epsilon = Annotated[float, Field(gt=0, strict=True)]
Delta = Annotated[float, Field(ge=0, lt=1, strict=True)]
Wholes = Annotated[list[Whole], BeforeValidator(listed), Field(min_length=1)]
Texts = Annotated[list[str], BeforeValidator(listed), Field(min_length=1)]


class AttackEntry(Strict):
    attack: str
    options: dict[str, Option] = {}


class MechanismEntry(Strict):
    mechanism: str
    options: dict[str, Option] = {}


Mechanisms = Annotated[list[MechanismEntry], BeforeValidator(told_mechanisms), Field(min_length=1)]

# What the values of these axes look like in a suite. Any other axis takes a list of its own type.
_VALUES: dict[str, Any] = {
    "dataset": Texts,
    "targets": Annotated[str | list[Any], BeforeValidator(_column_sets)],
    "known": Annotated[Any, BeforeValidator(_known)],
    "epsilon": Annotated[list[Epsilon], BeforeValidator(listed), Field(min_length=1)],
    "delta": Annotated[list[Delta], BeforeValidator(listed), Field(min_length=1)],
    "n": Wholes,
    "mechanism": Mechanisms,
    "metric": Annotated[Texts, BeforeValidator(_metrics)],
    "adversary": Annotated[Texts, BeforeValidator(_adversaries)],
    "attacker_prior": Annotated[Texts, BeforeValidator(_attacker_priors)],
}
# The suite has one seed, options stand with their mechanism, and the prior is hashed when played.
_ELSEWHERE = ("mechanism_options", "seed", "data_hash")
# Chosen for each data set before the product of the others is taken.
_BY_DATASET = ("dataset", "targets", "known", "mechanism")


def _values(name: str) -> Any:
    if name in _VALUES:
        return _VALUES[name]
    value: Any = Annotated[get_type_hints(Setting)[name], Field(strict=True)]
    return Annotated[list[value], BeforeValidator(listed), Field(min_length=1)]


def _default(name: str) -> Any:
    """The value of a setting's field, as a list of one; columns are no list of values."""
    if name == "targets":
        return EACH
    field = Setting.__dataclass_fields__[name]
    if field.default is MISSING:
        return ...
    if name == "mechanism":
        return [MechanismEntry(mechanism=field.default)]
    return [] if name == "known" else [field.default]


class _Exclude(Strict):
    k: Wholes | None = None

    def covers(self, game: Game) -> bool:
        """Whether a game has one of the listed values on every listed axis."""
        if self.k is not None and game.mechanism_options.get("k", 3) not in self.k:
            return False
        return all(
            self._matches(name, values, game)
            for name in AXES
            if (values := getattr(self, name, None)) is not None
        )

    @staticmethod
    def _matches(name: str, values: Sequence[Any], game: Game) -> bool:
        if name in ("targets", "known"):
            values = [(value,) if isinstance(value, str) else tuple(value) for value in values]
        elif name == "dataset":
            values = [plugins.make_absolute(spec) for spec in values]
        elif name == "mechanism":
            return any(_releases(entry, game) for entry in values)
        return getattr(game, name) in values


def _releases(entry: str | MechanismEntry, game: Game) -> bool:
    """Whether a game's mechanism is that of an entry; by name alone, with any options."""
    if isinstance(entry, str):
        return game.mechanism == plugins.make_absolute(entry)
    options = plugins.drop_default_options(entry.mechanism, Options(entry.options))
    # A k of the block is no option of the entry.
    played = game.mechanism_options if "k" in entry.options else game.mechanism_options.without("k")
    return game.mechanism == plugins.make_absolute(entry.mechanism) and played == options


_EXCLUDED: dict[str, Any] = {
    "targets": Annotated[list[str | list[str]], BeforeValidator(listed)],
    "known": Annotated[list[str | list[str]], BeforeValidator(listed)],
    "mechanism": Annotated[
        list[str | MechanismEntry], BeforeValidator(listed), Field(min_length=1)
    ],
}


def _add_axes(base: Any, doc: str, types: Mapping[str, Any], defaults: Callable[[str], Any]) -> Any:
    """A model with a key for every axis that a block chooses, beside those of its own."""
    axes = {name: (types[name], defaults(name)) for name in AXES if name not in _ELSEWHERE}
    create: Any = create_model
    return create(base.__name__.lstrip("_"), __base__=base, __doc__=doc, **axes)


if TYPE_CHECKING:
    Exclude = _Exclude
else:
    Exclude = _add_axes(
        _Exclude,
        "Games to leave out; a mechanism by name alone stands for it with any options.",
        {name: _EXCLUDED.get(name, _values(name)) | None for name in AXES},
        lambda name: None,
    )


class _GameBlock(Strict):
    k: Wholes | None = None
    attacks: (
        Annotated[list[AttackEntry], BeforeValidator(told_attacks), Field(min_length=1)] | None
    ) = None
    repetitions: Whole | None = None
    include: list[dict[str, Any]] = []
    exclude: list[Exclude] = []

    if TYPE_CHECKING:
        dataset: list[str]
        targets: str | list[Any]
        known: Any
        mechanism: list[MechanismEntry]

    @model_validator(mode="after")
    def _included(self) -> Self:
        for place in range(len(self.include)):
            try:
                _ = self._with(place)
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(str(part) for part in first["loc"])
                raise ValueError(f"include.{place}.{key}: {first['msg']}") from None
        return self

    def expand(self, seed: int) -> list[Game]:
        """The games of the block, each once, as their repetition 0; errors begin with the key."""
        games = self._product(seed)
        for place in range(len(self.include)):
            games += self._with(place)._product(seed)
        for place, out in enumerate(self.exclude):
            left = [game for game in games if not out.covers(game)]
            if len(left) == len(games):
                raise AxesError(f"exclude.{place}: no game has these values; correct or remove it")
            games = left
        if not games:
            raise AxesError("exclude: no game is left; remove an entry")
        return list(dict.fromkeys(games))

    def _with(self, place: int) -> _GameBlock:
        """The block of an entry of ``include``: its axes, and this block's where it has none."""
        entry = self.include[place]
        odd = [key for key in ("include", "exclude", "attacks", "repetitions") if key in entry]
        if odd:
            raise ValueError(
                f"include.{place}.{odd[0]}: only axes stand here; add a [[games]] block"
            )
        own = self.model_dump(exclude={"include", "exclude", "attacks", "repetitions"})
        return GameBlock.model_validate({**own, **entry})

    def _product(self, seed: int) -> list[Game]:
        others = [name for name in AXES if name not in (*_ELSEWHERE, *_BY_DATASET)]
        games = []
        for dataset in self.dataset:
            with _naming("dataset"):
                prior = plugins.load_prior(plugins.make_absolute(dataset))
            with _naming("known"):
                known = self._known_columns(prior)
            with _naming("targets"):
                sets = self._target_sets(prior, known)
            with _naming("mechanism"):
                released = [each for entry in self.mechanism for each in self._released(entry)]
            axes = product(sets, released, *(getattr(self, name) for name in others))
            for targets, (mechanism, options), *values in axes:
                chosen = dict(zip(others, values, strict=True))
                with _naming("metric"):
                    plugins.build_metric(chosen["metric"]).check(prior.domain, targets)
                with _naming(f"the game on {', '.join(targets)}"):
                    game = Game(
                        dataset=plugins.make_absolute(dataset),
                        targets=targets,
                        known=known,
                        mechanism=mechanism,
                        mechanism_options=options,
                        seed=seed,
                        **chosen,
                    )
                    check(game)
                games.append(game)
        return games

    def _released(self, entry: MechanismEntry) -> Iterator[tuple[str, Options]]:
        """A mechanism with its options, once for every k of the block."""
        if self.k is not None and "k" in entry.options:
            raise AxesError("k is given for the block and as an option; keep one of them")
        for more in [{}] if self.k is None else [{"k": k} for k in self.k]:
            options = Options({**entry.options, **more})
            plugins.check_options(entry.mechanism, options)
            name = plugins.make_absolute(entry.mechanism)
            yield name, plugins.drop_default_options(entry.mechanism, options)

    def _known_columns(self, prior: Prior) -> tuple[str, ...]:
        if isinstance(self.known, str):
            (count,) = span(self.known, "last") or (0,)
            if not 1 <= count < len(prior.domain):
                raise AxesError(
                    f"{self.known!r} is not between 1 and {len(prior.domain) - 1} columns"
                )
            return prior.visit_order[-count:]
        prior.domain.positions(self.known)
        return tuple(self.known)

    def _target_sets(self, prior: Prior, known: Sequence[str]) -> list[tuple[str, ...]]:
        if self.targets == EACH:
            return [(name,) for name in prior.domain.names if name not in known]
        if isinstance(self.targets, str):
            counts = span(self.targets, "visit")
            if counts is None:
                prior.domain.positions([self.targets])
                return [(self.targets,)]
            most = len(prior.domain) - max(len(known), 1)
            if not counts or counts[0] < 1 or counts[-1] > most:
                raise AxesError(f"{self.targets!r} must count from 1 to at most {most} columns")
            return [prior.visit_order[:count] for count in counts]
        sets = [(t,) if isinstance(t, str) else tuple(t) for t in self.targets]
        for columns in sets:
            prior.domain.positions(columns)
        return sets


if TYPE_CHECKING:
    GameBlock = _GameBlock
else:
    GameBlock = _add_axes(
        _GameBlock,
        """The axes of a block of games.

        ``targets = "each"`` is every column alone, ``"visit:A-B"`` the first A, …, B columns that
        the prior's network visits. ``known = "last:N"`` is the last N of them; left out, it is all
        columns but the targets. ``metric = "l1:A-B"`` is every error from A to B. ``k`` is short
        for the option k of the block's mechanisms. Every other axis takes a value or a list.
        """,
        {name: _values(name) for name in AXES},
        _default,
    )


@contextmanager
def _naming(key: str) -> Iterator[None]:
    """Let an error begin with the key that is to blame."""
    try:
        yield
    except ValueError as error:
        raise AxesError(f"{key}: {error}") from None
