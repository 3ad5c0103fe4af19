"""The ranking on every data set: what it is made of, and how the page shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports import Leaderboard, leaderboard_html
from reconbench.reports.leaderboard.ranking import rank_by_dataset

Scored = Callable[[Summary], Summary]


@pytest.fixture
def many(bounded: Summary, scored: Scored) -> list[Summary]:
    """Three data sets: two attacks, good on one and the other, and hardly a gap on the third."""
    rows = []
    gains = {"a": {"rap": 6, "posterior": 2}, "b": {"rap": 2, "posterior": 6}, "c": {}}
    most = {"a": 58.0, "b": 68.0, "c": 48.5}
    for dataset, by_attack in gains.items():
        for attack in ("prior", "rap", "posterior"):
            for column in ("X", "Y"):
                gain = by_attack.get(attack, 0)
                row = replace(
                    bounded,
                    dataset=dataset,
                    targets=(column,),
                    attack=attack,
                    repetitions=8,
                    outcomes={rep: (48 + gain + rep % 2, 48) for rep in range(8)},
                    baseline_expected=48.0,
                    best_possible=55.0,
                    best_possible_converged=True,
                    ceilings={"prior-exact": {"mean": most[dataset]}},
                )
                rows.append(scored(row))
    return rows


def test_each_data_set_is_ranked_as_if_it_were_the_suite(many: list[Summary]) -> None:
    by_name = {ranking.dataset: ranking for ranking in rank_by_dataset(many)}
    assert list(by_name) == ["b", "a", "c"]  # most to gain first
    for name, ranking in by_name.items():
        alone = Leaderboard.from_summaries([row for row in many if row.dataset == name])
        assert list(ranking.attacks) == alone.ranking and ranking.cells == 2
        assert (ranking.prior, ranking.best_possible) == (48.0, 55.0)
    ranks = {
        name: {attack.attack: attack.rank for attack in ranking.attacks}
        for name, ranking in by_name.items()
    }
    assert ranks["a"]["rap"] == ranks["b"]["posterior"] == 1
    assert ranks["a"]["posterior"] == ranks["b"]["rap"] == 2
    assert by_name["a"].most == 58.0 and by_name["a"].gap == pytest.approx(10)
    assert by_name["b"].is_measurable and not by_name["c"].is_measurable


def test_a_game_without_an_optimum_leaves_the_mean_open(many: list[Summary]) -> None:
    rows = [
        replace(row, best_possible=None) if row.dataset == "a" and row.targets == ("X",) else row
        for row in many
    ]
    by_name = {ranking.dataset: ranking for ranking in rank_by_dataset(rows)}
    assert by_name["a"].best_possible is None and by_name["b"].best_possible == 55.0


def test_one_data_set_needs_no_table(many: list[Summary]) -> None:
    rows = [row for row in many if row.dataset == "a"]
    assert rank_by_dataset(rows) == []
    assert 'id="datasets"' not in leaderboard_html(rows, "demo", {})


def test_the_page_has_a_line_for_every_data_set(many: list[Summary]) -> None:
    page = leaderboard_html(many, "demo", {})
    section = page[page.index('id="datasets"') : page.index('id="all"')]
    lines = re.findall(r"<tr.*?</tr>", section, flags=re.DOTALL)
    assert len(lines) == 1 + 3 + 1
    head = re.findall(r"<bdi>(.*?)</bdi>", lines[0])
    assert set(head) == {"posterior", "rap"}  # the prior's guess closes nothing
    cells = [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", lines[1])]
    assert cells[:5] == ["b", "2", "48.0", "55.0", "68.0"]
    shares = dict(zip(head, cells[5:], strict=True))
    assert shares["posterior"].startswith("32.5 %") and "<b>32.5 %</b>" in lines[1]
    assert "<b>12.5 %</b>" not in lines[1] and shares["rap"].startswith("12.5 %")
    assert lines[3].count("no gap") == 2 and "all, weighted by gap" in lines[4]
    assert 'href="#all&amp;dataset=b"' in lines[1]
    assert '<a href="#datasets">' in page


def test_names_of_data_sets_stay_text_and_links(many: list[Summary]) -> None:
    name = "\"><img src=x onerror='alert(1)'>&epsilon=1"
    rows = [replace(row, dataset=name) if row.dataset == "a" else row for row in many]
    page = leaderboard_html(rows, "demo", {})
    section = page[page.index('id="datasets"') : page.index('id="all"')]
    assert "<img" not in section
    assert "#all&amp;dataset=%22%3E%3Cimg" in section and "%26epsilon%3D1" in section


def test_twenty_five_data_sets_and_twelve_attacks(bounded: Summary, scored: Scored) -> None:
    rows = [
        scored(replace(bounded, dataset=f"data {index}", attack=f"attack {attack}"))
        for index in range(25)
        for attack in range(12)
    ]
    page = leaderboard_html(rows, "demo", {})
    section = page[page.index('id="datasets"') : page.index('id="all"')]
    assert section.count("<tr>") == 1 + 25 and "4 lower-ranked attacks are in the table" in section
