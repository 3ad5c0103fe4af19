"""Every registered data set keeps its contract, and wrong ones do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.plugins.check_dataset import CHECKS, check_dataset

RULES = (
    "uniform:7", "hours:peaked", "columns:acs:SEX,MAR",
    "bn:asia", "bn:child", "columns:bn:asia:tub,either",
)  # fmt: skip

WRONG = """
import numpy as np

from reconbench.benchmarks.plugins.checks import small_prior
from reconbench.datasets import Table


class Around:
    '''The small prior, with one thing changed.'''
    def __init__(self, **changed):
        self.inner = small_prior()
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def sound():
    return Around()


def independent():
    '''Samples have the right columns one by one, but not together.'''
    def sample(n, rng):
        table = small_prior().sample(n, rng)
        return Table(table.domain, rng.permuted(table.codes, axis=0))
    return Around(sample=sample)


def shifted():
    def sample(n, rng):
        table = small_prior().sample(n, rng)
        codes = table.codes.copy()
        codes[: n // 2, 0] = 0
        return Table(table.domain, codes)
    return Around(sample=sample)


def improper():
    return Around(conditional=lambda *columns: small_prior().conditional(*columns) * 0.9)


def unlogged():
    return Around(log_evidence=lambda known: small_prior().log_evidence(known) / 2)


def wrong_mode():
    def worst(known, targets):
        guess, chance = small_prior().map(known, targets)
        return Table(guess.domain, (guess.codes + 1) % guess.domain.sizes), chance
    return Around(map=worst)


def seedless():
    return Around(sample=lambda n, rng: small_prior().sample(n, np.random.default_rng()))


def renamed():
    import secrets
    text = secrets.token_hex(32)
    return Around(sha256=lambda: text)


def unhashed():
    return Around(sha256=lambda: "none")


def partial():
    return Around(visit_order=("shape",))


def short():
    return Around(sample=lambda n, rng: small_prior().sample(n - 1, rng))


def array():
    return Around(sample=lambda n, rng: small_prior().sample(n, rng).codes)
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "wrong.py"
    path.write_text(WRONG)
    return path


@pytest.mark.parametrize("spec", [*plugins.get_entries("dataset"), *RULES])
def test_registered_datasets_keep_their_contract(spec: str) -> None:
    checks = check_dataset(spec)
    assert [check.name for check in checks] == list(CHECKS)
    noted = ["loads again"] if spec in RULES else []
    assert [check.name for check in checks if check.passed is not True] == noted


def test_a_function_in_a_file(wrong: Path) -> None:
    assert all(check.passed for check in check_dataset(f"{wrong}:sound"))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("independent", "samples follow the conditionals"),
        ("shifted", "samples follow the probabilities"),
        ("improper", "valid conditionals"),
        ("unlogged", "probabilities agree"),
        ("wrong_mode", "likeliest value"),
        ("seedless", "same seed, same sample"),
        ("renamed", "loads again"),
        ("unhashed", "valid hash"),
        ("partial", "visits every column"),
        ("short", "valid samples"),
        ("array", "valid samples"),
    ],
)
def test_wrong_datasets_are_caught(wrong: Path, name: str, check: str) -> None:
    assert check in {each.name for each in check_dataset(f"{wrong}:{name}") if not each.passed}
