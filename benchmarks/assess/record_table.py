"""The risk of every single record: for the owner alone, and never part of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.assess.games.real_games import RealPlay
from reconbench.benchmarks.assess.max_epsilon import Measure, RecordRisks
from reconbench.benchmarks.game.round import Round

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# The first column says what the file is to whoever opens it.
HEADER = (
    "CONFIDENTIAL record",
    "guessed without a release",
    "chance without a release",
    "share right with the release",
    "gain",
    "how sure the attack is",
    "no attack expects more than",
)


@dataclass(frozen=True, eq=False)
class RecordTable:
    """A value for each record, in the order of the table.

    ``guessed`` is right without a release, where the prior gives that guess the ``chance``.
    ``right`` is the share of releases with which the reference is right, and ``sure`` the mean of
    what it says itself, nan where it does not. ``most`` is a bound on the success of any attack.
    """

    guessed: Bools
    chance: Floats
    right: Floats
    sure: Floats
    most: Floats

    @property
    def gain(self) -> Floats:
        """What the release adds, record by record."""
        return np.asarray(self.right - self.guessed)

    @classmethod
    def measure(cls, round_: Round, plays: Sequence[RealPlay]) -> RecordTable:
        """From the games of one attack on the real table at one budget."""
        guess, chance = round_.baseline
        view = round_.view
        risks = RecordRisks(round_.prior, view.known, view.targets, round_.metric)
        scores = [play.sure for play in plays if play.sure is not None]
        return cls(
            round_.hits(guess),
            np.asarray(chance, dtype=np.float64),
            np.mean([play.hits for play in plays], axis=0),
            np.mean(scores, axis=0) if scores else np.full(len(chance), np.nan),
            risks.bound_records(Measure.SHARE, round_.mechanism.guarantee),
        )

    def to_csv(self, positions: Sequence[int]) -> str:
        """One line per record, by its position in the owner's table, counted from 0."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        columns = (self.guessed, self.chance, self.right, self.gain, self.sure, self.most)
        for position, *values in zip(positions, *columns, strict=True):
            numbers = ["" if np.isnan(value) else f"{float(value):.6g}" for value in values]
            writer.writerow([position, *numbers])
        return out.getvalue()
