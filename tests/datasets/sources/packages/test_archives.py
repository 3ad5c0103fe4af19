"""Archives that nobody has to trust: what is read, and what is refused in one line."""

from __future__ import annotations

import gzip
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets.sources.packages import archives
from reconbench.datasets.sources.packages.archives import (
    ArchiveError,
    is_archive,
    read_file,
    read_members,
    unpack_gzip,
)

from .conftest import deb, tar

Pack = Callable[..., Path]


def tgz(tmp_path: Path, members: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    path = tmp_path / "package.tgz"
    path.write_bytes(gzip.compress(tar(members, *more)))
    return path


def everything(name: str) -> bool:
    return True


def refused(path: Path, message: str) -> None:
    with pytest.raises(ArchiveError, match=message) as caught:
        read_members(path, everything)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_wanted_members_of_both_kinds(tmp_path: Path, pack_deb: Pack) -> None:
    members = {"package/a": b"one", "package/b": b"two"}
    for path in (tgz(tmp_path, members), pack_deb(members)):
        assert is_archive(path)
        assert read_members(path, lambda name: name.endswith("b")) == {"package/b": b"two"}
        assert read_members(path, everything) == members
    packed = tmp_path / "gzipped.deb"
    packed.write_bytes(deb(gzip.compress(tar(members)), "data.tar.gz"))
    assert read_members(packed, everything) == members
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "gzipped.deb",
        "package.deb",
        "package.tgz",
    ]


def test_other_files_are_no_archives(tmp_path: Path) -> None:
    for content in (b"", b"text", gzip.compress(b"text"), gzip.compress(b"x" * 600)):
        (tmp_path / "file").write_bytes(content)
        assert not is_archive(tmp_path / "file")
    with pytest.raises(ArchiveError, match=r"cannot read .*No such file"):
        is_archive(tmp_path / "none")


@pytest.mark.parametrize("name", ["../evil", "package/../../evil", "/etc/evil"])
def test_members_outside_are_refused(tmp_path: Path, pack_deb: Pack, name: str) -> None:
    """Wanted or not, and nothing is written."""
    for path in (tgz(tmp_path, {name: b"x"}), pack_deb({name: b"x"})):
        refused(path, "a member outside itself")
        with pytest.raises(ArchiveError, match="a member outside itself"):
            read_members(path, lambda name: False)
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_links_and_devices_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    special = tarfile.TarInfo("package/a")
    special.type, special.linkname = kind, "/etc/passwd"
    refused(tgz(tmp_path, {}, special), "'package/a' is no plain file")
    assert read_members(tgz(tmp_path, {"b": b"x"}, special), lambda name: name == "b")


def test_a_member_that_stands_twice(tmp_path: Path) -> None:
    path = tgz(tmp_path, {"a": b"x", "./a": b"y"})
    refused(path, "has 'a' more than once")


def test_limits(tmp_path: Path, pack_deb: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    members = {"a": b"x" * 20_000, "b": b"x"}
    path, packed = tgz(tmp_path, members), pack_deb(members)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 1)
    refused(path, "more than 1 members")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MAX_FILE", 19_999)
    refused(path, "'a' is larger than 0 MiB")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MAX_UNPACKED", 9_999)
    refused(path, "unpacks to more than 0 MiB")
    refused(packed, "unpacks to more than 0 MiB")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MAX_PACKED", 19_999)
    refused(packed, "unpacks to more than 0 MiB")
    monkeypatch.setattr(archives, "MAX_PACKED", 10)
    refused(path, "is larger than 0 MiB")


def test_single_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_file(tmp_path / "file") == b"12345"
    packed = gzip.compress(b"12345")
    assert unpack_gzip(packed, "it") == b"12345"
    with pytest.raises(ArchiveError, match="cannot unpack it: it is cut off"):
        unpack_gzip(packed[:-9], "it")
    with pytest.raises(ArchiveError, match="cannot unpack it: Error -3"):
        unpack_gzip(packed[:3] + b"\xff" * 9, "it")
    monkeypatch.setattr(archives, "MAX_FILE", 4)
    with pytest.raises(ArchiveError, match="it unpacks to more than"):
        unpack_gzip(packed, "it")
    with pytest.raises(ArchiveError, match="file is larger than"):
        read_file(tmp_path / "file")


def test_damaged_archives(tmp_path: Path, pack_deb: Pack) -> None:
    path = tgz(tmp_path, {"a": bytes(range(256)) * 100})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(path, "cannot unpack")
    whole = pack_deb({"a": bytes(range(256)) * 100})
    content = whole.read_bytes()
    for changed in (content[:-60], content[:70], content.replace(b"data.tar.xz", b"date.tar.xz")):
        whole.write_bytes(changed)
        refused(whole, "cannot unpack")
    whole.write_bytes(deb(b"", "data.tar.zst"))
    refused(whole, r"packed as data\.tar\.zst; unpack it with dpkg-deb -x")
    whole.write_bytes(deb(lzma.compress(b"no tar")))
    refused(whole, "cannot unpack")
