"""`reconbench audit train`, small enough for seconds."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[..., Any]
SMALL = (
    "audit", "train", "--size", "20", "--epochs", "3", "--hidden", "4", "--bases", "3",
    "--challenges", "10", "--shadows", "6", "--iterations", "400", "--quiet",
)  # fmt: skip


def test_from_training_to_an_interval(reconbench: Run, tmp_path: Path) -> None:
    done = reconbench(*SMALL, "--algorithm", "A4", "--json", "--out", "report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["algorithm"] == "A4" and told["attacks"] == 3
    assert 0 <= told["epsilon"]["lower"] <= told["epsilon"]["upper"]
    with (tmp_path / "report" / "counts.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["N0"]) for row in rows] == [10, 10, 10]
    assert told["counts"]["X"] == [int(row["X"]) for row in rows]
    with (tmp_path / "report" / "errors.csv").open(newline="") as stream:
        levels = list(csv.DictReader(stream))
    assert len(levels) == 3 * 99
    assert [row["X"] for row in levels if row["level"] == "0.1"] == [row["X"] for row in rows]
    assert told["promised"] is None and len(told["other_priors"]) == 4
    assert "at other levels" in (tmp_path / "report" / "audit.html").read_text(encoding="utf-8")
    again = reconbench(*SMALL, "--algorithm", "A4", "--json", "--jobs", "2", cwd=tmp_path)
    assert json.loads(again.stdout)["counts"] == told["counts"]


def test_a_promise_is_shown_beside_the_estimate(reconbench: Run) -> None:
    private = (*SMALL, "--algorithm", "dp-sgd", "--sigma", "2")
    done = reconbench(*private)
    assert done.returncode == 0, done.stderr
    promised = re.search(
        r"dp-sgd, guarantees an ε of at most (\S+) at this δ for add-", done.stdout
    )
    assert promised is not None
    replaced = reconbench(*private, "--relation", "replace-one", "--json")
    assert replaced.returncode == 0, replaced.stderr
    told = json.loads(replaced.stdout)
    assert told["relation"] == "replace-one" and "z′" in told["hypotheses"][0]
    # A record out and another in: two steps of the other relation.
    assert told["promised"] > 2 * float(promised[1])


def test_images_of_ones_own(reconbench: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name, values in (("i", rng.integers(0, 256, (40, 2, 2))), ("l", rng.integers(0, 3, 40))):
        head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
        (tmp_path / name).write_bytes(head + values.astype(np.uint8).tobytes())
    done = reconbench(
        *SMALL, "--algorithm", "A2", "--images", "i", "--classes", "l", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_images_of_a_fetched_source(
    reconbench: Run, small_mnist: Path, idx_files: dict[str, bytes], tmp_path: Path
) -> None:
    command = (*SMALL, "--algorithm", "A2", "--images", "mnist", "--json")
    before = reconbench(*command)
    assert before.returncode == 2
    assert before.stderr.strip().endswith("fetch it with: reconbench data fetch mnist")
    files = []
    for name, content in idx_files.items():
        (tmp_path / name).write_bytes(content)
        files += ["--file", str(tmp_path / name)]
    assert reconbench("data", "fetch", "mnist", *files).returncode == 0
    done = reconbench(*command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["attacks"] == 3


def test_bad_input_is_told_in_a_line(reconbench: Run, tmp_path: Path) -> None:
    for arguments, said in (
        (("--algorithm", "A9"), "algorithm must be one of"),
        (("--algorithm", "A3", "--sigma", "0"), "sigma must be > 0 for A3"),
        (("--algorithm", "A1", "--label", "NOPE"), "NOPE"),
        (("--algorithm", "A1", "--images", "none"), "--images and --classes go together"),
        (("--algorithm", "A1", "--images", "a", "--classes", "b"), "cannot read a"),
        (("--algorithm", "A1", "--level", "0.123"), "level must be one of"),
        (("--algorithm", "A1", "--delta", "1"), "delta must be in [0, 1)"),
        (("--algorithm", "dp-sgd", "--sigma", "0"), "noise must be > 0"),
    ):
        done = reconbench(*SMALL, *arguments, "--out", "out", cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr, (arguments, done.stderr)
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "out").exists()
