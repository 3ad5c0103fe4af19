"""Cards of plugins, and specs of columns of a data set in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.plugins import PluginError

PEOPLE = '''
from reconbench.benchmarks.plugins.checks import small_prior


def people():
    """A small prior."""
    return small_prior()


people.card = {card}


def plain():
    """Without a card.

    More text.
    """
    return small_prior()
'''


def write(folder: Path, card: object) -> str:
    (folder / "people.py").write_text(PEOPLE.replace("{card}", repr(card)))
    return str(folder / "people.py")


def test_a_function_may_declare_a_card(tmp_path: Path) -> None:
    path = write(tmp_path, {"title": "People", "licence": "CC0", "records": 10})
    columns = len(plugins.load_prior(f"{path}:people").domain)
    assert plugins.read_card(f"{path}:people") == {
        "title": "People",
        "licence": "CC0",
        "records": 10,
        "columns": columns,
    }
    assert plugins.read_card(f"{path}:plain") == {"title": "Without a card.", "columns": columns}


@pytest.mark.parametrize("card", [["title"], {1: "a"}, {"a": {2, 3}}, {"a": float("nan")}])
def test_cards_that_are_no_json(tmp_path: Path, card: object) -> None:
    path = write(tmp_path, card).replace("nan", "float('nan')")
    (tmp_path / "people.py").write_text(
        (tmp_path / "people.py").read_text().replace(": nan", ": float('nan')")
    )
    with pytest.raises(PluginError, match="card must be a mapping of texts to JSON values"):
        plugins.read_card(f"{path}:people")


def test_a_card_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="at most 65,536 characters"):
        plugins.read_card(f"{write(tmp_path, {'title': 'x' * 70_000})}:people")


def test_all_data_sets_are_listed_with_a_title() -> None:
    listed = plugins.list_cards()
    assert {"acs", "fire", "secret-names", "bn:insurance", "uniform:M"} <= set(listed)
    assert all(card["title"] for card in listed.values())
    assert set(plugins.get_entries("dataset")) <= set(listed)
    assert listed["bn:alarm"]["columns"] == plugins.read_card("bn:alarm")["columns"] == 37


def test_columns_of_a_data_set_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"title": "People"})
    names = plugins.load_prior(f"{path}:people").domain.names[:2]
    spec = f"columns:{path}:people:{','.join(names)}"
    assert plugins.load_prior(spec).domain.names == (*names, "constant")
    title = f"Columns {', '.join(names)} of People"
    assert plugins.read_card(spec) == {"title": title, "columns": 3}


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("columns:net.bif:a,b", "net.bif"),
        ("columns:net.bif.gz:a", "net.bif.gz"),
        ("columns:own.py:people:a", "own.py"),
        ("columns:acs:SEX", None),
        ("columns:2", None),
        ("net.bif.gz", "net.bif.gz"),
        ("bn:alarm", None),
        ("own.py:people", "own.py"),
    ],
)
def test_files_of_specs(spec: str, file: str | None) -> None:
    assert plugins.get_file(spec) == file
    absolute = plugins.make_absolute(spec)
    assert plugins.shorten_spec(absolute) == spec
    if file is None:
        assert absolute == spec and plugins.split_file(spec) is None
    else:
        assert absolute == spec.replace(file, str(Path(file).resolve()))
        assert plugins.move_file(spec, "/a/b") == spec.replace(file, "/a/b")
