"""The page of an audit by MCMC, from plain values."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from reconbench.bounds.audit.mcmc import Counts, Settings, estimate
from reconbench.bounds.audit.mcmc.document import document, figures
from reconbench.reports.audit.mcmc import audit_mcmc_html, audit_mcmc_markdown, sentences
from reconbench.reports.leaderboard.columns import ReportError

Told = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def told() -> Told:
    counts = Counts.of([(0, 50, 0, 50), (10, 50, 12, 50)])
    settings = Settings(chains=2, iterations=200, warmup=100, auxiliary=20)
    found = estimate(counts, 0.01, rng=np.random.default_rng(0), settings=settings)
    return document(found), figures(found)


def test_the_page_shows_figures_and_text_stays_text(told: Told) -> None:
    plain, drawn = told
    page = audit_mcmc_html({**plain, "warnings": ["<script>alert(1)</script>"]}, drawn)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page.count("<svg") == 4
    assert "attacks of strength" in page and "http-equiv" in page


def test_words_and_infinite_ends(told: Told) -> None:
    plain, _ = told
    # A perfect attack has no finite upper end under s = 1.
    assert plain["compare"]["clopper_pearson"]["upper"] is None
    text = audit_mcmc_markdown(plain)
    assert "∞" in text and text.startswith("# ε from 2 membership attacks")
    assert "with probability 90 %" in sentences(plain)[0]
    assert "Every attack reaches" in sentences(plain)[1]


def test_without_the_converter_the_error_says_what_to_install(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ReportError, match=r"pip install 'reconbench\[figures\]'"):
        audit_mcmc_html(*told)
