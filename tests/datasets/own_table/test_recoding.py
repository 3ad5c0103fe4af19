"""Missing values, groups and unlisted values: what they become, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.attacks.metrics.l1 import WithinL1
from reconbench.datasets.domain import Domain, DomainError
from reconbench.datasets.own_table import read_own_table, read_table

Save = Callable[..., Path]
Refused = Callable[..., None]


def declare(*attributes: dict[str, Any], **top: Any) -> Domain:
    return Domain.from_json({"attributes": list(attributes), **top})


LABELLED = {"codes": ["", "N", -99], "label": "NA"}
DROPPED = {"codes": ["", "N", -99], "drop": True}


def test_missing_values_get_a_label(saved: Save) -> None:
    domain = declare(
        {"name": "sex", "labels": ["F", "M"], "missing": LABELLED},
        {"name": "age", "edges": [0, 18, 120], "missing": LABELLED},
    )
    path = saved("sex,age\nF,17\n,-99\nN,-99.0\n-99,  \nM,120\nM,N\n")
    found = read_own_table(path, domain)
    assert found.table.codes.tolist() == [[0, 0], [2, 2], [2, 2], [2, 2], [1, 1], [1, 2]]
    assert found.missing == {"sex": 3, "age": 4} and found.dropped == 0 and not found.other
    assert "missing values read as 'NA': sex (3), age (4)" in found.describe()


def test_records_with_missing_values_are_dropped(saved: Save) -> None:
    domain = declare(
        {"name": "sex", "labels": ["F", "M"], "missing": DROPPED},
        {"name": "age", "edges": [0, 18, 120], "missing": LABELLED},
    )
    found = read_own_table(saved("sex,age\nF,17\n,N\nN,30\nM,N\n"), domain)
    assert found.table.codes.tolist() == [[0, 0], [1, 2]]
    assert found.dropped == 2 and found.missing == {"sex": 2, "age": 2}
    assert "2 of 4 records dropped, for missing values: sex (2)" in found.describe()


def test_a_table_that_is_dropped_as_a_whole(saved: Save, refused: Refused) -> None:
    domain = declare({"name": "sex", "labels": ["F"], "missing": DROPPED})
    path = saved("sex\nN\n-99\n")
    refused(
        path, "all 2 records have missing values that drop them", lambda: read_table(path, domain)
    )


def test_a_rule_for_the_whole_file(saved: Save) -> None:
    """A column's own rule takes its place; false says that nothing is missing there."""
    domain = declare(
        {"name": "a", "labels": ["x"]},
        {"name": "b", "labels": ["x", "N"], "missing": False},
        {"name": "c", "labels": ["x"], "missing": {"codes": ["?"], "label": "unknown"}},
        missing={"codes": ["N"], "drop": True},
    )
    found = read_own_table(saved("a,b,c\nx,N,?\nN,x,x\n"), domain)
    assert found.table.codes.tolist() == [[0, 1, 1]]
    with pytest.raises(DomainError, match="'N' is both a label and a code for missing values"):
        declare({"name": "b", "labels": ["x", "N"]}, missing={"codes": ["N"], "drop": True})


def test_without_a_rule_a_gap_is_an_error(saved: Save, refused: Refused) -> None:
    domain = declare({"name": "a", "labels": ["x"]}, {"name": "b", "edges": [0, 1]})
    for text in ("a,b\nx,\n", "a,b\n  ,1\n"):
        path = saved(text)
        refused(
            path,
            'record 0: missing value; .*"missing": ',
            lambda path=path: read_table(path, domain),
        )


def test_no_order_reaches_a_label_of_missing_values() -> None:
    domain = declare({"name": "age", "edges": [0, 18, 120], "missing": LABELLED})
    with pytest.raises(ValueError, match="'NA' for missing values, and an L1 error to it means"):
        WithinL1(1).check(domain, ["age"])
    WithinL1(1).check(declare({"name": "age", "edges": [0, 1], "missing": DROPPED}), ["age"])


def test_groups_and_others(saved: Save) -> None:
    domain = declare(
        {
            "name": "job",
            "labels": ["health", "teacher", "else"],
            "groups": {"health": ["nurse", "doctor"]},
            "other": "else",
            "missing": LABELLED,
        },
    )
    found = read_own_table(saved("job\nnurse\nteacher\npilot\nhealth\nelse\nN\ndoctor\n"), domain)
    assert found.table.column("job").tolist() == [0, 1, 2, 0, 2, 3, 0]
    assert found.other == {"job": 1} and found.missing == {"job": 1}
    assert "values that are not listed: job (1)" in found.describe()


def test_an_empty_cell_is_not_among_the_others(saved: Save, refused: Refused) -> None:
    domain = declare(
        {"name": "job", "labels": ["a"], "other": "else"}, {"name": "b", "labels": ["x"]}
    )
    path = saved("job,b\n,x\n")
    refused(path, "missing value", lambda: read_table(path, domain))


def test_columns_that_are_left_out(saved: Save, refused: Refused) -> None:
    path = saved("id,a\n1,x\n")
    strict = declare({"name": "a", "labels": ["x"]})
    refused(
        path,
        "'id' is not in the domain; declare it, or name it in",
        lambda: read_table(path, strict),
    )
    assert (
        len(read_table(path, declare({"name": "a", "labels": ["x"]}, leave_out=["id", "b"]))) == 1
    )


def test_bins_by_number_or_label(saved: Save) -> None:
    """As `data sample` writes them."""
    domain = declare({"name": "age", "edges": [0, 18, 120]})
    assert read_table(saved('age\n"[0, 18)"\n18\n"[18, 120]"\n'), domain).codes.tolist() == [
        [0],
        [1],
        [1],
    ]


def test_a_label_that_is_a_number_of_another_bin(saved: Save, refused: Refused) -> None:
    domain = declare({"name": "age", "edges": [0, 1, 10], "labels": ["1", "2"]})
    assert read_table(saved("age\n0\n2\n"), domain).codes.tolist() == [[0], [1]]
    path = saved("age\n1\n")
    refused(
        path,
        "a bin labelled '1', and the number '1' lies in another",
        lambda: read_table(path, domain),
    )
