"""The data file of the results page, from rows and stores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import pandas as pd
import pytest

from generate.outcome_lists import OutcomesError
from generate.results_data import (
    COLUMNS,
    FILE,
    ResultsError,
    join_repetitions,
    main,
    read_current_rows,
    split_games,
)
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store.store import Keys, Store, StoreError


@pytest.fixture(scope="module")
def rows(drop_scores: Callable[[Result], Result]) -> list[Result]:
    rounds = [
        Round.draw(Game("acs", (column,), epsilon=epsilon, n=5, rep=rep))
        for column in ("SEX", "AGEP")
        for epsilon in (10.0, 1.0)
        for rep in (1, 0)
    ]
    return [drop_scores(play(each, AttackSpec("prior"))) for each in rounds]


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
    found = join_repetitions([*rows, *stating(rows)])
    assert list(zip(found["column"], found["epsilon"], found["attack"], strict=True)) == [
        (column, epsilon, attack)
        for column in ("AGEP", "SEX")
        for epsilon in (1.0, 10.0)
        for attack in ("posterior", "prior")
    ]
    assert found["values"].tolist() == [10] * 4 + [2] * 4
    first = found.iloc[0]
    assert (first.reps, first.successes) == ((0, 1), (2, 3))
    assert first.best[0] == 1.5 and isnan(first.best[1])  # did not converge: no number
    assert first.unconverged == (1,)
    assert first.best_error == pytest.approx(0.3)
    played = {row.rep: row for row in rows if row.targets == ("AGEP",) and row.epsilon == 1}
    assert first.exact == tuple(played[rep].ceilings["prior-exact"]["mean"] for rep in (0, 1))
    halves = [row.ceilings["thm35"]["0.5"] for row in played.values()]
    assert first.published_50 == pytest.approx(sum(halves) / 2)
    assert found.iloc[1].best == found.iloc[1].exact == ()


def test_failed_games_are_counted_and_left_out(rows: list[Result]) -> None:
    pair = [row for row in rows if row.targets == ("SEX",) and row.epsilon == 1]
    lost = replace(pair[0], status=Status.FAILED, successes=None)
    found = join_repetitions([lost, pair[1]])
    assert (found["failures"].tolist(), found["reps"].tolist()) == ([1], [(pair[1].rep,)])


def test_a_repetition_twice_is_refused(rows: list[Result]) -> None:
    with pytest.raises(ResultsError, match="the stores mix versions"):
        join_repetitions([*rows, rows[0]])


def test_a_best_possible_in_some_repetitions_only_is_refused(rows: list[Result]) -> None:
    stated = stating(rows[:2])
    silent = replace(stated[1], best_possible=None, best_possible_converged=None)
    with pytest.raises(ResultsError, match="in 1 of 2 repetitions"):
        join_repetitions([stated[0], silent])


def test_several_targets_and_another_prior_are_refused(rows: list[Result]) -> None:
    with pytest.raises(ResultsError, match="single columns"):
        join_repetitions([replace(rows[0], targets=("SEX", "AGEP"))])
    with pytest.raises(ResultsError, match="another prior"):
        join_repetitions([replace(rows[0], data_hash="0")])


def test_stores_become_a_file(tmp_path: Path, rows: list[Result]) -> None:
    folders = [stored(tmp_path / "a", rows), stored(tmp_path / "b", stating(rows))]
    out = tmp_path / "results.csv"
    assert main([*map(str, folders), "--out", str(out)]) == 0
    assert len(FILE.read_csv(out.read_text())) == 8
    assert sorted(read_current_rows(folders[0]), key=repr) == sorted(rows, key=repr)


def test_what_is_no_store_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--out", str(tmp_path / "out.csv")]) == 1
    assert capsys.readouterr().err.startswith("error: no result store at")
    assert not list(tmp_path.iterdir())
    (tmp_path / "results.sqlite").write_text("no database")
    with pytest.raises(StoreError, match="not a database"):
        list(read_current_rows(tmp_path))


def test_outcomes_survive_the_file(make: Callable[..., dict[str, object]]) -> None:
    stated = make(
        "posterior",
        (50, 51),
        column='a,"b"',
        dataset="NA",
        epsilon=math.inf,
        failures=1,
        published_50=None,
        best_error=0.125,
        reps=(0, 2),
        best=(50.25, 51.5),
        unconverged=(2,),
        exact=(60.0, 61.25),
    )
    lines = pd.DataFrame([stated, make("prior", (50, 51))], columns=COLUMNS)
    pd.testing.assert_frame_equal(FILE.read_csv(FILE.to_csv(lines)), lines, check_dtype=False)
    assert FILE.read_csv(FILE.to_csv(lines[:0])).empty
    games = split_games(lines)
    assert games["rep"].tolist() == [0, 2, 0, 1]
    assert games["converged"].tolist() == [True, False, True, True]


def test_bad_files_are_refused(make: Callable[..., dict[str, object]]) -> None:
    lines = pd.DataFrame([make("prior", (50, 51))], columns=COLUMNS)
    text = FILE.to_csv(lines)
    with pytest.raises(OutcomesError, match="has the columns dataset"):
        FILE.read_csv(text.replace("dataset", "data", 1))
    with pytest.raises(OutcomesError, match="the column successes does not hold outcomes"):
        FILE.read_csv(text.replace("50 51", "50 x"))
    with pytest.raises(ResultsError, match="3 successes for 2 repetitions"):
        split_games(FILE.read_csv(text.replace("50 51", "50 51 52")))
