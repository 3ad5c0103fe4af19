"""The supported names: documented, with examples that run, and found by completion."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import reconbench as rb

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [name for name in rb.__all__ if inspect.isroutine(getattr(rb, name))]


@pytest.mark.parametrize("name", rb.__all__)
def test_every_name_has_an_example_that_runs(name: str) -> None:
    entry = getattr(rb, name)
    text = inspect.getdoc(entry) or ""
    assert "Example:" in text and ">>>" in text, name
    if not getattr(entry, "_is_protocol", False):
        assert "Args:" in text, name
    if name in FUNCTIONS:
        assert "Returns:" in text, name
        for parameter in inspect.signature(entry).parameters:
            assert re.search(rf"^    \*{{0,2}}{parameter}: ", text, re.MULTILINE), parameter
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(verbose=False)
    for example in finder.find(entry, name, globs={}):
        runner.run(example)
    results = runner.summarize(verbose=False)
    assert results.attempted and not results.failed


def test_names_are_listed_before_they_are_loaded() -> None:
    assert set(rb.__all__) <= set(dir(rb)) and "__version__" in dir(rb)
    assert len(rb.__all__) == len(set(rb.__all__))


def test_the_page_lists_what_is_supported() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = page.partition("## What is supported")[2]
    assert {name for name in rb.__all__ if f"`{name}`" not in section} == set()


def test_arguments_of_the_calls_have_hints_for_editors() -> None:
    for name in FUNCTIONS:
        for parameter in inspect.signature(getattr(rb, name)).parameters.values():
            assert parameter.annotation is not parameter.empty, (name, parameter)
