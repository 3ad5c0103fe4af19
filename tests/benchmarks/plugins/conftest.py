"""The command line as a process of its own, with packages that are not installed here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reconbench() -> Callable[..., str]:
    """Call it with arguments in a working directory; ``path`` joins the import path."""

    def run(*arguments: str, cwd: Path, path: Path | None = None) -> str:
        command = [str(Path(sys.executable).with_name("reconbench")), *arguments]
        environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
