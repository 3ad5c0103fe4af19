"""The results page: what it says follows from its data file, and the committed one is its page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from generate.rendering import count, p_is
from generate.results_data import COLUMNS, FILE, ResultsError
from generate.results_page import FIGURE, Results, draw_gap, main, render_page
from reconbench.reports.text.number_format import listed, name, number, p_value, percent, signed

Line = dict[str, Any]
Make = Callable[..., Line]
DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"
RUN = "run the suites, then python docs/generate results_data and results_page"


def cell(make: Make, **more: object) -> list[Line]:
    """Eight games: rap 40, posterior 45 (expects 45), informed 55, prior-exact 60."""
    wobble = (2, -2, 1, -1, 3, -3, 0, 0)
    return [
        make("prior", tuple(42 + w for w in wobble), **more),
        make("rap", tuple(40 + w for w in wobble), **more),
        make(
            "posterior",
            tuple(45 + w for w in wobble),
            best=(45.0,) * 8,
            best_error=0.05,
            exact=(60.0,) * 8,
            **more,
        ),
        make(
            "informed",
            tuple(55 + w for w in wobble) * 2,
            best=tuple(55.0 + w for w in wobble) * 2,
            exact=(60.0,) * 16,
            best_error=0.0,
            **{**more, "adversary": "informed"},
        ),
    ]


@pytest.fixture
def lines(make: Make) -> list[Line]:
    noiseless = [
        make(attack, (100,) * 8, epsilon=inf, best=best, exact=best)
        for attack, best in (("rap", ()), ("posterior", (100.0,) * 8))
    ]
    return [
        *cell(make),
        *noiseless,
        *cell(make, column="AGE|P", values=10, epsilon=10.0),
    ]


def results_of(lines: list[Line]) -> Results:
    return Results(pd.DataFrame(lines, columns=COLUMNS))


def changed(lines: list[Line], attack: str, **values: object) -> list[Line]:
    """The lines with other values for one attack under noise."""
    return [
        each | values if each["attack"] == attack and each["epsilon"] < inf else each
        for each in lines
    ]


def page_of(lines: list[Line]) -> str:
    """The page on one line, as its sentences run on."""
    return " ".join(render_page(results_of(lines)).split())


def test_the_split_is_stated(lines: list[Line]) -> None:
    text = page_of(lines)
    assert "**Mostly the bound: 62 % of the gap**" in text
    assert "over all 2 cells" in text
    assert "the threat model 25 % and the attack 12 %" in text
    assert "removes 80 % of what the bound leaves open" in text
    assert "8 games for each of 3 attacks" in text
    assert "16 games for the informed optimum" in text
    assert "no games failed or were skipped" in text
    assert "RAP gets less than the best guess from the prior alone in all 2 cells" in text


def test_the_verdict_follows_the_data(lines: list[Line]) -> None:
    weak = changed(lines, "rap", successes=(1,) * 8)
    assert "**Mostly the attack: 56 % of the gap**" in page_of(weak)
    low = [each | {"published_50": 56.0} for each in lines]
    assert "**Mostly the threat model: 62 % of the gap**" in page_of(low)


def test_wins_and_losses_are_counted(lines: list[Line]) -> None:
    text = page_of(lines)
    assert "significantly behind in none of the 5 comparisons and significantly ahead in" in text
    assert "ahead in 4 of the 5 comparisons" in text
    assert "Its mean is nowhere the lower one." in text
    assert "| 42.0 ▲ | 40.0 ▲ | 45.0 | 45.0 |" in text
    better = changed(lines[:4], "rap", successes=(60,) * 8) + lines[4:]
    text = page_of(better)
    assert "behind in 1 of the 5 comparisons (acs SEX, ε = 1, against rap)" in text
    assert "60.0 ▼" in text


def test_games_without_noise(lines: list[Line]) -> None:
    text = page_of(lines)
    assert "reconstructs every record of every game in the only column" in text
    assert "Means over columns: posterior 100.0, rap 100.0." in text
    noisy = [each for each in lines if each["epsilon"] < inf]
    assert "No games without noise are in the data." in page_of(noisy)


def test_calibration_is_judged(lines: list[Line]) -> None:
    assert "posterior, with noise: no sign that an expectation is off" in page_of(lines)
    off = changed(lines, "posterior", best=(52.0,) * 8)
    assert "**the expectations do not hold**" in page_of(off)


def test_binary_columns_are_marked(lines: list[Line]) -> None:
    text = page_of(lines)
    assert "| acs SEX, ε = 1 | **2** | 16 |" in text
    assert "Binary columns (**2**): optimum − ceiling is −5.00 records" in text
    assert "above the ceiling by more than 1.96 standard errors in none of the 2 cells" in text


def test_a_fallback_is_marked(lines: list[Line]) -> None:
    doubt = changed(lines, "posterior", unconverged=(3,))
    text = page_of(doubt)
    assert "in every game of none of the 2 cells; elsewhere the mean success of `posterior`" in text
    assert "45.0*" in text
    assert "45.0 (1 not converged)" in text


def test_names_stay_text(make: Make) -> None:
    bad = "a|b</svg><script>alert(1)</script>"
    results = results_of(cell(make, column=bad, dataset="`_*"))
    text = render_page(results)
    assert "<script" not in text
    assert "a&#124;b" in text
    root = ET.fromstring(draw_gap(results))
    assert not list(root.iter(f"{SVG}script"))


def test_the_figure_has_a_bar_a_cell_and_a_text_for_each(lines: list[Line]) -> None:
    text = draw_gap(results_of(lines))
    root = ET.fromstring(text)
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    whole = "acs SEX, ε = 1: prior 50.0, attack 40.0, realistic optimum 45.0, informed optimum 55.0"
    assert sum(each.startswith(whole) for each in titles) == 1
    assert sum(each.startswith("acs SEX, ε = 1: threat model +10.0") for each in titles) == 1
    (desc,) = [each.text or "" for each in root.iter(f"{SVG}desc")]
    assert whole in desc
    assert set(root.attrib["aria-labelledby"].split()) <= {each.get("id") for each in root}
    assert re.findall(r"\w+://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    right = float(root.attrib["width"])
    bars = [each for each in root.iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
    assert len(bars) == 8
    assert all(float(b.attrib["x"]) + float(b.attrib["width"]) <= right for b in bars)


def test_other_data_is_refused(lines: list[Line], make: Make) -> None:
    with pytest.raises(ResultsError, match="run the suites attacks and optimum"):
        results_of([make("rap", (1, 2))])
    with pytest.raises(ResultsError, match="one n, k"):
        results_of([*lines, make("rap", (1, 2), n=50)])


def test_the_command_writes_page_and_figure(
    tmp_path: Path, lines: list[Line], capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "results.csv"
    data.write_text(FILE.to_csv(pd.DataFrame(lines, columns=COLUMNS)), encoding="utf-8")
    assert main([str(data), "--out", str(tmp_path / "docs")]) == 0
    written = sorted(each.name for each in (tmp_path / "docs").rglob("*") if each.is_file())
    assert written == ["results-gap.svg", "results.md"]
    assert (tmp_path / "docs" / "results.md").read_text() == render_page(results_of(lines))
    assert main([str(tmp_path / "none.csv"), "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_the_committed_page_is_what_its_data_say() -> None:
    data = DOCS / "results.csv"
    assert data.is_file(), f"docs/results.csv is missing: {RUN}"
    results = Results(FILE.read_csv(data.read_text(encoding="utf-8")))
    text = (DOCS / "datasets.csv").read_text(encoding="utf-8")
    many = Results(FILE.read_csv(text), expected=True)
    assert (DOCS / "results.md").is_file(), f"docs/results.md is missing: {RUN}"
    assert (DOCS / "results.md").read_text(encoding="utf-8") == render_page(results, many), RUN
    assert (DOCS / FIGURE).read_text(encoding="utf-8") == draw_gap(results), RUN


def test_wording() -> None:
    assert [count(k, 3, "cells") for k in (0, 1, 3)] == [
        "none of the 3 cells",
        "1 of the 3 cells",
        "all 3 cells",
    ]
    assert count(1, 1, "cells") == "the only cell"
    assert count(0, 0, "cells") == "none (cells: 0)"
    assert [listed(["a", "b", "c"][:k]) for k in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert (number(-0.04), number(-1.25), number(None)) == ("0.0", "−1.2", "–")
    assert (signed(0.04), signed(1.5), signed(-1.5)) == ("0.0", "+1.5", "−1.5")
    assert (percent(1, 3), percent(1, 0)) == ("33 %", "–")
    assert [p_value(p) for p in (1e-6, 0.001234, 0.5)] == ["< 0.0001", "0.0012", "0.50"]
    assert [p_is(p) for p in (1e-6, 0.5)] == ["p\u00a0<\u00a00.0001", "p\u00a0=\u00a00.50"]
    assert name("a\nb|c<d>") == "a b&#124;c&lt;d&gt;"
