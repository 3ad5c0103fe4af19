"""The conformance kit of bounds: they hold on games whose best attack is known exactly.

In such a game the targets are independent, with one prior, and each is released by randomised
response: with probability e^ε/(e^ε + m − 1) the value itself, else one of the m − 1 others; with
probability δ, in addition, the value in the clear. The release is (ε, δ)-DP under replace-one, and
the attack that guesses the likeliest value given each report is the best one. Its successes are
binomial, so whether a ceiling holds is computed, not simulated: the false-alarm rate is 0.

The informed adversary meets the sum of all values modulo m, released in the same way. Whoever knows
the other targets reads each one off the report: with equal priors all guesses are right or none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import floor, inf

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from reconbench.benchmarks.game.row_ceilings import check_ceilings
from reconbench.benchmarks.plugins import checks
from reconbench.benchmarks.plugins.bounds import load_bound
from reconbench.benchmarks.plugins.checks import Check, Outcome
from reconbench.bounds import (
    ApproxDP,
    Bound,
    GaussianDP,
    Guarantee,
    Kind,
    NotApplicable,
    PureDP,
    Relation,
    Scope,
    Targets,
    WholePriors,
    run_tail,
)

Floats = npt.NDArray[np.float64]

SLACK = 1e-6
TINY = 1e-9
VALUES = 10
PRIORS = (0.1, 0.3, 0.5, 0.7, 0.9)
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
SIZES = (1, 20, 200)
REPETITIONS = 3


@dataclass(frozen=True)
class SmallSetting:
    """The axes of a small game; ``name`` is that of its metric."""

    n: int = 20
    epsilon: float = 1.0
    delta: float = 0.0
    adversary: str = "realistic"
    attacker_prior: str = "same"
    name: str = "exact"


@dataclass(frozen=True)
class SmallGame:
    """``n`` targets; of ``values``, one has probability ``top``, the others share the rest."""

    n: int = 20
    top: float = 0.5
    values: int = 2
    epsilon: float = 1.0
    delta: float = 0.0

    @property
    def prior(self) -> Floats:
        rest = (1 - self.top) / (self.values - 1)
        return np.array([self.top, *[rest] * (self.values - 1)])

    @property
    def guarantee(self) -> ApproxDP | PureDP:
        return ApproxDP(self.epsilon, self.delta) if self.delta else PureDP(self.epsilon)

    @property
    def success(self) -> float:
        """Of the best attack on one target: Σ_y max_x π(x)·P[y | x], or the value in the clear."""
        # P[y = x] = 1/(1 + (m − 1) e^−ε), each other value e^−ε times that
        shrink = np.exp(-self.epsilon)
        channel = np.full((self.values, self.values), shrink)
        np.fill_diagonal(channel, 1.0)
        channel /= 1 + (self.values - 1) * shrink
        blind = (self.prior[:, None] * channel).max(axis=0).sum()
        return float(self.delta + (1 - self.delta) * blind)

    @property
    def targets(self) -> Targets:
        best = np.full(self.n, self.top)
        whole = WholePriors(np.tile(self.prior, (self.n, 1)))
        return Targets(
            best,
            self.guarantee,
            guess_success=best,
            runs=(run_tail(best, self.guarantee),) * REPETITIONS,
            read_whole_priors=lambda: whole,
            read_misfit_success=lambda: best,
        )

    def describe(self) -> str:
        return (
            f"n = {self.n}, prior {self.top:g} of {self.values} values, epsilon {self.epsilon:g}, "
            f"delta {self.delta:g}"
        )


@dataclass(frozen=True)
class Candidate:
    """A bound under test."""

    bound: type[Bound]

    def why_not(self) -> str | None:
        """Why the bound holds for none of the settings that the checks know, if so."""
        reasons = [
            self.bound.holds_for(setting, setting)
            for setting in (
                SmallSetting(adversary=adversary, attacker_prior=prior)
                for adversary, prior in product(("realistic", "informed"), ("same", "independent"))
            )
        ]
        return None if None in reasons else reasons[0]

    def holds_for_informed(self, n: int) -> bool:
        """Whether the bound says to hold for the informed adversary, whatever his prior."""
        settings = [
            SmallSetting(n, adversary="informed", attacker_prior=prior)
            for prior in ("same", "independent")
        ]
        return any(self.bound.holds_for(setting, setting) is None for setting in settings)

    def ceilings(
        self, game: SmallGame, guarantee: Guarantee | None = None
    ) -> dict[str, float] | None:
        """By level; None where the bound does not apply to this guarantee."""
        try:
            found = self.bound.ceilings(game.targets, guarantee or game.guarantee)
        except NotApplicable:
            return None
        return check_ceilings(self.bound, found)


def check_bound(spec: str) -> list[Check]:
    """Hold a bound against all checks; a check that raises has failed."""
    return check_class(load_bound(spec))


def check_class(bound: type[Bound]) -> list[Check]:
    """All checks of a bound that is loaded already."""
    return [run_check(name, Candidate(bound)) for name in CHECKS]


def run_check(name: str, candidate: Candidate) -> Check:
    """One check by its name, unless the bound holds for none of the small games."""

    def outcome(candidate: Candidate) -> Outcome:
        reason = candidate.why_not()
        if reason is not None:
            return None, f"holds for none of the small games: {reason}"
        return CHECKS[name](candidate)

    return checks.run_check(name, outcome, candidate)


def _finite(candidate: Candidate) -> Outcome:
    """Numbers between 0 and n, for pure DP, (ε, δ)-DP and Gaussian DP."""
    seen = 0
    for n, top in product(SIZES, PRIORS):
        game = SmallGame(n, top, VALUES, delta=1e-5)
        for guarantee in (PureDP(1.0), ApproxDP(1.0, 1e-5), GaussianDP(1.0)):
            found = candidate.ceilings(game, guarantee)
            for level, value in (found or {}).items():
                seen += 1
                if not 0 <= value <= n + SLACK:
                    where = f"{game.describe()}, {guarantee.describe()}"
                    return False, f"{value:g} at {level}, not in [0, n]: {where}"
    return _count(seen, "ceilings between 0 and n")


def _grows_with_epsilon(candidate: Candidate) -> Outcome:
    return _grows(
        candidate,
        [[SmallGame(20, top, VALUES, epsilon) for epsilon in EPSILONS] for top in PRIORS],
    )


def _grows_with_prior(candidate: Candidate) -> Outcome:
    return _grows(
        candidate,
        [[SmallGame(20, top, VALUES, epsilon) for top in PRIORS] for epsilon in EPSILONS],
    )


def _grows(candidate: Candidate, rows: Iterable[list[SmallGame]]) -> Outcome:
    seen = 0
    for games in rows:
        for before, after in pairwise(games):
            low, high = candidate.ceilings(before), candidate.ceilings(after)
            for level in low or {}:
                seen += 1
                if low and high and high[level] < low[level] - SLACK:
                    return False, (
                        f"falls from {low[level]:g} to {high[level]:g} at {level}: "
                        f"{before.describe()}, then {after.describe()}"
                    )
    return _count(seen, "ceilings never fall")


def _without_budget(candidate: Candidate) -> Outcome:
    """At ε → 0 the best attack is the prior's guess: no ceiling may be lower."""
    games = [SmallGame(n, top, VALUES, TINY) for n, top in product(SIZES, PRIORS)]
    return _covers(candidate, games)


def _without_noise(candidate: Candidate) -> Outcome:
    """At ε = inf the release is the table, so no ceiling may be below n."""
    games = [SmallGame(n, top, VALUES, inf) for n, top in product(SIZES, PRIORS)]
    return _covers(candidate, games)


def _one_target(candidate: Candidate) -> Outcome:
    games = [SmallGame(1, top, 2, epsilon) for top, epsilon in product((0.5, 0.8), EPSILONS)]
    return _covers(candidate, games)


def _best_attack(candidate: Candidate) -> Outcome:
    """Equal priors, where randomised response is the worst case, and skewed ones."""
    games = [
        SmallGame(n, top, values, epsilon, delta)
        for n in SIZES
        for top, values in ((0.5, 2), (0.1, 10), (0.6, 2), (0.4, 4))
        for epsilon, delta in ((0.5, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1e-3))
    ]
    return _covers(candidate, games)


def _informed_attack(candidate: Candidate) -> Outcome:
    """The sum modulo m of equally likely values: all n guesses succeed together, or none does."""
    games = [
        SmallGame(n, 1 / values, values, epsilon, delta)
        for n in SIZES
        for values in (2, 10)
        for epsilon, delta in ((0.5, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1e-3))
        if candidate.holds_for_informed(n)
    ]
    if not games:
        return True, "says nothing about the informed adversary"
    return _covers(candidate, games, together=True)


def _covers(candidate: Candidate, games: Iterable[SmallGame], together: bool = False) -> Outcome:
    """The best attack's successes exceed no ceiling more often than its level allows.

    Targets are recovered independently of each other, or all of them ``together``.

    What a bound says about the guesses made depends on the report where the priors are not equal:
    such games are for bounds on any attack.
    """
    seen, closest = 0, inf
    any_attack = candidate.bound.scope is Scope.ANY_ATTACK
    for game in games:
        if not any_attack and game.top * game.values > 1 + SLACK and game.epsilon > TINY:
            continue
        for level, value in (candidate.ceilings(game) or {}).items():
            seen += 1
            if candidate.bound.kind is Kind.MEAN:
                room, allowed = value - game.n * game.success, 0.0
                text = f"the best attack expects {game.n * game.success:.6g}, above {value:.6g}"
            else:
                right = floor(value + TINY)
                above = float(binom.sf(right, game.n, game.success))
                if together:
                    above = game.success if right < game.n else 0.0
                room, allowed = (1 - float(level)) - above, 1 - float(level)
                text = (
                    f"the best attack exceeds {value:g} with probability {above:.3g}, more than "
                    f"{allowed:.3g}"
                )
            if room < -SLACK:
                return False, f"{text}: {game.describe()}"
            closest = min(closest, room)
    return _count(seen, f"ceilings hold; the closest has {closest:.2g} to spare")


def _refuses(candidate: Candidate) -> Outcome:
    """A guarantee for other neighbours, and a confidence that is none, are ValueErrors."""
    game = SmallGame()
    other = PureDP(1.0, Relation.ADD_REMOVE)
    targets = replace(game.targets, budget=other)
    calls: dict[str, Callable[[], object]] = {
        "a guarantee for add-or-remove-one neighbours": lambda: candidate.bound.ceilings(
            targets, other
        )
    }
    if candidate.bound.kind is Kind.ONE_RUN:
        calls["the confidence 1.5"] = lambda: candidate.bound.ceilings(
            game.targets, game.guarantee, (1.5,)
        )
    for what, call in calls.items():
        try:
            call()
        except ValueError:
            continue
        return False, f"takes {what} instead of raising a ValueError"
    return True, f"refuses {' and '.join(calls)}"


def _declared(candidate: Candidate) -> Outcome:
    declared = candidate.bound.declare()
    proved = "proved" if declared.proved else "not proved"
    return True, f"{declared.kind}, {declared.scope}, {proved}: {declared.statement}"


def _count(seen: int, text: str) -> Outcome:
    if not seen:
        return None, "does not apply to these games"
    return True, f"{seen} {text}"


CHECKS: Mapping[str, Callable[[Candidate], Outcome]] = {
    "declares everything": _declared,
    "between 0 and n": _finite,
    "grows with the budget": _grows_with_epsilon,
    "grows with the prior": _grows_with_prior,
    "no less than the prior without a budget": _without_budget,
    "all records without noise": _without_noise,
    "one target": _one_target,
    "covers the best attack": _best_attack,
    "covers the informed attack": _informed_attack,
    "refuses bad input": _refuses,
}
