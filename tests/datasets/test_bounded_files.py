from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reconbench.datasets import DomainError, bounded_files
from reconbench.datasets.bounded_files import read_text


def test_line_ends_byte_order_mark_and_gzip(tmp_path: Path) -> None:
    content = "\ufeffa\r\nb\rc ü".encode()
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(content))
    assert read_text(tmp_path / "plain") == read_text(tmp_path / "packed.gz") == "a\nb\nc ü"


def test_two_members_of_a_gzip_file_are_joined(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"a") + gzip.compress(b"b"))
    assert read_text(tmp_path / "x.gz") == "ab"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.gz", gzip.compress(b"0" * (3 << 20)), "unpacks to more than 2 MiB"),
        ("x", b"0" * (4 << 20), "is larger than 3 MiB"),
        ("x.gz", b"not packed", "cannot read .*Not a gzipped file"),
        ("x.gz", gzip.compress(b"abc" * 999)[:-9], "cannot unpack"),
        ("x.gz", gzip.compress(gzip.compress(b"a")), "packed by gzip; unpack it once more"),
        ("x", gzip.compress(b"a"), "packed by gzip; let its name end in .gz"),
        ("x", "ü".encode("latin-1"), "is not text in UTF-8"),
    ],
    ids=[
        "bomb",
        "large",
        "not packed",
        "cut off",
        "packed twice",
        "unexpectedly packed",
        "latin-1",
    ],
)
def test_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, message: str
) -> None:
    monkeypatch.setattr(bounded_files, "MAX_BYTES", 3 << 20)
    monkeypatch.setattr(bounded_files, "MAX_UNPACKED", 2 << 20)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DomainError, match=message) as caught:
        read_text(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


def test_no_file_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=r"no file .*; look elsewhere"):
        read_text(tmp_path / "x", "; look elsewhere")
    with pytest.raises(DomainError, match="cannot read"):
        read_text(tmp_path)
