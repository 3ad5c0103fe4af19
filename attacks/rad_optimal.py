"""The attack of largest reconstruction advantage (Guerra-Balboa 2026, Algorithm 1).

RAD is the success on a target that took part minus the success of the same attack when another
draw of the prior took part in its place. With L(u) = P(release | hidden values u) of the target and
P̄ = P(release) when its whole record is drawn from the prior, the attack maximises

    Σ_{u counts for g} π(u | known columns) (L(u) − P̄)

over guesses g. It differs from the Bayes-optimal attack by P̄: a value that is likely anyway earns
nothing, and where every value is less likely than before, the best guess is one that misses.

Two kinds of release have an L that is known exactly: local reports, through GRR, OUE, SS or any
listed channel, for every adversary that sees the known columns; and a noisy sum, when all other
records are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError, AttackerView, BestPossible, Reconstruction
from reconbench.attacks.metrics import ExactMatch
from reconbench.bounds.rad import FiniteChannel, SupportChannel, rad_given
from reconbench.datasets import Prior, Table
from reconbench.mechanisms.channels import ChannelRelease, sample_outputs
from reconbench.mechanisms.local.reports import LocalRelease, Reports, sample_reports
from reconbench.mechanisms.sums import SumRelease

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Joint values of the hidden columns times records, and pairs of joint values under a metric.
MAX_LISTED = 1 << 26
MAX_PAIRS = 1 << 24
_BLOCK = 1 << 22


class Optimal:
    """Algorithm 1 on local reports and on noisy sums; ties are broken at random.

    Scores are the posterior chance that the guess succeeds, and ``best_possible`` is that of the
    guess with the largest such chance, which is another one wherever advantage and success differ.
    """

    name: ClassVar[str] = "optimal"

    def skip(self, view: AttackerView) -> str | None:
        release = view.release
        if isinstance(release, LocalRelease | ChannelRelease):
            if view.others is not None:
                return "optimal plays the realistic adversary on local reports: others add nothing"
            return _too_long(view, prod(release.domain.project(release.columns).sizes))
        if isinstance(release, SumRelease):
            if view.others is None:
                return "optimal plays the informed adversary on noisy sums: others must be known"
            return _too_long(view, len(release.values))
        return "optimal needs local reports or a noisy sum: this release has no finite channel"

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        reason = self.skip(view)
        if reason is not None:
            raise AttackError(reason)
        evidence = evidence_of(view)
        prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
        gains = prior * (evidence.likelihood - evidence.overall[:, None])
        posterior = prior * evidence.likelihood
        total = posterior.sum(axis=1, keepdims=True)
        # A record that cannot have sent its report (without noise, in another's place) scores 0.
        posterior /= np.where(total > 0, total, 1.0)
        every = _every(view.prior, view.targets)
        if not isinstance(view.metric, ExactMatch):
            counts = _success_table(view, every)
            gains, posterior = gains @ counts.T, posterior @ counts.T
        guess = argmax_at_random(gains, rng)
        scores = np.minimum(posterior[np.arange(view.n), guess], 1.0)
        best = float(np.minimum(posterior.max(axis=1), 1.0).sum())
        return view.reconstruction(
            every.codes[guess], scores, rad_of_reports(view), BestPossible(best)
        )


def rad_of_reports(view: AttackerView) -> dict[str, float]:
    """``rad_bound``: the largest RAD of any attack, given the known columns of these records.

    Theorem 4.3, the mean over the records, for local reports of the columns under attack: where it
    has a closed form, which is for exact match, or where the channel is listed.
    """
    release, exact = view.release, isinstance(view.metric, ExactMatch)
    if not isinstance(release, LocalRelease | ChannelRelease):
        return {}
    if set(release.columns) != set(view.targets):
        return {}
    marginal = joint_prior(view.prior, release.columns)
    given = view.prior.conditional(view.known, release.columns).reshape(view.n, -1)
    if isinstance(release, LocalRelease):
        found = release.channel.rad_given(marginal, given) if exact else None
    elif release.table.size * view.n > MAX_LISTED or (not exact and marginal.size**2 > MAX_PAIRS):
        found = None
    else:
        counts = None if exact else _success_table(view, _every(view.prior, release.columns))
        found = rad_given(release.table, marginal, given, counts)
    return {} if found is None else {"rad_bound": float(found.mean())}


@dataclass(frozen=True, eq=False)
class Evidence:
    """L(u) for every record and joint value of the targets, and P̄, up to a factor a record."""

    likelihood: Floats
    overall: Floats


def evidence_of(view: AttackerView) -> Evidence:
    """What a release with an exact channel says of every record under attack."""
    release = view.release
    if isinstance(release, LocalRelease):
        return _from_reports(view, release)
    if isinstance(release, ChannelRelease):
        return _from_channel(view, release)
    if isinstance(release, SumRelease) and view.others is not None:
        return _from_sum(view, release, view.others)
    raise AttackError("this release has no finite channel")


def _from_reports(view: AttackerView, release: LocalRelease) -> Evidence:
    # L is 1 on the supported values and e^−ε elsewhere; P̄ = π(S) + (1 − π(S)) e^−ε.
    held = release.reports.hold(_joint_values(view, release))
    mass = release.reports.mass(joint_prior(view.prior, release.columns))
    odds = float(np.exp(-release.channel.epsilon))
    likelihood, overall = np.where(held, 1.0, odds), mass + (1 - mass) * odds
    # A report of no value at all is equally likely from every value, also when e^−ε is 0.
    empty = release.reports.first(np.arange(release.channel.size)) == release.channel.size
    likelihood[empty], overall[empty] = 1.0, 1.0
    return Evidence(likelihood, overall)


def _from_channel(view: AttackerView, release: ChannelRelease) -> Evidence:
    likelihood = release.table[release.outputs[:, None], _joint_values(view, release)]
    overall = release.table @ joint_prior(view.prior, release.columns)
    return Evidence(likelihood, overall[release.outputs])


def _from_sum(view: AttackerView, release: SumRelease, others: Table) -> Evidence:
    rest = float(release.values[others.column(release.column)].sum())
    likelihood = release.likelihoods(rest)
    top = float(likelihood.max())
    # All densities underflow only where the answer is far beyond every value: nothing is learnt.
    likelihood = likelihood / top if top > 0 else np.ones_like(likelihood)
    overall = likelihood @ joint_prior(view.prior, (release.column,))
    return Evidence(likelihood[None], np.array([overall]))


def joint_prior(prior: Prior, columns: tuple[str, ...]) -> Floats:
    """P(joint value) of the columns, the rest summed out."""
    chances = np.exp(prior.log_evidence(_every(prior, columns)))
    return np.asarray(chances / chances.sum())


def _every(prior: Prior, columns: tuple[str, ...]) -> Table:
    """All joint values of some columns, the last one changing fastest."""
    domain = prior.domain.project(columns)
    return Table(domain, np.indices(domain.sizes).reshape(len(domain), -1).T)


def _joint_values(view: AttackerView, release: LocalRelease | ChannelRelease) -> Codes:
    """The reported joint value that each record would have with each joint target value."""
    sizes = release.domain.project(release.columns).sizes
    strides = dict(
        zip(release.columns, [prod(sizes[i + 1 :]) for i in range(len(sizes))], strict=True)
    )
    domain = view.target_domain
    every = np.indices(domain.sizes).reshape(len(domain), -1)
    hidden = sum(
        (codes * strides[name] for name, codes in zip(domain.names, every, strict=True)),
        start=np.zeros(every.shape[1], dtype=np.int64),
    )
    known = np.zeros(view.n, dtype=np.int64)
    for name in view.known.domain.names:
        known += view.known.column(name) * strides.get(name, 0)
    return known[:, None] + hidden


def _success_table(view: AttackerView, every: Table) -> Floats:
    """1[guess g counts for value u] under the metric, guesses down."""
    size = len(every)
    truth = Table(every.domain, np.tile(every.codes, (size, 1)))
    guess = Table(every.domain, np.repeat(every.codes, size, axis=0))
    return view.metric.score(truth, guess).reshape(size, size).astype(np.float64)


def _too_long(view: AttackerView, values: int) -> str | None:
    joint = prod(view.target_domain.sizes)
    if joint * view.n > MAX_LISTED or values > MAX_LISTED:
        return (
            f"optimal lists {view.n:,} records by {joint:,} joint values, more than "
            f"{MAX_LISTED:,} numbers; hide fewer columns or attack fewer records"
        )
    if not isinstance(view.metric, ExactMatch) and joint**2 > MAX_PAIRS:
        return f"optimal lists pairs of the {joint:,} joint values, more than {MAX_PAIRS:,}"
    return None


def argmax_at_random(gains: Floats, rng: np.random.Generator) -> Codes:
    """The column of a largest number in every row, each equally likely."""
    ties = gains == gains.max(axis=1, keepdims=True)
    rank = np.ceil(ties.sum(axis=1) * (1 - rng.random(len(gains))))
    found: Codes = (ties.cumsum(axis=1) >= rank[:, None]).argmax(axis=1)
    return found


@dataclass(frozen=True)
class Trials:
    """Successes of one attack in as many trials of both worlds."""

    trials: int
    took_part: int
    replaced: int

    @property
    def rad(self) -> float:
        return (self.took_part - self.replaced) / self.trials


def simulate_finite(
    channel: FiniteChannel, guesses: npt.ArrayLike, trials: int, rng: np.random.Generator
) -> Trials:
    """The attack that answers guesses[θ, a(z)] on drawn targets, and on the same ones replaced."""
    answers = np.asarray(guesses)
    target, other = _draws(channel.prior, (2, trials), rng)
    counts = []
    for source in (target, other):
        output = sample_outputs(channel.table, source, rng)
        guess = answers[output, channel.labels[target]]
        hit = guess == target if channel.success is None else channel.success[guess, target]
        counts.append(int(np.sum(hit)))
    return Trials(trials, *counts)


def simulate_local(
    channel: SupportChannel,
    prior: npt.ArrayLike,
    trials: int,
    rng: np.random.Generator,
) -> Trials:
    """Algorithm 1 (η = 0, aux = ∅) against local reports of one of m values, in blocks.

    The best guess is the likeliest supported value; ties, and an empty report, are broken at
    random.
    """
    values = np.asarray(prior, dtype=np.float64)
    counts = np.zeros(2, dtype=np.int64)
    step = max(1, _BLOCK // channel.size)
    for start in range(0, trials, step):
        target, other = _draws(values, (2, min(step, trials - start)), rng)
        for world, source in enumerate((target, other)):
            guess = likeliest_supported(sample_reports(channel, source, rng), values, rng)
            counts[world] += int((guess == target).sum())
    return Trials(trials, int(counts[0]), int(counts[1]))


def likeliest_supported(reports: Reports, prior: Floats, rng: np.random.Generator) -> Codes:
    """Algorithm 1 for every report on a target of which nothing is known: argmax of π over S.

    Equally likely values are ranked at random, once for all reports; an empty report says nothing
    of any value, and any of them is guessed.
    """
    order = np.lexsort((rng.random(prior.size), -prior))
    rank = np.empty(prior.size, dtype=np.int64)
    rank[order] = np.arange(prior.size)
    first = reports.first(rank)
    empty = first == prior.size
    first[empty] = rng.integers(0, prior.size, int(empty.sum()))
    return order[first].astype(np.int64)


def _draws(prior: Floats, shape: tuple[int, int], rng: np.random.Generator) -> Codes:
    """Values drawn from a prior."""
    below = prior.cumsum()
    places = np.searchsorted(below[:-1], rng.random(shape) * below[-1], side="right")
    return np.asarray(places, dtype=np.int64)
