"""The numbers of one budget, from the games played at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot
from statistics import NormalDist

import numpy as np

from reconbench.attacks.marginals.measured import find_measurements
from reconbench.benchmarks.assess.accuracy import average_accuracy
from reconbench.benchmarks.assess.assessment import (
    SURE,
    AttackShares,
    BestPossible,
    Budget,
    Ceiling,
    Memorisation,
    NoBest,
    Sure,
)
from reconbench.benchmarks.assess.exposure import Exposure, Mean
from reconbench.benchmarks.assess.games.real_games import (
    Bools,
    Floats,
    RealGame,
    RealPlay,
    find_plays,
)
from reconbench.benchmarks.assess.max_epsilon import Measure, RecordRisks
from reconbench.benchmarks.assess.question import PRIOR
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.round import Round
from reconbench.benchmarks.game.scores import read_score
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.benchmarks.store.optimum import read_stated_optimum
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.store.tightest import TOP, tightest, tightest_mean
from reconbench.bounds import GaussianDP, Guarantee, Relation

_NORMAL = NormalDist().inv_cdf(0.975)


def measure_budget(
    round_: Round,
    attacks: Sequence[str],
    reference: str,
    threshold: int,
    games: Sequence[RealGame],
    fresh: Sequence[Result],
    held_out: HeldOut | None = None,
    weights: Floats | None = None,
) -> Budget:
    """Measure what attacks got in real games and on fresh tables; ``round_`` is one real game.

    With ``weights``, shares of the real table are weighted.
    """
    n, mechanism = len(round_.truth), round_.mechanism
    guess, expected = round_.baseline
    by_attack = {summary.attack: summary for summary in summarise(fresh)}
    shares = tuple(
        AttackShares(
            spec,
            Mean.from_values([average(play.hits, weights) for play in find_plays(spec, games)]),
            _measure_fresh(by_attack[spec], n) if spec in by_attack else None,
            _combine(play.converged for play in find_plays(spec, games)),
        )
        for spec in attacks
    )
    facts = mechanism.facts()
    plays = find_plays(reference, games)
    own = [row for row in fresh if row.attack == reference]
    return Budget(
        epsilon=round_.game.epsilon,
        guarantee=mechanism.guarantee.describe(),
        mu=float(facts["mu"]) if "mu" in facts else None,
        rho=_find_rho(mechanism.guarantee),
        noise_sd=float(facts["noise_sd"]) if "noise_sd" in facts else None,
        prior_real=average(round_.hits(guess), weights),
        prior_expected=average(expected, weights),
        attacks=shares,
        best=_find_best(round_, own),
        fresh_gain=_measure_fresh_gain(own, n),
        ceiling=find_ceiling(round_.ceilings_for_any_attack, float(expected.mean()), n)
        if weights is None
        else weigh_ceiling(round_, weights),
        sure=count_sure(plays, threshold),
        sure_without=count_sure(find_plays(PRIOR, games), threshold),
        accuracy=average_accuracy([game.accuracy for game in games]),
        any_prior_gain=mechanism.guarantee.total_variation(),
        memorisation=None if held_out is None else measure_memorisation(round_, plays, held_out),
    )


def average(values: Floats | Bools, weights: Floats | None) -> float:
    """The mean over records, weighted where there are weights."""
    return float(np.average(values, weights=weights))


def _find_rho(guarantee: Guarantee) -> float | None:
    """The ρ of zero-concentrated DP that Gaussian noise spends; None for any other mechanism."""
    return guarantee.mu**2 / 2 if isinstance(guarantee, GaussianDP) else None


def weigh_ceiling(round_: Round, weights: Floats) -> Ceiling | None:
    """The ceiling on the weighted mean, record by record; None for an add-or-remove guarantee."""
    guarantee, view = round_.mechanism.guarantee, round_.view
    if guarantee.relation is not Relation.REPLACE_ONE:
        return None
    risks = RecordRisks(round_.prior, view.known, view.targets, round_.metric, weights)
    most, gain = (risks.mean(measure, guarantee) for measure in (Measure.SHARE, Measure.ADVANTAGE))
    return Ceiling(most, gain, None)


def _measure_fresh(summary: Summary, n: int) -> Mean:
    high, success = summary.success_high, (summary.success or 0.0)
    low = summary.success_low
    if low is None or high is None:
        return Mean(success / n, None)
    return Mean(success / n, max(high - success, success - low) / n)


def _measure_fresh_gain(rows: Sequence[Result], n: int) -> Mean | None:
    """What an attack is worth beyond guessing on each fresh table, without the luck of the draw."""
    scores = [read_score(row, tightest_mean(row.ceilings)) for row in rows]
    gains = [score.gain / n for score in scores if score is not None]
    return Mean.from_values(gains) if gains else None


def _find_best(round_: Round, rows: Sequence[Result]) -> BestPossible:
    """The best possible on fresh tables, scored in the same way."""
    if not rows:
        return BestPossible(why_not=NoBest.NOT_PLAYED)
    n = len(round_.truth)
    stated = [(row, read_stated_optimum(row)) for row in rows]
    best = [
        (optimum.expected / n, (optimum.expected - row.baseline_expected) / n)
        for row, optimum in stated
        if optimum is not None and optimum.expected is not None
    ]
    if len(best) < len(rows):
        return BestPossible(why_not=_explain_no_best(round_))
    shares, gains = zip(*best, strict=True)
    return BestPossible(float(np.mean(shares)), Mean.from_values(gains))


def _explain_no_best(round_: Round) -> NoBest:
    if not type(round_.mechanism).__module__.startswith("reconbench."):
        return NoBest.NOT_TRUSTED
    measured = find_measurements(round_.released, len(round_.truth))
    if measured is None:
        return NoBest.NOT_MEASURED
    return NoBest.ADAPTIVE if measured.adaptive else NoBest.NOT_CONVERGED


def find_ceiling(
    ceilings: Mapping[str, Mapping[str, float]], expected: float, n: int
) -> Ceiling | None:
    """The smallest ceilings as shares; None where no bound holds."""
    mean, high = tightest_mean(ceilings), tightest(ceilings).get(TOP)
    if mean is None or high is None:
        return None
    return Ceiling(mean / n, mean / n - expected, high / n)


def count_sure(plays: Sequence[RealPlay], threshold: int) -> Sure:
    """Count the records that an attack is sure of; what would tell of few records is left out."""
    picked = [(play.sure >= SURE, play.hits) for play in plays if play.sure is not None]
    records = float(np.mean([sure.sum() for sure, _ in picked])) if picked else 0.0
    if records < threshold:
        return Sure(None, None)
    if any(0 < len(sure) - int(sure.sum()) < threshold for sure, _ in picked):
        return Sure(records, None)
    right = sum(int(hits[sure].sum()) for sure, hits in picked)
    return Sure(records, right / sum(int(sure.sum()) for sure, _ in picked))


def _combine(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return all(known) if known else None


def measure_memorisation(
    round_: Round, plays: Sequence[RealPlay], held_out: HeldOut
) -> Memorisation:
    """Compare what an attack gains on records of the table with what it gains on others.

    The interval is for other records of the same kind: the gains of single records, each averaged
    over releases, are taken as independent.
    """
    guess, _ = round_.metric.best_guess(round_.prior, held_out.known, round_.game.targets)
    guessed = round_.metric.score(held_out.truth, guess)
    others = [play.held_out_hits for play in plays if play.held_out_hits is not None]
    inside = _average_gains(round_.hits(round_.baseline[0]), [play.hits for play in plays])
    outside = _average_gains(guessed, others)
    error = hypot(*(gains.std(ddof=1) / np.sqrt(len(gains)) for gains in (inside, outside)))
    return Memorisation(
        records=len(held_out.truth),
        prior=float(guessed.mean()),
        attack=Mean.from_values([hits.mean() for hits in others]),
        memorised=Mean(float(inside.mean() - outside.mean()), _NORMAL * error),
    )


def _average_gains(guessed: Bools, hits: Sequence[Bools]) -> Floats:
    return np.asarray(np.mean(hits, axis=0) - guessed.astype(np.float64))


def measure_exposure(
    round_: Round,
    reference: str,
    games: Sequence[RealGame],
    threshold: int,
    weights: Floats | None = None,
) -> Exposure:
    """Which kinds of record the reference gets, with small kinds left out."""
    plays = find_plays(reference, games)
    guess = round_.baseline[0]
    prior = round_.metric.score(round_.truth, guess)
    return Exposure.measure(
        round_.truth,
        round_.view.known,
        guess,
        np.stack([play.guess for play in plays]),
        np.stack([prior, *(play.hits for play in plays)]),
        threshold,
        weights,
    )
