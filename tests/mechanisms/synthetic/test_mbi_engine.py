"""The core and the package mbi fit the same model."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from reconbench.datasets import BayNet
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import MarginalSets
from reconbench.mechanisms.synthetic.pgm import PrivatePGM
from reconbench.missing_package import MissingPackage

CYCLE = "a+b,b+c,c+d,a+d,e"
# A missing package is a failure where everything should be installed.
needs_mbi = pytest.mark.skipif(
    find_spec("mbi") is None and not os.environ.get("CI"), reason="needs the extra synth"
)


def build(net: BayNet, epsilon: float, engine: str) -> PrivatePGM:
    return PrivatePGM.for_budget(net.domain, ("c",), epsilon, 1e-5, structure=CYCLE, engine=engine)


@needs_mbi
@pytest.mark.parametrize("epsilon", [1.0, 100.0, np.inf])
def test_core_and_mbi_agree(toy_net: BayNet, epsilon: float) -> None:
    """The same noisy counts: marginals of all sets, and of the clique that joins them."""
    table = toy_net.sample(100, np.random.default_rng(0))
    (measured, core), (again, mbi) = (
        build(toy_net, epsilon, engine).learn(table, np.random.default_rng(1))
        for engine in ("core", "mbi")
    )
    sets: MarginalSets = measured.sets
    for first, second in zip(measured.answers, again.answers, strict=True):
        np.testing.assert_array_equal(first, second)
    for columns in (*sets, *core.tree.cliques):
        apart = np.abs(core.marginal(columns) - mbi.marginal(columns)).sum() / 2
        assert apart < 0.004
    # The negative control: other noise gives another model.
    _, other = build(toy_net, epsilon, "core").learn(table, np.random.default_rng(2))
    if np.isfinite(epsilon):
        assert np.abs(core.marginal((0, 1)) - other.marginal((0, 1))).sum() / 2 > 0.004


@needs_mbi
def test_rows_by_mbi_are_seeded(toy_net: BayNet) -> None:
    table = toy_net.sample(50, np.random.default_rng(0))
    mechanism = build(toy_net, 10.0, "mbi")
    first, same = (mechanism.release(table, np.random.default_rng(3)) for _ in range(2))
    assert first.table == same.table


def test_a_missing_package_is_named(toy_net: BayNet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[synth\]'"):
        build(toy_net, 1.0, "mbi")
    with pytest.raises(MechanismError, match="engine must be 'core' or 'mbi', got 'x'"):
        build(toy_net, 1.0, "x")
