"""Audits of local randomisers at their true ε, as played (Guerra-Balboa 2026, figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, nan
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from reconbench.benchmarks.audits.ldp import CHANNELS, Outcome, client_of, estimates, play
from reconbench.benchmarks.computations.computation import (
    Chance,
    Computation,
    Point,
    Positives,
    Promise,
    known_names,
)
from reconbench.benchmarks.computations.rad.bounds import Values
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds import PureDP
from reconbench.bounds.audit import EpsilonEstimate

EXACT, BLACK_BOX, AUDITOR = "audit-exact", "audit-black-box", "audit-ldp-auditor"


def play_audits(
    mechanism: str, epsilon: float, values: int, trials: int, confidence: float, seed: int
) -> tuple[Outcome, list[EpsilonEstimate]]:
    """The counts, and ε by the exact RAD audit, by the black box and by LDP-Auditor."""
    prior = np.full(values, 1 / values)
    axes = {"mechanism": mechanism, "epsilon": epsilon, "values": values, "seed": seed}
    client = client_of(CHANNELS[mechanism](epsilon, values))
    outcome = play(client, mechanism, prior, trials, make_stream("audit figure", axes))
    return outcome, estimates(outcome, mechanism, prior, confidence=confidence)


class LdpAudits(Computation):
    """ε as three audits see it, from ``trials`` reports of equally likely values.

    ``audit-exact`` knows the mechanism, and has an interval; the other two bound ε from below
    alone. An end at infinity is left out.
    """

    reference = "Guerra-Balboa 2026, figure 5"
    metric = "epsilon"
    meanings: ClassVar[Mapping[str, str]] = {
        EXACT: "ε by the RAD audit that knows the mechanism (Guerra-Balboa 2026, Theorem 4.3)",
        f"{EXACT}-low": "lower end of the interval of the exact RAD audit",
        f"{EXACT}-high": "upper end of the interval of the exact RAD audit",
        BLACK_BOX: "lower bound on ε by the RAD audit of any mechanism",
        AUDITOR: "lower bound on ε by LDP-Auditor (Arcolezi and Gambs 2024)",
    }

    compute: Literal["audit-ldp"]
    mechanism: Annotated[
        list[str], BeforeValidator(known_names("mechanism", CHANNELS)), Field(min_length=1)
    ]
    epsilon: Positives
    values: Values
    trials: Whole
    confidence: Chance = 0.99
    seed: int = 0

    def points(self, suite: str) -> Iterator[Point]:
        label = f"{self.values} values, {self.trials} trials"
        asked = self.model_dump(include={"values", "trials", "confidence", "seed"})
        for mechanism in self.mechanism:
            for epsilon in self.epsilon:
                promise = Promise("", epsilon, 0.0, PureDP(epsilon), {"epsilon": epsilon})
                yield Point(suite, self, mechanism, promise, label, 1 / self.values, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        _, (exact, black_box, auditor) = play_audits(
            point.mechanism,
            point.promise.epsilon,
            self.values,
            self.trials,
            self.confidence,
            self.seed,
        )
        found = {
            EXACT: exact.estimate,
            f"{EXACT}-low": exact.lower,
            f"{EXACT}-high": exact.upper,
            BLACK_BOX: black_box.lower,
            AUDITOR: auditor.lower,
        }
        return {name: nan if value == inf else value for name, value in found.items()}
