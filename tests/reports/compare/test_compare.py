"""Results before and after a change."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.result import Result, Status
from reconbench.reports.compare.compare import Verdict, compare
from reconbench.reports.compare.report import (
    compare_csv,
    compare_html,
    compare_markdown,
    find_shared_ending,
    sort_changes,
    summarise_comparison,
)
from reconbench.reports.statistics import sign_flip

ROW = Result(
    dataset="acs",
    data_hash="0",
    targets=("SEX",),
    known=("AGEP",),
    mechanism_options=Options({"k": 2}),
    n=100,
    epsilon=1.0,
    delta=1e-5,
    mechanism="gaussian-marginals",
    guarantee="1-GDP",
    relation="replace-one",
    unit="record",
    metric="exact",
    adversary="realistic",
    attack="rap",
    attack_options={"steps": 3},
    seed=0,
    rep=0,
    table_hash="t",
    baseline_successes=50,
    baseline_expected=50.0,
    versions={},
    successes=60,
    seconds=2.0,
)


def rows(successes: list[int], **changes: Any) -> list[Result]:
    base = replace(ROW, **changes)
    return [
        replace(base, rep=rep, successes=each, table_hash=f"t{rep}")
        for rep, each in enumerate(successes)
    ]


def test_a_change_for_the_better() -> None:
    before = [50, 51, 52, 53, 54, 55, 56, 57]
    after = [52, 54, 53, 56, 58, 57, 59, 58]
    found = compare(rows(before), rows(after, seconds=1.0))
    (cell,) = found.cells
    gains = [b - a for a, b in zip(before, after, strict=True)]
    assert cell.difference == pytest.approx(np.mean(gains)) and cell.games == 8
    assert cell.p == cell.adjusted == sign_flip(gains) == pytest.approx(2**-7)
    assert cell.verdict is Verdict.BETTER and cell.seconds_ratio == 0.5
    half = 2.3646242510102993 * np.std(gains, ddof=1) / np.sqrt(8)  # Student's, 7 degrees
    assert cell.low == pytest.approx(cell.difference - half)
    assert cell.high == pytest.approx(cell.difference + half)
    assert not found.worse and found.can_tell
    back = compare(rows(after), rows(before))
    assert back.cells[0].verdict is Verdict.WORSE and back.worse


def test_what_all_games_share_is_said_once() -> None:
    games = [*rows([50, 51]), *rows([52, 50], targets=("MAR",)), *rows([60, 61], epsilon=3.0)]
    found = compare(games, games)
    assert find_shared_ending(found) == ", n = 100, 1 known, k=2, exact"
    text = compare_markdown(found, "a", "b")
    assert "| rap steps=3 | acs SEX, ε = 3 | 2 |" in text and text.count("k=2") == 1
    assert json.dumps(found.to_json()["cells"]).count("k=2") == 3
    assert find_shared_ending(compare(rows([50]), rows([51]))) == ""


def test_noise_and_no_change() -> None:
    found = compare(rows([50] * 8), rows([51, 49, 52, 48, 50, 51, 49, 53]))
    assert found.cells[0].verdict is Verdict.NOISE and not found.worse
    same = compare(rows([50] * 8), rows([50] * 8))
    assert same.cells[0].verdict is Verdict.SAME and same.cells[0].p == 1.0


def test_few_repetitions_cannot_tell() -> None:
    found = compare(rows([50] * 5), rows([90] * 5))
    assert found.cells[0].verdict is Verdict.NOISE and not found.can_tell
    assert any("too few repetitions" in text for text in summarise_comparison(found))


def test_holm_over_all_cells() -> None:
    """One cell in twenty at p = 2^-7 is no evidence; alone it would be."""
    many = [rows([50] * 8, epsilon=float(e)) for e in range(1, 21)]
    moved = [rows([51] * 8, epsilon=1.0), *many[1:]]
    found = compare([r for c in many for r in c], [r for c in moved for r in c])
    assert found.cells[0].p == 2**-7 and found.cells[0].adjusted == pytest.approx(20 * 2**-7)
    assert found.cells[0].verdict is Verdict.NOISE


def test_overall_blocks_are_repetitions() -> None:
    """Games of a repetition share their table: eight repetitions of two games are eight blocks."""
    before = rows([50] * 8) + rows([50] * 8, epsilon=2.0)
    after = rows([51] * 8) + rows([52] * 8, epsilon=2.0)
    (overall,) = compare(before, after).overall
    assert overall.games == 8 and overall.p == 2**-7 and overall.difference == 1.5
    assert overall.game == "all games" and overall.attack == "rap steps=3"


def test_rows_of_one_side_failures_and_other_tables() -> None:
    def fail(row: Result) -> Result:
        return replace(row, status=Status.FAILED, error="too slow", successes=None)

    before = [*rows([50, 50, 50]), replace(ROW, rep=9), fail(replace(ROW, rep=4))]
    after = [
        *rows([50, 50])[:1],
        replace(ROW, rep=1, table_hash="other"),
        fail(rows([50, 50, 50])[2]),
        replace(ROW, rep=4),
        replace(ROW, attack="new"),
    ]
    found = compare(before, after)
    assert found.cells[0].games == 1 and found.cells[0].low is None
    assert found.elsewhere == 1
    assert len(found.only_before) == 1 and "repetition 9" in found.only_before[0]
    assert len(found.only_after) == 1 and found.only_after[0].startswith("new steps=3 on acs")
    assert [each.error for each in found.appeared] == ["too slow"]
    assert "repetition 2" in found.appeared[0].row and "repetition 4" in found.vanished[0].row
    json.dumps(found.to_json(), allow_nan=False)


def test_options_and_the_newest_row() -> None:
    found = compare(rows([50]), rows([50], attack_options={"steps": 4}))
    assert not found.cells and len(found.only_before) == 1
    newest = compare(rows([50]), [*rows([90]), *rows([50])])
    assert newest.cells[0].difference == 0
    assert not compare([], []).can_tell
    with pytest.raises(ValueError, match="level must be"):
        compare([], [], level=2.0)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_stated() -> None:
    """Nothing changed in 6 cells of 8 pairs, 400 times: an alarm in at most 5 % of them.

    20 are expected at most; more than 36 have a chance below 1e-3 for a binomial.
    """
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(400):
        before, after = (
            [r for e in range(6) for r in rows(rng.integers(40, 60, 8).tolist(), epsilon=e + 1.0)]
            for _ in range(2)
        )
        alarms += any(
            change.verdict in (Verdict.BETTER, Verdict.WORSE)
            for change in compare(before, after).cells
        )
    assert alarms <= 36


def test_pages() -> None:
    evil = "<script>x</script>|`a`"
    before = rows([50] * 8, attack=evil) + rows([50] * 8, attack="=cmd()")
    after = rows([40] * 8, attack=evil) + rows([60] * 8, attack="=cmd()")
    found = compare(before, after)
    assert [each.verdict for each in sort_changes(found.cells)] == [Verdict.WORSE, Verdict.BETTER]
    page = compare_html(found, evil, "after")
    assert "<script" not in page and "&lt;script&gt;" in page and "−10.0" in page
    markdown = compare_markdown(found, evil, "after")
    assert "<script" not in markdown and "`" not in markdown
    lines = list(csv.DictReader(compare_csv(found).splitlines()))
    assert len(lines) == 4 and lines[1]["attack"].startswith("'=cmd()")
    assert float(lines[0]["difference"]) == -10 and lines[0]["verdict"] == "worse"
