"""The reliability of an attack's scores: how often its guesses are right, by how sure it is.

A score is read as the probability that the attack gives its guess. Records are counted by tenths
of that scale, so that the counts of repetitions and games add up. Stored rows and leaderboards
call these counts ``calibration``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TENTHS = 10
# By the number of a tenth, 0 to 9: records, the sum of their scores, and how many were right.
Reliability = Mapping[str, list[float]]


def count_reliability(parts: Sequence[Floats | None], hits: Bools) -> dict[str, list[float]]:
    """Count the records of one play by score; empty where the scores are no probabilities.

    ``parts`` are the scores view by view, None where the attack gave none.
    """
    given = [part for part in parts if part is not None]
    if len(given) < len(parts) or not given:
        return {}
    scores = np.concatenate(given)
    if scores.shape != hits.shape or scores.min(initial=0.0) < 0 or scores.max(initial=0.0) > 1:
        return {}
    tenths = np.minimum((scores * TENTHS).astype(np.int64), TENTHS - 1)
    return {
        str(tenth): [float(chosen.sum()), float(scores[chosen].sum()), float(hits[chosen].sum())]
        for tenth in np.unique(tenths)
        for chosen in (tenths == tenth,)
    }


def merge_reliability(plays: Iterable[Reliability]) -> dict[str, list[float]]:
    """Add up the counts of several plays."""
    total: dict[str, list[float]] = {}
    for play in plays:
        for tenth, counts in play.items():
            before = total.get(tenth, [0.0, 0.0, 0.0])
            total[tenth] = [a + b for a, b in zip(before, counts, strict=True)]
    return {tenth: total[tenth] for tenth in sorted(total, key=int)}


def compute_reliability_error(reliability: Reliability) -> float | None:
    """The expected calibration error: over tenths, Σ |promised − right| / all records."""
    records = sum(counts[0] for counts in reliability.values())
    if not records:
        return None
    return sum(abs(promised - right) for _, promised, right in reliability.values()) / records
