"""The first picture: gains over the prior, most to gain first, and small whatever the suite."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports import Leaderboard, leaderboard_html
from reconbench.reports.figures.overview import (
    ALL_PLOTS,
    FIRST_LINES,
    FIRST_PLOTS,
    MOST_ATTACKS,
    MOST_BUDGETS,
    Overview,
    Plot,
    build_overview,
)


def overview(*summaries: Summary) -> Overview:
    board = Leaderboard.from_summaries(summaries)
    found = build_overview(board.rows, [attack.attack for attack in board.ranking])
    assert found is not None
    return found


def values(plot: Plot, *places: float | None) -> list[float]:
    """Places on a plot as values, by its first and last tick."""
    (x1, first), *_, (x2, last) = plot.ticks
    low, high = (float(text.replace("−", "-")) for text in (first, last))
    return [low + (high - low) * (place - x1) / (x2 - x1) for place in places if place is not None]


def row(base: Summary, column: str, most: float, **changes: object) -> Summary:
    return replace(base, targets=(column,), ceilings={"prior-exact": {"mean": most}}, **changes)  # type: ignore[arg-type]


def test_a_line_shows_gains_over_the_prior(bounded: Summary) -> None:
    known = replace(
        bounded,
        best_possible=57.25,
        expected_success=50.25,
        expected_success_low=46.25,
        expected_success_high=54.25,
    )
    (group,) = overview(known).first
    (plot,) = group.plots
    (line,) = plot.lines
    (mark,) = line.marks
    # 48.25 of 100 are guessed, and no attack expects more than 63.15
    assert values(plot, line.most, line.best, mark.x) == pytest.approx([14.9, 9.0, 2.0], abs=0.02)
    assert values(plot, plot.zero, mark.low, mark.high) == pytest.approx([0, -2, 6], abs=0.02)
    assert not mark.beyond_low and not mark.beyond_high
    assert group.names[0].prior == "48.2" and plot.title == "ε = 1"
    assert "Ceiling on the mean: +14.9. rap: +2.0 (−2.0 to +6.0)." in line.text


def test_gains_are_per_hundred_records(bounded: Summary) -> None:
    (group,) = overview(replace(bounded, n=1000, expected_success=58.25)).first
    (plot,) = group.plots
    assert "rap: +1.0" in plot.lines[0].text and group.names[0].prior == "4.8"


def test_lines_and_groups_with_most_to_gain_come_first(bounded: Summary) -> None:
    found = overview(
        row(bounded, "A", 50.0, dataset="small"),
        row(bounded, "A", 55.0),
        row(bounded, "B", 60.0),
        row(bounded, "B", 52.0, epsilon=0.5),
    )
    assert [group.title for group in found.first] == ["acs", "small"]
    assert [name.full for name in found.first[0].names] == ["B", "A"]
    assert [plot.title for plot in found.first[0].plots] == ["ε = 0.5", "ε = 1"]
    # a column that a budget lacks leaves its line empty
    assert [len(plot.lines) for plot in found.first[0].plots] == [1, 2]
    assert found.more == () and "Each budget has its own scale." in found.notes


def test_intervals_do_not_squeeze_what_they_are_about(bounded: Summary) -> None:
    wild = replace(bounded, expected_success_low=0.0, expected_success_high=100.0)
    (group,) = overview(wild).first
    (mark,) = group.plots[0].lines[0].marks
    assert (mark.low, mark.high) == (0, 100) and mark.beyond_low and mark.beyond_high


def test_marks_beyond_the_bar_are_explained(bounded: Summary) -> None:
    said = "A mark beyond its bar is there by chance, unless a flag says otherwise."
    assert said not in overview(bounded).notes
    assert said in overview(replace(bounded, expected_success=64.0)).notes


def test_guessing_is_the_zero_line_and_no_attack(bounded: Summary) -> None:
    found = overview(bounded, replace(bounded, attack="prior"))
    assert [look.attack for look in found.looks] == ["rap"]
    (line,) = found.first[0].plots[0].lines
    assert [mark.look.attack for mark in line.marks] == ["rap"]


def test_what_differs_names_the_group_and_the_line(bounded: Summary) -> None:
    found = overview(
        replace(bounded, known=()),
        bounded,
        replace(bounded, n=50),
        replace(bounded, adversary="informed"),
    )
    titles = {group.title for group in (*found.first, *found.more)}
    assert titles == {
        "acs, n = 100, realistic",
        "acs, n = 50, realistic",
        "acs, n = 100, informed",
    }
    lines = {name.full for group in found.first for name in group.names}
    assert {"AGEP, knowing nothing", "AGEP, knowing SEX, MAR"} <= lines
    (alone,) = overview(bounded).first
    assert alone.title == "acs"


def test_large_suites_are_cut_and_say_so(bounded: Summary) -> None:
    rows = [
        replace(bounded, dataset=f"d{d}", targets=(f"c{c}",), epsilon=float(e), attack=f"a{a}")
        for d in range(30)
        for c in range(20)
        for e in (1, 2, 3, 4, math.inf)
        for a in range(8)
    ]
    found = overview(*rows)
    assert sum(len(group.plots) for group in found.first) <= FIRST_PLOTS
    assert sum(len(group.plots) for group in found.more) <= ALL_PLOTS
    (group,) = found.first
    assert len(group.names) == FIRST_LINES and len(group.plots) == MOST_BUDGETS
    assert [plot.title for plot in group.plots] == ["ε = 1", "ε = 3", "no noise (ε = ∞)"]
    assert group.left_out == "4 more lines and 2 more budgets"
    assert len(found.looks) == MOST_ATTACKS
    assert any("2 lower-ranked attacks" in note for note in found.notes)
    assert any("more settings" in note for note in found.notes)
    text = leaderboard_html(rows, "large", {})
    assert (
        len(re.findall('<section class="card" id="overview".*?</section>', text, re.S)[0]) < 10**6
    )


def test_without_ceilings_and_scores_there_is_a_picture_or_none(
    bounded: Summary, failed: Summary
) -> None:
    (group,) = overview(replace(bounded, ceilings={})).first
    (line,) = group.plots[0].lines
    assert line.most is None and line.best is None and len(line.marks) == 1
    assert build_overview(Leaderboard.from_summaries([failed]).rows, []) is None


def test_hostile_names_stay_text_in_the_picture(bounded: Summary) -> None:
    name = "</text><script>alert(1)</script>"
    text = leaderboard_html([replace(bounded, targets=(name,), dataset=name, attack=name)], "t", {})
    picture = re.findall('<section class="card" id="overview".*?</section>', text, re.S)[0]
    assert "<script" not in picture and "&lt;script&gt;" in picture
