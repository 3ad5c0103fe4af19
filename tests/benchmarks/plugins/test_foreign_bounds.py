"""A bound is one file: found in listings, on rows and on the leaderboard, however it is installed.

What goes wrong in a bound of somebody else's is said on the row, and never ends a run.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import Template

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.plugins import PluginError
from reconbench.benchmarks.plugins.bounds import check_bound_files, load_bound, shipped_bounds
from reconbench.benchmarks.plugins.check_bound import check_bound
from reconbench.benchmarks.store.store import Freshness, row_key
from reconbench.benchmarks.store.summary import summarise
from reconbench.reports import leaderboard_csv, leaderboard_html

TEMPLATES = Path(__file__).parents[3] / "benchmarks" / "plugins" / "templates"
GAME = Game("acs", ("SEX",), epsilon=1.0, n=10)
PRIOR = AttackSpec("prior")
SUITE = """name = "tiny"
description = "one game"
repetitions = 1
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX"]
epsilon = 1.0
n = 10
"""
BROKEN = """
from reconbench.bounds import Bound, Kind, Scope

class Base(Bound):
    reference = statement = "wrong"
    kind, scope, proved = Kind.ONE_RUN, Scope.ANY_ATTACK, True
    answer = {}

    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        return cls.answer

class Raises(Base):
    name = "raises"
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        return 1 / 0

class Exits(Base):
    name = "exits"
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        raise SystemExit(3)

class Leaves(Base):
    name = "leaves"
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        raise GeneratorExit("left")

class Undeclared(Base):
    name = "undeclared"
    @classmethod
    def declare(cls):
        raise RuntimeError("no comment")

class Meddles(Base):
    name = "meddles"
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        targets.best_prior_success[:] = 0

class MeddlesLater(Base):
    name, scope = "meddles-later", Scope.GUESSES
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        targets.guess_success[:] = 0

class Nan(Base):
    name = "nan"
    answer = {"0.05": 1.0, "0.5": 1.0, "0.95": float("nan")}

class Text(Base):
    name = "text"
    answer = {"0.05": 1.0, "0.5": 1.0, "0.95": "2"}

class Levels(Base):
    name = "levels"
    answer = {"mean": 1.0}

class Nothing(Base):
    name = "nothing"
    answer = None

class BadAxes(Base):
    name = "bad-axes"
    @classmethod
    def holds_for(cls, setting, metric):
        return setting.no_such_axis

class Refuses(Base):
    name = "refuses"
    @classmethod
    def holds_for(cls, setting, metric):
        return "not for such games"
"""
DECLARED = """
from reconbench.bounds import Bound, Kind, Scope

class Good(Bound):
    name, reference, statement = "good", "here", "One sentence."
    kind, scope, proved = Kind.MEAN, Scope.ANY_ATTACK, True
    @classmethod
    def ceilings(cls, targets, guarantee, confidences=()):
        return {"mean": 1.0}

class Unproved(Good):
    proved = None

class TwoLines(Good):
    statement = "One.\\nTwo."

class OddName(Good):
    name = "my bound_0.95"

class Reserved(Good):
    name = "rad"

class Taken(Good):
    name = "thm35"

class WordKind(Good):
    kind = "mean"

class PlainMethod(Good):
    def ceilings(self, targets, guarantee, confidences=()):
        return {}

class Unfinished(Bound):
    name, reference, statement = "good", "here", "One sentence."
    kind, scope, proved = Kind.MEAN, Scope.ANY_ATTACK, True

class NoBound:
    name = "no-bound"
"""


def from_template(folder: Path, name: str = "my-bound") -> str:
    stem = name.replace("-", "_")
    class_name = "".join(word.capitalize() for word in name.split("-"))
    words = {"name": name, "title": name, "class_name": class_name}
    words |= {"file_name": f"{stem}.py", "file_stem": stem}
    for kind, prefix in (("bound", ""), ("test_bound", "test_")):
        text = (TEMPLATES / f"{kind}.py.txt").read_text(encoding="utf-8")
        (folder / f"{prefix}{stem}.py").write_text(Template(text).substitute(words))
    return f"{folder / f'{stem}.py'}:{class_name}"


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    (folder / name).write_text(text)
    return folder / name


def row_with(*bounds: str) -> Result:
    return play(Round.draw(GAME, check_bound_files(bounds)), PRIOR)


def test_the_template_passes_its_own_checks(tmp_path: Path) -> None:
    checks = check_bound(from_template(tmp_path))
    assert all(check.passed for check in checks), checks
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_bound.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_bound_in_a_file_is_on_the_row_and_on_the_leaderboard(tmp_path: Path) -> None:
    row = Result.from_json(row_with(from_template(tmp_path)).to_json())
    plain = row_with()
    assert {**plain.ceilings, "my-bound": row.ceilings["my-bound"]} == row.ceilings
    assert row.bounds["my-bound"]["kind"] == "mean" and plain.bounds == {}
    summaries = summarise([row])
    (line,) = csv.DictReader(leaderboard_csv(summaries).splitlines())
    assert float(line["ceiling_my-bound"]) == row.ceilings["my-bound"]["mean"]
    html = leaderboard_html(summaries, "one", {})
    assert "ceiling_my-bound" in html and "plus the total variation" in html
    # Shown, but the ranking relies on the bounds of this package alone.
    (before,) = csv.DictReader(leaderboard_csv(summarise([plain])).splitlines())
    assert line["tightest_mean"] == before["tightest_mean"]


@pytest.mark.parametrize(
    "declared", [{}, {"kind": "odd", "scope": "any attack"}, {"kind": ["mean"], "statement": 1}]
)
def test_a_row_that_declares_nonsense_is_still_reported(declared: dict[str, object]) -> None:
    plain = row_with()
    row = replace(
        plain, ceilings={**plain.ceilings, "odd": {"mean": 3.0}}, bounds={"odd": declared}
    )
    (line,) = csv.DictReader(leaderboard_csv(summarise([row])).splitlines())
    assert line["ceiling_odd"] == "3.0"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Raises", "ZeroDivisionError: division by zero"),
        ("Exits", "SystemExit: 3"),
        ("Leaves", "GeneratorExit: left"),
        ("Undeclared", "RuntimeError: no comment"),
        ("Meddles", "read-only"),
        ("MeddlesLater", "read-only"),
        ("Nan", "the ceiling at 0.95 must be a finite number, got nan"),
        ("Text", "must be a finite number, got '2'"),
        ("Levels", "must have the keys 0.05, 0.5, 0.95, got ['mean']"),
        ("Nothing", "TypeError"),
        ("BadAxes", "AttributeError"),
    ],
)
def test_a_broken_bound_is_named_on_the_row_and_the_game_goes_on(
    tmp_path: Path, name: str, error: str
) -> None:
    path = written(tmp_path, BROKEN)
    row = Result.from_json(row_with(f"{path}:{name}").to_json())
    called = load_bound(f"{path}:{name}").name
    assert set(row.differences(row_with())) == {"bounds"} and row.successes is not None
    assert error in row.bounds[called]["error"]
    (line,) = csv.DictReader(leaderboard_csv(summarise([row])).splitlines())
    assert error in line["bound_errors"] and f"ceiling_{called}_0.95" not in line


def test_a_bound_that_does_not_hold_is_not_on_the_row(tmp_path: Path) -> None:
    row = row_with(f"{written(tmp_path, BROKEN)}:Refuses")
    assert row.bounds == {} and "refuses" not in row.ceilings


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Unproved", "needs a class attribute 'proved', a bool, got None"),
        ("TwoLines", "statement must be one line"),
        ("OddName", "name must be up to 40 letters, digits and hyphens"),
        ("Reserved", "not rad"),
        ("Taken", "has the name of a bound of reconbench, 'thm35'"),
        ("WordKind", "'kind', a Kind, got 'mean'"),
        ("PlainMethod", "ceilings must be a classmethod"),
        ("Unfinished", "has no ceilings"),
        ("NoBound", "must be a class with a text `name` .* it has no `reference`"),
        ("Nowhere", "has no class or function 'Nowhere'"),
    ],
)
def test_what_does_not_declare_everything_is_refused(tmp_path: Path, name: str, error: str) -> None:
    path = written(tmp_path, DECLARED)
    assert load_bound(f"{path}:Good").name == "good"
    with pytest.raises(PluginError, match=error):
        check_bound_files([f"{path}:{name}"])


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(PluginError, match=r"unknown bound 'nope'; available: .*thm35"):
        check_bound_files(["nope"])
    assert check_bound_files(["thm35"]) == ()
    assert set(shipped_bounds()) >= {"thm35", "prior-exact"}


def test_rows_of_another_set_of_bounds_are_other_rows(tmp_path: Path) -> None:
    spec = from_template(tmp_path)
    (moved := tmp_path / "moved").mkdir()
    with_bound, without = row_key(GAME, PRIOR, (spec,)), row_key(GAME, PRIOR)
    assert with_bound.text != without.text and with_bound.config == without.config
    assert row_key(GAME, PRIOR, (from_template(moved),)).text == with_bound.text
    file = tmp_path / "my_bound.py"
    standings = [with_bound.origin.freshness]
    file.write_text(file.read_text() + "# changed\n")
    standings.append(with_bound.origin.freshness)
    file.unlink()
    standings.append(with_bound.origin.freshness)
    assert standings == [Freshness.CURRENT, Freshness.STALE, Freshness.UNKNOWN]


def installed(folder: Path) -> Path:
    """A folder that stands for an installed package with one good and one broken bound."""
    site = folder / "site"
    (about := site / "my_bounds-1.0.dist-info").mkdir(parents=True)
    from_template(site)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-bounds\nVersion: 1.0\n")
    points = "my-bound = my_bound:MyBound\nlost-bound = no_such_module:Lost\n"
    (about / "entry_points.txt").write_text(f"[reconbench.bounds]\n{points}")
    return site


@pytest.mark.parametrize("how", ["file", "suite", "entry point"])
def test_a_run_shows_the_bound(reconbench: Callable[..., str], tmp_path: Path, how: str) -> None:
    """From a temporary folder to `list`, a row, and the leaderboard as CSV and HTML."""
    site = installed(tmp_path) if how == "entry point" else None
    spec = from_template(tmp_path)
    suite = written(tmp_path, SUITE, "tiny.toml")
    if how == "suite":
        suite.write_text(f'bounds = ["my_bound.py:MyBound"]\n{SUITE}')
    more = ["--bound", spec] if how == "file" else []
    if site is not None:
        listed = json.loads(reconbench("list", "bounds", "--json", cwd=tmp_path, path=site))
        assert "total variation" in listed["my-bound"] and "no_such_module" in listed["lost-bound"]
    game = ("game", "--dataset", "acs", "--targets", "SEX", "--epsilon", "1", "--n", "10")
    if how != "suite":
        one = ("--reps", "1", "--attack", "prior", "--json")
        shown = reconbench(*game, *one, *more, cwd=tmp_path, path=site)
        assert json.loads(shown)["ceilings"]["my-bound"]["mean"] > 0
    arguments = ("run", "tiny.toml", "--out", "out", "--jobs", "1")
    reconbench(*arguments, *more, cwd=tmp_path, path=site)
    with (tmp_path / "out" / "leaderboard.csv").open(newline="") as stream:
        (line,) = csv.DictReader(stream)
    assert float(line["ceiling_my-bound"]) > 0
    assert ("no_such_module" in line.get("bound_errors", "")) == (site is not None)
    assert "ceiling_my-bound" in (tmp_path / "out" / "leaderboard.html").read_text()


def test_ceiling_takes_a_bound_in_a_file(reconbench: Callable[..., str], tmp_path: Path) -> None:
    arguments = ("ceiling", "--prior", "0.5", "--n", "10", "--epsilon", "1", "--json")
    shown = json.loads(reconbench(*arguments, "--bound", from_template(tmp_path), cwd=tmp_path))
    assert set(shown["bounds"]) == {"my-bound"}
    assert 5 < shown["bounds"]["my-bound"]["ceilings"]["mean"] < 10
