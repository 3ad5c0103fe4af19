"""Draw the figures of the documentation in docs/img, all or those that are named.

    python docs/generate figures corridor

The figure of the results page is drawn with it, see ``generate.results_page``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from generate.audit_ldp import audit_ldp
from generate.gradient_figures import corridor, gradient_errors
from reconbench.bounds import (
    ApproxDP,
    FdpRecursion,
    GaussianDP,
    Guarantee,
    HighProbabilityBound,
    LaplaceDP,
    MeanFromGuess,
    PriorExact,
    Profile,
    ProfileRecursion,
    PureDP,
    RandomisedResponse,
    SharpestBound,
    Theorem35,
    compare_bounds,
    gaussian_mu,
)
from reconbench.datasets.atomic_files import write_atomic
from reconbench.reports import curves_svg

IMAGES = Path(__file__).resolve().parents[1] / "img"
TARGETS = 100
UNIT = np.linspace(0, 1, 101)
PRIORS = np.linspace(0.02, 0.98, 49)
ONE = gaussian_mu(1.0, 1e-5)


def guarantees() -> str:
    """Power curves of mechanisms that are all sold at ε = 1."""
    curves: dict[str, Guarantee] = {
        "pure ε = 1": PureDP(1.0),
        "(1, 0.05)-DP": ApproxDP(1.0, 0.05),
        "Laplace, ε = 1": LaplaceDP(1.0),
        "RR of 10, ε = 1": RandomisedResponse(10, 1.0),
        "Gaussian (1, 1e-5)": GaussianDP(ONE),
    }
    return curves_svg(
        "The most powerful test between neighbours, 1 − f(α)",
        UNIT.tolist(),
        {name: curve.power(UNIT).tolist() for name, curve in curves.items()},
        "false-positive rate α",
        "true-positive rate, at most",
    )


def risk() -> str:
    found = compare_bounds(UNIT, GaussianDP(1.0))
    series = {name: entry["success"] for name, entry in found["bounds"].items()}
    return curves_svg("Success on one target under 1-GDP, by bound", found["baselines"], series)


def calibration() -> str:
    return curves_svg(
        "Success on one target, by μ",
        UNIT.tolist(),
        {
            f"μ = {mu:g}": SharpestBound().success(UNIT, GaussianDP(mu)).tolist()
            for mu in (0.1, 0.25, 0.5, 1.0, 2.0)
        },
    )


def ceilings() -> str:
    """The published ceiling at three confidences."""

    def share(prior: float, confidence: float) -> float:
        bound = Theorem35(np.full(TARGETS, prior), ApproxDP(1.0, 1e-5))
        return bound.ceiling(confidence) / TARGETS

    return curves_svg(
        f"Theorem 3.5 for {TARGETS} equal targets at (1, 1e-5)-DP",
        PRIORS.tolist(),
        {f"{c:.0%} confidence": [share(p, c) for p in PRIORS] for c in (0.95, 0.5, 0.05)},
        "success of the best guess from the prior",
        "share of targets, at most",
    )


def profile() -> str:
    """The 95 % ceilings of a Gaussian mechanism, side by side."""
    gaussian = GaussianDP(ONE)
    bounds: dict[str, Callable[[float], HighProbabilityBound]] = {
        "thm35": lambda p: Theorem35(np.full(TARGETS, p), ApproxDP(1.0, 1e-5)),
        "profile": lambda p: Profile(np.full(TARGETS, p), gaussian),
        "profile-recursion": lambda p: ProfileRecursion(np.full(TARGETS, p), gaussian),
        "fdp-recursion": lambda p: FdpRecursion(np.full((TARGETS, 1), p), gaussian, 1 - p),
    }
    return curves_svg(
        f"95 % ceilings for {TARGETS} equal targets, Gaussian at (1, 1e-5)-DP",
        PRIORS.tolist(),
        {
            name: [bound(float(p)).ceiling(0.95) / TARGETS for p in PRIORS]
            for name, bound in bounds.items()
        },
        "success of the best guess from the prior",
        "share of targets, at most",
    )


def prior_exact() -> str:
    """Ceilings on the mean for a likeliest value of 2, 3 and 10, the others alike, at μ = 1."""
    gaussian = GaussianDP(1.0)

    def exact(prior: float, values: int) -> float | None:
        if prior < 1 / values:
            return None
        rest = np.full(values - 1, (1 - prior) / (values - 1))
        return PriorExact(np.append(prior, rest)[None], gaussian).mean

    return curves_svg(
        "Expected success on one target under 1-GDP",
        PRIORS.tolist(),
        {
            "mean": MeanFromGuess(PRIORS, gaussian).per_target.tolist(),
            **{
                f"prior-exact, {m} values": [exact(float(p), m) for p in PRIORS] for m in (2, 3, 10)
            },
        },
        "prior of the likeliest value",
        "expected success, at most",
    )


FIGURES = (
    guarantees,
    risk,
    calibration,
    ceilings,
    profile,
    prior_exact,
    corridor,
    gradient_errors,
    audit_ldp,
)


def main(arguments: Sequence[str] | None = None) -> None:
    figures = {figure.__name__.replace("_", "-"): figure for figure in FIGURES}
    parser = argparse.ArgumentParser(prog="docs/generate figures", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"{', '.join(figures)}; all if none is given")
    parser.add_argument("--out", type=Path, default=IMAGES, help="the folder to write to")
    chosen = parser.parse_args(arguments)
    for name in chosen.names or figures:
        if name not in figures:
            parser.error(f"no figure {name!r}: give some of {', '.join(figures)}")
        write_atomic(chosen.out / f"{name}.svg", figures[name]())


if __name__ == "__main__":
    main()
