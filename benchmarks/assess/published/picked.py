"""The best of several attacks on one release, picked by other records than it is counted on.

Where nobody can run the generator of a release, no attack is known to be the best on it. The one
that got most of the table's records was also the luckiest on them. So the records are cut into
parts, and each part is guessed by the attack that got most of all others: an attacker who knows the
hidden values of some records would pick the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reconbench.benchmarks.assess.assessment import PICKED
from reconbench.benchmarks.assess.games.real_games import RealPlay

PARTS = 5


def pick_by_other_records(plays: Sequence[RealPlay], rng: np.random.Generator) -> RealPlay:
    """Join the guesses of the attacks that are picked for each part; of equals the first is."""
    hits = np.stack([play.hits for play in plays])
    part_of = rng.permutation(np.arange(hits.shape[1]) % PARTS)
    best = np.array(
        [hits[:, part_of != part].sum(axis=1).argmax() for part in range(PARTS)], dtype=np.int64
    )
    chosen = best[part_of]
    records = np.arange(hits.shape[1])
    scores = np.stack(
        [np.zeros(len(records)) if play.sure is None else play.sure for play in plays]
    )
    whole = plays[int(hits.sum(axis=1).argmax())]
    return replace(
        whole,
        attack=PICKED,
        guess=np.stack([play.guess for play in plays])[chosen, records],
        hits=hits[chosen, records],
        sure=scores[chosen, records],
        converged=None,
    )
