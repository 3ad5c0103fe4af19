"""The commands that the pages on bounds show run, and give the numbers that stand beside them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DOCS = Path(__file__).parents[2] / "docs"
# A search over DP-SGD takes half a minute; its test is that of the solver.
SLOW = "dp-sgd:noise=?"


def commands_of(page: str, name: str) -> list[list[str]]:
    """The commands of one name in the console blocks of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [
        shlex.split(line.removeprefix("$ reconbench "))
        for line in lines
        if line.startswith(f"$ reconbench {name} ") and SLOW not in line
    ]


def test_calibration(reconbench: Run) -> None:
    commands = commands_of("calibration.md", "calibrate")
    assert len(commands) == 5
    for command in commands:
        done = reconbench(*command)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("neighbours, by") == 2 and "unreachable" not in done.stdout


def test_gradients(reconbench: Run) -> None:
    law, noise, corridor = (
        json.loads(reconbench(*command, "--json").stdout)
        for command in commands_of("gradients.md", "gradients")
    )
    page = (DOCS / "gradients.md").read_text(encoding="utf-8")
    for value, printed in (
        (law["luckiest"][0]["error"], "8.83e-5"),
        (law["chances"][0]["chance"], "0.503"),
        (law["chances"][1]["chance"], "1.1e-16"),
        (noise["sigma"], "0.0104"),
        (corridor["corridor"]["identification"], "0.217"),
        (corridor["corridor"]["error"], "0.304"),
    ):
        assert printed in page and value == pytest.approx(float(printed), rel=0.05)


def test_rad(reconbench: Run) -> None:
    commands = commands_of("rad.md", "rad")
    assert len(commands) == 3
    for command in commands:
        done = reconbench(*command)
        assert done.returncode == 0 and "advantage at most" in done.stdout, done.stderr
    page = (DOCS / "rad.md").read_text(encoding="utf-8")
    for how, nothing, unknown in (
        (("--mechanism", "laplace:scale=5,sensitivity=2,queries=15"), "0.361", "0.450"),
        (("--channel", "oue", "--epsilon", "2"), "0.218", "0.343"),
    ):
        for knowledge, printed in (("none", nothing), ("any", unknown)):
            done = reconbench("rad", "--values", "10", *how, "--knowledge", knowledge, "--json")
            found = json.loads(done.stdout)
            assert f"{printed}, `{found['bound']}`" in page
            assert found["advantage"] == pytest.approx(float(printed), abs=5.1e-4)
