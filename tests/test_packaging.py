"""The hand-written package list against the tree, and the wheel against both."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
ROOMS = ("attacks", "benchmarks", "bounds", "datasets", "mechanisms", "reports")


def folder_of(package: str) -> Path:
    mapping: dict[str, str] = SETUPTOOLS["package-dir"]
    known = next(
        p for p in sorted(mapping, key=len, reverse=True) if f"{package}.".startswith(f"{p}.")
    )
    rest = package[len(known) :].lstrip(".")
    return ROOT / mapping[known] / rest.replace(".", "/")


def packages_in_tree() -> set[str]:
    found = {"reconbench"}
    for init in (ROOT / "src" / "reconbench").rglob("__init__.py"):
        parts = init.relative_to(ROOT / "src").parent.parts
        if not any(
            (ROOT / "src").joinpath(*parts[:i]).is_symlink() for i in range(1, len(parts) + 1)
        ):
            found.add(".".join(parts))
    for room in ROOMS:
        for init in (ROOT / room).rglob("__init__.py"):
            found.add(".".join(("reconbench", *init.relative_to(ROOT).parent.parts)))
    return found


def expected_files() -> set[str]:
    """Every module and data file that an installed package needs, as paths in the wheel."""
    found = set()
    for package in SETUPTOOLS["packages"]:
        inside = package.replace(".", "/")
        patterns = ["*.py", *SETUPTOOLS["package-data"].get(package, [])]
        for pattern in patterns:
            for path in folder_of(package).glob(pattern):
                found.add(f"{inside}/{path.relative_to(folder_of(package)).as_posix()}")
    return found


def test_package_list_is_the_tree() -> None:
    assert set(SETUPTOOLS["packages"]) == packages_in_tree()
    assert all((folder_of(package) / "__init__.py").is_file() for package in SETUPTOOLS["packages"])


def test_data_patterns_cover_the_data() -> None:
    covered = {
        path
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for path in folder_of(package).glob(pattern)
    }
    data = {
        path
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".ini"} and "__pycache__" not in path.parts
    }
    assert data - covered == set()


def test_links_for_type_checkers() -> None:
    for room in ROOMS:
        link = ROOT / "src" / "reconbench" / room
        assert link.is_symlink() and link.resolve() == (ROOT / room).resolve()
        assert not link.readlink().is_absolute()
        assert f"src/reconbench/{room}" in PROJECT["tool"]["pyright"]["include"]


def test_torch_is_pinned() -> None:
    pins = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert pins["torch"] == "2.13.0"
    needed = PROJECT["project"]["dependencies"] + [
        item for extra in PROJECT["project"]["optional-dependencies"].values() for item in extra
    ]
    names = {re.split(r"[<>=\[]", item)[0] for item in needed} - {"reconbench"}
    assert {name.replace("-", "_").lower() for name in names} <= {
        name.replace("-", "_").lower() for name in pins
    }


@pytest.mark.slow
def test_wheel_holds_everything_and_works_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        archive.extractall(tmp_path / "site")
    assert inside == expected_files()
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import reconbench.datasets.shipped as s; "
        "assert s.__file__.startswith(sys.argv[1]), s.__file__; print(len(s.acs().domain))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _with_site(code), str(tmp_path / "site")],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "16"


def _with_site(code: str) -> str:
    """Third-party packages on the path, without the hooks of the editable install."""
    import numpy

    return f"import sys; sys.path.append({str(Path(numpy.__file__).parent.parent)!r}); {code}"
