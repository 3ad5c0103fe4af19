"""Audits of training algorithms: the paper's pattern, and what an audit is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reconbench.attacks.membership import Counts
from reconbench.benchmarks.audits import train
from reconbench.benchmarks.audits.train import (
    AuditError,
    FromPrior,
    FromRecords,
    TrainingAudit,
    algorithm,
    collect,
    counts_at,
)
from reconbench.benchmarks.computations import mcmc as mcmc_computations
from reconbench.benchmarks.computations.computation import ComputationError
from reconbench.benchmarks.computations.mcmc import McmcCounts
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds import Relation
from reconbench.bounds.audit import mcmc
from reconbench.mechanisms.training.algorithms import DpSgd, Network, Records, Sgd

ACS = FromPrior("acs", "MAR")
SMALL = Sgd(Network(4), epochs=5, batch=10)


def audit(training: Sgd | DpSgd, **more: Any) -> TrainingAudit:
    settings: dict[str, Any] = {"bases": 12, "challenges": 60, "shadows": 60, "size": 99, **more}
    return TrainingAudit(ACS, training, **settings)


def median(name: str, sigma: float = 0.0) -> float:
    training = replace(algorithm(name, sigma, epochs=40, hidden=16), batch=20)
    counts = counts_at(collect(audit(training)), 0.1)
    settings = mcmc.Settings(iterations=3_000, warmup=1_500)
    rng = np.random.default_rng(0)
    return mcmc.estimate(counts, 1e-2, rng=rng, settings=settings).epsilon.median


@pytest.mark.slow
def test_more_randomness_in_training_makes_epsilon_smaller() -> None:
    """The pattern of table 1, on the same tables and records for every algorithm."""
    fixed, free = median("A1"), median("A2")
    noisy = {sigma: median("A4", sigma) for sigma in (0.01, 0.05, 0.1)}
    assert fixed > free > max(median("A3", 0.1), noisy[0.1])
    assert noisy[0.01] > noisy[0.05] > noisy[0.1]


@pytest.mark.slow
def test_dp_sgd_keeps_what_it_promises() -> None:
    """What attacks prove stays below the guarantee; without clipping and noise it does not."""
    promised = DpSgd(99, 4.0, Network(0), steps=50, batch=20, rate=0.5)
    counts = counts_at(collect(audit(promised)), 0.1)
    epsilon = promised.guarantee.epsilon_at(1e-2)
    rng = np.random.default_rng(0)
    assert mcmc.estimate(counts, 1e-2, rng=rng).epsilon.lower < epsilon
    assert mcmc.best_lower_bound(counts, 1e-2, 0.999).lower < epsilon
    careless = counts_at(collect(audit(Sgd(Network(0), start_seed=0, epochs=40, rate=0.5))), 0.1)
    assert mcmc.best_lower_bound(careless, 1e-2, 0.999).lower > epsilon


def test_numbers_do_not_depend_on_threads() -> None:
    small = audit(SMALL, bases=2, challenges=5, shadows=4, size=20)
    found = collect(small)
    assert collect(small, threads=3) == found
    assert all(isinstance(each, Counts) and each.out == 5 for each in found)
    assert collect(replace(small, seed=1)) != found


def test_cross_fed_challenges_are_counted_as_correlated() -> None:
    crossed = audit(SMALL, bases=1, challenges=6, shadows=0, size=20)
    assert isinstance(crossed.likelihood, mcmc.CorrelatedNormal)
    assert isinstance(replace(crossed, shadows=2).likelihood, mcmc.IndependentBinomial)
    progress: list[int] = []
    (found,) = collect(crossed, progress=progress.append)
    assert progress == [1] and found.in_ == 6
    assert counts_at([found], 0.1).negatives.tolist() == [6]


@pytest.mark.parametrize("shadows", [0, 4])
def test_neighbours_differ_by_the_record_alone(
    shadows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under either relation the tables share D, and the attack looks at z."""
    seen: list[tuple[Records, Records, Records]] = []

    def spied(trainer: object, *base: Records, **settings: object) -> Counts:
        seen.append((base[0], base[1], base[2]))
        return Counts((0.1,), (0,), 5, (0,), 5)

    for name in ("measure_split", "measure_fast"):
        monkeypatch.setattr(train, name, spied)
    vectors = np.eye(12, dtype=np.float32)
    population = FromRecords(Records.of_vectors(vectors, [0, 1] * 6, 2))
    for relation, extra in ((Relation.ADD_REMOVE, 0), (Relation.REPLACE_ONE, 1)):
        collect(TrainingAudit(population, SMALL, 1, 5, shadows, 8, relation=relation))
        without, with_record, record = ({*map(int, each.indices)} for each in seen.pop())
        assert len(record) == 1 and len(with_record) == 9 and len(without) == 8 + extra
        assert with_record - without == record and len(without - with_record) == extra


def test_records_are_drawn_without_replacement() -> None:
    vectors = np.eye(6, dtype=np.float32)
    population = FromRecords(Records.of_vectors(vectors, [0, 1, 0, 1, 0, 1], 2))
    drawn = population.draw(6, np.random.default_rng(0))
    assert sorted(drawn.indices.tolist()) == list(range(6))
    with pytest.raises(AuditError, match="needs 7 records, there are 6; lower size"):
        population.draw(7, np.random.default_rng(0))
    with pytest.raises(AuditError, match="challenge base needs 11 records"):
        collect(TrainingAudit(population, SMALL, bases=1, challenges=3, shadows=2, size=10))


def test_audits_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(AuditError, match="one of A1, A2, A3, A4, dp-sgd, got 'B'"):
        algorithm("B", 0.1)
    with pytest.raises(AuditError, match="sigma must be > 0 for A3, got 0"):
        algorithm("A3", 0.0)
    with pytest.raises(AuditError, match="challenges must be at least 3, got 2"):
        audit(SMALL, challenges=2)
    with pytest.raises(AuditError, match=r"shadows must be 0 .* or at least 2, got 1"):
        audit(SMALL, shadows=1)
    with pytest.raises(AuditError, match=r"level must be one of .* got 0.123"):
        counts_at([], 0.123)
    with pytest.raises(ValueError, match="NOPE"):
        FromPrior("acs", "NOPE")


def test_computed_estimates_are_the_papers() -> None:
    """Figure 2 at N = 500 and figure 3's strong attacks, through the suites."""
    points = {each.label: each for each in find_suite("mcmc-strength").points()}
    half = points["500 challenges, strength 0.5"].row().ceilings
    assert half["epsilon-low"]["mean"] == pytest.approx(0.362, abs=0.002)
    assert half["epsilon-high"]["mean"] == pytest.approx(0.866, abs=0.002)
    weak, strong = find_suite("mcmc-artificial").points()
    found = strong.row()
    assert found.metric == "epsilon" and found.epsilon == np.inf and weak.label == "weak"
    assert found.ceilings["epsilon-median"]["mean"] == pytest.approx(2.926, abs=0.1)
    assert found.ceilings["strength-median"]["mean"] == pytest.approx(0.710, abs=0.05)


@pytest.mark.parametrize(
    ("positives", "negatives", "said"),
    [([1, 2], [1, 2, 3], "2 false_positives and 3 false_negatives"), ([1, 9], [1, 2], "9 errors")],
)
def test_counts_of_a_suite_must_be_possible(
    positives: list[int], negatives: list[int], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        McmcCounts(
            compute="mcmc-counts",
            scenario="bad",
            false_positives=positives,
            false_negatives=negatives,
            challenges=5,
        )


def test_chains_that_do_not_converge_make_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcmc_computations, "ITERATIONS", (100, 120))
    _, strong = find_suite("mcmc-artificial").points()
    with pytest.raises(ComputationError, match=r"after 120 iterations: R-hat of epsilon"):
        strong.row()
