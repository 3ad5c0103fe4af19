"""Small games and tables that the tests of the front share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reconbench as rb
from reconbench.cli import main

if TYPE_CHECKING:
    import pandas as pd


class Modest:
    """Guess the likeliest value, whatever was released."""

    name = "modest"

    def __init__(self, doubt: float = 0.0) -> None:
        self.doubt = doubt

    def reconstruct(self, view: rb.AttackerView, rng: np.random.Generator) -> rb.Reconstruction:
        guess, sure = view.prior.map(view.known, view.targets)
        return view.reconstruction(guess.codes, sure - self.doubt)


@pytest.fixture(scope="session")
def modest() -> type[Modest]:
    return Modest


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """60 people of four columns, with their labels as categories."""
    table = rb.load_prior("acs").sample(60, np.random.default_rng(0))
    return table.project(["AGEP", "SEX", "MAR", "MIL"]).to_pandas()


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """The command line in this process: what it prints, if all is well."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["reconbench", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            assert not stop.code, capsys.readouterr().err
        return capsys.readouterr().out

    return run
