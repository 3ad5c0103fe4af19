"""The five kinds of plugins, and where their entries are found.

An entry is registered by its package as an entry point of the kind's group, or stands in a file of
the user's own: ``path/to/file.py:Class``. What is particular to a kind is in ``KINDS`` alone; its
checks are in ``check_<kind>`` and its templates in ``templates/<kind>.py.txt``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from reconbench.benchmarks import foreign_code
from reconbench.benchmarks.plugins.in_memory import find_held
from reconbench.benchmarks.plugins.specs import (
    PluginError,
    describe_error,
    load_from_file,
    split_file,
)
from reconbench.datasets import prior_families
from reconbench.datasets.named import list_names, suggest_dataset
from reconbench.datasets.near_names import suggest_name
from reconbench.missing_package import describe_need, find_missing


@dataclass(frozen=True)
class Kind:
    """A kind of plugin: the members that the class of an entry needs; without any, a function."""

    name: str
    members: tuple[str, ...] = ()
    other_specs: str = "path/to/file.py:Class"

    @property
    def group(self) -> str:
        return f"reconbench.{self.name}s"

    @property
    def form(self) -> str:
        """What an entry must be, in words."""
        if not self.members:
            return "a function without arguments"
        listed = ", ".join(f"`{name}`" for name in self.members[1:])
        return f"a class with a text `{self.members[0]}` and with {listed}"


_RULES = ", ".join(family.usage for family in prior_families.FAMILIES.values())
KINDS = {
    kind.name: kind
    for kind in (
        Kind("attack", ("name", "reconstruct")),
        Kind("mechanism", ("name", "for_budget", "release", "facts")),
        Kind("dataset", other_specs=f"{_RULES}, path/to/prior.bif or path/to/file.py:function"),
        Kind(
            "bound",
            ("name", "reference", "statement", "kind", "proved", "holds_for", "ceilings"),
        ),
        Kind(
            "metric",
            (
                "name",
                "check",
                "score",
                "prior_success",
                "best_guess",
                "decide",
                "decide_joint",
                "whole_priors",
            ),
        ),
    )
}


def find_kind(text: str) -> Kind:
    """A kind by its name; the plural will do as well."""
    name = text.removesuffix("s")
    if name not in KINDS:
        raise PluginError(
            f"unknown kind {text!r}; use {', '.join(KINDS)}{suggest_name(name, KINDS)}"
        )
    return KINDS[name]


@cache
def get_entries(kind: str) -> dict[str, EntryPoint]:
    """Entry points of a kind by name, in name order; ours win over a namesake."""
    points = sorted(entry_points(group=KINDS[kind].group), key=lambda point: point.name)
    ours = [point for point in points if point.value.startswith("reconbench.")]
    return {point.name: point for point in [*points, *ours]}


def list_dataset_names() -> list[str]:
    """The data sets that are installed, by name; a rule such as ``uniform:M`` is none."""
    return sorted({*get_entries("dataset"), *list_names()})


def check_known(kind: str, spec: str) -> None:
    """Refuse a name that is not registered; what stands in a file is not opened."""
    points = get_entries(kind)
    if split_file(spec) is None and spec not in points and find_held(kind, spec) is None:
        if kind == "dataset":
            hint = suggest_dataset(spec, list_dataset_names())
        else:
            hint = suggest_name(spec, points)
        raise PluginError(
            f"unknown {kind} {spec!r}; available: {', '.join(points)}, or "
            f"{KINDS[kind].other_specs}{hint}"
        )


def is_foreign(kind: str, spec: str) -> bool:
    """Whether a spec names code that is not of this package; that of unknown names is not."""
    if split_file(spec) is not None:
        return True
    point = get_entries(kind).get(spec)
    return point is not None and not point.value.startswith("reconbench.")


def load_entry(kind: str, spec: str) -> Any:
    """The class or function that a spec names, of the form that its kind needs."""
    check_known(kind, spec)
    if foreign_code.probing and is_foreign(kind, spec):
        _probe(kind, spec)
    held = find_held(kind, spec)
    if held is not None:
        entry = held.entry
    elif split_file(spec) is not None:
        entry = load_from_file(spec)
    else:
        try:
            entry = get_entries(kind)[spec].load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # foreign code: whatever it raises is its fault
            raise PluginError(
                f"{kind} {spec!r} does not import: {describe_error(error)}"
            ) from error
    check_entry(KINDS[kind], spec, entry)
    return entry


def describe_entry(kind: str, spec: str) -> str:
    """The first line of a plugin's documentation, or why it cannot be used here."""
    try:
        if kind == "attack" and is_foreign(kind, spec):
            return _probe(kind, spec)
        entry = load_entry(kind, spec)
    except PluginError as error:
        return str(error)
    line = (inspect.getdoc(entry) or "").partition("\n")[0]
    missing = find_missing(getattr(entry, "requires", ()))
    return line if missing is None else f"{line} {describe_need('It', missing)}"


@cache
def _probe(kind: str, spec: str) -> str:
    """Import a plugin in a player; the first line of its documentation."""
    from reconbench.benchmarks.player.foreign_attack import probe_plugin

    return probe_plugin(kind, spec, foreign_code.SECONDS)


def check_entry(kind: Kind, spec: str, entry: object) -> None:
    """Refuse what is not of the form that its kind needs."""
    needed = f"{kind.name} {spec!r} must be {kind.form}"
    if not kind.members:
        if not callable(entry):
            raise PluginError(f"{needed}, got {type(entry).__name__}")
        return
    if not isinstance(entry, type):
        raise PluginError(f"{needed}, got {type(entry).__name__}")
    name = getattr(entry, "name", None)
    if not (isinstance(name, property) or (isinstance(name, str) and name.strip())):
        raise PluginError(f"{kind.name} {spec!r} needs a class attribute `name`, a short text")
    for member in kind.members:
        if not hasattr(entry, member):
            raise PluginError(f"{needed}; it has no `{member}`")
