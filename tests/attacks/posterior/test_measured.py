"""The posterior on measured sets of any columns and noise, against enumeration of small tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.judges import CertifiedJudge, ChainJudge, PriorJudge, find_judge
from reconbench.attacks.marginals.informed import Informed
from reconbench.attacks.posterior import posterior
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.counts.model import CountModel
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.joint.model import JointModel
from reconbench.attacks.posterior.posterior import Plan, Posterior
from reconbench.attacks.posterior.posteriors import ColumnPosteriors
from reconbench.attacks.rap.problem import require_marginals
from reconbench.datasets import Table
from reconbench.mechanisms.marginals import workload
from reconbench.mechanisms.measurements import Measurements, measure
from reconbench.mechanisms.synthetic.release import SyntheticRelease

MakeView = Callable[..., tuple[AttackerView, Table]]
Enumerate = Callable[[AttackerView], tuple[np.ndarray, np.ndarray]]
Floats = np.ndarray

# Columns a (3 values), b (2), c (4), d (2), e (3), by position.
ONE_SET = (((2, 4),), (0.7,))
SEVERAL = (((0, 2), (1, 2, 3), (2,)), (0.8, 1.5, 2.0))
WHOLE = (((0, 1, 2, 3, 4), (2,)), (1.0, 0.6))
UNTOUCHED = (((0, 1), (0, 2), (1, 3)), (0.5, 1.0, 0.3))
MIXED = (((2, 4), (0, 2)), (0.0, 1.0))
TWO = (((0, 2), (0, 1), (2, 3, 4)), (1.0, 0.7, 2.0))
ONE_OF_TWO = (((2, 3),), (0.5,))


def make_measured(
    make_view: MakeView,
    targets: tuple[str, ...],
    shape: tuple[tuple[tuple[int, ...], ...], tuple[float, ...]],
    n: int,
    seed: int = 0,
) -> tuple[AttackerView, Table]:
    """A game whose release is what ``shape``, sets and their noise, says."""
    view, truth = make_view(targets, n=n, seed=seed)
    table = view.known.join(truth).project(view.release.domain.names)
    rng = np.random.default_rng(1_000 + seed)
    return replace(view, release=measure(table, *shape, rng)), truth


def find_marginals(tables: Floats, weights: Floats, values: int) -> Floats:
    """The posterior of each record's joint value, (n, values)."""
    return np.array([np.bincount(column, weights, values) for column in tables.T])


def get_measured(view: AttackerView) -> Measurements:
    assert isinstance(view.release, Measurements)
    return view.release


def ran(view: AttackerView, form: type, sweeps: int, levels: int = 1) -> Floats:
    """The posterior by two chains of a form, at one or several levels, (n, joint values)."""
    evidence = Evidence.of(view)
    model = form(view, evidence)
    ladder = evidence.weight * np.linspace(1 / levels, 1, levels)
    plan = Plan(ladder, np.geomspace(ladder[0], ladder[-1], 60), (sweeps // 2,))
    Posterior(chains=2).run(view, model, plan, np.random.default_rng(3))
    found = model.posteriors()
    if isinstance(found, ColumnPosteriors):
        return np.asarray(found.chances.mean(axis=0)[found.group])
    sizes = view.target_domain.sizes
    result = np.zeros((view.n, int(np.prod(sizes))))
    for flat, codes in enumerate(np.ndindex(sizes)):
        guess = np.tile(codes, (view.n, 1))
        result[:, flat] = np.mean([found.success(c, guess) for c in range(2)], axis=0)
    return result


@pytest.mark.parametrize("form", [GramModel, CellModel, CountModel])
@pytest.mark.parametrize("shape", [ONE_SET, SEVERAL, WHOLE], ids=["one", "several", "whole"])
def test_one_column_is_the_enumerated_posterior(
    make_view: MakeView, enumerate_tables: Enumerate, form: type, shape: tuple[Any, ...]
) -> None:
    """2,000 sweeps of two chains: were only one in two worth a draw of its own, 0.06 would be five
    standard errors. Half the noise, the negative control, is noticed."""
    view, _ = make_measured(make_view, ("c",), shape, 4, seed=1)
    exact = find_marginals(*enumerate_tables(view), 4)
    assert np.abs(ran(view, form, 2_000) - exact).max() < 0.06
    own = get_measured(view)
    wrong = replace(view, release=replace(own, noise_sds=tuple(sd / 2 for sd in own.noise_sds)))
    assert np.abs(ran(wrong, form, 500) - exact).max() > 0.12


@pytest.mark.parametrize(
    ("form", "targets", "shape"),
    [
        (CellModel, ("a", "c"), TWO),
        (JointModel, ("a", "c"), TWO),
        (JointModel, ("c", "a"), TWO),
        (JointModel, ("a", "c"), ONE_OF_TWO),
    ],
)
def test_several_columns_are_the_enumerated_posterior(
    make_view: MakeView,
    enumerate_tables: Enumerate,
    form: type,
    targets: tuple[str, ...],
    shape: tuple[Any, ...],
) -> None:
    """2,000 sweeps: with one in two worth a draw of its own, 0.08 is five standard errors."""
    view, _ = make_measured(make_view, targets, shape, 3, seed=1)
    exact = find_marginals(*enumerate_tables(view), 12)
    assert np.abs(ran(view, form, 2_000) - exact).max() < 0.08
    if form is JointModel:
        assert np.abs(ran(view, form, 2_000, levels=3) - exact).max() < 0.08


@pytest.mark.usefixtures("by_chains")
@pytest.mark.parametrize(
    ("targets", "shape", "n"),
    [(("c",), MIXED, 5), (("a", "c"), (((0, 2), (2, 4), (0,)), (0.0, 1.0, 0.0)), 3)],
)
def test_sets_without_noise_beside_noisy_ones(
    make_view: MakeView,
    enumerate_tables: Enumerate,
    targets: tuple[str, ...],
    shape: tuple[Any, ...],
    n: int,
) -> None:
    """Chains whose first and last tables have the exact counts, and the optimum within 0.12."""
    for seed in range(3):
        view, _ = make_measured(make_view, targets, shape, n, seed=seed)
        values = int(np.prod(view.target_domain.sizes))
        exact = find_marginals(*enumerate_tables(view), values)
        found = Posterior(sweeps=400).reconstruct(view, np.random.default_rng(seed))
        assert found.best_possible is not None and found.best_possible.converged
        assert found.best_possible.expected == pytest.approx(exact.max(axis=1).sum(), abs=0.12)


def test_counts_that_no_table_has_are_no_number(make_view: MakeView) -> None:
    """Exact counts of another table: chains may agree, but they do not fit."""
    view, _ = make_measured(make_view, ("c",), MIXED, 5)
    own = get_measured(view)
    answers = (own.answers[0] + 1.0, own.answers[1])
    wrong = replace(view, release=replace(own, answers=answers))
    best = Posterior(sweeps=20, rounds=1).reconstruct(wrong, np.random.default_rng(0)).best_possible
    assert best is not None and not best.converged
    assert find_judge(wrong, np.random.default_rng(0)) is None


def test_without_a_set_that_holds_a_target_it_is_the_prior(make_view: MakeView) -> None:
    view, _ = make_measured(make_view, ("e",), UNTOUCHED, 30)
    best, success = view.metric.best_guess(view.prior, view.known, view.targets)
    found = Posterior().reconstruct(view, np.random.default_rng(0))
    judge = find_judge(view, np.random.default_rng(0), records=10)
    assert found.guess == best and found.best_possible is not None
    assert found.best_possible.expected == success.sum() and found.best_possible.error == 0
    assert isinstance(judge, PriorJudge) and judge.exact and judge.best_possible is not None
    assert judge.best_possible.expected == pytest.approx(success[:10].sum())
    assert judge.best_possible.successes is not None
    wrong = (best.codes + 1) % 3
    expected = view.metric.prior_success(view.prior, view.known, Table(best.domain, wrong))
    assert judge.judge(wrong).expected == pytest.approx(expected.sum())


def measure_marginals(view: AttackerView) -> AttackerView:
    """The same counts, as measured sets."""
    release = require_marginals(view.release)
    noise_sds = (release.noise_sd,) * len(release.workload)
    sets = release.domain, release.workload, release.answers, noise_sds, view.n
    return replace(view, release=Measurements(*sets))


@pytest.mark.parametrize(
    ("targets", "epsilon"), [(("c",), 3.0), (("c",), 30.0), (("a", "d"), 10.0)]
)
def test_all_sets_of_one_width_are_marginals(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch, targets: tuple[str, ...], epsilon: float
) -> None:
    """The same answer, and within five standard errors if that they are marginals is not seen."""
    view, _ = make_view(targets, epsilon=epsilon, n=25)
    same = measure_marginals(view)
    marginals, measured = (
        Posterior(sweeps=100).reconstruct(played, np.random.default_rng(0))
        for played in (view, same)
    )
    assert marginals.guess == measured.guess and marginals.info == measured.info
    assert marginals.best_possible == measured.best_possible
    monkeypatch.setattr(Evidence, "marginals", None)
    general = Posterior(sweeps=200).reconstruct(same, np.random.default_rng(1))
    best = marginals.best_possible, general.best_possible
    assert best[0] is not None and best[1] is not None and best[0].converged and best[1].converged
    gap = abs(best[0].expected - best[1].expected)
    assert gap < 5 * np.hypot(best[0].error, best[1].error) + 1e-9


def test_a_synthetic_table_is_judged_by_what_was_measured(make_view: MakeView) -> None:
    """Also when attackers see the table alone, which the white-box attack does not play."""
    view, truth = make_measured(make_view, ("d",), (((0, 3), (2, 3)), (1.0, 0.5)), 12)
    own = get_measured(view)
    table = view.known.join(truth).project(own.domain.names)
    whole = replace(view, release=SyntheticRelease(own.domain, table, view.n, own))
    judges = [find_judge(played, np.random.default_rng(0)) for played in (view, whole)]
    assert judges[0] is not None and judges[1] is not None
    assert judges[0].best_possible == judges[1].best_possible
    found = [Posterior().reconstruct(played, np.random.default_rng(0)) for played in (view, whole)]
    assert found[0].guess == found[1].guess
    hidden = replace(whole, release=SyntheticRelease(own.domain, table, view.n))
    assert find_judge(hidden, np.random.default_rng(0)) is None
    with pytest.raises(AttackError, match="play with access = measurements"):
        Posterior().reconstruct(hidden, np.random.default_rng(0))


def test_adaptive_sets_have_no_best_possible(make_view: MakeView) -> None:
    """Whichever they are: that a set was not chosen tells something as well."""
    for targets, shape in ((("c",), SEVERAL), (("e",), UNTOUCHED)):
        view, _ = make_measured(make_view, targets, shape, 8)
        fixed = Posterior(sweeps=20).reconstruct(view, np.random.default_rng(0))
        chosen = replace(view, release=replace(get_measured(view), adaptive=True))
        found = Posterior(sweeps=20).reconstruct(chosen, np.random.default_rng(0))
        assert fixed.best_possible is not None and found.best_possible is None
        assert found.guess == fixed.guess
        assert found.info["choice_of_sets_not_counted"] == 1 and "certified" not in found.info
        assert find_judge(chosen, np.random.default_rng(0)) is None


def test_long_tables_are_sampled_by_counts(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By records and by counts; also where one set is exact, which the counts then have to fit."""
    for shape in (SEVERAL, (((2,), (1, 2, 3)), (0.0, 1.0))):
        view, _ = make_measured(make_view, ("c",), shape, 200)
        monkeypatch.undo()
        judge = find_judge(view, np.random.default_rng(0))
        monkeypatch.setattr(posterior, "GRAM_LIMIT", 50)
        counts = find_judge(view, np.random.default_rng(1))
        assert isinstance(judge, ChainJudge) and isinstance(counts, ChainJudge)
        best = judge.best_possible, counts.best_possible
        assert best[0] is not None and best[1] is not None
        gap = abs(best[0].expected - best[1].expected)
        assert gap < 5 * np.hypot(best[0].error, best[1].error)


@pytest.mark.parametrize("form", [GramModel, CellModel, CountModel])
def test_sorted_tables_mix_as_well_as_others(make_view: MakeView, form: type) -> None:
    """One count is nearly known, so records that enter its cell make others leave. In the order of
    a table that is sorted by how likely records are to be in it, only neighbours would change
    places: the log-prior of the tables would depend on itself over tens of sweeps."""
    view, _ = make_measured(make_view, ("d",), (((3,),), (0.8,)), 600)
    chances = view.prior.conditional(view.known, view.targets)[:, 0]
    known = Table(view.known.domain, view.known.codes[np.argsort(chances)])
    view = replace(view, known=known)
    evidence, rng = Evidence.of(view), np.random.default_rng(0)
    model, at = form(view, evidence), np.arange(8)[:, None]
    model.start(8, 1, rng)
    trace = np.empty((8, 200))
    for sweep in range(-40, 200):
        model.sweep(at, np.array([evidence.weight]), rng)
        if sweep >= 0:
            trace[:, sweep] = model.log_priors(at[:, 0])
    gaps = trace - trace.mean(axis=1, keepdims=True)
    assert (gaps[:, :-5] * gaps[:, 5:]).mean() < 0.12 * (gaps**2).mean()


@pytest.mark.parametrize("form", [GramModel, CellModel, JointModel])
def test_records_that_may_as_well_trade_do_not_trade_twice(make_view: MakeView, form: type) -> None:
    """Two records of which one has each value, nobody knows which: were they to trade for certain
    when it is the first one's turn, and again at the second one's, no chain would ever move."""
    games = (make_measured(make_view, ("e",), (((4,),), (0.1,)), 2, seed) for seed in range(20))
    view = next(view for view, truth in games if truth.codes[0, 0] != truth.codes[1, 0])
    assert len(view.known.distinct()[0]) == 2
    found = ran(view, form, 2_000, levels=2)
    assert np.abs(np.sort(found, axis=1)[:, 1:] - 0.5).max() < 0.15


def is_calibrated(make_view: MakeView, claimed: float) -> bool:
    """Whether 250 games of 10 records succeed as often as the posterior says, within 4 standard
    errors, in three bins of scores, if the attacker takes the noise to be ``claimed`` times what
    it is. Records of a game share noise, which at most doubles the variance."""
    scores, right = [], []
    for seed in range(250):
        view, truth = make_measured(make_view, ("e",), (((1, 4), (0, 4)), (1.0, 1.5)), 10, seed)
        own = get_measured(view)
        noise_sds = tuple(claimed * sd for sd in own.noise_sds)
        believed = replace(view, release=replace(own, noise_sds=noise_sds))
        found = Posterior().reconstruct(believed, np.random.default_rng(seed))
        assert found.scores is not None and found.info["certified"] == 1
        scores.append(found.scores)
        right.append(view.metric.score(truth, found.guess))
    score, hit = np.concatenate(scores), np.concatenate(right)
    good = True
    for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 1.0)):
        inside = (score > low) & (score <= high)
        p, count = score[inside].mean(), inside.sum()
        assert count > 100
        good &= bool(abs(hit[inside].mean() - p) < 4 * sqrt(2 * p * (1 - p) / count) + 0.005)
    return good


def test_exact_posteriors_are_calibrated(make_view: MakeView) -> None:
    assert is_calibrated(make_view, 1.0)
    assert not is_calibrated(make_view, 0.5)


def count_wrong(
    make_view: MakeView, enumerate_tables: Enumerate, games: int, claimed: float = 1.0
) -> tuple[int, int]:
    """How many hard games call themselves converged, and how many of these are wrong: further from
    the optimum than five stated errors and 0.05 records."""
    converged = wrong = 0
    for seed in range(games):
        sets = (((2, 4), (0, 1, 2)), ((0, 2), (1, 2), (2,)), ((2, 3),))[seed % 3]
        sds = np.random.default_rng(seed).choice([0.0, 0.15, 0.3, 0.6], len(sets))
        view, _ = make_measured(make_view, ("c",), (sets, tuple(sds)), 5, seed)
        optimum = find_marginals(*enumerate_tables(view), 4).max(axis=1).sum()
        own = get_measured(view)
        noise_sds = tuple(claimed * max(sd, 0.15) if claimed != 1 else sd for sd in own.noise_sds)
        believed = replace(view, release=replace(own, noise_sds=noise_sds))
        sampled = Posterior(sweeps=100).sample(believed, np.random.default_rng(seed))
        best = sampled.estimate_best_possible(view)
        converged += best.converged
        wrong += best.converged and abs(best.expected - optimum) > 5 * best.error + 0.05
    return converged, wrong


@pytest.mark.slow
def test_chains_that_agree_are_right(make_view: MakeView, enumerate_tables: Enumerate) -> None:
    """From little noise to none. The negative control takes the noise for five times what it is."""
    converged, wrong = count_wrong(make_view, enumerate_tables, games=30)
    assert converged >= 24
    assert wrong == 0
    assert count_wrong(make_view, enumerate_tables, games=15, claimed=5.0)[1] > 2


def test_the_metric_decides(make_view: MakeView, enumerate_tables: Enumerate) -> None:
    """Within an L1 error of 1 of four ordered values: the score is the mass of the window."""
    view, _ = make_measured(make_view, ("c",), SEVERAL, 5)
    view = replace(view, metric=WithinL1(1))
    exact = find_marginals(*enumerate_tables(view), 4)
    window = np.array([[abs(u - v) <= 1 for u in range(4)] for v in range(4)])
    found = Posterior().reconstruct(view, np.random.default_rng(0))
    assert found.scores == pytest.approx((exact @ window).max(axis=1))
    judge = find_judge(view, np.random.default_rng(0))
    assert isinstance(judge, CertifiedJudge) and judge.best_possible is not None
    assert judge.best_possible.expected == pytest.approx((exact @ window).max(axis=1).sum())


def test_marginals_of_no_noise_and_any_width_are_solved(make_view: MakeView) -> None:
    """Exact tables from sets of one, two and three columns; with all columns nothing is open."""
    sets = (*workload(make_view()[0].release.domain, ("c",), 2), (2,), (0, 1, 2))
    view, truth = make_measured(make_view, ("c",), (sets, (0.0,) * len(sets)), 30)
    found = Posterior().reconstruct(view, np.random.default_rng(0))
    assert found.info["certified"] == 1 and found.best_possible is not None
    hits = view.metric.score(truth, found.guess).sum()
    assert hits <= view.n and found.best_possible.expected <= view.n
    assert hits >= found.best_possible.expected - 5
    little = tuple(answer + 1e-3 for answer in get_measured(view).answers)
    nearly = replace(get_measured(view), answers=little, noise_sds=(1e-3,) * len(sets))
    assert (
        Posterior()
        .reconstruct(replace(view, release=nearly), np.random.default_rng(0))
        .best_possible
        == found.best_possible
    )


@pytest.mark.parametrize("shape", [SEVERAL, WHOLE, MIXED, UNTOUCHED])
def test_the_informed_adversary_knows_all_other_records(
    make_view: MakeView, enumerate_tables: Enumerate, shape: tuple[Any, ...]
) -> None:
    """The posterior of one record is that of all tables that have the others as they are."""
    for targets, values in ((("c",), 4), (("a", "c"), 12)):
        view, truth = make_measured(make_view, targets, shape, 3)
        table = view.known.join(truth).project(view.release.domain.names)
        tables, weights = enumerate_tables(view)
        own = np.ravel_multi_index(tuple(truth.codes.T), truth.domain.sizes)
        for i in range(3):
            same = (np.delete(tables, i, axis=1) == np.delete(own, i)).all(axis=1)
            exact = np.bincount(tables[same, i], weights[same], values) / weights[same].sum()
            others = Table(table.domain, np.delete(table.codes, i, axis=0))
            known = Table(view.known.domain, view.known.codes[i : i + 1])
            mine = replace(view, known=known, others=others)
            judge = find_judge(mine, np.random.default_rng(0))
            assert judge is not None and judge.exact and judge.best_possible is not None
            assert judge.best_possible.expected == pytest.approx(exact.max())
            found = Informed().reconstruct(mine, np.random.default_rng(0))
            assert found.best_possible is not None
            assert found.best_possible.expected == pytest.approx(exact.max())
            for flat, codes in enumerate(np.ndindex(view.target_domain.sizes)):
                worth = judge.judge(np.array([codes]))
                assert worth.expected == pytest.approx(exact[flat], abs=1e-9)
            adaptive = replace(mine, release=replace(get_measured(mine), adaptive=True))
            assert find_judge(adaptive, np.random.default_rng(0)) is None
            assert Informed().reconstruct(adaptive, np.random.default_rng(0)).best_possible is None
