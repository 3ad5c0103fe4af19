"""From an attack of one's own to a site that shows it, as a newcomer goes."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest

from ..benchmarks.submissions.conftest import HONEST, SUITE
from ..reports.website.conftest import check_links
from ..reports.website.test_pages import ASSESSMENT
from .conftest import Done

Run = Callable[..., Done]
QUIET = ("--jobs", "1", "--quiet")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "my_attack.py").write_text(HONEST)
    (tmp_path / "small.toml").write_text(SUITE.replace("repetitions = 3", "repetitions = 4"))
    return tmp_path


def test_from_an_attack_to_the_site(home: Path, reconbench: Run) -> None:
    done = reconbench("run", "small.toml", *QUIET, cwd=home)
    assert done.returncode == 0, done.stderr
    about = (
        "--author",
        "A. Author",
        "--description",
        "votes <b>",
        "--paper",
        "P",
        "--claims-paper",
    )
    submit = ("submit", "my_attack.py:Votes", "--suite", "small.toml", "--out", "entry.json")
    done = reconbench(*submit, *about, "--store", "results/small", *QUIET)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "entry.json"
    assert "`verify` will play 13 sealed repetitions of each game" in done.stdout

    verify = ("verify", "entry.json", "--suite", "small.toml", "--out", "verified")
    done = reconbench(*verify, "--jobs", "1", "--json")
    assert done.returncode == 0, (done.stdout, done.stderr)
    verdict = json.loads(done.stdout)
    assert verdict["outcome"] == "accepted" and verdict["test"]["p"] > 0.001
    assert Path(verdict["file"]).is_file()

    done = reconbench("site", "results/small", "verified", "--public", "--title", "Ours", "--json")
    assert done.returncode == 0, done.stderr
    end = json.loads(done.stdout)
    assert (end["suites"], end["entries"], end["assessments"]) == (1, 1, 0)
    site = home / "site"
    assert check_links(site) > 30
    index = (site / "index.html").read_text()
    assert "Ours" in index and "Newest standings" in index and "A. Author" in index
    (entry,) = (site / "entries").iterdir()
    page = entry.read_text()
    assert "votes &lt;b&gt;" in page and "Verdict: accepted" in page
    assert "the author says so" in page and verdict["seal"]["commitment"] in page

    numbers = [path.read_text() for path in (site / "numbers").rglob("*.html")]
    (number,) = (text for text in numbers if "my_attack.py:Votes" in text)
    (command,) = re.findall(r"<code>(reconbench game [^<]*)</code>", number)
    done = reconbench(*shlex.split(unescape(command))[1:])
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 4
    for row in rows:
        assert row["table_hash"][:12] in number and row["guess_hash"][:12] in number


def test_bad_submissions_write_nothing(home: Path, reconbench: Run) -> None:
    submit = ("submit", "my_attack.py:Votes", "--suite", "small.toml", *QUIET)
    for arguments, error in (
        ((*submit, "--out", "entry.txt"), "--out must end with .json"),
        ((*submit, "--out", "none/entry.json"), "no folder none; create it first"),
        ((*submit, "--out", "e.json", "--claims-paper"), "--claims-paper needs --paper"),
        ((*submit, "--out", "e.json", "--author", "x" * 201), "--author: String should have at"),
        ((*submit, "--out", "e.json", "--reps", "1"), "at least 2 repetitions"),
        ((*submit, "--out", "e.json", "--option", "x=1"), "x"),
    ):
        done = reconbench(*arguments, cwd=home)
        assert done.returncode == 2 and error in done.stderr, (arguments, done)
        assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in home.iterdir() if path.is_file()} == {
        "my_attack.py",
        "small.toml",
    }


def test_bad_entries_are_one_line(home: Path, reconbench: Run) -> None:
    (home / "entry.json").write_text("[" * 10_000)
    done = reconbench("verify", "entry.json", cwd=home)
    assert (done.returncode, done.stdout) == (2, "") and "nested more than" in done.stderr
    (home / "verified").write_text("a file")
    done = reconbench("verify", "entry.json", "--out", "verified")
    assert done.returncode == 2 and "--out verified is not a folder" in done.stderr


def test_an_entry_of_a_suite_in_a_file_needs_that_file(home: Path, reconbench: Run) -> None:
    submit = ("submit", "my_attack.py:Votes", "--suite", "small.toml", "--reps", "2")
    done = reconbench(*submit, "--out", "entry.json", "--jobs", "1", "--json", cwd=home)
    assert done.returncode == 0 and json.loads(done.stdout)["rows"] == 2
    done = reconbench("verify", "entry.json")
    assert done.returncode == 2 and "name its file with --suite path/to/suite.toml" in done.stderr
    done = reconbench("verify", "entry.json", "--suite", "quick")
    assert done.returncode == 2 and "but the entry is of 'small'" in done.stderr


def test_input_that_is_no_site_is_one_line(home: Path, reconbench: Run) -> None:
    (home / "empty").mkdir()
    (home / "ours").mkdir()
    (home / "ours" / "report.json").write_text(json.dumps(ASSESSMENT))
    (home / "other").mkdir()
    (home / "other" / "x.json").write_text('{"format": "x"}')
    (home / "damaged").mkdir()
    (home / "damaged" / "results.sqlite").write_bytes(b"not a database, but long enough" * 50)
    for arguments, error in (
        (("none",), "nothing at none"),
        (("empty",), "nothing to show in empty: it must be an output folder of"),
        (("other",), "other/x.json: it is not a verdict"),
        (("damaged",), "cannot"),
        (("ours", "--public"), "confidential: leave it out, or leave out --public"),
        (("ours", "--title", " "), "--title must have 1 to 200 characters"),
        (("ours", "--out", "empty/a/b"), "no folder"),
        (("ours", "--out", "other"), "is not a site of reconbench"),
    ):
        done = reconbench("site", *arguments, cwd=home)
        assert done.returncode == 2 and error in done.stderr, (arguments, done)
        assert len(done.stderr.splitlines()) == 1 and done.stdout == ""
    assert not (home / "site").exists()


def test_an_assessment_is_shown_with_a_warning(home: Path, reconbench: Run) -> None:
    for name in ("a/ours", "b/ours"):
        (home / name).mkdir(parents=True)
        (home / name / "report.json").write_text(json.dumps(ASSESSMENT))
    done = reconbench("site", "a/ours", "b/ours/report.json", "--quiet", cwd=home)
    assert done.returncode == 0 and done.stdout.strip() == "site/index.html"
    assert "do not publish it" in done.stderr
    index = (home / "site" / "index.html").read_text()
    assert "a/ours" in index and "b/ours" in index
    check_links(home / "site")


def test_a_damaged_store_changes_nothing(home: Path, reconbench: Run) -> None:
    assert reconbench("run", "small.toml", "--reps", "2", *QUIET, cwd=home).returncode == 0
    assert reconbench("site", "results/small", "--quiet").returncode == 0
    before = (home / "site" / "index.html").read_bytes()
    with closing(sqlite3.connect(home / "results" / "small" / "results.sqlite")) as store:
        store.execute("UPDATE results SET row = '{}'")
        store.commit()
    done = reconbench("site", "results/small", "--quiet")
    assert done.returncode == 2 and "holds a row that cannot be read" in done.stderr
    assert (home / "site" / "index.html").read_bytes() == before
