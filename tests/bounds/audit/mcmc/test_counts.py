"""Counts that cannot be, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reconbench.bounds.audit.mcmc import Counts, CountsError, read_counts
from reconbench.bounds.audit.mcmc.counts import MOST_ATTACKS


def test_files_are_read_by_column_name(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("\ufeffname, N1,Y,X,N0\nfirst, 30,4,1,20\nsecond,300,40,10,200\n")
    counts = read_counts(path)
    assert counts.columns.tolist() == [[1, 20, 4, 30], [10, 200, 40, 300]]
    assert np.allclose(counts.rates, [[0.05, 0.05], [4 / 30, 4 / 30]])
    assert counts.attack(1).columns.tolist() == [[10, 200, 40, 300]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X,N0,Y,N1\n5,4,1,4\n", "X must be at most N0, got X = 5 of N0 = 4 for attack 1"),
        ("X,N0,Y,N1\n1,4,1,4\n1,4,9,4\n", "Y must be at most N1.*attack 2"),
        ("X,N0,Y,N1\n-1,4,1,4\n", "from 0 to .* got -1"),
        ("X,N0,Y,N1\n0,0,1,4\n", "N0 must be at least 1, got 0 for attack 1"),
        ("X,N0,Y,N1\n", "has no rows"),
        ("", "has no column 'X'"),
        ("X,N0,Y\n1,2,3\n", "has no column 'N1'"),
        ("X,N0,Y,N1\n1,2,x,4\n", "line 2: Y must be a whole number, got 'x'"),
        ("X,N0,Y,N1\n1,2,1.5,4\n", "line 2: Y must be a whole number"),
        ("X,N0,Y,N1\n1,2\n", "line 2: Y must be a whole number, got ''"),
        ("X,N0,Y,N1\n1,2,1,99999999999999999999999\n", "from 0 to 1,000,000,000,000"),
        ("X,N0,Y,N1\n" + "1,2,1,2\n" * (MOST_ATTACKS + 1), "1 to 5000 attacks"),
        ("X,N0,Y,N1\n" + "1,2,1,2\n" * 200_000, "larger than"),
    ],
)
def test_bad_files_get_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(text)
    with pytest.raises(CountsError, match=message) as caught:
        read_counts(path)
    assert "\n" not in str(caught.value)


def test_what_is_no_text_or_no_file(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"X,N0,Y,N1\n\xff\xfe")
    with pytest.raises(CountsError, match="not UTF-8"):
        read_counts(tmp_path / "bytes.csv")
    with pytest.raises(CountsError, match=r"cannot read .*No such file"):
        read_counts(tmp_path / "none.csv")
    with pytest.raises(CountsError, match="cannot read"):
        read_counts(tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows must be"),
        ([(1, 2, 3)], "rows must be"),
        ([(1.5, 2, 1, 2)], "whole numbers"),
        ([(np.nan, 2, 1, 2)], "whole numbers"),
    ],
)
def test_bad_rows_are_refused(rows: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(CountsError, match=message):
        Counts.of(rows)


def test_columns_must_agree() -> None:
    with pytest.raises(CountsError, match="one entry an attack"):
        Counts(np.array([1]), np.array([2, 3]), np.array([1]), np.array([2]))
