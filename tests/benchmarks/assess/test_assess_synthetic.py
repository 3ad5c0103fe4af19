"""Assessments of a table that is played through a generator of synthetic tables."""

from __future__ import annotations

import json
from dataclasses import replace
from math import atanh

import numpy as np
import pytest
from scipy.stats import norm

from reconbench.benchmarks.assess.accuracy import MarginalsAccuracy, TableAccuracy
from reconbench.benchmarks.assess.assess import assess
from reconbench.benchmarks.assess.assessment import Assessment, NoBest
from reconbench.benchmarks.assess.games.real_games import build_real_round
from reconbench.benchmarks.assess.max_epsilon import (
    GaussianBudget,
    RebuiltMechanism,
    find_family,
)
from reconbench.benchmarks.assess.question import AssessError, Question
from reconbench.benchmarks.assess.reference import choose_reference, list_attacks
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.assess.table_distance import measure_distance
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Round, play
from reconbench.benchmarks.game.setting import Access
from reconbench.bounds import gaussian_mu
from reconbench.datasets import Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.synthetic.release import SyntheticRelease

STAR = Options({"structure": "star"})
# The error of the chains behind the best possible, as a share of the records.
MONTE_CARLO = 0.003


@pytest.fixture(scope="module")
def question(prior_file: str) -> Question:
    return Question(
        prior_file,
        ("sick",),
        epsilon=10.0,
        epsilons=(10.0,),
        mechanism="pgm",
        mechanism_options=STAR,
        reps=2,
    )


@pytest.fixture(scope="module")
def found(question: Question, people: Table, strangers: Table) -> Assessment:
    return assess(replace(question, max_risk=0.1), people, held_out=strangers)


def test_numbers_on_drawn_tables_are_those_of_the_game(
    question: Question, found: Assessment, people: Table
) -> None:
    games = [question.build_game(len(people), 10.0, rep) for rep in range(question.reps)]
    rows = [play(Round.draw(game), AttackSpec("stack")) for game in games]
    (budget,) = found.budgets
    fresh = budget.get_attack("stack").fresh
    assert found.reference == "stack" and fresh is not None
    assert fresh.value == pytest.approx(np.mean([row.successes for row in rows]) / len(people))
    mine = [row for row in found.rows if row.attack == "stack"]
    assert [a.differences(b) for a, b in zip(rows, mine, strict=True)] == [[]] * len(rows)


def test_the_best_possible_stands_above_the_attack(found: Assessment) -> None:
    """Both are expectations given the same releases, so the order holds in every game."""
    (budget,) = found.budgets
    assert budget.best.gain is not None and budget.fresh_gain is not None
    assert budget.best.gain.value >= budget.fresh_gain.value - MONTE_CARLO
    assert budget.ceiling is not None and budget.best.gain.value < budget.ceiling.gain
    assert budget.any_prior_gain is not None and budget.ceiling.gain <= budget.any_prior_gain


def test_accuracy_is_the_distance_of_the_tables(
    question: Question, found: Assessment, people: Table
) -> None:
    (budget,) = found.budgets
    accuracy = budget.accuracy
    assert isinstance(accuracy, TableAccuracy)
    assert (accuracy.rows, accuracy.records, accuracy.columns) == (60, 60, 3)
    distances = []
    for rep in range(question.reps):
        release = build_real_round(question.build_game(60, 10.0, rep), people).released
        assert isinstance(release, SyntheticRelease)
        distances.append(measure_distance(people, release.table, 2))
    assert accuracy.two_way.value == pytest.approx(np.mean(distances))


def test_the_largest_epsilon_is_the_closed_form(
    found: Assessment, question: Question, people: Table
) -> None:
    """Of Gaussian noise: 2Φ(μ/2) − 1; of randomised response: tanh(ε/2)."""
    by_scope = {answer.scope: answer.epsilon for answer in found.proved}
    epsilon = by_scope["any-prior"]
    assert epsilon is not None
    assert gaussian_mu(epsilon, question.delta) == pytest.approx(2 * norm.ppf(0.55), rel=1e-6)
    reports = replace(question, mechanism="grr", mechanism_options=Options(), reps=1, max_risk=0.1)
    local = assess(reports, people)
    assert local.reference == "optimal" and local.budgets[0].accuracy is None
    (answer,) = [each for each in local.proved if each.scope == "any-prior"]
    assert answer.epsilon == pytest.approx(2 * atanh(0.1), rel=1e-6)


def test_guarantees_by_epsilon(question: Question, people: Table) -> None:
    for mechanism, options, kind in (
        ("pgm", STAR, GaussianBudget),
        ("gaussian-marginals", Options({"k": 2}), GaussianBudget),
        ("grr", Options(), RebuiltMechanism),
    ):
        asked = replace(question, mechanism=mechanism, mechanism_options=options)
        round_ = build_real_round(asked.build_game(len(people), 10.0), people)

        def build(epsilon: float, asked: Question = asked, round_: Round = round_) -> Mechanism:
            return asked.build_mechanism(epsilon, people.domain, round_.prior)

        family = find_family(round_.mechanism, build)
        assert isinstance(family, kind)
        for epsilon in (0.3, 4.0):
            expected = build(epsilon).guarantee.delta_at(0.2)
            assert family.guarantee(epsilon).delta_at(0.2) == pytest.approx(expected, rel=1e-9)


def test_records_outside_the_table_are_attacked_alike(
    question: Question, found: Assessment, people: Table, strangers: Table
) -> None:
    """80 of them, in two rounds of 60: an attacker takes them for the records of the table."""
    (budget,) = found.budgets
    memorisation = budget.memorisation
    assert memorisation is not None and memorisation.records == len(strangers)
    gain = budget.get_attack("stack").real.value - budget.prior_real
    outside = memorisation.attack.value - memorisation.prior
    assert memorisation.memorised.value == pytest.approx(gain - outside)
    assert memorisation.memorised.margin is not None and memorisation.memorised.margin < 0.5
    own = assess(replace(question, reps=1), people, held_out=people)
    itself = own.budgets[0].memorisation
    assert itself is not None and itself.memorised.value == 0.0  # the same records, the same hits
    assert itself.attack.value == own.budgets[0].get_attack("stack").real.value


def test_too_few_records_outside_the_table(question: Question, people: Table) -> None:
    few = Table(people.domain, people.codes[:9])
    with pytest.raises(AssessError, match="9 held-out records, fewer than 10"):
        assess(question, people, held_out=few)


def test_whoever_sees_the_counts_has_the_optimal_attack(question: Question, people: Table) -> None:
    seen = replace(question, access=Access.MEASUREMENTS, reps=1, attacks=("stack",))
    found = assess(seen, people)
    report = AssessmentReport(seen, found, TableSource("t.csv", 60, "p.bif", False, ()))
    assert found.reference == "posterior" and report.optimal
    assert report.attacks == ("prior", "posterior", "stack")
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["mechanism"]["access"] == "measurements"
    assert document["mechanism"]["options"] == {"structure": "star"}
    assert document["question"]["k"] is None and document["budgets"][0]["accuracy"]["rows"] == 60


def test_why_there_is_no_best_possible(question: Question, people: Table) -> None:
    """mst chooses pairs by looking at the table: what its choice tells nobody counts here."""
    adaptive = replace(question, mechanism="mst", mechanism_options=Options(), reps=1)
    (budget,) = assess(adaptive, people).budgets
    assert budget.best.gain is None and budget.best.share is None
    assert budget.best.why_not is NoBest.ADAPTIVE
    assert budget.ceiling is not None


def test_few_rows_are_no_protection(question: Question, people: Table) -> None:
    """The best possible is that of the counts, whatever is drawn; the attack comes up to it.

    At ε = 30 with 6 rows for 60 records, and with 3,000. The lead of the best possible over the
    attack is an expectation given the release, so there is no luck in it but that of the tables.
    """
    leads, errors = [], []
    for rows in (6, 3_000):
        options = Options({"structure": "star", "rows": rows})
        asked = replace(question, mechanism_options=options, epsilon=30.0, epsilons=(30.0,), reps=3)
        (budget,) = assess(asked, people).budgets
        assert budget.best.gain is not None and budget.fresh_gain is not None
        leads.append(budget.best.gain.value - budget.fresh_gain.value)
        assert isinstance(budget.accuracy, TableAccuracy)
        errors.append(budget.accuracy.one_way.value)
    assert leads[0] > 0.03 > MONTE_CARLO > abs(leads[1])
    assert errors[0] > 2 * errors[1]


def test_the_reference_is_the_best_that_can_play(question: Question, people: Table) -> None:
    view = build_real_round(question.build_game(len(people), 10.0), people).view
    assert choose_reference(view) == "stack"
    with pytest.raises(AssessError, match="no attack here can play what pgm releases"):
        choose_reference(view, ("posterior", "optimal"))
    everything = list_attacks(("all",), "stack", view)
    assert everything[:2] == ("prior", "stack") and "random-forest" in everything
    assert not {"random", "imputation", "posterior"} & set(everything)
    with pytest.raises(AssessError, match="attack 'posterior' cannot play"):
        list_attacks(("posterior",), "stack", view)


def test_marginals_keep_their_own_accuracy(question: Question, people: Table) -> None:
    asked = replace(
        question, mechanism="gaussian-marginals", mechanism_options=Options({"k": 2}), reps=1
    )
    (budget,) = assess(asked, people).budgets
    assert isinstance(budget.accuracy, MarginalsAccuracy) and budget.accuracy.k == 2
    assert budget.accuracy.marginals == 2


@pytest.mark.slow
def test_jobs_do_not_change_the_numbers(
    question: Question, people: Table, strangers: Table
) -> None:
    source = TableSource("t.csv", len(people), "p.bif", False, ())
    once = replace(question, reps=1)
    one, two = (
        AssessmentReport(once, assess(once, people, held_out=strangers, jobs=jobs), source)
        for jobs in (1, 2)
    )
    assert json.dumps(one.to_json()) == json.dumps(two.to_json())
