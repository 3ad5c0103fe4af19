"""Words of a suite that stand for data sets and columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.suites import column_choices
from reconbench.benchmarks.suites.column_choices import (
    compute_entropy,
    list_datasets,
    rank_by_entropy,
)
from reconbench.benchmarks.suites.suite import SuiteError, read_suite
from reconbench.datasets import Attribute, BayNet, Domain


def independent(**chances: list[float]) -> BayNet:
    attributes = [Attribute(n, tuple(map(str, range(len(p))))) for n, p in chances.items()]
    cpts = tuple(np.array(p) for p in chances.values())
    return BayNet(Domain(tuple(attributes)), ((),) * len(cpts), cpts, tuple(chances))


def read_games(folder: Path, **axes: str) -> list[tuple[str, tuple[str, ...]]]:
    lines = {"dataset": '"acs"', "epsilon": "1"} | axes
    path = folder / "mine.toml"
    path.write_text(
        'name = "mine"\ndescription = ""\nrepetitions = 1\nattacks = ["prior"]\n[[games]]\n'
        + "".join(f"{key} = {value}\n" for key, value in lines.items())
    )
    return [(unit.game.dataset, unit.game.targets) for unit in read_suite(path).units()]


def test_entropy_is_exact_and_in_bits() -> None:
    prior = independent(a=[0.5, 0.25, 0.125, 0.125], b=[0.5, 0.5], c=[1.0, 0.0])
    assert [compute_entropy(prior, name) for name in "abc"] == pytest.approx([1.75, 1.0, 0.0])


def test_entropy_is_that_of_samples() -> None:
    """A naive twin on the shipped network: counts of many records; the wrong column is far off."""
    prior = plugins.load_prior("acs")
    records = prior.sample(50_000, np.random.default_rng(1))
    shares = np.bincount(records.column("RELP")) / len(records)
    shares = shares[shares > 0]
    sampled = -(shares * np.log2(shares)).sum()
    assert abs(compute_entropy(prior, "RELP") - sampled) < 0.02
    assert abs(compute_entropy(prior, "MAR") - sampled) > 0.1


def test_columns_of_equal_entropy_keep_their_order() -> None:
    """The chances are the same numbers in another order: sums differ in the last digit only."""
    chances = [0.1, 0.2, 0.3, 0.4]
    prior = independent(z=chances, y=[0.5, 0.5], a=chances[::-1], m=[0.3, 0.1, 0.4, 0.2])
    assert rank_by_entropy(prior) == ["z", "a", "m", "y"]
    assert rank_by_entropy(prior, ["a"]) == ["z", "m", "y"]


def test_columns_of_one_value_or_very_many_are_passed_over() -> None:
    many = column_choices.MOST_VALUES + 1
    prior = independent(constant=[1.0], key=[1 / many] * many, coin=[0.5, 0.5])
    assert rank_by_entropy(prior) == ["coin"]
    most = independent(constant=[1.0], key=[1 / (many - 1)] * (many - 1), coin=[0.5, 0.5])
    assert rank_by_entropy(most) == ["key", "coin"]


def test_a_suite_takes_the_columns_of_largest_entropy(tmp_path: Path) -> None:
    got = read_games(tmp_path, dataset='["acs", "fire"]', targets='"top-entropy:3"')
    assert got == [
        *(("acs", (name,)) for name in ("SCHL", "AGEP", "RELP")),
        *(("fire", (name,)) for name in ("Station Area", "Zipcode of Incident", "Battalion")),
    ]
    known = read_games(tmp_path, targets='"top-entropy:2"', known='["SCHL", "MAR"]')
    assert [targets for _, targets in known] == [("AGEP",), ("RELP",)]
    assert len(read_games(tmp_path, targets='"top-entropy:99"')) == 16


@pytest.mark.parametrize("word", ["top-entropy:0", "top-entropy:2-3"])
def test_counts_that_mean_nothing(tmp_path: Path, word: str) -> None:
    with pytest.raises(SuiteError, match=r"targets: 'top-entropy:.*N at least 1") as caught:
        read_games(tmp_path, targets=f'"{word}"')
    assert "\n" not in str(caught.value)


def test_each_data_set_is_every_table_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read when it is needed; secrets behind a constant are no tables."""
    listed = list_datasets(["each"])
    assert {"acs", "fire"} <= set(listed) and listed == sorted(listed)
    assert not any(name.startswith("secret-") for name in listed)
    monkeypatch.setattr(column_choices, "MOST_COLUMNS", 10)
    assert "fire" in list_datasets(["each"]) and "acs" not in list_datasets(["each"])
    monkeypatch.setattr(plugins, "list_dataset_names", lambda: ["fire"])
    assert list_datasets(["each"]) == ["fire"] and list_datasets(["fire", "each"]) == ["fire"]


def test_a_broken_data_set_of_another_package_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken one of ours is an error: it must not vanish from results unseen."""
    monkeypatch.setattr(plugins, "list_dataset_names", lambda: ["acs", "gone"])
    with pytest.raises(plugins.PluginError, match="unknown dataset 'gone'"):
        list_datasets(["each"])
    monkeypatch.setattr(plugins, "is_foreign", lambda kind, name: name == "gone")
    assert list_datasets(["each"]) == ["acs"]


def test_the_suite_of_data_sets(tmp_path: Path) -> None:
    from reconbench.benchmarks.suites.suite import find_suite

    units = find_suite("datasets").units(repetitions=1)
    assert {unit.game.epsilon for unit in units} == {1.0, 3.0, 10.0}
    assert {unit.game.dataset for unit in units} == set(list_datasets(["each"]))
    per_cell: dict[tuple[str, float], int] = {}
    for unit in units:
        key = (unit.game.dataset, unit.game.epsilon)
        per_cell[key] = per_cell.get(key, 0) + 1
    assert all(1 <= count <= 3 for count in per_cell.values()) and per_cell["acs", 1.0] == 3
