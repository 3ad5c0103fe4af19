"""Whether a prior describes the table that it is played with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from reconbench.datasets import BayNet, DomainError, Prior, Table
from reconbench.datasets.network.misfit import PairMisfit, find_independent, measure_misfit


@dataclass(frozen=True)
class PriorFit:
    """What a network leaves out of the columns that are known or wanted.

    ``independent`` are the targets that it holds independent of all known columns. Of ``pairs``
    pairs of columns it misses something of ``missed``, beyond chance at ``level``; ``notable`` are
    those of them that matter, largest first.
    """

    independent: tuple[str, ...]
    pairs: int
    missed: int
    level: float
    notable: tuple[PairMisfit, ...]


def check_prior_fit(
    prior: Prior, table: Table, targets: Sequence[str], known: Collection[str]
) -> PriorFit | None:
    """Hold a network against the table; None for another kind of prior, or one too large."""
    if not isinstance(prior, BayNet) or prior.domain != table.domain:
        return None
    try:
        misfit = measure_misfit(prior, table)
    except DomainError:
        return None
    played = {*targets, *known}
    missed = [pair for pair in misfit.missed if played.issuperset(pair.columns)]
    return PriorFit(
        find_independent(prior, targets, tuple(known)),
        len(played) * (len(played) - 1) // 2,
        len(missed),
        misfit.level,
        tuple(pair for pair in missed if pair in misfit.notable),
    )
