"""Packages as registries serve them, small, and clients that need no network."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

Pack = Callable[..., Path]


def tar(members: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in more:
            archive.addfile(info)
    return out.getvalue()


def deb(data: bytes, name: str = "data.tar.xz") -> bytes:
    """An ar archive as dpkg-deb makes it; the first member has an odd length."""
    out = b"!<arch>\n"
    for member, content in (("debian-binary", b"2.0"), ("control.tar.xz", b"1234"), (name, data)):
        out += f"{member:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        out += content + b"\n" * (len(content) % 2)
    return out


@pytest.fixture
def pack_deb(tmp_path: Path) -> Pack:
    def pack(members: dict[str, bytes], name: str = "data.tar.xz") -> Path:
        path = tmp_path / "package.deb"
        path.write_bytes(deb(lzma.compress(tar(members)), name))
        return path

    return pack


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a script of the name of a client first on the path, or have no client at all."""

    def install(name: str | None, script: str = "") -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        if name is None:
            monkeypatch.setenv("PATH", str(folder))
            return
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install
