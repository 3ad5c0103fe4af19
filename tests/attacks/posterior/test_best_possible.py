"""The best possible success against enumeration: its error, and the attack's whole distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from reconbench.attacks import AttackerView, BestPossible
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.posterior.posteriors import BATCHES, estimate_error
from reconbench.attacks.rap.problem import require_marginals
from reconbench.bounds import CompactTail, PoissonBinomial
from reconbench.bounds.ceilings.compact_tail import mixture_quantile
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]
Enumerate = Callable[[AttackerView], tuple[np.ndarray, np.ndarray]]

pytestmark = pytest.mark.usefixtures("by_chains")
Floats = np.ndarray


def compute_marginals(tables: Floats, weights: Floats) -> Floats:
    values = np.arange(tables.max() + 1)
    return np.array([[weights[column == v].sum() for v in values] for column in tables.T])


def attack(view: AttackerView, seed: int, sweeps: int = 200) -> BestPossible:
    best = Posterior(sweeps=sweeps).reconstruct(view, np.random.default_rng(seed)).best_possible
    assert best is not None and best.converged
    return best


SMALL = ((("c",), 3, 4), (("c",), 1, 4), (("a",), 2, 5), (("d",), 2, 6), (("a", "d"), 3, 3))


@pytest.mark.slow
def test_the_error_is_that_of_enumerable_games(
    make_view: MakeView, enumerate_tables: Enumerate
) -> None:
    """z² of 60 games has a mean between 1 and 15/13, with a standard error of some 0.25: within
    [0.5, 2.1] but for one time in 2,000. Half the error is noticed."""
    squares = []
    for (targets, k, n), epsilon, seed in product(SMALL, (1.0, 3.0, 10.0), range(4)):
        view, _ = make_view(targets, k=k, epsilon=epsilon, n=n, seed=seed)
        exact = compute_marginals(*enumerate_tables(view)).max(axis=1).sum()
        found = attack(view, 100 + seed)
        squares.append(((found.expected - exact) / found.error) ** 2)
    assert 0.5 < np.mean(squares) < 2.1
    assert 4 * np.mean(squares) > 2.1


def simulate_z(chain_sd: float, batch_count: int = BATCHES, runs: int = 20_000) -> Floats:
    """Of four chains of normal batches, whose true mean is 0, with an effect of each chain."""
    rng = np.random.default_rng(0)
    batches = rng.normal(size=(runs, 4, batch_count)) + chain_sd * rng.normal(size=(runs, 4, 1))
    means = batches.mean(axis=2)
    errors = [estimate_error(own, cut) for own, cut in zip(means, batches, strict=True)]
    return np.asarray(means.mean(axis=1) / np.array(errors))


def test_independent_batches_give_a_steady_error() -> None:
    """20,000 runs: shares below are known to 0.002. The chains' own spread is the control."""
    z = simulate_z(0.0)
    assert np.mean(z**2) == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(z) > 1.96) < 0.08
    of_chains_alone = simulate_z(0.0, batch_count=1)
    assert np.mean(np.abs(of_chains_alone) > 1.96) == pytest.approx(0.145, abs=0.01)


def test_chains_that_mix_slowly_are_judged_by_their_own_spread() -> None:
    """Student's t with 3 degrees of freedom exceeds 3.18 in 5 %."""
    z = simulate_z(chain_sd=5.0)
    assert np.mean(np.abs(z) > 3.182) == pytest.approx(0.05, abs=0.01)
    assert np.all(np.isfinite(simulate_z(1.0)))


@pytest.mark.parametrize(("targets", "k", "n"), SMALL)
def test_successes_are_distributed_as_enumerated(
    make_view: MakeView,
    enumerate_tables: Enumerate,
    targets: tuple[str, ...],
    k: int,
    n: int,
) -> None:
    """800 tables: were one in four worth a draw of its own, 0.12 would be 3.4 standard errors at
    the middle and 5 at the tail, where guesses nearly tie or not."""
    for seed in range(2):
        view, _ = make_view(targets, k=k, epsilon=10.0, n=n, seed=seed)
        tables, weights = enumerate_tables(view)
        guess = compute_marginals(tables, weights).argmax(axis=1)
        counts = (tables == guess).sum(axis=1)
        exact = np.array([weights[counts >= v].sum() for v in range(n + 1)])
        found = attack(view, seed, sweeps=800).successes
        assert found is not None
        assert np.abs(found.tail(np.arange(n + 1)) - exact).max() < 0.12


def test_records_that_depend_on_each_other_are_no_poisson_binomial(
    make_view: MakeView, enumerate_tables: Enumerate
) -> None:
    """Of nearly exact one-way marginals only the assignment is unknown: one wrong guess makes two.
    The negative control is the sum of independent successes with the same chances."""
    worst, control = 0.0, 0.0
    for seed in range(4):
        view, _ = make_view(("c",), k=1, epsilon=300.0, n=5, seed=seed)
        tables, weights = enumerate_tables(view)
        marginals = compute_marginals(tables, weights)
        counts = (tables == marginals.argmax(axis=1)).sum(axis=1)
        exact = np.array([weights[counts >= v].sum() for v in range(view.n + 1)])
        found = attack(view, seed, sweeps=800).successes
        assert found is not None
        worst = max(worst, np.abs(found.tail(np.arange(view.n + 1)) - exact).max())
        alone = PoissonBinomial(np.minimum(marginals.max(axis=1), 1.0)).tails[: view.n + 1]
        control = max(control, np.abs(alone - exact).max())
    assert worst < 0.12 < control


def predict(make_view: MakeView, claimed: float) -> tuple[list[CompactTail], Floats]:
    """What 200 attacks predict of their successes, and what they get, when they take the noise to
    be ``claimed`` times what it is."""
    tails, got = [], []
    for seed in range(200):
        view, truth = make_view(epsilon=(3.0, 10.0)[seed % 2], n=20, seed=5_000 + seed)
        release = require_marginals(view.release)
        view = replace(view, release=replace(release, noise_sd=claimed * release.noise_sd))
        found = Posterior(sweeps=100).reconstruct(view, np.random.default_rng(seed))
        if found.best_possible is not None and found.best_possible.successes is not None:
            tails.append(found.best_possible.successes)
            got.append(int(view.metric.score(truth, found.guess).sum()))
    assert len(tails) > 180
    return tails, np.array(got)


@pytest.mark.slow
def test_raw_successes_exceed_the_quantile_as_often_as_it_says(make_view: MakeView) -> None:
    """5 % + 4 standard errors of 200 games is 11 %; a rank has mean 1/2 within 4 standard errors,
    0.082: false alarms below 1e-4. An attacker who believes in half the noise is too sure."""
    tails, got = predict(make_view, 1.0)
    assert np.mean(got > mixture_quantile(tails, 0.95)) < 0.11
    assert np.mean(got > mixture_quantile(tails, 0.5)) > 0.2

    def mean_rank(tails: list[CompactTail], got: Floats) -> float:
        pairs = zip(tails, got, strict=True)
        return float(np.mean([(t.tail(v) + t.tail(v + 1)) / 2 for t, v in pairs]))

    assert abs(mean_rank(tails, got) - 0.5) < 0.082
    assert abs(mean_rank(*predict(make_view, 0.5)) - 0.5) > 0.082


def test_the_quantile_of_a_mixture_by_hand() -> None:
    never, always = (CompactTail.of_draws(3, [value]) for value in (0, 3))
    assert mixture_quantile([never], 0.95) == 0 and mixture_quantile([always], 0.95) == 3
    # P[S > 0] = 1/20 exactly: allowed.
    assert mixture_quantile([*[never] * 19, always], 0.95) == 0
    assert mixture_quantile([*[never] * 18, always], 0.95) == 3
    assert CompactTail.of_draws(3, [0, 1, 1, 3]).tail([0, 1, 2, 3, 4]).tolist() == [
        *(1.0, 0.75, 0.25, 0.25, 0.0)
    ]
    with pytest.raises(ValueError, match="between 0 and n = 3"):
        CompactTail.of_draws(3, [5])
    with pytest.raises(ValueError, match="same number of targets"):
        mixture_quantile([never, CompactTail.of_draws(4, [0])], 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("targets", [("c",), ("a", "d")])
def test_chains_that_agree_are_right(
    make_view: MakeView, enumerate_tables: Enumerate, targets: tuple[str, ...]
) -> None:
    """Hard games whose tables can be listed: from little noise to nearly none, where tables that
    fit about as well lie far apart. At most 1 % of those that call themselves converged may be
    further from the optimum than five stated errors and 0.05 records."""
    converged, wrong = count_wrong(make_view, enumerate_tables, targets, games=60)
    assert converged >= 40
    assert wrong == 0
    # the negative control: chains that take the noise for four times what it is
    assert count_wrong(make_view, enumerate_tables, targets, games=20, claimed=4.0)[1] > 2


def count_wrong(
    make_view: MakeView,
    enumerate_tables: Enumerate,
    targets: tuple[str, ...],
    games: int,
    claimed: float = 1.0,
) -> tuple[int, int]:
    """How many games call themselves converged, and how many of these are wrong."""
    converged = wrong = 0
    for seed in range(games):
        epsilon = (30.0, 100.0, 300.0, 1_000.0)[seed % 4]
        view, _ = make_view(targets, k=1 + seed % 2, epsilon=epsilon, n=4, seed=seed)
        optimum = compute_marginals(*enumerate_tables(view)).max(axis=1).sum()
        release = require_marginals(view.release)
        believed = replace(view, release=replace(release, noise_sd=claimed * release.noise_sd))
        sampled = Posterior(sweeps=100).sample(believed, np.random.default_rng(seed))
        best = sampled.estimate_best_possible(view)
        converged += best.converged
        wrong += best.converged and abs(best.expected - optimum) > 5 * best.error + 0.05
    return converged, wrong
