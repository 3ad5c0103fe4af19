from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.runner import Replay, Unit, execute, plan, play_units, read_rows, run
from reconbench.benchmarks.store.store import FILE_NAME, Store, StoreError, row_key
from reconbench.benchmarks.suites.suite import SuiteError, find_suite, read_suite, shipped

ATTACKS = (AttackSpec("prior"), AttackSpec("rap", {"steps": 30}))


def units(reps: int = 2) -> list[Unit]:
    return [Unit(Game("acs", ("SEX",), 3.0, n=40, rep=rep), ATTACKS) for rep in range(reps)]


def without_times(rows: list[Result]) -> str:
    return json.dumps([replace(row, seconds=0.0, peak_memory_mib=None).to_json() for row in rows])


def test_one_and_two_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2):
        with Store(tmp_path / str(jobs)) as store:
            found.append(run(units(3), store, jobs=jobs))
    assert without_times(found[0]) == without_times(found[1])


def test_resume_computes_nothing_twice(tmp_path: Path) -> None:
    seen: list[int] = []
    with Store(tmp_path) as store:
        first = run(units(), store, progress=lambda done, row: seen.append(done))
    assert seen == [1, 2, 3, 4]
    with Store(tmp_path) as store:
        again = run(units(), store, progress=lambda done, row: seen.append(done))
        more = run(units(3), store)
    assert seen == [1, 2, 3, 4] and again == first and more[:4] == first and len(more) == 6


FLAKY = """
from pathlib import Path
class Flaky:
    name = 'flaky'
    def reconstruct(self, view, rng):
        guess = Path(__file__).with_suffix('.txt')
        if not guess.exists():
            raise RuntimeError('not yet')
        return view.reconstruction([int(guess.read_text())] * view.n)
"""


def test_failed_rows_are_played_again_when_asked_for(tmp_path: Path) -> None:
    plugin = tmp_path / "flaky.py"
    plugin.write_text(FLAKY)
    unit = Unit(units()[0].game, (AttackSpec(f"{plugin}:Flaky"),))
    with Store(tmp_path / "out") as store:
        assert run([unit], store)[0].status is Status.FAILED
        plugin.with_suffix(".txt").write_text("0")
        assert run([unit], store)[0].status is Status.FAILED
        played = run([unit], store, replay=Replay.FAILED)
        assert played[0].status is Status.OK
        assert run([unit], store) == run([unit], store, replay=Replay.FAILED) == played


def test_playing_all_again_tells_what_came_out_otherwise(tmp_path: Path) -> None:
    plugin = tmp_path / "flaky.py"
    plugin.write_text(FLAKY)
    unit = Unit(units()[0].game, (AttackSpec("prior"), AttackSpec(f"{plugin}:Flaky")))
    found: list[tuple[Result, Result]] = []
    with Store(tmp_path / "out") as store:
        plugin.with_suffix(".txt").write_text("0")
        first = run([unit], store)

        def again() -> list[Result]:
            todo = plan([unit], store, Replay.ALL)
            assert todo.total == 2 and todo.held == 0
            execute(todo, store, differs=lambda a, b: found.append((a, b)))
            return read_rows(todo, store)

        assert again() == first and found == []
        plugin.with_suffix(".txt").write_text("1")
        assert again() == first == run([unit], store)
        ((stored, played),) = found
        assert stored == first[1] and "successes" in stored.differences(played)


def test_keys_tell_configurations_apart(tmp_path: Path) -> None:
    game = units()[0].game
    plugin = tmp_path / "p.py"
    plugin.write_text("class P:\n    name = 'p'\n    def reconstruct(self, view, rng): ...\n")
    spec = AttackSpec(f"{plugin}:P")
    keys = {
        row_key(game, ATTACKS[0]),
        row_key(game, ATTACKS[1]),
        row_key(game, AttackSpec("rap", {"steps": 31})),
        row_key(replace(game, rep=1), ATTACKS[0]),
        row_key(replace(game, epsilon=float("inf")), ATTACKS[0]),
        row_key(game, spec),
    }
    plugin.write_text(plugin.read_text() + "# changed\n")
    keys.add(row_key(game, spec))
    assert len(keys) == 7


def test_stores_that_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / FILE_NAME).write_text("not a database, but long enough to be read as one")
    with pytest.raises(StoreError, match="cannot open a result store"):
        Store(tmp_path / "text")
    (tmp_path / "other").mkdir()
    with sqlite3.connect(tmp_path / "other" / FILE_NAME) as connection:
        connection.execute("CREATE TABLE results (x)")
    with pytest.raises(StoreError, match="has schema 0"):
        Store(tmp_path / "other")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot open a result store"):
        Store(tmp_path / "file")


def test_rows_changed_by_hand_are_refused(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        run(units(1), store)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE results SET row = '{\"dataset\": 1}'")
    with Store(tmp_path) as store, pytest.raises(StoreError, match="row that cannot be read"):
        run(units(1), store)


def test_every_result_is_stored_as_it_comes(tmp_path: Path) -> None:
    """A run that dies after its second row keeps both."""
    with Store(tmp_path) as store, pytest.raises(KeyboardInterrupt):

        def stop(done: int, row: Result) -> None:
            if done == 2:
                raise KeyboardInterrupt

        run(units(3), store, progress=stop)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (2,)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """kill -9 in mid-run, then the same command: the leaderboard of an undisturbed run."""
    (tmp_path / "suite.toml").write_text(
        'name = "s"\ndescription = "s"\nrepetitions = 6\nattacks = ["prior", "rap"]\n'
        '[[games]]\ndataset = "acs"\ntargets = ["SEX", "MAR"]\nepsilon = [3, 10]\n'
    )
    command = Path(sys.executable).with_name("reconbench")

    def start(out: str) -> subprocess.Popen[bytes]:
        arguments = [str(command), "run", "suite.toml", "--out", out, "--jobs", "2", "--quiet"]
        return subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.DEVNULL)

    def stored(out: str) -> int:
        path = tmp_path / out / FILE_NAME
        if not path.exists():
            return 0
        with contextlib.closing(sqlite3.connect(path)) as connection:
            try:
                return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
            except sqlite3.OperationalError:
                return 0

    def leaderboard(out: str) -> list[dict[str, str]]:
        text = (tmp_path / out / "leaderboard.csv").read_text()
        rows = csv.DictReader(text.splitlines())
        return [{key: row[key] for key in row if key != "seconds"} for row in rows]

    assert start("whole").wait() == 0
    running = start("killed")
    while stored("killed") < 10 and running.poll() is None:
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert 10 <= stored("killed") < 48
    assert start("killed").wait() == 0
    assert stored("killed") == 48 and leaderboard("killed") == leaderboard("whole")


def test_play_units_keeps_places() -> None:
    found = {(place, attack): row for place, attack, row in play_units(units(3), jobs=1)}
    assert sorted(found) == [(place, attack) for place in range(3) for attack in range(2)]
    for (place, attack), row in found.items():
        assert row.rep == place and row.attack == ATTACKS[attack].spec


def test_shipped_suites() -> None:
    suites = shipped()
    assert {"quick", "smoke"} <= set(suites)
    quick = suites["quick"]
    games = quick.units()
    assert len(games) == 26 * 2 * 16 and quick.repetitions == 16
    assert {"prior", "rap"} <= {spec.spec for spec in games[0].attacks}
    assert {unit.game.epsilon for unit in games} == {1.0, 10.0}


SUITE = """
name = "mine"
description = "a test"
attacks = ["prior", {attack = "rap", options = {steps = 5}}]
[[games]]
dataset = "acs"
targets = ["SEX", ["SEX", "MAR"]]
epsilon = [1, inf]
k = [2, 3]
"""


def test_axes_are_multiplied(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SUITE)
    found = find_suite(str(path)).units(seed=7, repetitions=3, more_attacks=["random"])
    assert len(found) == 2 * 2 * 2 * 3
    assert {unit.game.seed for unit in found} == {7}
    assert [spec.spec for spec in found[0].attacks] == ["prior", "rap", "random"]
    assert found[0].attacks[1].options == {"steps": 5}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epsilon =", "epsilom =", "games.0.(epsilon: Field required|epsilom: Extra inputs)"),
        ("[1, inf]", "[]", r"games.0.epsilon.*at least 1 item"),
        ("[1, inf]", '["x"]', "games.0.epsilon"),
        ("name =", "nam =", "(name: Field required|nam: Extra inputs)"),
        ('attacks = ["prior", {attack = "rap", options = {steps = 5}}]', "attacks = []", "attacks"),
        ("[[games]]", "[[games]", "not valid TOML"),
    ],
)
def test_bad_suites(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    assert old in SUITE
    path.write_text(SUITE.replace(old, new))
    with pytest.raises(SuiteError, match=message):
        read_suite(path)


def test_unknown_suites(tmp_path: Path) -> None:
    with pytest.raises(
        SuiteError, match=r"unknown suite 'nope'; available: .*quick, rad-bounds, .*smoke"
    ):
        find_suite("nope")
    with pytest.raises(SuiteError, match="cannot read suite"):
        find_suite(str(tmp_path / "none.toml"))


def test_no_attack_is_loaded_for_finished_rows(tmp_path: Path) -> None:
    with Store(tmp_path) as store, pytest.MonkeyPatch.context() as patch:
        rows = run(units(), store)
        patch.setattr(AttackSpec, "build", lambda self: pytest.fail("loaded"))
        assert run(units(), store) == rows


def test_an_attack_that_cannot_be_built_is_told_before_anything_is_written(tmp_path: Path) -> None:
    unit = Unit(units()[0].game, (AttackSpec("prior"), AttackSpec("rap", {"stepz": 3})))
    with Store(tmp_path / "out") as store:
        with pytest.raises(ValueError, match="stepz"):
            run([unit], store)
        assert not (tmp_path / "out").exists()


def test_rows_that_went_away_are_reported(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        run(units(), store)
        todo = plan(units(), store)
        store.delete(todo.keys[:1])
        with pytest.raises(StoreError, match="lacks rows that this run wrote"):
            read_rows(todo, store)
