"""The overview as one SVG file, and the figures of ceilings and audits."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

from reconbench.reports.figures.bound_curves import draw_ceilings, draw_intervals
from reconbench.reports.figures.static_overview import draw_static_overview
from reconbench.reports.leaderboard.columns.dictionary import Value

SVG = "{http://www.w3.org/2000/svg}"


def row(**changed: Value) -> dict[str, Value]:
    usual: dict[str, Value] = {
        "dataset": "acs", "targets": "SEX", "known": 15, "known_columns": "", "epsilon": 1.0,
        "attack": "rap", "attack_options": "{}", "n": 100, "baseline_expected": 60.0,
        "expected_success": 62.0, "expected_success_low": 61.0, "expected_success_high": 63.0,
        "best_possible": 63.0, "tightest_mean": 70.0,
    }  # fmt: skip
    return usual | changed


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter(f"{SVG}text")]


def test_a_panel_per_budget_and_a_mark_per_attack() -> None:
    rows = [
        row(attack=attack, epsilon=epsilon, targets=target)
        for attack in ("rap", "posterior", "prior")
        for epsilon in (1.0, 10.0)
        for target in ("SEX", "MAR")
    ]
    svg = draw_static_overview(rows, ["rap", "posterior", "prior"])
    assert svg is not None
    shown = texts(svg)
    assert {"ε = 1", "ε = 10", "SEX", "MAR", "rap", "posterior", "best possible"} <= set(shown)
    # guessing is a line, not an attack
    assert shown.count("prior") == 0 and "guessing from the prior" in shown
    circles = list(fromstring(svg).iter(f"{SVG}circle"))
    assert len(circles) == 2 * 2 * 2 + 2  # and two in the legend


def test_what_is_not_known_is_not_drawn() -> None:
    bare = row(best_possible=None, tightest_mean=None, expected_success_low=None)
    svg = draw_static_overview([bare], ["rap"])
    assert svg is not None and fromstring(svg).tag == f"{SVG}svg"
    assert draw_static_overview([row(expected_success=None)], ["rap"]) is None


def test_ceilings_and_intervals() -> None:
    ceilings = {"thm35": {"0.5": 78.0, "0.95": 84.0}, "mean": {"mean": 80.0}}
    svg = draw_ceilings("t", ceilings, 56.0, 100)
    assert {"50 %", "95 %", "mean", "thm35", "expected without a release"} <= set(texts(svg))
    svg = draw_intervals("t", "ε", {"a": (1.0, 2.0, float("inf")), "b": (0.0, 0.0, 0.5)}, 1.5)
    assert {"claimed", "a", "b"} <= set(texts(svg))
    assert "inf" not in svg and "nan" not in svg
    assert draw_intervals("t", "ε", {"a": (0.0, 0.0, float("inf"))}).startswith("<svg")
