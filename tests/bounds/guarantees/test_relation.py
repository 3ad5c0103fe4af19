"""Neighbouring relations: conversion to replace-one, and what may not be mixed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    LaplaceDP,
    PureDP,
    Relation,
    as_replace_one,
)

ALPHAS = np.unique(np.concatenate([np.geomspace(1e-12, 0.01, 300), np.linspace(0, 1, 2_001)]))


def test_replace_one_from_add_or_remove_one() -> None:
    add = ApproxDP(1.0, 1e-5, Relation.ADD_REMOVE)
    both = as_replace_one(add)
    assert both.relation is Relation.REPLACE_ONE
    assert both.epsilon_at((1 + math.e) * 1e-5) == pytest.approx(2.0)
    textbook = ApproxDP(2.0, (1 + math.e) * 1e-5)
    assert np.all(both.power(ALPHAS) <= textbook.power(ALPHAS) + 1e-12)
    assert as_replace_one(textbook) is textbook
    converted = as_replace_one(GaussianDP(0.5, Relation.ADD_REMOVE, "one household"))
    assert converted == GaussianDP(1.0, Relation.REPLACE_ONE, "one household")


def test_mixing_relations_or_units_says_how_to_convert() -> None:
    with pytest.raises(ValueError, match=r"relation.*as_replace_one\(guarantee\)"):
        GaussianDP(1.0).compose(GaussianDP(1.0, Relation.ADD_REMOVE))
    with pytest.raises(ValueError, match="same unit"):
        ZCDP(1.0).compose(ZCDP(1.0, unit="one household"))
    assert PureDP(1.0).compose(PureDP(2.0)).epsilon == 3.0
    assert ApproxDP(1.0, 0.1).compose(ApproxDP(2.0, 0.1)).epsilon == 3.0
    assert GaussianDP(3.0).compose(GaussianDP(4.0)).mu == 5.0
    assert ZCDP(0.1).compose(ZCDP(0.2)).rho == pytest.approx(0.3)


def test_guarantees_print_one_short_line() -> None:
    assert repr(ApproxDP(1, 1e-5)) == "<ApproxDP: (1, 1e-05)-DP, replace-one>"
    curve = ApproxDP(1, 1e-5).group(3)
    assert repr(curve) == "<TabulatedCurve: a curve of 8 points, replace-one>"
    for guarantee in (PureDP(1), GaussianDP(1), ZCDP(0.1), LaplaceDP(1.0), curve):
        assert len(repr(guarantee)) < 100 and "\n" not in repr(guarantee)
