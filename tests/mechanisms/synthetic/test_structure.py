from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from reconbench.datasets import BayNet, Domain, DomainError, Table
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.synthetic.row_count import RowCount
from reconbench.mechanisms.synthetic.structure import (
    find_informations,
    find_spanning_tree,
    grow_prior_tree,
    list_columns,
    pair_with_centers,
    parse_sets,
)


def test_information_against_enumeration(toy_net: BayNet) -> None:
    everyone = Table.of_all_values(toy_net.domain)
    joint = np.exp(toy_net.log_prob(everyone)).reshape(toy_net.domain.sizes)
    found = find_informations(toy_net.domain, toy_net)
    assert set(found) == set(combinations(range(5), 2))
    for i, j in found:
        pair = joint.sum(axis=tuple(v for v in range(5) if v not in (i, j)))
        total = 0.0
        for a, b in product(*map(range, pair.shape)):
            total += pair[a, b] * np.log(pair[a, b] / pair[a].sum() / pair[:, b].sum())
        assert found[i, j] == pytest.approx(total, abs=1e-12)


def test_the_tree_is_a_maximum_spanning_tree() -> None:
    """Against scipy, on the prior of all sixteen ACS columns and on some of them."""
    for names in (acs().domain.names, ("SEX", "AGEP", "MIL", "SCHL")):
        domain = acs().domain.project(names)
        weights = find_informations(domain, acs())
        lengths = np.zeros((len(domain), len(domain)))
        for (i, j), weight in weights.items():
            lengths[i, j] = 10.0 - weight  # all are positive: 0 would mean no edge
        shortest = minimum_spanning_tree(lengths)
        best = 10.0 * (len(domain) - 1) - float(shortest.sum())
        tree = grow_prior_tree(domain, acs())
        assert len(tree) == len(domain) - 1
        assert sum(weights[i, j] for i, j in tree) == pytest.approx(best)


def test_equal_weights_take_the_first_pair() -> None:
    assert find_spanning_tree(3, dict.fromkeys(combinations(range(3), 2), 1.0)) == [(0, 1), (0, 2)]


def test_stars_and_single_columns(toy_net: BayNet) -> None:
    domain = toy_net.domain
    assert list_columns(domain) == ((0,), (1,), (2,), (3,), (4,))
    assert pair_with_centers(domain, ["c"]) == ((0, 2), (1, 2), (2, 3), (2, 4))
    two = pair_with_centers(domain, ["d", "b"])
    assert two == ((0, 1), (0, 3), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4))
    assert pair_with_centers(domain.project(["a"]), ["a"]) == ((0,),)


def test_sets_are_read_from_text(toy_net: BayNet) -> None:
    assert parse_sets(toy_net.domain, " c + a, b+d ,e") == ((0, 2), (1, 3), (4,))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a+x,b", DomainError, "unknown column 'x'; this domain has a, b, c, d, e"),
        ("a+a,b", DomainError, "column 'a' is named twice"),
        ("a+b,b+a,c,d,e", MechanismError, "names the set b\\+a twice"),
        ("a+b,c", MechanismError, "no set of structure holds column 'd'; add it"),
        ("a+,b", MechanismError, "structure must be independent, tree, star or sets of columns"),
        ("treee", MechanismError, "structure must be independent, tree, star or sets of columns"),
        ("", MechanismError, "structure must be independent"),
    ],
)
def test_sets_that_are_wrong(
    toy_net: BayNet, text: str, error: type[ValueError], message: str
) -> None:
    with pytest.raises(error, match=message):
        parse_sets(toy_net.domain, text)


@pytest.mark.parametrize(
    ("text", "records", "rows"),
    [("n", 100, 100), ("50n", 100, 5000), ("0.5n", 7, 4), (" 2 n ", 3, 6), (5000, 1, 5000)],
)
def test_numbers_of_rows(text: str | int, records: int, rows: int) -> None:
    assert RowCount.parse(text).count(records) == rows


def test_rows_may_be_a_number_in_text() -> None:
    assert RowCount.parse("250") == RowCount.parse(250)


@pytest.mark.parametrize("text", ["", "x", "-1n", "infn", "n50", -3, 2.5, True, 10**9])
def test_rows_that_are_wrong(text: str | int) -> None:
    with pytest.raises(MechanismError, match="rows must be a whole number of 1 or more, or a mult"):
        RowCount.parse(text)


def test_no_rows() -> None:
    with pytest.raises(MechanismError, match="rows is 0: a synthetic table needs at least one row"):
        RowCount.parse(0)
    with pytest.raises(MechanismError, match=r"rows '0\.001n' are 0 rows for 100 records"):
        RowCount.parse("0.001n").count(100)


def test_columns_of_one_label_are_no_trouble() -> None:
    domain = Domain.from_json(
        {"attributes": [{"name": "x", "labels": ["0"]}, {"name": "y", "labels": ["0", "1"]}]}
    )
    assert parse_sets(domain, "x+y") == ((0, 1),)
