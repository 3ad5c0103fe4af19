"""`audit`: an interval for ε from trials or counts, and a verdict on a claim."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from reconbench.benchmarks.audits.ldp import READERS
from reconbench.benchmarks.audits.report import (
    AuditReport,
    Claim,
    Floats,
    audit_advantage,
    audit_client,
    audit_one_run,
    audit_positives,
    choose_replaced,
    count_successes,
    find_weights,
)
from reconbench.bounds.rad import as_prior
from reconbench.front.answers import Answer
from reconbench.front.arguments import (
    ArgumentError,
    checked,
    read_choice,
    read_number,
    read_optional,
    read_seed,
    read_whole,
    refuse,
)
from reconbench.front.figure import Figure
from reconbench.front.games.playing import choose_progress
from reconbench.reports.figures.bound_curves import draw_intervals

PRIORS = "'uniform', 'zipf:S', the path of a CSV file, or probabilities that sum to 1"


@checked
def audit(what: str, **arguments: Any) -> Answer:
    """Estimate ε from an attack's outcomes, and hold a claimed ε against it.

    ``what`` says which outcomes there are, and with it which arguments:

    - ``"ldp"``: run a local randomiser and attack its reports. ``mechanism`` (grr, ss or oue),
      ``epsilon``, ``domain_size`` or ``prior``, ``trials`` (100,000), ``client`` (a function of
      values and a generator, or ``file.py:function``) or ``client_epsilon``, ``seed`` and
      ``progress``.
    - ``"one-run"``: right guesses on the canaries of a single run. ``canaries``, ``guesses``,
      ``right``, ``values`` (2), ``epsilon``.
    - ``"rad"``: successes when the target took part, and when another draw did. ``hits``,
      ``trials``, ``replaced_hits`` and ``replaced_trials`` or ``chance``, ``domain_size`` or
      ``prior``, ``mechanism``, ``subset``, ``epsilon``.
    - ``"positives"``: true and false positives. ``tp``, ``fp``, ``trials``, ``fp_trials``,
      ``epsilon``.

    All take ``delta`` (0) and ``confidence`` (0.99). Without ``epsilon`` there is no verdict.

    Args:
        what: ``ldp``, ``one-run``, ``rad`` or ``positives``.
        **arguments: Those listed above.

    Returns:
        An `Answer`; its ``frame`` has a line for every audit, with its interval and verdict.

    Example:
        >>> import reconbench as rb
        >>> answer = rb.audit("one-run", canaries=1000, guesses=200, right=150, epsilon=0.5)
        >>> answer.frame.verdict.tolist()[0]
        'violates ε = 0.5 with confidence 99 %'
    """
    return AUDITS[read_choice("what", what, AUDITS)](**arguments)


@checked
def _audit_ldp(
    *,
    mechanism: str,
    epsilon: float,
    domain_size: int | None = None,
    prior: Any = "uniform",
    trials: float = 1e5,
    client: Any = None,
    client_epsilon: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.99,
    seed: Any = None,
    progress: bool | None = None,
) -> Answer:
    name = read_choice("mechanism", mechanism, READERS)
    if client is not None and not isinstance(client, str) and not callable(client):
        raise refuse("client", client, "a function of values and a generator, or file.py:function")
    weights, called = _read_weights(prior, domain_size)
    show = choose_progress(progress)
    report = audit_client(
        name,
        _read_claim(read_number("epsilon", epsilon, least=0), delta, confidence),
        weights,
        read_whole("trials", trials, 1),
        client=client,
        client_epsilon=read_optional(read_number, "client_epsilon", client_epsilon, above=0),
        seed=read_seed("seed", seed),
        prior=called,
        show=lambda total: show("audit", total, 0),
    )
    return _answer(report)


@checked
def _audit_rad(
    *,
    hits: int,
    trials: int,
    replaced_hits: int | None = None,
    replaced_trials: int | None = None,
    chance: float | None = None,
    domain_size: int | None = None,
    prior: Any = "uniform",
    mechanism: str | None = None,
    subset: int = 0,
    epsilon: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.99,
) -> Answer:
    real = count_successes("hits", read_whole("hits", hits), "trials", read_whole("trials", trials))
    replaced = choose_replaced(
        read_optional(read_whole, "replaced_hits", replaced_hits),
        read_optional(read_whole, "replaced_trials", replaced_trials),
        read_optional(read_number, "chance", chance, least=0, most=1),
        str,
    )
    report = audit_advantage(
        real,
        replaced,
        _read_weights(prior, domain_size)[0],
        _read_claim(epsilon, delta, confidence),
        mechanism=read_optional(read_choice, "mechanism", mechanism, allowed=READERS),
        subset=read_whole("subset", subset),
    )
    return _answer(report)


@checked
def _audit_positives(
    *,
    tp: int,
    fp: int,
    trials: int,
    fp_trials: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.99,
) -> Answer:
    count = read_whole("trials", trials)
    true = count_successes("tp", read_whole("tp", tp), "trials", count)
    other = read_optional(read_whole, "fp_trials", fp_trials)
    name = "trials" if other is None else "fp_trials"
    false = count_successes("fp", read_whole("fp", fp), name, count if other is None else other)
    return _answer(audit_positives(true, false, _read_claim(epsilon, delta, confidence)))


@checked
def _audit_one_run(
    *,
    canaries: int,
    guesses: int,
    right: int,
    values: int = 2,
    epsilon: float | None = None,
    delta: float = 0.0,
    confidence: float = 0.99,
) -> Answer:
    report = audit_one_run(
        read_whole("canaries", canaries),
        read_whole("guesses", guesses),
        read_whole("right", right),
        read_whole("values", values, 2),
        _read_claim(epsilon, delta, confidence),
    )
    return _answer(report)


AUDITS: Mapping[str, Callable[..., Answer]] = {
    "ldp": _audit_ldp,
    "one-run": _audit_one_run,
    "rad": _audit_rad,
    "positives": _audit_positives,
}


def _read_claim(epsilon: object, delta: object, confidence: object) -> Claim:
    claimed = read_optional(read_number, "epsilon", epsilon, least=0)
    if claimed is not None and math.isinf(claimed):
        raise refuse("epsilon", epsilon, "a finite number >= 0")
    return Claim(
        claimed,
        read_number("delta", delta, least=0, below=1),
        read_number("confidence", confidence, above=0, below=1),
    )


def _read_weights(prior: object, size: object) -> tuple[Floats, str]:
    """The prior of the values, and what to call it."""
    count = read_optional(read_whole, "domain_size", size, least=2)
    if isinstance(prior, str | os.PathLike):
        text = os.fspath(prior)
        return find_weights(text, count), text
    try:
        weights = as_prior(np.asarray(prior, dtype=np.float64))
    except (TypeError, ValueError):
        raise refuse("prior", prior, PRIORS) from None
    if count not in (None, weights.size):
        raise ArgumentError(f"domain_size must be left out, or {weights.size} as prior, got {size}")
    return weights, "given"


def _answer(report: AuditReport) -> Answer:
    document = report.to_json()
    lines = [
        {
            "audit": each.method,
            "epsilon": each.estimate,
            "lower": each.lower,
            "upper": each.upper,
            "verdict": row["verdict"],
            "violated": row["violated"],
            "assumes": each.assumes,
            "reference": each.reference,
        }
        for each, row in zip(report.estimates, document["estimates"], strict=True)
    ]
    return Answer("audit", document, lines, _describe(report), partial(_draw, report))


def _describe(report: AuditReport) -> list[str]:
    claimed, confidence = report.claim.epsilon, 100 * report.claim.confidence
    sentences = []
    for each in report.estimates:
        verdict = "" if claimed is None else f": {each.verdict(claimed)}"
        sentences.append(
            f"{each.method}: ε is between {each.lower:.4g} and {each.upper:.4g} with "
            f"{confidence:g} % confidence{verdict}."
        )
    if claimed is not None:
        sentences.append("A claim that is not refuted is not proved.")
    return sentences


def _draw(report: AuditReport) -> Figure:
    title = f"ε by audit, {100 * report.claim.confidence:g} % intervals"
    intervals = {each.method: (each.lower, each.estimate, each.upper) for each in report.estimates}
    return Figure(title, draw_intervals(title, "ε", intervals, report.claim.epsilon))
