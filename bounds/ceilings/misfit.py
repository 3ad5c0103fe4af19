"""Theorem 3.5 for somebody who has the attacker's prior and how far it is off, not the data's.

Write p_i(z) for the chance that guess z succeeds on target i under the data's prior, q_i(z) under
the attacker's.

**Proposition.** Let γ_i ≥ p_i(z) − q_i(z) for all z, and P_i = min(1, max_z q_i(z) + γ_i). Under
the assumptions of Theorem 3.5 of Swanberg 2025 (independent targets, a decomposable metric,
(ε, δ)-DP, replace-one neighbours), whatever the attacker believes and does, P[successes ≥ v] is at
most the bound of that theorem for targets of prior success P_1, …, P_n.

*Proof.* p_i(z) = q_i(z) + (p_i(z) − q_i(z)) ≤ P_i for every z. Give target i a uniform number u_i
that is independent of everything and that the mechanism does not look at, and call guess z a
success also where it fails but u_i ≤ (P_i − p_i(z))/(1 − p_i(z)). The records (x_i, u_i) are
independent, the mechanism is as private as before, the metric is decomposable, and every guess on
target i has the prior success p_i(z) + (1 − p_i(z)) (P_i − p_i(z))/(1 − p_i(z)) = P_i. So Theorem
3.5 holds for the new successes with P_1, …, P_n; and they are at least as many as the old ones. ∎

What the attacker believes is a part of the attack, and Theorem 3.5 is about all of them. At
max_z q_i(z) alone, without γ_i, it is no ceiling: it fails where q is less sure than p. The proof
takes the theorem as it is, so its erratum (see ``Theorem35``) carries over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from reconbench.bounds.ceilings.base import NamedMetric, Setting, Targets
from reconbench.bounds.ceilings.swanberg import Theorem35
from reconbench.bounds.guarantees.guarantee import Guarantee

# The attacker's prior of a setting in which it is the data's own.
SAME = "same"


@dataclass(frozen=True, eq=False)
class MisfitTheorem35(Theorem35):
    """Theorem 3.5 from an attacker's own prior and how far it is off at most."""

    name: ClassVar[str] = "misfit-thm35"
    reference: ClassVar[str] = "reconbench, from Swanberg 2025, Theorem 3.5"
    statement: ClassVar[str] = (
        "(ε, δ)-DP, any metric: Theorem 3.5 from the attacker's prior and how far it is off."
    )

    @classmethod
    def holds_for(cls, setting: Setting, metric: NamedMetric) -> str | None:
        if setting.attacker_prior == SAME:
            return "the attacker has the data's own prior, so thm35 says the same"
        return super().holds_for(setting, metric)

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        return cls(targets.misfit_success, targets.budget)
