"""`ceiling`, `risk` and `calibrate`: what follows from a guarantee, without any game."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.plugins.ceiling_report import report_ceilings
from reconbench.benchmarks.store.tightest import tightest, tightest_mean
from reconbench.bounds import (
    BASELINE_GRID,
    CONFIDENCES,
    EpsilonFamily,
    GaussianFamily,
    Guarantee,
    calibration_report,
    compare_bounds,
    mechanism_calibration_report,
    parse_guarantee,
    risk_bounds,
    risk_report,
)
from reconbench.bounds.calibration.named import MEASURES, Details
from reconbench.bounds.ceilings.base import MEAN
from reconbench.bounds.guarantees.relation import as_relation
from reconbench.bounds.guarantees.stated import state_guarantee
from reconbench.bounds.prior_file import read_priors
from reconbench.front.answers import Answer
from reconbench.front.arguments import (
    Names,
    Numbers,
    checked,
    read_choice,
    read_flag,
    read_names,
    read_number,
    read_numbers,
    read_optional,
    read_whole,
    refuse,
)
from reconbench.front.figure import Figure
from reconbench.reports.figures.bound_curves import (
    draw_ceilings,
    draw_risk_curves,
    name_risk_curves,
)
from reconbench.reports.text.number_format import listed

Floats = npt.NDArray[np.float64]
RELATIONS = ("replace-one", "add-remove", "add-or-remove-one")
PRIORS = (
    "a number in [0, 1], one per target, whole priors with a row per target, or the path of a CSV "
    "file"
)


@checked
def ceiling(
    prior: npt.ArrayLike | os.PathLike[str],
    *,
    n: int | None = None,
    epsilon: float | str | None = None,
    delta: float = 1e-5,
    mu: float | None = None,
    gaussian: bool = False,
    mechanism: str | None = None,
    relation: str | None = None,
    bound: Names = (),
    confidence: Numbers = CONFIDENCES,
) -> Answer:
    """Compute ceilings: how many of n targets any attack recovers at most.

    Args:
        prior: The success of the best guess from the prior: one number for ``n`` targets, one per
            target, whole priors with a row per target, or a CSV file with such columns.
        n: The number of targets, where ``prior`` is one number; by default 100.
        epsilon: The privacy budget of any (ε, δ)-DP mechanism.
        delta: Its δ; 0 for pure DP.
        mu: The μ of Gaussian DP instead.
        gaussian: The mechanism is Gaussian, calibrated to the budget.
        mechanism: The mechanism as text instead, such as ``"laplace:scale=5,queries=15"``.
        relation: ``replace-one`` or ``add-remove`` neighbours.
        bound: Only these bounds: names or ``file.py:Class``.
        confidence: Confidences of ceilings on one run.

    Returns:
        An `Answer`; its ``frame`` has a line for every bound and confidence.

    Example:
        >>> import reconbench as rb
        >>> answer = rb.ceiling(0.56, n=100, epsilon=1)
        >>> print(answer.summary().splitlines()[0][:70])
        Of 100 targets whose best guesses from the prior succeed with probabil
        >>> print(answer.frame.query("bound == 'thm35' and confidence == 0.95").ceiling.item())
        84.0
    """
    stated = read_guarantee(epsilon, delta, mu, gaussian, mechanism, relation)
    best, whole = _read_targets(prior, n)
    levels = read_numbers("confidence", confidence, above=0, below=1)
    document = report_ceilings(
        best,
        whole,
        stated,
        delta=float(delta),
        bounds=_read_bounds(bound),
        confidences=levels,
    )
    ceilings = {name: entry["ceilings"] for name, entry in document["bounds"].items()}
    lines = [
        {
            "bound": name,
            "confidence": math.nan if level == MEAN else float(level),
            "ceiling": float(value),
            "reference": document["bounds"][name]["reference"],
        }
        for name, by_level in ceilings.items()
        for level, value in by_level.items()
    ]
    draw = partial(_draw_ceilings, document, levels)
    return Answer("ceiling", document, lines, _describe_ceilings(document, ceilings), draw)


@checked
def risk(
    baseline: Numbers,
    *,
    epsilon: float | str | None = None,
    delta: float = 1e-5,
    mu: float | None = None,
    gaussian: bool = False,
    mechanism: str | None = None,
    relation: str | None = None,
) -> Answer:
    """Compute the success and the advantage on one target that each bound allows.

    Args:
        baseline: The success of the best guess without the release; a list for several targets.
        epsilon: The privacy budget of any (ε, δ)-DP mechanism.
        delta: Its δ; 0 for pure DP.
        mu: The μ of Gaussian DP instead.
        gaussian: The mechanism is Gaussian, calibrated to the budget.
        mechanism: The mechanism as text instead, such as
            ``"dp-sgd:noise=1,rate=0.004,steps=792"``.
        relation: ``replace-one`` or ``add-remove`` neighbours.

    Returns:
        An `Answer`; its ``frame`` has a line for every baseline and bound.

    Example:
        >>> import reconbench as rb
        >>> answer = rb.risk(0.1, mu=1)
        >>> print(answer.frame.set_index("bound").success["f-dp"].round(6))
        0.389144
    """
    stated = read_guarantee(epsilon, delta, mu, gaussian, mechanism, relation)
    bounds = risk_bounds(delta=float(delta))
    reports = [
        risk_report(base, stated, bounds)
        for base in read_numbers("baseline", baseline, least=0, most=1)
    ]
    lines = [
        {
            "baseline": report["baseline"],
            "bound": name,
            "success": entry["success"],
            "advantage": entry["advantage"],
            "relation": entry["relation"],
            "reference": entry["reference"],
        }
        for report in reports
        for name, entry in report["bounds"].items()
    ]
    document = reports[0] if len(reports) == 1 else {"reports": reports}
    sentences = [sentence for report in reports for sentence in _describe_risk(report)]
    return Answer("risk", document, lines, sentences, partial(draw_risk, stated, float(delta)))


@checked
def calibrate(
    risk: float,
    baseline: npt.ArrayLike | os.PathLike[str] | None = None,
    *,
    measure: str = "advantage",
    delta: float = 1e-5,
    sensitivity: float | None = None,
    relation: str | None = None,
    mechanism: str | None = None,
    any_event: bool = False,
    knowledge: str | npt.ArrayLike | None = None,
    within: float | None = None,
    records: int | None = None,
    candidates: int | None = None,
) -> Answer:
    """Find the largest budget, and the least noise, that keep a risk.

    Args:
        risk: The largest risk to allow.
        baseline: The success of the best guess without the release: one number, one per target,
            whole priors with a row per target, or a CSV file with such columns.
        measure: ``success``, ``advantage``, ``generalised-advantage``, ``worst-advantage`` (over
            all baselines), ``ceiling`` (the share of targets recovered at 95 % confidence), ``rad``
            (the reconstruction advantage; needs a whole prior) or ``singling-out`` (the baseline is
            the weight of the predicate).
        delta: The δ of the budget.
        sensitivity: The L2 sensitivity between neighbours, to compute the noise; by default 1.
        relation: ``replace-one`` or ``add-remove`` neighbours.
        mechanism: A mechanism as text with one parameter ``?``, which is solved for instead.
        any_event: A guess may be right for several values.
        knowledge: For ``rad``, what the attacker knows of the target: ``none``, ``any``, ``all``,
            or one label per value.
        within: For ``rad``, the largest error of a guess that counts.
        records: For ``singling-out`` of anyone, how many records the table has.
        candidates: For ``singling-out`` of one person, how many records may be theirs.

    Returns:
        An `Answer`; its ``frame`` has a line for every parameter that was found.

    Example:
        >>> import reconbench as rb
        >>> answer = rb.calibrate(0.05, 1e-9)
        >>> round(answer.document["epsilon"], 3)
        17.779
    """
    name = read_choice("measure", measure, MEASURES)
    threshold = read_number("risk", risk, least=0, most=1)
    if baseline is None and name != "worst-advantage":
        raise refuse("baseline", None, f"given for the measure {name}")
    base, whole = (None, None) if baseline is None else _read_baseline(baseline)
    chosen = read_optional(read_choice, "relation", relation, allowed=RELATIONS)
    details: Details = {
        "priors": whole,
        "any_event": read_flag("any_event", any_event),
        "knowledge": knowledge,
        "within": read_optional(read_number, "within", within, least=0),
        "records": read_optional(read_whole, "records", records, least=1),
        "candidates": read_optional(read_whole, "candidates", candidates, least=1),
    }
    if mechanism is not None:
        if sensitivity is not None:
            raise refuse("sensitivity", sensitivity, "part of the mechanism: sensitivity=...")
        document = mechanism_calibration_report(
            mechanism, threshold, base, name, relation=chosen, **details
        )
        keys = ("parameter", "value", "risk", "bound", "guarantee")
        lines = [{key: document.get(key) for key in keys}]
        sentences = [str(document["answer"])]
    else:
        document = calibration_report(
            threshold,
            base,
            name,
            read_number("delta", delta, least=0, below=1),
            1.0 if sensitivity is None else read_number("sensitivity", sensitivity, above=0),
            relation=chosen or RELATIONS[0],
            **details,
        )
        lines = _list_calibrated(document)
        sentences = [str(text) for text in document["answer"].values()]
    return Answer("calibration", document, lines, sentences, partial(_draw_calibrated, document))


def read_guarantee(
    epsilon: object,
    delta: object,
    mu: object,
    gaussian: object,
    mechanism: object,
    relation: object,
) -> Guarantee:
    """The one guarantee that the arguments state."""
    if mechanism is not None and not isinstance(mechanism, str):
        raise refuse("mechanism", mechanism, "a text such as 'laplace:scale=5,queries=15'")
    return state_guarantee(
        read_optional(read_number, "epsilon", epsilon, above=0),
        read_number("delta", delta, least=0, below=1),
        mu=read_optional(read_number, "mu", mu, least=0),
        gaussian=read_flag("gaussian", gaussian),
        mechanism=mechanism,
        relation=read_optional(read_choice, "relation", relation, allowed=RELATIONS),
    )


def draw_risk(guarantee: Guarantee, delta: float) -> Figure:
    """Every bound on the success on one target, over all baselines."""
    curves = compare_bounds(BASELINE_GRID, guarantee, risk_bounds(delta=delta))
    return Figure(name_risk_curves(guarantee.describe()), draw_risk_curves(curves))


def _read_targets(prior: object, n: object) -> tuple[Floats, Floats | None]:
    best, whole = _read_baseline(prior, "prior")
    if best.ndim == 0:
        return np.full(100 if n is None else read_whole("n", n, 1), float(best)), None
    if n is not None and read_whole("n", n, 1) != len(best):
        raise refuse("n", n, f"left out, or the {len(best)} targets of prior")
    return best, whole


def _read_baseline(value: object, name: str = "baseline") -> tuple[Floats, Floats | None]:
    """The best guess's success as one number or one per target, and whole priors if given."""
    if isinstance(value, os.PathLike) or (isinstance(value, str) and not _is_number(value)):
        return read_priors(value)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(name, value, PRIORS) from None
    inside = array.size > 0 and bool(((array >= 0) & (array <= 1)).all())
    if not inside or array.ndim > 2 or isinstance(value, bool):
        raise refuse(name, value, PRIORS)
    return (array.max(axis=1), array) if array.ndim == 2 else (array, None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_bounds(value: object) -> tuple[str, ...]:
    if value is None or (isinstance(value, str | list | tuple) and not value):
        return ()
    return read_names("bound", value, "bound")


def _describe_ceilings(
    document: Mapping[str, Any], ceilings: Mapping[str, Mapping[str, float]]
) -> list[str]:
    count, guarantee = document["n"], document["guarantee"]
    sentences = [
        f"Of {count:,} targets whose best guesses from the prior succeed with probability "
        f"{document['prior_mean']:.3g} on average, {count * document['prior_mean']:.1f} are "
        f"expected without a release, which is {guarantee}."
    ]
    smallest = tightest(ceilings) or _smallest(ceilings)
    parts = [
        f"at most {smallest[level]:,.0f} with probability {100 * float(level):g} % or more"
        for level in sorted(smallest, key=float, reverse=True)
    ]
    mean = tightest_mean(ceilings)
    parts += [] if mean is None else [f"at most {mean:,.1f} on average"]
    if parts:
        sentences.append(f"Any attack recovers {listed(parts)}.")
    else:
        sentences.append("No bound on these targets applies.")
    return sentences


def _smallest(ceilings: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The smallest ceiling by confidence, of whatever bounds there are."""
    levels = {level for by in ceilings.values() for level in by if level != MEAN}
    return {
        level: min(by[level] for by in ceilings.values() if level in by) for level in sorted(levels)
    }


def _draw_ceilings(document: Mapping[str, Any], levels: Sequence[float]) -> Figure:
    title = f"Ceilings on {document['n']:,} targets, {document['guarantee']}"
    ceilings = {name: entry["ceilings"] for name, entry in document["bounds"].items()}
    expected = document["n"] * document["prior_mean"]
    return Figure(title, draw_ceilings(title, ceilings, expected, document["n"]))


def _describe_risk(report: Mapping[str, Any]) -> list[str]:
    event = report["any_event"]
    return [
        f"One target, guessed right with probability {report['baseline']:g} without the release, "
        f"under {report['guarantee']}: no attack guesses it exactly with more than "
        f"{report['success']:.4g}, an advantage of {report['advantage']:.4g} (by "
        f"{report['bound']}).",
        f"For any other event of success the advantage is at most {event['advantage']:.4g} (by "
        f"{event['bound']}); whatever the baseline, it is at most {report['tv']:.4g}.",
    ]


def _list_calibrated(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    lines = []
    for parameter in ("epsilon", "mu"):
        if parameter in document["risk"]:
            value = document[parameter]
            lines.append(
                {
                    "parameter": parameter,
                    "value": math.inf if value is None else value,
                    "risk": document["risk"][parameter],
                    "bound": document["bound"][parameter],
                }
            )
    if "sigma" in document:
        more = {"parameter": "sigma", "value": document["sigma"]}
        lines.append({**lines[-1], **more})
    return lines


def _draw_calibrated(document: Mapping[str, Any]) -> Figure:
    """The success by baseline under the guarantee that was found."""
    delta = document.get("delta", 1e-5)
    if document.get("solved") is not None:
        return draw_risk(parse_guarantee(document["solved"], document["relation"]), delta)
    relation = as_relation(document["relation"])
    if document.get("mu") is not None:
        return draw_risk(GaussianFamily(relation).guarantee(document["mu"]), delta)
    if document.get("epsilon") is not None:
        return draw_risk(EpsilonFamily(delta, relation).guarantee(document["epsilon"]), delta)
    raise ValueError("there is nothing to plot: no budget is the largest that keeps this risk")
