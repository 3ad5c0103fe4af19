"""The bounds on the reconstruction advantage that follow from a guarantee, one object each.

A bound says for which secrets it holds (`refuses`) and its value (`advantage`). All need
replace-one neighbours: `Stated` holds a guarantee of either relation converted to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from reconbench.bounds.guarantees.guarantee import (
    ApproxDP,
    Guarantee,
    PureDP,
    as_replace_one,
    stated_pair,
)
from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.rad.black_box import (
    rad_any_aux,
    rad_approx_no_aux,
    rad_no_aux,
    rad_perfect,
    rad_uniform,
)
from reconbench.bounds.rad.exact import rad_exact, rad_profile, rad_profile_aux
from reconbench.bounds.rad.exact_aux import (
    MOST_ENTRIES,
    MOST_VALUES,
    count_entries,
    rad_exact_aux,
)
from reconbench.bounds.rad.secret import Secret

_KNOWS = "it holds for an attacker who knows nothing of the target"
_WITHIN = "it is for guesses of the exact value"
# Programs with auxiliary knowledge that take milliseconds, for searches that solve many.
QUICK_VALUES, QUICK_ENTRIES = 10, 1_500


@dataclass(frozen=True)
class Stated:
    """A guarantee for replace-one neighbours: its whole curve, and one (ε, δ) of it.

    `pair_given` says whether that pair is all that was stated, so that a mechanism may attain it.
    """

    given: Guarantee
    curve: Guarantee
    pair: ApproxDP | PureDP

    @classmethod
    def of(cls, guarantee: Guarantee, delta: float = 1e-5) -> Stated:
        """The guarantee converted where it is for add-or-remove-one.

        Args:
            guarantee: of either neighbouring relation.
            delta: where the pair is read if the guarantee is not stated as one.
        """
        return cls(guarantee, as_replace_one(guarantee), stated_pair(guarantee, delta))

    @property
    def pair_given(self) -> bool:
        pair = isinstance(self.given, ApproxDP | PureDP)
        return pair and self.given.relation is Relation.REPLACE_ONE

    @property
    def delta(self) -> float:
        """The δ of the pair."""
        return self.pair.delta if isinstance(self.pair, ApproxDP) else 0.0

    @property
    def pure(self) -> float:
        """The ε of pure DP, inf where there is none."""
        return self.curve.epsilon_at(0.0)

    @property
    def pure_part(self) -> Guarantee:
        """Pure DP alone; a guarantee that reveals nothing has no ε > 0 and stays as it is."""
        return PureDP(self.pure) if self.pure > 0 else self.curve


class AdvantageBound(Protocol):
    """A named upper bound on the reconstruction advantage."""

    name: ClassVar[str]
    reference: ClassVar[str]
    assumptions: ClassVar[str]

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        """Why the bound says nothing about this secret or guarantee; None when it applies."""

    def advantage(self, secret: Secret, stated: Stated) -> float:
        """The bound, from 0 to 1 − κ of the prior or above."""

    def used(self, stated: Stated) -> Guarantee:
        """The form of the guarantee that the bound is computed from."""


@dataclass(frozen=True)
class AnyKnowledge:
    """TV (1 − κ): `rad_any_aux`."""

    name: ClassVar[str] = "thm42"
    reference: ClassVar[str] = "Guerra-Balboa 2026, Theorem 4.2"
    assumptions: ClassVar[str] = "any knowledge, any error"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        return None

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_any_aux(stated.curve, secret.prior)

    def used(self, stated: Stated) -> Guarantee:
        return stated.curve


@dataclass(frozen=True)
class AnyKnowledgeOverProfile:
    """The least tanh(ε/4) + (1 − tanh(ε/4))(1 − κ) δ(ε): `rad_profile_aux`."""

    name: ClassVar[str] = "profile-aux"
    reference: ClassVar[str] = "reconbench, any knowledge over the profile (docs/rad-exact.md)"
    assumptions: ClassVar[str] = "any knowledge, any error"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        return None

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_profile_aux(stated.curve, secret.prior)

    def used(self, stated: Stated) -> Guarantee:
        return stated.curve


@dataclass(frozen=True)
class ExactWithKnowledge:
    """The most that any mechanism with the pure ε, or the pair, allows: `rad_exact_aux`.

    An attacker who knows the value itself chooses for each output to hit or to miss. A larger error
    leaves no more choices, so the bound for the exact value holds for any error then.
    """

    most_values: int = MOST_VALUES
    most_entries: int = MOST_ENTRIES

    name: ClassVar[str] = "exact-aux"
    reference: ClassVar[str] = "reconbench, exact black-box advantage with knowledge"
    assumptions: ClassVar[str] = "few values; guesses of the exact value, or the value is known"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        if secret.nothing_known:
            return "nothing is known of the target: `exact` is the same"
        if secret.reach and not secret.value_known:
            return _WITHIN
        if secret.size > self.most_values:
            return f"its program is for at most {self.most_values} values, here {secret.size}"
        entries = count_entries(secret.knowledge.labels)
        if math.isinf(stated.pure) and entries > self.most_entries:
            return (
                f"its program with delta > 0 has {entries:,} entries here, and at most "
                f"{self.most_entries:,} are solved"
            )
        return None

    def advantage(self, secret: Secret, stated: Stated) -> float:
        labels = secret.knowledge.labels
        if math.isinf(stated.pure):
            return rad_exact_aux(stated.pair.epsilon, secret.prior, labels, stated.delta)
        return rad_exact_aux(stated.pure, secret.prior, labels)

    def used(self, stated: Stated) -> Guarantee:
        return stated.pair if math.isinf(stated.pure) else stated.pure_part


@dataclass(frozen=True)
class FromCurve:
    """The largest 1 − f(α) − α in reach: `rad_no_aux`."""

    name: ClassVar[str] = "thm51"
    reference: ClassVar[str] = "Guerra-Balboa 2026, Theorem 5.1"
    assumptions: ClassVar[str] = "nothing known, any error"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        return None if secret.nothing_known else _KNOWS

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_no_aux(stated.curve, *secret.chances, secret.collision)

    def used(self, stated: Stated) -> Guarantee:
        return stated.curve


class _AtPair:
    """What the bounds at one (ε, δ) share; those for the exact value say so."""

    exact_value: ClassVar[bool] = True

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        if not secret.nothing_known:
            return _KNOWS
        return _WITHIN if self.exact_value and secret.reach else None

    def used(self, stated: Stated) -> Guarantee:
        return stated.pair


@dataclass(frozen=True)
class AtPair(_AtPair):
    """The least of three terms: `rad_approx_no_aux`."""

    exact_value: ClassVar[bool] = False
    name: ClassVar[str] = "prop52"
    reference: ClassVar[str] = "Guerra-Balboa 2026, Proposition 5.2 (corrected)"
    assumptions: ClassVar[str] = "nothing known, any error"

    def advantage(self, secret: Secret, stated: Stated) -> float:
        pair = stated.pair
        return rad_approx_no_aux(pair.epsilon, stated.delta, *secret.chances, secret.collision)


@dataclass(frozen=True)
class PerfectAtPair(_AtPair):
    """`rad_perfect`."""

    name: ClassVar[str] = "thm53"
    reference: ClassVar[str] = "Guerra-Balboa 2026, Theorem 5.3 (corrected)"
    assumptions: ClassVar[str] = "nothing known, exact value"

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_perfect(stated.pair.epsilon, secret.prior, stated.delta)


@dataclass(frozen=True)
class UniformAtPair(_AtPair):
    """`rad_uniform`."""

    name: ClassVar[str] = "cor54"
    reference: ClassVar[str] = "Guerra-Balboa 2026, Corollary 5.4"
    assumptions: ClassVar[str] = "nothing known, exact value, equally likely values"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        reason = super().refuses(secret, stated)
        return reason or (None if secret.uniform else "it is for equally likely values")

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_uniform(stated.pair.epsilon, secret.size, stated.delta)


@dataclass(frozen=True)
class ExactAtPair(_AtPair):
    """The most that any (ε, δ)-DP mechanism allows: `rad_exact`."""

    name: ClassVar[str] = "exact"
    reference: ClassVar[str] = "reconbench, exact black-box advantage, Theorem 1"
    assumptions: ClassVar[str] = "nothing known, exact value"

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_exact(stated.pair.epsilon, secret.prior, stated.delta)


@dataclass(frozen=True)
class ExactOverProfile(_AtPair):
    """The least `exact` along the whole profile δ(ε): `rad_profile`."""

    name: ClassVar[str] = "exact-profile"
    reference: ClassVar[str] = "reconbench, exact black-box advantage over the profile"
    assumptions: ClassVar[str] = "nothing known, exact value"

    def refuses(self, secret: Secret, stated: Stated) -> str | None:
        reason = super().refuses(secret, stated)
        if reason is None and stated.pair_given:
            return "the guarantee is one pair: `exact` is the same"
        return reason

    def advantage(self, secret: Secret, stated: Stated) -> float:
        return rad_profile(stated.curve, secret.prior)

    def used(self, stated: Stated) -> Guarantee:
        return stated.curve


def list_bounds(*, quick: bool = False) -> tuple[AdvantageBound, ...]:
    """Every bound from a guarantee; on a tie the first listed is named, which assumes less.

    Args:
        quick: leave out programs that take more than some milliseconds.
    """
    with_knowledge = (
        ExactWithKnowledge(QUICK_VALUES, QUICK_ENTRIES) if quick else ExactWithKnowledge()
    )
    return (
        AnyKnowledge(),
        AnyKnowledgeOverProfile(),
        FromCurve(),
        AtPair(),
        PerfectAtPair(),
        UniformAtPair(),
        ExactAtPair(),
        ExactOverProfile(),
        with_knowledge,
    )
