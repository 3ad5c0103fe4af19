"""Budgets of zero-concentrated DP: the ε that Gaussian noise of such a budget has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf, sqrt

from reconbench.benchmarks.assess.question import AssessError
from reconbench.bounds import GaussianDP
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.base import gaussian_guarantee

# Budgets around one: ε grows like √ρ where it is small.
RHO_STEPS = (0.01, 0.1, 1.0, 10.0, 100.0)


def convert_rho(rho: float, delta: float) -> float:
    """The ε at δ of Gaussian noise that is ρ-zCDP, which is √(2ρ)-GDP (Dong, Roth and Su 2022).

    A mechanism that is calibrated to this (ε, δ) by Gaussian accounting spends exactly ρ.
    """
    if not rho > 0 or isinf(rho):
        raise AssessError(f"rho must be a finite number > 0, got {rho:g}")
    if not 0 < delta < 1:
        raise AssessError(f"a budget in rho needs a delta in (0, 1), got {delta:g}")
    return GaussianDP(sqrt(2 * rho)).epsilon_at(delta)


@dataclass(frozen=True)
class StatedBudgets:
    """The budget that is asked about, the ones to play, and whether they were stated as ρ."""

    epsilon: float
    epsilons: tuple[float, ...]
    delta: float
    in_rho: bool


def state_budgets(
    epsilon: float | None,
    epsilons: Sequence[float],
    rho: float | None,
    rhos: Sequence[float],
    delta: float,
    called: Callable[[str], str] = str,
) -> StatedBudgets:
    """Budgets that a user states, either as ε or as ρ; ``called`` names arguments in errors."""
    if (epsilon is None) == (rho is None):
        raise AssessError(
            f"assess needs {called('epsilon')}, the budget you have in mind, or {called('rho')}"
        )
    if epsilon is not None:
        if rhos:
            raise AssessError(f"{called('rhos')} goes with {called('rho')}, not with epsilon")
        return StatedBudgets(epsilon, tuple(epsilons), delta, in_rho=False)
    if epsilons:
        raise AssessError(f"{called('epsilons')} goes with {called('epsilon')}, not with rho")
    ladder = rhos or [float(f"{step * (rho or 0.0):.3g}") for step in RHO_STEPS]
    converted = tuple(convert_rho(each, delta) for each in ladder)
    return StatedBudgets(convert_rho(rho or 0.0, delta), converted, delta, in_rho=True)


def check_rho(mechanism: Mechanism) -> None:
    """Refuse a mechanism whose budget in ε is not that of Gaussian noise."""
    if mechanism.guarantee != gaussian_guarantee(mechanism.budget):
        raise AssessError(
            f"rho is a budget of Gaussian noise, and {mechanism.name} is "
            f"{mechanism.guarantee.describe()}; state its budget with epsilon"
        )
