"""Algorithm 1: it reaches Theorem 4.3, never passes it, and plays the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reconbench.attacks import AttackError, AttackerView, ExactMatch, Metric, WithinL1
from reconbench.attacks.imputation import Imputation
from reconbench.attacks.rad_optimal import (
    Optimal,
    argmax_at_random,
    compute_evidence,
)
from reconbench.bounds import ApproxDP, PureDP
from reconbench.bounds.rad import (
    GRR,
    OUE,
    FiniteChannel,
    LaplaceNoise,
    SubsetSelection,
    SupportChannel,
    rad_location,
)
from reconbench.datasets import BayNet, Domain, Table
from reconbench.mechanisms import GaussianMarginals, Mechanism
from reconbench.mechanisms.channels import ChannelRelease, sample_outputs
from reconbench.mechanisms.local.reports import (
    GRRReports,
    LocalReports,
    OneValue,
    OUEReports,
    Reports,
    SSReports,
    sample_reports,
)
from reconbench.mechanisms.sums import LaplaceSum, TruncatedLaplaceSum

CHANNELS = (GRR, OUE, SubsetSelection)
MECHANISMS = (GRRReports, OUEReports, SSReports)
# Standard errors that a seeded check allows: a false alarm in 1.6 million.
SURE = 5.0


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
    channel: FiniteChannel, guesses: ArrayLike, trials: int, rng: np.random.Generator
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
    prior: ArrayLike,
    trials: int,
    rng: np.random.Generator,
) -> Trials:
    """Algorithm 1 (η = 0, aux = ∅) against local reports of one of m values, in blocks.

    The best guess is the likeliest supported value; ties, and an empty report, are broken at
    random.
    """
    values = np.asarray(prior, dtype=np.float64)
    counts = np.zeros(2, dtype=np.int64)
    step = max(1, (1 << 22) // channel.size)
    for start in range(0, trials, step):
        target, other = _draws(values, (2, min(step, trials - start)), rng)
        for world, source in enumerate((target, other)):
            guess = likeliest_supported(sample_reports(channel, source, rng), values, rng)
            counts[world] += int((guess == target).sum())
    return Trials(trials, int(counts[0]), int(counts[1]))


def likeliest_supported(
    reports: Reports, prior: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
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


def _draws(
    prior: NDArray[np.float64], shape: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Values drawn from a prior."""
    below = prior.cumsum()
    places = np.searchsorted(below[:-1], rng.random(shape) * below[-1], side="right")
    return np.asarray(places, dtype=np.int64)


def random_game(seed: int) -> FiniteChannel:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    table = rng.dirichlet(np.full(int(rng.integers(2, 8)), 0.6), size=m).T
    success = (rng.random((int(rng.integers(2, 6)), m)) < 0.5).astype(float)
    return FiniteChannel(
        table,
        rng.dirichlet(np.full(m, rng.uniform(0.3, 3))),
        rng.integers(0, 3, m),
        success if rng.random() < 0.7 else None,
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_simulated_attack_reaches_the_bound_and_does_not_pass_it(seed: int) -> None:
    """Random channels, priors, aux maps and errors; 20,000 trials in each of two worlds."""
    channel, trials = random_game(seed), 20_000
    found = simulate_finite(channel, channel.optimal(), trials, np.random.default_rng(seed))
    # Two proportions with a variance of at most 1/4 each, whatever their dependence: sd ≤ 1/√n.
    assert abs(found.rad - channel.rad()) <= SURE / sqrt(trials)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_other_attacks_stay_below(seed: int) -> None:
    channel, trials = random_game(seed), 20_000
    rng = np.random.default_rng(seed)
    count = len(channel.prior) if channel.success is None else len(channel.success)
    guesses = rng.integers(0, count, channel.optimal().shape)
    found = simulate_finite(channel, guesses, trials, rng)
    assert channel.rad_of(guesses) <= channel.rad() + 1e-12
    assert abs(found.rad - channel.rad_of(guesses)) <= SURE / sqrt(trials)


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_local_reports_reach_the_bound(kind: type[GRR], epsilon: float) -> None:
    rng = np.random.default_rng(int(10 * epsilon))
    for m in (4, 30):
        prior, trials = rng.dirichlet(np.full(m, 0.5)), 100_000
        found = simulate_local(kind(epsilon, m), prior, trials, rng)
        assert abs(found.rad - kind(epsilon, m).rad(prior)) <= SURE / sqrt(trials)


@pytest.mark.parametrize("kind", CHANNELS)
def test_a_leaking_sampler_passes_the_bound(kind: type[GRR]) -> None:
    """Negative control: reports of ε = 3 held against the bound of ε = 1."""
    prior, trials = np.full(8, 1 / 8), 50_000
    found = simulate_local(kind(3.0, 8), prior, trials, np.random.default_rng(0))
    assert found.rad > kind(1.0, 8).rad(prior) + SURE / sqrt(trials)


def play(
    net: BayNet, mechanism: Mechanism, targets: tuple[str, ...], n: int, seed: int, metric: Metric
) -> tuple[AttackerView, AttackerView, Table]:
    """Views of both worlds: the targets took part, or other draws of the prior in their place."""
    rng = np.random.default_rng(seed)
    table, other = net.sample(n, rng), net.sample(n, rng)
    known = table.project([name for name in net.domain.names if name not in targets])
    views = [
        AttackerView(mechanism.release(each, rng), mechanism, known, targets, net, metric)
        for each in (table, other)
    ]
    return views[0], views[1], table.project(targets)


def exact_rad(
    net: BayNet, mechanism: LocalReports | Listed, targets: tuple[str, ...], eta: int
) -> float:
    """Theorem 4.3 with the whole joint domain listed: a(z) the known columns, ℓ on the targets."""
    domain = net.domain
    every = np.indices(domain.sizes).reshape(len(domain), -1).T
    prior = np.exp(net.log_prob(Table(domain, every)))
    part = Table(domain, every).project(mechanism.columns)
    value = np.ravel_multi_index(tuple(part.codes.T), part.domain.sizes)
    known = [i for i, name in enumerate(domain.names) if name not in targets]
    aux = np.ravel_multi_index(tuple(every[:, known].T), [domain.sizes[i] for i in known])
    hidden = Table(domain, every).project(targets)
    code = np.ravel_multi_index(tuple(hidden.codes.T), hidden.domain.sizes)
    guesses = np.arange(np.prod(hidden.domain.sizes))
    success = np.abs(guesses[:, None] - code) <= eta
    # The rows of a channel may be summed over in any order: blocks keep the table small.
    channel = mechanism.table if isinstance(mechanism, Listed) else mechanism.channel.matrix()
    full = channel[:, value]
    return FiniteChannel(full, prior / prior.sum(), aux, success.astype(float)).rad()


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize(("metric", "eta"), [(ExactMatch(), 0), (WithinL1(1), 1)])
def test_in_the_game_it_reaches_the_bound(
    toy_net: BayNet, kind: type[LocalReports], metric: Metric, eta: int
) -> None:
    """n independent targets at once; the exact RAD is for one of them on average."""
    mechanism = kind.for_budget(toy_net.domain, ("c",), 1.5, 0.0)
    n = 20_000
    part, replaced, truth = play(toy_net, mechanism, ("c",), n, 1, metric)
    rates = []
    for view in (part, replaced):
        found = Optimal().reconstruct(view, np.random.default_rng(2))
        rates.append(metric.score(truth, found.guess).mean())
    exact = exact_rad(toy_net, mechanism, ("c",), eta)
    assert exact > 0.05
    assert abs(rates[0] - rates[1] - exact) <= SURE / sqrt(n)


@dataclass(frozen=True)
class Listed:
    """Reports of some columns through a table, as a plugin would make them."""

    name: ClassVar[str] = "listed"

    domain: Domain
    columns: tuple[str, ...]
    table: np.ndarray

    @classmethod
    def for_budget(
        cls, domain: Domain, hidden: Sequence[str], epsilon: float, delta: float
    ) -> Listed:
        raise NotImplementedError

    @property
    def guarantee(self) -> PureDP:
        return PureDP(float(np.log(self.table.max(axis=1) / self.table.min(axis=1)).max()))

    @property
    def budget(self) -> ApproxDP:
        return ApproxDP(self.guarantee.epsilon, 0.0)

    def release(self, table: Table, rng: np.random.Generator) -> ChannelRelease:
        part = table.project(self.columns)
        values = np.ravel_multi_index(tuple(part.codes.T), part.domain.sizes)
        outputs = sample_outputs(self.table, values, rng)
        return ChannelRelease(self.domain, self.columns, self.table, outputs)

    def facts(self) -> dict[str, float]:
        return {}


@pytest.mark.parametrize(
    ("columns", "metric", "eta"),
    [(("c",), ExactMatch(), 0), (("c",), WithinL1(1), 1), (("b", "c", "e"), ExactMatch(), 0)],
)
def test_any_listed_channel_in_the_game(
    toy_net: BayNet, columns: tuple[str, ...], metric: Metric, eta: int
) -> None:
    """A random channel of the hidden column, or of others with it: Theorem 4.3 is reached."""
    rng = np.random.default_rng(21)
    size = int(np.prod(toy_net.domain.project(columns).sizes))
    mechanism = Listed(toy_net.domain, columns, rng.dirichlet(np.full(7, 0.5), size=size).T)
    n = 20_000
    part, replaced, truth = play(toy_net, mechanism, ("c",), n, 22, metric)
    found = [Optimal().reconstruct(view, np.random.default_rng(23)) for view in (part, replaced)]
    rates = [metric.score(truth, each.guess).mean() for each in found]
    exact = exact_rad(toy_net, mechanism, ("c",), eta)
    assert exact > 0.05
    assert abs(rates[0] - rates[1] - exact) <= SURE / sqrt(n)
    hits, scores = metric.score(truth, found[0].guess), found[0].scores
    assert scores is not None
    assert abs(hits.sum() - scores.sum()) <= SURE * sqrt(float((scores * (1 - scores)).sum()))
    # the bound of these known columns, whose mean over many is the bound of all
    if columns == ("c",):
        assert found[0].info["rad_bound"] == pytest.approx(exact, rel=0.02)
    else:
        assert "rad_bound" not in found[0].info


def test_whole_records_in_the_game(toy_net: BayNet) -> None:
    mechanism = GRRReports.for_budget(toy_net.domain, ("c",), 4.0, 0.0, record=True)
    n = 20_000
    part, replaced, truth = play(toy_net, mechanism, ("c",), n, 3, ExactMatch())
    rates = [
        ExactMatch().score(truth, Optimal().reconstruct(v, np.random.default_rng(4)).guess).mean()
        for v in (part, replaced)
    ]
    exact = exact_rad(toy_net, mechanism, ("c",), 0)
    assert abs(rates[0] - rates[1] - exact) <= SURE / sqrt(n)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_scores_are_the_chance_of_success(toy_net: BayNet, kind: type[LocalReports]) -> None:
    """Posterior chances add up to the successes, and the best possible is above them."""
    mechanism = kind.for_budget(toy_net.domain, ("c", "d"), 2.0, 0.0)
    n = 20_000
    view, _, truth = play(toy_net, mechanism, ("c", "d"), n, 5, ExactMatch())
    found = Optimal().reconstruct(view, np.random.default_rng(6))
    hits = ExactMatch().score(truth, found.guess)
    assert found.scores is not None and found.best_possible is not None
    spread = sqrt(float((found.scores * (1 - found.scores)).sum()))
    assert abs(hits.sum() - found.scores.sum()) <= SURE * spread
    assert found.best_possible.expected >= found.scores.sum() - 1e-9
    # The Bayes-optimal guess, by the posterior written out.
    evidence = compute_evidence(view)
    posterior = (
        view.prior.conditional(view.known, view.targets).reshape(n, -1) * evidence.likelihood
    )
    best = (posterior.max(axis=1) / posterior.sum(axis=1)).sum()
    assert found.best_possible.expected == pytest.approx(best)


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.3, 1.5, 6.0])
def test_bound_for_known_columns(toy_net: BayNet, kind: type[LocalReports], epsilon: float) -> None:
    """The closed form, averaged over all known columns, is Theorem 4.3 on the joint domain."""
    net, targets = toy_net, ("c", "d")
    mechanism = kind.for_budget(net.domain, targets, epsilon, 0.0)
    domain = net.domain.project(["a", "b", "e"])
    known = Table(domain, np.indices(domain.sizes).reshape(3, -1).T)
    chances = np.exp(net.log_evidence(known))
    hidden = net.domain.project(targets)
    every = Table(hidden, np.indices(hidden.sizes).reshape(2, -1).T)
    prior = np.exp(net.log_evidence(every))
    given = net.conditional(known, targets).reshape(len(known), -1)
    found = mechanism.channel.rad_given(prior / prior.sum(), given)
    exact = exact_rad(net, mechanism, targets, 0)
    assert float(chances @ found) == pytest.approx(exact, abs=1e-12)
    release = mechanism.release(net.sample(5, np.random.default_rng(0)), np.random.default_rng(1))
    some = Table(domain, known.codes[:5])
    view = AttackerView(release, mechanism, some, targets, net, ExactMatch())
    info = Optimal().reconstruct(view, np.random.default_rng(2)).info
    assert info["rad_bound"] == pytest.approx(found[:5].mean())


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("record", [False, True])
def test_without_noise(toy_net: BayNet, kind: type[LocalReports], record: bool) -> None:
    """ε = inf: every report that names its value is read; an empty one (half of OUE's) is not."""
    mechanism = kind.for_budget(toy_net.domain, ("c",), inf, 0.0, record=record)
    part, replaced, truth = play(toy_net, mechanism, ("c",), 2000, 13, ExactMatch())
    found = Optimal().reconstruct(part, np.random.default_rng(0))
    hits = ExactMatch().score(truth, found.guess)
    assert found.scores is not None
    if kind is OUEReports:
        assert hits[found.scores == 1].all() and 0.4 < (found.scores == 1).mean() < 0.6
    else:
        assert hits.all() and (found.scores == 1).all()
    other = Optimal().reconstruct(replaced, np.random.default_rng(0))
    assert other.scores is not None and np.isfinite(other.scores).all()


def test_order_of_the_targets_does_not_matter(toy_net: BayNet) -> None:
    mechanism = SSReports.for_budget(toy_net.domain, ("d", "c"), 1.0, 0.0)
    view, _, _ = play(toy_net, mechanism, ("d", "c"), 50, 14, ExactMatch())
    there = compute_evidence(view).likelihood.reshape(50, 2, 4)
    back = compute_evidence(replace(view, targets=("c", "d"))).likelihood.reshape(50, 4, 2)
    np.testing.assert_array_equal(there, back.transpose(0, 2, 1))


def test_imputation_has_no_advantage(toy_net: BayNet) -> None:
    """It never reads the release: the same guesses in both worlds, so its RAD is 0 exactly."""
    mechanism = GRRReports.for_budget(toy_net.domain, ("c",), 5.0, 0.0)
    part, replaced, truth = play(toy_net, mechanism, ("c",), 2000, 7, ExactMatch())
    guesses = [
        Imputation(records=2000).reconstruct(view, np.random.default_rng(8)).guess
        for view in (part, replaced)
    ]
    assert guesses[0] == guesses[1]
    rate = ExactMatch().score(truth, guesses[0]).mean()
    assert rate > 0.3  # a success that ReRo would count as risk
    reports = [Optimal().reconstruct(v, np.random.default_rng(9)).guess for v in (part, replaced)]
    assert reports[0] != reports[1]


@pytest.mark.parametrize("kind", [LaplaceSum, TruncatedLaplaceSum])
def test_informed_adversary_on_a_noisy_sum(toy_net: BayNet, kind: type[LaplaceSum]) -> None:
    """The gain of its guess, integrated over the answers, is Theorem 4.3.

    Of the target only column e is known, which is independent of the hidden c.
    """
    rng = np.random.default_rng(10)
    net = toy_net
    mechanism = kind.for_budget(net.domain, ("c",), 3.0, 0.0)
    others = net.sample(4, rng)
    known = net.sample(1, rng).project(["e"])
    prior = np.exp(net.log_evidence(Table(net.domain.project(["c"]), np.arange(4)[:, None])))
    base = mechanism.release(net.sample(5, rng), rng)
    rest = float(mechanism.values[others.column("c")].sum())
    left, right = base.clamp or (rest - 15.0, rest + 18.0)
    answers = np.linspace(left, right, 801)

    def gain(answer: float) -> float:
        release = replace(base, answer=answer)
        view = AttackerView(release, mechanism, known, ("c",), net, ExactMatch(), others)
        guess = Optimal().reconstruct(view, rng).guess.codes[0, 0]
        chances = release.likelihoods(rest)
        return float(prior[guess] * (chances[guess] - chances @ prior))

    ends = None if base.clamp is None else (left - rest, right - rest)
    exact = rad_location(LaplaceNoise(1.0), mechanism.values, prior, clamp=ends)
    inner = [gain(answer) for answer in answers[1:-1]]
    total = float(np.sum(inner) * (answers[1] - answers[0]))
    # The two ends are single outputs where the answer is cut off, and negligible elsewhere.
    total += gain(answers[0]) + gain(answers[-1])
    assert total == pytest.approx(exact.low, abs=2e-3)


def test_skips_what_it_cannot_play(toy_net: BayNet) -> None:
    rng = np.random.default_rng(11)
    table = toy_net.sample(6, rng)
    known = table.project(["a", "b", "d", "e"])
    marginals = GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    grr = GRRReports.for_budget(toy_net.domain, ("c",), 1.0, 0.0)
    total = LaplaceSum.for_budget(toy_net.domain, ("c",), 1.0, 0.0)

    def view(mechanism: Mechanism, others: Table | None = None) -> AttackerView:
        release = mechanism.release(table, rng)
        return AttackerView(release, mechanism, known, ("c",), toy_net, ExactMatch(), others)

    assert "no finite channel" in (Optimal().skip(view(marginals)) or "")
    assert "realistic adversary" in (Optimal().skip(view(grr, table)) or "")
    assert "informed adversary" in (Optimal().skip(view(total)) or "")
    assert Optimal().skip(view(grr)) is None and Optimal().skip(view(total, table)) is None
    with pytest.raises(AttackError, match="no finite channel"):
        Optimal().reconstruct(view(marginals), rng)


def test_ties_are_broken_at_random() -> None:
    gains = np.tile([[0.0, 1.0, 1.0, 1.0, 0.5]], (30_000, 1))
    found = argmax_at_random(gains, np.random.default_rng(12))
    counts = np.bincount(found, minlength=5)
    assert counts[0] == counts[4] == 0
    assert (np.abs(counts[1:4] - 10_000) < SURE * sqrt(30_000 * 2 / 9)).all()


def test_likeliest_supported_value() -> None:
    prior = np.array([0.1, 0.6, 0.3])
    reports = OneValue(np.array([2, 0, 1]))
    guess = likeliest_supported(reports, prior, np.random.default_rng(0))
    np.testing.assert_array_equal(guess, [2, 0, 1])
