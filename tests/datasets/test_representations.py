"""Domains, tables and networks on one short line."""

from __future__ import annotations

import numpy as np

from reconbench.datasets.shipped import acs


def test_large_values_print_one_short_line() -> None:
    net = acs()
    table = net.sample(1_000, np.random.default_rng(0))
    assert repr(net.domain) == "Domain('AGEP', 'SCHL', 'MAR', 'RELP', ... (16 in all))"
    assert repr(table).startswith("Table(1,000 records of 'AGEP', 'SCHL'")
    assert repr(net).startswith("BayNet(9,897 probabilities over 'AGEP'")
    assert repr(net.domain["SEX"]) == "Attribute('SEX', labels 'Male', 'Female')"
    assert repr(net.domain["AGEP"]).startswith("Attribute('AGEP', ordinal labels '0 to 9'")
    for value in (net, table, net.domain, *net.domain):
        assert len(repr(value)) < 250 and "\n" not in repr(value)
