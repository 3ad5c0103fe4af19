from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
LDP = ("audit", "ldp", "--mechanism", "grr", "--domain-size", "20")
RAD = ("audit", "counts", "rad")
POSITIVES = ("audit", "counts", "positives")
ONE_RUN = ("audit", "counts", "one-run")


def answer(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_method(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["method"]: each for each in found["estimates"]}


def test_a_correct_client(reconbench: Run) -> None:
    found = answer(reconbench(*LDP, "--epsilon", "2", "--trials", "1e5", "--json"))
    assert found["claimed_epsilon"] == 2 and found["trials"] == 100_000
    methods = by_method(found)
    assert set(methods) == {"rad-grr", "rad-black-box", "ldp-auditor"}
    assert methods["rad-grr"]["lower"] < 2 < methods["rad-grr"]["upper"]
    assert methods["rad-black-box"]["upper"] is None
    assert not any(each["violated"] for each in methods.values())
    assert {each["verdict"] for each in methods.values()} == {"no violation found"}
    assert found["rad"] == pytest.approx(found["success"] - 0.05)
    assert found["replaced_success"] == pytest.approx(0.05) and found["delta"] == 0
    # 99 %, of a difference of two sd 0.0014 at most
    assert found["rad_low"] < found["rad"] < found["rad_high"] < found["rad_low"] + 0.01


def test_a_client_at_twice_its_epsilon(reconbench: Run) -> None:
    wrong = (*LDP, "--epsilon", "1", "--client-epsilon", "2")
    methods = by_method(answer(reconbench(*wrong, "--json")))
    assert all(each["violated"] for each in methods.values())
    assert methods["rad-grr"]["verdict"] == "violates ε = 1 with confidence 99 %"
    assert "violates ε = 1" in reconbench(*wrong, "--quiet").stdout


def test_a_client_of_ones_own(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "leaky.py").write_text("def report(values, rng):\n    return values\n")
    arguments = (*LDP, "--epsilon", "1", "--client", "leaky.py:report", "--trials", "1000")
    found = answer(reconbench(*arguments, "--json", cwd=tmp_path))
    assert found["success"] == 1 and found["client_epsilon"] is None
    assert by_method(found)["rad-grr"]["upper"] is None
    assert all(each["violated"] for each in found["estimates"])
    done = reconbench(*arguments, "--client-epsilon", "2", cwd=tmp_path)
    assert done.returncode == 2 and "not both" in done.stderr


def test_priors(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "prior.csv").write_text("prior\n0.5\n0.25\n0.125\n0.125\n")
    base = ("audit", "ldp", "--epsilon", "2", "--trials", "2e4", "--json")
    for name in ("grr", "ss", "oue"):
        for prior in (("zipf:1.1", "--domain-size", "30"), ("prior.csv",)):
            found = answer(reconbench(*base, "--mechanism", name, "--prior", *prior, cwd=tmp_path))
            exact = by_method(found)[f"rad-{name}"]
            assert exact["lower"] < 2 and (exact["upper"] is None or exact["upper"] > 2)
            assert not exact["violated"]


def test_counts_of_two_worlds(reconbench: Run) -> None:
    both = (*RAD, "--hits", "700", "--trials", "1000", "--domain-size", "10", "--json")
    counted = answer(reconbench(*both, "--replaced-hits", "100", "--replaced-trials", "1000"))
    known = answer(reconbench(*both, "--chance", "0.1", "--mechanism", "grr", "--epsilon", "1"))
    assert [each["method"] for each in counted["estimates"]] == ["rad-black-box"]
    assert counted["estimates"][0]["verdict"] is None
    assert counted["rad_low"] < known["rad_low"] < known["rad_high"] < counted["rad_high"]
    exact, black_box = known["estimates"]
    assert exact["method"] == "rad-grr" and exact["violated"] and exact["upper"] > 3
    # nothing is spent on a world that is known
    assert black_box["lower"] > counted["estimates"][0]["lower"] > 2


def test_counts_of_subsets(reconbench: Run) -> None:
    """A success of 0.4 is e^ε/(2 e^ε + 98) at e^ε = 196."""
    base = (*RAD, "--hits", "400", "--trials", "1000", "--chance", "0.01", "--domain-size", "100")
    found = answer(reconbench(*base, "--mechanism", "ss", "--subset", "2", "--json"))
    assert by_method(found)["rad-ss"]["epsilon"] == pytest.approx(5.2781, abs=1e-4)


def test_counts_of_positives(reconbench: Run) -> None:
    base = (*POSITIVES, "--tp", "900", "--fp", "30", "--trials", "1000", "--json")
    found = answer(reconbench(*base, "--epsilon", "2"))
    (only,) = found["estimates"]
    assert only["violated"] and 2.9 < only["lower"] < 3.4
    more = answer(reconbench(*base, "--fp-trials", "4000"))
    assert more["estimates"][0]["lower"] > only["lower"]


def test_counts_of_one_run(reconbench: Run) -> None:
    base = (*ONE_RUN, "--canaries", "300", "--guesses", "100", "--epsilon", "0.5", "--json")
    methods = by_method(answer(reconbench(*base, "--right", "75")))
    assert set(methods) == {"steinke", "mahloujifar"} and methods["steinke"]["violated"]
    chance = by_method(answer(reconbench(*base, "--right", "50")))
    assert all(each["lower"] == 0 for each in chance.values())
    many = answer(reconbench(*base, "--right", "40", "--values", "10"))
    assert [each["method"] for each in many["estimates"]] == ["mahloujifar"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*RAD, "--hits", "6", "--trials", "5", "--chance", "0.1"), "--hits must be from 0 to"),
        ((*RAD, "--hits", "-1", "--trials", "5", "--chance", "0.1"), "--hits must be from 0 to"),
        ((*RAD, "--hits", "0", "--trials", "0", "--chance", "0.1"), "--trials must be at least 1"),
        ((*RAD, "--hits", "1", "--trials", "5"), "give either --replaced-hits"),
        ((*RAD, "--hits", "1", "--trials", "5", "--replaced-hits", "1"), "give either"),
        (
            (*RAD, "--hits", "1", "--trials", "5", "--chance", "0", "--replaced-hits", "1"),
            "give either --replaced-hits",
        ),
        (
            (*RAD, "--hits", "1", "--trials", "5", "--replaced-hits", "3",
             "--replaced-trials", "2"),
            "--replaced-hits must be from 0 to --replaced-trials = 2, got 3",
        ),
        ((*RAD, "--hits", "1", "--trials", "5", "--chance", "2", "--domain-size", "4"), "[0, 1]"),
        ((*RAD, "--hits", "1", "--trials", "5", "--chance", "0.1"), "--domain-size must be"),
        (
            (*RAD, "--hits", "1", "--trials", "5", "--chance", "0.1", "--domain-size", "10",
             "--mechanism", "rappor"),
            "unknown mechanism 'rappor'",
        ),
        (
            (*RAD, "--hits", "1", "--trials", "5", "--chance", "0.1", "--domain-size", "10",
             "--mechanism", "grr", "--subset", "2"),
            "--subset needs --mechanism ss, got grr",
        ),
        (
            (*RAD, "--hits", "1", "--trials", "5", "--chance", "0.1", "--domain-size", "10",
             "--mechanism", "ss", "--subset", "10"),
            "subset must be between 1 and 9",
        ),
        ((*POSITIVES, "--tp", "11", "--fp", "0", "--trials", "10"), "--tp must be"),
        ((*POSITIVES, "--tp", "1", "--fp", "-2", "--trials", "10"), "--fp must be"),
        ((*POSITIVES, "--tp", "1", "--fp", "2", "--trials", "10", "--fp-trials", "1"), "--fp must"),
        ((*ONE_RUN, "--canaries", "5", "--guesses", "6", "--right", "1"), "--guesses must be"),
        ((*ONE_RUN, "--canaries", "5", "--guesses", "5", "--right", "6"), "--right must be"),
        ((*ONE_RUN, "--canaries", "0", "--guesses", "0", "--right", "0"), "--canaries must be"),
        ((*ONE_RUN, "--canaries", "5", "--guesses", "0", "--right", "0"), "--guesses must be"),
        (
            (*ONE_RUN, "--canaries", "5", "--guesses", "5", "--right", "1", "--values", "1"),
            "values must be at least 2",
        ),
        ((*LDP, "--epsilon", "1", "--trials", "0"), "--trials must be a whole number"),
        ((*LDP, "--epsilon", "1", "--trials", "2.5"), "--trials must be a whole number"),
        ((*LDP, "--epsilon", "-1"), "--epsilon must be"),
        ((*LDP, "--epsilon", "nan"), "--epsilon must be"),
        ((*LDP, "--epsilon", "1", "--confidence", "1"), "--confidence must be"),
        ((*LDP, "--epsilon", "1", "--delta", "1"), "--delta must be"),
        ((*LDP, "--epsilon", "1", "--prior", "zipf:many"), "zipf:S needs"),
        ((*LDP, "--epsilon", "1", "--prior", "nowhere.csv"), "cannot read nowhere.csv"),
        ((*LDP, "--epsilon", "1", "--client", "nowhere.py:report"), "no plugin file"),
        (("audit", "ldp", "--mechanism", "x", "--epsilon", "1", "--domain-size", "5"), "unknown"),
        (("audit", "ldp", "--mechanism", "grr", "--epsilon", "1"), "--domain-size must be"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(
    reconbench: Run, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = reconbench(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [LDP[:2], RAD, POSITIVES, ONE_RUN])
def test_help_teaches_by_example(reconbench: Run, command: tuple[str, ...]) -> None:
    shown = reconbench(*command, "--help").stdout
    assert "Examples:" in shown and f"reconbench {' '.join(command)} --" in shown


def test_games_show_the_advantage_beside_its_ceiling(reconbench: Run) -> None:
    game = ("game", "--dataset", "acs", "--targets", "SEX", "--epsilon", "3", "--n", "10")
    more = ("--mechanism", "grr", "--attack", "prior", "--advantage", "5", "--reps", "1")
    shown = reconbench(*game, *more).stdout
    assert "prior: advantage 0.000 over the same attack on 5 replaced" in shown
    assert "at most 0." in shown and "(Theorem 4.3)" in shown
