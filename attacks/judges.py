"""What a guess is worth: the chance that it succeeds, given the release and what is known.

That chance is the same whatever attack the guess comes from, so it is computed once per release
and scores every attack on it. Where the posterior of the hidden columns is known exactly (local
reports and channels, n-gram models of one epoch, gradients, noisy sums and marginals when all other
records are known, marginals without noise) it is used. The posterior given noisy marginals is
sampled, by chains of its own: no guess is judged by the chains that chose it.

Start with ``find_judge``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, prod
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, BestPossible
from reconbench.attacks.extraction import multiply_prior as multiply_ngram_prior
from reconbench.attacks.extraction import one_step_likelihood
from reconbench.attacks.gradient_inversion import AgiaPrior, Observed, list_posterior
from reconbench.attacks.marginals.informed import Informed, informed_posterior
from reconbench.attacks.marginals.measured import find_measurements, read_measurements
from reconbench.attacks.metrics import AnyGuess, ExactMatch, scores_by_record
from reconbench.attacks.posterior.certified import CertifiedPosterior, solve_exactly
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.posterior import Posterior, Sampled
from reconbench.attacks.posterior.posteriors import estimate_best_possible, estimate_error
from reconbench.attacks.rad_optimal import Optimal, compute_evidence, multiply_prior
from reconbench.bounds import CompactTail, PoissonBinomial
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.channels import ChannelRelease
from reconbench.mechanisms.gradient_steps import GradientRelease
from reconbench.mechanisms.local.reports import LocalRelease
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.ngram_models import NgramRelease
from reconbench.mechanisms.sums import SumRelease
from reconbench.mechanisms.synthetic.release import SyntheticRelease

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Joint values times records that a judge lists.
MOST_LISTED = 1 << 22
# Chains of a judge are shorter than those of an attack: its error is far below that of the draw.
SWEEPS = 100
BURN_IN = 50
# Looks at a number that they may take: some two seconds, and longer where many tables fit.
WORK = 400_000_000
WORK_IF_LOOSE = 3 * WORK


@dataclass(frozen=True)
class Worth:
    """The successes that guesses expect, and the Monte Carlo standard error of that number."""

    expected: float
    error: float = 0.0


class Judge(Protocol):
    """The posterior of the hidden columns of one view, as far as scores need it."""

    @property
    def exact(self) -> bool:
        """Whether the posterior is exact rather than sampled."""
        ...

    def judge(self, guess: Codes) -> Worth:
        """What guesses are worth, (n, targets)."""
        ...

    @property
    def best_possible(self) -> BestPossible | None:
        """What the best guesses are worth; None if they are not known."""
        ...


def find_judge(
    view: AttackerView, rng: np.random.Generator, records: int | None = None
) -> Judge | None:
    """The judge of one view; None where no posterior is to be had, or its chains disagree.

    ``records`` are scored, the first ones; all by default.
    """
    judge = _find_judge(view, rng)
    return None if judge is None else replace(judge, records=records)


def _find_judge(view: AttackerView, rng: np.random.Generator) -> MeasurementsJudge | None:
    release = view.release
    if isinstance(release, MarginalsRelease | Measurements | SyntheticRelease):
        return _judge_measurements(view, rng)
    if isinstance(release, NgramRelease):
        return _judge_secrets(view, release)
    if isinstance(release, LocalRelease | ChannelRelease | SumRelease):
        return _judge_channel(view)
    if isinstance(release, GradientRelease):
        return _judge_gradients(view, release)
    return None


def judge_views(judges: Sequence[Judge], guess: Codes) -> Worth:
    """What guesses are worth to the judge of all records, or to one judge for each record."""
    if len(judges) == 1:
        return judges[0].judge(guess)
    worths = [judge.judge(guess[record : record + 1]) for record, judge in enumerate(judges)]
    return Worth(sum(worth.expected for worth in worths), hypot(*(worth.error for worth in worths)))


@dataclass(frozen=True, eq=False)
class ListedJudge:
    """Exact: ``chances`` of every record's joint values, (n, values).

    ``independent`` says that records are, given the release. The first ``records`` are scored.
    """

    view: AttackerView
    chances: Floats
    independent: bool = False
    records: int | None = None
    exact: ClassVar[bool] = True

    def judge(self, guess: Codes) -> Worth:
        if isinstance(self.view.metric, ExactMatch):
            flat = np.ravel_multi_index(tuple(guess.T), self.view.target_domain.sizes)
            return Worth(float(self.chances[np.arange(len(guess)), flat].sum()))
        return Worth(float((self.chances[: len(guess)] * self._count_hits(guess)).sum()))

    def _count_hits(self, guess: Codes) -> npt.NDArray[np.bool_]:
        """Which joint values each guess succeeds on, (n, values)."""
        every, n = Table.of_all_values(self.view.target_domain), len(guess)
        truth = Table(every.domain, np.tile(every.codes, (n, 1)))
        guessed = Table(every.domain, np.repeat(guess, len(every), axis=0))
        return self.view.metric.score(truth, guessed).reshape(n, len(every))

    @cached_property
    def best_possible(self) -> BestPossible | None:
        metric, chances = self.view.metric, self.chances[: self.records]
        if isinstance(metric, ExactMatch):
            most = np.minimum(chances.max(axis=1), 1.0)
            successes = CompactTail.of(PoissonBinomial(most)) if self.independent else None
            return BestPossible(float(most.sum()), successes=successes)
        every = Table.of_all_values(self.view.target_domain)
        if isinstance(metric, AnyGuess):
            if not metric.greedy_is_best:
                return None
            return BestPossible(self.judge(metric.decide_list(every.domain, chances)).expected)
        best = [metric.decide_joint(every.domain, every.codes, own) for own in chances]
        return BestPossible(self.judge(np.array(best)).expected)


@dataclass(frozen=True, eq=False)
class ChainJudge:
    """Sampled: the mean of chains that agree, with the error of that mean."""

    view: AttackerView
    sampled: Sampled
    records: int | None = None
    exact: ClassVar[bool] = False

    def judge(self, guess: Codes) -> Worth:
        posteriors = self.sampled.posteriors
        chains = range(posteriors.chains)
        judged = np.array([posteriors.success(chain, guess).sum() for chain in chains])
        batches = np.array([posteriors.judge(chain, guess) for chain in chains])
        return Worth(float(judged.mean()), estimate_error(judged, batches))

    @cached_property
    def best_possible(self) -> BestPossible | None:
        if not scores_by_record(self.view.metric):
            return None
        sampled = self.sampled
        tables = np.array(sampled.traces.tables)
        return estimate_best_possible(
            sampled.posteriors, self.view, tables, sampled.converged, self.records
        )


@dataclass(frozen=True, eq=False)
class PriorJudge:
    """Exact: the prior, where a release says nothing of the hidden columns."""

    view: AttackerView
    records: int | None = None
    exact: ClassVar[bool] = True

    def judge(self, guess: Codes) -> Worth:
        return Worth(float(self._score(guess).sum()))

    def _score(self, guess: Codes) -> Floats:
        view = self.view
        known = Table(view.known.domain, view.known.codes[: len(guess)])
        guessed = Table(view.target_domain, guess)
        return view.metric.prior_success(view.prior, known, guessed)

    @cached_property
    def best_possible(self) -> BestPossible | None:
        view = self.view
        if not scores_by_record(view.metric):
            return None
        known = Table(view.known.domain, view.known.codes[: self.records])
        _, success = view.metric.best_guess(view.prior, known, view.targets)
        alone = CompactTail.of(PoissonBinomial(np.clip(success, 0.0, 1.0)))
        return BestPossible(float(success.sum()), successes=alone)


@dataclass(frozen=True, eq=False)
class CertifiedJudge:
    """Exact: all tables that fit counts without noise, or sums over few open counts."""

    view: AttackerView
    posterior: CertifiedPosterior
    records: int | None = None
    exact: ClassVar[bool] = True

    def judge(self, guess: Codes) -> Worth:
        return Worth(float(self.posterior.posteriors.success(0, guess).sum()))

    @cached_property
    def best_possible(self) -> BestPossible | None:
        if not scores_by_record(self.view.metric):
            return None
        return self.posterior.find_best_possible(self.records)


MeasurementsJudge = ListedJudge | ChainJudge | CertifiedJudge | PriorJudge


def _judge_measurements(view: AttackerView, rng: np.random.Generator) -> MeasurementsJudge | None:
    """The posterior given noisy counts, be it marginals or what a synthetic table was fitted to.

    The synthetic table is computed from these alone: knowing it as well tells nothing more. Where
    sets were chosen by looking at the table, the choice tells something that no posterior here
    counts, and there is no judge.
    """
    measured = find_measurements(view.release, view.n)
    if measured is None or measured.adaptive:
        return None
    if view.others is not None:
        return _judge_informed(view, view.others)
    attack = Posterior(sweeps=SWEEPS, burn_in=BURN_IN)
    if attack.skip(view) is not None:
        return None
    measured = read_measurements(view)
    if not measured.sets:
        return PriorJudge(view)
    evidence = Evidence(measured, view.targets)
    solution = solve_exactly(view, evidence)
    if solution.posterior is not None:
        return CertifiedJudge(view, solution.posterior)
    work = WORK_IF_LOOSE if evidence.is_loose else WORK
    sampled = attack.sample(view, rng, work, solution.tables)
    return ChainJudge(view, sampled) if sampled.converged else None


def _judge_informed(view: AttackerView, others: Table) -> ListedJudge | None:
    if Informed().skip(view) is not None:
        return None
    measured = read_measurements(view)
    return ListedJudge(view, informed_posterior(view, measured, others).reshape(1, -1))


def _judge_secrets(view: AttackerView, release: NgramRelease) -> ListedJudge | None:
    if view.targets != (release.column,) or view.others is not None or release.training.epochs > 1:
        return None
    evidence = one_step_likelihood(release.training, release.logits)
    return ListedJudge(view, multiply_ngram_prior(view, evidence).chances[0], independent=True)


def _judge_channel(view: AttackerView) -> ListedJudge | None:
    if Optimal().skip(_ask_exactly(view)) is not None or not _fits(view):
        return None
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    chances = multiply_prior(prior, compute_evidence(view))
    return ListedJudge(view, chances, independent=view.others is None)


def _judge_gradients(view: AttackerView, release: GradientRelease) -> ListedJudge | None:
    if AgiaPrior().skip(_ask_exactly(view)) is not None or not _fits(view):
        return None
    return ListedJudge(view, list_posterior(view, release, Observed.of(view, release)))


def _ask_exactly(view: AttackerView) -> AttackerView:
    """A view with the metric that all attacks play: a posterior does not depend on it."""
    return replace(view, metric=ExactMatch())


def _fits(view: AttackerView) -> bool:
    return view.n * prod(view.target_domain.sizes) <= MOST_LISTED
