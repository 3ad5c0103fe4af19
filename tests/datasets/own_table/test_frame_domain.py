"""The domain of a DataFrame: declared by categories, drafted where there are none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reconbench.datasets.own_table import infer_domain, read_own_table
from reconbench.datasets.shipped import acs


def test_categories_are_declared() -> None:
    """A table that is written as a DataFrame comes back with its domain, unseen labels included."""
    table = acs().sample(5, np.random.default_rng(0))
    found = infer_domain(table.to_pandas())
    assert found.domain == table.domain and found.drafted == ()
    assert read_own_table(table.to_pandas(), found.domain).table == table


def test_the_rest_is_drafted() -> None:
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical(["f", "m", None] * 10, categories=["f", "m", "d"]),
            "age": np.arange(30) % 4,
            "pid": np.arange(9_000, 9_030),
        }
    )
    found = infer_domain(frame)
    assert found.drafted == ("age",) and found.left_out == ("pid",)
    assert found.domain["sex"].labels == ("f", "m", "d", "NA")
    own = read_own_table(frame, found.domain)
    assert own.missing == {"sex": 10} and own.table.domain.sizes == (4, 4)


def test_a_declared_column_is_kept_whatever_a_draft_would_do() -> None:
    """A draft leaves out a column of one value, and one that looks like an identifier."""
    frame = pd.DataFrame(
        {
            "flat": pd.Categorical(["x"] * 30, categories=["x", "y"]),
            "name": pd.Categorical([f"n{i}" for i in range(30)]),
            "a": list("ab") * 15,
        }
    )
    found = infer_domain(frame)
    assert found.domain.names == ("flat", "name", "a") and found.left_out == ()
