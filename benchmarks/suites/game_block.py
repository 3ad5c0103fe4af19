"""A suite's block of games: values on the axes of a setting, and their product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from itertools import product
from math import prod
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
from reconbench.benchmarks.game.attacker_prior import check_attacker_prior
from reconbench.benchmarks.game.options import Option, Options
from reconbench.benchmarks.game.play import Game, check
from reconbench.benchmarks.game.setting import AXES, Access, Adversary, Setting
from reconbench.benchmarks.suites.column_choices import (
    EACH,
    KNOWN_FORMS,
    TARGETS_FORMS,
    choose_known,
    choose_targets,
    list_datasets,
    make_list,
    parse_range,
)
from reconbench.datasets import Prior

# The most values that a range such as "l1:0-20" may stand for.
LONGEST_RANGE = 10_000


class AxesError(ValueError):
    """Axes that do not make games."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _read_entries(key: str) -> BeforeValidator:
    """Let attacks and mechanisms be given by name alone."""

    def read(value: Any) -> list[Any]:
        return [{key: entry} if isinstance(entry, str) else entry for entry in make_list(value)]

    return BeforeValidator(read)


def _check_targets(value: Any) -> Any:
    """A list of column sets, or a word that stands for several."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise ValueError(f"give {TARGETS_FORMS}")
    for entry in value:
        names = make_list(entry)
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"a column must be a text, several columns a list of texts, got {entry!r}"
            )
    return value


def _check_known(value: Any) -> Any:
    if isinstance(value, str):
        valid = parse_range(value, "last") is not None
    else:
        valid = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not valid:
        raise ValueError(f"give {KNOWN_FORMS}, got {value!r}")
    return value


def _expand_metrics(value: Any) -> Any:
    specs = []
    for spec in make_list(value):
        errors = parse_range(spec, "l1") if isinstance(spec, str) else None
        if errors is not None:
            if len(errors) > LONGEST_RANGE:
                raise ValueError(f"{spec!r} has more than {LONGEST_RANGE:,} values; give fewer")
            specs += [f"l1:{error}" for error in errors]
        else:
            specs.append(plugins.make_absolute(spec) if isinstance(spec, str) else spec)
    return specs


def _check_adversaries(value: Any) -> Any:
    for adversary in make_list(value):
        if adversary not in list(Adversary):
            raise ValueError(f"use {' or '.join(Adversary)}, got {adversary!r}")
    return make_list(value)


def _check_accesses(value: Any) -> Any:
    for access in make_list(value):
        if access not in list(Access):
            raise ValueError(f"use {' or '.join(Access)}, got {access!r}")
    return make_list(value)


def _check_attacker_priors(value: Any) -> Any:
    for spec in make_list(value):
        check_attacker_prior(str(spec))
    return make_list(value)


Whole = Annotated[int, Field(ge=1, strict=True)]
Epsilon = Annotated[float, Field(gt=0, strict=True)]
Delta = Annotated[float, Field(ge=0, lt=1, strict=True)]
Wholes = Annotated[list[Whole], BeforeValidator(make_list), Field(min_length=1)]
Texts = Annotated[list[str], BeforeValidator(make_list), Field(min_length=1)]


class AttackEntry(Strict):
    attack: str
    options: dict[str, Option] = {}


class MechanismEntry(Strict):
    mechanism: str
    options: dict[str, Option] = {}


Attacks = Annotated[list[AttackEntry], _read_entries("attack"), Field(min_length=1)]
Mechanisms = Annotated[list[MechanismEntry], _read_entries("mechanism"), Field(min_length=1)]

# The types of these axes in a suite. Any other axis takes a list of its own type.
_AXIS_TYPES: dict[str, Any] = {
    "dataset": Texts,
    "targets": Annotated[str | list[Any], BeforeValidator(_check_targets)],
    "known": Annotated[Any, BeforeValidator(_check_known)],
    "epsilon": Annotated[list[Epsilon], BeforeValidator(make_list), Field(min_length=1)],
    "delta": Annotated[list[Delta], BeforeValidator(make_list), Field(min_length=1)],
    "n": Wholes,
    "k": Wholes,  # no axis, but a key of blocks
    "mechanism": Mechanisms,
    "metric": Annotated[Texts, BeforeValidator(_expand_metrics)],
    "adversary": Annotated[Texts, BeforeValidator(_check_adversaries)],
    "access": Annotated[Texts, BeforeValidator(_check_accesses)],
    "attacker_prior": Annotated[Texts, BeforeValidator(_check_attacker_priors)],
}
# A suite has one seed, options belong to their mechanism, and the prior is hashed when played.
_ELSEWHERE = ("mechanism_options", "seed", "data_hash")
# Read for each data set before the product of the other axes is taken.
_BY_DATASET = ("dataset", "targets", "known", "mechanism")
# The keys of a block that are not axes, but for k.
_NO_AXES = ("include", "exclude", "attacks", "repetitions")


def get_axis_type(name: str) -> Any:
    """The type of an axis in a block: a list of values, or what stands for one."""
    if name in _AXIS_TYPES:
        return _AXIS_TYPES[name]
    value: Any = Annotated[get_type_hints(Setting)[name], Field(strict=True)]
    return Annotated[list[value], BeforeValidator(make_list), Field(min_length=1)]


def _get_default(name: str) -> Any:
    """The default of a setting's field, as a list of one value; columns stay as they are."""
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
            values = [tuple(make_list(value)) for value in values]
        elif name == "dataset":
            values = [plugins.make_absolute(spec) for spec in values]
        elif name == "mechanism":
            return any(_matches_mechanism(entry, game) for entry in values)
        return getattr(game, name) in values


def _matches_mechanism(entry: str | MechanismEntry, game: Game) -> bool:
    """Whether a game's mechanism is that of an entry; a name stands for any options."""
    if isinstance(entry, str):
        return game.mechanism == plugins.make_absolute(entry)
    options = plugins.drop_default_options(entry.mechanism, Options(entry.options))
    # A k of the block is not an option of the entry.
    played = game.mechanism_options if "k" in entry.options else game.mechanism_options.without("k")
    return game.mechanism == plugins.make_absolute(entry.mechanism) and played == options


_EXCLUDE_TYPES: dict[str, Any] = {
    "targets": Annotated[list[str | list[str]], BeforeValidator(make_list)],
    "known": Annotated[list[str | list[str]], BeforeValidator(make_list)],
    "mechanism": Annotated[
        list[str | MechanismEntry], BeforeValidator(make_list), Field(min_length=1)
    ],
}


def _add_axes(base: Any, doc: str, types: Mapping[str, Any], defaults: Callable[[str], Any]) -> Any:
    """Add a key to a model for every axis that a block chooses."""
    axes = {name: (types[name], defaults(name)) for name in AXES if name not in _ELSEWHERE}
    create: Any = create_model
    return create(base.__name__.lstrip("_"), __base__=base, __doc__=doc, **axes)


if TYPE_CHECKING:
    Exclude = _Exclude
else:
    Exclude = _add_axes(
        _Exclude,
        "Games to leave out; a mechanism by name alone stands for it with any options.",
        {name: _EXCLUDE_TYPES.get(name, get_axis_type(name)) | None for name in AXES},
        lambda name: None,
    )


class _GameBlock(Strict):
    k: Wholes | None = None
    attacks: Attacks | None = None
    repetitions: Whole | None = None
    include: list[dict[str, Any]] = []
    exclude: list[Exclude] = []

    if TYPE_CHECKING:
        dataset: list[str]
        targets: str | list[Any]
        known: Any
        mechanism: list[MechanismEntry]

    @model_validator(mode="after")
    def _check_include(self) -> Self:
        for index in range(len(self.include)):
            try:
                self._include_block(index)
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(str(part) for part in first["loc"])
                raise ValueError(f"include.{index}.{key}: {first['msg']}") from None
        return self

    def count(self) -> int:
        """How many games the block lists, before ``exclude``; without building any of them."""
        blocks = [self, *(self._include_block(index) for index in range(len(self.include)))]
        return sum(block._count_product() for block in blocks)

    def _count_product(self) -> int:
        others = [name for name in AXES if name not in (*_ELSEWHERE, *_BY_DATASET)]
        each = prod(len(getattr(self, name)) for name in others)
        each *= len(self.mechanism) * len(self.k or [None])
        return sum(each * len(self._read_columns(spec)[2]) for spec in self.list_datasets())

    def list_datasets(self) -> list[str]:
        """The data sets of the block, as specs that mean the same in any working directory."""
        with _prefix_errors("dataset"):
            return list_datasets(self.dataset)

    def _read_columns(self, dataset: str) -> tuple[Prior, tuple[str, ...], list[tuple[str, ...]]]:
        """The prior of a data set, and the known columns and sets of targets in it."""
        with _prefix_errors("dataset"):
            prior = plugins.load_prior(dataset)
        with _prefix_errors("known"):
            known = choose_known(self.known, prior)
        with _prefix_errors("targets"):
            return prior, known, choose_targets(self.targets, prior, known)

    def expand(self, seed: int) -> list[Game]:
        """The games of the block, each once, as their repetition 0; errors begin with the key."""
        games = self._product(seed)
        for index in range(len(self.include)):
            games += self._include_block(index)._product(seed)
        for index, entry in enumerate(self.exclude):
            kept = [game for game in games if not entry.covers(game)]
            if len(kept) == len(games):
                raise AxesError(f"exclude.{index}: no game has these values; correct or remove it")
            games = kept
        if not games:
            raise AxesError("exclude: no game is left; remove an entry")
        return list(dict.fromkeys(games))

    def list_blocks(self) -> list[Self]:
        """This block and those of ``include``, each by itself."""
        own = {"attacks": self.attacks, "repetitions": self.repetitions, "exclude": self.exclude}
        blocks = [self, *(self._include_block(index) for index in range(len(self.include)))]
        return [block.model_copy(update={**own, "include": []}) for block in blocks]

    def _include_block(self, index: int) -> Self:
        """The block of an entry of ``include``: its axes, and this block's where it has none."""
        entry = self.include[index]
        misplaced = [key for key in _NO_AXES if key in entry]
        if misplaced:
            raise ValueError(
                f"include.{index}.{misplaced[0]}: only axes are allowed here; add a [[games]] block"
            )
        own = self.model_dump(exclude=set(_NO_AXES))
        return type(self).model_validate({**own, **entry})

    def _product(self, seed: int) -> list[Game]:
        others = [name for name in AXES if name not in (*_ELSEWHERE, *_BY_DATASET)]
        games = []
        for dataset in self.list_datasets():
            prior, known, sets = self._read_columns(dataset)
            with _prefix_errors("mechanism"):
                mechanisms = [
                    pair for entry in self.mechanism for pair in self._expand_mechanism(entry)
                ]
            axes = product(sets, mechanisms, *(getattr(self, name) for name in others))
            for targets, (mechanism, options), *values in axes:
                chosen = dict(zip(others, values, strict=True))
                with _prefix_errors("metric"):
                    plugins.build_metric(chosen["metric"]).check(prior.domain, targets)
                with _prefix_errors(f"the game on {', '.join(targets)}"):
                    game = Game(
                        dataset=dataset,
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

    def _expand_mechanism(self, entry: MechanismEntry) -> Iterator[tuple[str, Options]]:
        """A mechanism with its options, once for every k of the block."""
        if self.k is not None and "k" in entry.options:
            raise AxesError("k is given for the block and as an option; keep one of them")
        for block_options in [{}] if self.k is None else [{"k": k} for k in self.k]:
            options = Options({**entry.options, **block_options})
            plugins.check_options(entry.mechanism, options)
            name = plugins.make_absolute(entry.mechanism)
            yield name, plugins.drop_default_options(entry.mechanism, options)


if TYPE_CHECKING:
    GameBlock = _GameBlock
else:
    GameBlock = _add_axes(
        _GameBlock,
        """The axes of a block of games.

        ``dataset = "each"`` is every installed data set that can be played. ``targets = "each"`` is
        every column alone, ``"top-entropy:N"`` the N columns of largest entropy, each alone,
        ``"visit:A-B"`` the first A, …, B columns that the prior's network visits. ``known =
        "last:N"`` is the last N of them; left out, it is all columns but the targets. ``metric =
        "l1:A-B"`` is every error from A to B. ``k`` is short for the option k of the block's
        mechanisms. Every other axis takes a value or a list.
        """,
        {name: get_axis_type(name) for name in AXES},
        _get_default,
    )


@contextmanager
def _prefix_errors(key: str) -> Iterator[None]:
    """Begin every error with the key that caused it."""
    try:
        yield
    except ValueError as error:
        raise AxesError(f"{key}: {error}") from None
