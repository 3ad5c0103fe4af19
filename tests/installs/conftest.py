"""Environments with some packages only, as links to those of this one, and commands in them."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest

MakeEnvironment = Callable[..., "Environment"]
# Calls the command line once for each list of arguments, all in one process: starting is slow.
CALLS = """
import contextlib, io, json, sys
from reconbench.cli import main

answers = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["reconbench", *arguments]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    answers.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""


@dataclass(frozen=True)
class Answer:
    """What a command ended with; texts are on one line, as they are wrapped for a terminal."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and a folder outside of any repository to work in."""

    python: Path
    folder: Path

    def run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            [self.python, *arguments], capture_output=True, text=True, cwd=self.folder
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def call(self, *commands: str) -> list[Answer]:
        """The answers to commands of `reconbench`, each a text without quotes."""
        arguments = json.dumps([command.split() for command in commands])
        answers = json.loads(self.run("-c", CALLS, arguments).splitlines()[-1])
        return [Answer(code, out, " ".join(err.split())) for code, out, err in answers]

    def install(self, *paths: Path) -> None:
        """Install wheels or source trees without their dependencies."""
        options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
        self.run("-m", "pip", "install", "--disable-pip-version-check", *options, *paths)


@pytest.fixture(scope="session")
def make_environment(tmp_path_factory: pytest.TempPathFactory) -> MakeEnvironment:
    """Link the packages of this environment into a fresh one: without some, or with a few only."""

    @cache
    def make(without: Collection[str] = (), only: Collection[str] | None = None) -> Environment:
        folder = tmp_path_factory.mktemp("environment")
        venv.EnvBuilder(symlinks=True).create(folder / "venv")
        (site,) = (folder / "venv").glob("lib/python*/site-packages")
        kept = None if only is None else list_entries(only)
        hidden = list_entries(without)
        for home in [Path(entry) for entry in sys.path if Path(entry).name == "site-packages"]:
            for entry in home.iterdir():
                # Other .pth files lead to folders that may hold what is to be missing.
                ours = entry.suffix != ".pth" or entry.name.startswith(("__editable__", "a1_cov"))
                taken = entry.name not in hidden and (kept is None or entry.name in kept)
                if ours and taken and not (site / entry.name).exists():
                    (site / entry.name).symlink_to(entry)
        (folder / "work").mkdir()
        return Environment(folder / "venv" / "bin" / "python", folder / "work")

    return make


def list_entries(packages: Collection[str]) -> set[str]:
    """What installed packages have in the folder of all packages."""
    return {path.parts[0] for name in packages for path in distribution(name).files or ()}
