"""Where the posterior is exact: few open counts, or all tables that fit counts without noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from reconbench.attacks.base import AttackerView, BestPossible
from reconbench.attacks.candidates.solution import ExactTables, find_exact_tables, keep_readable
from reconbench.attacks.posterior.elimination import eliminate
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.exact import ExactPosterior
from reconbench.attacks.posterior.posteriors import Posteriors


class CertifiedPosterior(Protocol):
    """An exact posterior, as one chain without error."""

    @property
    def posteriors(self) -> Posteriors: ...

    @property
    def info(self) -> Mapping[str, float]:
        """What an attack says of it."""
        ...

    def find_best_possible(self, records: int | None = None) -> BestPossible:
        """What the best guesses are worth on the first ``records``; all by default."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """What is certain about a game: its posterior, or at least what is possible.

    ``tables`` are those that fit the sets without noise, and ``most_successes`` a number of exact
    matches that no attack exceeds in expectation, if one is known.
    """

    posterior: CertifiedPosterior | None = None
    tables: ExactTables | None = None
    most_successes: float | None = None


def solve_exactly(view: AttackerView, evidence: Evidence) -> Solution:
    """Find the exact posterior where that is quick, and else what bounds the chains."""
    eliminated = eliminate(view, evidence)
    if eliminated is not None:
        return Solution(eliminated)
    exact = keep_readable(evidence.measurements)
    tables = find_exact_tables(view, exact)
    if tables is None:
        return Solution()
    # With one table there is nothing left that the other sets could say.
    whole = len(exact.sets) == evidence.sets
    if tables.certain and (whole or tables.count == 1):
        return Solution(ExactPosterior(view, tables), tables)
    return Solution(None, tables, tables.bound_success() if whole else None)
