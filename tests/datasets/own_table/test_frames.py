"""DataFrames and Parquet files give the table that the CSV file gives."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reconbench.datasets.domain import Domain, DomainError
from reconbench.datasets.own_table import CsvStyle, columns, parquet, read_own_table, suggest_domain
from reconbench.datasets.own_table import read_table as read
from reconbench.missing_package import MissingPackage

Refused = Callable[..., None]

DOMAIN = Domain.from_json(
    {
        "missing": {"codes": [""], "label": "NA"},
        "leave_out": ["when"],
        "attributes": [
            {"name": "sex", "labels": ["F", "M"]},
            {"name": "smokes", "labels": ["False", "True"]},
            {"name": "children", "labels": ["0", "1", "2"]},
            {"name": "age", "edges": [0, 18, 120]},
        ],
    }
)
CODES = [[0, 1, 0, 1], [1, 0, 2, 2], [2, 2, 3, 0]]


def frame(**other: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sex": pd.Categorical(["F", "M", None], categories=["M", "F", "X"]),
            "smokes": pd.array([True, False, None], dtype="boolean"),
            "children": pd.array([0, 2, None], dtype="Int8"),
            "age": [18.5, np.nan, 3.0],
            "when": pd.to_datetime(["2020-01-01"] * 3),
            **other,
        },
        index=["x", "y", "z"],
    )


def test_a_frame(tmp_path: Path) -> None:
    found = read_own_table(frame(), DOMAIN)
    assert found.table.codes.tolist() == CODES
    assert found.missing == {"sex": 1, "smokes": 1, "children": 1, "age": 1}
    assert found.format.describe() == "DataFrame"
    frame().to_csv(tmp_path / "t.csv", index=False)
    assert read(tmp_path / "t.csv", DOMAIN).codes.tolist() == CODES


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0, 2, 1], ["0", "2", "1"]),
        ([0.0, np.nan, 1.0], ["0", "", "1"]),
        ([True, False, True], ["True", "False", "True"]),
        (["0", 1, None], ["0", "1", ""]),
        ([Decimal("1.5"), Decimal(2), None], ["1.5", "2", ""]),
        (pd.array(["0", pd.NA, "1"], dtype="string"), ["0", "", "1"]),
        (pd.array([1.5, 2.0, pd.NA], dtype="Float64"), ["1.5", "2.0", ""]),
        (pd.cut([1, 5, 9], [0, 4, 10]), ["(0, 4]", "(4, 10]", "(4, 10]"]),
        ([1, "1", 1.0], ["1", "1", "1"]),
    ],
)
def test_values_become_text(values: Any, texts: list[str]) -> None:
    (column,) = columns.load_columns(pd.DataFrame({"x": values}), CsvStyle()).columns
    assert [column.texts[number] for number in column.numbers] == texts


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (pd.to_datetime(["2020-01-01"] * 3), "holds dates or times; turn them into labels"),
        (pd.to_datetime(["2020-01-01"] * 3, utc=True), "holds dates or times"),
        (pd.to_timedelta([1, 2, 3]), "holds dates or times"),
        (pd.period_range("2020", periods=3), "holds dates or times"),
        ([datetime.date(2020, 1, 1)] * 3, "holds dates or times"),
        ([[1], [2], [3]], "lists or other objects"),
        ([{1}, {2}, {3}], "lists or other objects"),
        ([b"a", b"b", b"c"], "values of type bytes"),
        ([1j, 2j, 3j], "values of type complex"),
        (["x" * 2000, "a", "b"], "cell of 2000 characters"),
    ],
)
def test_values_that_are_no_cells(values: Any, reason: str) -> None:
    with pytest.raises(DomainError, match=f"the DataFrame: column 'sex' .*{reason}"):
        read(frame(sex=values), DOMAIN)
    draft = suggest_domain(pd.DataFrame({"sex": values, "b": ["x", "y", "x"]}))
    assert draft["leave_out"] == ["sex"] and [a["name"] for a in draft["attributes"]] == ["b"]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (pd.DataFrame(), "it is empty"),
        (frame()[:0], "no records"),
        (frame(extra=1), "'extra' is not in the domain"),
        (frame().drop(columns="age"), "lacks column 'age'"),
        (frame().rename(columns={"age": "sex"}), "duplicate column 'sex'"),
        (frame().rename(columns={"age": "Age"}), "'Age' is not in the domain.*mean 'age'"),
        (frame(sex=["f", "M", "M"]), "no label 'f'.*mean 'F'"),
        (pd.concat({"a": frame()}, axis=1), "names of several levels"),
        ([1, 2], "must be a path or a DataFrame, got list"),
        (frame()["age"], "must be a path or a DataFrame, got Series"),
    ],
)
def test_bad_frames(table: Any, reason: str) -> None:
    with pytest.raises(DomainError, match=reason):
        read(table, DOMAIN)


def test_a_style_is_for_csv_files() -> None:
    with pytest.raises(ValueError, match="are about CSV files, not a DataFrame"):
        read(frame(), DOMAIN, separator=";")


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame().to_parquet(path)
    found = read_own_table(path, DOMAIN)
    assert found.table.codes.tolist() == CODES and found.format.describe() == "Parquet"
    draft = suggest_domain(path)
    assert [a["name"] for a in draft["attributes"]] == ["sex", "smokes", "children", "age"]
    assert any(note.startswith("when: left out: it holds dates") for note in draft["notes"])


def test_bad_parquet(tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    path.write_text("sex,age\n")
    refused(path, "not a Parquet file that can be read", lambda: read(path, DOMAIN))
    frame().reset_index(drop=True).to_parquet(path)
    with pytest.raises(ValueError, match="are about CSV files, not Parquet"):
        read(path, DOMAIN, encoding="utf-8")
    monkeypatch.setattr(parquet, "MAX_CELLS", 10)
    refused(path, "unpacks to 15 cells", lambda: read(path, DOMAIN))
    monkeypatch.undo()
    frame()[:0].reset_index(drop=True).to_parquet(path)
    refused(path, "no records", lambda: read(path, DOMAIN))
    nested = arrow.table({"sex": [[1]], "smokes": [b"x"]})
    import_module("pyarrow.parquet").write_table(nested, path)
    refused(path, "no column is left|at least 2 records", lambda: suggest_domain(path))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    needed = rf"{path}: Parquet needs pyarrow: pip install 'reconbench\[parquet\]', or save"
    with pytest.raises(MissingPackage, match=needed):
        read(path, DOMAIN)
