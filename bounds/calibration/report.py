"""Calibration of a named measure of risk: epsilon, mu and sigma with their bounds, for JSON."""

from __future__ import annotations

import math
from typing import Any, Unpack

from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds.calibration.named import Details, named_risk
from reconbench.bounds.calibration.solve import (
    Calibration,
    EpsilonFamily,
    GaussianFamily,
    NoAnswerError,
    calibrate,
)
from reconbench.bounds.guarantees.relation import Relation, as_relation


def calibration_report(
    threshold: float,
    baseline: ArrayLike | None = None,
    measure: str = "advantage",
    delta: float = 1e-5,
    sensitivity: float = 1.0,
    *,
    relation: Relation | str = Relation.REPLACE_ONE,
    **details: Unpack[Details],
) -> dict[str, Any]:
    """ε at δ, μ and σ for a named measure, with the risk that each reaches, ready for JSON.

    Args:
        threshold: the largest risk to allow.
        baseline: the success of the best guess from the prior, one or one per target.
        measure: one of `named.MEASURES`.
        delta: the δ of the ε.
        sensitivity: the L2 sensitivity between neighbours under `relation`; σ = sensitivity/μ.
        relation: the neighbouring relation that ε, μ and the sensitivity are for.
        details: what else the measure is about: `priors`, `any_event`, `knowledge`, `within`,
            `records`, `candidates`; see `named.Details`.

    Returns:
        `bound`, `reference` and `risk` have, by parameter, the bound that gave the answer, its
        theorem, and the risk it reaches. A parameter that may grow without bound is None, with
        σ = 0; one with no answer is left out. `answer` says either in a sentence, and `no_answer`
        has the reasons.
    """
    size = _validate.positive("sensitivity", sensitivity)
    if math.isinf(size):
        raise ValueError(f"sensitivity must be finite, got {sensitivity!r}")
    risk = named_risk(measure, baseline, delta, **details)
    neighbours = as_relation(relation)
    report: dict[str, Any] = {
        "measure": measure,
        "threshold": threshold,
        "relation": neighbours.value,
        "delta": delta,
        "sensitivity": size,
        "bound": {},
        "reference": {},
        "risk": {},
        "answer": {},
        "no_answer": {},
    }
    for family in (EpsilonFamily(delta, neighbours), GaussianFamily(neighbours)):
        name = family.parameter
        try:
            found = calibrate(risk, threshold, family)
        except NoAnswerError as error:
            report["no_answer"][name] = str(error)
            report["answer"][name] = f"unreachable: {error}"
            continue
        report[name] = None if math.isinf(found.value) else found.value
        report["risk"][name], report["bound"][name] = found.risk, found.bound
        report["reference"][name] = found.reference
        report["answer"][name] = _sentence(found, measure)
        if isinstance(family, GaussianFamily):
            report["sigma"] = found.sigma(size)
    return report


def _sentence(found: Calibration, measure: str) -> str:
    neighbours = f"{found.guarantee.relation.value} neighbours, by {found.bound}: {found.reference}"
    if math.isinf(found.value):
        return (
            f"no noise is needed: without any, the {measure} is {found.risk:.6g}, not above "
            f"{found.threshold:g} ({neighbours})"
        )
    return f"{found.parameter} at most {found.value:.6g} ({neighbours})"
