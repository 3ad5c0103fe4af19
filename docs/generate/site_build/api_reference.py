"""Pages of the Python reference: what each package exports, rendered by mkdocstrings.

Nothing is listed here that the code says itself: the names are those of ``__all__`` and of the
registries. A package without ``__all__`` is described by the modules that users need.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from reconbench.benchmarks.plugins.registry import get_entries


@dataclass(frozen=True)
class ApiPage:
    """A page of the reference: the package whose exports it shows, then further packages and
    modules of it, then the entries of a registry."""

    package: str
    more: tuple[str, ...] = ()
    registry: str = ""

    @property
    def name(self) -> str:
        return self.package.rpartition(".")[2]


def _inside(package: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names)


API_PAGES = (
    ApiPage("reconbench"),
    ApiPage(
        "reconbench.bounds",
        _inside("reconbench.bounds", "gradients", "rad", "audit", "audit.mcmc"),
    ),
    ApiPage(
        "reconbench.datasets",
        _inside("reconbench.datasets", "named", "cards", "own_table", "sources", "secrets"),
    ),
    ApiPage(
        "reconbench.mechanisms",
        _inside("reconbench.mechanisms", "training.algorithms", "vetted_release"),
        registry="mechanism",
    ),
    ApiPage("reconbench.attacks", ("reconbench.attacks.metrics",), registry="attack"),
    ApiPage(
        "reconbench.benchmarks",
        _inside(
            "reconbench.benchmarks",
            "game.game",
            "game.attack_spec",
            "game.round",
            "game.play",
            "game.setting",
            "game.result",
            "suites.suite",
            "run.runner",
            "store.store",
            "store.summary",
            "assess.question",
            "assess.assess",
            "assess.assessment",
            "plugins",
        ),
    ),
    ApiPage("reconbench.reports"),
)


@dataclass(frozen=True)
class Entry:
    """A name of the reference, as users say it, and the object that it stands for."""

    name: str
    home: str
    attribute: str
    about: str

    @property
    def path(self) -> str:
        return f"{self.home}.{self.attribute}"


def write_api_pages() -> dict[str, str]:
    """All pages in Markdown, by name, for mkdocstrings to fill in.

    An object is described in full once: on the first page that has it, the pages of the rooms
    before that of the whole package. Others link to it.
    """
    described: set[str] = set()
    order = sorted(API_PAGES, key=lambda page: page.package == "reconbench")
    return {page.name: _write_page(page, described) for page in order}


def _write_page(page: ApiPage, described: set[str]) -> str:
    parts = [f"# `{page.package}`", _write_docstring(page.package)]
    for part, entries in _group_exports(page):
        title = part.replace("_", " ").capitalize() or "Defined here"
        parts += [f"## {title}", f"Import these names from `{page.package}`."]
        parts += _write_entries(entries, described)
    for name in page.more:
        parts += [f"## `{name}`", _write_docstring(name)]
        parts += _write_entries(list_entries(import_module(name)), described)
    if page.registry:
        parts += [f"## Installed {page.registry}s"]
        parts += _write_entries(list_installed(page.registry), described)
    return "\n\n".join(parts) + "\n"


def _group_exports(page: ApiPage) -> Iterator[tuple[str, list[Entry]]]:
    """What a package exports, by the part that it comes from, in the order of the package's map.

    The calls of the front come first: they are what most people need.
    """
    package = import_module(page.package)
    parts: dict[str, list[Entry]] = {}
    for entry in list_entries(package):
        inside = entry.home.removeprefix(page.package).lstrip(".")
        parts.setdefault(inside.partition(".")[0], []).append(entry)
    places = ["front", *re.findall(r"`(\w+)`", package.__doc__ or "")]
    yield from sorted(
        parts.items(),
        key=lambda part: places.index(part[0]) if part[0] in places else len(places),
    )


def _write_docstring(module: str) -> str:
    """The docstring of a module, which is its map."""
    options = "{members: false, show_root_heading: false, show_root_toc_entry: false}"
    return f"::: {module}\n    options: {options}"


def _write_entries(entries: Iterable[Entry], described: set[str]) -> Iterator[str]:
    """A table of names, then in full what no page has described."""
    rows = [f"| [`{entry.name}`][{entry.path}] | {entry.about} |" for entry in entries]
    if rows:
        yield "\n".join(["| name | what it is |", "|---|---|", *rows])
    for entry in entries:
        if entry.path not in described:
            described.add(entry.path)
            yield f"::: {entry.path}"


def list_entries(module: ModuleType) -> list[Entry]:
    """The public names of a module, in the order of where they are defined."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if _is_own(module, name, value)]
    entries = [
        Entry(name, _find_home(module, name), name, _describe(getattr(module, name)))
        for name in names
    ]
    return sorted(entries, key=lambda entry: (entry.home, _line_of(entry)))


def list_installed(kind: str) -> list[Entry]:
    """The entries of a registry that reconbench brings, by their names there."""
    return [
        Entry(name, point.module, point.attr, _describe(point.load()))
        for name, point in get_entries(kind).items()
        if point.module.startswith("reconbench.")
    ]


def _is_own(module: ModuleType, name: str, value: object) -> bool:
    described = inspect.isclass(value) or inspect.isfunction(value)
    return not name.startswith("_") and described and value.__module__ == module.__name__


def _find_home(module: ModuleType, name: str) -> str:
    """The module that defines a name; a plain value does not know, so imports are followed."""
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__module__
    for node in ast.walk(_parse(module.__name__)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return _find_home(import_module(node.module or ""), name)
    return module.__name__


def _line_of(entry: Entry) -> int:
    """Where a name is defined in its module."""
    for node in _parse(entry.home).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        if entry.attribute in [getattr(each, "name", getattr(each, "id", "")) for each in targets]:
            return node.lineno
    return 0


@cache
def _parse(module: str) -> ast.Module:
    return ast.parse(Path(import_module(module).__file__ or "").read_bytes())


def _describe(value: object) -> str:
    """The first sentence of the documentation of a class or function, for a cell of a table."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    text = (inspect.getdoc(value) or "").partition("\n\n")[0]
    if inspect.isclass(value) and text.startswith(f"{value.__name__}("):
        return ""
    return " ".join(text.split()).replace("|", "\\|")
