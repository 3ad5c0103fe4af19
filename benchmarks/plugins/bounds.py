"""Find bounds: those of this package, those of other installed packages, and those in files.

A bound of this package that breaks is a bug and raises. One of somebody else's is foreign code:
whatever is wrong with it is said on the row, and the run goes on.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from reconbench.benchmarks.plugins.registry import get_entries, load_entry
from reconbench.benchmarks.plugins.specs import PluginError, get_file, make_absolute
from reconbench.bounds import Bound, Declaration, Kind, Scope

KIND = "bound"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
# Columns of the leaderboard that start like those of ceilings.
RESERVED = ("rad",)
_SCOPES = list(Scope)


@dataclass(frozen=True)
class BoundEntry:
    """A bound by the name of its columns, or why an installed one cannot be used."""

    name: str
    bound: type[Bound] | None
    shipped: bool
    error: str = ""


def load_bound(spec: str) -> type[Bound]:
    """A bound by name, or by ``path/to/file.py:Class``; its declarations are checked."""
    cls = load_entry(KIND, spec)
    check_declarations(spec, cls)
    if cls.name in shipped_bounds() and shipped_bounds()[cls.name] is not cls:
        raise PluginError(f"bound {spec!r} has the name of a bound of reconbench, {cls.name!r}")
    return cls  # type: ignore[no-any-return]  # check_declarations refuses all else


def check_declarations(spec: str, cls: object) -> None:
    """Refuse what is not a bound, or does not declare all that rows and reports show."""
    if not (isinstance(cls, type) and issubclass(cls, Bound)):
        raise PluginError(f"bound {spec!r} must be a subclass of reconbench.bounds.Bound")
    for name in ("holds_for", "ceilings"):
        if not isinstance(inspect.getattr_static(cls, name), classmethod | staticmethod):
            raise PluginError(f"bound {spec!r}: {name} must be a classmethod, add @classmethod")
    if getattr(cls.ceilings, "__isabstractmethod__", False):
        raise PluginError(f"bound {spec!r} has no ceilings(targets, guarantee, confidences)")
    for name, kind in (
        ("name", str),
        ("reference", str),
        ("statement", str),
        ("kind", Kind),
        ("scope", Scope),
        ("proved", bool),
    ):
        value = getattr(cls, name, None)
        if not isinstance(value, kind) or (isinstance(value, str) and not value.strip()):
            raise PluginError(
                f"bound {spec!r} needs a class attribute {name!r}, a {kind.__name__}, got {value!r}"
            )
        if isinstance(value, str) and len(value.splitlines()) > 1:
            raise PluginError(f"bound {spec!r}: {name} must be one line, got {value!r}")
    if not NAME.fullmatch(cls.name) or cls.name in RESERVED:
        raise PluginError(
            f"bound {spec!r}: name must be up to 40 letters, digits and hyphens, and not "
            f"{' or '.join(RESERVED)}, got {cls.name!r}"
        )


@cache
def shipped_bounds() -> dict[str, type[Bound]]:
    """The bounds of this package by name: on the mean first, then the widest scope, proved ones."""
    classes: Iterable[type[Bound]] = (
        point.load() for point in get_entries(KIND).values() if _ours(point.value)
    )
    return {cls.name: cls for cls in sorted(classes, key=lambda cls: column_order(cls.declare()))}


def column_order(declared: Declaration) -> tuple[object, ...]:
    """Where the columns of a bound stand among those of others."""
    return (
        declared.kind is not Kind.MEAN,
        _SCOPES.index(declared.scope),
        not declared.proved,
        declared.name,
    )


def find_bounds(specs: Iterable[str] = ()) -> list[BoundEntry]:
    """All bounds of this package, all other installed ones, and those in the given files."""
    entries = {name: BoundEntry(name, cls, True) for name, cls in shipped_bounds().items()}
    foreign = [name for name, point in get_entries(KIND).items() if not _ours(point.value)]
    for spec in (*foreign, *specs):
        entry = _entry(spec)
        entries.setdefault(entry.name, entry)
    return list(entries.values())


def check_bound_files(specs: Iterable[str]) -> tuple[str, ...]:
    """Bounds in files by their absolute paths, each loaded once; installed ones are always on."""
    return tuple(
        dict.fromkeys(make_absolute(spec) for spec in specs if load_bound(spec) and get_file(spec))
    )


def describe_bounds() -> dict[str, str]:
    """Every installed bound with its reference and its statement, or why it cannot be used."""
    return {
        entry.name: f"{entry.bound.reference}: {entry.bound.statement}"
        if entry.bound
        else entry.error
        for entry in find_bounds()
    }


def _entry(spec: str) -> BoundEntry:
    try:
        cls = load_bound(spec)
    except PluginError as error:
        return BoundEntry(spec.rpartition(":")[2], None, False, str(error))
    return BoundEntry(cls.name, cls, False)


def _ours(value: str) -> bool:
    return value.startswith("reconbench.")
