"""The tightest high-probability ceiling for targets of one prior, by linear programming.

`programs.level_program` has the program and its proof. For uniform priors its value is the least
that any proof from the guarantee alone can have, so it also measures how tight other ceilings are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import (
    CONFIDENCES,
    HighProbabilityBound,
    NotApplicable,
    Targets,
    failure_rate,
)
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion
from reconbench.bounds.ceilings.prior_exact import (
    check_runs,
    distinct_values,
    prior_rows,
    tail_masses,
)
from reconbench.bounds.ceilings.programs.level_program import LevelProgram
from reconbench.bounds.ceilings.tail_runs import TailRuns
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one

# The program has some 50 variables per target and takes more than quadratic time: more targets
# are left to the recursion.
MAX_TARGETS = 150
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class FdpProgram(HighProbabilityBound):
    """P[L ≥ v] for exact match under f-DP, for targets that all have the same prior.

    `priors[i]` is target i's whole prior, `tail_mass` and `tail_runs` what is not listed of it, as
    in `PriorExact`. Rows must be equal up to the order of their values. Never above `FdpRecursion`.

    The ceiling also holds for targets of different priors if `priors` majorises them all: such a
    prior is a mixture of reorderings of the larger one, and telling the attacker which one can
    only help. In particular uniform priors on k values cover every prior whose likeliest value
    has probability 1/k at most.

    Assumes independent targets given the prior, exact match and replace-one neighbours. The
    probability is over the table and the mechanism's coins, and every attack whose guesses depend
    on the output alone is covered.
    """

    priors: FloatArray
    guarantee: Guarantee
    tail_mass: ArrayLike = 0.0
    tail_runs: TailRuns | None = None

    name: ClassVar[str] = "fdp-program"
    reference: ClassVar[str] = "reconbench, linear program over the number of targets recovered"
    statement: ClassVar[str] = (
        "Any f-DP, exact match, targets of one prior: the least ceiling that the guarantee allows "
        "if that prior is uniform."
    )
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        priors = prior_rows(self.priors)
        tail = tail_masses(self.tail_mass, priors)
        check_runs(self.tail_runs, tail)
        object.__setattr__(self, "tail_mass", tail)
        object.__setattr__(self, "priors", priors)
        require_replace_one(self.guarantee, self.reference)
        if not self._have_one_prior:
            raise NotApplicable(f"{self.name} needs targets of one prior, got different ones")

    @property
    def n(self) -> int:
        return len(self.priors)

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        whole = targets.whole_priors
        if whole.success is not None:
            raise NotApplicable(f"{cls.name} is for exact match")
        if targets.n > MAX_TARGETS:
            raise NotApplicable(f"{cls.name} takes at most {MAX_TARGETS} targets, got {targets.n}")
        return cls(whole.priors, guarantee, whole.tail_mass, whole.tail_runs)

    def _tail_at(self, v: int) -> float:
        by_recursion = float(self._recursion.tail(v))
        return min(by_recursion, self.program.tail(v)) if 0 < v <= self.n else by_recursion

    def ceiling(self, confidence: float) -> int:
        failure = failure_rate(confidence)
        highest = self._recursion.ceiling(confidence)
        best_guess = float(self.program.values.max())
        v = np.arange(highest)
        # Guessing from the prior is an attack: no ceiling is below what it reaches.
        lowest = int(np.count_nonzero(bdtrc(v, self.n, best_guess) > failure))
        refuted = bisect_left(
            range(lowest, highest),
            True,
            key=lambda v: self.program.tail(v + 1, enough=failure) <= failure,
        )
        return lowest + refuted

    def is_least(self, confidence: float) -> bool:
        """Whether no proof from the guarantee alone has a lower ceiling; for uniform priors.

        True if a mechanism with this guarantee recovers as many targets with a probability above
        1 − confidence. False says only that none was found.
        """
        ceiling = self.ceiling(confidence)
        return ceiling == 0 or self.program.reached(ceiling) > failure_rate(confidence)

    @cached_property
    def program(self) -> LevelProgram:
        """The program itself, with `tail` from above and, for uniform priors, `reached`."""
        tail, runs = np.asarray(self.tail_mass)[:1], self.tail_runs
        first = runs and TailRuns(runs.values[:1], runs.counts[:1])
        values, counts, _ = distinct_values(self.priors[:1], tail, first)
        listed = (values[0] > 0) & (counts[0] > 0)
        return LevelProgram(self.n, self.guarantee, values[0][listed], counts[0][listed])

    @cached_property
    def _recursion(self) -> FdpRecursion:
        return FdpRecursion(self.priors, self.guarantee, self.tail_mass, self.tail_runs)

    @property
    def _have_one_prior(self) -> bool:
        parts = [np.sort(self.priors, axis=1), np.asarray(self.tail_mass)[:, None]]
        if self.tail_runs is not None:
            parts += [self.tail_runs.values, self.tail_runs.counts]
        return bool(np.ptp(np.column_stack(parts), axis=0).max() <= _EQUAL)


def fdp_program_ceilings(
    priors: ArrayLike,
    guarantee: Guarantee,
    confidences: Sequence[float] = CONFIDENCES,
    tail_mass: ArrayLike = 0.0,
) -> dict[float, int]:
    """The ceilings of `FdpProgram`, by confidence."""
    return FdpProgram(np.asarray(priors), guarantee, tail_mass).by_confidence(confidences)
