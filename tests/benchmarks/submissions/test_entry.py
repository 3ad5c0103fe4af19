"""Entries are strangers' files: whatever is wrong is one clear line, and nothing is run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.submissions import documents
from reconbench.benchmarks.submissions.entry import Entry, EntryError, SubmittedAttack, read_entry
from reconbench.benchmarks.submissions.submit import Submission
from reconbench.benchmarks.suites.suite import Suite, read_suite

from .conftest import HONEST, SUITE, Submit, rehash

Raw = dict[str, Any]


def write(path: Path, raw: object) -> Path:
    path.write_text(json.dumps(raw))
    return path


def test_an_entry_comes_back_as_it_was_written(entry: Entry, tmp_path: Path) -> None:
    entry.write(tmp_path / "entry.json")
    again = read_entry(tmp_path / "entry.json")
    assert again == entry and again.sha256 == entry.sha256
    assert again.attack.source == HONEST and again.attack.file == "my_attack.py"
    assert len(again.rows) == 3 and again.machine.kernels


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[]", "must be a JSON object"),
        (b"[" * 100_000, "nested more than 12 deep"),
        (b'{"a":' * 20 + b"1" + b"}" * 20, "nested more than 12 deep"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b"{}", "format must be 'reconbench-entry/1', got None"),
        (b'{"format": "reconbench-entry/9"}', "got 'reconbench-entry/9'"),
    ],
)
def test_files_that_are_no_entries(tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "entry.json"
    path.write_bytes(content)
    with pytest.raises(ValueError) as raised:
        read_entry(path)
    assert error in str(raised.value) and str(path) in str(raised.value)
    assert len(str(raised.value)) < 500


def test_files_that_are_missing_or_huge(
    tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="no such file"):
        read_entry(tmp_path / "none.json")
    with pytest.raises(ValueError, match="no such file"):
        read_entry(tmp_path)
    monkeypatch.setattr(documents, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="more than 0 MiB"):
        read_entry(write(tmp_path / "entry.json", entry.to_json()))


def drop(name: str) -> Callable[[Raw], object]:
    return lambda raw: raw.pop(name)


def put(*path_and_value: Any) -> Callable[[Raw], object]:
    *path, name, value = path_and_value

    def change(raw: Any) -> None:
        for key in path:
            raw = raw[key]
        raw[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (drop("rows"), "rows: Field required"),
        (drop("attack"), "attack: Field required"),
        (put("extra", 1), "extra: Extra inputs are not permitted"),
        (put("rows", []), "rows: List should have at least 1 item"),
        (put("rows", 0, "successes", 101), "rows.0: "),
        (put("rows", 0, "unheard", 1), "unknown field 'unheard'"),
        (put("rows", 0, "attack", "rap"), "rows.0: it is a row of another attack, 'rap'"),
        (put("rows", 0, "seal", "0" * 64), "rows.0: it was played sealed"),
        (put("rows", 1, "versions", {}), "rows.1.versions differ"),
        (put("attack", "source", "print(1)"), "attack.sha256 does not fit the source"),
        (put("attack", "source", "x" * ((1 << 20) + 1)), "attack.source: String should have at"),
        (put("attack", "source", "\ud800"), "attack.source: "),
        (put("attack", "file", "../../etc/cron.py"), "attack.file: String should match pattern"),
        (put("attack", "class", "X; import os"), "attack.class: String should match pattern"),
        (put("attack", "name", "posterior"), "is an attack of reconbench"),
        (put("attack", "name", ""), "attack.name: String should have at least 1 character"),
        (put("attack", "options", {"a": [1]}), "attack.options"),
        (put("about", "description", "x" * 2001), "about.description: String should have at most"),
        (
            put("about", "claims_paper", "yes"),
            "about.claims_paper: Input should be a valid boolean",
        ),
        (put("machine", "python", "x" * 301), "machine.python: String should have at most"),
        (put("suite", "seed", 1.5), "suite.seed: Input should be a valid integer"),
        (put("machine", "kernels", {"a": 1}), "machine.kernels"),
    ],
)
def test_forged_fields_are_named(
    entry: Entry, tmp_path: Path, change: Callable[[Raw], object], error: str
) -> None:
    raw = copy.deepcopy(entry.to_json())
    change(raw)
    with pytest.raises(ValueError) as raised:
        read_entry(write(tmp_path / "entry.json", rehash(raw)))
    assert error in str(raised.value), raised.value
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 600


def test_infinite_numbers_are_refused(entry: Entry, tmp_path: Path) -> None:
    text = json.dumps(entry.to_json()).replace('"options": {}', '"options": {"a": 1e999}')
    (tmp_path / "entry.json").write_text(text)
    with pytest.raises(EntryError, match=r"entry.json: it has a number that is too large"):
        read_entry(tmp_path / "entry.json")


def test_a_changed_file_is_noticed(entry: Entry, tmp_path: Path) -> None:
    raw = entry.to_json()
    raw["about"]["author"] = "B"
    with pytest.raises(EntryError, match="sha256 does not fit the content"):
        read_entry(write(tmp_path / "entry.json", raw))


def test_attacks_that_cannot_be_submitted(suite: Suite, submit: Submit, tmp_path: Path) -> None:
    with pytest.raises(EntryError, match=r"must be a class in a file.*got 'rap'"):
        Submission.prepare("rap", suite)
    with pytest.raises(ValueError, match="no plugin file"):
        Submission.prepare(f"{tmp_path}/none.py:X", suite)
    with pytest.raises(EntryError, match="has the name of an attack of reconbench, 'rap'"):
        submit(HONEST.replace('"votes"', '"rap"'), "Votes")
    with pytest.raises(EntryError, match=r"failed in 3 of 3 rows; the first: .*ZeroDivision"):
        submit(HONEST.replace("release, names", "1 / 0; release, names"), "Votes")
    lazy = HONEST + "\n    def skip(self, view):\n        return 'tired'\n"
    with pytest.raises(EntryError, match="skips every game of the suite: tired"):
        submit(lazy, "Votes")
    path = tmp_path / "with space.py"
    path.write_text(HONEST)
    with pytest.raises(EntryError, match=r"cannot submit .*file: String should match"):
        Submission.prepare(f"{path}:Votes", suite)
    with pytest.raises(EntryError, match="at least 2 repetitions of every game, got 1; submit"):
        Submission.prepare(f"{path.rename(tmp_path / 'plain.py')}:Votes", suite, repetitions=1)
    large = tmp_path / "large.py"
    large.write_text("#" * ((1 << 20) + 1))
    with pytest.raises(EntryError, match=r"has 1,048,577 bytes; an entry holds 1,048,576"):
        SubmittedAttack.from_file(large, "X", "x", {})
    large.write_bytes(b"\xff")
    with pytest.raises(EntryError, match="must be UTF-8 text"):
        SubmittedAttack.from_file(large, "X", "x", {})


def test_suites_of_computations_have_nothing_to_submit(tmp_path: Path, submit: Submit) -> None:
    (tmp_path / "a.py").write_text(HONEST)
    (tmp_path / "c.toml").write_text(
        SUITE.partition("[[games]]")[0].replace('attacks = ["prior"]\n', "")
        + 'include = ["kulynych-fig2"]\n'
    )
    with pytest.raises(EntryError, match="computations only; choose a suite with games"):
        Submission.prepare(f"{tmp_path}/a.py:Votes", read_suite(tmp_path / "c.toml"))
