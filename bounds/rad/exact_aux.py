"""The exact black-box reconstruction advantage with auxiliary knowledge, by a linear program.

Perfect reconstruction (η = 0), replace-one neighbours. The attacker knows the label a(z). For ε-DP
an optimal mechanism answers with a random set S of values, e^ε times as likely for the values in S
as for the others, so the program has one constraint per value and one variable per set. For (ε, δ)
the outputs are the vectors of guesses, one per label. docs/rad-exact.md proves both reductions, and
that computing the optimum is NP-hard in general: m is limited.

What is returned is a dual solution of the solver made feasible, hence an upper bound whatever the
solver's tolerance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, PureDP
from reconbench.bounds.rad._inputs import Labels, as_labels, as_prior, spread
from reconbench.bounds.rad.exact import rad_exact, rad_profile_aux

# The number of sets doubles with each value.
MOST_VALUES = 14
# Entries of the (ε, δ) program: vectors of guesses × ordered pairs of values.
MOST_ENTRIES = 20_000


class _NotSolvedError(RuntimeError):
    """The solver gave up, as it may where all coefficients nearly agree (ε about 1e-9)."""


def rad_exact_aux(
    epsilon: float, prior: ArrayLike | int, aux: ArrayLike | None = None, delta: float = 0.0
) -> float:
    """The largest 0-RAD of any attack on any (ε, δ)-DP mechanism, for the knowledge a(z).

    Exact up to the solver's tolerance, and not below the optimum but for rounding; where the solver
    gives up, ``rad_profile_aux`` takes its place. Limited to few values; for more,
    ``rad_profile_aux`` and ``rad_any_aux`` are upper bounds in closed form.

    Args:
        epsilon: ε ≥ 0, for replace-one neighbours.
        prior: the probability of each value, or how many equally likely values there are.
        aux: a(z), one label per value; None for no knowledge.
        delta: δ in [0, 1).
    """
    values = as_prior(prior)
    labels = as_labels(aux, values.size)
    slack = _validate.below_one("delta", delta)
    weight = math.exp(-_validate.non_negative("epsilon", epsilon))
    if labels.max() == 0:
        return rad_exact(epsilon, values, slack)
    if values.size > MOST_VALUES:
        bound = "rad_any_aux" if slack else "rad_pure_aux"
        raise ValueError(
            f"prior must have at most {MOST_VALUES} values with auxiliary knowledge, got "
            f"{values.size}: use {bound}, an upper bound in closed form"
        )
    try:
        found = (
            _solve_sets(weight, values, labels)
            if slack == 0
            else _solve_guesses(weight, slack, values, labels)
        )
    except _NotSolvedError:
        pair = ApproxDP(epsilon, slack) if slack else PureDP(epsilon)
        return rad_profile_aux(pair, values)
    return min(found, spread(values))


def count_entries(labels: Labels) -> int:
    """The entries of the program with δ > 0: vectors of guesses times ordered pairs of values."""
    m = labels.size
    return math.prod(int(size) + 1 for size in np.bincount(labels)) * m * (m - 1)


def _solve_sets(weight: float, prior: FloatArray, labels: Labels) -> float:
    """max Σ_S c_S v_S with Σ_S c_S (1[z ∈ S] + e^−ε 1[z ∉ S]) = 1 for every z, c ≥ 0."""
    m = prior.size
    # The empty set is the full one times e^−ε, so it is left out.
    inside = ((np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1).astype(np.float64)
    best = np.zeros(len(inside))
    for label in range(int(labels.max()) + 1):
        best += (inside * (prior * (labels == label))).max(axis=1)
    gains = (1 - weight) * np.maximum(1 - inside @ prior, 0.0) * best
    rows = inside + weight * (1 - inside)
    y, _ = _dual(-gains, rows.T)
    # rows @ y ≥ gains makes Σ y a bound; each row of a set has a total of 1 + (m − 1) e^−ε or more.
    missing = max(float((gains - rows @ y).max()), 0.0) / (1 + (m - 1) * weight)
    return float(y.sum()) + m * missing


def _solve_guesses(weight: float, delta: float, prior: FloatArray, labels: Labels) -> float:
    """The program over kernels p_o(z) to vectors of guesses o, with excess variables x_o(z, w).

    max Σ_o Σ_z v_o(z) p_o(z), with Σ_o p_o = 1, e^−ε p_o(z) − p_o(w) ≤ x_o(z, w) and
    Σ_o x_o(z, w) ≤ e^−ε δ.
    """
    m, entries = prior.size, count_entries(labels)
    blocks = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"prior and aux make a program of {entries} entries with delta > 0, at most "
            f"{MOST_ENTRIES} are solved: pass fewer values, or use rad_any_aux, an upper bound in "
            "closed form"
        )
    gains = np.zeros((1, m))
    for block in blocks:
        # No guess gains nothing; guess g gains π_g (p(g) − Σ π p).
        rows = np.vstack([np.zeros(m), (np.eye(m) * prior - np.outer(prior, prior))[block]])
        gains = (gains[:, None, :] + rows[None, :, :]).reshape(-1, m)
    count = len(gains)
    first, second = np.nonzero(~np.eye(m, dtype=bool))
    pairs = first.size
    differences = np.zeros((pairs, m))
    differences[np.arange(pairs), first] = weight
    differences[np.arange(pairs), second] = -1.0
    upper = sparse.block_array(
        [
            [sparse.kron(sparse.eye_array(count), differences), -sparse.eye_array(count * pairs)],
            [None, sparse.kron(np.ones((1, count)), sparse.eye_array(pairs))],
        ],
        format="csr",
    )
    limits = np.concatenate([np.zeros(count * pairs), np.full(pairs, weight * delta)])
    totals = sparse.hstack(
        [
            sparse.kron(np.ones((1, count)), sparse.eye_array(m)),
            sparse.csr_array((m, count * pairs)),
        ],
        format="csr",
    )
    costs = -np.concatenate([gains.ravel(), np.zeros(count * pairs)])
    y, multipliers = _dual(costs, totals, upper, limits)
    # For any μ_o ≥ 0: Σ_o v_o p_o ≤ Σ y + e^−ε δ Σ_pairs max_o μ_o if v_o ≤ y + Σ μ_o differences.
    mu = np.maximum(multipliers[: count * pairs], 0.0).reshape(count, pairs)
    missing = max(float((gains - y - mu @ differences).max()), 0.0)
    return float(y.sum()) + m * missing + weight * delta * float(mu.max(axis=0).sum())


def _dual(
    costs: FloatArray, totals: Any, upper: Any = None, limits: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Multipliers of totals @ x = 1 and of upper @ x ≤ limits in the least costs @ x, x ≥ 0."""
    from scipy.optimize import linprog

    found = linprog(
        costs,
        A_ub=upper,
        b_ub=limits,
        A_eq=totals,
        b_eq=np.ones(totals.shape[0]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise _NotSolvedError(f"the linear program was not solved: {found.message}")
    return -np.asarray(found.eqlin.marginals), -np.asarray(found.ineqlin.marginals)
