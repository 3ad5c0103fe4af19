"""The reliability of an attack's scores: how often its guesses are right, by how sure it is.

A score is read as the probability that the attack gives its guess. Records are counted by tenths
of that scale, so that the counts of repetitions and games add up. Stored rows and leaderboards
call these counts ``calibration``.

An attack that claims only its surest guesses may be right on all of them. ``count_claims`` finds
how many right guesses it could claim if at most a given share of the wrong ones may be claimed,
too: the true-positive rate at a low false-positive rate. Only the order of scores counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TENTHS = 10
# Shares of the wrong guesses that may be claimed, as rows and columns name them.
FALSE_POSITIVE_RATES = {"0.01": 0.01, "0.1": 0.1}
# Scores that agree to so many decimals are equal: the order of closer ones is rounding.
DECIMALS = 9
# By false-positive rate: right guesses that were claimed, all right ones, and those that scores
# without any meaning would claim on average.
Claims = Mapping[str, list[float]]
# By the number of a tenth, 0 to 9: records, the sum of their scores, and how many were right.
Reliability = Mapping[str, list[float]]


def count_reliability(parts: Sequence[Floats | None], hits: Bools) -> dict[str, list[float]]:
    """Count the records of one play by score; empty where the scores are no probabilities.

    ``parts`` are the scores view by view, None where the attack gave none.
    """
    scores = _join_scores(parts, hits)
    if scores is None or scores.min(initial=0.0) < 0 or scores.max(initial=0.0) > 1:
        return {}
    tenths = np.minimum((scores * TENTHS).astype(np.int64), TENTHS - 1)
    return {
        str(tenth): [float(chosen.sum()), float(scores[chosen].sum()), float(hits[chosen].sum())]
        for tenth in np.unique(tenths)
        for chosen in (tenths == tenth,)
    }


def count_claims(parts: Sequence[Floats | None], hits: Bools) -> dict[str, list[float]]:
    """Count the right guesses that are claimed at each false-positive rate; empty without scores.

    The threshold is the lowest that at most f = ⌊rate · w⌋ of the w wrong guesses exceed. Guesses
    as sure as the next wrong one are not claimed. If scores say nothing, each of the w + 1 gaps
    between wrong guesses holds as many right ones, so (f + 1)/(w + 1) of them are claimed.
    """
    scores = _join_scores(parts, hits)
    if scores is None:
        return {}
    rounded = np.round(scores, DECIMALS)
    right, wrong = rounded[hits], -np.sort(-rounded[~hits])
    claims = {}
    for name, rate in FALSE_POSITIVE_RATES.items():
        allowed = int(rate * len(wrong) + 1e-9)
        threshold = wrong[allowed] if allowed < len(wrong) else -np.inf
        chance = len(right) * (allowed + 1) / (len(wrong) + 1)
        claims[name] = [float((right > threshold).sum()), float(len(right)), chance]
    return claims


def _join_scores(parts: Sequence[Floats | None], hits: Bools) -> Floats | None:
    """The scores of all records; None unless there is one for each."""
    given = [part for part in parts if part is not None]
    if len(given) < len(parts) or not given:
        return None
    scores = np.concatenate(given)
    return scores if scores.shape == hits.shape else None


def add_counts(plays: Iterable[Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Add up the counts of several plays by key."""
    total: dict[str, list[float]] = {}
    for play in plays:
        for key, counts in play.items():
            before = total.get(key, [0.0, 0.0, 0.0])
            total[key] = [a + b for a, b in zip(before, counts, strict=True)]
    return total


def merge_reliability(plays: Iterable[Reliability]) -> dict[str, list[float]]:
    """Add up the counts of several plays."""
    total = add_counts(plays)
    return {tenth: total[tenth] for tenth in sorted(total, key=int)}


def compute_reliability_error(reliability: Reliability) -> float | None:
    """The expected calibration error: over tenths, Σ |promised − right| / all records."""
    records = sum(counts[0] for counts in reliability.values())
    if not records:
        return None
    return sum(abs(promised - right) for _, promised, right in reliability.values()) / records


def compute_true_positive_rate(claims: Claims, rate: str) -> float | None:
    """The share of the right guesses that were claimed at a false-positive rate."""
    claimed, right, _ = claims.get(rate, (0.0, 0.0, 0.0))
    return claimed / right if right else None
