"""Attacks that do their worst to a sweep: each loses its own rows and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks import memory
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.pool import Assignment, Pool
from reconbench.benchmarks.run.runner import Unit, group_units, play_units, run
from reconbench.benchmarks.run.worker_process import LimitError, Limits, WorkerError
from reconbench.benchmarks.run.worker_tasks import Group, Turn, play_group
from reconbench.benchmarks.store.store import FILE_NAME, Store

ERRORS = {
    "Raises": "attack 'raises' failed: RuntimeError: of my own",
    "Leaves": "attack 'leaves' failed: SystemExit: 4",
    "Hangs": "attack 'hangs' exceeded the 4 s time limit (--timeout)",
    "Busy": "attack 'busy' exceeded the 4 s time limit (--timeout)",
    "Exits": "attack 'exits' killed its player process (exit code 3)",
    "Killed": "attack 'killed' killed its player process (signal 9, most likely out of memory)",
    "Crashes": "attack 'crashes' killed its player process (signal 11, a segmentation fault)",
    "Shape": "attack 'shape' failed: guesses must have shape (40, 1)",
    "Huge": "attack 'huge' exceeded the 1 GiB memory limit",
    "Greedy": "attack 'greedy' exceeded the 1 GiB memory limit",
    "Odd": "attack 'odd' failed: info must map names to numbers",
}
LIMITS = Limits(seconds=4, gib=1)
PRIOR = AttackSpec("prior")


def games(reps: int = 2) -> list[Game]:
    return [Game("acs", ("SEX",), 3.0, n=40, rep=rep) for rep in range(reps)]


def plain(rows: list[Result]) -> str:
    return json.dumps([replace(row, seconds=0.0, peak_memory_mib=None).to_json() for row in rows])


def wait_until(happened: Callable[[], bool]) -> None:
    """For an event that comes sooner or later; only a hang takes so long that this gives up."""
    for _ in range(6000):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it never happened")


def running(mark: str) -> list[int]:
    """Processes with a mark in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def test_a_sweep_survives_every_bad_attack(bad: Path, tmp_path: Path) -> None:
    """In the first repetition all of them, one after the other; then good ones around one."""
    first, second = games()
    names = (*ERRORS, "Talks")
    specs = [AttackSpec(f"{bad}:{name}") for name in names]
    units = [Unit(first, (PRIOR, *specs, PRIOR)), Unit(second, (PRIOR, specs[4], PRIOR))]
    seen = []
    with Store(tmp_path) as store:
        rows = run(units, store, jobs=2, limits=LIMITS, progress=lambda n, row: seen.append(row))
    assert len(rows) == len(names) + 5 == len(seen)
    by_name = dict(zip(names, rows[1:], strict=False))
    for name, error in ERRORS.items():
        row = by_name[name]
        assert row.status is Status.FAILED and (row.error or "").startswith(error), row.error
        assert row.table_hash == rows[0].table_hash and row.baseline_successes > 0
        assert "\n" not in (row.error or "")
    assert by_name["Talks"].status is Status.OK and by_name["Talks"].info == {"loss": 2.0}
    good = [rows[0], rows[len(names) + 2], rows[-1]]
    alone = [row for _, _, row in play_units([Unit(game, (PRIOR,)) for game in (first, second)])]
    assert plain(good) == plain([alone[0], alone[1], alone[1]])
    assert running(f"mark-{os.getpid()}") == []


def calls(path: Path) -> list[str]:
    log = path.with_suffix(".log")
    found = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def test_repetitions_together_are_the_same_as_alone(together: Path) -> None:
    spec = AttackSpec(f"{together}:Many")
    calls(together)
    units = [Unit(game, (PRIOR, spec)) for game in games(4)]
    many = {(place, attack): row for place, attack, row in play_units(units)}
    assert calls(together) == ["many 4"]
    alone = {
        (place, attack): row
        for place, unit in enumerate(units)
        for _, attack, row in play_units([unit])
    }
    assert calls(together) == ["many 1"] * 4
    assert sorted(many) == sorted(alone)
    assert plain([many[key] for key in alone]) == plain(list(alone.values()))
    assert len({many[place, 1].seconds for place in range(4)}) == 1


def test_the_repetition_at_fault_is_found(together: Path) -> None:
    """Batches that die, hang or fail in one of three repetitions lose that one row."""
    names = ("Dies", "Sleeps", "Fails", "Short", "Text", "Many")
    specs = tuple(AttackSpec(f"{together}:{name}") for name in names)
    units = [Unit(game, specs) for game in games(3)]
    rows = {
        (names[attack], place): row
        for place, attack, row in play_units(units, limits=Limits(seconds=3))
    }
    assert len(rows) == 18
    wrong = {key: row.error for key, row in rows.items() if row.status is Status.FAILED}
    assert wrong == {
        ("Dies", 2): "attack 'dies' killed its player process (exit code 5)",
        ("Sleeps", 2): "attack 'sleeps' exceeded the 3 s time limit (--timeout)",
        ("Fails", 2): "attack 'fails' failed: KeyError: 'third'",
        **{("Text", place): "attack 'text' failed: neither" for place in range(3)},
    }
    alone = [row for unit in units for _, _, row in play_units([Unit(unit.game, specs[-1:])])]
    assert plain([rows["Many", place] for place in range(3)]) == plain(alone)


def test_groups_are_balanced(together: Path) -> None:
    many = (PRIOR, AttackSpec(f"{together}:Many"))

    def sizes(units: list[Unit], jobs: int) -> list[int]:
        found = group_units(units, jobs)
        assert sorted(place for _, places in found for place in places) == list(range(len(units)))
        for group, places in found:
            assert group.games == tuple(units[place].game for place in places)
        return [len(places) for _, places in found]

    columns = [
        Unit(replace(game, epsilon=epsilon), many) for epsilon in (1.0, 2.0) for game in games(5)
    ]
    assert sizes(columns, 1) == [5, 5]
    assert sizes(columns, 2) == [3, 3, 2, 2]
    cell = [Unit(game, many) for game in games(100)]
    assert sizes(cell, 1) == [25] * 4 and sizes(cell, 4) == [13, 13, 13, 13, 12, 12, 12, 12]
    assert sizes(cell, 2) == [25] * 4 and sizes(cell, 1000) == [1] * 100
    assert sizes([Unit(game, (PRIOR,)) for game in games(4)], 1) == [1] * 4
    wide = [
        Unit(replace(game, mechanism_options=Options({"k": 5}), epsilon=9.0), many)
        for game in games(40)
    ]
    assert max(sizes(wide, 1)) < 30
    mixed = [Unit(game, many if game.rep else (PRIOR,)) for game in games(4)]
    assert sizes(mixed, 1) == [1, 3]


BAD_MECHANISM = """
import os, time
from reconbench.mechanisms import GaussianMarginals

class Deadly(GaussianMarginals):
    name = "deadly"
    def release(self, table, rng):
        if int(table.codes.sum()) == WRONG:
            HARM
        return super().release(table, rng)
"""


@pytest.mark.parametrize(
    ("harm", "error"),
    [
        (
            "time.sleep(1000)",
            "setting up the game exceeded the 10 s time limit (10 times --timeout)",
        ),
        ("os._exit(7)", "setting up the game killed its worker process (exit code 7)"),
        (
            "raise OSError('no ink')",
            "release(table, rng) failed: OSError: no ink (mechanism.py, line 9)",
        ),
    ],
)
def test_a_game_that_cannot_be_set_up(
    tmp_path: Path, together: Path, harm: str, error: str
) -> None:
    round_ = Round.draw(games()[1])
    wrong = int(round_.view.known.join(round_.truth).codes.sum())
    path = tmp_path / "mechanism.py"
    path.write_text(BAD_MECHANISM.replace("WRONG", str(wrong)).replace("HARM", harm))
    attacks = (PRIOR, AttackSpec(f"{together}:Many"))
    units = [Unit(replace(game, mechanism=f"{path}:Deadly"), attacks) for game in games(3)]
    with Store(tmp_path / "out") as store:
        rows = run(units, store, limits=Limits(seconds=1))
        assert [row.status for row in rows] == [Status.OK] * 2 + [Status.FAILED] * 2 + [
            Status.OK
        ] * 2
        (said,) = {row.error or "" for row in rows[2:4]}
        assert said.startswith("setting up the game") and said.endswith(error)
        assert rows[2].cell == rows[0].cell and rows[3].attack == "many"


def test_losing_a_worker_always_gets_on() -> None:
    """A worker that dies before it said anything decides all rows: nothing is tried for ever."""
    group = Group(tuple(games(2)), (PRIOR,))
    assignment = Assignment(0, group, group.turns())
    found = assignment.fail("killed its worker process (exit code 1)")
    assert [(each.attack, each.rep) for each in found] == [(0, 0), (0, 1)]
    assert assignment.remaining() == []


def test_play_group_is_a_plain_function() -> None:
    group = Group(tuple(games(2)), (PRIOR,))
    kinds = [type(event).__name__ for event in play_group(group, [Turn(0, (1,))])]
    assert kinds == ["SetupStarted", "SetupFinished", "AttackStarted", "FinishedRow"]


def test_workers_are_used_again(together: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "who.py"
    plugin.write_text(
        "import os\n"
        "class Who:\n"
        "    name = 'who'\n"
        "    def reconstruct(self, view, rng):\n"
        "        return view.reconstruction([0] * view.n, info={'pid': os.getpid()})\n"
    )
    units = [Unit(game, (AttackSpec(f"{plugin}:Who"),)) for game in games(6)]
    with Pool(2, Limits()) as pool:
        pool.start_workers()
        rows = [row for _, _, row in play_units(units, jobs=2, pool=pool)]
        more = [row for _, _, row in play_units(units, jobs=2, pool=pool)]
    pids = {row.info["pid"] for row in (*rows, *more)}
    assert len(rows) == len(more) == 6 and len(pids) <= 2 and os.getpid() not in pids


def test_bad_limits() -> None:
    for seconds in (-1.0, float("nan"), float("inf")):
        with pytest.raises(LimitError, match="timeout must be a positive number of seconds"):
            Limits(seconds=seconds)
    with pytest.raises(LimitError, match=r"at least 1 GiB.*got 0\.1"):
        Limits(gib=0.1)
    assert Limits.of(0, 0) == Limits() and memory.limited_to() is None


def test_a_script_without_a_guard_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from reconbench.benchmarks.run.runner import Unit, play_units\n"
        "from reconbench import AttackSpec, Game\n"
        "list(play_units([Unit(Game('acs', ('SEX',), 1.0), (AttackSpec('prior'),))], jobs=2))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{WorkerError.__name__}: a worker process could not start" in done.stderr
    assert "if __name__ == '__main__'" in done.stderr.splitlines()[-1]


SUITE = """
name = "s"
description = "s"
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX"]
epsilon = [3]
"""


def family(pid: int) -> tuple[str, int]:
    """The state and the parent of a process, as Linux writes them."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "gone", 0
    return state, int(parent)


def children(parent: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if family(pid)[1] == parent]


def alive(pid: int) -> bool:
    return family(pid)[0] not in ("gone", "Z", "X")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_stopped_runs_keep_their_rows(
    bad: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """StoppedEarly while an attack hangs: at once, no traceback, no worker left, rows kept."""
    (tmp_path / "suite.toml").write_text(SUITE)
    command = str(Path(sys.executable).with_name("reconbench"))
    arguments = ["run", "suite.toml", "--out", "out", "--jobs", "1", "--quiet", "--timeout", "0"]
    sweep = subprocess.Popen(
        [command, *arguments, "--attack", f"{bad}:Hangs"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that runs the tests in the background has SIGINT ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    mark = f"mark-{os.getpid()}"
    wait_until(lambda: bool(running(mark)) or sweep.poll() is not None)
    workers = children(sweep.pid)
    assert workers and sweep.poll() is None
    sweep.send_signal(number)
    wait_until(lambda: sweep.poll() is not None)
    assert sweep.returncode == code
    wait_until(lambda: not any(alive(pid) for pid in workers))
    if number is signal.SIGKILL:
        for pid in running(mark):
            os.kill(pid, signal.SIGKILL)
    errors = sweep.communicate()[1]
    assert "Traceback" not in errors and running(mark) == []
    if number is not signal.SIGKILL:
        last = errors.splitlines()[-1]
        assert last.startswith("stopped; finished rows are kept in out; go on with: reconbench run")
        assert last.endswith(f"--attack {bad}:Hangs")
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / FILE_NAME)) as connection:
        assert connection.execute("SELECT count(*) FROM results").fetchone()[0] == 1
