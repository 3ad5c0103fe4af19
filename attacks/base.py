"""The contract of an attack: what it sees, does and returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from reconbench.attacks.metrics import Metric
from reconbench.bounds import CompactTail
from reconbench.datasets import Domain, DomainError, Prior, Table
from reconbench.mechanisms import Mechanism, Release
from reconbench.missing_package import describe_need, find_missing

SomeRelease = TypeVar("SomeRelease", bound=Release)


class AttackError(ValueError):
    """An attack that broke its contract or cannot run here."""


@dataclass(frozen=True)
class BestPossible:
    """The largest expected success of any attack that sees what this one saw.

    ``error`` is the Monte Carlo standard error of ``expected``; ``converged`` says whether the
    computation behind it passed its own checks. ``successes`` is the distribution, given the
    release, of the number of successes of the attack that has this expectation, if it is known.
    """

    expected: float
    error: float = 0.0
    converged: bool = True
    successes: CompactTail | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.expected) and isfinite(self.error) and self.error >= 0):
            raise AttackError(
                f"best possible needs a finite expectation and error, got {self.expected} and "
                f"{self.error}"
            )


@dataclass(frozen=True)
class Reconstruction:
    """A guess for every record and, optionally, how sure the attack is of each.

    An attack that knows the exact posterior also states what the best possible success is.

    Args:
        guess: The target columns of every record, as guessed.
        scores: How sure the attack is of each record.
        info: Numbers for the result row.
        best_possible: What no attack on this release expects to exceed.

    Example:
        >>> import reconbench as rb
        >>> view = rb.Round.draw(rb.Game("acs", ("SEX",), epsilon=1.0)).view
        >>> view.reconstruction([0] * 100)
        Reconstruction(Table(100 records of 'SEX'))
    """

    guess: Table
    scores: npt.NDArray[np.float64] | None = None
    info: Mapping[str, float] = field(default_factory=dict)
    best_possible: BestPossible | None = None

    def __repr__(self) -> str:
        scored = "" if self.scores is None else ", with scores"
        return f"Reconstruction({self.guess!r}{scored})"


@dataclass(frozen=True)
class AttackerView:
    """Exactly what the threat model grants: the release, its mechanism, the known columns of
    every record, the prior, and the metric by which success is counted.

    The informed adversary attacks one record at a time: ``known`` then holds that record alone,
    and ``others`` every other record of the table in full.

    Args:
        release: What was published.
        mechanism: What published it; it can be run on imagined tables.
        known: The known columns of every record.
        targets: The columns to guess.
        prior: The distribution of a record.
        metric: What counts as a success.
        others: All other records, for the informed adversary.

    Example:
        >>> import reconbench as rb
        >>> view = rb.Round.draw(rb.Game("acs", ("SEX",), epsilon=1.0)).view
        >>> view.targets, view.n, len(view.known.domain)
        (('SEX',), 100, 15)
    """

    release: Release
    mechanism: Mechanism
    known: Table
    targets: tuple[str, ...]
    prior: Prior
    metric: Metric
    others: Table | None = None

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.targets))
        return f"AttackerView({names} of {self.n:,} records, from {self.release!r})"

    @property
    def n(self) -> int:
        return len(self.known)

    @property
    def target_domain(self) -> Domain:
        return self.prior.domain.project(self.targets)

    def reconstruction(
        self,
        codes: npt.ArrayLike,
        scores: npt.ArrayLike | None = None,
        info: Mapping[str, float] | None = None,
        best_possible: BestPossible | None = None,
    ) -> Reconstruction:
        """Check an (n, number of targets) array of codes and return it as a reconstruction."""
        array = np.asarray(codes)
        if array.ndim == 1 and len(self.targets) == 1:
            array = array[:, None]
        if array.shape != (self.n, len(self.targets)):
            raise AttackError(
                f"guesses must have shape ({self.n}, {len(self.targets)}), one row per record and "
                f"one column per target, got {array.shape}"
            )
        try:
            guess = Table(self.target_domain, array)
        except DomainError as error:
            raise AttackError(f"guesses are not codes of the targets: {error}") from None
        checked = None if scores is None else np.asarray(scores, dtype=np.float64)
        if checked is not None and (checked.shape != (self.n,) or not np.isfinite(checked).all()):
            raise AttackError(f"scores must be {self.n} finite numbers, one per record")
        return Reconstruction(guess, checked, dict(info or {}), best_possible)


@runtime_checkable
class Attack(Protocol):
    """One file, one class. Options are keyword arguments of the constructor, with defaults.

    Two methods are optional: ``skip(view)`` says why an attack cannot play a game, or None; and
    ``reconstruct_many(views, rngs)`` plays repetitions of one game at once, with the results that
    ``reconstruct`` would give one by one. An attack that imports packages which not everybody has,
    when it plays and not before, may name them in a tuple ``requires``: where one is missing, it
    is skipped.

    Example:
        >>> import reconbench as rb
        >>> class Modest:
        ...     name = "modest"
        ...
        ...     def reconstruct(self, view, rng):
        ...         guess, sure = view.prior.map(view.known, view.targets)
        ...         return view.reconstruction(guess.codes, sure)
        >>> isinstance(Modest(), rb.Attack)
        True
        >>> rb.play("acs", "SEX", epsilon=1, attack=Modest, reps=1)
        PlayResult(1 game, modest, 1 row)
    """

    name: ClassVar[str]

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction: ...


def skip_reason(attack: Attack, view: AttackerView) -> str | None:
    """Ask an attack why it cannot play this game, None if it can: it lacks a package that it
    ``requires``, or ``skip(view)`` says so."""
    missing = find_missing(getattr(attack, "requires", ()))
    if missing is not None:
        return describe_need(attack.name, missing)
    skip = getattr(attack, "skip", None)
    reason = skip(view) if callable(skip) else None
    return None if reason is None else str(reason)


def require_playable(attack: Attack, view: AttackerView, kind: type[SomeRelease]) -> SomeRelease:
    """Return the release of a view, of the kind that an attack needs, or raise why it cannot."""
    reason = skip_reason(attack, view)
    if reason is not None or not isinstance(view.release, kind):
        raise AttackError(reason or f"{attack.name} needs a release of type {kind.__name__}")
    return view.release


def log_chances(chances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Take logarithms of probabilities, −inf where one is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances))


def check_reconstruction(view: AttackerView, answer: object) -> Reconstruction:
    """Check whatever a plugin returned against the contract."""
    if not isinstance(answer, Reconstruction):
        raise AttackError(
            f"reconstruct must return a Reconstruction, got {type(answer).__name__}; "
            "build it with view.reconstruction(codes)"
        )
    if not isinstance(answer.guess, Table) or answer.guess.domain.names != view.targets:
        raise AttackError("the guess must be a table over the target columns, in their order")
    best = answer.best_possible
    if best is not None and not isinstance(best, BestPossible):
        raise AttackError(f"best_possible must be a BestPossible, got {type(best).__name__}")
    return view.reconstruction(answer.guess.codes, answer.scores, answer.info, best)
