"""Every registered metric keeps its contract, and wrong ones do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.attacks import WithinL1
from reconbench.benchmarks import plugins
from reconbench.benchmarks.plugins.check_metric import CHECKS, check_metric

# A metric with a parameter is checked at some values of it.
PARAMETERS = {
    "any": ("exact", "columns:1", "l1:1", "2:exact", "3:columns:2"),
    "columns": ("1", "2", "3"),
    "l1": ("0", "1", "3"),
}
SPECS = [
    f"{name}:{parameter}" if parameter else name
    for name in plugins.get_entries("metric")
    for parameter in PARAMETERS.get(name, ("",))
]

WRONG = """
from dataclasses import replace

import numpy as np

from reconbench.attacks import AnyGuess, EnumeratedMetric, ExactMatch


class Same(EnumeratedMetric):
    '''Exact match, by enumeration.'''
    name = "same"

    def score(self, truth, guess):
        return (truth.codes == guess.codes).all(axis=1)


class Optimist(Same):
    def prior_success(self, prior, known, guess):
        return np.minimum(super().prior_success(prior, known, guess) * 1.1, 1)


class Careless(Same):
    def best_guess(self, prior, known, targets):
        guess, success = super().best_guess(prior, known, targets)
        return type(guess)(guess.domain, guess.codes * 0), success


class Hasty(Same):
    def decide(self, columns):
        return super().decide(columns) * 0


class Separate(Same):
    def decide_joint(self, domain, values, weights):
        '''The mode of each column on its own.'''
        return np.array([np.bincount(column, weights).argmax() for column in values.T])


class Fraction(Same):
    def score(self, truth, guess):
        return super().score(truth, guess) / 2


class Neighbour(Same):
    def score(self, truth, guess):
        return np.roll(super().score(truth, guess), 1)


class Tolerant(ExactMatch):
    name = "tolerant"

    def check(self, domain, targets):
        pass


class Hopeful(AnyGuess):
    '''Takes the greedy list for the best of each record.'''
    @classmethod
    def parse(cls, parameter):
        return cls(ExactMatch(), 2)

    def bound_success(self, prior, known, targets):
        return self.best_guess(prior, known, targets)[1]


class Scattered(Hopeful):
    def best_guess(self, prior, known, targets):
        guess, success = super().best_guess(prior, known, targets)
        return guess, np.minimum(success * 1.01, 1)


class Unsure(Same):
    def whole_priors(self, prior, known, targets):
        whole = super().whole_priors(prior, known, targets)
        return replace(whole, priors=whole.priors * 0 + 1 / whole.priors.shape[1])


class Lucky(Same):
    '''Its score on large tables is not that on small ones.'''
    def score(self, truth, guess):
        hit = super().score(truth, guess)
        return hit | (np.arange(len(hit)) % 3 == 0) if len(hit) > 3000 else hit
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "wrong.py"
    path.write_text(WRONG)
    return path


@pytest.mark.parametrize("spec", SPECS)
def test_registered_metrics_keep_their_contract(spec: str) -> None:
    checks = check_metric(spec)
    assert [check.name for check in checks] == list(CHECKS)
    unlisted = ["whole_priors follow from score"] if spec.startswith("any:") else []
    assert [check.name for check in checks if check.passed is not True] == unlisted
    assert all(check.passed is not False for check in checks)
    assert plugins.build_metric(spec).name == spec


def test_a_metric_by_its_score_alone(wrong: Path) -> None:
    assert all(check.passed for check in check_metric(f"{wrong}:Same"))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("Optimist", "prior_success follows from score"),
        ("Careless", "best_guess is best"),
        ("Hasty", "decide is best"),
        ("Separate", "decide_joint is best"),
        ("Fraction", "valid scores"),
        ("Neighbour", "valid scores"),
        ("Tolerant", "refuses unknown columns"),
        ("Hopeful", "best_guess is best"),
        ("Scattered", "best_guess is best"),
        ("Unsure", "whole_priors follow from score"),
        ("Lucky", "holds in simulation"),
    ],
)
def test_wrong_metrics_are_caught(wrong: Path, name: str, check: str) -> None:
    assert check in {each.name for each in check_metric(f"{wrong}:{name}") if not each.passed}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown metric ''"),
        (
            "l2:1",
            r"unknown metric 'l2'; available: any, columns, exact, l1, or path/to/file.py:Class",
        ),
        ("exakt", "did you mean 'exact'"),
        ("exact:1", "metric 'exact' takes no parameter, got '1'"),
        ("l1", "metric l1 needs a whole number after the colon, such as l1:2, got ''"),
        ("l1:-1", "got '-1'"),
        ("l1:x", "got 'x'"),
        ("columns", "metric columns needs a whole number after the colon, such as columns:2"),
        ("any", "metric any needs exact, columns:M or l1:E after the colon"),
        ("any:near", "got 'near'"),
        ("any:0:exact", "at least 1 guess, got 0"),
        ("columns:0", "at least 1 column right, got 0"),
    ],
)
def test_specs_of_metrics(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plugins.build_metric(spec)
    assert plugins.build_metric("l1:4") == WithinL1(4)
