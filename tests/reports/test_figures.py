"""Where a figure puts things: percentages of a track from 0 to n records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from reconbench.benchmarks.summary import Summary
from reconbench.reports.figures import LANE, MARGIN, Line, Mean, figures, ticks


def test_places_are_percentages_of_n(summary: Summary) -> None:
    row = replace(
        summary,
        n=200,
        baseline_expected=80.0,
        success=100.0,
        success_low=90.0,
        success_high=120.0,
        ceilings={"thm35": {"0.05": 130.0, "0.5": 140.0, "0.95": 150.0}},
    )
    (figure,) = figures([row])
    (line,) = figure.lines
    (mark,) = line.marks
    assert (line.prior, mark.low, mark.x, mark.high) == (40, 45, 50, 60)
    assert line.band is not None
    assert (line.band.low, line.band.middle, line.band.high) == (65, 70, 75)
    assert (line.band.width, line.band.beyond) == (10, 25)
    assert line.height == 2 * MARGIN + LANE


def test_places_stay_on_the_track(summary: Summary) -> None:
    (figure,) = figures([replace(summary, baseline_expected=100.0 + 1e-9)])
    assert figure.lines[0].prior == 100


def test_a_figure_holds_the_games_that_differ_in_their_columns_only(summary: Summary) -> None:
    rows = [
        replace(summary, targets=targets, epsilon=epsilon, metric=metric)
        for epsilon in (1.0, 10.0)
        for metric in ("exact", "within-1")
        for targets in (("A",), ("B",), ("A", "B"))
    ]
    found = figures(rows)
    assert [len(figure.lines) for figure in found] == [2] * 4 + [1] * 4
    assert {figure.apart for figure in found} == {
        (f"{metric} metric", targets)
        for metric in ("exact", "within-1")
        for targets in ("1 target column, 2 known", "2 target columns, 2 known")
    }


def test_figures_of_different_budgets_need_no_details_to_be_told_apart(summary: Summary) -> None:
    assert [f.apart for f in figures([summary, replace(summary, epsilon=2.0, k=2)])] == [(), ()]


def test_an_attack_looks_the_same_throughout_and_unlike_the_others(summary: Summary) -> None:
    rows = [
        replace(summary, attack=f"a{number}", epsilon=epsilon)
        for epsilon in (1.0, 10.0)
        for number in range(20)
    ]
    first, second = figures(rows)
    looks = [mark.look for mark in first.lines[0].marks]
    assert looks == [mark.look for mark in second.lines[0].marks]
    assert len({(look.colour, look.shape) for look in looks}) == 20


def test_options_tell_variants_of_an_attack_apart(summary: Summary) -> None:
    (figure,) = figures([replace(summary, attack_options={"steps": s}) for s in (1, 2)])
    assert [each.look.label for each in figure.averages] == ['rap {"steps": 1}', 'rap {"steps": 2}']


def test_averages_are_over_the_lines_with_a_result(summary: Summary, failed: Summary) -> None:
    lost = replace(failed, attack=summary.attack, targets=("SEX",), baseline_expected=50.25)
    (figure,) = figures([summary, lost])
    (average,) = figure.averages
    assert average.mean == Mean("50.3", "over 1 of 2")
    assert figure.prior_average == "49.2"
    assert figure.band_average == Mean("74.0", "over 1 of 2")
    assert figure.lines[1].marks[0].value == "failed"
    assert figure.lines[1].band is None


def test_prior_and_ceiling_come_from_the_attack_with_most_repetitions(summary: Summary) -> None:
    partial = replace(summary, attack="a", repetitions=1, ceilings={}, failures=2)
    (figure,) = figures([partial, summary])
    assert figure.lines[0].band is not None


def drawn(row: Summary, ceilings: Mapping[str, Mapping[str, float]]) -> Line:
    return figures([replace(row, ceilings=ceilings)])[0].lines[0]


def test_the_band_is_the_tightest_proved_ceiling_at_each_confidence(
    bounded: Summary,
) -> None:
    own = {"cor34": {"0.05": 1.0, "0.5": 2.0, "0.95": 3.0}}  # of one attack only
    line = drawn(bounded, {**bounded.ceilings, **own})
    assert line.band is not None
    assert (line.band.low, line.band.middle, line.band.high) == (64, 67, 77)
    assert "64.0 at 5 % (profile-recursion), 67.0 at 50 % (fdp-recursion)" in line.band.title
    assert line.band.title in line.description


def test_the_tick_is_the_tightest_ceiling_on_the_mean(bounded: Summary) -> None:
    line = drawn(bounded, bounded.ceilings)
    assert line.most is not None
    assert line.most.x == 63.15
    assert line.most.title == "63.1 of 100: the most that any attack gets on average"
    assert line.most.title in line.description


def test_the_published_ceiling_is_drawn_where_others_are_stored(
    summary: Summary, bounded: Summary
) -> None:
    line = drawn(bounded, bounded.ceilings)
    assert line.published is not None
    assert line.published.x == 87
    assert line.published.title in line.description
    assert figures([summary])[0].lines[0].published is None


@pytest.mark.parametrize(
    ("left_out", "band", "published"),
    [
        (["fdp-recursion"], (64, 69, 80), 87),
        (["profile-recursion"], (65, 67, 77), 87),
        (["thm35"], (64, 67, 77), None),
        (["fdp-recursion", "profile-recursion"], (62, 70, 81), 87),
        (["fdp-recursion", "profile-recursion", "profile"], (74, 81, 87), None),
        (["fdp-recursion", "profile-recursion", "profile", "thm35"], None, None),
    ],
)
@pytest.mark.parametrize("means", [["mean", "prior-exact"], []])
def test_a_line_shows_the_bounds_it_has(
    bounded: Summary,
    left_out: list[str],
    band: tuple[float, ...] | None,
    published: float | None,
    means: list[str],
) -> None:
    names = bounded.ceilings.keys() - {*left_out, "mean", "prior-exact"} | {*means}
    line = drawn(bounded, {name: bounded.ceilings[name] for name in names})
    found = line.band
    assert (found and (found.low, found.middle, found.high)) == band
    assert (line.published and line.published.x) == published
    assert (line.most is not None) == bool(means)


def test_a_band_needs_every_confidence(bounded: Summary) -> None:
    assert drawn(bounded, {"thm35": {"0.95": 87.0}}).band is None


def test_averages_of_ceilings_say_over_how_many_lines(bounded: Summary, failed: Summary) -> None:
    (figure,) = figures([bounded, replace(failed, targets=("SEX",))])
    note = "over 1 of 2"
    assert figure.most_average == Mean("63.1", note)
    assert figure.band_average == Mean("77.0", note)
    assert figure.published_average == Mean("87.0", note)
    (lost,) = figures([failed])
    assert lost.most_average is lost.band_average is lost.published_average is None


def test_the_best_possible_is_a_flag(bounded: Summary) -> None:
    row = replace(bounded, best_possible=55.25, best_possible_se=0.1, best_possible_converged=True)
    (figure,) = figures([row])
    (line,) = figure.lines
    assert line.best is not None
    assert (line.best.x, line.best.sure) == (55.25, True)
    assert line.best.title == "55.2 of 100: best possible in this game, in expectation"
    assert line.best.title in line.description
    assert (figure.best_average, figure.unsure) == (Mean("55.2", ""), 0)


def test_a_best_possible_that_did_not_converge_is_told(bounded: Summary) -> None:
    row = replace(bounded, best_possible=55.25, best_possible_converged=False)
    (figure,) = figures([row, replace(bounded, targets=("SEX",))])
    assert figure.lines[0].best is not None
    assert not figure.lines[0].best.sure
    assert "not converged, not to be trusted" in figure.lines[0].description
    assert figure.lines[1].best is None
    assert (figure.best_average, figure.unsure) == (Mean("55.2", "over 1 of 2"), 1)


@pytest.mark.parametrize(
    ("n", "labels"),
    [
        (1, ["0", "1"]),
        (3, ["0", "1", "2", "3"]),
        (10, ["0", "2", "4", "6", "8", "10"]),
        (37, ["0", "10", "20", "30", "37"]),
        (100, ["0", "20", "40", "60", "80", "100"]),
        (101, ["0", "20", "40", "60", "80", "101"]),
        (1000, ["0", "200", "400", "600", "800", "1\u202f000"]),
    ],
)
def test_ticks_are_round_numbers_and_the_two_ends(n: int, labels: list[str]) -> None:
    found = ticks(n)
    assert [tick.label for tick in found] == labels
    assert (found[0].x, found[-1].x) == (0, 100)
