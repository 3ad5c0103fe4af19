"""Records of numbers from files: every format gives the same rows, and bad files are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets import DomainError
from reconbench.datasets.sources.vectors import read_vectors


def test_tables_and_arrays(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("height,weight\n1.5,70\n-2,80.25\n", encoding="utf-8")
    assert read_vectors(table).tolist() == [[1.5, 70.0], [-2.0, 80.25]]
    array = tmp_path / "array.npy"
    np.save(array, np.arange(12, dtype=np.uint8).reshape(2, 3, 2))
    assert read_vectors(array).tolist() == [list(range(6)), list(range(6, 12))]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("words.csv", b"a,b\n1,two\n", "could not convert string"),
        ("missing.csv", b"a,b\n1,\n", "missing or infinite"),
        ("empty.csv", b"a,b\n", "must hold one record per row"),
        ("nothing.csv", b"", "No columns"),
        ("cut.npy", b"\x93NUMPY", "cannot read records"),
        ("photo.png", b"\x89PNG....", "give a .npy, a .csv or IDX images"),
    ],
)
def test_bad_files_are_told(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DomainError, match=message):
        read_vectors(tmp_path / name)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(DomainError, match="pickle"):
        read_vectors(tmp_path / "objects.npy")
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(DomainError, match="one record per row"):
        read_vectors(tmp_path / "flat.npy")
