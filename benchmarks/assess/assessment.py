"""What an assessment of a table answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from reconbench.benchmarks.assess.accuracy import Accuracy
from reconbench.benchmarks.assess.exposure import Exposure, Mean
from reconbench.benchmarks.assess.max_epsilon import MeasuredEpsilon, ProvedEpsilon
from reconbench.benchmarks.game.result import Result

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

    ``gain`` is the mean less what the best guess without a release expects.
    """

    mean: float
    gain: float
    high: float


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
    ``any_prior_gain`` is what no attack can expect to gain, whatever it knows beforehand.
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

    def get_attack(self, name: str) -> AttackShares:
        return next(shares for shares in self.attacks if shares.attack == name)


@dataclass(frozen=True)
class Assessment:
    """All numbers of a report. ``reference`` is the attack that statements are made about."""

    known: tuple[str, ...]
    reference: str
    relation: str
    unit: str
    budgets: tuple[Budget, ...]
    exposure: Exposure
    proved: tuple[ProvedEpsilon, ...] = ()
    measured: tuple[MeasuredEpsilon, ...] = ()
    rows: tuple[Result, ...] = field(default=(), repr=False)
