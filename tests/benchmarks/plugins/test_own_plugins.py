"""Plugins of every kind, as docs/plugins.md shows them, from a folder to the leaderboard."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "plugins.md"
NAMES = {
    "attack": ("votes", "votes.py:Votes"),
    "mechanism": ("padded", "padded.py:Padded"),
    "dataset": ("people", "people.py:people"),
    "metric": ("near", "near.py:Near:1"),
    "bound": ("variation", "variation.py:Variation"),
}
SUITE = """
name = "mine"
description = "plugins of all kinds"
repetitions = 1
attacks = ["prior", "{attack}"]
bounds = ["{bound}"]
[[games]]
dataset = "{dataset}"
targets = ["income"]
n = 20
epsilon = 3
mechanism = {{ mechanism = "{mechanism}", options = {{ factor = 2.0 }} }}
metric = "{metric}"
"""


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page, each named in its first line."""
    for code in blocks("python"):
        named = re.match(r"# (\w+\.py)\n", code)
        if named is not None:
            (tmp_path / named[1]).write_text(code, encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} >= {
        spec.partition(":")[0] for _, spec in NAMES.values()
    }
    return tmp_path


def leaderboard(folder: Path) -> tuple[dict[str, str], str]:
    """The line of the attack, and the page."""
    rows = list(csv.DictReader((folder / "leaderboard.csv").read_text().splitlines()))
    (row,) = (row for row in rows if row["attack"] == "votes")
    return row, (folder / "leaderboard.html").read_text()


def test_files_reach_the_leaderboard(reconbench: Run, folder: Path, tmp_path: Path) -> None:
    specs = {kind: spec for kind, (_, spec) in NAMES.items()}
    (folder / "mine.toml").write_text(SUITE.format(**specs))
    reconbench("run", str(folder / "mine.toml"), "--out", "out", cwd=tmp_path)
    row, page = leaderboard(tmp_path / "out")
    assert (row["dataset"], row["mechanism"], row["metric"]) == (
        "people.py:people",
        "padded",
        "near:1",
    )
    assert row["success"] and float(row["failures"]) == 0
    assert any("variation" in name and row[name] for name in row)
    assert all(text in page for text in ("votes", "padded", "near:1", "variation"))
    game = ("game", "--targets", "income", "--epsilon", "3", "--n", "20", "--reps", "1", "--json")
    flags = [part for kind, spec in specs.items() for part in (f"--{kind}", spec)]
    played = json.loads(reconbench(*game, *flags, cwd=folder))
    assert (played["attack"], played["metric"]) == ("votes", "near:1")
    assert played["ceilings"]["variation"]["mean"] >= played["ceilings"]["prior-exact"]["mean"]


def test_entry_points_reach_the_leaderboard(reconbench: Run, folder: Path, tmp_path: Path) -> None:
    """An installed package is a folder on the path with its entry points beside it."""
    info = folder / "reconbench_mine-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reconbench-mine\nVersion: 0.1.0\n")
    (toml,) = (block for block in blocks("toml") if "entry-points" in block)
    groups = re.sub(
        r'\[project\.entry-points\."(.*?)"\]', r"[\1]", toml[toml.index("[project.entry-points") :]
    )
    (info / "entry_points.txt").write_text(groups.replace('"', ""))
    package = folder / "reconbench_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    for file in folder.glob("*.py"):
        file.rename(package / file.name)
    work = tmp_path / "work"
    work.mkdir()
    listed = json.loads(reconbench("list", "--json", cwd=work, path=folder))
    assert all(listed[kind][name] for kind, (name, _) in NAMES.items())
    specs = {kind: name for kind, (name, _) in NAMES.items()} | {"metric": "near:1"}
    (work / "mine.toml").write_text(SUITE.format(**specs))
    reconbench("run", "mine.toml", "--out", "out", cwd=work, path=folder)
    row, page = leaderboard(work / "out")
    assert (row["dataset"], row["mechanism"], row["metric"]) == ("people", "padded", "near:1")
    assert any("variation" in name and row[name] for name in row)
    assert all(text in page for text in ("votes", "people", "padded", "near:1", "variation"))


@pytest.mark.parametrize("kind", NAMES)
def test_the_examples_keep_their_contract(reconbench: Run, folder: Path, kind: str) -> None:
    checks = json.loads(reconbench("check", kind, NAMES[kind][1], "--json", cwd=folder))
    assert [check for check in checks if check["passed"] is False] == []


def test_the_suite_of_the_page_is_read(reconbench: Run, folder: Path) -> None:
    (suite,) = (block for block in blocks("toml") if "[[games]]" in block)
    (folder / "mine.toml").write_text(suite)
    found = json.loads(reconbench("suite", "show", "mine.toml", "--json", cwd=folder))
    assert len(found["games"]) == 8 and found["rows"] == 32
