"""Plugin specs: a registered name, or ``path/to/file.py:Class``, wherever the file lies.

A data set may also be a BIF file, or some columns of another one, ``columns:DATASET:A,B``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from reconbench.datasets.network.bif import ENDINGS
from reconbench.datasets.prior_families import split_columns

_COLUMNS = "columns:"
_IN_FILE = re.compile(r"(.+\.py):([^:]*)(?::(.*))?", flags=re.DOTALL)


class PluginError(ValueError):
    """A plugin that cannot be found, imported or built, or that breaks its contract."""


class FileSpec(NamedTuple):
    """``path.py:name``, or ``path.py:name:parameter``."""

    path: str
    name: str
    parameter: str = ""


def split_file(spec: str) -> FileSpec | None:
    """The parts of a spec in a Python file; None for any other spec."""
    match = None if spec.startswith(_COLUMNS) else _IN_FILE.fullmatch(spec)
    return None if match is None else FileSpec(match[1], match[2], match[3] or "")


def get_file(spec: str) -> str | None:
    """The path of a spec that is in a file of the user's own."""
    if spec.startswith(_COLUMNS):
        try:
            return get_file(split_columns(spec.removeprefix(_COLUMNS))[0])
        except ValueError:
            return None  # a metric, or a mistake that is reported where the data set is loaded
    parts = split_file(spec)
    if parts is not None:
        return parts.path
    return spec if spec.endswith(ENDINGS) else None


def move_file(spec: str, path: object) -> str:
    """A spec in a file, with another path to it."""
    before, file, after = spec.partition(get_file(spec) or spec)
    return f"{before}{path}{after}" if file else spec


def make_absolute(spec: str) -> str:
    """A spec that means the same in any working directory."""
    path = get_file(spec)
    return spec if path is None else move_file(spec, Path(path).resolve())


def shorten_spec(spec: str) -> str:
    """A spec without the folder of its file: what rows and keys say, wherever the file lies."""
    path = get_file(spec)
    return spec if path is None else move_file(spec, Path(path).name)


def identify_spec(spec: str) -> str:
    """What random streams know a plugin by: its name, or the content of its file and the class.

    The folder of the file does not count, so that a copy elsewhere gives the same numbers.
    """
    parts = split_file(spec)
    if parts is None:
        return spec
    return f"{_hash_content(*locate_file(parts.path))}{spec[len(parts.path) :]}"


@cache
def _hash_content(path: Path, file: Path) -> str:
    """Of the content that this process has imported: like the classes, it is read once."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        raise PluginError(f"no plugin file {path}") from None


_copies: dict[str, str] = {}


def get_copies() -> dict[str, str]:
    """The files that ``use_copies`` was told of."""
    return dict(_copies)


def use_copies(files: Mapping[str, str]) -> None:
    """From now on read these files, by the paths that specs give, from where they are copied.

    Specs keep their paths, by which files are found: on a machine that has only copies, rows come
    out the same.
    """
    _copies.clear()
    _copies.update(files)


def locate_file(path: str) -> tuple[Path, Path]:
    """The full path of a file by name, and the path to read it from."""
    if path in _copies:
        return Path(path), Path(_copies[path])
    full = Path(path).resolve()
    return full, full


def load_from_file(spec: str) -> Any:
    """What a file of the user's own defines, by ``path/to/file.py:name``: a class or a function."""
    parts = split_file(spec)
    if parts is None:
        raise PluginError(f"{spec!r} must be path/to/file.py:name")
    path, file = locate_file(parts.path)
    module = _import_file(path, file)
    if not hasattr(module, parts.name):
        raise PluginError(f"plugin file {path} has no class or function {parts.name!r}")
    return getattr(module, parts.name)


_modules: dict[str, tuple[Path, Path]] = {}


def get_modules() -> dict[str, tuple[Path, Path]]:
    """The files that this process has imported, as ``import_as`` takes them, by module name."""
    return dict(_modules)


def import_as(module_name: str, path: Path, file: Path) -> ModuleType:
    """A file that another process has imported under this name."""
    return sys.modules.get(module_name) or _import_file(path, file)


@cache
def _import_file(path: Path, file: Path) -> ModuleType:
    if not file.is_file():
        raise PluginError(f"no plugin file {path}")
    tag = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    module_name = f"reconbench_plugin_{tag}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"plugin file {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # foreign code: whatever it raises is its fault
        sys.modules.pop(module_name, None)
        raise PluginError(f"plugin file {path} does not import: {describe_error(error)}") from error
    _modules[module_name] = path, file
    return module


def describe_error(error: BaseException) -> str:
    """An error of foreign code in one short line, with the line of code that raised it.

    A ValueError says what is wrong by itself.
    """
    text = " ".join(str(error).split())[:300]
    if isinstance(error, ValueError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{where}"
