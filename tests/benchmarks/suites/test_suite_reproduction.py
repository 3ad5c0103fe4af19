from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from generate import reproduction_games
from generate.reproduction_games import PlayedError, committed, from_csv, played, section, to_csv
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.store.store import Key, Store, row_key
from reconbench.datasets import Attribute, BayNet, Domain


def test_games_go_to_the_file_and_back() -> None:
    game = Game("acs", ("SEX",), 1.0, n=20)
    rows = [play(Round.of(game.at(rep)), AttackSpec("prior")) for rep in range(3)]
    (found,) = played(rows)
    assert found.success == pytest.approx(sum(row.successes or 0 for row in rows) / 3, abs=1e-3)
    assert found.low <= found.success <= found.high and found.known == 15
    assert from_csv(to_csv([found])) == [found]
    assert played(rows[:1]) == []  # one table has no interval


def test_games_of_other_code_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, prior = Game("acs", ("SEX",), 1.0, n=20), AttackSpec("prior")
    with Store(tmp_path) as store:
        for rep in range(2):
            key, row = row_key(game.at(rep), prior), play(Round.of(game.at(rep)), prior)
            store.put(key, row)
            old = Key(f"old {rep}", key.config, replace(key.origin, code="old"))
            store.put(old, replace(row, successes=0))
    monkeypatch.setattr(reproduction_games, "PLAYED", tmp_path / "games.csv")
    reproduction_games.main(str(tmp_path))
    (found,) = from_csv((tmp_path / "games.csv").read_text())
    assert found.repetitions == 2 and found.success > 0


def test_the_committed_games_show_every_printed_number() -> None:
    found = committed()
    text = "\n".join(section(found))
    for printed in ("| 56 |", "| 65 |", "| 84 |", "| AGEP, SCHL |", "| 81 |", "| 82 |"):
        assert printed in text
    assert all(each.low <= each.success <= each.high for each in found)
    # no attack passes the ceilings that hold for all of them in the mean
    assert all(each.low <= each.ceiling_95 for each in found)
    with pytest.raises(PlayedError, match="lacks acs SEX"):
        section([replace(each, targets="X") for each in found])


def test_records_that_are_alike_cannot_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a slow twin: the best guess against all ways to hand out the values within a group."""
    columns = (Attribute("a", ("0", "1")), Attribute("b", ("0", "1", "2")))
    domain = Domain(columns)
    cpts = (np.array([0.7, 0.3]), np.array([0.5, 0.3, 0.2]))
    net = BayNet(domain, ((), ()), cpts, domain.names)
    monkeypatch.setattr(plugins, "load_prior", lambda dataset: net)
    found = []
    for rep in range(4):
        game = Game("toy", ("b",), float("inf"), n=6, rep=rep)
        table = net.sample(6, game.stream("table", net, Seeds.TABLE))
        total = 0.0
        for value in set(table.codes[:, 0]):
            hidden = table.codes[table.codes[:, 0] == value, 1]
            orders = list(permutations(hidden))
            total += max(
                fmean(sum(g == h for g, h in zip(guess, order, strict=True)) for order in orders)
                for guess in product(range(3), repeat=len(hidden))
            )
        found.append(total)
    assert reproduction_games.told_apart("toy", "b", 4, n=6) == pytest.approx(fmean(found))


def test_the_gain_by_table_is_that_of_the_results_page() -> None:
    text = reproduction_games._gains("acs", "SEX", 1.0)
    assert text.startswith("on 20 single tables") and "(sd)" in text
