"""Published tables: their columns and labels against a domain."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.datasets import Attribute, Domain, DomainError
from reconbench.datasets.domain import binned
from reconbench.datasets.released_table import read_released_table

DOMAIN = Domain(
    (
        Attribute("sex", ("f", "m")),
        binned("age", [0.0, 18.0, 65.0, 120.0]),
        Attribute("income", ("low", "high")),
    )
)


def read(path: Path, text: str, *columns: str) -> list[list[int]]:
    path.write_text(text, encoding="utf-8")
    codes: list[list[int]] = read_released_table(path, DOMAIN, columns).table.codes.tolist()
    return codes


def test_columns_are_found_in_any_order_and_others_left_alone(tmp_path: Path) -> None:
    text = "weight,income,sex\n70,low,m\n60,high,f\n"
    assert read(tmp_path / "t.csv", text, "sex", "income") == [[1, 0], [0, 1]]


def test_bins_are_given_by_numbers_or_by_their_labels(tmp_path: Path) -> None:
    text = 'age\n0\n17.5\n18\n120\n"[18, 65)"\n64.99\n'
    assert read(tmp_path / "t.csv", text, "age") == [[0], [0], [1], [2], [1], [1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex\nf\n", "lacks 2 of the known and target columns: 'age', 'income'; it has 'sex'"),
        ("sex,age,income\n", "no records"),
        ("", "empty"),
        (
            "sex,age,income\nf,3,low\nx,3,low\nx,3,rich\ny,3,low\n",
            "column 'sex' has 2 labels in 3 of 4 rows ('x', 'y'); "
            "column 'income' has 1 label in 1 of 4 rows ('rich'); declare them",
        ),
        ("sex,age,income\nf,121,low\n", "column 'age' has 1 label in 1 of 1 rows ('121')"),
        ("sex,age,income\nf,nan,low\n", "('nan')"),
        ("sex,age,income\nf,3,\n", "an empty cell"),
        ("sex,age,income\nf,3\n", "line 2 has 2 cells"),
        ("sex,sex,income\nf,f,low\n", "duplicate column 'sex'"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DomainError) as caught:
        read(tmp_path / "t.csv", text, *DOMAIN.names)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert "t.csv" in str(caught.value)


def test_long_lists_and_labels_are_cut(tmp_path: Path) -> None:
    lines = "\n".join(f"{'x' * 900}{i},3,low" for i in range(40))
    with pytest.raises(DomainError) as caught:
        read(tmp_path / "t.csv", f"sex,age,income\n{lines}\n", *DOMAIN.names)
    assert "40 labels in 40 of 40 rows" in str(caught.value) and len(str(caught.value)) < 700


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="cannot read"):
        read_released_table(tmp_path / "none.csv", DOMAIN, ("sex",))
