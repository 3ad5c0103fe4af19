"""An estimate as plain values: all that a report shows, figures included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from reconbench.bounds.audit.mcmc.check import PredictiveCheck
from reconbench.bounds.audit.mcmc.compare import best_lower_bound, joint_beta
from reconbench.bounds.audit.mcmc.estimate import GDP, Estimate
from reconbench.bounds.audit.mcmc.model import FixedStrength, epsilon_level, hypotheses

_BINS = 40
_TRACE_POINTS = 300
_LAGS = 60


def document(
    found: Estimate,
    check: PredictiveCheck,
    *,
    other_model: tuple[Estimate, PredictiveCheck] | None = None,
    other_priors: Sequence[Estimate] = (),
    other_deltas: Sequence[Estimate] = (),
) -> dict[str, Any]:
    """`found.to_json()` with its predictive check, the comparisons and the other estimates.

    `warnings` has the check's as well. `models` lists every model that was fitted, and `believe`
    says what their checks mean.
    """
    run = found.run
    # The attack that looks strongest, its counts half a count away from 0 and N.
    x, n0, y, n1 = run.counts.columns.T
    levels = epsilon_level((x + 0.5) / (n0 + 1), (y + 0.5) / (n1 + 1), run.delta)
    strongest = int(np.argmax(levels))
    (beta,) = joint_beta(run.counts.attack(strongest), run.delta, found.level)
    models = [(found, check), *([] if other_model is None else [other_model])]
    failures = [one.warning for _, one in models if one.warning is not None]
    return {
        **found.to_json(),
        "check": check.to_json(),
        "models": [_fitted(*each) for each in models],
        "believe": _believe([one for _, one in models]),
        "warnings": [*failures, *found.warnings],
        "hypotheses": list(hypotheses(run.relation)),
        "compare": {
            "joint_beta": {**beta.to_dict(), "attack": strongest + 1},
            "clopper_pearson": best_lower_bound(run.counts, run.delta, found.level).to_dict(),
        },
        "other_priors": [_brief(each) for each in other_priors],
        "other_deltas": [_brief(each) for each in other_deltas],
    }


def figures(found: Estimate) -> dict[str, Any]:
    """What the figures draw: joint posterior, traces, autocorrelation and the region."""
    return {
        "joint": _joint(found),
        "traces": _traces(found),
        "autocorrelation": found.autocorrelation("epsilon", _LAGS).tolist(),
        "region": _region(found),
    }


def _fitted(found: Estimate, check: PredictiveCheck) -> dict[str, Any]:
    mu = {"mu": found.summaries["mu"].to_json()} if "mu" in found.names else {}
    return {
        "model": found.run.model,
        "epsilon": found.epsilon.to_json(),
        **mu,
        "prior": found.run.prior.describe(),
        "converged": found.converged,
        "check": check.to_json(),
    }


def _believe(checks: Sequence[PredictiveCheck]) -> str:
    """Which interval the checks speak for, in one sentence."""
    if any(each.p_value is None for each in checks):
        return "Too few attacks for a predictive check: nothing but the prior supports the model."
    fits = [each.model for each in checks if not each.failed]
    if not fits:
        return "No fitted model agrees with the counts: rely on the proved lower bound alone."
    if len(checks) == 1:
        return f"The counts look like those of the {fits[0]} model; others may fit as well."
    if len(fits) == 1:
        return f"Only the {fits[0]} model agrees with the counts: believe its interval."
    return "Both models agree with the counts: allow for the larger upper end."


def _brief(each: Estimate) -> dict[str, Any]:
    return {
        "delta": each.run.delta,
        "prior": each.run.prior.describe(),
        "epsilon": each.epsilon.to_json(),
        "strength": each.strength.to_json(),
        "converged": each.converged,
    }


def _joint(found: Estimate) -> list[dict[str, float]]:
    """Cells of a histogram of (ε, s), those with draws; ε from 0 to its 99.5 % quantile."""
    epsilon, s = found.trace("epsilon").ravel(), found.trace("strength").ravel()
    top = float(np.quantile(epsilon, 0.995))
    share, e_edges, s_edges = np.histogram2d(epsilon, s, bins=_BINS, range=((0, top), (0, 1)))
    rows, columns = np.nonzero(share)
    return [
        {
            "epsilon": float(e_edges[i]),
            "epsilon_end": float(e_edges[i + 1]),
            "strength": float(s_edges[j]),
            "strength_end": float(s_edges[j + 1]),
            "share": float(share[i, j] / epsilon.size),
        }
        for i, j in zip(rows, columns, strict=True)
    ]


def _traces(found: Estimate) -> list[dict[str, float | str]]:
    chains, iterations, _ = found.draws.shape
    shown = np.unique(np.linspace(0, iterations - 1, _TRACE_POINTS).astype(int))
    fixed = isinstance(found.run.prior.strength, FixedStrength)
    return [
        {
            "parameter": name,
            "chain": str(chain + 1),
            "iteration": int(i),
            "value": float(found.trace(name)[chain, i]),
        }
        for name in found.names
        if not (fixed and name == "strength")
        for chain in range(chains)
        for i in shown
    ]


def _region(found: Estimate) -> dict[str, Any]:
    """Observed errors, and the corners of R(ε, δ) for ε at its median and interval."""
    delta = found.run.delta
    inner = found.strength.median
    if found.run.model == GDP:
        return {"points": _error_points(found), "lines": _gdp_lines(found)}
    curves = {
        f"ε = {found.epsilon.lower:.2f} ({100 * (1 - found.level) / 2:.0f} %)": (
            found.epsilon.lower,
            delta,
        ),
        f"ε = {found.epsilon.median:.2f} (median)": (found.epsilon.median, delta),
        f"ε = {found.epsilon.upper:.2f} ({100 * (1 + found.level) / 2:.0f} %)": (
            found.epsilon.upper,
            delta,
        ),
        f"attacks of strength {inner:.2f}": (inner * found.epsilon.median, inner * delta),
    }
    lines = [
        {"curve": name, "order": place, "alpha": a, "beta": b}
        for name, (epsilon, slack) in curves.items()
        for place, (a, b) in enumerate(_boundary(epsilon, slack))
    ]
    return {"points": _error_points(found), "lines": lines}


def _error_points(found: Estimate) -> list[dict[str, float | None]]:
    delta = found.run.delta
    return [
        {"alpha": float(a), "beta": float(b), "level": _finite(epsilon_level(a, b, delta))}
        for a, b in zip(*found.run.counts.rates, strict=True)
    ]


def _gdp_lines(found: Estimate) -> list[dict[str, Any]]:
    """Curves β = Φ(Φ⁻¹(1 − α) − μ) for μ at its median and interval, and of the strength."""
    mu, inner = found.summaries["mu"], found.strength.median
    curves = {
        f"μ = {mu.lower:.2f} ({100 * (1 - found.level) / 2:.0f} %)": mu.lower,
        f"μ = {mu.median:.2f} (median)": mu.median,
        f"μ = {mu.upper:.2f} ({100 * (1 + found.level) / 2:.0f} %)": mu.upper,
        f"attacks of strength {inner:.2f}": inner * mu.median,
    }
    alpha = np.linspace(0, 1, 101)
    return [
        {"curve": name, "order": place, "alpha": float(a), "beta": float(ndtr(-ndtri(a) - m))}
        for name, m in curves.items()
        for place, a in enumerate(alpha)
    ]


def _boundary(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Corners of the lower boundary of R(ε, δ): (0, 1 − δ), the kink, (1 − δ, 0)."""
    kink = float((1 - delta) / (1 + np.exp(epsilon)))
    return [(0.0, 1 - delta), (kink, kink), (1 - delta, 0.0)]


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
