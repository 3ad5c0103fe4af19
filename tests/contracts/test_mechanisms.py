"""Every registered mechanism keeps its contract, and one with too little noise does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.plugins.check_mechanism import CHECKS, check_mechanism

NOISE = "the declared noise is real"
# They need packages that cannot be installed beside the others.
ELSEWHERE = ("opendp-aim", "opendp-mst")
HERE = [name for name in plugins.get_entries("mechanism") if name not in ELSEWHERE]
# Without noise there is no finite budget to hold a mechanism to.
PRIVATE = [name for name in HERE if name != "exact-marginals"]

WEAK = """
from dataclasses import dataclass

from reconbench.benchmarks import plugins
from reconbench.mechanisms import GaussianMarginals


class Weak:
    '''A registered mechanism that is built for three times the budget that it declares.'''

    name = "weak"

    def __init__(self, honest, real):
        self.honest, self.real = honest, real
        self.budget, self.guarantee = honest.budget, honest.guarantee

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, of="grr", prior=None):
        build = plugins.build_mechanism
        return cls(
            *(build(of, domain, hidden, e, delta, options={}, prior=prior)
              for e in (epsilon, 3 * epsilon))
        )

    def release(self, table, rng):
        return self.real.release(table, rng)

    def facts(self):
        return self.honest.facts()


class HalfNoise(GaussianMarginals):
    name = "half-noise"

    @property
    def noise_sd(self):
        return super().noise_sd / 2


class Seedless(GaussianMarginals):
    name = "seedless"

    def release(self, table, rng):
        import numpy as np
        return super().release(table, np.random.default_rng())


class Forgetful(GaussianMarginals):
    name = "forgetful"

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k=3, extra=1.0):
        return cls(domain, tuple(hidden), 2 * epsilon, delta, k)


class Boastful(GaussianMarginals):
    name = "boastful"

    @property
    def guarantee(self):
        from reconbench.bounds import GaussianDP, Relation
        return GaussianDP(2 * super().guarantee.mu, Relation.REPLACE_ONE)
"""


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "weak.py"
    path.write_text(WEAK)
    return path


def failed_checks(spec: str, **options: str) -> dict[str, str]:
    return {
        check.name: check.detail
        for check in check_mechanism(spec, options)
        if check.passed is False
    }


@pytest.mark.parametrize("name", ELSEWHERE)
def test_mechanisms_of_another_environment_say_what_to_install(name: str) -> None:
    details = failed_checks(name).values()
    assert details and all("pip install 'reconbench[synth-opendp]'" in each for each in details)


@pytest.mark.parametrize("name", HERE)
def test_registered_mechanisms_keep_their_contract(name: str) -> None:
    checks = check_mechanism(name)
    assert [check for check in checks if check.passed is False] == []
    assert [check.name for check in checks] == list(CHECKS)
    assert all(check.passed for check in checks) or name not in PRIVATE


@pytest.mark.parametrize("name", PRIVATE)
def test_too_large_a_budget_is_caught(weak: Path, name: str) -> None:
    """The negative control of the noise: three times the declared ε, whatever the mechanism."""
    assert NOISE in failed_checks(f"{weak}:Weak", of=name)


@pytest.mark.parametrize(
    ("name", "check", "detail"),
    [
        ("HalfNoise", NOISE, "too little noise"),
        ("Seedless", "same seed, same release", "two releases with the same generator differ"),
        ("Forgetful", "takes its budgets", "budget must be the (0.01, 1e-05) it was built for"),
        ("Boastful", "declares a guarantee", "more than 1e-05"),
    ],
)
def test_broken_mechanisms_are_caught(weak: Path, name: str, check: str, detail: str) -> None:
    assert detail in failed_checks(f"{weak}:{name}")[check]
