"""The leaderboard as a page: what it shows, that it stands alone, and that names stay text."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from reconbench.benchmarks.summary import Summary
from reconbench.reports import COLUMNS, leaderboard_csv, leaderboard_html
from reconbench.reports.columns import MEANS, TAILS

FACTS = {"suite": "demo", "seed": "0"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</title></style></script><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202ereversed\u2066\u200f",
    "x" * 10_000,
]
VOID = {"meta", "input"}


class Page(HTMLParser):
    """The tags, attributes and text of a page; fails on tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def page(*summaries: Summary) -> Page:
    return Page(leaderboard_html(summaries, "Leaderboard", FACTS))


def test_the_page_explains_every_column_of_the_csv(summary: Summary) -> None:
    texts = page(summary).texts
    for name in leaderboard_csv([summary]).splitlines()[0].split(","):
        assert name in texts
        assert COLUMNS[name] in texts


def test_the_page_shows_and_explains_the_ceilings_that_rows_have(
    summary: Summary, bounded: Summary, failed: Summary
) -> None:
    def seen(row: Summary) -> set[str]:
        found = page(row)
        marks = {"most", "band", "published"} & set(found.values("class"))
        return marks | ({"in the lead"} if "the purple tick" in found.texts else set())

    assert seen(bounded) == {"most", "band", "published", "in the lead"}
    assert seen(summary) == {"band"}
    assert seen(failed) == set()
    texts = " ".join(page(bounded).texts)
    assert re.search(r"most any attack gets on average\s+63\.1", texts)
    assert re.search(r"ceiling for any attack in one run at 5, 50, 95 %\s+77\.0", texts)
    assert re.search(r"published 95 % ceiling \(Theorem 3\.5\)\s+87\.0", texts)


@pytest.mark.parametrize("converged", [True, False])
def test_the_page_shows_the_best_possible_and_whether_to_trust_it(
    bounded: Summary, converged: bool
) -> None:
    row = replace(
        bounded, best_possible=55.5, best_possible_se=0.1, best_possible_converged=converged
    )
    found = page(row, replace(row, attack="prior"))
    texts = " ".join(found.texts)
    assert re.search(r"best possible in this game, expected\s+55\.5", texts)
    assert "The flag" in found.texts
    assert {"best_possible", "best_possible_converged"} <= set(found.texts)
    assert any("best possible in this game" in label for label in found.values("aria-label"))
    classes = set(found.values("class"))
    assert ({"best", "pennant"} if converged else {"best unsure", "pennant unsure"}) <= classes
    assert ("not converged on 1 of 1" in texts) is not converged
    assert ("yes" if converged else "no") in found.texts


def test_without_a_best_possible_there_is_no_flag(bounded: Summary) -> None:
    found = page(bounded)
    assert not {"best", "best unsure"} & set(found.values("class"))
    assert "The flag" not in found.texts


def test_every_bound_is_explained(bounded: Summary) -> None:
    texts = page(bounded).texts
    assert {*TAILS, *MEANS} <= set(texts)


def test_an_infinite_epsilon_is_shown_as_such(summary: Summary) -> None:
    assert ", ε = ∞" in page(replace(summary, epsilon=math.inf)).texts


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(summary: Summary, failed: Summary, name: str) -> None:
    plain = page(summary, failed)
    rows = [
        replace(
            row,
            dataset=name,
            targets=(name,),
            mechanism=name,
            guarantee=name,
            metric=name,
            attack=name,
            attack_options={name: name},
            error=name,
        )
        for row in (summary, failed)
    ]
    found = Page(leaderboard_html(rows, name, {name: name}))
    # no tag, attribute or script beyond those of a harmless page
    assert set(found.tags) == set(plain.tags)
    assert found.tags.count("script") == found.tags.count("style") == 1
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert all(re.fullmatch(r"#[a-z]+(-\d+)?", link) for link in found.values("href"))
    seen = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", name)
    assert seen in found.texts
    assert any(seen in label for label in found.values("aria-label"))
    assert any(seen in label for label in found.values("title"))


def test_hostile_names_never_reach_the_script_or_the_style(summary: Summary) -> None:
    def code(text: str) -> list[str]:
        return re.findall(r"<(?:script|style)>.*?</(?:script|style)>", text, re.DOTALL)

    rows = [replace(summary, attack=name, targets=(name,)) for name in HOSTILE]
    assert code(leaderboard_html(rows, "x", {})) == code(leaderboard_html([summary], "x", {}))


def test_names_cannot_turn_the_text_after_them(summary: Summary) -> None:
    name = "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
    row = replace(summary, attack=name, targets=(name,), dataset=name, error=name)
    assert not set(name) & set(leaderboard_html([row], name, {name: name}))


def test_nothing_is_fetched(bounded: Summary, failed: Summary) -> None:
    found = leaderboard_html([bounded, failed], "Leaderboard", FACTS)
    assert "://" not in found
    assert "@import" not in found
    assert re.findall(r"url\(([^)]*)\)", found) == ["#hatch"]
    assert "default-src 'none'" in found
    page_ = Page(found)
    assert page_.values("src") == []
    assert all(link.startswith("#") for link in page_.values("href"))


def test_links_and_labels_point_at_something(bounded: Summary) -> None:
    found = page(bounded, replace(bounded, epsilon=10.0))
    names = found.values("id")
    assert len(names) == len(set(names))
    assert {link.removeprefix("#") for link in found.values("href")} <= set(names)
    assert set(found.values("aria-labelledby")) <= set(names)


def test_an_empty_list_says_so() -> None:
    found = page()
    assert "No results yet" in found.texts
    assert "table" not in found.tags


def test_failures_and_skips_are_shown_with_their_reason(failed: Summary) -> None:
    skipped = replace(failed, attack="picky", failures=0, skipped=3, error="needs two targets")
    found = page(failed, skipped)
    assert "attack 'broken' failed: no memory" in found.texts
    assert "needs two targets" in found.texts
    assert {"failed", "skipped", "no result"} <= set(found.texts)


def test_a_single_repetition_has_a_mark_without_whiskers(summary: Summary) -> None:
    one = replace(summary, repetitions=1, success_low=None, success_high=None)
    assert "whisker" not in page(one).values("class")
    assert "whisker" in page(summary).values("class")


def test_the_table_can_be_sorted_by_keyboard_and_shows_each_row(
    summary: Summary, failed: Summary
) -> None:
    found = page(summary, failed)
    columns = found.tags.count("th")
    assert found.tags.count("button") == columns
    assert found.values("aria-sort") == ["none"] * columns
    assert found.tags.count("tr") == 3
    assert found.tags.count("td") == 2 * columns


def test_equal_columns_are_said_once(summary: Summary) -> None:
    texts = page(summary, replace(summary, attack="prior")).texts
    assert "The same in every row:" in texts
    assert texts.count("gaussian-marginals") == 1
