"""The contract of a prior: the distribution of one record, known to the attacker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Domain
from reconbench.datasets.table import Table

Floats = npt.NDArray[np.float64]


@runtime_checkable
class Prior(Protocol):
    """Records are drawn independently from one distribution over a domain.

    ``known`` is a table over some of the columns; what is in neither ``known`` nor ``targets`` is
    summed out.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> prior: rb.Prior = rb.load_prior("acs")
        >>> known = prior.sample(2, np.random.default_rng(0)).project(["AGEP", "MAR"])
        >>> prior.conditional(known, ["SEX"]).shape
        (2, 2)
    """

    @property
    def domain(self) -> Domain: ...

    @property
    def visit_order(self) -> tuple[str, ...]:
        """The order in which columns are generated; multi-column games take targets in it."""
        ...

    def sha256(self) -> str: ...

    def sample(self, n: int, rng: np.random.Generator) -> Table: ...

    def conditional(self, known: Table, targets: Sequence[str]) -> Floats:
        """P(targets | known) of every record: shape (n, size of target 1, size of 2, ...)."""
        ...

    def log_evidence(self, known: Table) -> Floats:
        """log P(known) of every record; with all columns known, the log-probability."""
        ...

    def map(self, known: Table, targets: Sequence[str]) -> tuple[Table, Floats]:
        """The likeliest joint value of the targets given what is known, and its probability."""
        ...


@dataclass(frozen=True)
class PriorKey:
    """A prior as the key of a cache: equal to others of the same distribution.

    Priors of plugins may have no hash of their own.
    """

    sha256: str
    prior: Prior = field(compare=False)


# Joint priors of more numbers are not enumerated to find their likeliest values.
MAX_ENUMERATED = 1 << 22


def list_likeliest_values(prior: Prior, known: Table, targets: Sequence[str], count: int) -> Floats:
    """The probabilities of each record's ``count`` likeliest joint target values, largest first.

    Fewer where the targets have fewer values. A prior with a ``likeliest`` method of its own is
    asked; otherwise the joint prior is enumerated, and where it is too long for that (2²² numbers
    over all records) only the likeliest value of each record is listed.
    """
    own = getattr(prior, "likeliest", None)
    if callable(own):
        return np.asarray(own(known, targets, count), dtype=np.float64)
    values = prod(prior.domain.project(targets).sizes)
    if len(known) * values > MAX_ENUMERATED:
        return prior.map(known, targets)[1][:, None]
    joint = prior.conditional(known, targets).reshape(len(known), -1)
    if values > count:
        joint = np.partition(joint, values - count, axis=1)[:, -count:]
    return -np.sort(-joint, axis=1)


def draw_targets(
    prior: Prior, known: Table, targets: Sequence[str], count: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """``count`` draws from P(targets | known) for every record: (count, n, targets).

    A prior with a ``draw`` method of its own is asked; otherwise column after column is drawn.
    """
    own = getattr(prior, "draw", None)
    if callable(own):
        return np.asarray(own(known, targets, count, rng), dtype=np.int64)
    seen = Table(known.domain, np.tile(known.codes, (count, 1)))
    for target in targets:
        below = prior.conditional(seen, [target]).cumsum(axis=1)
        pick = (below[:, :-1] <= below[:, -1:] * rng.random((len(seen), 1))).sum(axis=1)
        seen = seen.join(Table(prior.domain.project([target]), pick[:, None]))
    return seen.project(targets).codes.astype(np.int64).reshape(count, len(known), len(targets))
