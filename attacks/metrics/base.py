"""The contract of a metric: what counts as a success, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.bounds import WholePriors
from reconbench.datasets import Attribute, Domain, Prior, Table

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

# Success sets are not given for more targets: bounds solve a linear program for each prior.
MAX_TARGETS = 1_000


class MetricError(ValueError):
    """A metric that does not fit the columns it is asked to score."""


class Metric(Protocol):
    """What counts as reconstructing a record.

    Example:
        >>> import reconbench as rb
        >>> metric: rb.Metric = rb.ExactMatch()
        >>> metric.name
        'exact'
    """

    @property
    def name(self) -> str: ...

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        """Refuse target columns on which this metric means nothing."""
        ...

    def score(self, truth: Table, guess: Table) -> Bools:
        """Which records were reconstructed."""
        ...

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        """P[the guess succeeds on a fresh record | what is known of it], for every record."""
        ...

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        """The guess z* of largest prior success, and that success, for every record."""
        ...

    def decide(self, columns: Sequence[Floats]) -> Codes:
        """The best guess when each target column has the given (..., V) weights on its own."""
        ...

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        """The best guess for one record, (d,), whose joint values (m, d) have weights (m,).

        ``domain`` is that of the targets. Values may repeat; what is not listed weighs nothing,
        but may still be the best guess.
        """
        ...

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """Each target's whole prior and what succeeds on it, for bounds; None if not listed."""
        ...


def scores_by_record(metric: object) -> bool:
    """Whether a record's success depends on its own guess alone.

    It does unless a metric says otherwise by ``by_record``.
    """
    return bool(getattr(metric, "by_record", True))


def bound_success(
    metric: Metric, prior: Prior, known: Table, targets: Sequence[str], best: Floats
) -> Floats:
    """Bound the prior success of every guess, for each record, from above.

    That is ``best``, the success of `Metric.best_guess`, unless a metric has a method of this name
    because it does not find the best guess.
    """
    bound = getattr(metric, "bound_success", None)
    return best if bound is None else np.asarray(bound(prior, known, targets), dtype=np.float64)


def multiply_columns(columns: Sequence[Floats]) -> Floats:
    """The joint weights of independent columns, the last of which changes fastest."""
    return reduce(
        lambda left, right: (left[..., :, None] * right[..., None, :]).reshape(
            *left.shape[:-1], -1
        ),
        columns,
    )


def make_domain(sizes: Sequence[int]) -> Domain:
    """Ordinal columns of these sizes, where no more is known of them."""
    return Domain(
        tuple(
            Attribute(str(index), tuple(map(str, range(size))), ordinal=True)
            for index, size in enumerate(sizes)
        )
    )
