"""What an attack's scores are worth: how often its guesses are right, by how sure it says it is.

A score is taken for the chance that the attack gives its guess. Records are counted by tenths of
that scale, so that repetitions and games add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TENTHS = 10
# By the number of a tenth, 0 to 9: records, the sum of their scores, and how many were right.
Calibration = Mapping[str, list[float]]


def calibration(scores: Sequence[Floats | None], hits: Bools) -> dict[str, list[float]]:
    """The counts of one play, whose scores may come in parts; empty where they are no chances."""
    given = [each for each in scores if each is not None]
    if len(given) < len(scores) or not given:
        return {}
    sure = np.concatenate(given)
    if sure.shape != hits.shape or sure.min(initial=0.0) < 0 or sure.max(initial=0.0) > 1:
        return {}
    tenth = np.minimum((sure * TENTHS).astype(np.int64), TENTHS - 1)
    return {
        str(each): [float(mine.sum()), float(sure[mine].sum()), float(hits[mine].sum())]
        for each in np.unique(tenth)
        for mine in (tenth == each,)
    }


def together(found: Iterable[Calibration]) -> dict[str, list[float]]:
    """The counts of several plays as those of one."""
    total: dict[str, list[float]] = {}
    for each in found:
        for tenth, counts in each.items():
            before = total.get(tenth, [0.0, 0.0, 0.0])
            total[tenth] = [a + b for a, b in zip(before, counts, strict=True)]
    return {tenth: total[tenth] for tenth in sorted(total, key=int)}


def error(found: Calibration) -> float | None:
    """The expected calibration error: over tenths, |promised − right| / all records."""
    records = sum(counts[0] for counts in found.values())
    return (
        sum(abs(sure - right) for _, sure, right in found.values()) / records if records else None
    )
