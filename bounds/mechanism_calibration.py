"""Calibration of a mechanism given by text: its one parameter `?`, for a named risk."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from reconbench.bounds.calibration import named_risk
from reconbench.bounds.guarantees.notation.free_parameter import Solved, find_free, solve_free
from reconbench.bounds.guarantees.notation.mechanism import Mechanism, parse_mechanism
from reconbench.bounds.guarantees.relation import Relation


def mechanism_calibration_report(
    mechanism: Mechanism | str,
    threshold: float,
    baseline: ArrayLike,
    measure: str = "advantage",
    *,
    relation: Relation | str | None = None,
    priors: ArrayLike | None = None,
    any_event: bool = False,
) -> dict[str, Any]:
    """The value of the parameter `?` that keeps a named measure at the threshold, ready for JSON.

    Args:
        mechanism: a text of the notation with one `?`, as in `gaussian:sigma=?`.
        threshold: the largest risk to allow.
        baseline: the success of the best guess from the prior, one or one per target.
        measure: one of `bounds.calibration.MEASURES`.
        relation: the neighbouring relation wanted; by default that of the mechanism.
        priors: each target's whole prior, one row per target.
        any_event: allow for guesses that are right for several values.

    `value` is None where no value keeps the threshold; `solved` is the text with the value put in.
    """
    asked = parse_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    parameter = find_free(asked)
    risk = named_risk(measure, baseline, priors=priors, any_event=any_event)
    found = solve_free(risk, threshold, asked, relation)
    report: dict[str, Any] = {
        "measure": measure,
        "threshold": threshold,
        "relation": asked.relation(relation).value,
        "mechanism": asked.text,
        "parameter": parameter.name,
        "value": None,
        "solved": None,
    }
    if found is None:
        answer = f"unreachable: no {parameter.name} keeps the {measure} at or below {threshold:g}"
        return report | {"answer": answer}
    bound = risk.bound_name(found.guarantee)
    return report | {
        "value": found.value,
        "solved": found.mechanism.text,
        "guarantee": found.guarantee.describe(),
        "risk": found.risk,
        "bound": bound,
        "at_limit": found.limit,
        "answer": _sentence(found, measure, bound),
    }


def _sentence(found: Solved, measure: str, bound: str) -> str:
    parameter, neighbours = found.parameter, found.guarantee.relation.value
    by = f"({measure} {found.risk:.6g}, {neighbours} neighbours, by {bound})"
    side = "least" if parameter.protects > 0 else "most"
    if found.limit:
        return f"every {parameter.name} allowed, even {found.value:g}, keeps the threshold {by}"
    return f"{parameter.name} at {side} {found.value:.10g} {by}"
