"""Figures of the documentation: drawn from what they claim, and as committed."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from generate import audit_ldp, figures
from generate.gradient_figures import (
    DIMENSIONS,
    GAMMA,
    ErrorQuantiles,
    corridor_widths,
    draw_errors,
    needed_noise,
    simulated_points,
)
from reconbench.bounds.audit import LdpAuditor
from reconbench.bounds.gradients import scratch_sigma

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {figure.__name__.replace("_", "-") for figure in figures.FIGURES}
SLOW = "gradient-errors"


def committed(name: str) -> str:
    return (DOCS / "img" / f"{name}.svg").read_text(encoding="utf-8")


def test_every_committed_figure_has_a_script() -> None:
    # results-gap is held by the test of its page
    assert {path.stem for path in (DOCS / "img").glob("*.svg")} == NAMES | {"results-gap"}


@pytest.mark.parametrize("name", sorted(NAMES - {SLOW}))
def test_a_committed_figure_is_what_the_script_draws(tmp_path: Path, name: str) -> None:
    figures.main([name, "--out", str(tmp_path)])
    written = tmp_path / f"{name}.svg"
    assert list(tmp_path.iterdir()) == [written]
    assert written.read_text(encoding="utf-8") == committed(name)


@pytest.mark.slow
def test_the_committed_figure_of_errors_is_what_the_script_draws(tmp_path: Path) -> None:
    figures.main([SLOW, "--out", str(tmp_path)])
    assert (tmp_path / f"{SLOW}.svg").read_text(encoding="utf-8") == committed(SLOW)


def test_an_unknown_figure_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        figures.main(["corridors"])
    assert "no figure 'corridors': give some of guarantees, risk," in capsys.readouterr().err


def test_the_corridor_is_drawn_from_the_bounds() -> None:
    for error in (0.1, 0.5, 0.9):
        assert needed_noise(error) == pytest.approx(scratch_sigma(error, GAMMA, 1))
    for dimension in DIMENSIONS:
        widths = corridor_widths(dimension)
        assert len(widths) == 120 and all(math.isfinite(width) for _, width in widths)


def test_the_figure_of_errors_shows_the_suites() -> None:
    """Every point once, over the law's mean: bands that do not depend on σ, boxes around them."""
    points = simulated_points()
    assert len(points) == 27 + 15
    quantiles = [ErrorQuantiles.of(points[index]) for index in (0, 8)]
    assert [each.sigma for each in quantiles] == [0.001, 10.0]
    for each in quantiles:
        assert each.law["50"] == pytest.approx(quantiles[0].law["50"])
        assert 0.8 < each.seen["50"] / each.law["50"] < 1.2
        assert each.seen["05"] < each.seen["25"] < each.seen["75"] < each.seen["95"]
    assert "the layer alone, N = 4" in draw_errors(quantiles)


def audits() -> list[dict[str, str]]:
    with audit_ldp.TABLE.open(newline="") as text:
        return list(csv.DictReader(text))


def test_the_table_of_audits_is_what_the_game_gives(tmp_path: Path) -> None:
    """Two settings are played again, all trials of them."""
    again = tmp_path / "again.csv"
    chosen = ("--mechanism", "grr", "--epsilon", "12", "--epsilon", "14")
    audit_ldp.main(["--out", str(again), *chosen])
    assert set(again.read_text().splitlines()) <= set(audit_ldp.TABLE.read_text().splitlines())


def test_the_audits_show_what_the_page_claims() -> None:
    """GRR and SS up to ε = 14 at m = 3,052: RAD holds ε, LDP-Auditor stays under its cap."""
    lines = audits()
    assert {line["values"] for line in lines} == {"3052"}
    assert {line["trials"] for line in lines} == {"1000000"}
    cap = LdpAuditor().cap(10**6)
    for line in lines:
        epsilon, low, high = float(line["epsilon"]), float(line["lower"]), float(line["upper"])
        if line["method"] == "ldp-auditor":
            assert low <= cap < 12.15
        elif line["mechanism"] != "oue" and line["method"] != "rad-black-box" and epsilon <= 14:
            assert low <= epsilon <= high and high - low < 0.35
    assert max(float(line["lower"]) for line in lines if line["method"] != "ldp-auditor") > 13.8


def test_the_page_prints_the_table_of_audits() -> None:
    page = (DOCS / "audit.md").read_text(encoding="utf-8")
    by_audit = {(line["mechanism"], line["epsilon"], line["method"]): line for line in audits()}

    def shown(number: str) -> str:
        return "∞" if number == "inf" else f"{float(number):.2f}"

    for epsilon in {key[1] for key in by_audit}:
        cells = []
        for name in audit_ldp.MECHANISMS:
            exact = by_audit[name, epsilon, f"rad-{name}"]
            cells.append(f"[{shown(exact['lower'])}, {shown(exact['upper'])}]")
            cells.append(shown(by_audit[name, epsilon, "ldp-auditor"]["lower"]))
        assert f"| {epsilon} | {' | '.join(cells)} |" in page
