"""Which room may import which, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reconbench

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT = {
    "bounds": set(),
    "datasets": set(),
    "mechanisms": {"datasets", "bounds"},
    "attacks": {"datasets", "mechanisms", "bounds"},
    "benchmarks": {"datasets", "mechanisms", "attacks", "bounds"},
    "reports": {"benchmarks"},
}
RESULT_SCHEMA = {
    ("game", "result"),
    ("store", "summary"),
    ("assess", "report"),
    ("assess", "exposure"),
}


def our_imports(path: Path) -> set[tuple[str, ...]]:
    """The reconbench modules that a file imports, as parts after ``reconbench``."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {tuple(n.split(".")[1:]) for n in names if n.split(".")[0] == "reconbench"}
    return found


def violations(room: str, path: Path) -> list[str]:
    wrong = []
    for parts in our_imports(path):
        if not parts or parts[0] == room:
            continue
        allowed = parts[0] in MAY_IMPORT[room]
        if room == "reports" and parts[0] == "benchmarks":
            allowed = parts[1:3] in RESULT_SCHEMA
        if not allowed:
            wrong.append(f"{path.name} imports reconbench.{'.'.join(parts)}")
    return wrong


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_only_what_they_may(room: str) -> None:
    files = [p for p in (ROOT / room).rglob("*.py") if "perf" not in p.parts]
    assert files
    assert [wrong for path in files for wrong in violations(room, path)] == []


def test_the_rule_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("from reconbench.attacks import Attack\nimport reconbench.datasets\n")
    assert len(violations("bounds", bad)) == 2
    assert len(violations("datasets", bad)) == 1
    bad.write_text("from reconbench.benchmarks import runner\n")
    assert violations("reports", bad)


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


def test_public_names_resolve() -> None:
    for name in reconbench.__all__:
        assert getattr(reconbench, name).__name__
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
