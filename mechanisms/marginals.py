"""Exact and Gaussian noisy k-way marginals (Swanberg 2025, section 6.1 and Appendix A).

A k-way marginal of a column set counts the records with every combination of its values. Full
vectors are released, as counts, for every set of k columns that touches a hidden column: the
other marginals tell an attacker who knows their columns nothing. A curator who cannot say which
columns are the secret releases all of them, ``Workload.ALL``, at the price of more noise on each.
Replacing one record moves one count of a marginal down and one up, an L2 sensitivity of √2 each.

The noise is drawn in floating point, for measuring risk. It is not for publishing: its low bits can
reveal the exact count (Mironov 2012). ``vetted_release`` is.

Time and memory are the number of released cells, Σ over sets of the product of the k domain
sizes, plus n for each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from math import inf, isfinite, isinf, prod, sqrt
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import ApproxDP, GaussianDP, Relation
from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError, gaussian_guarantee

Floats = npt.NDArray[np.float64]
MarginalSets = tuple[tuple[int, ...], ...]

MAX_CELLS = 1 << 28


class Workload(StrEnum):
    """Which sets of k columns are released."""

    TOUCHING = "touching"
    ALL = "all"


def workload(
    domain: Domain, hidden: Sequence[str], k: int, which: Workload = Workload.TOUCHING
) -> MarginalSets:
    """Every set of k columns (positions, ascending), or every one that touches a hidden one.

    Their number is T = C(d, k), or T = C(d, k) − C(d − d′, k) for d′ hidden columns of d.
    """
    if not 1 <= k <= len(domain):
        raise MechanismError(f"k must be between 1 and the {len(domain)} columns, got {k}")
    if not hidden:
        raise MechanismError("at least one column must be hidden")
    secret = domain.positions(hidden)
    known = [i for i in range(len(domain)) if i not in secret]
    cells = _sum_of_products(domain.sizes, k)
    if which is Workload.TOUCHING:
        cells -= _sum_of_products([domain.sizes[i] for i in known], k)
    if cells > MAX_CELLS:  # before the sets are listed: there may be more than fit in memory
        raise MechanismError(
            f"the {k}-way marginals have {cells:,} cells, more than {MAX_CELLS:,}; "
            "lower k or coarsen the largest columns, or name fewer known ones"
        )
    if which is Workload.ALL:
        return tuple(combinations(range(len(domain)), k))
    return tuple(
        sorted(
            tuple(sorted((*hidden_part, *known_part)))
            for count in range(1, min(k, len(secret)) + 1)
            for hidden_part in combinations(secret, count)
            for known_part in combinations(known, k - count)
        )
    )


def _sum_of_products(sizes: Sequence[int], k: int) -> int:
    """The elementary symmetric polynomial e_k: Σ over sets of k columns of Π of their sizes."""
    sums = [1, *[0] * k]
    for size in sizes:
        for count in range(k, 0, -1):
            sums[count] += size * sums[count - 1]
    return sums[k]


def marginal_counts(table: Table, columns: Sequence[int]) -> Floats:
    """Counts of every combination of the columns' values, one axis a column."""
    sizes = [table.domain.sizes[i] for i in columns]
    cell = np.ravel_multi_index([table.codes[:, i] for i in columns], sizes)
    return np.bincount(cell, minlength=prod(sizes)).reshape(sizes).astype(np.float64)


@dataclass(frozen=True)
class MarginalsRelease:
    """Answers to a workload of marginals, as counts with independent noise of sd ``noise_sd``."""

    domain: Domain
    workload: MarginalSets
    answers: tuple[Floats, ...]
    noise_sd: float

    def __post_init__(self) -> None:
        if len(self.workload) != len(self.answers):
            raise MechanismError("a release needs one answer for each set of its workload")
        for columns, answer in zip(self.workload, self.answers, strict=True):
            expected = tuple(self.domain.sizes[i] for i in columns)
            if answer.shape != expected:
                names = ", ".join(self.domain.names[i] for i in columns)
                raise MechanismError(
                    f"the marginal of {names} has shape {answer.shape}, expected {expected}"
                )
            answer.setflags(write=False)  # all attacks share one release

    def __repr__(self) -> str:
        return (
            f"MarginalsRelease({len(self.workload):,} marginals of {self.cells:,} cells, noise_sd="
            f"{self.noise_sd:g})"
        )

    @property
    def k(self) -> int:
        return len(self.workload[0])

    @property
    def cells(self) -> int:
        return sum(answer.size for answer in self.answers)

    def touching(self, hidden: Sequence[str]) -> MarginalsRelease:
        """The marginals that hold a hidden column.

        Whoever knows the other columns of every record can count the rest of the marginals
        himself, and their noise is independent: nothing is lost without them.
        """
        secret = set(self.domain.positions(hidden))
        kept = [i for i, columns in enumerate(self.workload) if secret.intersection(columns)]
        if not kept:
            raise MechanismError(f"no released marginal holds a column of {', '.join(hidden)}")
        if len(kept) == len(self.workload):
            return self
        return replace(
            self,
            workload=tuple(self.workload[i] for i in kept),
            answers=tuple(self.answers[i] for i in kept),
        )


def release_marginals(
    table: Table, workload: MarginalSets, noise_sd: float, rng: np.random.Generator
) -> MarginalsRelease:
    """Count every marginal of a workload and add independent Gaussian noise to each count."""
    exact = (marginal_counts(table, columns) for columns in workload)
    answers = tuple(
        counts if noise_sd == 0 else counts + rng.normal(0.0, noise_sd, counts.shape)
        for counts in exact
    )
    return MarginalsRelease(table.domain, workload, answers, noise_sd)


def _workload_facts(domain: Domain, workload: MarginalSets) -> dict[str, float]:
    cells = sum(prod(domain.sizes[i] for i in columns) for columns in workload)
    return {"k": len(workload[0]), "marginals": len(workload), "cells": cells}


@dataclass(frozen=True)
class GaussianMarginals(BudgetedMechanism):
    """Gaussian noise on every cell, calibrated by Gaussian-DP accounting to (ε, δ).

    T marginals of sensitivity √2, each with noise N(0, 2σ²), compose to μ = √T/σ; σ is set so
    that μ-GDP is exactly (ε, δ)-DP. ``sigma`` is that multiplier; the noise on a count has
    standard deviation √2·σ. Of ``released`` only T depends.

    Args:
        domain: The columns of the table.
        hidden: Those that are the secret.
        epsilon: The budget; ``for_budget`` builds the mechanism for one.
        delta: The δ of the budget.
        k: Columns in a marginal.
        released: Which sets of columns are released.

    Example:
        >>> import reconbench as rb
        >>> domain = rb.load_prior("acs").domain
        >>> rb.GaussianMarginals.for_budget(domain, ["SEX"], 1.0, 1e-5, k=2).guarantee
        <GaussianDP: 0.268-GDP, replace-one>
    """

    name: ClassVar[str] = "gaussian-marginals"

    k: int = 3
    released: Workload = Workload.TOUCHING

    def __post_init__(self) -> None:
        _ = self.workload, self.guarantee

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        k: int = 3,
        workload: str = Workload.TOUCHING,
    ) -> Self:
        """The option ``workload`` is ``touching`` or ``all``."""
        if workload not in list(Workload):
            raise MechanismError(
                f"{cls.name}: workload must be {' or '.join(map(repr, map(str, Workload)))}, "
                f"got {workload!r}"
            )
        return cls(domain, tuple(hidden), epsilon, delta, k, Workload(workload))

    @cached_property
    def workload(self) -> MarginalSets:
        return workload(self.domain, self.hidden, self.k, self.released)

    @cached_property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    @property
    def sigma(self) -> float:
        return sqrt(len(self.workload)) / self.guarantee.mu

    @property
    def noise_sd(self) -> float:
        return sqrt(2) * self.sigma

    def release(self, table: Table, rng: np.random.Generator) -> MarginalsRelease:
        self.check_table(table)
        return release_marginals(table, self.workload, self.noise_sd, rng)

    def facts(self) -> dict[str, float]:
        return {
            "sigma": self.sigma,
            "noise_sd": self.noise_sd,
            "mu": self.guarantee.mu,
            **_workload_facts(self.domain, self.workload),
        }


@dataclass(frozen=True)
class ExactMarginals(GaussianMarginals):
    """The marginals as they are: no noise, no guarantee. Only ε = inf is honest here.

    Args:
        domain: The columns of the table, and so on as for ``GaussianMarginals``.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> people = rb.load_prior("acs").sample(10, np.random.default_rng(0))
        >>> exact = rb.ExactMarginals.for_budget(people.domain, ["SEX"], np.inf, 1e-5, k=1)
        >>> exact.release(people, np.random.default_rng(0)).answers[0].sum()
        np.float64(10.0)
    """

    name: ClassVar[str] = "exact-marginals"

    def __post_init__(self) -> None:
        if not isinf(self.epsilon):
            raise MechanismError(
                f"exact marginals add no noise, so epsilon must be inf, got {self.epsilon:g}; "
                "use gaussian-marginals for a finite epsilon"
            )
        super().__post_init__()


@dataclass(frozen=True)
class PublishedMarginals:
    """Marginals that somebody published, with Gaussian noise of sd ``noise_sd`` on every count.

    ``stated`` is the budget that the publisher names for the whole file, replace-one neighbours, of
    which the noise is taken to use all: the release is then μ-GDP with the μ of that budget. Where
    nothing is stated, nothing is promised: μ = inf.
    """

    name: ClassVar[str] = "published-marginals"

    domain: Domain
    hidden: tuple[str, ...]
    k: int
    noise_sd: float
    stated: ApproxDP | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.noise_sd) and self.noise_sd >= 0):
            raise MechanismError(f"noise-sd must be a number of 0 or more, got {self.noise_sd:g}")
        _ = self.workload, self.guarantee

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float, *, k: int = 3
    ) -> Self:
        sets = workload(domain, hidden, k)
        return cls.of_budget(domain, hidden, k, ApproxDP(epsilon, delta), len(sets))

    @classmethod
    def of_budget(
        cls, domain: Domain, hidden: Sequence[str], k: int, budget: ApproxDP, marginals: int
    ) -> Self:
        """Find the noise that spends a budget on so many marginals: sd √(2T)/μ on every count."""
        sigma = sqrt(marginals) / gaussian_guarantee(budget).mu
        return cls(domain, tuple(hidden), k, sqrt(2) * sigma, budget)

    @cached_property
    def workload(self) -> MarginalSets:
        return workload(self.domain, self.hidden, self.k)

    @property
    def budget(self) -> ApproxDP:
        return self.stated or ApproxDP(inf, 0.0, Relation.REPLACE_ONE)

    @cached_property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    def release(self, table: Table, rng: np.random.Generator) -> MarginalsRelease:
        return release_marginals(table, self.workload, self.noise_sd, rng)

    def facts(self) -> dict[str, float]:
        return {
            "noise_sd": self.noise_sd,
            "mu": self.guarantee.mu,
            **_workload_facts(self.domain, self.workload),
        }
