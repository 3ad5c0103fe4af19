"""Whatever a hostile attack does costs its own row and nothing else."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.player import foreign_attack, referee
from reconbench.benchmarks.run.runner import Unit, play_units
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.datasets import Table

Zoo = dict[str, tuple[Path, str | None]]
OURS = (AttackSpec("prior"), AttackSpec("rap", {"steps": 20}))
GAME = Game("acs", ("SEX",), 3.0, n=30)
LIMITS = Limits(seconds=2, gib=1)


def plain(row: Result) -> str:
    return json.dumps(replace(row, seconds=0.0, peak_memory_mib=None).to_json())


def running(mark: str) -> list[str]:
    """Processes with a mark in their command line; one that was killed has a moment to end."""
    for _ in range(100):
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if mark.encode() in path.read_bytes():
                    found.append(path.parent.name)
        if not found:
            break
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def played(zoo: Zoo) -> Iterator[dict[str, Result]]:
    """The rows of one run of the whole zoo, with attacks of the package around each animal."""
    attacks: list[AttackSpec] = []
    for path, _ in zoo.values():
        attacks += [AttackSpec(f"{path}:X"), OURS[len(attacks) // 2 % 2]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECONBENCH_TEST_SECRET", "1")
        rows = list(play_units([Unit(GAME, tuple(attacks))], limits=LIMITS))
    assert len(rows) == len(attacks)
    by_index = {index: row for _, index, row in rows}
    found = {name: by_index[2 * index] for index, name in enumerate(zoo)}
    found |= {f"after {name}": by_index[2 * index + 1] for index, name in enumerate(zoo)}
    yield found


def test_the_zoo_is_large(zoo: Zoo) -> None:
    assert len(zoo) >= 40


def test_each_loses_its_own_row_with_a_clear_sentence(zoo: Zoo, played: dict[str, Result]) -> None:
    for name, (_, end) in zoo.items():
        row = played[name]
        if name == "kill-parent" and row.status is Status.FAILED:
            assert "player process" in (row.error or "")  # there are no namespaces here
            continue
        if end is None:
            assert row.status is Status.OK, (name, row.error)
            continue
        assert row.status is Status.FAILED, name
        assert row.error is not None and end in row.error, (name, row.error)
        assert "\n" not in row.error and row.error.startswith(("attack '", "plugin file"))


def test_those_that_play_are_scored_by_the_referee(zoo: Zoo, played: dict[str, Result]) -> None:
    """The successes are those of the guesses that each draws from its stream, counted here."""
    round_ = Round.draw(GAME)
    honest = played["honest"]
    for name, (_, end) in zoo.items():
        if end is None and played[name].status is Status.OK:
            rng = GAME.make_stream(f"attack {name}", round_.prior, Seeds.ATTACK)
            guess = Table(round_.truth.domain, rng.integers(0, 2, (GAME.n, 1)))
            assert played[name].successes == round_.successes(guess), name
            assert played[name].baseline_successes == honest.baseline_successes
            assert played[name].table_hash == honest.table_hash


def test_the_rows_of_all_others_are_the_same(played: dict[str, Result]) -> None:
    alone = {}
    for _, index, row in play_units([Unit(GAME, OURS)]):
        alone[OURS[index].spec] = plain(row)
    others = [row for name, row in played.items() if name.startswith("after ")]
    assert {plain(row) for row in others} == set(alone.values())


def test_what_is_printed_is_kept_and_cut(played: dict[str, Result]) -> None:
    for name, letter in (("flood-stdout", "x"), ("flood-stderr", "y")):
        printed = played[name].printed
        assert printed.startswith(letter * 100) and len(printed) < 2100
        assert printed.endswith("more bytes]")
    assert played["honest"].printed == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_left_running(played: dict[str, Result], mark: str) -> None:
    assert played and running(mark) == []


@pytest.fixture
def without_namespace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A keeper as on systems that give unprivileged processes no process numbers of their own."""
    keeper = referee.Keeper(namespace=False)
    monkeypatch.setattr(referee, "_keeper", keeper)
    monkeypatch.setattr(foreign_attack._sessions, "current", None)
    referee.limit_players(3.0)
    yield
    referee.limit_players(None)
    keeper.close()
    foreign_attack._sessions.current = None


@pytest.mark.usefixtures("without_namespace")
def test_without_a_namespace_the_keeper_is_expendable(zoo: Zoo, mark: str) -> None:
    round_ = Round.draw(GAME)
    honest = AttackSpec(f"{zoo['honest'][0]}:X")
    before = plain(play(round_, honest))
    for name in ("kill-parent", "kill-group", "hard-exit", "hang", "kill-parent-at-import"):
        with pytest.raises(ValueError, match="attack"):
            play(round_, AttackSpec(f"{zoo[name][0]}:X"))
        assert plain(play(round_, honest)) == before
    play(round_, AttackSpec(f"{zoo['leave-children'][0]}:X"))
    assert plain(play(round_, honest)) == before
    assert sys.platform != "linux" or running(mark) == []
