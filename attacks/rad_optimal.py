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

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
)
from reconbench.attacks.metrics import ExactMatch, scores_by_record
from reconbench.bounds import CompactTail, PoissonBinomial
from reconbench.bounds.rad import rad_given
from reconbench.datasets import Prior, Table
from reconbench.mechanisms.channels import ChannelRelease
from reconbench.mechanisms.local.reports import LocalRelease
from reconbench.mechanisms.sums import SumRelease

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Joint values of the hidden columns times records, and pairs of joint values under a metric.
MAX_LISTED = 1 << 26
MAX_PAIRS = 1 << 24


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
            return _skip_if_too_long(view, prod(release.domain.project(release.columns).sizes))
        if isinstance(release, SumRelease):
            if view.others is None:
                return "optimal plays the informed adversary on noisy sums: others must be known"
            return _skip_if_too_long(view, len(release.values))
        return "optimal needs local reports or a noisy sum: this release has no finite channel"

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        reason = self.skip(view)
        if reason is not None:
            raise AttackError(reason)
        evidence = compute_evidence(view)
        prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
        gains = prior * (evidence.likelihood - evidence.overall[:, None])
        posterior = multiply_prior(prior, evidence)
        every = Table.of_all_values(view.target_domain)
        if not isinstance(view.metric, ExactMatch):
            counts = _success_table(view, every)
            gains, posterior = gains @ counts.T, posterior @ counts.T
        guess = argmax_at_random(gains, rng)
        scores = np.minimum(posterior[np.arange(view.n), guess], 1.0)
        most = np.minimum(posterior.max(axis=1), 1.0)
        # Reports are independent of each other, and so are records given all of them.
        successes = CompactTail.of(PoissonBinomial(most)) if view.others is None else None
        best = BestPossible(float(most.sum()), successes=successes)
        return view.reconstruction(every.codes[guess], scores, bound_rad(view), best)


def bound_rad(view: AttackerView) -> dict[str, float]:
    """Compute ``rad_bound``: the largest RAD of any attack, given these records' known columns.

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
        bounds = release.channel.rad_given(marginal, given) if exact else None
    elif release.table.size * view.n > MAX_LISTED or (not exact and marginal.size**2 > MAX_PAIRS):
        bounds = None
    else:
        counts = None if exact else _success_table(view, _all_values(view.prior, release.columns))
        bounds = rad_given(release.table, marginal, given, counts)
    return {} if bounds is None else {"rad_bound": float(bounds.mean())}


@dataclass(frozen=True, eq=False)
class Evidence:
    """L(u) for every record and joint value of the targets, and P̄, up to a factor a record."""

    likelihood: Floats
    overall: Floats


def multiply_prior(prior: Floats, evidence: Evidence) -> Floats:
    """The posterior of every joint value, (n, values).

    A record that cannot have sent its report (without noise, in another's place) has none.
    """
    posterior = prior * evidence.likelihood
    total = posterior.sum(axis=1, keepdims=True)
    return np.asarray(posterior / np.where(total > 0, total, 1.0))


def compute_evidence(view: AttackerView) -> Evidence:
    """Compute what a release with an exact channel says of every record under attack."""
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
    """Compute P(joint value) of the columns, the rest summed out."""
    chances = np.exp(prior.log_evidence(_all_values(prior, columns)))
    return np.asarray(chances / chances.sum())


def _all_values(prior: Prior, columns: tuple[str, ...]) -> Table:
    return Table.of_all_values(prior.domain.project(columns))


def _joint_values(view: AttackerView, release: LocalRelease | ChannelRelease) -> Codes:
    """The reported joint value that each record would have with each joint target value."""
    sizes = release.domain.project(release.columns).sizes
    strides = dict(
        zip(release.columns, [prod(sizes[i + 1 :]) for i in range(len(sizes))], strict=True)
    )
    every = Table.of_all_values(view.target_domain)
    hidden = np.zeros(len(every), dtype=np.int64)
    for name in view.targets:
        hidden += every.column(name) * strides[name]
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


def _skip_if_too_long(view: AttackerView, values: int) -> str | None:
    if not scores_by_record(view.metric):
        return f"optimal guesses record by record, which metric {view.metric.name} does not score"
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
    """Find the column of a largest number in every row, each equally likely."""
    ties = gains == gains.max(axis=1, keepdims=True)
    rank = np.ceil(ties.sum(axis=1) * (1 - rng.random(len(gains))))
    return np.asarray((ties.cumsum(axis=1) >= rank[:, None]).argmax(axis=1))
