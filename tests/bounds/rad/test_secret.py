"""Secrets as users state them: priors, knowledge, and guesses within a distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds.rad import Knowledge, Secret, chance_range, success_within


@st.composite
def secrets(draw: st.DrawFn) -> Secret:
    m = draw(st.integers(2, 7))
    raw = draw(st.lists(st.floats(0, 1), min_size=m, max_size=m).filter(lambda r: sum(r) > 0.01))
    labels = draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    known: Any = draw(st.sampled_from(["none", "any", "all", labels]))
    gap = draw(st.sampled_from([0.1, 1.0, 3.0]))
    within = draw(st.integers(0, m - 2)) * gap
    return Secret.of(np.array(raw) / sum(raw), known, within, gap)


@settings(max_examples=60, deadline=None)
@given(secret=secrets())
def test_windows_are_success_tables(secret: Secret) -> None:
    values = np.arange(secret.size) * secret.gap
    errors = np.abs(np.subtract.outer(values, values))
    table = success_within(errors, secret.within * (1 + 1e-9))
    assert secret.chances == pytest.approx(chance_range(secret.prior, table), abs=1e-12)
    found = secret.success()
    np.testing.assert_array_equal(np.eye(secret.size) if found is None else found, table)
    # The best guess for every label, by the table.
    labels = secret.knowledge.labels
    best = sum(
        max(table[g] @ (secret.prior * (labels == x)) for g in range(secret.size))
        for x in np.unique(labels)
    )
    assert secret.baseline == pytest.approx(min(best, 1.0), abs=1e-12)


def test_knowledge_by_name() -> None:
    assert Secret.of(4).nothing_known and Secret.of(4).baseline == 0.25
    for name in ("any", "all"):
        secret = Secret.of(4, name)
        assert secret.value_known and secret.baseline == 1.0
        assert secret.knowledge.name == name
    groups = Secret.of(4, ["b", "a", "b", "c"])
    assert groups.knowledge.groups == 3 and "3 groups" in groups.knowledge.meaning
    assert not groups.value_known and not groups.nothing_known
    assert Secret.of(4, [1, 2, 3, 4]).value_known and Secret.of(4, [7, 7, 7, 7]).nothing_known


def test_priors() -> None:
    assert Secret.of(3).uniform and not Secret.of([0.5, 0.3, 0.2]).uniform
    rounded = Secret.of([0.3333333, 0.3333333, 0.3333333])
    assert rounded.prior.sum() == pytest.approx(1.0, abs=1e-15)
    assert Secret.of([0.5, 0.3, 0.2]).collision == pytest.approx(0.38)
    assert Secret.of([0.5, 0.3, 0.2]).spread == pytest.approx(0.62)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), r"values must be in \[2, 1,000,000\], got 1"),
        ((10**9,), r"values must be in \[2, 1,000,000\]"),
        (([0.5, 0.6],), "prior must sum to 1 within 1e-06, got 1.1"),
        (([0.5, -0.5],), r"prior must be in \[0, 1\], got -0.5"),
        (([1.0],), "prior must have 2 to 1,000,000 values, got 1"),
        ((4, "nobody"), "knowledge must be none, any, all or one label per value, got 'nobody'"),
        ((4, [0, 1]), "aux must hold one label for each of the 4 values"),
        ((4, "none", -1), "within must be >= 0"),
        ((4, "none", 3), "within must be below 3, .* else every guess counts"),
        ((4, "none", 0, 0), "gap must be > 0"),
        ((4, "none", 0, float("inf")), "gap must be finite"),
    ],
)
def test_bad_secrets(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Secret.of(*arguments)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_knowledge_alone() -> None:
    assert Knowledge.of("none", 3).groups == 1
    assert Knowledge.of("all", 3).groups == 3
