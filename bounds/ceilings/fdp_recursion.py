"""A high-probability ceiling for any f-DP guarantee and any priors, by a recursion over counts.

Mahloujifar, Melis and Chaudhuri 2024, "Auditing f-Differential Privacy in One Run", bound the
number of right guesses for uniform priors. Here the priors are arbitrary and may differ from
target to target. For target j, any threshold i and any price λ ≥ 0, f-DP and independence give

    λ·P[j right, L > i] − P[j wrong, L ≥ i] ≤ ψ_j(λ) = Σ_z H(λ π_jz, 1 − π_jz),

H(u, w) = max over a of u·a − w·g(a). The two events together are {L without j ≥ i}, so

    P[j right, L > i] ≤ (P[L without j ≥ i] + ψ_j(λ)) / (1 + λ),

a line for each λ, and `programs.recursion` does the rest. Any set of prices gives a valid bound;
docs/profile.md has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import (
    CONFIDENCES,
    HighProbabilityBound,
    NotApplicable,
    Targets,
    failure_rate,
)
from reconbench.bounds.ceilings.prior_exact import (
    CHUNK,
    check_runs,
    distinct_values,
    prior_rows,
    tail_masses,
)
from reconbench.bounds.ceilings.programs.recursion import LOWEST, Lines
from reconbench.bounds.ceilings.tail_runs import TailRuns
from reconbench.bounds.guarantees._conjugate import (
    Response,
    best_response,
    hockey_stick,
    largest_epsilon,
)
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one

_PRICES = 97
# The recursion takes quadratic time: fully listed priors of more targets are not bounded.
MAX_TARGETS = 1_000
MAX_TAILED = 100_000


@dataclass(frozen=True, eq=False)
class FdpRecursion(HighProbabilityBound):
    """P[L ≥ v] for exact match under f-DP: the recursion of Mahloujifar et al., for any priors.

    `priors[i]` is target i's whole prior, `tail_mass` and `tail_runs` what is not listed of it, as
    in `PriorExact`. For equal, uniform priors it is their bound. Unlike Theorem 3.5 it sees the
    whole curve f and the whole prior at once, so it is the tightest here at high confidences on
    skewed priors; at confidences below one half `ProfileRecursion` may be lower.

    Assumes independent targets given the prior, exact match and replace-one neighbours. The
    probability is over the table and the mechanism's coins, and every attack is covered.
    """

    priors: FloatArray
    guarantee: Guarantee
    tail_mass: ArrayLike = 0.0
    tail_runs: TailRuns | None = None

    name: ClassVar[str] = "fdp-recursion"
    reference: ClassVar[str] = "Mahloujifar et al. 2024, Theorem 3.2, extended to any priors"
    statement: ClassVar[str] = (
        "Any f-DP, exact match: the f-DP recursion, from each target's whole prior."
    )
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        priors = prior_rows(self.priors)
        tail = tail_masses(self.tail_mass, priors)
        check_runs(self.tail_runs, tail)
        object.__setattr__(self, "tail_mass", tail)
        object.__setattr__(self, "priors", priors)
        require_replace_one(self.guarantee, self.reference)

    @property
    def n(self) -> int:
        return len(self.priors)

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        whole = targets.whole_priors
        if whole.success is not None:
            raise NotApplicable(f"{cls.name} is for exact match")
        most = MAX_TAILED if np.any(whole.tail_mass) else MAX_TARGETS
        if targets.n > most:
            raise NotApplicable(f"{cls.name} takes at most {most} targets, got {targets.n}")
        return cls(whole.priors, guarantee, whole.tail_mass, whole.tail_runs)

    def _tail_at(self, v: int) -> float:
        return self._lines.tail(v)

    def ceiling(self, confidence: float) -> int:
        return self._lines.ceiling(failure_rate(confidence))

    @cached_property
    def _lines(self) -> Lines:
        respond = best_response(self.guarantee)
        span = min(largest_epsilon(self.guarantee), -np.log(LOWEST))
        values, counts, which = distinct_values(self.priors, self.tail_mass, self.tail_runs)
        top = np.where(counts > 0, values, 0.0).max(axis=1, keepdims=True)
        # Prices around the odds against the likeliest value, as far as the privacy loss goes.
        prices = (1 - top) / top * np.exp(np.linspace(-span, span, _PRICES))
        rows = max(1, CHUNK // values.shape[1])
        psi = np.concatenate(
            [
                _psi(values[i : i + rows], counts[i : i + rows], prices[i : i + rows], respond)
                for i in range(0, len(values), rows)
            ]
        )
        return Lines((1 / (1 + prices))[which], (psi / (1 + prices))[which])


def _psi(
    values: FloatArray, counts: FloatArray, prices: FloatArray, respond: Response
) -> FloatArray:
    """ψ_j(λ) = Σ_z H(λ π_jz, 1 − π_jz), one row a target, one column a price."""
    each = [
        np.sum(counts * hockey_stick(respond, price[:, None] * values, 1 - values), axis=1)
        for price in prices.T
    ]
    return np.stack(each, axis=1)


def fdp_ceilings(
    priors: ArrayLike,
    guarantee: Guarantee,
    confidences: Sequence[float] = CONFIDENCES,
    tail_mass: ArrayLike = 0.0,
) -> dict[float, int]:
    """The ceilings of `FdpRecursion`, by confidence."""
    return FdpRecursion(np.asarray(priors), guarantee, tail_mass).by_confidence(confidences)
