"""The setting of a game: every axis that makes two games different, and no other list of them.

Games, result rows and summaries are settings with more fields. Store keys, random streams, suites,
rankings, figure panels, terminal tables and the data dictionary read the axes from ``AXES``: a new
axis is one field of `Setting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from math import isinf
from typing import Any

from reconbench.benchmarks.game.options import Options


class Adversary(StrEnum):
    """Who attacks: an attacker who knows some columns, or one who knows all other records."""

    REALISTIC = "realistic"
    INFORMED = "informed"


class Access(StrEnum):
    """What the attacker sees of a synthetic release: the table, or also what it was fitted to."""

    TABLE = "table"
    MEASUREMENTS = "measurements"


class Seeds(StrEnum):
    """The random streams that depend on an axis; games that differ in no such axis share them."""

    TABLE = "table"
    RELEASE = "release"
    ATTACK = "attack"


@dataclass(frozen=True)
class Axis:
    """An axis: its name and title, its meaning, and how a value is labelled.

    Labels leave out the ``usual`` value. ``seeds`` are the streams that depend on the axis. Rows
    from before a ``later`` axis had its usual value: keys leave that out, so that they stay.
    """

    name: str
    title: str
    meaning: str
    label: str = "{}"
    usual: object = None
    seeds: tuple[Seeds, ...] = ()
    later: bool = False

    def text(self, value: object) -> str:
        """Format a value for people."""
        if isinstance(value, float):
            return f"{value:g}"
        return ", ".join(value) if isinstance(value, tuple) else str(value)


def axis(
    title: str,
    meaning: str,
    *,
    default: Any = MISSING,
    label: str = "{}",
    usual: object = None,
    seeds: tuple[Seeds, ...] = (),
    later: bool = False,
) -> Any:
    """Declare a field of `Setting` as an axis."""
    metadata = {"title": title, "meaning": meaning, "label": label, "usual": usual, "seeds": seeds}
    return field(default=default, metadata=metadata | {"later": later})


_RELEASE = (Seeds.RELEASE, Seeds.ATTACK)


@dataclass(frozen=True)
class Setting:
    """All that makes two games different, apart from the repetition."""

    dataset: str = axis(
        "data set",
        "the data set whose prior the tables are drawn from; for a computed row, its suite",
    )
    targets: tuple[str, ...] = axis(
        "targets",
        "the columns that the attacker must guess, comma-separated; for a computed row, what it is "
        "about",
        seeds=_RELEASE,
    )
    epsilon: float = axis(
        "epsilon",
        "privacy budget ε of the release; inf means no noise",
        label="ε = {}",
        seeds=_RELEASE,
    )
    delta: float = axis(
        "delta",
        "privacy parameter δ of the release",
        default=1e-5,
        label="δ = {}",
        usual=1e-5,
        seeds=_RELEASE,
    )
    n: int = axis(
        "n",
        "records in a table, which is also the most that can be reconstructed unless "
        "target_records says otherwise",
        default=100,
        label="n = {}",
        seeds=(Seeds.TABLE, *_RELEASE),
    )
    known: tuple[str, ...] = axis(
        "known columns",
        "how many other columns of every record the attacker knows",
        default=(),
        label="{} known",
        seeds=_RELEASE,
    )
    mechanism: str = axis(
        "mechanism",
        "the mechanism that released the table",
        default="gaussian-marginals",
        usual="gaussian-marginals",
        seeds=_RELEASE,
    )
    mechanism_options: Options = axis(  # noqa: RUF009
        "mechanism options",
        "the options of the mechanism other than k, as JSON",
        default=Options(),
        usual="{}",
        seeds=_RELEASE,
    )
    metric: str = axis(
        "metric",
        "what counts as reconstructing a record; for a computed row, what its values are: success, "
        "advantage, queries or error",
        default="exact",
        seeds=(Seeds.ATTACK,),
    )
    adversary: str = axis(
        "adversary",
        "realistic: knows the known columns of every record; informed: attacks each record "
        "knowing all others in full; none: a computed row",
        default=Adversary.REALISTIC,
        usual=Adversary.REALISTIC.value,
        seeds=(Seeds.ATTACK,),
    )
    attacker_prior: str = axis(
        "attacker's prior",
        "the prior that the attacker believes; same: the one that the tables are drawn from",
        default="same",
        label="attacker's prior {}",
        usual="same",
    )
    seed: int = axis(
        "seed",
        "seed of the game: the same seed gives the same tables and noise to every attack",
        default=0,
        label="seed {}",
        usual=0,
    )
    advantage: int = axis(
        "advantage",
        "records of each table, drawn at random, that were attacked in two worlds to measure rad; "
        "0: rad was not measured",
        default=0,
        label="rad of {} records",
        usual=0,
    )
    target_records: int = axis(
        "target records",
        "records of each table that were scored, the first ones; 0: all",
        default=0,
        label="{} records scored",
        usual=0,
        later=True,
    )
    access: str = axis(
        "access",
        "what the attacker sees of a synthetic release: table, or measurements: also what the "
        "generator was fitted to",
        default=Access.TABLE,
        label="access to {}",
        usual=Access.TABLE.value,
        later=True,
    )
    held_out: int = axis(
        "held-out records",
        "records that were not in the table and were attacked as if they were; 0: none",
        default=0,
        label="{} held-out records",
        usual=0,
        later=True,
    )
    data_hash: str = axis(
        "data hash",
        "hash of the prior that the tables are drawn from",
        default="",
        label="data {}",
    )

    def list_chosen(self) -> str:
        """The fields that do not have their default, as they are written in a call."""
        chosen = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.default is MISSING or getattr(self, each.name) != each.default
        }
        return ", ".join(f"{name}={_write_value(value)}" for name, value in chosen.items())

    @cached_property
    def setting(self) -> Setting:
        """The axes alone: equal for all attacks and repetitions of one game."""
        return Setting(**get_axis_values(self))

    @property
    def scored(self) -> int:
        """The number of records that are scored, which is the most that can be reconstructed."""
        return self.target_records or self.n

    @property
    def shape(self) -> tuple[object, ...]:
        """The axes with columns counted, not named: games are averaged if these are equal."""
        return tuple(map(_count_columns, get_axis_values(self).values()))


AXES: Mapping[str, Axis] = {
    declared.name: Axis(declared.name, **declared.metadata) for declared in fields(Setting)
}


def get_axis_values(setting: Setting) -> dict[str, Any]:
    """Get the value on each axis."""
    return {name: getattr(setting, name) for name in AXES}


def dump_axes(setting: Setting) -> dict[str, object]:
    """Get the value on each axis as plain JSON, with an infinite ε as text.

    The usual value of a later axis is left out, so that names made of this stay as they were.
    """
    return {
        name: make_plain_axis(value)
        for name, value in get_axis_values(setting).items()
        if not (AXES[name].later and value == AXES[name].usual)
    }


def make_plain_axis(value: object) -> object:
    """Convert a value on an axis to plain JSON."""
    if isinstance(value, float) and isinf(value):
        return "inf"
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Options):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _write_value(value: object) -> str:
    """A value as it is written in a call."""
    return repr(value if isinstance(value, tuple | float) else make_plain_axis(value))


def find_varying_axes(settings: Sequence[Setting], *always: str) -> list[Axis]:
    """Find the axes that distinguish these settings, with columns counted rather than named.

    An axis whose value follows from those before it, such as the hash from the data set, is left
    out.
    """
    chosen: list[Axis] = []
    lines: list[tuple[object, ...]] = [() for _ in settings]
    for axis in sorted(AXES.values(), key=lambda axis: axis.name not in always):
        finer = [
            (*line, _count_columns(getattr(setting, axis.name)))
            for line, setting in zip(lines, settings, strict=True)
        ]
        if axis.name in always or len(set(finer)) > len(set(lines)):
            chosen.append(axis)
            lines = finer
    return sorted(chosen, key=list(AXES.values()).index)


def _count_columns(value: object) -> object:
    return len(value) if isinstance(value, tuple) else value


def format_axis(setting: Setting, axis: Axis) -> str:
    """Format a setting's value on an axis, with columns counted: one line may be many games."""
    return axis.text(_count_columns(getattr(setting, axis.name)))


def describe_setting(setting: Setting) -> str:
    """Describe a setting in one line: every axis that does not have its usual value."""
    parts = []
    for name, axis in AXES.items():
        value = getattr(setting, name)
        if name in ("dataset", "targets", "data_hash") or str(value) == str(axis.usual):
            continue
        if not isinstance(value, Options):
            parts.append(axis.label.format(format_axis(setting, axis)))
        elif value:
            parts.append(str(value))
    return f"{setting.dataset} {','.join(setting.targets)}, {', '.join(parts)}"
