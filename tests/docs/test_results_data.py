"""The data file of the results page, from rows and stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from generate.results_data import GapError, main, outcomes, stored_rows
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store.store import Keys, Store, StoreError
from reconbench.benchmarks.store.summary import read_outcomes


@pytest.fixture(scope="module")
def rows() -> list[Result]:
    rounds = [
        Round.of(Game("acs", (column,), epsilon=epsilon, n=5, rep=rep))
        for column in ("SEX", "AGEP")
        for epsilon in (10.0, 1.0)
        for rep in (1, 0)
    ]
    return [play(each, AttackSpec("prior")) for each in rounds]


def stating(rows: Sequence[Result]) -> list[Result]:
    return [
        replace(
            row,
            attack="posterior",
            successes=row.rep + 2,
            best_possible=row.rep + 1.5,
            best_possible_se=0.3 + 0.1 * row.rep,
            best_possible_converged=row.rep == 0,
        )
        for row in rows
    ]


def stored(folder: Path, rows: Sequence[Result]) -> Path:
    keys = Keys()
    with Store(folder) as store:
        for row in rows:
            game = Game(row.dataset, row.targets, epsilon=row.epsilon, n=row.n, rep=row.rep)
            store.put(keys.of(game, AttackSpec(row.attack)), row)
        store.put("made by other code", replace(rows[0], rep=99))
    return folder


def test_cells_are_ordered_and_repetitions_sorted(rows: list[Result]) -> None:
    found = outcomes([*rows, *stating(rows)])
    assert [(each.column, each.epsilon, each.attack) for each in found] == [
        (column, epsilon, attack)
        for column in ("AGEP", "SEX")
        for epsilon in (1.0, 10.0)
        for attack in ("posterior", "prior")
    ]
    assert [each.values for each in found] == [10] * 4 + [2] * 4
    first = found[0]
    assert (first.reps, first.successes, first.best) == ((0, 1), (2, 3), (1.5, 2.5))
    assert first.unconverged == (1,)
    assert first.best_error == pytest.approx(0.25)
    played = {row.rep: row for row in rows if row.targets == ("AGEP",) and row.epsilon == 1}
    assert first.exact == tuple(played[rep].ceilings["prior-exact"]["mean"] for rep in (0, 1))
    halves = [row.ceilings["thm35"]["0.5"] for row in played.values()]
    assert first.published_50 == pytest.approx(sum(halves) / 2)
    assert found[1].best == found[1].exact == ()


def test_failed_games_are_counted_and_left_out(rows: list[Result]) -> None:
    pair = [row for row in rows if row.targets == ("SEX",) and row.epsilon == 1]
    lost = replace(pair[0], status=Status.FAILED, successes=None)
    (found,) = outcomes([lost, pair[1]])
    assert (found.failures, found.reps) == (1, (pair[1].rep,))


def test_a_repetition_twice_is_refused(rows: list[Result]) -> None:
    with pytest.raises(GapError, match="the stores mix versions"):
        outcomes([*rows, rows[0]])


def test_a_best_possible_in_some_repetitions_only_is_refused(rows: list[Result]) -> None:
    stated = stating(rows[:2])
    with pytest.raises(GapError, match="in 1 of 2 repetitions"):
        outcomes([stated[0], replace(stated[1], best_possible=None)])


def test_several_targets_and_another_prior_are_refused(rows: list[Result]) -> None:
    with pytest.raises(GapError, match="single columns"):
        outcomes([replace(rows[0], targets=("SEX", "AGEP"))])
    with pytest.raises(GapError, match="another prior"):
        outcomes([replace(rows[0], data_hash="0")])


def test_stores_become_a_file(tmp_path: Path, rows: list[Result]) -> None:
    folders = [stored(tmp_path / "a", rows), stored(tmp_path / "b", stating(rows))]
    out = tmp_path / "results.csv"
    assert main([*map(str, folders), "--out", str(out)]) == 0
    assert len(read_outcomes(out.read_text())) == 8
    assert sorted(stored_rows(folders[0]), key=repr) == sorted(rows, key=repr)


def test_what_is_no_store_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--out", str(tmp_path / "out.csv")]) == 1
    assert capsys.readouterr().err.startswith("error: no result store at")
    assert not list(tmp_path.iterdir())
    (tmp_path / "results.sqlite").write_text("no database")
    with pytest.raises(StoreError, match="not a database"):
        list(stored_rows(tmp_path))
