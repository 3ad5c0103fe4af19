"""The games behind the figures of Swanberg 2025: their file, and what the page says of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from generate import reproduction_games
from generate.rendering import render
from generate.reproduction_games import (
    PlayedError,
    compute_gains_by_table,
    describe_figures,
    read_games,
    summarise_games,
)
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.store.store import Key, Store, row_key
from reconbench.datasets import Attribute, BayNet, Domain


def test_games_are_summarised() -> None:
    game = Game("acs", ("SEX",), 1.0, n=20)
    rows = [play(Round.draw(game.repeat(rep)), AttackSpec("prior")) for rep in range(3)]
    (line,) = summarise_games(rows).to_dict("records")
    assert line["success"] == pytest.approx(sum(row.successes or 0 for row in rows) / 3, abs=1e-3)
    assert line["low"] <= line["success"] <= line["high"] and line["known"] == 15
    assert summarise_games(rows[:1]).empty  # one table has no interval


def test_games_of_other_code_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, prior = Game("acs", ("SEX",), 1.0, n=20), AttackSpec("prior")
    with Store(tmp_path) as store:
        for rep in range(2):
            key, row = row_key(game.repeat(rep), prior), play(Round.draw(game.repeat(rep)), prior)
            store.put(key, row)
            old = Key(f"old {rep}", key.config, replace(key.origin, code="old"))
            store.put(old, replace(row, successes=0))
    committed = read_games()
    monkeypatch.setattr(reproduction_games, "PLAYED", tmp_path / "games.csv")
    reproduction_games.main(str(tmp_path))
    (line,) = read_games().to_dict("records")
    assert line["repetitions"] == 2 and line["success"] > 0
    assert list(line) == list(committed)


def test_the_committed_games_show_every_printed_number() -> None:
    games = read_games()
    text = render("reproduction_figures.md.j2", **describe_figures(games))
    for printed in ("| 56 |", "| 65 |", "| 84 |", "| AGEP, SCHL |", "| 81 |", "| 82 |"):
        assert printed in text
    assert text in (reproduction_games.DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert (games["low"] <= games["success"]).all() and (games["success"] <= games["high"]).all()
    # no attack passes the ceilings that hold for all of them in the mean
    assert (games["low"] <= games["ceiling_95"]).all()
    with pytest.raises(PlayedError, match="lacks acs SEX"):
        describe_figures(games.assign(targets="X"))


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
        table = net.sample(6, game.make_stream("table", net, Seeds.TABLE))
        total = 0.0
        for value in set(table.codes[:, 0]):
            hidden = table.codes[table.codes[:, 0] == value, 1]
            orders = list(permutations(hidden))
            total += max(
                fmean(sum(g == h for g, h in zip(guess, order, strict=True)) for order in orders)
                for guess in product(range(3), repeat=len(hidden))
            )
        found.append(total)
    assert reproduction_games.count_distinguishable("toy", "b", 4, n=6) == pytest.approx(
        fmean(found)
    )


def test_the_gain_by_table_is_that_of_the_results_page() -> None:
    gains = compute_gains_by_table("acs", "SEX", 1.0)
    assert len(gains) == 20
    assert min(gains) < 0 < fmean(gains) < max(gains)
