"""A package of its own, installed with pip, is found by name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "example-package"


@pytest.mark.slow
def test_an_installed_package_is_found_and_played(tmp_path: Path) -> None:
    source = shutil.copytree(PACKAGE, tmp_path / "source")
    site = tmp_path / "site"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            str(site),
            source,
        ],
        check=True,
        capture_output=True,
    )
    command = [str(Path(sys.executable).with_name("reconbench"))]
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def reconbench(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "coin" in json.loads(reconbench("list", "attacks", "--json"))
    game = (
        "game",
        "--dataset",
        "acs",
        "--targets",
        "SEX",
        "--epsilon",
        "1",
        "--reps",
        "1",
        "--json",
    )
    row = json.loads(reconbench(*game, "--attack", "coin", "--option", "trust=1"))
    assert row["attack"] == "coin" and row["successes"] == row["baseline_successes"]
