"""Measures of risk by their names, as reports and the command line take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.calibration.measures import (
    Advantage,
    CeilingShare,
    GeneralisedAdvantage,
    Success,
    WorstAdvantage,
)
from reconbench.bounds.calibration.reconstruction_advantage import ReconstructionAdvantage
from reconbench.bounds.calibration.singling_out import SinglingOutAnyone, SinglingOutTarget
from reconbench.bounds.calibration.solve import NamedRisk
from reconbench.bounds.rad.secret import Secret
from reconbench.bounds.risk.one_target import SharpestBound

# Where a pair is read off a curve if the ε asked for is that of pure DP.
_USUAL_DELTA = 1e-5


class Details(TypedDict, total=False):
    """What a measure is about besides the baseline; a measure refuses what is for another one.

    - `priors`: each target's whole prior, one row per target.
    - `any_event`: allow for guesses that are right for several values, not for exact match alone.
    - `knowledge`: for `rad`, what the attacker knows: `none`, `any`, `all`, or one label per value.
    - `within`: for `rad`, the largest error of a guess that counts; values are at gaps of 1.
    - `records`: for `singling-out` of anyone, how many records the table has.
    - `candidates`: for `singling-out` of one person, how many records may be theirs.
    """

    priors: ArrayLike | None
    any_event: bool
    knowledge: str | ArrayLike | None
    within: float | None
    records: int | None
    candidates: int | None


@dataclass(frozen=True, eq=False)
class Question:
    """What a measure of risk is asked about: a baseline, details, and the δ to read pairs at."""

    baseline: ArrayLike | None
    details: Details
    delta: float

    @property
    def priors(self) -> FloatArray | None:
        """The whole priors, one row per target, if they are given."""
        given = self.details.get("priors")
        return None if given is None else np.atleast_2d(np.asarray(given, dtype=np.float64))

    @property
    def any_event(self) -> bool:
        return self.details.get("any_event", False)

    def baselines(self) -> FloatArray:
        """The stated baselines, or those of the priors."""
        if self.baseline is not None:
            return np.atleast_1d(np.asarray(self.baseline, dtype=np.float64))
        if self.priors is None:
            raise ValueError("baseline must be given, or priors: the measure depends on it")
        return np.asarray(self.priors.max(axis=1))

    def sharpest(self) -> SharpestBound:
        """The smallest proved bound, with the whole prior where there is one."""
        if self.priors is not None and self.any_event:
            raise ValueError(
                "any_event must be False with priors: a whole prior is for exact match"
            )
        return SharpestBound(self.priors, self.any_event)


def _reconstruction_advantage(asked: Question) -> NamedRisk:
    if asked.priors is None:
        raise ValueError(
            "measure rad needs the whole prior, the probability of each value, not a baseline: on "
            "the command line --values, --prior, or --prior-file with columns p0, p1, ..."
        )
    if asked.any_event:
        raise ValueError("any_event has no part in measure rad: state within instead")
    known, within = asked.details.get("knowledge"), asked.details.get("within")
    secrets = [
        Secret.of(row, "none" if known is None else known, within or 0.0) for row in asked.priors
    ]
    return ReconstructionAdvantage(secrets, asked.delta)


def _singling_out(asked: Question) -> NamedRisk:
    records, candidates = asked.details.get("records"), asked.details.get("candidates")
    if (records is None) == (candidates is None):
        raise ValueError(
            "measure singling-out needs either records (anyone in a table of so many) or "
            "candidates (one person among so many)"
        )
    if asked.priors is not None or asked.baseline is None:
        raise ValueError(
            "measure singling-out needs the weight of the predicate as baseline, and no prior"
        )
    if records is not None:
        return SinglingOutAnyone(asked.baselines(), records)
    assert candidates is not None
    return SinglingOutTarget(asked.baselines(), candidates)


MEASURES: Mapping[str, Callable[[Question], NamedRisk]] = {
    "success": lambda asked: Success(asked.baselines(), asked.sharpest()),
    "advantage": lambda asked: Advantage(asked.baselines(), asked.sharpest()),
    "generalised-advantage": lambda asked: GeneralisedAdvantage(
        asked.baselines(), asked.sharpest()
    ),
    "worst-advantage": lambda asked: WorstAdvantage(),
    "ceiling": lambda asked: CeilingShare(asked.baselines(), delta=asked.delta),
    "rad": _reconstruction_advantage,
    "singling-out": _singling_out,
}
# What only one measure has a use for.
_ONLY = {
    "knowledge": "rad",
    "within": "rad",
    "records": "singling-out",
    "candidates": "singling-out",
}


def named_risk(
    measure: str,
    baseline: ArrayLike | None = None,
    delta: float = _USUAL_DELTA,
    **details: Unpack[Details],
) -> NamedRisk:
    """The risk of a named measure, by the sharpest bound.

    Args:
        measure: one of `MEASURES`.
        baseline: the success of the best guess from the prior, one or one per target; for
            `singling-out` the weight of the predicate. By default the largest of each prior.
        delta: where (ε, δ) is read off a guarantee that is not stated as a pair.
        details: what else the measure is about; see `Details`.
    """
    if measure not in MEASURES:
        close = get_close_matches(measure[:100], list(MEASURES), 1)
        near = f": did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}{near}")
    for name, only in _ONLY.items():
        if details.get(name) is not None and measure != only:
            raise ValueError(f"{name} is for measure {only}, got measure {measure}")
    return MEASURES[measure](Question(baseline, details, delta or _USUAL_DELTA))
