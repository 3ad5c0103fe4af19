from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_list(reconbench: Run) -> None:
    done = reconbench("suite", "list", "--json")
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert found["swanberg"]["games"] == 98 and found["swanberg"]["core_seconds"] > 60
    assert found["kulynych"]["computations"] == 11 and found["kulynych"]["games"] == 0
    shown = reconbench("suite", "list").stdout
    assert all(name in shown for name in found)


def test_show_says_where_its_times_are_from(reconbench: Run, tmp_path: Path) -> None:
    done = reconbench("suite", "show", "smoke", "--json", "--jobs", "2", cwd=tmp_path)
    rough = json.loads(done.stdout)
    assert (rough["rows"], rough["stored"], len(rough["games"])) == (12, 0, 2)
    assert rough["timings"] == "a shipped table of rough costs"
    assert rough["released"] == 20_816 and rough["seconds"] * 2 >= rough["core_seconds"] - 0.2
    text = reconbench("suite", "show", "smoke").stdout
    assert "2 games, 12 rows" in text and "rough costs" in text and "20,816 cells" in text
    ran = reconbench("run", "smoke", "--reps", "1", "--jobs", "1", "--json")
    assert ran.returncode == 0, ran.stderr
    for more in ((), ("--out", "results/smoke")):
        timed = json.loads(reconbench("suite", "show", "smoke", "--json", *more).stdout)
        assert timed["stored"] == 6 and timed["timings"] == "stored timings"


def test_show_counts_the_rows_of_computations(reconbench: Run, tmp_path: Path) -> None:
    shown = json.loads(reconbench("suite", "show", "kulynych-fig4", "--json").stdout)
    (asked,) = shown["computations"]
    assert (asked["compute"], asked["rows"], asked["stored"]) == ("worst-advantage", 8, 0)
    out = str(tmp_path / "out")
    assert reconbench("run", "kulynych-fig4", "--out", out, "--json").returncode == 0
    text = reconbench("suite", "show", "kulynych-fig4", "--out", out).stdout
    assert "worst-advantage (kulynych-fig4), 8 rows, 8 of them stored" in text


def test_errors_are_one_line(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('name = "bad"\ndescription = ""\ngames = []\n')
    for arguments, message in (
        (("show", "nope"), "unknown suite 'nope'"),
        (("show", "smoke", "--out", str(tmp_path / "none")), "none"),
        (("show", str(tmp_path / "bad.toml")), "games"),
    ):
        done = reconbench("suite", *arguments)
        assert done.returncode == 2 and message in done.stderr
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
