"""Suites on other data and in other settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.game.setting import AXES
from reconbench.benchmarks.suites.axis_values import REPLACEABLE, parse_axis
from reconbench.benchmarks.suites.replaced_axes import (
    ReplacedSuite,
    replace_axes,
)
from reconbench.benchmarks.suites.suite import SuiteError, find_suite, read_suite
from reconbench.datasets import save_prior
from reconbench.datasets.shipped import acs

TWO_TABLES = """
name = "two"
description = "a test"
repetitions = 2
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX", ["SEX", "MAR"]]
epsilon = [1, inf]
include = [{ dataset = "fire", targets = ["Priority"] }]
exclude = [{ targets = "SEX", epsilon = inf }]
[[games]]
dataset = "fire"
targets = "visit:1-7"
known = "last:3"
epsilon = 3
attacks = ["random"]
"""
TOY = """
import numpy as np
from reconbench.datasets import Attribute, BayNet, Domain
def toy():
    "Two coins and a die."
    names = ("coin", "other", "die")
    sizes = (2, 2, 6)
    domain = Domain(tuple(
        Attribute(name, tuple(map(str, range(size)))) for name, size in zip(names, sizes)
    ))
    return BayNet(domain, ((), (), ()), tuple(np.full(size, 1 / size) for size in sizes), names)
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO_TABLES)
    return path


@pytest.fixture
def toy(tmp_path: Path) -> str:
    (tmp_path / "toy.py").write_text(TOY)
    return f"{tmp_path / 'toy.py'}:toy"


def replaced(suite: str | Path, **given: list[str]) -> ReplacedSuite:
    return replace_axes(find_suite(str(suite)), given)


def games(found: ReplacedSuite) -> list[Game]:
    return [unit.game for unit in found.suite.units(repetitions=1)]


def test_every_axis_of_a_block_can_be_replaced() -> None:
    """Nothing is listed a second time."""
    assert set(AXES) - set(REPLACEABLE) == {"mechanism_options", "seed", "data_hash"}
    assert set(REPLACEABLE) - set(AXES) == {"k"}


def test_a_paper_on_its_own_data(tmp_path: Path) -> None:
    """Swanberg 2025, figures 4 to 7, on a prior with the columns of ACS: all ACS games, once."""
    save_prior(acs(), tmp_path / "acs-ca.bif")
    found = replaced("swanberg", dataset=[str(tmp_path / "acs-ca.bif")])
    assert {game.dataset for game in games(found)} == {str(tmp_path / "acs-ca.bif")}
    shipped = {
        (game.targets, game.known, game.epsilon, game.metric)
        for game in (unit.game for unit in find_suite("swanberg").units(repetitions=1))
        if game.dataset == "acs"
    }
    mine = [(game.targets, game.known, game.epsilon, game.metric) for game in games(found)]
    assert len(mine) == len(set(mine)) == found.games == 46 and set(mine) == shipped
    assert found.suite.name == "swanberg-on-acs-ca"
    assert found.describe() == (
        "replaced: data set acs-ca.bif; 46 games remain; left out: 2 blocks of games on columns "
        "that acs-ca.bif lacks (ALS Unit, Zipcode of Incident)"
    )


def test_blocks_that_become_one_game_are_played_once_with_all_attacks(two: Path) -> None:
    found = replaced(two, dataset=["acs"], targets=["SEX"], known=["MAR"], epsilon=["2"], k=["2"])
    (unit, _) = found.suite.units()
    assert unit.game.targets == ("SEX",) and unit.game.known == ("MAR",)
    assert [spec.spec for spec in unit.attacks] == ["prior", "random"] and found.games == 1
    assert "1 game remains" in found.describe()


def test_include_and_exclude_of_a_block(two: Path) -> None:
    """Other data leaves the exclusion where it still applies; an idle one is dropped."""
    found = games(replaced(two, dataset=["acs"]))
    mine = [(game.targets, game.epsilon) for game in found if not game.known]
    assert mine == [(("SEX",), 1.0), (("SEX", "MAR"), 1.0), (("SEX", "MAR"), float("inf"))]
    every = games(replaced(two, epsilon=["5"]))
    assert {game.epsilon for game in every} == {5.0}
    assert {game.targets for game in every if not game.known} == {
        ("SEX",), ("SEX", "MAR"), ("Priority",),
    }  # fmt: skip
    two.write_text(TWO_TABLES.rpartition("[[games]]")[0])
    with pytest.raises(SuiteError, match="every game is excluded"):
        replaced(two, dataset=["acs"], targets=["SEX"], epsilon=["inf"])


def test_included_suites_are_replaced_and_computations_left_out(tmp_path: Path) -> None:
    path = tmp_path / "whole.toml"
    path.write_text('name = "whole"\ndescription = ""\ninclude = ["kulynych-fig4", "smoke"]\n')
    found = replaced(path, dataset=["acs"], targets=["each"], n=["50"])
    assert found.suite.points() == [] and found.suite.computations() == []
    assert len(games(found)) == 16 and {game.n for game in games(found)} == {50}
    assert found.left_out == ("left out: 1 computation, which has no data set",)
    assert found.suite.name == "whole-on-acs-targets-each-n-50"
    # The suite itself is as it was.
    assert len(find_suite(str(path)).points()) == 8


def test_counts_of_columns_end_at_the_last_one(toy: str) -> None:
    found = replaced("swanberg-fig6", dataset=[toy])
    assert [(game.targets, game.known) for game in games(found)] == [(("coin",), ("other", "die"))]
    assert "visit:1-1 on toy.py:toy" in found.describe()
    with pytest.raises(SuiteError, match="known: 'last:7' is not between 1 and 2"):
        replaced("swanberg-fig6", dataset=[toy], known=["last:7"])


def test_columns_of_one_table_leave_out_the_other() -> None:
    found = replaced("quick", targets=["SEX,MAR", "AGEP"])
    assert {(game.dataset, game.targets) for game in games(found)} == {
        ("acs", ("SEX", "MAR")), ("acs", ("AGEP",)),
    }  # fmt: skip
    assert "left out: 1 block of games on columns that fire lacks (SEX)" in found.describe()


def test_a_family_with_commas_is_one_data_set() -> None:
    spec = "columns:fire:Priority,Battalion"
    assert parse_axis("dataset", [spec, "acs,fire"]) == [spec, "acs", "fire"]


def test_every_data_set_may_be_asked_for() -> None:
    found = replaced("quick", dataset=["each"], targets=["top-entropy:1"], epsilon=["1"])
    assert {game.dataset for game in games(found)} >= {"acs", "fire"}
    assert found.suite.name == "quick-on-each-targets-top-entropy-1-epsilon-1"


def test_long_names_stay_names_and_differ() -> None:
    names = {
        replaced("quick", dataset=["acs"], epsilon=[f"{step / 64}" for step in range(1, last)])
        .suite.name
        for last in (40, 41)
    }  # fmt: skip
    assert len(names) == 2 and max(map(len, names)) <= 80


@pytest.mark.parametrize(
    ("suite", "given", "message"),
    [
        ("quick", {"dataset": ["nope"]}, r"^--dataset: unknown dataset 'nope'; available: acs"),
        ("quick", {"dataset": ["no.bif"]}, r"^--dataset: no file .*no\."),
        ("quick", {"dataset": [""]}, r"^--dataset: .*at least 1 item"),
        ("quick", {"targets": ["SXE"]}, r"^--targets: acs has no column 'SXE'; it has AGEP, SCHL"),
        ("quick", {"dataset": ["fire"], "targets": ["SEX"]}, r"^--targets: fire has no column"),
        ("quick", {"known": ["SXE"]}, r"^--known: acs has no column 'SXE'"),
        ("quick", {"targets": ["each", "SEX"]}, r"--targets each stands for columns by itself"),
        ("quick", {"targets": [""]}, r"^--targets: "),
        ("smoke", {"dataset": ["acs"], "known": ["SEX"]}, r"'SEX' is both known and a target"),
        ("quick", {"epsilon": ["one"]}, r"^--epsilon must be numbers \(inf.*got 'one'"),
        ("quick", {"epsilon": ["0"]}, r"^--epsilon: .*greater than 0, got 0"),
        ("quick", {"epsilon": ["nan"]}, r"^--epsilon: .*got nan"),
        ("quick", {"epsilon": [","]}, r"^--epsilon: .*at least 1 item"),
        ("quick", {"n": ["1e3"]}, r"^--n must be whole numbers, comma-separated, got '1e3'"),
        ("quick", {"n": ["0"]}, r"^--n: .*greater than or equal to 1, got 0"),
        ("quick", {"adversary": ["weak"]}, r"^--adversary: use realistic or informed"),
        ("quick", {"mechanism": ["nope"]}, r"games.0.mechanism: unknown mechanism 'nope'"),
        ("kulynych", {"dataset": ["acs"]}, r"kulynych has computations only, which have no data s"),
        ("swanberg", {"dataset": ["fire"], "targets": ["each"]}, r"; --metric replaces the metric"),
        (
            "swanberg-fig5",
            {"dataset": ["secret-names"]},
            r"suite swanberg-fig5, games.0.targets: secret-names has no column 'SCHL'; name some "
            r"of its own with --targets \(context, name\)",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_replaced_in_one_line(
    suite: str, given: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        replaced(suite, **given).suite.units()
    assert "\n" not in str(caught.value)


def test_a_suite_of_too_many_games_is_counted_not_listed(two: Path) -> None:
    found = replace_axes(read_suite(two), {"epsilon": ["1", "2"]}, most_games=5)
    assert found.games is None and "remain" not in found.describe()
    assert found.suite.count_rows() > 5


def test_the_same_file_elsewhere_is_another_data_set(tmp_path: Path) -> None:
    """Two files of one name share a folder, but no rows: the key has the hash of the prior."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save_prior(acs(), tmp_path / folder / "mine.bif")
    one, other = (
        replaced("smoke", dataset=[str(tmp_path / folder / "mine.bif")], targets=["SEX"])
        for folder in ("a", "b")
    )
    assert one.suite.name == other.suite.name == "smoke-on-mine-targets-SEX"
    assert [plugins.shorten_spec(game.dataset) for game in games(one)] == ["mine.bif"]
