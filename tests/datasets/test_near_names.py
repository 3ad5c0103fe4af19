"""The name that was most likely meant."""

from __future__ import annotations

import pytest

from reconbench.datasets import Attribute, Domain, DomainError
from reconbench.datasets.near_names import find_near_name, suggest_name


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("AGE", "age"),
        ("marital status", "marital_status"),
        ("Marital-Status", "marital_status"),
        ("incom", "income"),
        ("ZÜRICH", "Zürich"),
        ("zzz", None),
        ("", None),
    ],
)
def test_letter_case_spaces_and_a_slip(text: str, near: str | None) -> None:
    names = ["age", "marital_status", "income", "Zürich"]
    assert find_near_name(text, names) == near
    assert suggest_name(text, names) == ("" if near is None else f"; did you mean {near!r}?")


def test_a_name_is_not_its_own_suggestion() -> None:
    assert find_near_name("age", ["age"]) is None


def test_long_lists_are_compared_by_letter_case_alone() -> None:
    names = [f"name {i}" for i in range(50_000)]
    assert find_near_name("NAME 49999", names) == "name 49999"
    assert find_near_name("name 49999x", names) is None
    assert find_near_name("x" * 10_000, ["x" * 9_999]) is None


def test_domains_suggest_columns_and_labels() -> None:
    domain = Domain((Attribute("age", ("young", "old")), Attribute("sex", ("f", "m"))))
    with pytest.raises(DomainError, match=r"unknown column 'Age'; .* age, sex; did you mean 'age'"):
        domain.position("Age")
    with pytest.raises(DomainError, match=r"no label 'Young'; allowed: .*did you mean 'young'"):
        domain["age"].code("Young")
    wide = Domain(tuple(Attribute(f"c{i}", ("x",)) for i in range(2_000)))
    with pytest.raises(DomainError) as caught:
        wide.position("zzz")
    assert len(str(caught.value)) < 400 and "c49, ..." in str(caught.value)
