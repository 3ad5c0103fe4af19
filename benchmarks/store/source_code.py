"""Source code as it counts for results: modules, what they import, and a hash of it all.

Comments, documentation and blank lines do not count. Nothing is imported: attacks load large
libraries, which nobody needs in order to find stored rows.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec, resolve_name
from pathlib import Path

import reconbench

OURS = "reconbench"
INIT = "__init__.py"

Module = tuple[str, Path]


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def find_module(name: str) -> Module | None:
    """A module and its file; None if it has no source here."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return name, Path(spec.origin)


def find_modules(names: Iterable[str]) -> list[Module]:
    return [module for name in names if (module := find_module(name)) is not None]


def find_class(home: str, name: str) -> ast.ClassDef | None:
    """The source of a class of reconbench."""
    module = find_module(home) if is_ours(home) else None
    nodes = parse(module[1]).body if module is not None else []
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return next((node for node in classes if node.name == name), None)


def is_ours(name: str) -> bool:
    return name.partition(".")[0] == OURS


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def hash_modules(modules: Iterable[Module], *more: str) -> str:
    """A hash of the code of modules, and of further texts."""
    codes = [(name, hash_text(read_code(path))) for name, path in sorted(modules)]
    return hash_text(json.dumps([*more, *codes]))


def hash_folders(packages: Iterable[str]) -> str:
    """A hash of all files of packages, templates and data included, to the last byte."""
    digest = hashlib.sha256()
    for package in packages:
        folder = Path(str(files(package)))
        for path in sorted(folder.rglob("*")):
            if "__pycache__" not in path.parts and path.is_file():
                content = path.read_bytes()
                digest.update(f"{package} {path.relative_to(folder)} {len(content)} ".encode())
                digest.update(content)
    return digest.hexdigest()


@cache
def read_code(path: Path) -> str:
    """The lines of a file without comments, documentation and blanks."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for first, last in _find_docstrings(parse(path)):
        lines[first - 1 : last] = [""] * (last - first + 1)
    if "#" in text:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    stripped = (line.rstrip() for line in lines)
    return "\n".join(line for line in stripped if line)


def _find_docstrings(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last line of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=last)]:
                    yield first, last or first


def find_closure(roots: Iterable[Module], left_out: tuple[str, ...] = ()) -> set[Module]:
    """Modules with everything of the same package, and of reconbench, that they import, however
    indirectly. ``left_out`` are how names of modules begin that do not count."""
    closure: set[Module] = set()
    ahead = list(roots)
    while ahead:
        module = ahead.pop()
        if module not in closure and not module[0].startswith(left_out):
            closure.add(module)
            ahead += _find_imports(module)
    return closure


@cache
def _find_imports(module: Module) -> tuple[Module, ...]:
    name, path = module
    home = name if path.name == INIT else name.rpartition(".")[0]
    return tuple(find_imports(parse(path), home, (OURS, name.partition(".")[0])))


def find_imports(tree: ast.Module, home: str, packages: tuple[str, ...]) -> Iterator[Module]:
    """The modules of some packages that code in the package ``home`` imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from find_modules(n for n in names if n.partition(".")[0] in packages)
        elif isinstance(node, ast.ImportFrom):
            base = _resolve_base(node, home)
            if base.partition(".")[0] in packages:
                for alias in node.names:
                    yield from _find_homes(base, alias.name)


def _resolve_base(node: ast.ImportFrom, home: str) -> str:
    """The module that names are imported from, relative ones resolved."""
    if not node.level:
        return node.module or ""
    try:
        return resolve_name("." * node.level + (node.module or ""), home)
    except ImportError:
        return ""


@cache
def _find_homes(base: str, name: str) -> tuple[Module, ...]:
    """Where a name comes from that is imported from a module: all of a package if in doubt."""
    module = find_module(base)
    if module is None:
        return ()
    if module[1].name != INIT:
        return (module,)
    inner = find_module(f"{base}.{name}")
    if inner is not None:
        return (inner,)
    if base == OURS and name in reconbench._HOME_OF:
        return _find_homes(reconbench._HOME_OF[name], name)
    for node in parse(module[1]).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _find_homes(_resolve_base(node, base), alias.name)
    return tuple(
        module if path == module[1] else (f"{base}.{path.stem}", path)
        for path in sorted(module[1].parent.glob("*.py"))
    )
