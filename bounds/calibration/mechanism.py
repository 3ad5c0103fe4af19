"""Calibration of a mechanism given by text: its one parameter `?`, for a named risk."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import ArrayLike

from reconbench.bounds.calibration.named import Details, named_risk
from reconbench.bounds.calibration.solve import Source
from reconbench.bounds.guarantees.notation.free_parameter import Solved, find_free, solve_free
from reconbench.bounds.guarantees.notation.mechanism import Mechanism, parse_mechanism
from reconbench.bounds.guarantees.relation import Relation


def mechanism_calibration_report(
    mechanism: Mechanism | str,
    threshold: float,
    baseline: ArrayLike | None = None,
    measure: str = "advantage",
    *,
    relation: Relation | str | None = None,
    delta: float = 1e-5,
    **details: Unpack[Details],
) -> dict[str, Any]:
    """The value of the parameter `?` that keeps a named measure at the threshold, ready for JSON.

    Args:
        mechanism: a text of the notation with one `?`, as in `gaussian:sigma=?`.
        threshold: the largest risk to allow.
        baseline: the success of the best guess from the prior, one or one per target.
        measure: one of `named.MEASURES`.
        relation: the neighbouring relation wanted; by default that of the mechanism.
        delta: where (ε, δ) is read off the mechanism for bounds stated at one pair.
        details: what else the measure is about, as in `calibration_report`.

    Returns:
        `value` is None where no value keeps the threshold; `solved` is the text with the value put
        in. `bound` and `reference` name the bound that the risk is read from, and its theorem.
    """
    asked = parse_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    parameter = find_free(asked)
    risk = named_risk(measure, baseline, delta, **details)
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
    source = risk.source(found.guarantee)
    return report | {
        "value": found.value,
        "solved": found.mechanism.text,
        "guarantee": found.guarantee.describe(),
        "risk": found.risk,
        "bound": source.name,
        "reference": source.reference,
        "at_limit": found.limit,
        "answer": _sentence(found, measure, source),
    }


def _sentence(found: Solved, measure: str, source: Source) -> str:
    parameter, neighbours = found.parameter, found.guarantee.relation.value
    by = (
        f"({measure} {found.risk:.6g}, {neighbours} neighbours, by {source.name}: "
        f"{source.reference})"
    )
    side = "least" if parameter.protects > 0 else "most"
    if found.limit:
        return f"every {parameter.name} allowed, even {found.value:g}, keeps the threshold {by}"
    return f"{parameter.name} at {side} {found.value:.10g} {by}"
