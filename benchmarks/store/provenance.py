"""The code that a row was made by, as a hash of the source of the parts it used.

A part is a module with everything of the same package, and of reconbench, that it imports, however
indirectly. Comments, documentation and blank lines do not count. Libraries count by version.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from pathlib import Path

import reconbench
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import versions

OURS = "reconbench"
# What every row depends on, whoever attacks what: tables, streams, scores and ceilings.
GAME_PARTS = (
    "reconbench.attacks.metrics",
    "reconbench.attacks.optimal",
    "reconbench.benchmarks.game.misfit",
    "reconbench.benchmarks.plugins.options",
    "reconbench.benchmarks.game.random_streams",
    "reconbench.datasets.network.baynet",
)
GAME_FILES = (
    "reconbench.benchmarks.game.reliability",
    "reconbench.benchmarks.game.play",
    "reconbench.benchmarks.game.rad_worlds",
    "reconbench.benchmarks.game.round",
    "reconbench.benchmarks.game.row_ceilings",
)
# In place of an attack in the rows of computations, which depend on nothing but the file of their
# kind, that of all points, the bounds that these import, and what the kind says it ``plays``; one
# kind of them composes releases with dp-accounting.
NO_ATTACK = "none"
POINTS = "reconbench.benchmarks.computations.point"
COMPUTATIONS = "reconbench.benchmarks.computations.risk"
BOUNDS = "reconbench.bounds"
COMPOSING = "queries"
# The schema of rows, which has a version of its own.
LEFT_OUT = "reconbench.benchmarks.game.result"

Module = tuple[str, Path]


def code_version(attack: str, mechanism: str, bounds: tuple[str, ...] = ()) -> str:
    """A hash of all code behind the rows of an attack on a mechanism, both as specs.

    All installed bounds count. ``bounds`` in files do, too, and are named after the hash. Of
    ``none``, the code behind a kind of computation.
    """
    if attack == NO_ATTACK:
        own = {"computation": _computation(mechanism), "versions": computation_versions(mechanism)}
        return _sha256(json.dumps(own, sort_keys=True))
    parts = {
        "attack": part("attacks", attack),
        "mechanism": part("mechanisms", mechanism),
        "game": _game(),
        "bounds": {name: part("bounds", name) for name in plugins.registered("bounds")},
        "bounds in files": sorted(
            [spec.rpartition(":")[2], part("bounds", spec)] for spec in bounds
        ),
        "versions": versions(),
    }
    code = _sha256(json.dumps(parts, sort_keys=True))
    return f"{code} {json.dumps(bounds)}" if bounds else code


def bounds_in_files(code: str) -> tuple[str, ...]:
    """The specs of the bounds that a ``code_version`` was made with."""
    specs = code.partition(" ")[2]
    return tuple(json.loads(specs)) if specs else ()


def computation_versions(kind: str) -> dict[str, str]:
    """Of everything that a kind of computation may depend on: torch only where it plays."""
    plays = bool(_kind(kind).plays)
    found = {name: number for name, number in versions().items() if name != "torch" or plays}
    if kind == COMPOSING:
        try:
            found["dp-accounting"] = version("dp-accounting")
        except PackageNotFoundError:
            found["dp-accounting"] = ""
    return found


def shipped_name(spec: str) -> str | None:
    """The name of an attack of reconbench's own, read from its source without importing it.

    Attacks import large libraries, which nobody needs to find stored rows.
    """
    node = _shipped_class(spec)
    return None if node is None else _named(node)


def shipped_method(spec: str, name: str) -> bool | None:
    """Whether an attack of reconbench's own has a method, by its source; None if that is not told.

    A class with a base may inherit it.
    """
    node = _shipped_class(spec)
    if node is None:
        return None
    own = any(isinstance(each, ast.FunctionDef) and each.name == name for each in node.body)
    return None if node.bases and not own else own


def _shipped_class(spec: str) -> ast.ClassDef | None:
    point = plugins.registered("attacks").get(spec)
    home, _, cls = point.value.partition(":") if point is not None else ("", "", "")
    found = _find(home) if home.split(".")[0] == OURS else None
    if found is None:
        return None
    classes = [node for node in _tree(found[1]).body if isinstance(node, ast.ClassDef)]
    return next((node for node in classes if node.name == cls), None)


def _named(node: ast.ClassDef) -> str | None:
    return _text(_declared(node, "name"))


def _declared(node: ast.ClassDef, name: str) -> ast.AnnAssign | None:
    for each in node.body:
        target = each.target if isinstance(each, ast.AnnAssign) else None
        if isinstance(each, ast.AnnAssign) and isinstance(target, ast.Name) and target.id == name:
            return each
    return None


def _text(declared: ast.AnnAssign | None) -> str | None:
    """The text that a class attribute is set to."""
    value = declared.value if declared is not None else None
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, str) else None


def part(kind: str, spec: str) -> str:
    """A hash of a plugin's code. Raises ``PluginError`` if it is not here."""
    path, colon, _ = spec.rpartition(":")
    if colon and path.endswith(".py"):
        try:
            return _of_file(Path(path).read_bytes())
        except OSError as error:
            raise plugins.PluginError(f"no plugin file {path}: {error.strerror}") from None
    points = plugins.registered(kind)
    if spec not in points:
        raise plugins.PluginError(f"unknown {kind[:-1]} {spec!r}")
    point = points[spec]
    number = point.dist.version if point.dist is not None else ""
    name = point.value.partition(":")[0].strip()
    return _of_module(name, "" if name.split(".")[0] == OURS else number)


@cache
def _of_module(name: str, number: str) -> str:
    start = _find(name)
    found = _closure([start]) if start is not None else set()
    return _digest(found, name, number)


@cache
def _of_file(content: bytes) -> str:
    """A file counts to the last byte, since it may be in any state."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return hashlib.sha256(content).hexdigest()
    return _digest(
        _closure(_imported(tree, "", False, (OURS,))), hashlib.sha256(content).hexdigest()
    )


@cache
def _game() -> str:
    return _digest(_closure(_found(GAME_PARTS)) | set(_found(GAME_FILES)))


@cache
def _computation(kind: str) -> str:
    own = _found((POINTS, _kind(kind).home))
    used = [each for file in own for each in _imports(file) if each[0].startswith(f"{BOUNDS}.")]
    return _digest(_closure([*used, *_found(_kind(kind).plays)]) | set(own))


@dataclass(frozen=True)
class _Kind:
    """The module of a kind of computation, and that of what it plays beside bounds, if anything."""

    home: str = COMPUTATIONS
    plays: tuple[str, ...] = ()


def _kind(name: str) -> _Kind:
    return _kinds().get(name, _Kind())


@cache
def _kinds() -> dict[str, _Kind]:
    """Read from the classes that have ``compute: Literal[kind]``, without importing them."""
    found: dict[str, _Kind] = {}
    for _, start in _found((COMPUTATIONS,)):
        for path in sorted(start.parent.glob("*.py")):
            home = f"{COMPUTATIONS.rpartition('.')[0]}.{path.stem}"
            for node in _tree(path).body:
                compute = _declared(node, "compute") if isinstance(node, ast.ClassDef) else None
                if isinstance(node, ast.ClassDef) and compute is not None:
                    plays = _text(_declared(node, "plays"))
                    kind = _Kind(home, (plays,) if plays else ())
                    found |= dict.fromkeys(_literals(compute.annotation), kind)
    return found


def _literals(annotation: ast.expr) -> Iterator[str]:
    for each in ast.walk(annotation):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _found(names: Iterable[str]) -> list[Module]:
    return [found for name in names if (found := _find(name)) is not None]


def _digest(modules: Iterable[Module], *more: str) -> str:
    return _sha256(json.dumps([*more, *((name, _source(path)) for name, path in sorted(modules))]))


def _closure(roots: Iterable[Module]) -> set[Module]:
    found: set[Module] = set()
    ahead = list(roots)
    while ahead:
        module = ahead.pop()
        if module not in found and module[0] != LEFT_OUT:
            found.add(module)
            ahead += _imports(module)
    return found


@cache
def _imports(module: Module) -> tuple[Module, ...]:
    name, path = module
    packages = {OURS, name.partition(".")[0]}
    return tuple(_imported(_tree(path), name, path.name == "__init__.py", tuple(packages)))


def _imported(
    tree: ast.Module, name: str, is_package: bool, packages: tuple[str, ...]
) -> Iterator[Module]:
    """The modules of some packages that a module imports, wherever in it."""
    home = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in packages:
                    found = _find(alias.name)
                    if found is not None:
                        yield found
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, home)
            if base.partition(".")[0] in packages:
                for alias in node.names:
                    yield from _homes(base, alias.name)


def _absolute(node: ast.ImportFrom, home: str) -> str:
    if not node.level:
        return node.module or ""
    try:
        return resolve_name("." * node.level + (node.module or ""), home)
    except ImportError:
        return ""


@cache
def _homes(base: str, name: str) -> tuple[Module, ...]:
    """Where a name comes from that is imported from a module: all of a package if in doubt."""
    found = _find(base)
    if found is None:
        return ()
    if found[1].name != "__init__.py":
        return (found,)
    inner = _find(f"{base}.{name}")
    if inner is not None:
        return (inner,)
    if base == OURS and name in reconbench._HOME_OF:
        return _homes(reconbench._HOME_OF[name], name)
    for node in _tree(found[1]).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _homes(_absolute(node, base), alias.name)
    stem = f"{base}."
    return tuple(
        (base if path == found[1] else stem + path.stem, path)
        for path in sorted(found[1].parent.glob("*.py"))
    )


@cache
def _find(name: str) -> Module | None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return name, Path(spec.origin)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _source(path: Path) -> str:
    """The lines of a file without comments, documentation and blanks, as one hash."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
                and first.end_lineno is not None
            ):
                for place in range(first.lineno - 1, first.end_lineno):
                    lines[place] = ""
    if "#" in text:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    kept = (line.rstrip() for line in lines)
    return _sha256("\n".join(line for line in kept if line))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
