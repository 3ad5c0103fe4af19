"""The page of an audit by MCMC, from plain values."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from reconbench.bounds.audit.mcmc import Counts, Settings, check_model, estimate
from reconbench.bounds.audit.mcmc.document import document, figures
from reconbench.reports.audit.mcmc import (
    audit_mcmc_html,
    audit_mcmc_markdown,
    draw_figures,
    summarise_audit,
)

SVG = "{http://www.w3.org/2000/svg}"
Values = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def values() -> Values:
    counts = Counts.of([(0, 50, 0, 50), (10, 50, 12, 50)])
    settings = Settings(chains=2, iterations=200, warmup=100, auxiliary=20)
    rng = np.random.default_rng(0)
    found = estimate(counts, 0.01, rng=rng, settings=settings)
    return document(found, check_model(found, rng)), figures(found)


def test_the_page_shows_figures_and_text_stays_text(values: Values) -> None:
    plain, drawn = values
    page = audit_mcmc_html({**plain, "warnings": ["<script>alert(1)</script>"]}, drawn)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page.count("<svg") == 4
    assert "attacks of strength" in page and "http-equiv" in page


def test_words_and_infinite_ends(values: Values) -> None:
    plain, _ = values
    # A perfect attack has no finite upper end under s = 1.
    assert plain["compare"]["clopper_pearson"]["upper"] is None
    text = audit_mcmc_markdown(plain)
    assert "∞" in text and text.startswith("# ε from 2 membership attacks")
    assert "with probability 90 %" in summarise_audit(plain)[0]
    assert "Too few attacks for a predictive check" in summarise_audit(plain)[1]
    assert "Every attack reaches" in summarise_audit(plain)[2]


def test_the_page_is_drawn_without_the_extra_for_figures(
    values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert audit_mcmc_html(*values).count("<svg") == 4


def test_the_figures_show_every_attack_chain_and_lag(values: Values) -> None:
    plain, data = values
    data["region"]["curves"] = [
        {"base": base, "order": level, "alpha": level, "beta": 1 - level}
        for base in (1, 2)
        for level in (0.1, 0.5)
    ]
    joint, region, traces, lags = (
        ET.fromstring(figure.svg) for figure in draw_figures(plain, data)
    )
    assert len(list(joint.iter(f"{SVG}rect"))) == len(data["joint"]) + 1
    assert len(list(region.iter(f"{SVG}circle"))) == plain["attacks"]
    # two attacks at other levels, four boundaries, and the boundaries' samples in the legend
    assert len(list(region.iter(f"{SVG}polyline"))) == 2 + 2 * 4
    assert len(list(traces.iter(f"{SVG}polyline"))) == 2 * plain["chains"] + plain["chains"]
    assert len(list(lags.iter(f"{SVG}rect"))) == len(data["autocorrelation"]) + 1
