"""The printed numbers, and the committed page against its script."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from generate import reproduction
from generate.reproduction import extraction_advantage, zipf_prior
from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    ReRoZCDP,
    epsilon_protect,
    theorem_3_5,
    worst_advantage,
    zcdp_rho,
)

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


def test_zipf_prior_by_summation() -> None:
    for s, values in [(1.1, 10), (1.2, 10_000)]:
        total = float(np.sum(np.arange(1, values + 1, dtype=float) ** -s))
        assert zipf_prior(s, values) == pytest.approx(1 / total, rel=1e-12)
    assert zipf_prior(1.1, 10) == pytest.approx(0.3731, abs=5e-5)


def test_swanberg_extraction() -> None:
    assert epsilon_protect(1e-9) == pytest.approx(17.779, abs=5e-4)
    for s, protect, gain in [(1.1, 0.399, 0.156), (1.2, 0.2547, 0.2377)]:
        prior = zipf_prior(s, 10**9)
        assert epsilon_protect(prior) == pytest.approx(protect, abs=5e-4)
        assert extraction_advantage(prior, 1.0) == pytest.approx(gain, abs=5e-4)
    # Both of the names' numbers hold for the same largest prior.
    for prior in (0.00544, 0.005455):
        assert round(epsilon_protect(prior), 2) == 2.37
        assert round(extraction_advantage(prior, 5.0), 2) == 0.45
    assert extraction_advantage(zipf_prior(1.2, 10**9), 10.0) == pytest.approx(0.9997, abs=2e-4)
    assert extraction_advantage(0.00545, 10.0) == pytest.approx(0.992, abs=5e-4)
    assert extraction_advantage(1e-9, 10.0) == pytest.approx(3e-5, rel=0.1)


def test_swanberg_acs_sex() -> None:
    found = theorem_3_5(np.full(100, 0.56), ApproxDP(1.0, 1e-5))
    assert found == {0.05: 71, 0.5: 78, 0.95: 84}


def test_kulynych_census() -> None:
    rho = zcdp_rho(10.6, 1e-10)
    assert rho == pytest.approx(1.0005, abs=5e-5)
    assert ApproxDP(10.6, 1e-10).total_variation() == pytest.approx(0.99995, abs=5e-6)
    assert worst_advantage(ReRoZCDP(), ZCDP(rho))[0] == pytest.approx(0.7305, abs=5e-5)
    assert ZCDP(rho).gaussian().total_variation() == pytest.approx(0.5206, abs=5e-5)


def test_kulynych_disease_status() -> None:
    """Printed: below 0.001 pp, which holds by Theorem D.1 at the baseline 0.9999; Theorem 3.3 gives
    ten times as much. The twin is the test itself: π P[reject | 1] − (1 − π) P[reject | 0]."""
    guarantee = ZCDP(zcdp_rho(10.6, 1e-10)).gaussian()
    found = reproduction.disease_status(1e-4, guarantee)
    threshold = guarantee.mu / 2 + math.log(0.9999 / 1e-4) / guarantee.mu
    gain = 1e-4 * norm.sf(threshold - guarantee.mu) - 0.9999 * norm.sf(threshold)
    assert found["binary"] == pytest.approx(100 * gain, rel=1e-3)
    assert found["binary"] == pytest.approx(6.1e-12, rel=0.01)
    assert found["f_dp"] == pytest.approx(0.00999, abs=5e-6)
    assert found["singling_out"] == pytest.approx(1.05, abs=5e-3)


def test_kulynych_gaussian_noise_saved() -> None:
    assert reproduction.saved_gaussian(0.15) == pytest.approx(0.34, abs=0.005)


def test_kulynych_census_levels() -> None:
    """Below the limit ρ → 0: 1 − √(ρ/π)/(√(2/e) √ρ), TV of √(2ρ)-GDP against the zCDP bound."""
    limit = 1 - (1 / math.pi) ** 0.5 / (2 / math.e) ** 0.5
    (least, saved), (most, saved_most) = reproduction.census_levels()
    assert (least, most) == ("2 state", "8 block")
    assert saved == pytest.approx(0.288, abs=1e-3)
    assert 0.335 < saved_most < limit


@pytest.mark.slow
def test_the_committed_page_is_what_the_script_writes() -> None:
    written = reproduction.render_page()
    assert written == PAGE.read_text(encoding="utf-8"), (
        "run: python docs/generate reproduction > docs/reproduction.md"
    )
    assert "3.945 3.196 2.698 1.948 1.449" in written
