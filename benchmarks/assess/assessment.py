"""What an assessment of a table answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.assess.accuracy import Accuracy
from reconbench.benchmarks.assess.exposure import Exposure, Mean
from reconbench.benchmarks.assess.max_epsilon import MeasuredEpsilon, ProvedEpsilon
from reconbench.benchmarks.game.result import Result

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.record_table import RecordTable

SURE = 0.9
# The reference where the best of all attacks is picked, see ``picked``.
PICKED = "picked"


@dataclass(frozen=True)
class AttackShares:
    """An attack at a budget: shares of records reconstructed."""

    attack: str
    real: Mean
    fresh: Mean | None
    converged: bool | None


@dataclass(frozen=True)
class Ceiling:
    """No attack reconstructs more than this share: on average, and in 95 % of runs (proved).

    ``gain`` is the mean less what the best guess without a release expects. Ceilings on one run
    count records: ``high`` is None where shares are weighted.
    """

    mean: float
    gain: float
    high: float | None


@dataclass(frozen=True)
class Sure:
    """Records of which the reference is at least 90 % sure: how many, and the share right.

    Both are None where the records are fewer than the threshold. ``right`` is None where the other
    records are fewer, because it would reveal something about them.
    """

    records: float | None
    right: float | None


class NoBest(StrEnum):
    """Why the best possible of a release is not known."""

    ADAPTIVE = "adaptive"
    NOT_MEASURED = "not measured"
    NOT_CONVERGED = "not converged"
    NOT_PLAYED = "not played"
    NOT_TRUSTED = "not trusted"


@dataclass(frozen=True)
class BestPossible:
    """What any attack on releases of drawn tables can expect, at the most.

    ``share`` is the share of records, ``gain`` the share beyond the best guess without a release.
    Without them, ``why_not`` says why.
    """

    share: float | None = None
    gain: Mean | None = None
    why_not: NoBest | None = None


@dataclass(frozen=True)
class Memorisation:
    """The reference on records that were not in the table, beside those that were: shares right.

    ``memorised`` is the gain over guessing on records of the table less that on the others, with
    its 95 % interval.
    """

    records: int
    prior: float
    attack: Mean
    memorised: Mean


@dataclass(frozen=True)
class Budget:
    """The numbers of one ε; all successes are shares of records.

    ``prior_real`` is guessed right of the real hidden cells without a release; ``prior_expected``
    and ``ceiling`` are for hidden cells drawn from the prior given the real known columns.
    ``ceiling`` is None without a guarantee. ``fresh_gain`` is how much more the reference got on
    fresh tables than guessing did; ``best`` is the most that any attack can expect there.
    ``any_prior_gain`` is what no attack can expect to gain, whatever it knows beforehand, and
    ``group_gain`` what none can on all records of one group together. ``sure_without`` is what the
    guess without a release is sure of. ``rho`` is the budget of zero-concentrated DP that Gaussian
    noise spends.
    """

    epsilon: float | None
    guarantee: str
    mu: float | None
    noise_sd: float | None
    prior_real: float
    prior_expected: float
    attacks: tuple[AttackShares, ...]
    best: BestPossible
    fresh_gain: Mean | None
    ceiling: Ceiling | None
    sure: Sure
    accuracy: Accuracy | None
    any_prior_gain: float | None = None
    memorisation: Memorisation | None = None
    sure_without: Sure | None = None
    rho: float | None = None
    group_guarantee: str | None = None
    group_gain: float | None = None

    def get_attack(self, name: str) -> AttackShares:
        return next(shares for shares in self.attacks if shares.attack == name)


@dataclass(frozen=True)
class Weights:
    """How many people each record stands for, with mean 1, and the column that says so.

    Equal weights on ``effective`` records would tell as much (Kish 1965).
    """

    column: str
    values: npt.NDArray[np.float64] = field(repr=False)

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if not (np.isfinite(values) & (values > 0)).all():
            bad = values[~(np.isfinite(values) & (values > 0))][0]
            raise ValueError(
                f"weights must be finite numbers > 0, got {bad:g} in column {self.column!r}; leave "
                "records out that stand for nobody"
            )
        object.__setattr__(self, "values", values / values.mean())

    @property
    def effective(self) -> float:
        return float(self.values.sum() ** 2 / (self.values**2).sum())


@dataclass(frozen=True)
class Groups:
    """Records that belong together, such as those of a household: how many groups, how large."""

    column: str
    groups: int
    largest: int


@dataclass(frozen=True)
class Assessment:
    """All numbers of a report. ``reference`` is the attack that statements are made about.

    ``per_record`` is about single records, and no part of the report.
    """

    known: tuple[str, ...]
    reference: str
    relation: str
    unit: str
    budgets: tuple[Budget, ...]
    exposure: Exposure
    proved: tuple[ProvedEpsilon, ...] = ()
    measured: tuple[MeasuredEpsilon, ...] = ()
    rows: tuple[Result, ...] = field(default=(), repr=False)
    groups: Groups | None = None
    per_record: RecordTable | None = field(default=None, repr=False)
