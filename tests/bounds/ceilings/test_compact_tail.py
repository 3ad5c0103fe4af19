"""Stored tails: small, exact where it matters, and never below the tail they stand for."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from reconbench.bounds import CompactTail, PoissonBinomial

FloatArray = NDArray[np.float64]


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 150), elements=st.floats(0, 1)))
def test_cutting_only_rounds_up(p: FloatArray) -> None:
    sums = PoissonBinomial(p)
    compact = CompactTail.of(sums)
    v = np.arange(-1, p.size + 3)
    exact, stored = sums.tail(v), compact.tail(v)
    assert np.all(stored >= exact)
    assert np.all(stored - exact <= 1e-9)
    inside = (exact > 1e-9) & (exact < 1 - 1e-9)
    assert np.array_equal(stored[inside], exact[inside])


def test_json_round_trip_is_exact() -> None:
    compact = CompactTail.of(PoissonBinomial(np.random.default_rng(1).uniform(size=300)))
    assert CompactTail.from_json(json.loads(json.dumps(compact.to_json()))) == compact


def test_it_stays_small() -> None:
    compact = CompactTail.of(PoissonBinomial(np.full(10_000, 0.5)))
    # 2 × 6 standard deviations of 50.
    assert len(compact.values) < 650


def test_extremes() -> None:
    certain = CompactTail.of(PoissonBinomial(np.ones(4)))
    assert certain == CompactTail(4, 5, ())
    assert certain.tail([0, 4, 5]).tolist() == [1.0, 1.0, 0.0]
    never = CompactTail.of(PoissonBinomial(np.zeros(4)))
    assert never.tail([0, 1, 4, 5]).tolist() == [1.0, 0.0, 0.0, 0.0]
    single = CompactTail.of(PoissonBinomial(np.array([0.25])))
    assert single.tail([0.5, 1, 1.5]).tolist() == [0.25, 0.25, 0.0]


@pytest.mark.parametrize(
    ("n", "start", "values", "message"),
    [
        (0, 1, (), "n must be at least 1"),
        (5, 0, (0.5,), "start must be between 1 and n"),
        (5, 5, (0.5, 0.4), "start must be between 1 and n"),
        (5, 2, (), "values must not be empty"),
        (5, 2, (0.4, 0.5), "values must not increase"),
        (5, 2, (1.5,), r"values must be in \[0, 1\]"),
        (5, 2, (math.nan,), r"values must be in \[0, 1\]"),
    ],
)
def test_bad_tails_are_refused(n: int, start: int, values: tuple[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CompactTail(n, start, values)
