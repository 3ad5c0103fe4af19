"""LDP-Auditor: ε from how often one value is guessed under two inputs.

Arcolezi and Gambs 2024, "Revealing the True Cost of Locally Differentially Private Protocols: An
Auditing Perspective". Run the client on a value v and on another v′, and count how often the
attack guesses v: true and false positives. Under (ε, δ)-LDP TPR ≤ e^ε·FPR + δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reconbench.bounds import _validate
from reconbench.bounds.audit.proportions import Counted
from reconbench.bounds.audit.verdict import EpsilonEstimate

REFERENCE = "Arcolezi and Gambs 2024, LDP-Auditor"


@dataclass(frozen=True)
class LdpAuditor:
    """ε ≥ ln((TPR_low − δ)/FPR_up), Clopper-Pearson on both sides, half the failure for each.

    The lower bound fails with probability at most 1 − confidence for any (ε, δ)-LDP client. What
    the original reports as its estimate is this lower bound. With n trials a side FPR_up is never
    below about ln(2/(1 − confidence))/n, so it cannot pass `cap`, however large the true ε is.
    """

    delta: float = 0.0

    def __post_init__(self) -> None:
        _validate.below_one("delta", self.delta)

    def audit(
        self, true_positives: Counted, false_positives: Counted, confidence: float = 0.99
    ) -> EpsilonEstimate:
        half = (1 - _validate.strictly_between_zero_and_one("confidence", confidence)) / 2
        lower = self._ratio(true_positives.lower(half), false_positives.upper(half))
        return EpsilonEstimate(
            "ldp-auditor",
            max(lower, self._ratio(true_positives.estimate, false_positives.estimate)),
            lower,
            math.inf,
            confidence,
            REFERENCE,
            "nothing of the client, of the attack or of the prior",
        )

    def cap(self, trials: int, confidence: float = 0.99) -> float:
        """The largest lower bound that `trials` runs on either input can give."""
        return self.audit(Counted(trials, trials), Counted(0, trials), confidence).lower

    def _ratio(self, true: float, false: float) -> float:
        """ln((TPR − δ)/FPR), at least 0."""
        if true - self.delta <= false:
            return 0.0
        return math.log((true - self.delta) / false) if false > 0 else math.inf
