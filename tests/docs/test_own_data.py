"""What reproduction.md says of the paper's figures on other priors."""

from __future__ import annotations

from pathlib import Path

from generate.own_data import list_own_figures
from reconbench.benchmarks.suites.replaced_axes import replace_axes
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.datasets import save_prior
from reconbench.datasets.shipped import acs, fire


def test_every_figure_is_listed_with_its_games() -> None:
    by_number = {line["number"]: line for line in list_own_figures()}
    assert list(by_number) == [4, 5, 6, 7]
    assert by_number[4]["acs"] == "16 games: 16 columns alone, ε = 1"
    assert by_number[5]["fire"] == "8 games: ALS Unit, ε = 0.1 to ∞"
    assert by_number[6]["fire"] == "7 games: 1 to 7 columns at once, 3 known, ε = 3"
    assert by_number[7]["acs"] == "10 games: AGEP, ε = 1, within errors 0 to 9"
    assert by_number[5]["chart"] == "Success against the budget ε"


def test_both_priors_in_one_command_are_the_paper_suite(tmp_path: Path) -> None:
    """As the page says: the games of the suite itself, each on its own prior, and no others."""
    save_prior(acs(), tmp_path / "acs-ca.bif")
    save_prior(fire(), tmp_path / "fire-all.bif")
    both = ",".join(str(tmp_path / name) for name in ("acs-ca.bif", "fire-all.bif"))
    found = replace_axes(find_suite("swanberg"), {"dataset": [both]})
    assert found.suite.name == "swanberg-on-acs-ca-fire-all" and found.games == 98
    names = {str(tmp_path / "acs-ca.bif"): "acs", str(tmp_path / "fire-all.bif"): "fire"}
    mine = {
        (names[unit.game.dataset], unit.game.targets, unit.game.epsilon, unit.game.metric)
        for unit in found.suite.units(repetitions=1)
    }
    own = {
        (unit.game.dataset, unit.game.targets, unit.game.epsilon, unit.game.metric)
        for unit in find_suite("swanberg").units(repetitions=1)
    }
    assert mine == own
