"""Whatever is wrong with a plugin is one line that names it and the member at fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Game, Round
from reconbench.benchmarks.plugins import PluginError

PLUGINS = """
from reconbench.benchmarks.plugins.checks import small_prior
from reconbench.bounds import ApproxDP, GaussianDP, Relation
from reconbench.mechanisms import GaussianMarginals


class TextGuarantee(GaussianMarginals):
    name = "text-guarantee"
    guarantee = "3-DP"

    def __post_init__(self):
        pass


class NoGuarantee:
    name = "no-guarantee"
    budget = ApproxDP(3.0, 1e-5, Relation.REPLACE_ONE)

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta):
        return cls()

    def release(self, table, rng):
        return None

    def facts(self):
        return {}


class NoRelease(NoGuarantee):
    name = "no-release"
    guarantee = GaussianDP(1.0, Relation.REPLACE_ONE)


class TupleBudget(NoRelease):
    budget = (3.0, 1e-5)


class RaisingRelease(NoRelease):
    def release(self, table, rng):
        return table["income"]


class TextFacts(NoRelease):
    def facts(self):
        return {"noise": "loud"}


class RaisingFacts(NoRelease):
    def facts(self):
        return 1 / 0


class OneColumn(NoRelease):
    '''It takes the hidden columns for one name.'''
    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta):
        return cls(hidden.upper())


class BudgetArgument(NoRelease):
    @classmethod
    def for_budget(cls, domain, hidden, budget):
        return cls()


class Returns(NoRelease):
    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta):
        return 3


class NoFacts:
    name = "no-facts"

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta):
        return cls()

    def release(self, table, rng):
        return None


def function():
    pass


class Around:
    def __init__(self, **changed):
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(small_prior(), name)


def raises():
    return {}["people"]


def mapping():
    return {"age": 3}


def no_domain():
    return Around(domain=("age", "sex"))


def short_sample():
    return Around(sample=lambda n, rng: small_prior().sample(n - 1, rng))


def codes():
    return Around(sample=lambda n, rng: small_prior().sample(n, rng).codes)


def raising_sample():
    return Around(sample=lambda n, rng: [][n])


number = 3


class Half:
    name = "half"
    check = score = prior_success = best_guess = None


class Unnamed:
    name = property(lambda self: "")
    check = score = prior_success = best_guess = None
    decide = decide_joint = whole_priors = None


class Unbuilt(Unnamed):
    def __init__(self, size):
        pass
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "own.py"
    path.write_text(PLUGINS)
    return path


GAME = Game("acs", ("SEX",), 1.0, n=5)


def complaint(**axes: Any) -> str:
    with pytest.raises(ValueError) as caught:
        Round.draw(replace(GAME, **axes))
    assert isinstance(caught.value, PluginError) and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TupleBudget", "budget must be an ApproxDP(epsilon, delta, relation), got tuple (3.0, "),
        ("TextGuarantee", "guarantee must be a Guarantee such as GaussianDP(mu, relation), got st"),
        ("NoGuarantee", "for_budget returned NoGuarantee without guarantee"),
        ("NoRelease", "release(table, rng) must return an object whose `domain` is that of the"),
        ("RaisingRelease", "release(table, rng) failed: TypeError: 'Table' object is not subscri"),
        ("TextFacts", "facts() must return a mapping of names to numbers, got dict {'noise': 'lo"),
        ("RaisingFacts", "facts() failed: ZeroDivisionError: division by zero (own.py, line "),
        ("OneColumn", "AttributeError: 'tuple' object has no attribute 'upper' (own.py, line "),
        (
            "BudgetArgument",
            "for_budget must take (domain, hidden, epsilon, delta), and its opt",
        ),
        ("Returns", "for_budget returned int without budget"),
        ("NoFacts", "must be a class with a text `name` and with `for_budget`, `release`, `facts`"),
        ("NoFacts", "it has no `facts`"),
        ("function", "`facts`, got function"),
    ],
)
def test_mechanisms(own: Path, name: str, message: str) -> None:
    said = complaint(mechanism=f"{own}:{name}")
    assert said.startswith(f"mechanism '{own}:{name}'") and message in said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "failed: KeyError: 'people' (own.py, line "),
        ("mapping", "must be a function that returns a Prior, got dict {'age': 3} without domain"),
        ("no_domain", "domain must be a Domain, got tuple ('age', 'sex')"),
        ("short_sample", "sample(n, rng) must return a Table of n = 5 records"),
        ("codes", "sample(n, rng) must return a Table of n = 5 records over the prior's domain, g"),
        ("raising_sample", "sample(n, rng) failed: IndexError: list index out of range (own.py, "),
        ("number", "must be a function without arguments, got int"),
    ],
)
def test_datasets(own: Path, name: str, message: str) -> None:
    said = complaint(dataset=f"{own}:{name}", targets=("size",))
    assert said.startswith(f"dataset '{own}:{name}'") and message in said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Half", "it has no `decide`"),
        ("Unnamed", "name must be a short text, got ''"),
        ("Unbuilt", "cannot be built: TypeError: "),
        ("Unnamed:3", "takes no parameter, got '3'"),
    ],
)
def test_metrics(own: Path, name: str, message: str) -> None:
    said = complaint(metric=f"{own}:{name}")
    assert said.startswith(f"metric '{own}:{name.partition(':')[0]}") and message in said


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_unknown_names_say_what_there_is(kind: str) -> None:
    with pytest.raises(PluginError, match=rf"unknown {kind} 'nothing'; available: .*path/to/file"):
        plugins.load_entry(kind, "nothing")


def test_kinds_are_found_by_name() -> None:
    assert plugins.find_kind("attack") is plugins.find_kind("attacks")
    with pytest.raises(PluginError, match=r"unknown kind 'atack'; use attack, .*'attack'\?"):
        plugins.find_kind("atack")


def test_priors_and_mechanisms_are_built_once(tmp_path: Path) -> None:
    path = tmp_path / "counted.py"
    path.write_text(
        "from reconbench.benchmarks.plugins.checks import small_prior\n"
        "from reconbench.mechanisms import GaussianMarginals\n"
        "calls = []\n"
        "def data():\n"
        "    calls.append('data')\n"
        "    return small_prior()\n"
        "class Mine(GaussianMarginals):\n"
        "    name = 'mine'\n"
        "    def __post_init__(self):\n"
        "        calls.append('mechanism')\n"
    )
    game = Game(f"{path}:data", ("size",), 1.0, n=5, mechanism=f"{path}:Mine")
    for rep in range(3):
        Round.draw(game.repeat(rep))
    Round.draw(Game(f"{path}:data", ("size",), 2.0, n=5, mechanism=f"{path}:Mine"))
    assert plugins.load_from_file(f"{path}:calls") == ["data", "mechanism", "mechanism"]
