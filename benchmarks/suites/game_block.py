"""The axes of a suite's block of games, and their product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game import misfit
from reconbench.benchmarks.game.play import Adversary, Game, check
from reconbench.benchmarks.plugins.options import Option, encode
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

    @property
    def axes(self) -> tuple[str, str]:
        """The mechanism and its options as they are in a game."""
        return plugins.make_absolute(self.mechanism), encode(self.options)


Mechanisms = Annotated[list[MechanismEntry], BeforeValidator(told_mechanisms), Field(min_length=1)]


class Exclude(Strict):
    """Games to leave out: those that have one of the listed values on every listed axis.

    A mechanism by name alone stands for it with whatever options.
    """

    dataset: Texts | None = None
    targets: Annotated[list[str | list[str]], BeforeValidator(listed)] | None = None
    n: Wholes | None = None
    k: Wholes | None = None
    epsilon: Annotated[list[Epsilon], BeforeValidator(listed)] | None = None
    delta: Annotated[list[Delta], BeforeValidator(listed)] | None = None
    mechanism: (
        Annotated[list[str | MechanismEntry], BeforeValidator(listed), Field(min_length=1)] | None
    ) = None
    metric: Annotated[Texts, BeforeValidator(_metrics)] | None = None
    adversary: Texts | None = None
    attacker_prior: Texts | None = None

    def covers(self, game: Game) -> bool:
        for name in type(self).model_fields:
            listed_values = getattr(self, name)
            if listed_values is None:
                continue
            if name == "targets":
                listed_values = [(t,) if isinstance(t, str) else tuple(t) for t in listed_values]
            elif name == "dataset":
                listed_values = [plugins.make_absolute(spec) for spec in listed_values]
            elif name == "mechanism":
                listed_values = [_released_by(each, game) for each in listed_values]
            if getattr(game, name) not in listed_values:
                return False
        return True


def _released_by(entry: str | MechanismEntry, game: Game) -> str | None:
    """The mechanism of an entry; none if the entry has other options than the game."""
    if isinstance(entry, str):
        return plugins.make_absolute(entry)
    name, options = entry.axes
    return name if options == game.mechanism_options else None


class Axes(Strict):
    """The axes of a block of games.

    ``targets = "each"`` is every column alone, ``"visit:A-B"`` the first A, …, B columns that the
    prior's network visits. ``known = "last:N"`` is the last N of them; left out, it is all columns
    but the targets. ``metric = "l1:A-B"`` is every error from A to B. ``advantage`` is one number
    for the whole block: how many records of each table are also attacked in a world without them.
    """

    dataset: Texts
    targets: Annotated[str | list[Any], BeforeValidator(_column_sets)] = EACH
    known: Annotated[Any, BeforeValidator(_known)] = []
    n: Wholes = [100]
    k: Wholes = [3]
    epsilon: Annotated[list[Epsilon], BeforeValidator(listed), Field(min_length=1)]
    delta: Annotated[list[Delta], BeforeValidator(listed), Field(min_length=1)] = [1e-5]
    mechanism: Mechanisms = [MechanismEntry(mechanism="gaussian-marginals")]
    metric: Annotated[Texts, BeforeValidator(_metrics)] = ["exact"]
    adversary: Annotated[list[Adversary], BeforeValidator(_adversaries), Field(min_length=1)] = [
        Adversary.REALISTIC
    ]
    attacker_prior: Annotated[Texts, BeforeValidator(_attacker_priors)] = [misfit.SAME]
    attacks: (
        Annotated[list[AttackEntry], BeforeValidator(told_attacks), Field(min_length=1)] | None
    ) = None
    repetitions: Whole | None = None
    advantage: Annotated[int, Field(ge=0, strict=True)] = 0
    include: list[dict[str, Any]] = []
    exclude: list[Exclude] = []

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

    def _with(self, place: int) -> Axes:
        """The block of an entry of ``include``: its axes, and this block's where it has none."""
        entry = self.include[place]
        odd = [key for key in ("include", "exclude", "attacks", "repetitions") if key in entry]
        if odd:
            raise ValueError(
                f"include.{place}.{odd[0]}: only axes stand here; add a [[games]] block"
            )
        own = self.model_dump(exclude={"include", "exclude", "attacks", "repetitions"})
        return Axes.model_validate({**own, **entry})

    def _product(self, seed: int) -> list[Game]:
        games = []
        for dataset in self.dataset:
            with _naming("dataset"):
                prior = plugins.load_prior(plugins.make_absolute(dataset))
            with _naming("known"):
                known = self._known_columns(prior)
            with _naming("targets"):
                sets = self._target_sets(prior, known)
            with _naming("mechanism"):
                mechanisms = [self._checked(entry) for entry in self.mechanism]
            axes = product(
                sets, self.n, self.k, self.epsilon, self.delta, mechanisms, self.metric,
                self.adversary, self.attacker_prior,
            )  # fmt: skip
            for targets, n, k, epsilon, delta, released, metric, adversary, theirs in axes:
                with _naming("metric"):
                    plugins.build_metric(metric).check(prior.domain, targets)
                game = Game(
                    dataset=plugins.make_absolute(dataset),
                    targets=targets,
                    known=known,
                    n=n,
                    k=k,
                    epsilon=epsilon,
                    delta=delta,
                    mechanism=released[0],
                    mechanism_options=released[1],
                    metric=metric,
                    adversary=adversary,
                    attacker_prior=theirs,
                    seed=seed,
                    advantage=self.advantage,
                )
                with _naming(f"the game on {', '.join(targets)}"):
                    check(game)
                games.append(game)
        return games

    @staticmethod
    def _checked(entry: MechanismEntry) -> tuple[str, str]:
        plugins.check_options(entry.mechanism, entry.options)
        return entry.axes

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


@contextmanager
def _naming(key: str) -> Iterator[None]:
    """Let an error begin with the key that is to blame."""
    try:
        yield
    except ValueError as error:
        raise AxesError(f"{key}: {error}") from None
