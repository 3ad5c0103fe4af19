"""The code that rows and reports were made by, as a hash of the source of the parts they used.

A part is a module with everything of the same package, and of reconbench, that it imports.
Libraries count by version.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.row_schema.checks import NO_ATTACK as NO_ATTACK
from reconbench.benchmarks.game.rows import read_versions
from reconbench.benchmarks.plugins.in_memory import find_held
from reconbench.benchmarks.store.source_code import (
    OURS,
    Module,
    find_class,
    find_closure,
    find_imports,
    find_modules,
    hash_folders,
    hash_modules,
    hash_text,
    is_ours,
    read_code,
)

# What every row of a game depends on, whoever attacks what: tables, streams, scores and ceilings.
GAME_PARTS = (
    "reconbench.attacks.judges",
    "reconbench.attacks.metrics",
    "reconbench.attacks.rad_optimal",
    "reconbench.benchmarks.game.attacker_prior",
    "reconbench.benchmarks.game.options",
    "reconbench.benchmarks.game.random_streams",
    "reconbench.benchmarks.game.setting",
    "reconbench.bounds.weighted_success",
    "reconbench.datasets.network.baynet",
)
# The same, but these import what only some rows use: the files alone count.
GAME_FILES = (
    "reconbench.benchmarks.game.worlds.advantage",
    "reconbench.benchmarks.game.game",
    "reconbench.benchmarks.game.play",
    "reconbench.benchmarks.game.reliability",
    "reconbench.benchmarks.game.round",
    "reconbench.benchmarks.game.row_ceilings",
    "reconbench.benchmarks.game.rows",
    "reconbench.benchmarks.game.scores",
)
# The schema of rows, which has a version of its own.
SCHEMA = "reconbench.benchmarks.game.result"
# What computations import that has no part in their values.
NOT_COMPUTED = tuple(
    f"reconbench.benchmarks.{name}"
    for name in ("errors", "game.play", "game.result", "game.rows", "run", "store", "suites")
)
# Packages that a report may depend on.
REPORTED = tuple(f"{OURS}.{name}" for name in ("bounds", "benchmarks", "reports", "front"))
# Libraries by the name that code imports them by.
LIBRARIES = {name: name for name in ("numba", "numpy", "scipy", "torch")} | {
    "dp_accounting": "dp-accounting"
}


def code_version(attack: str, mechanism: str, bounds: tuple[str, ...] = ()) -> str:
    """A hash of all code behind the rows of an attack on a mechanism, both as specs.

    All installed bounds count. ``bounds`` in files do, too, and are named after the hash. For the
    attack ``none`` the mechanism is a kind of computation.
    """
    if attack == NO_ATTACK:
        parts: dict[str, object] = {
            "computation": _hash_computation(mechanism),
            "versions": computation_versions(mechanism),
        }
    else:
        parts = {
            "attack": hash_plugin("attack", attack),
            "mechanism": hash_plugin("mechanism", mechanism),
            "game": _hash_game(),
            "bounds": {name: hash_plugin("bound", name) for name in plugins.get_entries("bound")},
            "bounds in files": sorted(
                [spec.rpartition(":")[2], hash_plugin("bound", spec)] for spec in bounds
            ),
            "versions": read_versions(),
        }
    code = hash_text(json.dumps(parts, sort_keys=True))
    return f"{code} {json.dumps(bounds)}" if bounds else code


def bounds_in_files(code: str) -> tuple[str, ...]:
    """The specs of the bounds that a ``code_version`` was made with."""
    specs = code.partition(" ")[2]
    return tuple(json.loads(specs)) if specs else ()


def report_version() -> str:
    """A hash of all code, templates and assets behind the reports of a run."""
    return hash_folders(REPORTED)


def hash_plugin(kind: str, spec: str) -> str:
    """A hash of a plugin's code. Raises ``PluginError`` if it is not here."""
    held = find_held(kind, spec)
    if held is not None:
        return held.token
    path, colon, _ = spec.rpartition(":")
    if colon and path.endswith(".py"):
        try:
            return _hash_file(Path(path).read_bytes())
        except OSError as error:
            raise plugins.PluginError(f"no plugin file {path}: {error.strerror}") from None
    points = plugins.get_entries(kind)
    if spec not in points:
        raise plugins.PluginError(f"unknown {kind} {spec!r}")
    point = points[spec]
    number = point.dist.version if point.dist is not None else ""
    name = point.value.partition(":")[0].strip()
    return _hash_part(name, "" if is_ours(name) else number)


@cache
def _hash_part(name: str, number: str) -> str:
    return hash_modules(_find_part([name]), name, number)


@cache
def _hash_file(content: bytes) -> str:
    """A file counts to the last byte, since it may be in any state."""
    digest = hashlib.sha256(content).hexdigest()
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return digest
    imported = find_imports(tree, "", (OURS,))
    return hash_modules(find_closure(imported, (SCHEMA,)), digest)


@cache
def _hash_game() -> str:
    return hash_modules(_find_part(GAME_PARTS) | set(find_modules(GAME_FILES)))


def _find_part(names: Iterable[str]) -> set[Module]:
    return find_closure(find_modules(names), (SCHEMA,))


@cache
def _hash_computation(kind: str) -> str:
    return hash_modules(find_computation(kind))


@cache
def find_computation(kind: str) -> frozenset[Module]:
    """The modules behind a kind of computation; none if there is no such kind."""
    from reconbench.benchmarks.computations.kinds import KINDS

    home = [KINDS[kind].__module__] if kind in KINDS else []
    return frozenset(find_closure(find_modules(home), NOT_COMPUTED))


@cache
def computation_versions(kind: str) -> dict[str, str]:
    """Versions of reconbench and of the libraries that the code of a kind of computation names."""
    code = "\n".join(read_code(path) for _, path in find_computation(kind))
    used = [package for name, package in LIBRARIES.items() if re.search(rf"\b{name}\b", code)]
    return {name: installed_version(name) or "" for name in (OURS, *used)}


def installed_version(package: str) -> str | None:
    """None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def shipped_name(spec: str) -> str | None:
    """The name of an attack of reconbench's own, read from its source; None if it is not there."""
    node = _find_attack(spec)
    return None if node is None else declared_name(node)


def shipped_method(spec: str, name: str) -> bool | None:
    """Whether an attack of reconbench's own has a method, by its source; None if that is open.

    Bases are followed within the module; one from elsewhere may have it.
    """
    point = plugins.get_entries("attack").get(spec)
    home, _, cls = point.value.partition(":") if point is not None else ("", "", "")
    return _has_method(home, cls, name)


def _has_method(home: str, cls: str, name: str) -> bool | None:
    node = find_class(home, cls)
    if node is None:
        return None
    if any(isinstance(each, ast.FunctionDef) and each.name == name for each in node.body):
        return True
    inherited = [
        _has_method(home, base.id, name) if isinstance(base, ast.Name) else None
        for base in node.bases
    ]
    return True if True in inherited else None if None in inherited else False


def _find_attack(spec: str) -> ast.ClassDef | None:
    point = plugins.get_entries("attack").get(spec)
    home, _, name = point.value.partition(":") if point is not None else ("", "", "")
    return find_class(home, name)


def declared_name(node: ast.ClassDef) -> str | None:
    """The text that a class sets its attribute ``name: ...`` to."""
    for each in node.body:
        match each:
            case ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=str() as name)):
                return name
    return None
