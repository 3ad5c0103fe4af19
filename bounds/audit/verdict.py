"""What an audit says: an interval for ε, and whether it refutes a claim."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reconbench.bounds import _validate


@dataclass(frozen=True)
class Verdict:
    """A claimed ε against a lower confidence bound on the true one.

    A claim that holds is refuted with probability at most 1 − confidence. A claim that is not
    refuted is not proved: a better attack or more trials may refute it.
    """

    claimed: float
    lower: float
    confidence: float

    @property
    def violated(self) -> bool:
        return self.lower > self.claimed

    def __str__(self) -> str:
        if self.violated:
            return f"violates ε = {self.claimed:g} with confidence {100 * self.confidence:.6g} %"
        return "no violation found"


@dataclass(frozen=True)
class EpsilonEstimate:
    """ε as an audit sees it: the estimate within [lower, upper], which holds at `confidence`.

    `upper` is inf where the audit bounds ε from below only, or saw nothing that limits it.
    `assumes` says what must be true for the interval to hold.
    """

    method: str
    estimate: float
    lower: float
    upper: float
    confidence: float
    reference: str
    assumes: str

    def __post_init__(self) -> None:
        _validate.strictly_between_zero_and_one("confidence", self.confidence)
        if not 0 <= self.lower <= self.estimate <= self.upper:
            raise ValueError(
                f"lower, estimate and upper must be in order and at least 0, got {self.lower!r}, "
                f"{self.estimate!r}, {self.upper!r}"
            )

    def covers(self, epsilon: float) -> bool:
        return self.lower <= epsilon <= self.upper

    def verdict(self, claimed: float) -> Verdict:
        """Whether the audit refutes that the mechanism is ε-DP at ε = claimed."""
        return Verdict(_validate.non_negative("claimed", claimed), self.lower, self.confidence)

    def to_dict(self) -> dict[str, str | float | None]:
        """Plain values; None stands for infinity, which JSON does not know."""

        def finite(value: float) -> float | None:
            return None if math.isinf(value) else value

        return {
            "method": self.method,
            "epsilon": finite(self.estimate),
            "lower": finite(self.lower),
            "upper": finite(self.upper),
            "confidence": self.confidence,
            "reference": self.reference,
            "assumes": self.assumes,
        }
