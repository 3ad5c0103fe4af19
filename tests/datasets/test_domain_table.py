from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from reconbench.datasets import Attribute, Domain, DomainError, Table

DOMAIN = Domain(
    (
        Attribute("colour", ("red", "green", "blue")),
        Attribute("size", ("S", "M", "L"), ordinal=True),
        Attribute("age", ("young", "old"), ordinal=True, edges=(0.0, 40.0, 120.0)),
    )
)


def frame(**columns: list[object]) -> pd.DataFrame:
    base: dict[str, list[object]] = {"colour": ["red", "blue"], "size": ["L", "S"], "age": [39, 40]}
    return pd.DataFrame({**base, **columns})


def test_labels_and_bins_become_codes() -> None:
    table = Table.from_pandas(frame(), DOMAIN)
    assert table.codes.tolist() == [[0, 2, 0], [2, 0, 1]]


def test_last_bin_holds_its_right_edge() -> None:
    assert Table.from_pandas(frame(age=[0, 120]), DOMAIN).column("age").tolist() == [0, 1]


def test_pandas_round_trip() -> None:
    domain = DOMAIN.project(["colour", "size"])
    table = Table(domain, np.array([[0, 2], [2, 0], [1, 1]]))
    back = table.to_pandas()
    assert back["size"].cat.ordered and not back["colour"].cat.ordered
    assert Table.from_pandas(back, domain) == table
    assert Table.from_pandas(back[["size", "colour"]], domain) == table


@pytest.mark.parametrize("n", [0, 1, 40])
def test_csv_is_that_of_pandas(n: int) -> None:
    labels = ("", "a, b", 'say "x"', "two\nlines", "plain", "ü")
    domain = Domain((Attribute("odd, name", labels), Attribute("size", labels[4:])))
    rng = np.random.default_rng(0)
    table = Table(
        domain, np.stack([rng.integers(attribute.size, size=n) for attribute in domain], 1)
    )
    for part in (table, table.project(["odd, name"])):
        assert part.to_csv() == part.to_pandas().to_csv(index=False, lineterminator="\n")


def test_json_round_trip() -> None:
    assert Domain.from_json(DOMAIN.to_json()) == DOMAIN


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"colour": ["red", "pink"]}, r"column 'colour' has no label 'pink'; allowed: 'red'"),
        ({"colour": ["red", None]}, "column 'colour', record 1: missing value"),
        ({"age": [1, 121]}, "column 'age', record 1: .*121.* within the declared edges 0 to 120"),
        ({"age": [1, "x"]}, "column 'age', record 1: 'x' is not a number"),
        ({"weight": [1, 2]}, "column 'weight' is not in the domain"),
    ],
)
def test_bad_frames(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Table.from_pandas(frame(**columns), DOMAIN)


def test_missing_and_duplicate_columns() -> None:
    with pytest.raises(DomainError, match="lacks column 'size'"):
        Table.from_pandas(frame().drop(columns="size"), DOMAIN)
    twice = pd.concat([frame(), frame()[["size"]]], axis=1)
    with pytest.raises(DomainError, match="duplicate column 'size'"):
        Table.from_pandas(twice, DOMAIN)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[0, 0, 2]], r"column 'age', record 0: code 2 is outside the domain; allowed: 0 to 1"),
        ([[-1, 0, 0]], "column 'colour', record 0: code -1"),
        ([[0, 0]], r"shape \(n, 3\), got \(1, 2\)"),
        ([[0.0, 0.0, 0.0]], "codes must be integers"),
    ],
)
def test_bad_codes(codes: list[list[float]], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Table(DOMAIN, np.array(codes))


def test_codes_cannot_be_changed() -> None:
    codes = np.zeros((2, 3), dtype=np.int64)
    table = Table(DOMAIN, codes)
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Attribute("", ("a",)), "non-empty name"),
        (lambda: Attribute("x", ()), "has no labels"),
        (lambda: Attribute("x", ("a", "b", "a")), "label 'a' twice"),
        (lambda: Attribute("x", ("a", "b"), edges=(0.0, 1.0)), "2 bins need 3 edges"),
        (lambda: Attribute("x", ("a",), edges=(1.0, 1.0)), "finite and increasing"),
        (lambda: Domain(()), "at least one attribute"),
        (lambda: Domain((DOMAIN["size"], DOMAIN["size"])), "duplicate column 'size'"),
        (lambda: DOMAIN.project(["size", "size"]), "named twice"),
        (lambda: DOMAIN.project(["shape"]), "unknown column 'shape'; this domain has colour"),
        (lambda: Domain.from_json([]), "must be"),
        (lambda: Attribute.from_json({"name": "x", "label": ["a"]}), "unknown key 'label'"),
        (lambda: Attribute.from_json({"name": "x", "labels": [1]}), "every label must be text"),
        (lambda: Attribute.from_json({"name": "x"}), "needs 'labels'"),
        (lambda: Attribute.from_json({"name": "x", "edges": [0, 10**400]}), "too large"),
        (lambda: Attribute.from_json({"name": "x", "edges": [0, True]}), "list of numbers"),
    ],
)
def test_bad_schemas(build: Callable[[], object], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        build()


def test_default_labels_of_bins() -> None:
    binned = Attribute.from_json({"name": "x", "edges": [0, 1, 2.5]})
    assert binned.labels == ("[0, 1)", "[1, 2.5]") and binned.ordinal


def test_join_and_hash() -> None:
    table = Table.from_pandas(frame(), DOMAIN)
    halves = table.project(["colour"]).join(table.project(["size", "age"]))
    assert halves == table and halves.sha256() == table.sha256()
    assert table.project(["age", "size"]).sha256() != table.project(["size", "age"]).sha256()
    with pytest.raises(DomainError, match="cannot join tables of 2 and 1"):
        table.project(["colour"]).join(Table(DOMAIN.project(["age"]), np.array([[0]])))


@pytest.mark.parametrize("sizes", [(3, 2, 4), (1_000, 7), (10,) * 40])
def test_distinct_rows(sizes: tuple[int, ...]) -> None:
    """Rows that fit one lookup, that are sorted, and that do not fit one number."""
    rng = np.random.default_rng(0)
    domain = Domain(
        tuple(Attribute(f"c{i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes))
    )
    codes = rng.integers(0, sizes, (50, len(sizes)))[rng.integers(0, 50, 300)]
    rows, which = Table(domain, codes).distinct()
    expected, numbers = np.unique(codes, axis=0, return_inverse=True)
    assert np.array_equal(rows.codes, expected)
    assert np.array_equal(which, numbers.reshape(-1))
