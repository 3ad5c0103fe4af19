"""The best possible success of a game, as its rows state it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import hypot
from statistics import fmean

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.scores import ScoredBy, read_luck
from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.provenance import shipped_name
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.bounds.ceilings.compact_tail import CompactTail, mixture_quantile

# Which attack is trusted on the best possible success on noisy marginals, by adversary.
REFERENCES: Mapping[str, str] = {"realistic": "posterior", "informed": "informed"}


@dataclass(frozen=True)
class Optimum:
    """The best possible expected success in a game, mean over the repetitions that state it.

    ``error`` is the standard error of that mean from Monte Carlo alone: over these very releases,
    not over fresh ones. ``converged`` only if it was in every repetition; if not, there is no
    number: the best possible lies between what attacks reached and ``at_most``, a certified upper
    bound, or, where there is none, the ceiling on the mean. ``successes`` has the distribution of
    the optimal attack's successes for each repetition; empty if it is not known for all.
    ``on_releases`` is the best possible by repetition, where it converged, on the very release:
    not corrected for luck, so that it can be held against successes as drawn.
    """

    expected: float | None
    error: float | None
    converged: bool
    successes: tuple[CompactTail, ...] = ()
    at_most: float | None = None
    on_releases: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def unknown(cls, at_most: float | None = None) -> Optimum:
        """That of a computation that did not converge."""
        return cls(None, None, False, at_most=at_most)

    def find_quantile(self, confidence: float) -> int | None:
        """A number that the optimal attack exceeds at most this rarely, over these releases."""
        return mixture_quantile(self.successes, confidence) if self.successes else None


def find_optima(rows: Iterable[Result]) -> dict[Setting, Optimum]:
    """Find the best possible success of every game whose judge or a trusted attack states it."""
    stated: dict[Setting, dict[int, list[Optimum]]] = {}
    for row in rows:
        optimum = read_stated_optimum(row)
        if optimum is not None:
            stated.setdefault(row.setting, {}).setdefault(row.rep, []).append(optimum)
    return {
        setting: pool_optima([_choose_optimum(optima) for optima in by_rep.values()])
        for setting, by_rep in stated.items()
    }


def read_stated_optimum(row: Result) -> Optimum | None:
    """Read what a row states about its own release, if a judge or a trusted attack says so."""
    stated = row.best_possible is not None or row.best_possible_converged is not None
    if row.status is not Status.OK or not stated:
        return None
    judged = row.expected_baseline is not None
    if not judged and not _is_trusted(row.attack, row.adversary):
        return None
    luck = read_luck(row, tightest_mean(row.ceilings))
    at_most = _read_upper_bound(row)
    at_most = None if at_most is None else at_most - luck
    if row.best_possible is None or not row.best_possible_converged:
        return Optimum.unknown(at_most)
    tail = row.best_successes
    successes = () if tail is None else (CompactTail.from_json(tail),)
    error, on_release = row.best_possible_se or 0.0, {row.rep: row.best_possible}
    return Optimum(row.best_possible - luck, error, True, successes, at_most, on_release)


def pool_optima(optima: Sequence[Optimum]) -> Optimum:
    """Average over repetitions, whose Monte Carlo errors are independent."""
    bounds = [optimum.at_most for optimum in optima if optimum.at_most is not None]
    at_most = fmean(bounds) if len(bounds) == len(optima) else None
    releases = {rep: best for one in optima for rep, best in one.on_releases.items()}
    values = [optimum.expected for optimum in optima if optimum.expected is not None]
    if len(values) < len(optima):
        return replace(Optimum.unknown(at_most), on_releases=releases)
    error = hypot(*(optimum.error or 0.0 for optimum in optima)) / len(optima)
    successes = tuple(run for optimum in optima for run in optimum.successes)
    all_known = len(successes) == len(optima)
    return Optimum(fmean(values), error, True, successes if all_known else (), at_most, releases)


def _read_upper_bound(row: Result) -> float | None:
    """The certified bound of a search that was cut, or the optimum itself where it is exact."""
    if _is_trusted(row.attack, row.adversary) and "best_possible_at_most" in row.info:
        return row.info["best_possible_at_most"]
    return row.best_possible if row.scored_by == ScoredBy.EXACT else None


def _choose_optimum(optima: Sequence[Optimum]) -> Optimum:
    """The converged one of the smallest error, with the least of all upper bounds."""
    best = min(optima, key=lambda optimum: (not optimum.converged, optimum.error or 0.0))
    bounds = [optimum.at_most for optimum in optima if optimum.at_most is not None]
    return replace(best, at_most=min(bounds, default=None))


@cache
def _is_trusted(attack: str, adversary: str) -> bool:
    """Any attack of this package is, a reference only as its own adversary; no plugin is."""
    roles = [role for role, reference in REFERENCES.items() if reference == attack]
    return shipped_name(attack) is not None and (not roles or adversary in roles)
