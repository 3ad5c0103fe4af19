"""Reports through a listed channel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from reconbench.datasets import BayNet
from reconbench.mechanisms import MechanismError, Release
from reconbench.mechanisms.channels import ChannelRelease, sample_outputs


def test_outputs_have_the_law_of_their_column() -> None:
    """Chi-square at 1e-4 a value, 4 values; another value's column must fail."""
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(6), size=4).T
    table[2] = 0.0
    table /= table.sum(axis=0)
    values = rng.permutation(np.repeat(np.arange(4), 20_000))
    outputs = sample_outputs(table, values, rng)
    used = [0, 1, 3, 4, 5]
    for value in range(4):
        times = np.bincount(outputs[values == value], minlength=6)
        assert times[2] == 0
        assert chisquare(times[used], 20_000 * table[used, value]).pvalue > 1e-4
        assert chisquare(times[used], 20_000 * table[used, (value + 1) % 4]).pvalue < 1e-4


def test_refusals(toy_net: BayNet) -> None:
    domain, outputs = toy_net.domain, np.array([0, 1])
    even = np.full((2, 4), 0.5)
    assert isinstance(ChannelRelease(domain, ("c",), even, outputs), Release)
    with pytest.raises(MechanismError, match="one column for each of the 8 joint values of b, c"):
        ChannelRelease(domain, ("b", "c"), even, outputs)
    for wrong in (even / 2, np.array([[1.5] * 4, [-0.5] * 4]), even * np.nan):
        with pytest.raises(MechanismError, match="must hold probabilities"):
            ChannelRelease(domain, ("c",), wrong, outputs)
    for other in (np.array([2]), np.array([-1]), np.empty(0, dtype=int), np.zeros((1, 1), int)):
        with pytest.raises(MechanismError, match="one row of the table a record, from 0 to 1"):
            ChannelRelease(domain, ("c",), even, other)
