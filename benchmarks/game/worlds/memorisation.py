"""Memorisation: what an attack gets on records that were not in the table.

The attack plays again with the same release and the same random stream, on fresh records of the
prior of which it knows the same columns: as many at a time as the table has, since it takes them
for those of the table. What it gets there it owes to the distribution that the release describes;
only what it gets beyond that, on records that took part, was memorised.

The release says nothing about records that were not in the table, so what a guess for one is worth
is its probability under the prior: a number without luck.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from reconbench.attacks import AttackerView
from reconbench.benchmarks.game.round import Round
from reconbench.benchmarks.game.setting import Seeds
from reconbench.datasets import Table


@dataclass(frozen=True)
class HeldOut:
    """Records that were not in the table: what is known of them, and what is hidden."""

    known: Table
    truth: Table

    @classmethod
    def draw(cls, round_: Round) -> HeldOut:
        game, prior = round_.game, round_.prior
        rng = game.make_stream("held-out records", prior, Seeds.TABLE)
        records = prior.sample(game.held_out, rng)
        known = records.project(round_.view.known.domain.names)
        return cls(known, records.project(game.targets))

    def views(self, round_: Round) -> Iterator[AttackerView]:
        """What the attacker sees who takes these records for those of the table.

        As many records at a time as the table has; the last view is filled up with the first
        records again.
        """
        n = len(round_.truth)
        for start in range(0, len(self.known), n):
            chosen = np.arange(start, start + n) % len(self.known)
            yield replace(round_.view, known=Table(self.known.domain, self.known.codes[chosen]))

    def join_guesses(self, guesses: Iterable[Table]) -> Table:
        """One guess per record, from the guesses of all views."""
        codes = np.concatenate([guess.codes for guess in guesses])
        return Table(self.truth.domain, codes[: len(self.truth)])

    def score(self, round_: Round, guess: Table) -> dict[str, float]:
        """The successes as drawn, what the guesses are worth, and what the prior's best are."""
        metric, targets = round_.metric, round_.game.targets
        _, baseline = metric.best_guess(round_.prior, self.known, targets)
        worth = metric.prior_success(round_.prior, self.known, guess)
        return {
            "held_out_successes": int(metric.score(self.truth, guess).sum()),
            "held_out_expected": float(worth.sum()),
            "held_out_baseline": float(baseline.sum()),
        }
