"""Local reports: the samplers against the channel they claim, and the contract of a mechanism."""

from __future__ import annotations

from math import exp, inf

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from reconbench.bounds import PureDP, Relation
from reconbench.bounds.rad import (
    GRR,
    OUE,
    SubsetSelection,
    rad_finite,
    rad_sampled,
    success_within,
)
from reconbench.datasets import BayNet, DomainError, Table
from reconbench.mechanisms import Mechanism, MechanismError, Release
from reconbench.mechanisms.local._subsets import subsets
from reconbench.mechanisms.local.reports import (
    BitLists,
    DenseBits,
    GRRReports,
    LocalReports,
    OneValue,
    OUEReports,
    ReportLikelihoods,
    Reports,
    SSReports,
    Subsets,
    sample_reports,
)

MECHANISMS = (GRRReports, OUEReports, SSReports)
CHANNELS = (GRR, OUE, SubsetSelection)
FALSE_ALARM = 1e-4


def supports(reports: Reports, m: int) -> np.ndarray:
    every = np.broadcast_to(np.arange(m), (len(reports), m))
    return reports.hold(np.ascontiguousarray(every))


def outputs(channel: GRR, reports: Reports) -> np.ndarray:
    """The row of ``channel.matrix()`` that each report is."""
    weights = 1 << np.arange(channel.size)
    rows = {int(code): i for i, code in enumerate((channel.supports() > 0) @ weights)}
    return np.array([rows[int(code)] for code in supports(reports, channel.size) @ weights])


def p_value(claimed: GRR, sampled: GRR, value: int, n: int, seed: int) -> float:
    """Chi-square of the outputs of one value against the channel's column."""
    values = np.full(n, value, dtype=np.int64)
    found = outputs(claimed, sample_reports(sampled, values, np.random.default_rng(seed)))
    expected = claimed.matrix()[:, value] * n
    counts = np.bincount(found, minlength=len(expected))
    common = expected >= 5
    rare = [counts[~common].sum()], [expected[~common].sum()]
    if rare[1][0] < 1e-9:
        assert rare[0][0] == 0
        rare = [], []
    return float(chisquare(np.r_[counts[common], rare[0]], np.r_[expected[common], rare[1]]).pvalue)


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize(("epsilon", "m"), [(0.2, 6), (1.0, 5), (3.0, 6), (6.0, 4)])
@pytest.mark.parametrize("value", [0, 3])
def test_samplers_have_their_exact_channel(
    kind: type[GRR], epsilon: float, m: int, value: int
) -> None:
    """False-alarm rate 1e-4 each, 24 tests."""
    channel = kind(epsilon, m)
    assert p_value(channel, channel, value, 20_000, seed=m + value) > FALSE_ALARM


@pytest.mark.parametrize("kind", CHANNELS)
def test_a_sampler_of_another_epsilon_is_caught(kind: type[GRR]) -> None:
    """Negative control: twice the ε must fail."""
    subset = (2,) if issubclass(kind, SubsetSelection) else ()
    assert p_value(kind(0.5, 6, *subset), kind(1.0, 6, *subset), 2, 20_000, seed=0) < FALSE_ALARM


def test_subsets_against_a_plain_twin() -> None:
    rng = np.random.default_rng(0)
    size, width, n = 9, 4, 200
    values, keeps = rng.integers(0, size, n), rng.random(n) < 0.5
    uniforms = rng.random((n, width))
    found = subsets(values, keeps, uniforms, size)
    for i in range(n):
        members: list[int] = [int(values[i])] if keeps[i] else []
        others = [v for v in range(size) if v != values[i]]
        chosen: list[int] = []
        for step in range(len(members), width):
            j = size - 1 - width + step
            pick = int(uniforms[i, step] * (j + 1))
            chosen.append(j if pick in chosen else pick)
        assert found[i].tolist() == members + [others[c] for c in chosen]
        assert len(set(found[i].tolist())) == width


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_large_domains(kind: type[GRR], epsilon: float) -> None:
    """5,000 values: inclusion rates of the own value and of the others, z-tests at 1e-4 or so."""
    m, n = 5000, 400
    rng = np.random.default_rng(2)
    values = rng.integers(0, m, n)
    reports = sample_reports(kind(epsilon, m), values, rng)
    on = supports(reports, m)
    own = on[np.arange(n), values]
    channel = kind(epsilon, m)
    truthful = 0.5 if isinstance(channel, OUE) else channel.truthful
    assert abs(own.sum() - n * truthful) <= 4 * np.sqrt(n * truthful * (1 - truthful)) + 1
    if isinstance(channel, OUE):
        others = on.sum() - own.sum()
        mean = n * (m - 1) * channel.others_on
        assert abs(others - mean) <= 4 * np.sqrt(mean)
    else:
        width = channel.subset if isinstance(channel, SubsetSelection) else 1
        assert (on.sum(axis=1) == width).all()


def evenness(times: np.ndarray, n: int, drawn: float, fixed: bool) -> float:
    """P-value of how often each of k other values was in n reports, `drawn` of them a report.

    Σ (times − nq)²/(nq(1 − q)) with q = drawn/k is chi-square with k degrees of freedom where
    values are in or out by themselves; with k − 1, and k/(k − 1) times as large, where their
    number in a report is fixed.
    """
    k = times.size
    q = drawn / k
    statistic = float(((times - n * q) ** 2).sum() / (n * q * (1 - q)))
    if fixed:
        return float(chi2.sf(statistic * (k - 1) / k, k - 1))
    return float(chi2.sf(statistic, k))


@pytest.mark.parametrize(
    ("kind", "epsilon", "n"),
    [
        (GRR, 0.3, 200_000),
        (GRR, 5.0, 200_000),
        (OUE, 0.3, 400),
        (OUE, 5.0, 10_000),
        (SubsetSelection, 0.3, 400),
        (SubsetSelection, 5.0, 10_000),
    ],
)
def test_others_are_equally_likely_in_large_domains(
    kind: type[GRR], epsilon: float, n: int
) -> None:
    """All 4,999 other values of 5,000, six tests at 1e-4; and one report in five that never names
    the upper half must fail."""
    m, value = 5000, 1234
    channel = kind(epsilon, m)
    values = np.full(n, value, dtype=np.int64)
    reports = sample_reports(channel, values, np.random.default_rng(9))
    match reports:
        case OneValue(values=members):
            pass
        case Subsets(chosen=chosen):
            members = chosen.reshape(-1)
        case _:
            members = np.nonzero(reports.on)[1]
    own = int((members == value).sum())
    fixed = not isinstance(channel, OUE)
    drawn = channel.others_on * (m - 1) if isinstance(channel, OUE) else (members.size - own) / n

    def p_value(found: np.ndarray) -> float:
        times = np.delete(np.bincount(found, minlength=m), value)
        return evenness(times, n, drawn, fixed)

    assert p_value(members) > FALSE_ALARM
    halved = members.copy()
    halved[: members.size // 5] %= m // 2
    assert p_value(halved) < FALSE_ALARM


def test_reports_say_the_same_in_every_form() -> None:
    rng = np.random.default_rng(3)
    on = rng.random((40, 7)) < 0.4
    on[5] = False
    lists = BitLists(np.r_[0, on.sum(axis=1).cumsum()], np.nonzero(on)[1], 7)
    dense = DenseBits(on)
    prior, rank = rng.dirichlet(np.ones(7)), rng.permutation(7)
    values = rng.integers(0, 7, (40, 3))
    np.testing.assert_array_equal(lists.on, on)
    for reports in (lists, dense):
        np.testing.assert_array_equal(reports.hold(values), np.take_along_axis(on, values, 1))
        np.testing.assert_allclose(reports.mass(prior), on @ prior)
        first = [min(rank[row], default=7) for row in on]
        np.testing.assert_array_equal(reports.first(rank), first)
    chosen = np.array([rng.permutation(7)[:3] for _ in range(40)])
    subset = Subsets(chosen)
    marked = np.zeros((40, 7), dtype=bool)
    np.put_along_axis(marked, chosen, True, axis=1)
    np.testing.assert_array_equal(supports(subset, 7), marked)
    np.testing.assert_allclose(subset.mass(prior), marked @ prior)
    np.testing.assert_array_equal(subset.first(rank), [rank[row].min() for row in chosen])
    one = OneValue(chosen[:, 0])
    np.testing.assert_array_equal(supports(one, 7).argmax(axis=1), chosen[:, 0])
    np.testing.assert_array_equal(one.first(rank), rank[chosen[:, 0]])


@pytest.mark.parametrize("kind", CHANNELS)
def test_sampled_likelihoods_give_theorem_4_3(kind: type[GRR]) -> None:
    """Intervals of 99.99 % against the listed channel, and the closed form where it is too long."""
    rng = np.random.default_rng(4)
    small = rng.dirichlet(np.ones(6))
    near = success_within(np.abs(np.subtract.outer(np.arange(6), np.arange(6))), 1)
    aux = np.arange(6) % 2
    exact = rad_finite(kind(1.5, 6).matrix(), small, aux, near)
    draws = ReportLikelihoods(kind(1.5, 6), small)
    found = rad_sampled(draws, small, rng, aux=aux, success=near, outputs=20_000, confidence=0.9999)
    assert found.low <= exact <= found.high
    large = rng.dirichlet(np.full(300, 0.1))
    draws = ReportLikelihoods(kind(3.0, 300), large)
    found = rad_sampled(draws, large, rng, outputs=5_000, confidence=0.9999)
    assert found.low <= kind(3.0, 300).rad(large) <= found.high


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("record", [False, True])
def test_contract(toy_net: BayNet, kind: type[LocalReports], record: bool) -> None:
    mechanism = kind.for_budget(toy_net.domain, ("c", "b"), 1.0, 1e-5, record=record)
    assert isinstance(mechanism, Mechanism)
    assert mechanism.columns == (toy_net.domain.names if record else ("b", "c"))
    assert mechanism.size == mechanism.channel.size == (3 * 2 * 4 * 2 * 3 if record else 8)
    assert mechanism.guarantee == PureDP(1.0, Relation.REPLACE_ONE)
    assert (mechanism.budget.epsilon, mechanism.budget.delta) == (1.0, 1e-5)
    table = toy_net.sample(50, np.random.default_rng(0))
    release = mechanism.release(table, np.random.default_rng(1))
    again = mechanism.release(table, np.random.default_rng(1))
    assert isinstance(release, Release) and len(release.reports) == 50
    size = mechanism.size
    np.testing.assert_array_equal(supports(release.reports, size), supports(again.reports, size))
    assert mechanism.facts()["values"] == size


@pytest.mark.parametrize("kind", MECHANISMS)
def test_channel_is_as_private_as_promised(toy_net: BayNet, kind: type[LocalReports]) -> None:
    mechanism = kind.for_budget(toy_net.domain, ("c",), 1.3, 0.0)
    table = mechanism.channel.matrix()
    ratio = table.max(axis=1) / table.min(axis=1)
    assert ratio.max() == pytest.approx(exp(1.3), rel=1e-12)


def test_no_noise_reports_the_truth(toy_net: BayNet) -> None:
    table = toy_net.sample(30, np.random.default_rng(0))
    for kind in (GRRReports, SSReports):
        release = kind.for_budget(toy_net.domain, ("c",), inf, 0.0).release(
            table, np.random.default_rng(1)
        )
        np.testing.assert_array_equal(
            supports(release.reports, 4).argmax(axis=1), table.column("c")
        )
    bits = OUEReports.for_budget(toy_net.domain, ("c",), inf, 0.0).release(
        table, np.random.default_rng(1)
    )
    on = supports(bits.reports, 4)
    assert on.sum() == on[np.arange(30), table.column("c")].sum() > 0


def test_refusals(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="at least one column"):
        GRRReports.for_budget(toy_net.domain, (), 1.0, 0.0)
    with pytest.raises(DomainError, match="unknown column"):
        GRRReports.for_budget(toy_net.domain, ("zz",), 1.0, 0.0)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        GRRReports.for_budget(toy_net.domain, ("c",), 0.0, 0.0)
    mechanism = GRRReports.for_budget(toy_net.domain, ("c",), 1.0, 0.0)
    part = toy_net.sample(5, np.random.default_rng(0)).project(["a", "c"])
    with pytest.raises(DomainError, match="not those the mechanism was built for"):
        mechanism.release(part, np.random.default_rng(0))
    empty = Table(toy_net.domain, np.empty((0, 5), dtype=np.int64))
    with pytest.raises(DomainError, match="n must be at least 1"):
        mechanism.release(empty, np.random.default_rng(0))


def test_records_are_randomised_independently() -> None:
    """Pairs of neighbouring reports of one value: chi-square of independence, 1e-4."""
    channel = GRR(1.0, 4)
    n = 40_000
    reports = sample_reports(channel, np.ones(n, dtype=np.int64), np.random.default_rng(8))
    found = outputs(channel, reports).reshape(-1, 2)
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (found[:, 0], found[:, 1]), 1)
    expected = np.outer(pairs.sum(axis=1), pairs.sum(axis=0)) / pairs.sum()
    statistic = ((pairs - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, 9) > FALSE_ALARM
