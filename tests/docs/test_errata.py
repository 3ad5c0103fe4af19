"""Errata: every entry is complete, its counterexample runs, and contradicts what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generate.errata import COUNTEREXAMPLES, ERRATA, Erratum, main

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
BY_NAME = {erratum.name: erratum for erratum in ERRATA}
# Numbers of the output in order: index of what is true, of what is printed, and of the correction.
TOO_LOW = {
    "swanberg-4.2": (0, 1, 2),
    "swanberg-3.2": (0, 1, None),
    "kulynych-B.1": (0, 1, 2),
    "guerra-balboa-5.2": (0, 1, 2),
    "guerra-balboa-5.3": (0, 1, 2),
    "guerra-balboa-4.4": (0, 1, 2),
    "guerra-balboa-4.5": (0, 1, 2),
    "guerra-balboa-5.5": (1, 2, 3),
}


def numbers(name: str) -> list[float]:
    """The numbers in the last line of what a counterexample prints."""
    last = BY_NAME[name].run().splitlines()[-1]
    return [float(each) for each in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", last)]


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.name)
def test_an_erratum_is_complete_and_its_counterexample_is_on_the_page(erratum: Erratum) -> None:
    assert erratum.paper and erratum.place and erratum.printed and erratum.holds
    page, output = PAGE.read_text(encoding="utf-8"), erratum.run()
    shown = page[page.index(f"`{erratum.name}`") :].partition("\n### ")[0]
    assert output and f"```python\n{erratum.code}```" in shown
    assert f"```text\n{output}```" in shown
    assert len(erratum.code.splitlines()) <= 25


def test_every_counterexample_belongs_to_one_erratum() -> None:
    scripts = [erratum.script for erratum in ERRATA]
    assert sorted(scripts) == sorted(COUNTEREXAMPLES.glob("*.py"))
    assert len(BY_NAME) == len(ERRATA)


@pytest.mark.parametrize("name", TOO_LOW)
def test_a_printed_upper_bound_is_exceeded_and_the_corrected_one_is_not(name: str) -> None:
    found = numbers(name)
    true, printed, corrected = TOO_LOW[name]
    assert found[printed] < found[true] - 1e-3
    assert corrected is None or found[corrected] >= found[true]


@pytest.mark.parametrize("name", ["guerra-balboa-eq5", "guerra-balboa-4.7"])
def test_a_printed_equality_is_only_an_upper_bound(name: str) -> None:
    true, printed = numbers(name)
    assert printed > true + 1e-3


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "swanberg-3.5",
            [
                "guess with 0, 1, 2 wrong bits: 0.5541, 0.2038, 0.0382",
                "delta at epsilon = 1: 0.1000",
                "true 0.9618, printed 0.9421, corrected 1.0000",
            ],
        ),
        (
            "kulynych-D.1",
            [
                "q = 1 always: true 1.0000, printed 0.7470",
                "coin: true 0.8500, printed 0.7000, corrected 0.8500",
            ],
        ),
        (
            "kulynych-figure-5",
            [
                "analytic information: mixed units 0.852, nats throughout 0.672",
                "exact information: 0.622; 1 - f(baseline): 0.691",
            ],
        ),
        (
            "kulynych-figure-4",
            [
                "US: rounded up to 0.001 32.9 % lower, split between grid points 33.8 %",
                "block: rounded up to 0.001 31.5 % lower, split between grid points 34.2 %",
            ],
        ),
        ("guerra-balboa-figure-5", ["alpha/4 a side: 12.025", "alpha/2 a side: 12.148"]),
        ("yildirim-3", ["power: printed 0.0000, corrected 0.3724"]),
        (
            "riess-IV.1",
            ["5 rows: variance 5.02 sigma^2 |X|^2", "25 rows: variance 1.00 sigma^2 |X|^2"],
        ),
        ("riess-IV.6", ["P[MSE <= 1/N]: true 1 (guess 0), printed 2e-204"]),
        ("riess-IV-C", ["summed over k: printed 5e-24, corrected 1.0000"]),
        ("riess-A.2", ["records above the bound: 50 %, printed 0 %"]),
    ],
)
def test_what_the_other_counterexamples_print(name: str, lines: list[str]) -> None:
    assert BY_NAME[name].run().splitlines() == lines


def test_a_bias_doubles_the_variance_however_many_rows() -> None:
    """‖X‖ = 1: σ²‖X‖² without a bias, σ²(‖X‖² + 1) with one."""
    lines = BY_NAME["riess-eq37"].run().splitlines()
    assert [line.split()[-2] for line in lines] == ["1.00", "1.00", "2.00", "2.00"]


def test_a_deep_network_falls_short_at_every_noise() -> None:
    lines = BY_NAME["riess-figure-4"].run().splitlines()
    small, large, assumed_small, assumed_large = (float(line.split()[4]) for line in lines)
    assert small == pytest.approx(large, rel=0.05)
    assert assumed_small > 100 > 2 > assumed_large


def test_the_census_number_of_the_paper_is_no_erratum() -> None:
    """A yes/no status of prevalence 1e-4 has the baseline 0.9999, not 1e-4."""
    assert not any("census" in erratum.place.lower() for erratum in ERRATA)
    assert "**1.05 pp**" not in PAGE.read_text(encoding="utf-8")


def test_a_reader_can_run_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    main(["swanberg-4.2"])
    assert "printed 0.5761" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no erratum 'swanberg'; NAME is one of"):
        main(["swanberg"])
