"""The guarantee that a user states: a budget, the μ of Gaussian DP, or a mechanism by text."""

from __future__ import annotations

from collections.abc import Callable

from reconbench.bounds.guarantees.guarantee import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    gaussian_mu,
)
from reconbench.bounds.guarantees.notation.mechanism import parse_guarantee
from reconbench.bounds.guarantees.relation import Relation, as_relation


def state_guarantee(
    epsilon: float | None = None,
    delta: float = 1e-5,
    *,
    mu: float | None = None,
    gaussian: bool = False,
    mechanism: str | None = None,
    relation: Relation | str | None = None,
    called: Callable[[str], str] = str,
) -> Guarantee:
    """Return the one guarantee that is stated.

    Args:
        epsilon: the ε of any (ε, δ)-DP mechanism; with δ = 0 of any pure one.
        delta: its δ.
        mu: the μ of Gaussian DP instead.
        gaussian: the mechanism is Gaussian, calibrated to ε and δ.
        mechanism: a text of the notation instead, such as `laplace:scale=5,queries=15`.
        relation: the neighbouring relation; by default replace-one, or that of the mechanism.
        called: what the user calls an argument, for errors.
    """
    if mechanism is not None:
        if epsilon is not None or mu is not None or gaussian:
            others = f"{called('epsilon')}, {called('mu')} and {called('gaussian')}"
            raise ValueError(f"give {called('mechanism')} without {others}")
        return parse_guarantee(mechanism, relation)
    neighbours = Relation.REPLACE_ONE if relation is None else as_relation(relation)
    if epsilon is None:
        if mu is None:
            raise _refuse_both(called)
        return GaussianDP(mu, neighbours)
    if mu is not None:
        raise _refuse_both(called)
    if gaussian:
        return GaussianDP(gaussian_mu(epsilon, delta), neighbours)
    return PureDP(epsilon, neighbours) if delta == 0 else ApproxDP(epsilon, delta, neighbours)


def _refuse_both(called: Callable[[str], str]) -> ValueError:
    return ValueError(
        f"give either {called('epsilon')} (with {called('delta')}) or {called('mu')}, or "
        f"{called('mechanism')}"
    )
