"""Which room may import which, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reconbench

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT: dict[str, set[str]] = {
    "bounds": set(),
    "datasets": set(),
    "mechanisms": {"datasets", "bounds"},
    "attacks": {"datasets", "mechanisms", "bounds"},
    "benchmarks": {"datasets", "mechanisms", "attacks", "bounds"},
    "reports": {"benchmarks"},
}
# What wires the rooms together: the command line may use the front, and not the other way round.
MAY_WIRE: dict[str, set[str]] = {"front": {*MAY_IMPORT}, "cli": {*MAY_IMPORT, "front"}}
ROOMS = (*MAY_IMPORT, *MAY_WIRE)
# What reports are made from: rows and what they declare, summaries, verdicts, and the values of an
# assessment.
RESULT_SCHEMA = {
    ("computations", "axes"),
    ("game", "result"),
    ("game", "setting"),
    ("store", "summary"),
    ("store", "tightest"),
    ("assess", "accuracy"),
    ("assess", "assessment"),
    ("assess", "exposure"),
    ("assess", "report"),
    ("assess", "rows_report"),
    ("submissions", "verdict"),
}
# Modules of its own that a folder of the library may hold, its __init__ not counted.
MOST_MODULES = 14


def module_of(path: Path, root: Path = ROOT) -> tuple[str, ...]:
    """The dotted name of a file of the library, without ``reconbench``."""
    parts = path.relative_to(root).with_suffix("").parts
    parts = parts[2:] if parts[:2] == ("src", "reconbench") else parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports_of(path: Path, root: Path = ROOT) -> set[tuple[str, ...]]:
    """The reconbench modules and names that a file imports, relative imports resolved."""
    module = module_of(path, root)
    package = module if path.name == "__init__.py" else module[:-1]
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*filter(None, (node.module or "").split("."))]
            if node.level:
                base = ["reconbench", *package[: len(package) - node.level + 1], *base]
            dotted = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        found |= {tuple(name.split(".")[1:]) for name in dotted if name.startswith("reconbench.")}
    return found


def violations(path: Path, root: Path = ROOT) -> list[str]:
    """What a file imports although its room may not, or although it is private to another room."""
    room = module_of(path, root)[0] if module_of(path, root) else ""
    wrong = []
    for parts in imports_of(path, root):
        if not parts or parts[0] == room or parts[0] not in ROOMS:
            continue
        rules = MAY_IMPORT | MAY_WIRE
        allowed = room not in rules or parts[0] in rules[room]
        if room == "reports" and parts[0] == "benchmarks":
            allowed = parts[1:3] in RESULT_SCHEMA
        private = any(part.startswith("_") and not part.startswith("__") for part in parts)
        if not allowed or private:
            wrong.append(f"{path.relative_to(root)} imports reconbench.{'.'.join(parts)}")
    return wrong


def files_of(room: str) -> list[Path]:
    home = ROOT / "src" / "reconbench" / room if room in MAY_WIRE else ROOT / room
    return [path for path in home.rglob("*.py") if "perf" not in path.parts]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_what_they_may(room: str) -> None:
    files = files_of(room)
    assert files
    assert [wrong for path in files for wrong in violations(path)] == []


def test_what_every_room_may_import_imports_none() -> None:
    for path in (ROOT / "src" / "reconbench").glob("*.py"):
        if path.name != "__init__.py":
            assert not {parts[0] for parts in imports_of(path)} & {*ROOMS}, path


@pytest.mark.parametrize(
    ("file", "text", "count"),
    [
        ("bounds/bad.py", "from reconbench.attacks import Attack\nimport reconbench.datasets", 2),
        ("bounds/bad.py", "from ..attacks import Attack", 1),
        ("bounds/rad/bad.py", "from ... import attacks", 1),
        ("bounds/rad/bad.py", "from ...datasets.table import Table", 1),
        ("bounds/rad/__init__.py", "from ..risk import report", 0),
        ("bounds/rad/bad.py", "from .channel import x\nfrom .. import _validate", 0),
        ("datasets/bad.py", "def f():\n    from ..bounds import ApproxDP", 1),
        ("attacks/bad.py", "from reconbench.bounds import _validate", 1),
        ("attacks/bad.py", "from reconbench.mechanisms.marginals import _cells", 1),
        ("attacks/bad.py", "from ._unary import UnaryMap", 0),
        ("reports/bad.py", "from reconbench.benchmarks.run import runner", 1),
        ("reports/bad.py", "from ..benchmarks.game.result import Result", 0),
        ("src/reconbench/cli/bad.py", "from ..benchmarks.game.play import _row", 1),
        ("src/reconbench/cli/bad.py", "from . import _show", 0),
        ("src/reconbench/cli/bad.py", "from reconbench.front.figure import Figure", 0),
        ("src/reconbench/front/bad.py", "from reconbench.cli.results import show", 1),
        ("bounds/bad.py", "from reconbench.front.figure import Figure", 1),
    ],
)
def test_the_rule_can_fail(tmp_path: Path, file: str, text: str, count: int) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert len(violations(path, tmp_path)) == count


def test_folders_stay_small() -> None:
    """A family that outgrows its folder becomes a folder of its own."""
    folders = {path.parent for room in ROOMS for path in files_of(room)}
    many = {
        str(folder.relative_to(ROOT)): count
        for folder in folders
        if (count := len({*folder.glob("*.py")} - {folder / "__init__.py"})) > MOST_MODULES
    }
    assert many == {}


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True
    )
    return done.stdout.strip()


def loaded(module: str) -> set[str]:
    heavy = "('torch', 'pgmpy', 'pandas', 'scipy', 'numpy', 'sklearn', 'typer')"
    return set(
        python(f"import sys, {module}; print(*(m for m in {heavy} if m in sys.modules))").split()
    )


def test_importing_the_package_is_light() -> None:
    assert loaded("reconbench") == set()
    assert not loaded("reconbench.bounds") & {"torch", "pgmpy", "pandas"}
    assert not loaded("reconbench.datasets") & {"torch", "pgmpy", "pandas"}
    assert not loaded("reconbench.cli") & {"torch", "pgmpy", "pandas", "numpy"}
    assert loaded("reconbench.front") == set()


def test_public_names_resolve() -> None:
    for name in reconbench.__all__:
        assert getattr(reconbench, name).__name__ and getattr(reconbench, name).__doc__
        assert f"``{name}``" in (reconbench.__doc__ or "")
    assert set(reconbench.__all__) == set(reconbench._HOME_OF)
    assert reconbench.__version__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = reconbench.nothing


def test_rooms_refuse_another_name() -> None:
    for room in MAY_IMPORT:
        code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {room}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
        assert done.returncode and f"import this package as reconbench.{room}" in done.stderr


def test_files_stay_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {count}"
        for folder in (*MAY_IMPORT, "src", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 500
    ]
    assert long == []
