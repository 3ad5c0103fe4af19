"""A leaderboard of ten thousand rows: it is made, and opens, at a cost that grows with its rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports import leaderboard_csv, leaderboard_html

FEW, MANY = 1_000, 10_000
# Ten times the rows may cost ten times the time, with half as much again for noise and sorting.
LINEAR = 1.5 * MANY / FEW
LARGEST = 6_000_000


def summaries(count: int) -> list[Summary]:
    """Four attacks a game, every number another one."""
    return [
        Summary(
            dataset=f"data {place // 1000}",
            data_hash="0" * 64,
            targets=(f"column {place // 16 % 50}",),
            known=("SEX", "MAR"),
            n=100,
            epsilon=float(1 + place // 4 % 4),
            delta=1e-5,
            mechanism="gaussian-marginals",
            guarantee="0.268-GDP, replace-one",
            metric="exact",
            adversary="realistic",
            attacker_prior="same",
            attack=("prior", "rap", "posterior", "linear")[place % 4],
            attack_options={},
            seed=place // 800,
            repetitions=20,
            failures=0,
            skipped=0,
            error=None,
            success=50 + place % 7 + place / count,
            success_low=45 + place / count,
            success_high=57 + place / count,
            baseline=47 + place / count,
            baseline_expected=48 + place / count,
            ceilings={
                "thm35": {"0.05": 70 + place / count, "0.5": 80.0, "0.95": 90 + place / count},
                "fdp-recursion": {"0.05": 60 + place / count, "0.5": 70.0, "0.95": 80.0},
                "prior-exact": {"mean": 60 + place / count},
            },
            above_ceiling=0.0,
            seconds=0.01 + place / count,
            best_possible=55.0 + place / count,
            best_possible_converged=True,
            outcomes={rep: (48 + (place * rep) % 11, 47 + rep % 5) for rep in range(20)},
            reliability={
                str(tenth): [100.0 + place % 97, 10 * tenth + 5.0, 5.0 + place % 83]
                for tenth in range(4, 10)
            },
            above_proved=0.0,
            expected_success=50 + place % 7 + place / count,
            expected_success_low=49 + place / count,
            expected_success_high=58 + place / count,
            scored_by="exact posterior",
            scores={rep: (48.5 + (place * rep) % 11, 48 + place / count) for rep in range(20)},
        )
        for place in range(count)
    ]


def test_making_a_leaderboard_is_linear_in_its_rows(
    benchmark: Any, least_cpu: Callable[..., list[float]]
) -> None:
    few, many = summaries(FEW), summaries(MANY)
    page = leaderboard_html(many, "many", {})
    assert len(page.encode()) < LARGEST

    def made(rows: list[Summary]) -> Callable[[], object]:
        return lambda: (leaderboard_csv(rows), leaderboard_html(rows, "rows", {}))

    small, large = least_cpu(3, made(few), made(many))
    benchmark.extra_info["CPU seconds for 10,000 rows"] = large
    benchmark.extra_info["10,000 rows against 1,000"] = large / small
    benchmark.pedantic(made(few), rounds=1)
    assert large < LINEAR * small


def test_opening_a_leaderboard_is_linear_in_its_rows(benchmark: Any, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        reason = "no Chromium found: `apt-get install chromium`"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    paths = {}
    for count in (FEW, MANY):
        paths[count] = tmp_path / f"{count}.html"
        paths[count].write_text(
            leaderboard_html(summaries(count), "rows", {}), encoding="utf-8", newline=""
        )
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    best = dict.fromkeys(paths, float("inf"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        for _ in range(4):
            for count, path in paths.items():
                page = browser.new_page()
                page.goto(path.as_uri())
                page.wait_for_selector("html[data-ready]")
                # from the start of loading until table and filters answer
                best[count] = min(best[count], page.evaluate("performance.now()") / 1000)
                page.close()
        browser.close()
    benchmark.extra_info["seconds until 10,000 rows answer"] = best[MANY]
    benchmark.extra_info["10,000 rows against 1,000"] = best[MANY] / best[FEW]
    benchmark.pedantic(lambda: None, rounds=1)
    assert best[MANY] < LINEAR * best[FEW]
