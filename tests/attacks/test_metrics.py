from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest

from reconbench.attacks import AnyGuess, ColumnsRight, ExactMatch, Metric, MetricError, WithinL1
from reconbench.attacks.metrics import within_distance
from reconbench.benchmarks.plugins.bounds import shipped_bounds
from reconbench.bounds import Kind, MeanFromGuess, PureDP, Scope, Targets, Theorem35
from reconbench.datasets import Attribute, BayNet, Domain, Table

L1_LISTS = AnyGuess(WithinL1(1), 2)


@pytest.fixture(scope="module")
def wide_net() -> BayNet:
    """Columns a to f, each depending on the two before; c and f are ordinal."""
    rng = np.random.default_rng(3)
    sizes = {"a": 3, "b": 2, "c": 4, "d": 3, "e": 2, "f": 5}
    domain = Domain(
        tuple(
            Attribute(name, tuple(map(str, range(size))), ordinal=name in "cf")
            for name, size in sizes.items()
        )
    )
    parents = tuple(tuple(range(max(0, i - 2), i)) for i in range(len(sizes)))
    cpts = tuple(
        rng.dirichlet(np.full(size, 0.6), size=tuple(domain.sizes[i] for i in own) or None)
        for size, own in zip(domain.sizes, parents, strict=True)
    )
    return BayNet(domain, parents, cpts, domain.names)


def test_l1_of_zero_is_exact_match(toy_net: BayNet) -> None:
    table = toy_net.sample(50, np.random.default_rng(0)).project(["c"])
    other = toy_net.sample(50, np.random.default_rng(1)).project(["c"])
    assert np.array_equal(WithinL1(0).score(table, other), ExactMatch().score(table, other))
    assert WithinL1(3).score(table, other).all()


def test_decide() -> None:
    weights = np.array([[0.4, 0.0, 0.3, 0.3], [0.1, 0.2, 0.3, 0.4]])
    assert ExactMatch().decide([weights]).tolist() == [[0], [3]]
    assert WithinL1(1).decide([weights]).tolist() == [[1], [2]]
    two = ExactMatch().decide([weights, weights[:, ::-1]])
    assert two.tolist() == [[0, 3], [3, 0]]
    batch = WithinL1(1).decide([np.stack([weights, weights])])
    assert batch.shape == (2, 2, 1)


def test_checks(toy_net: BayNet) -> None:
    with pytest.raises(MetricError, match=r"'a' is not ordinal.*ordinal columns: c"):
        WithinL1(1).check(toy_net.domain, ["c", "a"])
    with pytest.raises(MetricError, match="0 or more"):
        WithinL1(-1)
    with pytest.raises(MetricError, match="at least 1 column right, got 0"):
        ColumnsRight(0)
    with pytest.raises(MetricError, match="columns:3 needs at least 3 target columns, got 2: a, c"):
        ColumnsRight(3).check(toy_net.domain, ["a", "c"])
    for metric in (ExactMatch(), ColumnsRight(1), WithinL1(1)):
        with pytest.raises(ValueError, match="unknown column"):
            metric.check(toy_net.domain, ["z"])
    wide = Domain(tuple(Attribute(str(i), tuple("abcdefgh"), ordinal=True) for i in range(5)))
    for metric in (ColumnsRight(1), WithinL1(1)):
        with pytest.raises(MetricError, match=r"up to 16,384 joint values, .* have 32,768"):
            metric.check(wide, wide.names)


@pytest.mark.parametrize(("metric", "targets"), [(ColumnsRight(3), "abd"), (WithinL1(0), "cf")])
def test_no_slack_is_exact_match(
    wide_net: BayNet, metric: ColumnsRight | WithinL1, targets: str
) -> None:
    table = wide_net.sample(40, np.random.default_rng(0))
    known = table.project([name for name in wide_net.domain.names if name not in targets])
    guess, success = metric.best_guess(wide_net, known, targets)
    likeliest, chance = ExactMatch().best_guess(wide_net, known, targets)
    assert success == pytest.approx(chance) and guess == likeliest
    other = wide_net.sample(40, np.random.default_rng(1)).project(targets)
    truth = table.project(targets)
    assert np.array_equal(metric.score(truth, other), ExactMatch().score(truth, other))


def test_the_share_of_columns_is_the_mean_over_how_many_are_right(wide_net: BayNet) -> None:
    truth, guess = (wide_net.sample(60, np.random.default_rng(seed)) for seed in (0, 1))
    hits = [ColumnsRight(least).score(truth, guess) for least in range(1, len(wide_net.domain) + 1)]
    assert np.mean(hits, axis=0) == pytest.approx((truth.codes == guess.codes).mean(axis=1))


@pytest.mark.parametrize(
    ("metric", "targets"),
    [(ColumnsRight(1), "acd"), (ColumnsRight(2), "acd"), (WithinL1(1), "cf"), (WithinL1(3), "cf")],
)
def test_the_best_guess_is_the_best_of_all(
    wide_net: BayNet, metric: ColumnsRight | WithinL1, targets: str
) -> None:
    """By a plain sum over pairs; guessing each column by itself is worse somewhere."""
    domain = wide_net.domain.project(targets)
    values = Table.of_all_values(domain)
    known = Table.of_all_values(wide_net.domain.project(["b", "e"]))
    chances = wide_net.conditional(known, targets).reshape(len(known), -1)
    expected = np.array(
        [
            chances @ metric.score(values, Table(domain, np.tile(guess, (len(values), 1))))
            for guess in values.codes
        ]
    ).T
    guess, success = metric.best_guess(wide_net, known, targets)
    assert success == pytest.approx(expected.max(axis=1), abs=1e-12)
    assert metric.prior_success(wide_net, known, guess) == pytest.approx(success, abs=1e-12)
    for record, own in enumerate(chances):
        best = metric.decide_joint(domain, values.codes, own)
        index = np.ravel_multi_index(tuple(best), domain.sizes)
        assert expected[record, index] == pytest.approx(success[record], abs=1e-12)
    modes = [wide_net.conditional(known, [target]).argmax(axis=1) for target in targets]
    alone = metric.prior_success(wide_net, known, Table(domain, np.stack(modes, axis=1)))
    assert (alone <= success + 1e-12).all() and alone.min() < success[alone.argmin()] - 1e-3


def test_parts_of_long_tables_are_scored_alike(
    wide_net: BayNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = wide_net.sample(30, np.random.default_rng(0)).project(["b", "e"])
    guess, success = ColumnsRight(2).best_guess(wide_net, known, "acd")
    monkeypatch.setattr(within_distance, "MAX_HELD", 100)
    again, chance = ColumnsRight(2).best_guess(wide_net, known, "acd")
    assert guess == again and np.array_equal(success, chance)
    assert ColumnsRight(2).prior_success(wide_net, known, guess) == pytest.approx(success)


@pytest.mark.parametrize("metric", [ExactMatch(), ColumnsRight(1), ColumnsRight(2)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_ceiling_is_below_the_best_attack_on_randomised_response(
    wide_net: BayNet, metric: Metric, epsilon: float
) -> None:
    """One target of six joint values, and for every output the best guess by enumeration."""
    targets, guarantee = ("b", "d"), PureDP(epsilon)
    known = Table.of_all_values(wide_net.domain.project(["c"]))
    values = Table.of_all_values(wide_net.domain.project(targets))
    m = len(values)
    channel = np.where(np.eye(m, dtype=bool), np.exp(epsilon), 1.0) / (np.exp(epsilon) + m - 1)
    every = [Table(values.domain, np.tile(guess, (m, 1))) for guess in values.codes]
    hits = np.array([metric.score(values, guess) for guess in every], dtype=float)
    joint = wide_net.conditional(known, targets).reshape(len(known), m)
    # P[success] = Σ_output max_guess Σ_value p(value) P(output | value) 1[success]
    best = [(hits @ (own[:, None] * channel)).max(axis=0).sum() for own in joint]
    success = metric.best_guess(wide_net, known, targets)[1]
    whole = metric.whole_priors(wide_net, known, targets)
    assert whole is not None
    checked = set()
    for record, optimum in enumerate(best):
        part = slice(record, record + 1)
        own = partial(replace, whole, priors=whole.priors[part])
        bounded = Targets(success[part], guarantee, read_whole_priors=own)
        for name, bound in shipped_bounds().items():
            if bound.kind is Kind.MEAN and bound.scope is Scope.ANY_ATTACK:
                assert bound.ceilings(bounded, guarantee)["mean"] >= optimum - 1e-9, name
                checked.add(name)
    assert len(checked) >= 2


@pytest.mark.parametrize(
    ("metric", "targets"),
    [(AnyGuess(ExactMatch(), 2), "ad"), (AnyGuess(ColumnsRight(1), 2), "ad"), (L1_LISTS, "c")],
)
def test_lists_of_guesses_by_enumeration(wide_net: BayNet, metric: AnyGuess, targets: str) -> None:
    """Every list of two guesses: what it covers, the bound on each record, and the greedy one."""
    domain = wide_net.domain.project(targets)
    values = Table.of_all_values(domain)
    known = wide_net.sample(6, np.random.default_rng(0)).project(["b", "e"])
    chances = wide_net.conditional(known, targets).reshape(len(known), -1)
    single = np.array(
        [
            metric.inner.score(values, Table(domain, np.tile(guess, (len(values), 1))))
            for guess in values.codes
        ]
    )
    covered, lists = [], list(combinations(range(len(values)), 2))
    for pair in lists:
        guess = Table(domain, values.codes[list(pair) * 3])
        assert np.array_equal(metric.score(values, guess), single[list(pair)].any(axis=0))
        covered.append(metric.prior_success(wide_net, known, guess))
        assert covered[-1] == pytest.approx(chances @ single[list(pair)].any(axis=0))
    best, total = np.max(covered, axis=0), np.sum(covered, axis=1).max()
    bound = metric.bound_success(wide_net, known, targets)
    assert (bound >= best - 1e-12).all()
    guess, success = metric.best_guess(wide_net, known, targets)
    assert metric.prior_success(wide_net, known, guess) == pytest.approx(success)
    assert (1 - 1 / np.e) * total <= success.sum() <= total + 1e-12
    if metric.greedy_is_best:
        assert bound == pytest.approx(best) and success.sum() == pytest.approx(total)


def test_the_most_frequent_guesses_count(wide_net: BayNet) -> None:
    domain = wide_net.domain.project("c")
    guess = Table(domain, np.array([[3], [1], [3], [0], [1], [3]]))
    truth = Table.of_all_values(domain)
    assert AnyGuess(ExactMatch()).score(truth, guess).tolist() == [True, True, False, True]
    assert AnyGuess(ExactMatch(), 1).score(truth, guess).tolist() == [False, False, False, True]
    assert AnyGuess(WithinL1(1), 2).score(truth, guess).all()
    batch = AnyGuess(ExactMatch(), 1).decide([np.array([[[0.6, 0.4], [0.1, 0.9]]] * 3)])
    assert batch.tolist() == [[[1], [1]]] * 3


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_ceilings_of_lists_hold_for_the_best_list(wide_net: BayNet, epsilon: float) -> None:
    """Two records in randomised response, one guess for both, the best of every pair of outputs."""
    metric = AnyGuess(ExactMatch(), 1)
    known = Table.of_all_values(wide_net.domain.project(["b"]))
    assert len(known) == 2
    chances = wide_net.conditional(known, ["a"])
    m = chances.shape[1]
    channel = np.where(np.eye(m, dtype=bool), np.exp(epsilon), 1.0) / (np.exp(epsilon) + m - 1)
    mean, both, some = 0.0, 0.0, 0.0
    for outputs in product(range(m), repeat=2):
        # P(x_i = u, output_i), so that hits of both records are independent given the outputs
        joint = chances * channel[:, list(outputs)].T
        others = joint.sum(axis=1)[::-1]
        single = joint * others[:, None]
        mean += single.sum(axis=0).max()
        both += joint.prod(axis=0).max()
        some += (single.sum(axis=0) - joint.prod(axis=0)).max()
    success = metric.bound_success(wide_net, known, ["a"])
    tail = Theorem35(success, PureDP(epsilon)).tail([1, 2])
    assert tail[0] >= some - 1e-12 and tail[1] >= both - 1e-12
    targets = Targets(success, PureDP(epsilon))
    assert MeanFromGuess.ceilings(targets, PureDP(epsilon))["mean"] >= mean - 1e-12
    # The greedy guess is not a bound: it is the best for both records together.
    greedy = metric.best_guess(wide_net, known, ["a"])[1]
    assert (greedy <= success + 1e-12).all()
