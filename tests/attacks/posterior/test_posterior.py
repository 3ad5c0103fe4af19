from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from math import inf
from typing import Any

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.baselines import PriorGuess, RandomGuess
from reconbench.attacks.posterior import cell_model, chains, gibbs, gram_model, posterior
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.counts.model import CountModel
from reconbench.attacks.posterior.draws.model import DrawModel
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.joint.model import JointModel
from reconbench.attacks.posterior.posterior import Model, Plan, Posterior
from reconbench.attacks.posterior.posteriors import ColumnPosteriors
from reconbench.attacks.rap.problem import require_marginals
from reconbench.attacks.rap.rap import Rap
from reconbench.datasets import Table
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = np.ndarray


def enumerated(view: AttackerView) -> Floats:
    """Every hidden table, one by one: the posterior of each record's joint value, (n, values)."""
    release = require_marginals(view.release)
    values = list(product(*(range(size) for size in view.target_domain.sizes)))
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    tables = list(product(range(len(values)), repeat=view.n))
    heights = np.empty(len(tables))
    for t, choice in enumerate(tables):
        hidden = Table(view.target_domain, np.array([values[c] for c in choice]))
        table = view.known.join(hidden).project(release.domain.names)
        error = sum(
            ((marginal_counts(table, columns) - answer) ** 2).sum()
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        likely = prior[np.arange(view.n), list(choice)]
        heights[t] = np.log(likely).sum() - error / (2 * release.noise_sd**2)
    weights = np.exp(heights - heights.max())
    result = np.zeros(prior.shape)
    for choice, weight in zip(tables, weights / weights.sum(), strict=True):
        result[np.arange(view.n), list(choice)] += weight
    return result


def ran(view: AttackerView, form: type, sweeps: int, ladder: Floats) -> Model:
    """Two chains of the given form at the given inverse noise variances."""
    model: Model = form(view, Evidence.of(view))
    plan = Plan(ladder, np.geomspace(ladder[0], ladder[-1], 60), (sweeps // 2,))
    Posterior(chains=2).run(view, model, plan, np.random.default_rng(3))
    return model


def sampled(view: AttackerView, form: type, sweeps: int, levels: int = 1) -> Floats:
    """The posteriors from two chains, at one or several levels; of joint values as counted."""
    weight = require_marginals(view.release).noise_sd ** -2
    model = ran(view, form, sweeps, weight * np.linspace(1 / levels, 1, levels))
    found = model.posteriors()
    if isinstance(found, ColumnPosteriors):
        return np.asarray(found.chances.mean(axis=0)[found.group])
    sizes = view.target_domain.sizes
    result = np.zeros((view.n, int(np.prod(sizes))))
    for flat, codes in enumerate(product(*(range(size) for size in sizes))):
        guess = np.tile(codes, (view.n, 1))
        result[:, flat] = np.mean([found.success(c, guess) for c in range(2)], axis=0)
    return result


@pytest.mark.parametrize("form", [GramModel, CellModel, CountModel])
@pytest.mark.parametrize(
    ("targets", "k", "epsilon", "n"),
    [(("c",), 3, 3.0, 4), (("c",), 1, 10.0, 4), (("a",), 5, 30.0, 4), (("d",), 2, 100.0, 4)],
)
def test_one_column_is_the_enumerated_posterior(
    make_view: MakeView, form: type, targets: tuple[str, ...], k: int, epsilon: float, n: int
) -> None:
    """6,000 sweeps: were only one in two worth a draw of its own, the standard error would be
    below 0.01 (Rao-Blackwell averages do better), so 0.05 is five of them."""
    for seed in range(2):
        view, _ = make_view(targets, k=k, epsilon=epsilon, n=n, seed=seed)
        assert np.abs(sampled(view, form, 6_000) - enumerated(view)).max() < 0.05


@pytest.mark.parametrize(
    ("form", "weak"),
    [(CellModel, 0.0), (CellModel, inf), (DrawModel, inf)],
    ids=["columns and blocks", "blocks alone", "followed draws"],
)
@pytest.mark.parametrize(
    ("targets", "k", "epsilon", "n", "left_out"),
    [
        (("a", "b"), 3, 10.0, 3, ()),
        (("c", "d"), 2, 30.0, 3, ()),
        (("a", "b", "d"), 3, 30.0, 2, ()),
        (("a", "b"), 3, 10.0, 3, ("c",)),
        (("c", "d"), 2, 30.0, 3, ("a", "b")),
        (("a", "b", "d"), 3, 30.0, 2, ("c",)),
    ],
)
def test_several_columns_are_the_enumerated_posterior(
    make_view: MakeView,
    monkeypatch: pytest.MonkeyPatch,
    targets: tuple[str, ...],
    k: int,
    epsilon: float,
    n: int,
    left_out: tuple[str, ...],
    form: type,
    weak: float,
) -> None:
    """3,000 sweeps: with one in three worth a draw of its own, 0.08 is five standard errors.

    Draws alone are for weak evidence.
    """
    epsilon = min(epsilon, 10.0) if form is DrawModel else epsilon
    view, _ = make_view(targets, k=k, epsilon=epsilon, n=n, seed=1, left_out=left_out)
    monkeypatch.setattr(cell_model, "WEAK", weak)
    assert np.abs(sampled(view, form, 3_000) - enumerated(view)).max() < 0.08


@pytest.mark.parametrize(
    ("targets", "k", "epsilon", "n", "left_out"),
    [
        (("a", "b"), 3, 10.0, 3, ()),
        (("c", "d"), 2, 30.0, 3, ()),
        (("a", "b", "d"), 3, 30.0, 2, ("c",)),
        (("a", "b", "c", "d"), 3, 30.0, 1, ()),
    ],
)
def test_joint_values_are_the_enumerated_posterior(
    make_view: MakeView,
    targets: tuple[str, ...],
    k: int,
    epsilon: float,
    n: int,
    left_out: tuple[str, ...],
) -> None:
    view, _ = make_view(targets, k=k, epsilon=epsilon, n=n, seed=1, left_out=left_out)
    assert np.abs(sampled(view, JointModel, 3_000) - enumerated(view)).max() < 0.08
    assert np.abs(sampled(view, JointModel, 3_000, levels=3) - enumerated(view)).max() < 0.08


@pytest.mark.parametrize("targets", [("a", "c"), ("d", "b", "a")])
def test_joint_sums_and_errors_stay_right(make_view: MakeView, targets: tuple[str, ...]) -> None:
    """After many sweeps the running sums are those of the table reached."""
    view, _ = make_view(targets, epsilon=10.0, n=15)
    release = require_marginals(view.release)
    model, rng = JointModel(view, Evidence.of(view)), np.random.default_rng(0)
    model.start(1, 2, rng)
    for _ in range(20):
        errors = model.sweep(np.arange(2)[None], np.array([0.01, 0.1]), rng)
    for error, codes in zip(errors, model.tables(np.arange(2)), strict=True):
        table = view.known.join(Table(view.target_domain, codes)).project(release.domain.names)
        expected = sum(
            ((marginal_counts(table, columns) - answer) ** 2).sum()
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        assert error == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("form", "targets", "epsilon", "n"),
    [
        (GramModel, ("c",), 30.0, 4),
        (CellModel, ("c",), 30.0, 4),
        (CountModel, ("c",), 30.0, 4),
        (DrawModel, ("a", "b"), 10.0, 3),
    ],
)
def test_tempering_leaves_the_posterior_as_it_is(
    make_view: MakeView, form: type, targets: tuple[str, ...], epsilon: float, n: int
) -> None:
    view, _ = make_view(targets, epsilon=epsilon, n=n, seed=5)
    assert np.abs(sampled(view, form, 3_000, levels=4) - enumerated(view)).max() < 0.06


def test_a_wrong_noise_level_is_noticed(make_view: MakeView) -> None:
    """The negative control: half the noise scale is not the same posterior."""
    view, _ = make_view(("c",), epsilon=10.0, n=4, seed=0)
    model = ran(
        view, GramModel, 10_000, np.array([4 / require_marginals(view.release).noise_sd ** 2])
    )
    found = model.posteriors()
    assert isinstance(found, ColumnPosteriors)
    assert np.abs(found.chances[:, found.group] - enumerated(view)).max() > 0.1


@pytest.mark.parametrize("targets", [("c",), ("a", "c"), ("d", "b", "a")])
def test_residuals_and_errors_stay_right(make_view: MakeView, targets: tuple[str, ...]) -> None:
    """After many sweeps the running sums are those of the table reached."""
    view, _ = make_view(targets, epsilon=10.0, n=15)
    release = require_marginals(view.release)
    model, rng = CellModel(view, Evidence.of(view)), np.random.default_rng(0)
    model.start(1, 2, rng)
    for _ in range(20):
        errors = model.sweep(np.arange(2)[None], np.array([0.01, 0.1]), rng)
    for r in range(2):
        table = Table(release.domain, model._codes[r])
        expected = sum(
            ((marginal_counts(table, columns) - answer) ** 2).sum()
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        assert errors[r] == pytest.approx(expected, rel=1e-9)
        assert table.project(view.known.domain.names) == view.known


def test_forms_take_the_same_path(make_view: MakeView) -> None:
    """Same uniforms, same draws: the Gram and the residual form are one sampler."""
    view, _ = make_view(("c",), epsilon=10.0, n=30)
    gram, cell = GramModel(view, Evidence.of(view)), CellModel(view, Evidence.of(view))
    for model in (gram, cell):
        model.start(1, 1, np.random.default_rng(2))
    for i, value in enumerate(gram._x[0]):
        gibbs.move(
            cell._codes[0],
            cell._residual[0],
            cell._columns,
            cell._strides,
            cell._offsets,
            cell._scales,
            cell._sets[0],
            i,
            2,
            value,
        )
    weight, rng = require_marginals(view.release).noise_sd ** -2, np.random.default_rng(4)
    for _ in range(50):
        uniforms, order = rng.random(view.n), rng.permutation(view.n)
        fixed = gram._gram, gram._gathered, gram._row, gram._log_prior
        state = gram._x[0], gram._pulled[0]
        gibbs.gram_sweep(*fixed, *state, weight, order, uniforms, gram._chances[0])
        layout = cell._columns, cell._strides, cell._offsets, cell._scales, cell._sets[0], 2
        gibbs.cell_sweep(
            cell._codes[0],
            cell._residual[0],
            *layout,
            gram._log_prior,
            weight,
            order,
            uniforms,
            cell._chances[0],
        )
        assert np.array_equal(gram._x[0], cell._codes[0, :, 2])


def plain(function: Any) -> Any:
    """What a compiled function was written as."""
    return getattr(function, "py_func", function)


def test_compiled_rounds_are_their_plain_twins(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, _ = make_view(("c",), epsilon=10.0, n=20)
    at, weights = np.arange(6).reshape(2, 3), np.array([0.02, 0.1, 0.4])
    results = []
    for _ in range(2):
        model, rng = GramModel(view, Evidence.of(view)), np.random.default_rng(2)
        model.start(2, 3, rng)
        for _ in range(5):
            errors = model.sweep(at, weights, rng)
        results.append((errors, model._x.copy(), model._chances.copy()))
        monkeypatch.setattr(gram_model, "gram_round", plain(gibbs.gram_round))
        for name in ("normalise", "pick", "gram_odds", "gram_swap", "gram_sweep", "gram_trades"):
            monkeypatch.setattr(gibbs, name, plain(getattr(gibbs, name)))
    for one, other in zip(*results, strict=True):
        assert np.allclose(one, other)


@pytest.mark.parametrize("targets", [("c",), ("a", "c")])
def test_records_known_to_be_alike_share_their_posterior(
    make_view: MakeView, targets: tuple[str, ...]
) -> None:
    view, _ = make_view(targets, epsilon=30.0, n=40)
    found = Posterior(sweeps=20, rounds=1).reconstruct(view, np.random.default_rng(0))
    assert found.scores is not None
    _, group = np.unique(view.known.codes, axis=0, return_inverse=True)
    for g in np.unique(group):
        same = group.ravel() == g
        assert len(np.unique(found.guess.codes[same], axis=0)) == 1
        assert np.ptp(found.scores[same]) < 1e-12


def test_chains_that_disagree_go_on(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    view, _ = make_view(epsilon=10.0)
    monkeypatch.setattr(posterior, "RHAT_LIMIT", 0.0)
    found = Posterior(sweeps=20, rounds=3).reconstruct(view, np.random.default_rng(0))
    assert found.info["sweeps"] == 80
    assert found.best_possible is not None and not found.best_possible.converged
    monkeypatch.setattr(posterior, "WORK", 0)
    found = Posterior(sweeps=50, rounds=3).reconstruct(view, np.random.default_rng(0))
    assert found.info["sweeps"] == posterior.FEWEST_SWEEPS


def calibrated(make_view: MakeView, claimed: float) -> bool:
    """Whether guesses of score p are right a share p of the time, in each of six bins.

    300 games of 20 records, in which the attacker takes the noise to be ``claimed`` times what it
    is. Records of a game share noise, which at most doubles the variance of a bin.
    """
    scores, right = [], []
    for seed in range(300):
        view, truth = make_view(epsilon=(3.0, 10.0, 30.0)[seed % 3], n=20, seed=1_000 + seed)
        release = replace(
            require_marginals(view.release),
            noise_sd=claimed * require_marginals(view.release).noise_sd,
        )
        view = replace(view, release=release)
        found = Posterior(sweeps=100).reconstruct(view, np.random.default_rng(seed))
        assert found.scores is not None
        scores.append(found.scores)
        right.append(view.metric.score(truth, found.guess))
    score, hit = np.concatenate(scores), np.concatenate(right)
    edges = (0.25, 0.5, 0.65, 0.75, 0.85, 0.95, 1.0)
    good = True
    for low, high in pairwise(edges):
        inside = (score > low) & (score <= high)
        p, count = score[inside].mean(), inside.sum()
        assert count > 100
        good &= bool(abs(hit[inside].mean() - p) < 5 * np.sqrt(2 * p * (1 - p) / count) + 0.005)
    return good


def test_posteriors_are_calibrated(make_view: MakeView) -> None:
    """Six bins within 5 standard errors: false alarms below 1e-5. Half the noise is noticed."""
    assert calibrated(make_view, 1.0)
    assert not calibrated(make_view, 0.5)


@pytest.mark.parametrize("targets", [("c",), ("a", "c"), ("a", "b", "c", "d")])
def test_without_evidence_it_is_the_prior(make_view: MakeView, targets: tuple[str, ...]) -> None:
    """At ε = 0.001 the posterior is the prior; a guess may differ where two values nearly tie."""
    view, _ = make_view(targets, epsilon=1e-3)
    best, success = view.metric.best_guess(view.prior, view.known, view.targets)
    found = Posterior().reconstruct(view, np.random.default_rng(0))
    reached = view.metric.prior_success(view.prior, view.known, found.guess)
    assert reached.sum() > 0.97 * success.sum()
    if len(targets) == 1:
        assert found.guess == best
        assert found.best_possible is not None and found.best_possible.converged
        assert found.best_possible.expected == pytest.approx(success.sum(), rel=1e-2)


@pytest.mark.usefixtures("by_chains")
def test_the_metric_decides_the_guess(make_view: MakeView) -> None:
    """Within L1 error 1 of four ordered values: the score is the mass of the window."""
    view, _ = make_view(metric=WithinL1(1), n=4)
    exact = enumerated(view)
    found = Posterior(sweeps=5_000).reconstruct(view, np.random.default_rng(0))
    window = np.array([[abs(u - v) <= 1 for u in range(4)] for v in range(4)])
    assert found.scores is not None
    assert np.allclose(found.scores, (exact @ window).max(axis=1), atol=0.02)


@pytest.mark.parametrize("targets", [("c",), ("a", "c")])
def test_same_seed_same_guess(make_view: MakeView, targets: tuple[str, ...]) -> None:
    view, _ = make_view(targets, epsilon=3.0)
    twice = [Posterior().reconstruct(view, np.random.default_rng(4)) for _ in range(2)]
    assert twice[0].guess == twice[1].guess and twice[0].info == twice[1].info
    assert twice[0].scores is not None and twice[1].scores is not None
    assert np.array_equal(twice[0].scores, twice[1].scores)


def test_long_tables_are_sampled_by_counts(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, _ = make_view(epsilon=10.0, n=60)
    one = Posterior(sweeps=800).reconstruct(view, np.random.default_rng(0))
    monkeypatch.setattr(posterior, "GRAM_LIMIT", 50)
    other = Posterior(sweeps=800).reconstruct(view, np.random.default_rng(1))
    assert one.best_possible is not None and other.best_possible is not None
    assert one.best_possible.expected == pytest.approx(other.best_possible.expected, rel=0.03)


def test_diagnostics() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(4, 1_000))
    assert chains.split_rhat(good) < 1.02
    assert chains.effective_size(good) > 400
    apart = good + np.arange(4)[:, None] * 3
    assert chains.split_rhat(apart) > 1.5
    assert chains.effective_size(apart) < 20
    assert chains.split_rhat(np.ones((4, 10))) == 1.0
    assert chains.effective_size(np.ones((4, 10))) == 40
    assert np.isfinite(chains.split_rhat(np.ones((4, 10)) * np.arange(4)[:, None]))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 10.0, 100.0, inf])
def test_never_significantly_below_the_others(make_view: MakeView, epsilon: float) -> None:
    """60 paired games of 30 records: the mean difference stays above −3 standard errors (each of
    the eight comparisons raises a false alarm with probability 0.0013, were they truly equal).
    Negative control: random guesses are below by more."""
    mine: list[int] = []
    others: dict[type, list[int]] = {Rap: [], PriorGuess: []}
    random: list[int] = []
    for seed in range(60):
        view, truth = make_view(epsilon=epsilon, seed=5_000 + seed)
        players = ((mine, Posterior()), (random, RandomGuess()))
        for into, attack in (*players, *((others[a], a()) for a in others)):
            found = attack.reconstruct(view, np.random.default_rng(seed))
            into.append(int(view.metric.score(truth, found.guess).sum()))

    def below(ours: list[int], theirs: list[int]) -> bool:
        gap = np.subtract(ours, theirs)
        return bool(gap.mean() <= -3 * gap.std(ddof=1) / np.sqrt(len(gap)) - 1e-9)

    for theirs in others.values():
        assert not below(mine, theirs)
        assert below(random, theirs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chains": 1}, "chains must be at least 2"),
        ({"sweeps": 3}, "sweeps must be at least 4"),
        ({"burn_in": 0}, "burn_in must be at least 1"),
        ({"rounds": 0}, "rounds must be at least 1"),
    ],
)
def test_bad_options(options: dict[str, int], message: str) -> None:
    with pytest.raises(AttackError, match=message):
        Posterior(**options)


@pytest.mark.parametrize(
    ("left", "rounds"),
    [
        (0, (200,)),
        (199, (200,)),
        (200, (200, 200)),
        (392, (200, 392)),
        (1_199, (200, 800)),
        (1_200, (200, 400, 800)),
        (100_000, (200, 400, 800, 1_600)),
    ],
)
def test_the_last_round_takes_what_is_left(left: int, rounds: tuple[int, ...]) -> None:
    assert Posterior()._divide(200, left) == rounds
