"""Audits as a user asks for them, with what they found: of a local randomiser, and of counts.

Arguments are checked here. ``called`` is what the user calls them, for errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.audits import ldp
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.bounds import Tally
from reconbench.bounds.audit import (
    AUDITS,
    Counted,
    EpsilonEstimate,
    Known,
    LdpAuditor,
    MeasuredRad,
    Proportion,
    RadAudit,
    audit_black_box,
    audit_canaries,
    audit_membership,
    audit_ss,
)
from reconbench.bounds.prior_file import read_priors
from reconbench.bounds.rad import as_prior

Floats = npt.NDArray[np.float64]
Called = Callable[[str], str]
Show = Callable[[int], AbstractContextManager[Callable[[], None]]]

MOST_TRIALS = 1e12
STEEPEST = 100.0


@dataclass(frozen=True)
class Claim:
    """An (ε, δ) that is claimed, or no ε, and the confidence that it is held against."""

    epsilon: float | None
    delta: float = 0.0
    confidence: float = 0.99
    called: Called = field(default=str, repr=False)

    def __post_init__(self) -> None:
        epsilon, delta, confidence = self.epsilon, self.delta, self.confidence
        if epsilon is not None and not 0 <= epsilon < float("inf"):
            name = self.called("epsilon")
            raise ValueError(f"{name} must be a finite number >= 0, got {epsilon:g}")
        if not 0 <= delta < 1:
            raise ValueError(f"{self.called('delta')} must be in [0, 1), got {delta:g}")
        if not 0 < confidence < 1:
            name = self.called("confidence")
            raise ValueError(f"{name} must be between 0 and 1, got {confidence:g}")


@dataclass(frozen=True)
class AuditReport:
    """What audits found of one claim; ``facts`` say what was played or counted, by name."""

    estimates: tuple[EpsilonEstimate, ...]
    claim: Claim
    facts: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain values; None stands for infinity, and for what there is not."""
        claimed = self.claim.epsilon
        rows = []
        for each in self.estimates:
            verdict = None if claimed is None else each.verdict(claimed)
            rows.append(
                each.to_dict()
                | {
                    "verdict": None if verdict is None else str(verdict),
                    "violated": None if verdict is None else verdict.violated,
                }
            )
        claim = {"claimed_epsilon": claimed, "delta": self.claim.delta}
        return {**claim, **self.facts, "estimates": rows}


def audit_client(
    mechanism: str,
    claim: Claim,
    weights: Floats,
    trials: float,
    *,
    client: str | ldp.Client | None = None,
    client_epsilon: float | None = None,
    seed: int = 0,
    prior: str = "",
    show: Show = lambda total: nullcontext(lambda: None),
) -> AuditReport:
    """Run a local randomiser many times, attack every report, and estimate ε.

    The client is the shipped one, at ``client_epsilon`` if that is given; a spec
    ``file.py:function``; or a function of values and a generator. ``prior`` is what the weights are
    called, and ``show`` opens the progress of so many batches.
    """
    called, claimed = claim.called, claim.epsilon or 0.0
    count = _read_trials(called("trials"), trials)
    if client_epsilon is not None and client is not None:
        raise ValueError(f"give {called('client_epsilon')} or {called('client')}, not both")
    reader = ldp.reader_of(mechanism)
    used = claimed if client_epsilon is None else client_epsilon
    if client is None:
        runner = ldp.client_of(ldp.CHANNELS[mechanism](used, weights.size))
    else:
        runner = ldp.load_client(client) if isinstance(client, str) else ldp.guard_client(client)
    rng = make_stream("audit ldp", {"seed": seed})
    with show(len(ldp.batches(count, reader.cells(weights.size)))) as advance:
        outcome = ldp.play(runner, mechanism, weights, count, rng, advance)
    found = ldp.estimates(outcome, mechanism, weights, claim.delta, claim.confidence)
    name = client if client is None or isinstance(client, str) else ldp.name_client(client)
    facts = {
        "mechanism": mechanism,
        "client": name or "shipped",
        "client_epsilon": None if client else used,
        "domain_size": weights.size,
        "prior": prior or None,
        "trials": count,
        "seed": seed,
        **measure_advantage(outcome.measured(weights), claim.confidence),
    }
    return AuditReport(tuple(found), claim, facts)


def audit_advantage(
    real: Counted,
    replaced: Proportion,
    weights: Floats,
    claim: Claim,
    *,
    mechanism: str | None = None,
    subset: int = 0,
) -> AuditReport:
    """Compare an attack's success when the target took part and when another draw did."""
    audits: list[RadAudit] = [audit_black_box(weights, claim.delta)]
    if mechanism is not None:
        audits.insert(0, _find_exact_audit(mechanism, weights, subset, claim.called))
    elif subset:
        needed = f"{claim.called('mechanism')} ss"
        raise ValueError(f"{claim.called('subset')} needs {needed}, got none")
    measured = MeasuredRad(real, replaced)
    found = tuple(each.audit(measured, claim.confidence) for each in audits)
    return AuditReport(found, claim, measure_advantage(measured, claim.confidence))


def audit_positives(true: Counted, false: Counted, claim: Claim) -> AuditReport:
    """Audit true and false positives, as in LDP-Auditor or a membership test."""
    found = LdpAuditor(claim.delta).audit(true, false, claim.confidence)
    return AuditReport((found,), claim, {"tpr": true.estimate, "fpr": false.estimate})


def audit_one_run(
    canaries: int, guesses: int, right: int, values: int, claim: Claim
) -> AuditReport:
    """Audit right guesses on the canaries of a single run."""
    called = claim.called
    count_successes(called("guesses"), guesses, called("canaries"), canaries)
    count_successes(called("right"), right, called("guesses"), guesses)
    tally = Tally(right, guesses, canaries, values)
    found = [audit_canaries(tally, claim.delta, claim.confidence)]
    if values == 2:
        found.insert(0, audit_membership(tally, claim.delta, claim.confidence))
    return AuditReport(tuple(found), claim, {"right_share": right / guesses})


def choose_replaced(
    replaced_hits: int | None, replaced_trials: int | None, chance: float | None, called: Called
) -> Proportion:
    """The success when another draw took part: counted, or known."""
    counted = replaced_hits is not None and replaced_trials is not None
    if counted == (chance is not None) or (replaced_hits is None) != (replaced_trials is None):
        pair = f"{called('replaced_hits')} and {called('replaced_trials')}"
        raise ValueError(f"give either {pair}, or {called('chance')}")
    if replaced_hits is None or replaced_trials is None:
        return Known(chance or 0.0)
    names = called("replaced_hits"), called("replaced_trials")
    return count_successes(names[0], replaced_hits, names[1], replaced_trials)


def count_successes(name: str, successes: int, of: str, trials: int) -> Counted:
    """Successes of trials; ``name`` and ``of`` are what the user calls them."""
    if trials < 1:
        raise ValueError(f"{of} must be at least 1, got {trials}: nothing was tried")
    if not 0 <= successes <= trials:
        raise ValueError(f"{name} must be from 0 to {of} = {trials}, got {successes}")
    return Counted(successes, trials)


def find_weights(text: str, size: int | None, called: Called = str) -> Floats:
    """The prior of the values: ``uniform``, ``zipf:S``, or a CSV file with a column `prior`."""
    kind, colon, rest = text.partition(":")
    if text != "uniform" and not (kind == "zipf" and colon):
        weights = as_prior(read_priors(text)[0])
        if size not in (None, weights.size):
            name = called("domain_size")
            raise ValueError(f"{name} is {size}, but {text} has {weights.size} values")
        return weights
    if size is None or size < 2:
        raise ValueError(f"{called('domain_size')} must be at least 2, got {size}")
    if text == "uniform":
        return np.full(size, 1 / size)
    try:
        exponent = float(rest)
    except ValueError:
        exponent = float("nan")
    if not 0 <= exponent <= STEEPEST:
        name = called("prior")
        raise ValueError(f"{name} zipf:S needs an S from 0 to {STEEPEST:g}, got {rest!r}")
    weights = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def measure_advantage(measured: MeasuredRad, confidence: float) -> dict[str, float]:
    """Both successes, and their difference with its interval."""
    low, high = measured.interval(confidence)
    return {
        "success": measured.real.estimate,
        "replaced_success": measured.replaced.estimate,
        "rad": measured.estimate,
        "rad_low": low,
        "rad_high": high,
    }


def _read_trials(name: str, value: float) -> int:
    if not 1 <= value < MOST_TRIALS or value != int(value):
        raise ValueError(f"{name} must be a whole number of at least 1, got {value:g}")
    return int(value)


def _find_exact_audit(mechanism: str, weights: Floats, subset: int, called: Called) -> RadAudit:
    if mechanism not in AUDITS:
        raise ValueError(f"unknown mechanism {mechanism!r}; available: {', '.join(AUDITS)}")
    if not subset:
        return AUDITS[mechanism](weights)
    if mechanism != "ss":
        needed = f"{called('mechanism')} ss"
        raise ValueError(f"{called('subset')} needs {needed}, got {mechanism}")
    return audit_ss(weights, subset)
