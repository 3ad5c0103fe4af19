"""`assess` and `fit`: the report of the command, from tables in the forms that people have."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reconbench as rb
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
        "report.json", "report.md", "report.html", "prior.bif", "prior.json",
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
