"""What a risk allows: how many queries (Kulynych 2025), which ε for a secret (Swanberg 2025)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import ClassVar, Literal

import numpy as np

from reconbench.benchmarks.computations.computation import (
    WORST_CASE,
    Chance,
    Computation,
    Point,
    Positive,
    Promise,
    Share,
    Shares,
)
from reconbench.bounds import (
    Advantage,
    ApproxDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    Relation,
    WorstAdvantage,
    count_queries,
    epsilon_protect,
)
from reconbench.bounds.risk.one_target import UnifiedBound


class QueryBudget(Computation):
    """How many Laplace queries keep the advantage over a baseline within a limit.

    With ``worst_case``, at the worst baseline as well: the total variation within the limit.
    """

    reference = "Kulynych 2025, figure 6"
    metric = "queries"
    meanings: ClassVar[Mapping[str, str]] = {
        "f-dp": UnifiedBound.reference,
        "pure": "Laplace queries whose ε are added up",
    }

    compute: Literal["queries"]
    scale: Positive
    baseline: Shares
    advantage: Shares
    worst_case: bool = False

    def points(self, suite: str) -> Iterator[Point]:
        epsilon = 1 / self.scale
        promise = Promise("", epsilon, 0.0, LaplaceDP(epsilon), {"scale": self.scale})
        for base in self.baseline:
            for limit in self.advantage:
                asked = {"baseline": base, "advantage": limit}
                label = f"advantage {limit:g}"
                yield Point(suite, self, "laplace", promise, label, base, asked, risk=limit)
        for limit in self.advantage if self.worst_case else ():
            label = f"worst-case advantage {limit:g}"
            worst = {"baseline": WORST_CASE, "advantage": limit}
            metric = "queries at the worst baseline"
            yield Point(suite, self, "laplace", promise, label, 0.0, worst, metric, limit)

    def evaluate(self, point: Point) -> dict[str, float]:
        limit = point.asked["advantage"]
        worst = point.asked["baseline"] == WORST_CASE
        risk: Callable[[Guarantee], float] = (
            WorstAdvantage() if worst else Advantage(np.array([point.baseline]), UnifiedBound())
        )
        releases: dict[str, Callable[[int], Guarantee]] = {
            "f-dp": partial(_compose, self.scale),
            "pure": lambda queries: PureDP(queries / self.scale),
        }
        return {
            name: float(count_queries(risk, limit, release).queries)
            for name, release in releases.items()
        }


class ProtectCurve(Computation):
    """The largest ε that keeps the generalised advantage on a secret within a limit."""

    reference = "Swanberg 2025, section 5.3 and figure 2"
    metric = "epsilon"
    meanings: ClassVar[Mapping[str, str]] = {
        "protect": "Swanberg et al. 2025, section 5.3: the largest ε within the advantage"
    }

    compute: Literal["epsilon-protect"]
    prior: Shares
    advantage: Share = 0.05
    delta: Chance = 1e-5

    def points(self, suite: str) -> Iterator[Point]:
        asked = {"advantage": self.advantage, "delta": self.delta}
        label = f"advantage {self.advantage:g}"
        for prior in self.prior:
            epsilon = epsilon_protect(prior, self.delta, self.advantage)
            promise = Promise(label, epsilon, self.delta, ApproxDP(epsilon, self.delta), asked)
            yield Point(suite, self, "approx", promise, label, prior, {"prior": prior})

    def evaluate(self, point: Point) -> dict[str, float]:
        return {"protect": point.promise.epsilon}


@lru_cache(maxsize=256)
def _compose(scale: float, queries: int) -> Guarantee:
    """Composed once for all points of a budget, which ask for the same counts again and again."""
    from reconbench.bounds.guarantees.composed import LaplaceRelease, composed

    return composed([LaplaceRelease(scale, count=queries)], Relation.REPLACE_ONE)
