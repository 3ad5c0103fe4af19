"""What the commands call in the bounds room documents every argument."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from reconbench import bounds
from reconbench.bounds import gradients, rad

CLI = Path(__file__).parents[2] / "src" / "reconbench" / "cli" / "bounds"

BEHIND_ROWS = (
    "rad_any_aux rad_no_aux rad_approx_no_aux rad_perfect rad_uniform rad_exact rad_profile "
    "rad_profile_aux rad_exact_aux rad_location rad_uniform_location rad_grr_within"
)


def called_by_commands() -> Iterator[Callable[..., Any]]:
    """The functions that the modules of the commands import from the bounds room."""
    for path in CLI.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "reconbench.bounds"
            ):
                home = import_module(node.module or "")
                yield from (getattr(home, alias.name) for alias in node.names)


def from_a_guarantee() -> Iterator[Callable[..., Any]]:
    """The functions behind a stated guarantee, the rows of `rad`, and all of `gradients`."""
    for name in ("parse_guarantee", "parse_mechanism", "gaussian_mu", "as_replace_one"):
        yield getattr(bounds, name)
    for name in BEHIND_ROWS.split():
        yield getattr(rad, name)
    yield from (getattr(gradients, name) for name in gradients.__all__)


FUNCTIONS = {
    each.__name__: each
    for each in (*called_by_commands(), *from_a_guarantee())
    if inspect.isfunction(each)
}


def test_the_list_is_not_empty() -> None:
    assert {"risk_report", "rad_report", "gradient_report", "parse_guarantee"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_arguments_are_documented(name: str) -> None:
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    arguments = text.partition("Args:")[2]
    missing = [each for each in inspect.signature(function).parameters if each not in arguments]
    assert not missing, f"{name} does not say what {', '.join(missing)} is"
