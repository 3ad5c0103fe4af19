"""The reference on the site: what packages export and what the command line takes, as they are."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
import typer

import reconbench
from generate.site_build.api_reference import (
    API_PAGES,
    ApiPage,
    list_entries,
    list_installed,
    write_api_pages,
)
from generate.site_build.cli_reference import write_cli_page
from reconbench.cli import app


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return write_api_pages()


def directives(text: str) -> list[str]:
    return re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", API_PAGES, ids=lambda page: page.name)
def test_a_page_names_everything_that_its_packages_export(
    page: ApiPage, pages: dict[str, str]
) -> None:
    text = pages[page.name]
    modules = [page.package, *page.more]
    names = {name for each in modules for name in getattr(import_module(each), "__all__", ())}
    assert names <= set(re.findall(r"^\| \[`([\w-]+)`\]", text, flags=re.MULTILINE))


def test_an_object_is_described_once_and_every_name_leads_to_it(pages: dict[str, str]) -> None:
    described = [path for text in pages.values() for path in directives(text)]
    assert len(set(described)) == len(described)
    linked = {path for text in pages.values() for path in re.findall(r"`\]\[(\S+)\]", text)}
    assert linked <= set(described)


def test_the_front_follows_its_list_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {entry.name for entry in list_entries(reconbench)}
    assert shown == set(reconbench.__all__)
    monkeypatch.setattr(reconbench, "__all__", ["theorem_3_5"])
    (entry,) = list_entries(reconbench)
    assert entry.path == "reconbench.bounds.ceilings.swanberg.theorem_3_5"


def test_values_are_found_where_they_are_defined() -> None:
    homes = {entry.name: entry.home for entry in list_entries(import_module("reconbench.bounds"))}
    assert homes["CONFIDENCES"] == "reconbench.bounds.ceilings.base"
    assert homes["theorem_3_5"] == "reconbench.bounds.ceilings.swanberg"


def test_installed_entries_have_their_names_in_the_registry() -> None:
    attacks = {entry.name: entry.attribute for entry in list_installed("attack")}
    assert attacks["rap-map"] == "RapMap"


def test_the_command_line_is_complete() -> None:
    text = write_cli_page()
    stack: list[tuple[Any, tuple[str, ...]]] = [(typer.main.get_command(app), ("reconbench",))]
    while stack:
        command, path = stack.pop()
        inner = getattr(command, "commands", {})
        stack += [(each, (*path, name)) for name, each in inner.items()]
        if len(path) > 1:
            section = text.partition(f"# {' '.join(path)}\n")[2].partition("\n## ")[0]
            assert section, path
            for parameter in command.params:
                if parameter.param_type_name == "option" and not parameter.hidden:
                    rows = re.findall(r"^\| `(.*?)` \|", section, flags=re.MULTILINE)
                    assert any(parameter.opts[0] in row for row in rows), (path, parameter.opts)


def test_help_becomes_markdown() -> None:
    text = write_cli_page()
    game = text.partition("\n## reconbench game\n")[2].partition("\n## ")[0]
    assert "```console\nreconbench game --dataset acs" in game
    assert "\b" not in text and "<" not in re.sub(r"`[^`]*`", "", text)
    assert "[docs/guarantees.md](../guarantees.md)" in text
