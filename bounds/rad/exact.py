"""The exact black-box reconstruction advantage: the most that any (ε, δ)-DP mechanism allows.

Perfect reconstruction (η = 0), replace-one neighbours. Without auxiliary knowledge it has a closed
form. Let π be sorted in descending order, s_k = π_1 + … + π_k and E = e^ε − 1. Then

    RAD* = δ (1 − κ) + (1 − δ) max over k of  E C_k / (E + k),
    C_k = Σ_{z<k} π_z (1 − π_z) + π_k s_{k−1}.

The mechanism that attains it reveals the value with probability δ. Otherwise it merges the values
k, …, m into one and answers by randomised response on k symbols; the attacker reads the last symbol
as value k. docs/rad-exact.md proves that nothing does better.

With auxiliary knowledge: ``exact_aux``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import require_replace_one
from reconbench.bounds.rad._inputs import as_advantage, as_prior, spread

_LARGEST_EPSILON = 50.0
_GRID = 64


def rad_exact(epsilon: float, prior: ArrayLike | int, delta: float = 0.0) -> float:
    """The largest 0-RAD of any attack on any (ε, δ)-DP mechanism, aux = ∅: exact, attained.

    Never above ``rad_any``. One sort of the prior.

    Args:
        epsilon: ε ≥ 0, for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
        delta: δ in [0, 1).
    """
    values = as_prior(prior)
    return _exact(epsilon, delta, _merged_gains(values), spread(values))


def epsilon_exact(gamma: float, prior: ArrayLike | int, delta: float = 0.0) -> float:
    """The smallest ε at which ``rad_exact`` allows an advantage of γ, in closed form.

    0 when ε = 0 already allows it, inf when no finite ε does (γ ≥ 1 − κ).
    """
    target, values = as_advantage(gamma), as_prior(prior)
    slack = _validate.below_one("delta", delta)
    rest = (target - slack * spread(values)) / (1 - slack)
    if rest <= 0:
        return 0.0
    gains = _merged_gains(values)
    counts = np.arange(1, values.size + 1)
    reached = gains > rest
    if not reached.any():
        return math.inf
    # E C/(E + k) = x  ⟺  E = k x/(C − x)
    return float(np.log1p((counts[reached] * rest / (gains[reached] - rest)).min()))


def rad_profile(guarantee: Guarantee, prior: ArrayLike | int) -> float:
    """The least ``rad_exact`` along the profile δ(ε): any f-DP mechanism, aux = ∅.

    Every ε gives a bound. The least is exact for a uniform prior and for two values, where
    randomised response attains it; for other priors a lower value may hold.

    Args:
        guarantee: for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
    """
    require_replace_one(guarantee, "the exact reconstruction advantage")
    values = as_prior(prior)
    gains, most = _merged_gains(values), spread(values)

    def at(epsilon: float, delta: float) -> float:
        return _exact(epsilon, delta, gains, most) if delta < 1 else most

    if isinstance(guarantee, ApproxDP | PureDP):
        return at(guarantee.epsilon, guarantee.delta_at(guarantee.epsilon))
    return _least_along_profile(guarantee, at)


def rad_pure_aux(epsilon: float, prior: ArrayLike | int) -> float:
    """min{tanh(ε/4), tanh(ε/2) (1 − κ)}: ε-DP, any knowledge, error and number of values.

    The second is Theorem 4.2. The first is half of it for small ε and a spread-out prior, and is
    approached with a(z) = z as the probabilities of all values go to 0: docs/rad-exact.md.
    """
    values, budget = as_prior(prior), _validate.non_negative("epsilon", epsilon)
    return min(math.tanh(budget / 4), math.tanh(budget / 2) * spread(values))


def rad_profile_aux(guarantee: Guarantee, prior: ArrayLike | int) -> float:
    """The least tanh(ε/4) + (1 − tanh(ε/4)) (1 − κ) δ(ε) over ε: any knowledge and error.

    Every ε gives a bound; ε = 0 gives Theorem 4.2, ε-DP the first term of ``rad_pure_aux``. For one
    pair (ε, δ) it is approached as the probabilities of all values go to 0, by a mechanism that
    reveals the value with probability δ: docs/rad-exact.md.

    Args:
        guarantee: for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
    """
    require_replace_one(guarantee, "the exact reconstruction advantage")
    most = spread(as_prior(prior))

    def at(epsilon: float, delta: float) -> float:
        pure = math.tanh(epsilon / 4)
        return min(pure + (1 - pure) * most * delta, most)

    return _least_along_profile(guarantee, at)


def _least_along_profile(guarantee: Guarantee, at: Callable[[float, float], float]) -> float:
    """The least at(ε, δ(ε)): of a grid with the profile's last kink, refined next to the best."""
    from scipy.optimize import minimize_scalar

    last = guarantee.epsilon_at(0.0)
    if isinstance(guarantee, ApproxDP | PureDP):
        last = guarantee.epsilon
    grid = np.concatenate([[0.0], np.geomspace(1e-3, _LARGEST_EPSILON, _GRID)])
    if last < _LARGEST_EPSILON:
        grid = np.append(grid[grid < last], last)

    def on_profile(epsilon: float) -> float:
        return at(epsilon, float(guarantee.delta_at(epsilon)))

    found = [on_profile(float(epsilon)) for epsilon in grid]
    least = int(np.argmin(found))
    low, high = grid[max(least - 1, 0)], grid[min(least + 1, grid.size - 1)]
    if low == high:
        return found[least]
    refined = minimize_scalar(
        on_profile, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return min(float(refined.fun), found[least])


def _merged_gains(prior: FloatArray) -> FloatArray:
    """C_k for k = 1, …, m: Σ_{z<k} π_z (1 − π_z) + π_k s_{k−1}, π in descending order."""
    largest_first = np.sort(prior)[::-1]
    before = np.concatenate([[0.0], np.cumsum(largest_first)[:-1]])
    alone = np.concatenate([[0.0], np.cumsum(largest_first * (1 - largest_first))[:-1]])
    return np.asarray(alone + largest_first * before, dtype=np.float64)


def _exact(epsilon: float, delta: float, gains: FloatArray, most: float) -> float:
    """Theorem 1 for the gains C_k and 1 − κ of a prior."""
    slack = _validate.below_one("delta", delta)
    odds = math.exp(-_validate.non_negative("epsilon", epsilon))
    # E/(E + k) = (1 − e^−ε)/(1 + (k − 1) e^−ε)
    symbols = np.arange(gains.size)
    best = float((-math.expm1(-epsilon) * gains / (1 + symbols * odds)).max())
    return slack * most + (1 - slack) * best
