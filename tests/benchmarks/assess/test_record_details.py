"""Weights, groups, budgets in rho, single records, and games that were played before."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reconbench.benchmarks.assess.assess import assess
from reconbench.benchmarks.assess.assessment import Assessment, Groups, Weights
from reconbench.benchmarks.assess.budgets import weigh_ceiling
from reconbench.benchmarks.assess.games import tasks
from reconbench.benchmarks.assess.games.real_games import build_real_round
from reconbench.benchmarks.assess.games.saved_games import FOLDER, SavedGames
from reconbench.benchmarks.assess.max_epsilon import Measure, RecordRisks
from reconbench.benchmarks.assess.question import AssessError, Question
from reconbench.benchmarks.assess.record_table import HEADER
from reconbench.benchmarks.assess.zcdp_budgets import convert_rho, state_budgets
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.datasets import Table
from reconbench.mechanisms import GaussianMarginals


@pytest.fixture
def question(prior_file: str) -> Question:
    return Question(
        prior_file, ("sick",), epsilon=5.0, epsilons=(1.0, 5.0), reps=2,
        mechanism_options=Options({"k": 2}),
    )  # fmt: skip


def test_weights_are_numbers_above_zero() -> None:
    weights = Weights("w", np.array([1.0, 1.0, 4.0]))
    assert weights.values.mean() == 1 and weights.effective == pytest.approx(36 / 18)
    assert Weights("w", np.full(7, 3.0)).effective == pytest.approx(7)
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="weights must be finite numbers > 0"):
            Weights("w", np.array([1.0, bad]))


def test_shares_are_weighted(question: Question, people: Table) -> None:
    """Every share of the real table is the weighted mean of what the games say record by record."""
    values = np.random.default_rng(3).uniform(0.5, 3.0, len(people))
    weights = Weights("w", values)
    found = assess(question, people, weights=weights, per_record=True)
    plain = assess(question, people, per_record=True)
    records = found.per_record
    assert records is not None and plain.per_record is not None
    asked = next(budget for budget in found.budgets if budget.epsilon == 5.0)
    assert asked.prior_real == pytest.approx(np.average(records.guessed, weights=values))
    assert asked.prior_expected == pytest.approx(np.average(records.chance, weights=values))
    reached = asked.get_attack("posterior").real.value
    assert reached == pytest.approx(np.average(records.right, weights=values))
    # the games are the same: weights say what is counted, not what is released
    assert np.array_equal(records.right, plain.per_record.right)
    assert found.rows == tuple(
        replace(row, seconds=other.seconds, peak_memory_mib=other.peak_memory_mib)
        for row, other in zip(plain.rows, found.rows, strict=True)
    )
    ceiling = asked.ceiling
    assert ceiling is not None and ceiling.high is None
    assert ceiling.mean == pytest.approx(np.average(records.most, weights=values))
    kinds = {kind.label: kind for kind in found.exposure.by_known[0].shown}
    (label, kind), *_ = kinds.items()
    own = people.column("age") == people.domain["age"].code(label)
    assert kind.records == own.sum()
    assert kind.prior == pytest.approx(np.average(records.guessed[own], weights=values[own]))


def test_equal_weights_change_nothing(question: Question, people: Table) -> None:
    round_ = build_real_round(question.build_game(len(people), 5.0), people)
    weighed = weigh_ceiling(round_, np.ones(len(people)))
    mean = tightest_mean(round_.ceilings_for_any_attack)
    assert weighed is not None and mean is not None
    assert weighed.mean == pytest.approx(mean / len(people))
    equal = assess(question, people, weights=Weights("w", np.full(len(people), 7.0)))
    plain = assess(question, people)
    assert [each.prior_real for each in equal.budgets] == [
        pytest.approx(each.prior_real) for each in plain.budgets
    ]


def test_a_group_is_promised_less(question: Question, people: Table) -> None:
    found = assess(question, people, groups=Groups("home", 20, 3))
    for budget in found.budgets:
        mechanism = question.build_mechanism(budget.epsilon or 0.0, people.domain, None)  # type: ignore[arg-type]
        together = mechanism.guarantee.group(3)
        assert budget.group_gain == together.total_variation() > (budget.any_prior_gain or 1)
        assert budget.group_guarantee == together.describe()
    assert all(budget.group_gain is None for budget in assess(question, people).budgets)


def test_what_is_sure_without_a_release(question: Question, people: Table) -> None:
    """The prior is never 90 % sure here; the attack without noise often is."""
    sure = replace(question, epsilon=1e4, epsilons=(1e4,), threshold=1)
    (budget,) = assess(sure, people).budgets
    assert budget.sure_without is not None and budget.sure_without.records is None
    assert budget.sure.records is not None and budget.sure.records > 5


@pytest.mark.parametrize("rho", [1e-3, 0.1, 0.5, 4.0])
def test_rho_is_what_the_noise_spends(rho: float, people: Table) -> None:
    epsilon = convert_rho(rho, 1e-6)
    mechanism = GaussianMarginals.for_budget(people.domain, ["sick"], epsilon, 1e-6, k=2)
    assert mechanism.guarantee.mu == pytest.approx(np.sqrt(2 * rho), rel=1e-9)
    # zCDP's own conversion holds, and is looser: ε = ρ + 2 √(ρ log(1/δ))
    assert epsilon < rho + 2 * np.sqrt(rho * np.log(1e6))


def test_budgets_in_rho(question: Question, people: Table) -> None:
    stated = state_budgets(None, (), 0.1, (0.01, 0.1), 1e-5)
    assert stated.epsilon == stated.epsilons[1] and stated.in_rho
    asked = replace(question, epsilon=stated.epsilon, epsilons=stated.epsilons, in_rho=True, reps=1)
    found = assess(asked, people)
    assert [budget.rho for budget in found.budgets] == pytest.approx([0.01, 0.1])
    ladder = state_budgets(None, (), 0.1, (), 1e-5).epsilons
    assert ladder == pytest.approx([convert_rho(0.1 * 10.0**i, 1e-5) for i in range(-2, 3)])
    for epsilon, rho, rhos, message in (
        (None, None, (), "needs epsilon"),
        (1.0, 0.1, (), "needs epsilon"),
        (1.0, None, (1.0,), "rhos goes with rho"),
    ):
        with pytest.raises(AssessError, match=message):
            state_budgets(epsilon, (), rho, rhos, 1e-5)
    with pytest.raises(AssessError, match="needs a delta"):
        convert_rho(0.1, 0.0)
    with pytest.raises(AssessError, match="finite number > 0"):
        convert_rho(0.0, 1e-5)


def test_rho_is_refused_where_it_means_nothing(question: Question, people: Table) -> None:
    local = replace(question, mechanism="grr", mechanism_options=Options(), in_rho=True)
    with pytest.raises(AssessError, match="rho is a budget of Gaussian noise, and grr is"):
        assess(local, people)


def test_single_records(question: Question, people: Table) -> None:
    found = assess(question, people, per_record=True)
    records = found.per_record
    assert records is not None
    round_ = build_real_round(question.build_game(len(people), 5.0), people)
    view, guarantee = round_.view, round_.mechanism.guarantee
    risks = RecordRisks(round_.prior, view.known, view.targets, round_.metric)
    assert records.most.mean() == pytest.approx(risks.mean(Measure.SHARE, guarantee))
    assert records.most.max() == risks.worst(Measure.SHARE, guarantee)
    assert np.array_equal(records.guessed, round_.hits(round_.baseline[0]))
    assert ((records.right >= 0) & (records.right <= 1)).all()
    header, *lines = records.to_csv(range(100, 100 + len(people))).splitlines()
    assert header.split(",") == list(HEADER) and header.startswith("CONFIDENTIAL")
    assert len(lines) == len(people) and lines[0].startswith("100,")
    assert assess(question, people).per_record is None


def same(one: Assessment, other: Assessment) -> bool:
    return (one.budgets, one.exposure, one.known) == (other.budgets, other.exposure, other.known)


def test_what_was_played_is_not_played_again(
    question: Question, people: Table, strangers: Table, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    shown: list[tuple[int, int]] = []

    def show(total: int, done: int) -> object:
        shown.append((total, done))
        from contextlib import nullcontext

        return nullcontext(lambda: None)

    with SavedGames(tmp_path) as memory:
        first = assess(question, people, held_out=strangers, memory=memory, show=show)  # type: ignore[arg-type]
    files = sorted((tmp_path / FOLDER).iterdir())
    assert len(files) == 4 and (tmp_path / "results.sqlite").is_file()
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    played: list[object] = []
    original = tasks._play
    monkeypatch.setattr(tasks, "_play", lambda task: played.append(task) or original(task))  # type: ignore[func-returns-value]
    with SavedGames(tmp_path) as memory:
        again = assess(question, people, held_out=strangers, memory=memory, show=show)  # type: ignore[arg-type]
    assert same(first, again) and not played and shown == [(8, 0), (8, 8)]
    # a file that is broken, another table and other strangers are other games
    files[0].write_text("{")
    with SavedGames(tmp_path) as memory:
        assert same(first, assess(question, people, held_out=strangers, memory=memory))
        assert len(played) == 1
        assess(question, strangers, memory=memory)
        assert len(played) == 1 + 8
        assess(question, people, memory=memory)
        assert len(played) == 1 + 8 + 4


def test_an_assessment_goes_on(
    question: Question, people: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, count = tasks._play, 0

    def stop_at_fifth(task: tasks.Task) -> tasks.Outcome:
        nonlocal count
        count += 1
        if count == 5:
            raise KeyboardInterrupt
        return original(task)

    monkeypatch.setattr(tasks, "_play", stop_at_fifth)
    with pytest.raises(KeyboardInterrupt), SavedGames(tmp_path) as memory:
        assess(question, people, memory=memory)
    with SavedGames(tmp_path) as memory:
        found = assess(question, people, memory=memory)
    assert count == 5 + 4
    monkeypatch.setattr(tasks, "_play", original)
    assert same(found, assess(question, people))
