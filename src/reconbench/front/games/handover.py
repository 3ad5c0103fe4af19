"""Attacks, mechanisms, metrics and priors as a caller has them, as specs that games know them by.

What has a name of its own gets it: a shipped class, an attack of default options, a metric. A
Bayesian network is written to a BIF file, which worker processes can read. Anything else is held
in this process for the time of the call, see ``benchmarks.plugins.in_memory``.
"""

from __future__ import annotations

import inspect
import os
from atexit import register
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.plugins.bounds import check_bound_files
from reconbench.benchmarks.plugins.in_memory import PREFIX, Held
from reconbench.benchmarks.plugins.registry import KINDS, check_entry
from reconbench.benchmarks.suites.axis_values import split_datasets
from reconbench.benchmarks.suites.game_block import MechanismEntry
from reconbench.datasets import BayNet, save_prior
from reconbench.front.arguments import (
    ArgumentError,
    describe,
    list_values,
    read_names,
    refuse,
)
from reconbench.front.priors import as_prior, is_table

ATTACKS = "a name (see `reconbench list attack`), file.py:Class, a class, an object, or several"
MECHANISMS = "a name (see `reconbench list mechanism`), file.py:Class, a class, or several"
METRICS = "exact, columns:M, l1:E, any:METRIC, file.py:Class, or several"
WITH_OPTIONS = "(name, {'option': value}) or {'%s': name, 'options': {...}}"
DATASETS = "a data set, such as 'acs', a .bif file, a prior or a table, or several"
# Values that options may have, and attributes that say which options an object was built with.
_PLAIN = (str, int, float, bool, type(None))
# Of the hash of a prior, in the name of its file.
_DIGITS = 8


@dataclass
class Handover:
    """What one call hands over; ``folder`` is where its priors are written, by default a temporary
    one."""

    folder: Path | None = None
    held: dict[str, Held] = field(default_factory=dict)

    def read_attacks(self, value: object) -> tuple[AttackSpec, ...]:
        """Attacks, each with its options; two of one name and the same options are refused."""
        specs = []
        for entry in _list_entries("attack", value, ATTACKS):
            plugin, options = _split_options("attack", entry)
            specs.append(self._read_attack(plugin, options))
        labels = [(_name_attack(self.held, spec), repr(spec.options)) for spec in specs]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ArgumentError(
                f"attack must name different attacks, got two of name {twice[0]!r} with the same "
                "options; leave one out, or give them names of their own"
            )
        return tuple(specs)

    def _read_attack(self, value: object, options: Mapping[str, Any]) -> AttackSpec:
        if isinstance(value, str | os.PathLike):
            spec = plugins.make_absolute(os.fspath(value))
            plugins.check_known("attack", spec)
            return AttackSpec(spec, options)
        cls = value if isinstance(value, type) else type(value)
        if not hasattr(cls, "reconstruct"):
            raise refuse("attack", value, ATTACKS)
        check_entry(KINDS["attack"], cls.__name__, cls)
        shipped = _find_shipped("attack", cls)
        if isinstance(value, type):
            if shipped is not None:
                return AttackSpec(shipped, options)
            return AttackSpec(self._hold("attack", cls.__name__, value), options)
        if options:
            allowed = "a class where options are given, or an object without them"
            raise refuse("attack", (cls.__name__, dict(options)), allowed)
        chosen = _list_chosen(value)
        if shipped is not None and _is_built_by(cls, chosen, value):
            return AttackSpec(shipped, chosen)
        return AttackSpec(self._hold("attack", cls.__name__, value), chosen)

    def read_mechanisms(self, value: object) -> list[MechanismEntry]:
        """Mechanisms, each with its options."""
        entries = []
        for entry in _list_entries("mechanism", value, MECHANISMS):
            plugin, options = _split_options("mechanism", entry)
            if isinstance(plugin, str | os.PathLike):
                spec = os.fspath(plugin)
            elif isinstance(plugin, type) and hasattr(plugin, "for_budget"):
                check_entry(KINDS["mechanism"], plugin.__name__, plugin)
                spec = _find_shipped("mechanism", plugin) or self._hold(
                    "mechanism", plugin.__name__, plugin
                )
            else:
                hint = "; it is built anew for every budget" if hasattr(plugin, "release") else ""
                raise refuse("mechanism", plugin, MECHANISMS, hint)
            entries.append(MechanismEntry(mechanism=spec, options=dict(options)))
        return entries

    def read_datasets(self, value: object) -> list[str]:
        """Data sets as specs; a table is one to fit a prior to, unless it is a file."""
        listed: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
        if not listed:
            raise refuse("dataset", value, DATASETS)
        specs = []
        for item in listed:
            items = split_datasets([item]) if isinstance(item, str) else [item]
            specs += [self._read_dataset(each) for each in items]
        return specs

    def _read_dataset(self, value: object) -> str:
        if isinstance(value, str | os.PathLike):
            text = os.fspath(value)
            if Path(text).suffix.lower() in (".csv", ".parquet", ".pq"):
                raise refuse(
                    "dataset", text, DATASETS, f"; fit a prior to a file of records: fit({text!r})"
                )
            return plugins.make_absolute(text)
        prior = as_prior("dataset", value, DATASETS)
        if not isinstance(prior, BayNet):
            return self._hold("dataset", type(prior).__name__, lambda: prior)
        stem = "table" if is_table(value) else "prior"
        return str(write_prior(prior, self.folder or make_folder(), stem))

    def _hold(self, kind: str, name: str, entry: Any) -> str:
        """Hold an object under the first free name."""
        count, spec = 1, f"{PREFIX}{name}"
        while spec in self.held:
            count += 1
            spec = f"{PREFIX}{name}-{count}"
        self.held[spec] = Held(kind, entry)
        return spec


def read_metrics(value: object) -> list[str]:
    """Metrics as specs; an object of a shipped class is one by its name."""
    specs = []
    for item in list_values("metric", value, METRICS):
        if isinstance(item, str | os.PathLike):
            specs.append(os.fspath(item))
            continue
        cls = item if isinstance(item, type) else type(item)
        name = getattr(item, "name", None)
        if _find_shipped("metric", cls) is None or not isinstance(name, str):
            hint = "; give one of your own as file.py:Class" if hasattr(item, "score") else ""
            raise refuse("metric", item, METRICS, hint)
        specs.append(name)
    return specs


def read_bounds(value: object) -> tuple[str, ...]:
    """Bounds in files as specs; installed ones are always computed."""
    empty = value is None or (isinstance(value, str | list | tuple) and not value)
    specs = () if empty else read_names("bound", value, "bound as file.py:Class")
    return check_bound_files(specs)


def write_prior(net: BayNet, folder: Path, stem: str) -> Path:
    """Write a network under a name with the beginning of its hash; one that is there stays."""
    path = folder / f"{stem}-{net.sha256()[:_DIGITS]}.bif"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_prior(net, path)
    return path.resolve()


@cache
def make_folder() -> Path:
    """A folder for the priors of this process, which goes with it."""
    folder = mkdtemp(prefix="reconbench-priors-")
    register(rmtree, folder, ignore_errors=True)
    return Path(folder)


def _list_entries(kind: str, value: object, allowed: str) -> list[Any]:
    """Plugins as they were given; a name with its options is one of them."""
    if _has_options(value) or isinstance(value, Mapping | type | os.PathLike):
        return [value]
    if isinstance(value, str) and plugins.get_file(value) is not None:
        return [value]
    if not isinstance(value, str | list | tuple | set) and not hasattr(value, "__array__"):
        return [value]
    return list_values(kind, value, allowed)


def _has_options(value: object) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and isinstance(value[1], Mapping)  # type: ignore[index]


def _split_options(kind: str, entry: Any) -> tuple[Any, dict[str, Any]]:
    """A plugin and its options, whichever way they were given together."""
    options: Any = {}
    plugin = entry
    if _has_options(entry):
        plugin, options = entry
    elif isinstance(entry, Mapping):
        keys = {kind, "options"}
        if not {kind} <= set(entry) <= keys or not isinstance(entry.get("options", {}), Mapping):
            raise refuse(kind, entry, WITH_OPTIONS % kind)
        plugin, options = entry[kind], entry.get("options", {})
    for name, value in options.items():
        if not isinstance(name, str):
            raise refuse(kind, entry, WITH_OPTIONS % kind)
        if not isinstance(value, _PLAIN):
            raise refuse(f"option {name!r} of {kind} {describe(plugin)}", value, "a plain value")
    return plugin, dict(options)


def _find_shipped(kind: str, cls: type) -> str | None:
    """The name under which a class of reconbench is registered."""
    home = f"{cls.__module__}:{cls.__qualname__}"
    points = plugins.get_entries(kind).items()
    return next((name for name, point in points if point.value == home), None)


def _list_chosen(attack: object) -> dict[str, Any]:
    """The plain attributes in which an attack differs from one that is built without options."""
    own = {name: value for name, value in vars(attack).items() if isinstance(value, _PLAIN)}
    try:
        usual = vars(type(attack)())
    except Exception:  # an attack of the caller's may need options, or fail in any way
        return own
    return {name: value for name, value in own.items() if name not in usual or usual[name] != value}


def _is_built_by(cls: type, options: Mapping[str, Any], attack: object) -> bool:
    """Whether these options build the same attack again."""
    if not set(options) <= set(inspect.signature(cls).parameters):
        return False
    try:
        return bool(vars(cls(**options)) == vars(attack))
    except ValueError:
        return False


def _name_attack(held: Mapping[str, Held], spec: AttackSpec) -> str:
    """The name that rows of an attack have."""
    return str(held[spec.spec].entry.name) if spec.spec in held else spec.spec
