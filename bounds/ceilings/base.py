"""What a bound is: a class that declares its theorem and computes the ceilings of a row.

The class is the theorem. The game never builds an instance: it asks `holds_for`, then `ceilings`.
The bounds of this package are also the numerical objects behind these ceilings, so an instance is
the theorem at given targets: `HighProbabilityBound` has `tail` and `ceiling`, `MeanBound` has
`per_target` and `mean`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.compact_tail import CompactTail
from reconbench.bounds.ceilings.tail_runs import TailRuns
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import require_replace_one

CONFIDENCES = (0.05, 0.5, 0.95)
MEAN = "mean"
# The adversary of a setting who attacks each target knowing all others.
INFORMED = "informed"


class Kind(StrEnum):
    """What a bound limits: the successes of one run at each confidence, or their expectation."""

    ONE_RUN = "one run"
    MEAN = "mean"


class Scope(StrEnum):
    """Whom a bound limits, and so what it is computed from.

    `REPETITIONS` is computed from stored rows: of `Targets` it is given `runs` and `budget` alone.
    """

    ANY_ATTACK = "any attack"
    REPETITIONS = "this attack, over its repetitions"
    GUESSES = "the guesses this attack made"


class NotApplicable(ValueError):
    """A bound that says nothing about these targets or this guarantee; the text says why."""


class Setting(Protocol):
    """The axes of a game that a bound may ask about; a game has them all as attributes."""

    @property
    def n(self) -> int: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def adversary(self) -> str: ...
    @property
    def attacker_prior(self) -> str: ...


class NamedMetric(Protocol):
    """What counts as a success, by the name that `--metric` takes."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, eq=False)
class WholePriors:
    """Each target's prior over all its values, one row per target.

    `tail_mass` is the probability of the values that are not listed, none of which is likelier
    than the smallest listed. `tail_runs`, if given, says more about them: values and how often
    each occurs, which majorise them (see `majorise_tail`). `success[u, z]` says whether guess u
    succeeds on value z; None means exact match.
    """

    priors: FloatArray
    tail_mass: ArrayLike = 0.0
    success: NDArray[np.bool_] | None = None
    tail_runs: TailRuns | None = None


@dataclass(frozen=True, eq=False)
class Targets:
    """What bounds know about the targets of one round.

    Args:
        best_prior_success: for each target, the success of the best guess from the prior alone.
        budget: the (ε, δ) that the release was made for.
        guess_success: for each target, the prior success of the attack's own guess.
        runs: over all repetitions, what `run_tail` kept of each.
        read_whole_priors: computes `whole_priors` when a bound first asks.
        read_misfit_success: computes `misfit_success` when a bound first asks.
    """

    best_prior_success: FloatArray
    budget: ApproxDP | PureDP
    guess_success: FloatArray | None = None
    runs: tuple[CompactTail, ...] = ()
    read_whole_priors: Callable[[], WholePriors | None] = lambda: None
    read_misfit_success: Callable[[], FloatArray | None] = lambda: None

    def __post_init__(self) -> None:
        for name in ("best_prior_success", "guess_success"):
            values = getattr(self, name)
            if values is not None:
                checked = _validate.probabilities(name, values).view()
                checked.setflags(write=False)  # all bounds share these
                object.__setattr__(self, name, checked)

    @property
    def n(self) -> int:
        """The number of targets."""
        return self.runs[0].n if self.runs else self.best_prior_success.size

    @property
    def whole_priors(self) -> WholePriors:
        """Raises NotApplicable where they are too long to list, or the metric has none."""
        priors = self.read_whole_priors()
        if priors is None:
            raise NotApplicable("the whole priors of the targets are not available")
        return priors

    @property
    def misfit_success(self) -> FloatArray:
        """The most that any guess can succeed, as bounded by somebody with the attacker's prior.

        For target i it is min(1, max_z q_i(z) + γ_i): see `MisfitTheorem35`.
        """
        success = self.read_misfit_success()
        if success is None:
            raise NotApplicable("the gap between the two priors was not enumerated")
        return success

    @property
    def own_guess_success(self) -> FloatArray:
        """`guess_success`, where an attack has played."""
        if self.guess_success is None:
            raise NotApplicable("no attack has made guesses")
        return self.guess_success


@dataclass(frozen=True)
class Declaration:
    """What a bound says about itself, for listings, columns and stored rows."""

    name: str
    reference: str
    statement: str
    kind: Kind
    scope: Scope
    proved: bool

    @property
    def levels(self) -> tuple[str, ...]:
        """The keys of its ceilings."""
        return levels(self.kind)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, name: str, raw: Mapping[str, Any]) -> Declaration | None:
        """The inverse of `to_json`; None for what is not a declaration."""
        try:
            kind, scope = Kind(raw["kind"]), Scope(raw["scope"])
            texts = str(raw["reference"]), str(raw["statement"])
        except (KeyError, ValueError):
            return None
        return cls(name, *texts, kind, scope, raw.get("proved") is True)


class Bound(ABC):
    """A ceiling on reconstruction. Subclass it in one file to put it on every row.

    `statement` is one sentence: for which guarantees and metrics, and from what. `proved` says
    that it is proved as implemented, at every confidence.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    statement: ClassVar[str]
    kind: ClassVar[Kind]
    scope: ClassVar[Scope]
    proved: ClassVar[bool]

    @classmethod
    def declare(cls) -> Declaration:
        return Declaration(
            cls.name, cls.reference, cls.statement, Kind(cls.kind), Scope(cls.scope), cls.proved
        )

    @classmethod
    def holds_for(cls, setting: Setting, metric: NamedMetric) -> str | None:
        """Why this bound says nothing about games with these axes; None if it holds.

        A bound on one run does not hold for the informed adversary, who guesses each of several
        targets knowing the others: his guesses z = A(a, x) depend on the table, and every proof
        needs guesses that depend on the output alone. All of them can be right or wrong together,
        so that nothing beyond Markov's inequality on the mean holds (docs/ceilings.md). A bound on
        the mean holds target by target, whatever the other records are.

        An override that restricts a bound further starts from ``super().holds_for``.
        """
        if cls.kind is Kind.ONE_RUN and setting.adversary == INFORMED and setting.n > 1:
            return "the informed adversary's guesses depend on the other targets: no one-run bound"
        return None

    @classmethod
    @abstractmethod
    def ceilings(
        cls, targets: Targets, guarantee: Guarantee, confidences: Sequence[float] = CONFIDENCES
    ) -> Mapping[str, float]:
        """The ceilings by level: `mean`, or one per confidence (`0.05`, `0.5`, `0.95`).

        Raises NotApplicable, with the reason, where the bound says nothing about these targets
        or this guarantee.
        """


def levels(kind: Kind, confidences: Sequence[float] = CONFIDENCES) -> tuple[str, ...]:
    """The keys of the ceilings of a bound of this kind."""
    return (MEAN,) if kind is Kind.MEAN else tuple(f"{level:g}" for level in confidences)


def failure_rate(confidence: float) -> float:
    """1 − confidence: how often a run may exceed a ceiling."""
    return 1 - _validate.strictly_between_zero_and_one("confidence", confidence)


class HighProbabilityBound(Bound):
    """An upper bound on P[L ≥ v], and the ceilings read from it.

    Subclasses give `n`, `_tail_at`, and `apply`, which applies the theorem to targets.
    """

    kind: ClassVar[Kind] = Kind.ONE_RUN
    scope: ClassVar[Scope] = Scope.ANY_ATTACK

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of targets."""

    @abstractmethod
    def _tail_at(self, v: int) -> float:
        """The bound at an integer v in 0, …, n + 1."""

    @classmethod
    @abstractmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        """Apply the theorem to given targets."""

    def tail(self, v: ArrayLike) -> FloatArray:
        """An upper bound on P[L ≥ v], at most 1; 0 for v > n."""
        at = _validate.thresholds("v", v, self.n)
        return np.array([self._tail_at(int(k)) for k in at.flat]).reshape(at.shape)

    def ceiling(self, confidence: float) -> int:
        """The smallest integer v with P[L > v] ≤ 1 − confidence by this bound; at most n."""
        return smallest(self._tail_at, self.n, failure_rate(confidence))

    def by_confidence(self, confidences: Sequence[float]) -> dict[float, int]:
        """The ceilings at several confidences."""
        return {confidence: self.ceiling(confidence) for confidence in confidences}

    @classmethod
    def ceilings(
        cls, targets: Targets, guarantee: Guarantee, confidences: Sequence[float] = CONFIDENCES
    ) -> dict[str, float]:
        found = cls.apply(targets, guarantee).by_confidence(confidences)
        return dict(zip(levels(cls.kind, confidences), found.values(), strict=True))


class MeanBound(Bound):
    """An upper bound on the expected number of targets recovered."""

    kind: ClassVar[Kind] = Kind.MEAN
    scope: ClassVar[Scope] = Scope.ANY_ATTACK

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of targets."""

    @property
    @abstractmethod
    def per_target(self) -> FloatArray:
        """An upper bound on P[target i is recovered], for each target."""

    @property
    def mean(self) -> float:
        """An upper bound on E[L], the sum over targets."""
        return float(self.per_target.sum())

    @classmethod
    @abstractmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> MeanBound:
        """Apply the theorem to given targets."""

    @classmethod
    def ceilings(
        cls, targets: Targets, guarantee: Guarantee, confidences: Sequence[float] = CONFIDENCES
    ) -> dict[str, float]:
        return {MEAN: cls.apply(targets, guarantee).mean}


@dataclass(frozen=True, eq=False)
class BestGuessBound(HighProbabilityBound):
    """A bound from the best prior success of each target, under replace-one neighbours.

    `best_prior_success[i]` is P[ℓ_i(X_i, z*) = 1] for the guesses z* that are best from the prior
    alone, so that no guess on target i has a larger prior success.
    """

    best_prior_success: FloatArray
    guarantee: Guarantee

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("best_prior_success", self.best_prior_success)
        object.__setattr__(self, "best_prior_success", checked)
        require_replace_one(self.guarantee, self.reference)

    @property
    def n(self) -> int:
        return self.best_prior_success.size

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        return cls(targets.best_prior_success, guarantee)


def smallest(tail: Callable[[int], float], n: int, failure: float) -> int:
    """The smallest v in 0, …, n with tail(v + 1) ≤ failure, for a tail that never increases."""
    return bisect_left(range(n), True, key=lambda v: bool(tail(v + 1) <= failure))
