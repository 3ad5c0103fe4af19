"""Bounds on the reconstruction advantage that need the guarantee alone.

RAD (Guerra-Balboa 2026, Definition 4.1) is the success of an attack on a target that took part,
minus the success of the same attack when another draw of the prior took part in its place. Every
result here is for replace-one neighbours and holds for any data set behind the target. Where the
printed statement does not hold, the docstring says how it was corrected.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.guarantee import GaussianDP, Guarantee, Relation
from reconbench.bounds.guarantees.relation import as_relation, require_replace_one
from reconbench.bounds.rad._inputs import as_advantage, as_prior, collision, spread

_REFERENCE = "the reconstruction advantage"
_LARGEST_EPSILON = 700.0
_GRID = 65


def total_variation_approx(epsilon: float, delta: float = 0.0) -> float:
    """(e^ε − 1 + 2δ)/(e^ε + 1), the total variation of (ε, δ)-DP (Guerra-Balboa 2026, Eq. 2).

    Args:
        epsilon: ε ≥ 0.
        delta: δ in [0, 1).
    """
    odds, delta = _odds(epsilon), _validate.below_one("delta", delta)
    return (-math.expm1(-epsilon) + 2 * delta * odds) / (1 + odds)


def rad_any_aux(guarantee: Guarantee, prior: ArrayLike | int) -> float:
    """TV (1 − κ_π), for any auxiliary knowledge, error and threshold (Theorem 4.2).

    For a continuous prior, κ_π = 0 and the bound is the total variation of the guarantee.

    Args:
        guarantee: for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
    """
    require_replace_one(guarantee, f"{_REFERENCE} (Theorem 4.2)")
    return guarantee.total_variation() * spread(as_prior(prior))


def rad_composed(total_variation: float, steps: int, prior: ArrayLike | int) -> float:
    """(1 − (1 − Δ)^T)(1 − κ_π) for T adaptive steps of total variation Δ (after Theorem 4.2).

    Composing the trade-off curves first, and then using ``rad_any_aux``, is never worse.
    """
    (step,) = np.atleast_1d(_validate.probabilities("total_variation", total_variation))
    count = positive_integer("steps", steps)
    total = 1.0 if step == 1 else -math.expm1(count * math.log1p(-step))
    return total * spread(as_prior(prior))


def rad_no_aux(
    guarantee: Guarantee,
    smallest: float,
    largest: float,
    collision_mass: float | None = None,
) -> float:
    """Theorem 5.1: f-DP without auxiliary knowledge, for any error and threshold.

    The first bound is max 1 − f(α) − α over α in [κ⁻, κ⁺]; a discrete prior also has (1 − κ_π) max
    over [0, κ⁺/(1 − κ_π)].

    Args:
        guarantee: for replace-one neighbours.
        smallest: κ⁻, the least chance of a guess to succeed on a draw of the prior.
        largest: κ⁺, the largest such chance.
        collision_mass: κ_π of a discrete prior; None for the first bound alone.
    """
    require_replace_one(guarantee, f"{_REFERENCE} (Theorem 5.1)")
    low, high = _validate.probabilities("smallest, largest", [smallest, largest])
    if low > high:
        raise ValueError(f"smallest must be at most largest, got {smallest!r} and {largest!r}")
    bound = _largest_gap(guarantee, float(low), float(high))
    if collision_mass is None:
        return bound
    (kappa,) = np.atleast_1d(_validate.probabilities("collision_mass", collision_mass))
    apart = 1 - float(kappa)
    if apart == 0:
        return 0.0
    return min(bound, apart * _largest_gap(guarantee, 0.0, min(1.0, float(high) / apart)))


def rad_approx_no_aux(
    epsilon: float, delta: float, smallest: float, largest: float, collision_mass: float = 0.0
) -> float:
    """Proposition 5.2, corrected: (ε, δ)-DP without auxiliary knowledge.

    min{κ⁺(e^ε − 1) + δ, ((1 − κ⁻)(e^ε − 1) + δ)/e^ε, TV (1 − κ_π)}. The second term is printed
    with κ⁺; it falls with α, so its maximum over [κ⁻, κ⁺] is at κ⁻.

    Args:
        epsilon: ε ≥ 0, for replace-one neighbours.
        delta: δ in [0, 1).
        smallest: κ⁻ as in ``rad_no_aux``.
        largest: κ⁺ as in ``rad_no_aux``.
        collision_mass: κ_π as in ``rad_no_aux``.
    """
    low, high, kappa = _validate.probabilities(
        "smallest, largest, collision_mass", [smallest, largest, collision_mass]
    )
    if low > high:
        raise ValueError(f"smallest must be at most largest, got {smallest!r} and {largest!r}")
    odds, delta = _odds(epsilon), _validate.below_one("delta", delta)
    growth = math.expm1(epsilon) if epsilon < _LARGEST_EPSILON else math.inf
    rising = delta + (high * growth if high > 0 else 0.0)
    falling = (1 - low) * -math.expm1(-epsilon) + delta * odds
    return float(min(rising, falling, total_variation_approx(epsilon, delta) * (1 - kappa)))


def rad_perfect(epsilon: float, prior: ArrayLike | int, delta: float = 0.0) -> float:
    """Theorem 5.3, corrected: 0-RAD under (ε, δ)-DP without auxiliary knowledge.

    Let Θ_i be the outputs on which the attack guesses i and x_i = P(Θ_i | i) − P(Θ_i); the RAD is
    Σ π_i x_i. For the best attack each x_i is from 0 to TV (1 − π_i), and their sum at most
    G = (m − 1)(e^ε − 1 + δm)/(e^ε + m − 1) (Eq. 11; Theorem 5.3 prints 2δ for δm in it). The
    largest Σ π_i x_i under these fills the x_i in descending order of π until G is used up.

    Args:
        epsilon: ε ≥ 0, for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
        delta: δ in [0, 1).
    """
    values, delta = as_prior(prior), _validate.below_one("delta", delta)
    m, odds = values.size, _odds(epsilon)
    total = (m - 1) * (-math.expm1(-epsilon) + delta * m * odds) / (1 + (m - 1) * odds)
    largest_first = np.sort(values)[::-1]
    caps = total_variation_approx(epsilon, delta) * (1 - largest_first)
    used = np.concatenate([[0.0], np.cumsum(caps)])
    given = np.diff(np.minimum(used, total))
    return float(largest_first @ given)


def rad_uniform(epsilon: float, m: int, delta: float = 0.0) -> float:
    """(e^ε − 1 + δm)/(e^ε + m − 1) · (m − 1)/m (Corollary 5.4): η = 0, aux = ∅, uniform prior.

    Args:
        epsilon: ε ≥ 0, for replace-one neighbours.
        m: how many equally likely values there are.
        delta: δ in [0, 1).
    """
    count, delta = positive_integer("m", m), _validate.below_one("delta", delta)
    odds = _odds(epsilon)
    share = (-math.expm1(-epsilon) + delta * count * odds) / (1 + (count - 1) * odds)
    return share * (count - 1) / count


def epsilon_uniform(gamma: float, m: int, delta: float = 0.0) -> float:
    """Eq. 12 with δ: the smallest ε at which Corollary 5.4 allows an advantage of γ.

    0 when ε = 0 already allows it, inf when no finite ε does (γ ≥ (m − 1)/m).
    """
    target, delta = as_advantage(gamma), _validate.below_one("delta", delta)
    count = positive_integer("m", m)
    if target <= delta * (count - 1) / count:
        return 0.0
    share = target * count / (count - 1) if count > 1 else math.inf
    if share >= 1:
        return math.inf
    # share = (e^ε − 1 + δm)/(e^ε + m − 1), so e^ε − 1 = m (share − δ)/(1 − share).
    return math.log1p(count * (share - delta) / (1 - share))


def rad_any(epsilon: float, prior: ArrayLike | int, delta: float = 0.0) -> float:
    """The largest 0-RAD that (ε, δ)-DP allows by any of the black-box results, aux = ∅.

    The least of the corrected Theorem 5.3 (which is Corollary 5.4 for a uniform prior, and never
    above Theorem 4.2) and the corrected Proposition 5.2. It rises with ε. ``rad_exact`` is the
    optimum itself: equal for a uniform prior, otherwise often lower.
    """
    values = as_prior(prior)
    low, high = float(values.min()), float(values.max())
    simple = rad_approx_no_aux(epsilon, delta, low, high, min(collision(values), 1.0))
    return min(rad_perfect(epsilon, values, delta), simple)


def epsilon_any(gamma: float, prior: ArrayLike | int, delta: float = 0.0) -> float:
    """The smallest ε at which ``rad_any`` allows an advantage of γ: 0 or inf as in Eq. 12."""
    from scipy.optimize import brentq

    target, values = as_advantage(gamma), as_prior(prior)
    if target <= rad_any(0.0, values, delta):
        return 0.0
    if target >= rad_any(_LARGEST_EPSILON, values, delta):
        return math.inf

    def gap(epsilon: float) -> float:
        return rad_any(epsilon, values, delta) - target

    return float(brentq(gap, 0.0, _LARGEST_EPSILON, xtol=1e-13, rtol=1e-14))


def dp_sgd_rad(
    sigma: float, steps: int, m: int, relation: Relation | str = Relation.REPLACE_ONE
) -> float:
    """Example 5.5: 0-RAD of T full-batch DP-SGD steps, uniform prior on m records, aux = ∅.

    Theorem 5.1 at μ = 2√T/σ. RAD replaces one record by another: two gradients clipped to C can be
    2C apart, so a step with noise σC on their sum is 2/σ-GDP.

    Erratum: the example has μ = √T/σ, that of a record which is left out. Pass
    `relation="add-remove"` for the printed number, which does not bound RAD.
    """
    count = positive_integer("m", m)
    root_steps = math.sqrt(positive_integer("steps", steps))
    mu = _gradient_distance(relation) * root_steps / _validate.positive("sigma", sigma)
    return rad_no_aux(GaussianDP(mu, Relation.REPLACE_ONE), 1 / count, 1 / count, 1 / count)


def dp_sgd_sigma(
    gamma: float, steps: int, m: int, relation: Relation | str = Relation.REPLACE_ONE
) -> float:
    """Example 5.5 inverted: the smallest σ for which ``dp_sgd_rad`` is at most γ.

    γ = 0.1, T = 100, m = 10: 43.9. The paper prints 22 (21.93), which `relation="add-remove"`
    reproduces and which allows twice the distance between two records' gradients.
    """
    from scipy.optimize import brentq

    target, count = as_advantage(gamma), positive_integer("m", m)
    if not 0 < target < (count - 1) / count:
        raise ValueError(
            f"gamma must be above 0 and below (m - 1)/m = {(count - 1) / count:g}, got {gamma!r}"
        )
    root_steps = math.sqrt(positive_integer("steps", steps))

    def gap(log_mu: float) -> float:
        return dp_sgd_rad(math.exp(-log_mu), 1, count, Relation.ADD_REMOVE) - target

    mu = math.exp(float(brentq(gap, -40.0, 5.0, xtol=1e-13, rtol=1e-14)))
    return _gradient_distance(relation) * root_steps / mu


def _gradient_distance(relation: Relation | str) -> float:
    """How far apart, in clipping norms, the sums of gradients of two neighbours can be."""
    return 2.0 if as_relation(relation) is Relation.REPLACE_ONE else 1.0


def _odds(epsilon: float) -> float:
    return math.exp(-_validate.non_negative("epsilon", epsilon))


def _largest_gap(guarantee: Guarantee, low: float, high: float) -> float:
    """max of 1 − f(α) − α over α in [low, high].

    The function is concave, so the maximum lies next to the best point of any grid; the grid
    shrinks to its neighbours until they are the same double.
    """
    best = 0.0
    while True:
        alpha = np.linspace(low, high, _GRID)
        gaps: FloatArray = guarantee.power(alpha) - alpha
        top = int(gaps.argmax())
        best = max(best, float(gaps[top]))
        narrow = alpha[max(top - 1, 0)], alpha[min(top + 1, _GRID - 1)]
        if narrow[1] - narrow[0] <= 4 * np.spacing(narrow[1]) or narrow == (low, high):
            return best
        low, high = float(narrow[0]), float(narrow[1])
