"""Assessments of a synthetic table that is out, with and without the table behind it."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from reconbench.benchmarks.assess.accuracy import TableAccuracy
from reconbench.benchmarks.assess.assessment import Assessment, NoBest
from reconbench.benchmarks.assess.games.real_games import RealPlay
from reconbench.benchmarks.assess.published.picked import pick_by_other_records
from reconbench.benchmarks.assess.published.release import PublishedQuestion, assess_release
from reconbench.benchmarks.assess.published.rows import RowsAssessment, assess_rows
from reconbench.benchmarks.assess.question import AssessError
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.assess.rows_report import RowsReport
from reconbench.bounds import ApproxDP, Relation
from reconbench.datasets import Attribute, BayNet, Domain, Table, save_prior
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.published_table import PublishedTable
from reconbench.mechanisms.synthetic.release import SyntheticRelease

ADD_REMOVE = ApproxDP(1.0, 1e-6, Relation.ADD_REMOVE)


def ask(
    dataset: str, stated: ApproxDP | None = None, attacks: tuple[str, ...] = ()
) -> PublishedQuestion:
    return PublishedQuestion(
        dataset,
        ("sick",),
        attacks=attacks,
        mechanism=PublishedTable.name,
        epsilon=inf if stated is None else stated.epsilon,
    )


def judge(
    question: PublishedQuestion,
    people: Table,
    released: Table,
    stated: ApproxDP | None = None,
    held_out: Table | None = None,
) -> Assessment:
    mechanism = PublishedTable(people.domain, ("sick",), stated)
    release = SyntheticRelease(people.domain, released, len(people))
    return assess_release(question, people, release, mechanism, held_out)


LEARNERS = ("naive-bayes", "knn", "random-forest")


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Table]:
    """Forty people who differ in two known columns, each with the toss of a coin to hide."""
    domain = Domain(
        (
            Attribute("street", tuple(f"s{i}" for i in range(8))),
            Attribute("house", tuple(f"h{i}" for i in range(5))),
            Attribute("sick", ("no", "yes")),
        )
    )
    shares = tuple(np.full(size, 1 / size) for size in domain.sizes)
    path = tmp_path_factory.mktemp("coins") / "coins.bif"
    save_prior(BayNet(domain, ((), (), ()), shares, domain.names), path)
    return str(path), Table(domain, _toss(0))


def _toss(seed: int) -> np.ndarray:
    sick = np.random.default_rng(seed).integers(0, 2, 40)
    return np.column_stack([np.arange(40) // 5, np.arange(40) % 5, sick])


@pytest.fixture(scope="module")
def leaking(everybody: tuple[str, Table]) -> Assessment:
    """The people themselves, published without any change, beside others at their addresses."""
    prior, table = everybody
    others = Table(table.domain, _toss(1))
    return judge(ask(prior, attacks=LEARNERS), table, table, held_out=others)


def test_a_copy_is_found_out(leaking: Assessment) -> None:
    (budget,) = leaking.budgets
    found = budget.get_attack(leaking.reference).real.value
    assert leaking.reference == "picked" and found > 0.95
    assert isinstance(budget.accuracy, TableAccuracy)
    assert budget.accuracy.one_way.value == budget.accuracy.two_way.value == 0.0
    assert budget.accuracy.sampled_one_way > 0
    memorisation = budget.memorisation
    assert memorisation is not None and memorisation.memorised.margin is not None
    assert memorisation.memorised.value > memorisation.memorised.margin
    assert memorisation.attack.value < 0.75


def test_a_table_of_others_gives_nothing_away(
    prior_file: str, people: Table, strangers: Table, population: BayNet
) -> None:
    """The negative control: rows of the population, of nobody in the table."""
    others = population.sample(60, np.random.default_rng(11))
    (budget,) = judge(ask(prior_file, attacks=LEARNERS), people, others, held_out=strangers).budgets
    memorisation = budget.memorisation
    assert memorisation is not None and memorisation.memorised.margin is not None
    assert abs(memorisation.memorised.value) < memorisation.memorised.margin


def test_without_a_budget_there_is_no_ceiling(leaking: Assessment) -> None:
    (budget,) = leaking.budgets
    assert budget.epsilon is None and budget.ceiling is None and budget.any_prior_gain is None
    assert budget.guarantee == "none stated" and budget.best.why_not is NoBest.NOT_PLAYED


@pytest.mark.parametrize("stated", [ApproxDP(1.0, 1e-6), ADD_REMOVE])
def test_ceilings_of_a_stated_budget(prior_file: str, people: Table, stated: ApproxDP) -> None:
    found = judge(ask(prior_file, stated), people, people, stated)
    (budget,) = found.budgets
    implied = stated if stated.relation is Relation.REPLACE_ONE else ApproxDP(2.0, 4e-6)
    assert found.relation == stated.relation.value and budget.guarantee == stated.describe()
    assert budget.ceiling is not None and budget.any_prior_gain == stated.total_variation()
    mechanism = PublishedTable(people.domain, ("sick",), stated)
    assert mechanism.budget.epsilon == implied.epsilon
    assert mechanism.budget.delta == pytest.approx(implied.delta, rel=0.1)
    # No looser than the pair that it implies, and looser than a replace-one budget of that ε.
    assert mechanism.guarantee.total_variation() <= mechanism.budget.total_variation() + 1e-12
    assert mechanism.guarantee.relation is Relation.REPLACE_ONE


def test_a_weaker_budget_has_higher_ceilings(prior_file: str, people: Table) -> None:
    gains = []
    for stated in (ApproxDP(0.5, 1e-6), ApproxDP(1.0, 1e-6), ADD_REMOVE, ApproxDP(inf, 1e-6)):
        (budget,) = judge(ask(prior_file, stated), people, people, stated).budgets
        assert budget.ceiling is not None
        gains.append(budget.ceiling.gain)
    assert gains == sorted(gains) and gains[0] < gains[1] < gains[2] < gains[3]


def test_an_unknown_generator_cannot_be_run(people: Table) -> None:
    mechanism = PublishedTable(people.domain, ("sick",))
    assert mechanism.budget.epsilon == inf and mechanism.can_run is False
    with pytest.raises(MechanismError, match="cannot be run"):
        mechanism.release(people, np.random.default_rng(0))


def test_picking_by_other_records_is_not_picking_by_luck() -> None:
    """Twelve attacks that flip coins. 300 tables of 60: 4.5 standard errors of the mean.

    The negative control is the attack that got most, which the same test finds out.
    """
    rng = np.random.default_rng(7)
    picked, luckiest = [], []
    for _ in range(300):
        hits = rng.random((12, 60)) < 0.5
        plays = [
            RealPlay(f"a{i}", np.full((60, 1), i), row, None, None) for i, row in enumerate(hits)
        ]
        chosen = pick_by_other_records(plays, rng)
        # Every record's guess, hit and attack belong together.
        assert (chosen.hits == hits[chosen.guess[:, 0], np.arange(60)]).all()
        picked.append(chosen.hits.mean())
        luckiest.append(hits.mean(axis=1).max())
    error = 0.5 / np.sqrt(60 * 300)
    assert abs(np.mean(picked) - 0.5) < 4.5 * error
    assert np.mean(luckiest) - 0.5 > 4.5 * error
    better = RealPlay("good", np.zeros((60, 1), dtype=np.int64), np.arange(60) < 50, None, None)
    assert pick_by_other_records([*plays, better], rng).hits.sum() == 50


@pytest.fixture(scope="module")
def rows(population: BayNet, people: Table) -> RowsAssessment:
    table = population.sample(150, np.random.default_rng(8))
    mechanism = PublishedTable(people.domain, ("sick",), ADD_REMOVE)
    return assess_rows(ask("", ADD_REMOVE), table, mechanism, population)


def test_without_truth_only_made_up_rows_are_guessed(
    rows: RowsAssessment, population: BayNet
) -> None:
    assert (rows.rows, rows.reference, rows.fitted) == (150, "stack", False)
    assert [each.attack for each in rows.guesses] == ["prior", "stack"]
    prior = rows.get_guesses("prior")
    table = population.sample(150, np.random.default_rng(8))
    guess, chance = population.map(table.project(("age", "home")), ("sick",))
    assert prior.right == pytest.approx((guess.codes == table.project(("sick",)).codes).mean())
    assert prior.confidence == pytest.approx(chance.mean())
    assert rows.any_prior_gain == ADD_REMOVE.total_variation()
    mechanism = PublishedTable(table.domain, ("sick",), ADD_REMOVE)
    assert assess_rows(ask("", ADD_REMOVE), table, mechanism, population) == rows
    report = RowsReport(ask("", ADD_REMOVE), rows, "out.csv", "p.bif", ())
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["measured_success"] is None
    assert document["guarantee"]["relation"] == "add-or-remove-one"


def test_without_a_prior_one_is_fitted_to_the_other_rows(population: BayNet) -> None:
    """Rows that follow no rule: whoever had seen the rows that he guesses would get more."""
    codes = np.random.default_rng(9).integers(0, [6, 4, 2], (60, 3))
    table = Table(population.domain, codes)
    mechanism = PublishedTable(table.domain, ("sick",))
    found = assess_rows(ask(""), table, mechanism, None)
    assert found.fitted and found.any_prior_gain is None and found.epsilon is None
    assert found.get_guesses("prior").right < 0.75


def test_too_few_rows(population: BayNet, people: Table) -> None:
    few = population.sample(49, np.random.default_rng(0))
    with pytest.raises(AssessError, match="49 rows, fewer than 50"):
        assess_rows(ask(""), few, PublishedTable(people.domain, ("sick",)), None)


def test_a_report_on_a_published_table(leaking: Assessment, prior_file: str) -> None:
    question = ask(prior_file, attacks=LEARNERS)
    source = TableSource("t.csv", 40, "p.bif", False, (), release="out.csv", held_out="o.csv")
    document = AssessmentReport(question, leaking, source).to_json()
    assert document["question"]["attacks"][:2] == ["prior", "picked"]
    assert document["question"]["reps"] == 1 and document["question"]["epsilon"] is None
    assert document["mechanism"]["name"] == "published-table"
    again = replace(question, seed=5)
    assert again.build_game(40).seed == 5
