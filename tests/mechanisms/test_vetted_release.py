"""Releases for publication: OpenDP's noise, with our sensitivity. OpenDP has no seed."""

from __future__ import annotations

import os
from importlib.util import find_spec
from math import inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest

from reconbench.bounds import gaussian_mu
from reconbench.datasets import Attribute, BayNet, Domain, Table
from reconbench.mechanisms import MechanismError, vetted_release
from reconbench.mechanisms.marginals import Workload, marginal_counts, workload
from reconbench.mechanisms.marginals_csv import read_release, write_release
from reconbench.mechanisms.vetted_release import bound_sensitivity, release_vetted_marginals
from reconbench.missing_package import MissingPackage

if find_spec("opendp") is None and not os.environ.get("CI"):
    pytest.skip("needs the extra reconbench[release]", allow_module_level=True)


@pytest.fixture(scope="module")
def table(toy_net: BayNet) -> Table:
    return toy_net.sample(40, np.random.default_rng(0))


def flat_counts(table: Table, k: int) -> np.ndarray:
    sets = workload(table.domain, table.domain.names, k, Workload.ALL)
    return np.concatenate([marginal_counts(table, columns).ravel() for columns in sets])


def test_the_sensitivity_is_that_of_every_replacement(table: Table) -> None:
    """Enumerate all records that may replace one: the largest change is the stated bound."""
    domain = table.domain.project(["a", "b", "d"])
    small = Table(domain, table.project(domain.names).codes[:4])
    everything = np.stack(np.unravel_index(np.arange(np.prod(domain.sizes)), domain.sizes), axis=1)
    for k in (1, 2, 3):
        before = flat_counts(small, k)
        changes = []
        for record in everything:
            codes = small.codes.copy()
            codes[0] = record
            changes.append(np.linalg.norm(flat_counts(Table(domain, codes), k) - before))
        sets = workload(domain, domain.names, k, Workload.ALL)
        assert max(changes) == pytest.approx(bound_sensitivity(sets), rel=1e-12)
        assert max(changes) <= bound_sensitivity(sets)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5])
def test_the_noise_lies_between_exact_and_textbook(
    table: Table, epsilon: float, delta: float
) -> None:
    """Gaussian-DP accounting is exact, ε = ρ + 2√(ρ ln(1/δ)) is simple: OpenDP lies between."""
    vetted = release_vetted_marginals(table, epsilon, delta, k=2)
    marginals = len(vetted.release.workload)
    assert marginals == 10
    least = sqrt(2 * marginals) / gaussian_mu(epsilon, delta)
    # ρ + 2√(ρ L) = ε has the root √ρ = √(L + ε) − √L.
    rho = (sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))) ** 2
    assert least * (1 - 1e-9) <= vetted.scale <= sqrt(marginals / rho) * (1 + 1e-6)
    # ρ = Δ²/(2σ²) with Δ² = 2T.
    assert vetted.rho == pytest.approx(marginals / vetted.scale**2, rel=1e-9)
    assert vetted.release.noise_sd == vetted.scale


def test_the_noise_is_whole_and_has_the_stated_scale() -> None:
    """The sd of 20,000 draws has a standard error of 0.5 %: at 4 %, false alarms are below 1e-14.

    Half the noise must fail.
    """
    labels = tuple(map(str, range(100)))
    domain = Domain((Attribute("x", labels), Attribute("y", labels)))
    codes = np.random.default_rng(1).integers(0, 100, (500, 2))
    table = Table(domain, codes)
    releases = [release_vetted_marginals(table, 1.0, 1e-5, k=2) for _ in range(2)]
    noise = [vetted.release.answers[0] - marginal_counts(table, (0, 1)) for vetted in releases]
    drawn, scale = np.concatenate(noise), releases[0].scale
    assert drawn.size == 20_000 and np.all(drawn == np.round(drawn))
    assert abs(drawn.std() / scale - 1) < 0.04
    assert not abs(drawn.std() / (scale / 2) - 1) < 0.04
    assert not np.array_equal(noise[0], noise[1])


def test_hidden_columns_limit_the_workload(table: Table, tmp_path: Path) -> None:
    vetted = release_vetted_marginals(table, 1.0, 1e-6, k=2, hidden=["c"])
    assert len(vetted.release.workload) == 4
    assert vetted.scale < release_vetted_marginals(table, 1.0, 1e-6, k=2).scale
    write_release(vetted.release, tmp_path / "m.csv")
    again = read_release(tmp_path / "m.csv", table.domain)
    assert again.k == 2 and len(again.answers) == 4


def test_budgets_that_cannot_be(table: Table) -> None:
    for epsilon, delta, name in (
        (inf, 1e-5, "epsilon"),
        (0.0, 1e-5, "epsilon"),
        (float("nan"), 1e-5, "epsilon"),
        (1.0, 0.0, "delta"),
        (1.0, 1.0, "delta"),
    ):
        with pytest.raises(MechanismError, match=f"^{name} must be"):
            release_vetted_marginals(table, epsilon, delta)
    empty = Table(table.domain, table.codes[:0])
    with pytest.raises(MechanismError, match="no records"):
        release_vetted_marginals(empty, 1.0, 1e-5)


def test_too_many_cells(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vetted_release, "MOST_CELLS", 10)
    with pytest.raises(MechanismError, match="more than 10"):
        release_vetted_marginals(table, 1.0, 1e-5)


def test_without_opendp(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Domain:
        raise ImportError(name)

    monkeypatch.setattr(vetted_release, "import_module", missing)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[release\]'"):
        release_vetted_marginals(table, 1.0, 1e-5)
