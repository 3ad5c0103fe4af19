"""The leaderboard as a page, as text: what it holds, that it stands alone, that names stay text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from markupsafe import Markup

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports import DICTIONARY, Leaderboard, leaderboard_csv, leaderboard_html
from reconbench.reports.figures.chart_specs import DRAWINGS, SCRIPT
from reconbench.reports.figures.charts import list_charts, select_rows
from reconbench.reports.leaderboard.comparisons import AttackComparison
from reconbench.reports.leaderboard.flags import Flag
from reconbench.reports.leaderboard.glossary import GLOSSARY
from reconbench.reports.leaderboard.summary_text import write_summary, write_trust

FACTS = {"suite": "demo", "seed": "0"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</title></style></script><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202ereversed\u2066\u200f",
    "x" * 10_000,
    "=HYPERLINK(1)",
]
VOID = {"meta", "input"}
Scored = Callable[[Summary], Summary]


class Page(HTMLParser):
    """The tags, attributes and text of a page; fails on tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.data = ""
        self._open: list[str] = []
        self._is_data = False
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._is_data = ("type", "application/json") in attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            if self._is_data:
                self.data += data
            else:
                self.scripts.append(data)
        else:
            self.texts.append(data.strip())

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]

    @property
    def payload(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.data)
        return found

    def column(self, name: str) -> list[Any]:
        packed = self.payload["cells"][name]
        if "same" in packed:
            return [packed["same"]] * int(self.payload["size"])
        if "indices" in packed:
            return [packed["values"][index] for index in packed["indices"]]
        return list(packed["values"])


def page(*summaries: Summary) -> Page:
    return Page(leaderboard_html(summaries, "Leaderboard", FACTS))


def trust(*summaries: Summary) -> str:
    return write_trust(Leaderboard.from_summaries(summaries))


def sentences(*summaries: Summary) -> list[Markup]:
    return write_summary(Leaderboard.from_summaries(summaries))


def test_the_page_explains_every_column_of_the_csv_and_every_word(bounded: Summary) -> None:
    texts = page(bounded).texts
    for name in leaderboard_csv([bounded]).splitlines()[0].split(","):
        assert name in texts
        assert DICTIONARY[name].meaning in texts
    for name, meaning in GLOSSARY.items():
        assert name in texts and meaning in texts
    assert set(Flag) <= set(texts)


def test_every_explained_term_has_an_explanation(bounded: Summary) -> None:
    assert set(page(bounded).values("data-term")) <= GLOSSARY.keys()


def test_the_rows_travel_as_data(bounded: Summary, failed: Summary) -> None:
    rows = [bounded, replace(bounded, epsilon=math.inf, success=1 / 3), failed]
    found, board = page(*rows), Leaderboard.from_summaries(rows)
    assert found.payload["size"] == 3
    for name in board.columns:
        for seen, row in zip(found.column(name), board.rows, strict=True):
            value = row[name]
            if isinstance(value, float) and math.isinf(value):
                assert seen is None
            elif isinstance(value, float):
                assert seen == pytest.approx(value, rel=1e-6)
            else:
                assert seen == value


def test_repetitions_travel_with_their_rows(summary: Summary) -> None:
    found = page(
        replace(summary, outcomes={4: (51, 47), 0: (50, 48)}), replace(summary, attack="b")
    )
    assert [found.column(name)[0] for name in ("_reps", "_got", "_prior")] == [
        "0 4",
        "50 51",
        "48 47",
    ]
    assert found.column("_got")[1] == ""


def test_the_ranking_is_readable_without_script(bounded: Summary) -> None:
    outcomes = {rep: (55 + rep, 48) for rep in range(3)}
    scores = {rep: (55.25 + rep, 48.25) for rep in range(3)}
    played = replace(bounded, outcomes=outcomes, scores=scores)
    found = page(played, replace(bounded, attack="idle"))
    assert "noscript" in found.tags
    assert "rap" in found.texts and "idle" in found.texts
    assert any(re.fullmatch(r"\d+\.\d %", text) for text in found.texts)
    assert "Attacks that a paired comparison" in " ".join(found.texts)


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
            adversary=name,
            attacker_prior=name,
            attack=name,
            attack_options={name: name},
            error=name,
        )
        for row in (summary, failed)
    ]
    found = Page(leaderboard_html(rows, name, {name: name}))
    # no tag, attribute or script beyond those of a harmless page
    assert set(found.tags) <= set(plain.tags)
    assert found.scripts == plain.scripts
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert all(re.fullmatch(r"#[a-z-]+", link) for link in found.values("href"))
    seen = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", name)
    assert seen in found.texts
    assert found.column("attack") == found.column("targets") == [seen, seen]


def test_names_cannot_turn_the_text_after_them(summary: Summary) -> None:
    name = "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
    row = replace(summary, attack=name, targets=(name,), dataset=name, error=name)
    text = leaderboard_html([row], name, {name: name})
    script = gzip.decompress(SCRIPT.read_bytes()).decode()
    assert not set(name) & set(text.replace(script, ""))
    assert not set(name) & set(json.dumps(Page(text).payload["cells"], ensure_ascii=False))


def test_the_policy_admits_the_scripts_of_the_page_and_nothing_else(summary: Summary) -> None:
    found = page(summary)
    (policy,) = [value for value in found.values("content") if "default-src" in value]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in found.scripts]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == " ".join(f"'sha256-{each}'" for each in hashes)
    assert "connect-src" not in rules and "eval" not in policy


def test_nothing_is_fetched(bounded: Summary, failed: Summary) -> None:
    text = leaderboard_html([bounded, failed], "Leaderboard", FACTS)
    found = Page(text)
    assert found.values("src") == []
    assert all(link.startswith("#") for link in found.values("href"))
    assert "@import" not in text.replace("".join(found.scripts), "")
    assert "link" not in found.tags and "iframe" not in found.tags


def test_links_and_labels_point_at_something(bounded: Summary) -> None:
    found = page(bounded, replace(bounded, epsilon=10.0))
    names = found.values("id")
    assert len(names) == len(set(names))
    assert {link.removeprefix("#") for link in found.values("href")} <= set(names)
    assert set(found.values("aria-labelledby")) <= set(names)


def test_an_empty_list_says_so() -> None:
    found = page()
    assert "No results yet" in found.texts
    assert "table" not in found.tags and "figure" not in found.tags


def test_only_failures_say_so_with_their_reasons(failed: Summary) -> None:
    found = page(failed, replace(failed, attack="picky", failures=0, skipped=3, error="needs two"))
    assert "No attack finished a repetition." in found.texts
    assert {"attack 'broken' failed: no memory", "needs two"} <= {
        text.removeprefix(": ") for text in found.texts
    }
    assert "figure" not in found.tags


def test_stale_rows_that_were_left_out_are_counted(summary: Summary) -> None:
    counted = "stored rows were made by another code version"
    assert f"7 {counted}" in leaderboard_html([summary], "t", {}, stale=7)
    assert counted not in leaderboard_html([summary], "t", {})


def test_figures_that_rows_do_not_allow_are_named_with_the_reason(bounded: Summary) -> None:
    text = " ".join(page(bounded).texts)
    assert "Success against the budget ε: no rows differ in ε only" in text
    assert "when they are sure: no attack gave its guesses probabilities" in text
    two = page(bounded, replace(bounded, epsilon=math.inf))
    assert "figure-epsilon" in two.values("id")


def test_figures_take_the_rows_they_need(bounded: Summary, failed: Summary) -> None:
    rows = [
        bounded,
        replace(bounded, epsilon=3.0),
        replace(bounded, targets=("A", "B")),
        replace(bounded, metric="l1:2"),
        replace(bounded, n=50),
        replace(bounded, mechanism_options=Options({"k": 1}), facts={"mechanism.k": 1.0}),
        failed,
    ]
    board = Leaderboard.from_summaries(rows)
    drawn = {each.name: select_rows(each, board.rows)[0] for each in list_charts(board.columns)}
    assert len(drawn["success"]) == 6
    assert {row["epsilon"] for row in drawn["epsilon"]} == {1.0, 3.0}
    assert {row["target_columns"] for row in drawn["columns"]} == {1, 2}
    assert {row["within"] for row in drawn["within"]} == {0, 2}
    assert {row["n"] for row in drawn["n"]} == {50, 100}
    assert {row["k"] for row in drawn["k"]} == {1, 3}
    assert drawn["split"] == []


def test_a_figure_says_how_much_it_leaves_out(bounded: Summary) -> None:
    board = Leaderboard.from_summaries(
        [replace(bounded, targets=(f"c{place}",)) for place in range(90)]
    )
    first = list_charts(board.columns)[0]
    rows, left = select_rows(first, board.rows)
    assert (len(rows), left) == (first.most, 90 - first.most)


def test_the_page_says_in_short_what_was_found(bounded: Summary, scored: Scored) -> None:
    outcomes = {rep: (55 + rep % 2, 48) for rep in range(6)}
    rap = replace(
        bounded,
        outcomes=outcomes,
        expected_success=55.75,
        repetitions=6,
        best_possible=57.0,
    )
    other = replace(rap, targets=("B",), n=200, expected_success=100.0, baseline_expected=99.5)
    prior = replace(bounded, attack="prior", expected_success=48.25, repetitions=6)
    lines = sentences(rap, prior, replace(rap, targets=("B",), expected_success=50.75))
    said = " ".join(re.sub("<.*?>", "", line) for line in lines)
    assert "rap and prior guessed hidden columns" in said
    assert "2 games on acs, at ε = 1, 6 repetitions each" in said
    assert "alone gets 48.2 right, and the leading attack (rap) expects 53.2" in said
    assert "the best possible is 57.0, and no attack expects more than 63.1." in said
    assert "gains most on AGEP of acs at ε = 1: 55.8 of 100 records instead of 48.2" in said
    assert len(lines) == 3 and "chance" not in said
    assert trust(scored(rap)) == "No row raised an alarm."
    # shares of tables of different sizes count alike
    assert "gets 49.0 right" in "".join(sentences(rap, other))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (60.0, 70.0, "the excess is chance: the 95 % interval is 60.0 to 70.0"),
        (64.0, 66.0, "the whole 95 % interval is above it, which needs an explanation"),
        (None, None, "the excess is the chance of 3 repetitions"),
    ],
)
def test_a_score_above_the_ceiling_is_explained(
    bounded: Summary, low: float | None, high: float | None, said: str
) -> None:
    """No sentence says that no attack expects more next to a larger number without a reason."""
    row = replace(
        bounded, expected_success=65.0, expected_success_low=low, expected_success_high=high
    )
    first, second = sentences(row)[1:]
    assert "more than 63.1 (the score is above it by chance, unless an alarm" in first
    assert "no attack expects more than 63.1" in second and said in second


def test_too_few_repetitions_and_alarms_are_reported(
    bounded: Summary, failed: Summary, scored: Scored
) -> None:
    one = scored(replace(bounded, outcomes={0: (55, 48)}, repetitions=1))
    assert "One repetition is too few" in trust(one)
    wild = scored(replace(bounded, outcomes={0: (30, 48), 1: (70, 48)}, repetitions=2))
    assert "may be chance" in trust(wild)
    assert "Alarms: failed in 1 row." in trust(wild, failed)
    assert sentences(failed) == sentences() == []
    unranked = replace(bounded, ceilings={}, outcomes={0: (55, 48), 1: (56, 48)})
    assert "leading attack" in sentences(unranked)[1]


def test_pairs_of_attacks_are_compared(bounded: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = AttackComparison(
        attack="rap",
        other="<b>",
        adversary="realistic",
        attacker_prior="same",
        mean=1.234,
        low=-0.5,
        high=3.0,
        p=0.125,
        adjusted=0.25,
        cells=4,
        tables=5,
    )
    pairs = [pair, *[replace(pair, low=None)] * 24]
    monkeypatch.setattr(Leaderboard, "comparisons", pairs)
    texts = page(replace(bounded, outcomes={0: (50, 48), 1: (51, 48)})).texts
    assert {"+1.23", "−0.50 to +3.00", "0.25", "<b>", "needs two tables"} <= set(texts)
    assert "The first 20 of 25 pairs." in " ".join(texts)


def test_computed_rows_are_drawn_apart(summary: Summary) -> None:
    rows = [
        replace(
            summary,
            dataset="kulynych",
            attack="none",
            adversary="none",
            metric="advantage",
            n=1,
            epsilon=epsilon,
            success=None,
            baseline_expected=0.1,
            attack_options={"compute": "advantage", "baseline": 0.1, "epsilon": epsilon},
            ceilings={"f-dp": {"mean": epsilon / 10}, "tv": {"mean": epsilon / 5}},
        )
        for epsilon in (1.0, 2.0)
    ]
    board = Leaderboard.from_summaries([*rows, summary])
    drawn = {each.name: select_rows(each, board.rows)[0] for each in list_charts(board.columns)}
    assert {row["attack"] for rows in drawn.values() for row in rows} == {"rap"}
    assert [each.attack for each in board.ranking] == ["rap"]
    alone, mixed = page(*rows), page(*rows, summary)
    assert "Only bounds were computed; no attack was played." in alone.texts
    assert "No attack finished a repetition." not in alone.texts
    shown = alone.payload["shown"]
    assert "value_f-dp" in shown and "success" not in shown
    assert {"value_f-dp", "expected_success"} <= set(mixed.payload["shown"])
    for found in (alone, mixed):
        assert found.tags.count("polyline") == 2 and found.values("id").count("computed") == 1
    first, second = (each.values("id") for each in (alone, mixed))
    assert first.index("computed") < first.index("ranking")
    assert second.index("computed") > second.index("ranking")


def test_the_shipped_drawings_and_script_are_what_their_makers_make() -> None:
    from generate import leaderboard_charts

    remedy = "make them again: python docs/generate leaderboard_charts"
    assert DRAWINGS.read_text(encoding="utf-8") == leaderboard_charts.drawings_json(), remedy
    assert gzip.decompress(SCRIPT.read_bytes()).decode() == leaderboard_charts.script(), remedy


def test_names_are_no_part_of_any_expression(summary: Summary) -> None:
    row = replace(summary, attack="'+alert(1)+'", targets=("'+alert(2)+'",), dataset="alert(3)")
    specs = page(row).payload["charts"]
    assert specs and "alert" not in json.dumps(specs)
