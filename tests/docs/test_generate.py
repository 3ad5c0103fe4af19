"""The command that makes pages: what it lists, and what it says of an unknown script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "docs" / "generate"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS), *arguments], capture_output=True, text=True, check=False
    )


def test_without_arguments_every_script_is_listed_with_its_purpose() -> None:
    done = run()
    assert done.returncode == 0
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:])
    runnable = {p.stem for p in SCRIPTS.glob("[!_]*.py") if "def main" in p.read_text("utf-8")}
    assert listed.keys() == runnable
    assert all(about.strip().endswith((".", "?", "]")) for about in listed.values())


def test_an_unknown_script_is_refused() -> None:
    done = run("results_pages")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no script 'results_pages'")
