"""The report of an assessment, from its JSON document."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from reconbench.reports.assess.page import assess_html, assess_markdown, headlines

HOSTILE = "<script>alert(1)</script>|`=1+1`[x](javascript:a)*_\u202e"


def mean(value: float, margin: float | None = 0.01) -> dict[str, Any]:
    return {"value": value, "margin": margin}


def kind(column: str, label: str, prior: float, attack: float) -> dict[str, Any]:
    return {
        "column": column,
        "label": label,
        "records": 20,
        "prior": prior,
        "attack": mean(attack),
    }


def budget(epsilon: float | str) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "guarantee": "0.268-GDP, replace-one",
        "mu": 0.268,
        "noise_sd": 4.0,
        "prior_real": 0.6,
        "prior_expected": 0.59,
        "attacks": [
            {"attack": "prior", "real": mean(0.6), "fresh": mean(0.59), "converged": None},
            {"attack": "posterior", "real": mean(0.65), "fresh": mean(0.63), "converged": True},
        ],
        "best_possible": 0.63,
        "best_converged": True,
        "fresh_gain": mean(0.04),
        "ceiling": {"mean": 0.69, "gain": 0.1, "high": 0.8},
        "sure": {"records": 30.0, "right": 0.95},
        "accuracy": {
            "noise_sd": 4.0,
            "cell_error": 3.19,
            "typical_cell": 5.0,
            "relative": 0.638,
            "cells": 120,
            "distance": 0.4,
            "cleaned": 0.2,
        },
    }


@pytest.fixture
def document() -> dict[str, Any]:
    return {
        "format": "reconbench-assessment/1",
        "source": {
            "table": "people.csv",
            "records": 200,
            "prior": "prior.bif",
            "fitted": True,
            "left_out": [],
            "release": None,
        },
        "targets": ["income"],
        "known": ["age", "sex"],
        "question": {
            "epsilon": 1.0,
            "delta": 1e-5,
            "k": 2,
            "metric": "exact",
            "max_risk": 0.05,
            "measure": "advantage",
            "threshold": 10,
            "reps": 5,
            "seed": 0,
            "attacks": ["prior", "posterior"],
            "sure": 0.9,
        },
        "mechanism": {"marginals": 2, "cells": 120, "relation": "replace-one", "unit": "a record"},
        "budgets": [budget(0.1), budget(1.0), budget("inf")],
        "exposure": {
            "columns": [{"column": "income", "prior": 0.6, "attack": mean(0.65)}],
            "by_target": [
                {
                    "column": "income",
                    "shown": [kind("income", "rich", 0.1, 0.3)],
                    "hidden_labels": 2,
                    "hidden_records": 12,
                }
            ],
            "by_known": [
                {
                    "column": "age",
                    "shown": [kind("age", "old", 0.5, 0.7), kind("age", "young", 0.5, 0.5)],
                    "hidden_labels": 0,
                    "hidden_records": 0,
                }
            ],
        },
        "proved": [
            {"scope": "mean", "epsilon": 0.8799, "why_not": None},
            {"scope": "worst-record", "epsilon": None, "why_not": "no epsilon keeps it"},
            {"scope": "any-prior", "epsilon": "inf", "why_not": None},
        ],
        "measured": [
            {"scope": "real", "keeps": 1.0, "passes": "inf", "about": None},
            {"scope": "fresh", "keeps": None, "passes": 0.1, "about": None},
        ],
        "versions": {"reconbench": "1"},
    }


class Reader(HTMLParser):
    """What a browser would make of it: tags, and the text of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def test_the_page_says_it(document: dict[str, Any]) -> None:
    reader = read(assess_html(document))
    text = " ".join(reader.text.split())
    for words in (
        "Confidential",
        "guesses income right for 60.0 % of your 200 records",
        "gets 65.0 % right on your table: 5.0 percentage points more, about 10 records",
        "gain more than 10.0 percentage points",
        "proved to be kept, on average over your records, up to ε = 0.879, but at none on every",
        "2 labels, not shown",
        "Kinds of fewer than 10 records are not shown",
        "fitted to this very table",
        "replace-one",
        "none keeps it",
        "between 1 and ∞",
        "less than 0.1",
    ):
        assert words in text, words
    assert "script" not in reader.tags and "img" not in reader.tags and "link" not in reader.tags
    assert reader.tags.count("svg") == 1 + 3


def test_the_limit_is_rounded_down(document: dict[str, Any]) -> None:
    for epsilon, shown in ((0.8799, "0.879"), (0.9996, "0.999"), (12.37, "12.3"), (2.0, "2")):
        document["proved"][0]["epsilon"] = epsilon
        document["proved"][1]["epsilon"] = epsilon
        for words in ("over your records, up to", "on every single one up to"):
            assert any(f"{words} ε = {shown}" in line for line in headlines(document)), epsilon


def test_measured_answers_are_rounded_down_too(document: dict[str, Any]) -> None:
    document["measured"][0] = {"scope": "real", "keeps": 1.0, "passes": 3.0, "about": 1.97}
    assert any("about 1.9 (between 1 and 3)" in line for line in headlines(document))


def test_what_a_prior_fitted_to_the_table_means_is_said(document: dict[str, Any]) -> None:
    text = " ".join(assess_markdown(document).split())
    assert "its budget is not counted here" in text
    assert "may gain more by the release than is said here" in text
    assert "whatever is known of it beforehand” covers that" in text
    document["proved"] = document["measured"] = []
    text = " ".join(assess_markdown(document).split())
    assert "with --max-risk and --measure advantage, one of the answers covers that" in text
    document["source"]["fitted"] = False
    assert "may gain more" not in assess_markdown(document)


def test_a_share_right_that_tells_of_few_others_is_left_out(document: dict[str, Any]) -> None:
    document["budgets"][1]["sure"] = {"records": 195.0, "right": None}
    assert "| **195** | **–** |" in assess_markdown(document)


def test_a_measured_answer_below_the_proved_one_is_told(document: dict[str, Any]) -> None:
    assert not any("Take the smaller one" in line for line in headlines(document))
    document["measured"][0] = {"scope": "real", "keeps": 0.1, "passes": 1.0, "about": 0.5}
    assert any("Take the smaller one" in line for line in headlines(document))
    document["measured"][0] = {"scope": "real", "keeps": None, "passes": 0.1, "about": None}
    assert any("Take the smaller one" in line for line in headlines(document))


def test_a_limit_that_is_kept_without_noise(document: dict[str, Any]) -> None:
    document["measured"][0] = {"scope": "real", "keeps": "inf", "passes": None, "about": None}
    assert any("the largest ε is without limit" in line for line in headlines(document))


def test_markdown_has_the_same_numbers(document: dict[str, Any]) -> None:
    text = assess_markdown(document)
    assert "| **1** | **60.0** | **65.0 ± 1.0** | **+5.0** |" in text
    assert "| rich | 20 | 10.0 | 30.0 ± 1.0 | +20.0 |" in text
    assert " ".join(headlines(document)[0].split()) in " ".join(text.split())


def test_hostile_names_are_inert(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for name in ("income", "people.csv", "rich", "age", "old"):
        text = text.replace(f'"{name}"', json.dumps(HOSTILE))
    hostile = json.loads(text)
    page = assess_html(hostile)
    reader = read(page)
    assert "script" not in reader.tags and "\u202e" not in page
    assert "<script>alert(1)</script>|`=1+1`" in reader.text
    markdown = assess_markdown(hostile)
    assert not [sign for sign in ("<script", "](", "`", "\u202e") if sign in markdown]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in _table(markdown, "gain, points")}
    assert len(widths) == 1


def _table(markdown: str, header: str) -> list[str]:
    lines = markdown.splitlines()
    first = next(i for i, line in enumerate(lines) if header in line and line.startswith("| label"))
    end = next(i for i in range(first, len(lines)) if not lines[i])
    return lines[first:end]


def test_long_labels_are_cut(document: dict[str, Any]) -> None:
    document["targets"] = ["x" * 10_000]
    assert len(assess_html(document)) < 40_000 and "x" * 60 not in assess_markdown(document)


def test_one_release_without_a_guarantee(document: dict[str, Any]) -> None:
    single = copy.deepcopy(document)
    row = {**budget(1.0), "epsilon": None, "ceiling": None, "fresh_gain": None, "mu": None}
    row["attacks"] = [{**each, "fresh": None} for each in row["attacks"]]
    single |= {"budgets": [row], "proved": [], "measured": []}
    single["question"] |= {"epsilon": None, "max_risk": None}
    single["source"] |= {"release": "marginals.csv", "fitted": False}
    single["question"]["reps"] = 1
    reader = read(assess_html(single))
    # nothing is said of repetitions and drawn tables that there are not
    assert "Drawn tables" not in reader.text and "mind the ±" not in reader.text
    assert "The noise was drawn once" in reader.text
    assert "so there is no ceiling" in reader.text and "svg" not in reader.tags
    assert "With the 2-way marginals in marginals.csv" in reader.text
    assert "not stated" in assess_markdown(single)
