"""`assess` and `fit`: the report of the command, from tables in the forms that people have."""

from __future__ import annotations

import json
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reconbench as rb
from reconbench.benchmarks.assess.games import tasks
from reconbench.datasets.atomic_files import write_json_atomic

FAST: dict[str, Any] = {"epsilon": 1, "epsilons": [1, 5], "k": 2, "reps": 2}


def test_it_is_the_report_of_the_command(
    people: pd.DataFrame, tmp_path: Path, command: Callable[..., str]
) -> None:
    domain = rb.fit(people, structure="independent").domain
    people.to_csv(tmp_path / "people.csv", index=False)
    write_json_atomic(tmp_path / "domain.json", domain.to_json())
    result = rb.assess(people, "MAR", known="AGEP,SEX", max_risk=0.1, **FAST)
    command(
        "assess", tmp_path / "people.csv", "--domain", tmp_path / "domain.json", "--targets", "MAR",
        "--known", "AGEP,SEX", "--epsilon", 1, "--epsilons", "1,5", "--k", 2, "--reps", 2,
        "--max-risk", 0.1, "--quiet", "--out", tmp_path / "out",
    )  # fmt: skip
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    for key in ("targets", "known", "question", "mechanism", "budgets", "exposure", "proved"):
        assert json.loads(json.dumps(result.document[key])) == found[key], key


def test_a_result_shows_and_saves_itself(people: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = rb.assess(people, targets=["MAR"], out=out, **FAST)
    assert {path.name for path in out.iterdir()} == {
        "report.json", "report.md", "report.html", "prior.bif", "prior.json", "results.sqlite",
        "games",
    }  # fmt: skip
    assert repr(result) == "AssessResult(60 records, MAR at ε = 1, 5: confidential)"
    assert result.frame.attack.tolist() == ["prior", "posterior"] * 2
    assert result.frame.epsilon.tolist() == [1, 1, 5, 5]
    row = result.frame.iloc[1]
    assert row.gain == pytest.approx(row.success - row.guessed) and row.most_gain > 0
    assert set(result.exposed.columns) >= {"column", "label", "records", "guessed", "success"}
    assert result.exposed.records.min() >= 10 and len(result.rows) == 2 * 2 * 2
    page = result._repr_html_()
    assert "<svg" in page and "Without any release" in page
    assert result.plot().svg.startswith("<svg")
    again = rb.assess(people, "MAR", prior=out / "prior.bif", **FAST)
    assert again.frame.equals(result.frame)
    net = rb.load_prior(out / "prior.bif")
    assert rb.assess(people, "MAR", prior=net, **FAST).frame.equals(result.frame)


def test_tables_in_all_forms(people: pd.DataFrame, tmp_path: Path) -> None:
    net = rb.fit(people)
    table = rb.Table.from_pandas(people, net.domain)
    people.to_csv(tmp_path / "people.csv", index=False)
    write_json_atomic(tmp_path / "domain.json", net.domain.to_json())
    labels = {each.name: list(each.labels) for each in net.domain}
    for again in (
        rb.fit(table),
        rb.fit(people, net.domain),
        rb.fit(people.astype(str), tmp_path / "domain.json"),
        rb.fit(tmp_path / "people.csv", str(tmp_path / "domain.json")),
        rb.fit(tmp_path / "people.csv", net.domain),
    ):
        assert again.sha256() == net.sha256()
    assert rb.fit(people.astype(str), labels).domain.names == net.domain.names


def test_drafts_are_worth_a_warning(people: pd.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rb.fit(people, structure="independent")
    numbers = people.assign(AGEP=np.arange(60) % 7, pid=np.arange(1000, 1060), wtfinl=1.5)
    with pytest.warns(rb.DraftedDomainWarning, match=r"AGEP are drafted.*left out: pid") as caught:
        net = rb.fit(numbers, structure="independent")
    assert net.domain.names == ("AGEP", "SEX", "MAR", "MIL")
    assert caught[0].filename == __file__


def test_held_out_records_and_generators(people: pd.DataFrame) -> None:
    others = rb.load_prior("acs").sample(40, np.random.default_rng(9))
    outside = others.project(list(people.columns)).to_pandas()
    result = rb.assess(
        people, "MAR", epsilon=9, epsilons=9, reps=1, mechanism=("pgm", {"structure": "star"}),
        held_out=outside,
    )  # fmt: skip
    assert result.document["mechanism"]["name"] == "pgm"
    assert result.document["source"]["held_out"] == "the DataFrame"
    assert "not in the table" in result.summary()
    assert result.plot().svg.startswith("<svg")


def test_records_with_weights_in_households(people: pd.DataFrame, tmp_path: Path) -> None:
    """Columns beside the table: nothing of them is released, known or guessed."""
    rng = np.random.default_rng(4)
    beside = people.assign(W=rng.uniform(1, 3, 60), HOUSEHOLD=np.arange(60) // 4)
    given: dict[str, Any] = {"rho": 0.5, "rhos": [0.5], "k": 2, "reps": 1, "domain": None}
    file = tmp_path / "records.csv"
    result = rb.assess(
        beside, "MAR", weight_column="W", group_column="HOUSEHOLD", per_record=file, **given
    )
    assert list(result.document["known"]) == ["AGEP", "SEX", "MIL"]
    assert result.document["groups"] == {"column": "HOUSEHOLD", "groups": 15, "largest": 4}
    assert result.frame.rho.tolist() == pytest.approx([0.5, 0.5])
    assert (result.frame.group_gain > result.frame.any_prior_gain).all()
    assert "of the people that your 60 records stand for" in result.summary()
    assert "(ρ = 0.5)" in result.summary() and "the largest has 4 records" in result.summary()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = pd.read_csv(file)
    assert lines.columns[0].startswith("CONFIDENTIAL") and len(lines) == 60
    shares = beside.W / beside.W.sum()
    success = float((lines["share right with the release"] * shares).sum())
    assert success == pytest.approx(result.frame.success[1])
    table = rb.Table.from_pandas(people, rb.fit(people).domain)
    assert rb.assess(table, "MAR", **given).frame.gain.tolist() != result.frame.gain.tolist()


def test_a_prior_from_other_records(people: pd.DataFrame, tmp_path: Path) -> None:
    fast = {**FAST, "reps": 1}
    sample = rb.load_prior("acs").sample(200, np.random.default_rng(7))
    others = sample.project(list(people.columns)).to_pandas()
    result = rb.assess(people, "MAR", prior_from=others, **fast)
    source = result.document["source"]
    assert (source["prior_table"], source["prior_records"]) == ("the DataFrame", 200)
    fitted = rb.fit(others)
    assert rb.assess(people, "MAR", prior=fitted, **fast).frame.equals(result.frame)
    split = rb.assess(people, "MAR", prior_split=0.5, per_record=tmp_path / "r.csv", **fast)
    source = split.document["source"]
    assert (source["records"], source["prior_records"]) == (30, 30) and not source["fitted"]
    assert "a random 50 % of the DataFrame" in source["prior_table"]
    kept = pd.read_csv(tmp_path / "r.csv").iloc[:, 0]
    assert kept.is_monotonic_increasing and kept.max() > 30
    again = rb.assess(people, "MAR", prior_split=0.5, **fast)
    assert again.frame.equals(split.frame)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 1, "rho": 1}, "needs epsilon, the budget you have in mind, or rho"),
        ({"epsilon": None}, "needs epsilon"),
        ({"epsilon": None, "rho": 0.1, "delta": 0}, "needs a delta"),
        ({"weight_column": "WEIGHT"}, "has no column 'WEIGHT'; it has .*'W'"),
        ({"weight_column": "SEX"}, "weights must be numbers > 0, got"),
        ({"weight_column": "MAR"}, "weight_column 'MAR' is about records"),
        ({"weight_column": 3}, "weight_column must be a text, got 3"),
        ({"group_column": "HOME"}, "has no column 'HOME'"),
        ({"prior_split": 1.0}, "prior_split must be a number > 0 and < 1"),
        ({"prior_split": 0.001}, "leaves nothing to fit or to assess"),
        ({"prior_split": 0.5, "prior": "acs"}, "at most one of prior, prior_from and prior_split"),
        ({"per_record": "none/such/r.csv"}, None),
    ],
)
def test_wrong_details(
    changed: dict[str, Any], message: str | None, people: pd.DataFrame, tmp_path: Path
) -> None:
    beside = people.assign(W=1.5)
    given: dict[str, Any] = {"epsilon": 1, "epsilons": [1], "k": 2, "reps": 1}
    if changed.get("rho") or changed.get("epsilon", 1) is None:
        given["epsilons"] = None
    if message is None:
        (tmp_path / "none").write_text("a file")
        changed, message = {"per_record": tmp_path / "none" / "r.csv"}, "cannot make the folder"
    with pytest.raises(ValueError, match=message):
        rb.assess(beside, "MAR", **{**given, **changed})


def test_an_interrupt_keeps_the_games(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, played = tasks._play, 0

    def stop_at_third(task: tasks.Task) -> tasks.Outcome:
        nonlocal played
        played += 1
        if played == 3:
            raise KeyboardInterrupt
        return original(task)

    monkeypatch.setattr(tasks, "_play", stop_at_third)
    with pytest.raises(rb.Interrupted, match=r"finished games are kept in .* goes on there"):
        rb.assess(people, "MAR", out=tmp_path, **FAST)
    result = rb.assess(people, "MAR", out=tmp_path, **FAST)
    assert played == 3 + 6 and (tmp_path / "report.html").is_file()
    assert result.frame.equals(rb.assess(people, "MAR", **FAST).frame)
