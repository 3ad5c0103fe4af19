"""Reports on synthetic tables: planned, published, and published without the table behind them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from reconbench.benchmarks.assess.accuracy import TableAccuracy
from reconbench.benchmarks.assess.assessment import (
    Assessment,
    AttackShares,
    BestPossible,
    Budget,
    Ceiling,
    Memorisation,
    NoBest,
    Sure,
)
from reconbench.benchmarks.assess.exposure import Column, Exposure, Kind, Kinds, Mean
from reconbench.benchmarks.assess.published.release import PublishedQuestion
from reconbench.benchmarks.assess.published.rows import RowGuesses, RowsAssessment
from reconbench.benchmarks.assess.question import Question
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.assess.rows_report import RowsReport
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.setting import Access
from reconbench.reports.assess.report import assess_html, assess_markdown, summarise_assessment
from reconbench.reports.assess.rows_report import rows_html, rows_markdown, summarise_rows

from .test_report import HOSTILE, mean, read

ACCURACY = TableAccuracy(
    rows=200,
    records=200,
    columns=3,
    one_way=Mean(0.05, None),
    two_way=mean(0.12),
    sampled_one_way=0.03,
    sampled_two_way=0.06,
)
MEMORISATION = Memorisation(80, 0.58, Mean(0.57, None), Mean(0.06, 0.04))


def make_budget(epsilon: float, **changes: Any) -> Budget:
    budget = Budget(
        epsilon=epsilon,
        guarantee="2-GDP, replace-one",
        mu=2.0,
        noise_sd=4.0,
        prior_real=0.6,
        prior_expected=0.59,
        attacks=(
            AttackShares("prior", mean(0.6), mean(0.59), None),
            AttackShares("stack", mean(0.65), mean(0.63), None),
        ),
        best=BestPossible(0.66, mean(0.07)),
        fresh_gain=mean(0.04),
        ceiling=Ceiling(mean=0.79, gain=0.2, high=0.9),
        sure=Sure(30.0, 0.95),
        accuracy=ACCURACY,
        any_prior_gain=0.25,
    )
    return replace(budget, **changes)


def make_report(
    target: str = "income", known: str = "age", label: str = "rich"
) -> AssessmentReport:
    kind = Kind(known, label, 20, 0.5, mean(0.7))
    found = Assessment(
        known=(known, "sex"),
        reference="stack",
        relation="replace-one",
        unit="a record",
        budgets=(make_budget(1.0), make_budget(10.0)),
        exposure=Exposure(
            columns=(Column(target, 0.6, mean(0.65)),),
            by_target=(Kinds(target, (), 2, 200),),
            by_known=(Kinds(known, (kind,), 0, 0),),
        ),
    )
    question = Question(
        "prior.bif",
        (target,),
        epsilon=10.0,
        epsilons=(1.0, 10.0),
        mechanism="pgm",
        mechanism_options=Options({"structure": "star"}),
    )
    return AssessmentReport(question, found, TableSource("people.csv", 200, "prior.bif", True, ()))


def change(report: AssessmentReport, **changes: Any) -> AssessmentReport:
    budgets = tuple(replace(budget, **changes) for budget in report.assessment.budgets)
    return replace(report, assessment=replace(report.assessment, budgets=budgets))


def publish(report: AssessmentReport, **changes: Any) -> AssessmentReport:
    """The report on a table that was out already."""
    plays = tuple(AttackShares(f"a{i}", Mean(0.6 + i / 100, None), None, None) for i in range(5))
    picked = AttackShares("picked", Mean(0.64, None), None, None)
    budget = make_budget(
        1.0,
        attacks=(report.asked.attacks[0], picked, *plays),
        best=BestPossible(why_not=NoBest.NOT_PLAYED),
        fresh_gain=None,
        guarantee="(1, 1e-05)-DP, replace-one",
    )
    return AssessmentReport(
        PublishedQuestion("p.bif", report.question.targets, mechanism="published-table"),
        replace(report.assessment, reference="picked", budgets=(replace(budget, **changes),)),
        replace(report.source, release="out.csv"),
    )


def words(text: str) -> str:
    return " ".join(text.split())


def test_what_is_proved_and_what_is_measured() -> None:
    reader = read(assess_html(make_report()))
    text = words(reader.text)
    for sentence in (
        "With a synthetic table of 200 rows by pgm at ε = 10, the best attack we know gets 65.0 % ",
        "no attack on this release can expect to gain more than 7.0 percentage points: the best "
        "possible, proved for this generator. There the best attack that we know gained 4.0",
        "off by 5.0 % of the rows on average, those of a pair of columns by 12.0 %; as many rows "
        "drawn from your own records would be off by 3.0 % and 6.0 %",
        "so no attack on it can expect more, however many rows are drawn",
        "Few rows are no protection",
        "made by pgm (structure=star)",
        "not the noisy counts in between",
        "The best attack is stack, the strongest that we know of",
        "can expect to gain more than 25.0 percentage points on any record (proved)",
        "ceilings use all of its guarantee, 2-GDP, replace-one",
    ):
        assert sentence in text, sentence
    assert "best possible, tables drawn from the prior, ε = 1: +7.0 points" in text
    assert "noise on a count" not in text and "marginal" not in text


def test_utility_stands_beside_risk() -> None:
    text = assess_markdown(make_report())
    assert "| best possible there, points |" in text and "| **7.0 ± 1.0** |" in text
    row = "| **10** | **5.0** | **12.0 ± 1.0** | **3.0** | **6.0** | **+5.0** |"
    assert row in text
    assert max(len(line) for line in text.splitlines() if line[:1] not in "|#") <= 100


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (NoBest.ADAPTIVE, "looks at the table to choose what it measures"),
        (NoBest.NOT_MEASURED, "keeps no noisy counts"),
        (NoBest.NOT_CONVERGED, "the chains that compute it did not agree"),
        (NoBest.NOT_TRUSTED, "is a plugin, whose word on its noise is not taken"),
    ],
)
def test_an_absent_line_says_why(reason: NoBest, why: str) -> None:
    report = change(make_report(), best=BestPossible(why_not=reason))
    text = words(assess_markdown(report))
    assert "The best possible of this release is not known" in text
    assert "The best possible is not known at ε = 1 and 10: " in text and text.count(why) == 2
    assert "best possible there" not in text
    assert "The ceilings hold all the same" in text


def test_whoever_sees_the_counts() -> None:
    report = make_report()
    attacks = (
        report.asked.attacks[0],
        AttackShares("posterior", mean(0.65), mean(0.63), True),
    )
    report = change(report, attacks=attacks)
    assert isinstance(report.question, Question)
    report = replace(
        report,
        assessment=replace(report.assessment, reference="posterior"),
        question=replace(report.question, access=Access.MEASUREMENTS),
    )
    text = words(assess_markdown(report))
    assert "by pgm, and the noisy counts it was made from, at ε = 10" in text
    assert "The best attack is optimal for an attacker who believes the prior" in text
    assert "best possible there" not in text and "A better attack may exist" not in text


def test_records_outside_the_table() -> None:
    report = change(make_report(), memorisation=MEMORISATION)
    report = replace(report, source=replace(report.source, held_out="others.csv"))
    text = words(assess_markdown(report))
    assert "Of 80 records that are not in the table, the same attack, which takes them" in text
    assert "gets 57.0 % right; 58.0 % without the release" in text
    assert "is 6.0 ± 4.0 percentage points more for records of the table" in text
    assert "a prior from elsewhere (--prior) compares both alike" in text
    assert "| records not in the table | others.csv |" in assess_markdown(report)
    less = change(report, memorisation=replace(MEMORISATION, memorised=Mean(-0.01, 0.04)))
    assert "is 1.0 ± 4.0 percentage points less for records" in words(assess_markdown(less))


def test_a_guarantee_that_no_bound_holds_for() -> None:
    text = words(assess_markdown(change(make_report(), ceiling=None)))
    assert "None of our bounds holds for this guarantee, so there is no ceiling" in text


def test_a_published_table_with_a_budget() -> None:
    report = publish(make_report())
    text = words(read(assess_html(report)).text)
    for sentence in (
        "With the synthetic table of 200 rows in out.csv, the best of 5 attacks gets 64.0 % right",
        "Proved, if the stated guarantee is kept: the ceilings",
        "who made the table, and from what, is not known here",
        "picked by its luck on the records it is counted on",
        "as stated by its publisher",
    ):
        assert sentence in text, sentence
    markdown = assess_markdown(report)
    assert "| a4 | 64.0 | +4.0 |" in markdown and "a0, %" not in markdown
    assert "| generator | not known |" in markdown
    far = replace(report, assessment=replace(report.assessment, relation="add-or-remove-one"))
    assert "what this implies for replacing a record" in words(assess_markdown(far))


def test_a_published_table_without_a_budget() -> None:
    report = publish(make_report(), epsilon=None, ceiling=None, any_prior_gain=None)
    text = words(assess_markdown(report))
    assert "No guarantee was stated, so there is no ceiling" in text
    assert "Nothing is proved: no budget was stated" in text
    assert "(proved)" not in text and "On your own table: percentage" in text
    assert "The noise is taken to be Gaussian" not in text
    assert len(summarise_assessment(report)) == 4


def make_rows(table: str = "out.csv", **changes: Any) -> RowsReport:
    found = RowsAssessment(
        known=("age", "sex"),
        rows=600,
        reference="stack",
        fitted=True,
        guesses=(
            RowGuesses("prior", 0.6, 0.61, 90, 0.9),
            RowGuesses("stack", 0.65, 0.68, 95, 0.905),
        ),
        guarantee="none stated",
        relation="replace-one",
        unit="one record",
        epsilon=None,
        any_prior_gain=None,
    )
    question = PublishedQuestion("", ("income",), mechanism="published-table", epsilon=inf)
    return RowsReport(question, replace(found, **changes), table, None, ())


def test_without_truth_no_success_is_claimed() -> None:
    text = words(read(rows_html(make_rows())).text)
    for sentence in (
        "No success was measured",
        "cannot be said without them: give the table behind it with --truth",
        "guesses income right for 65.0 % of the other rows. That is how far the table ties",
        "at least 90 % sure of 95 of the 600 made-up rows, and right about 90.5 % of these",
        "No budget was stated, so there is no ceiling",
        "it too knows nothing but the table",
        "It learned from the known columns how far to trust the table.",
    ):
        assert sentence in text, sentence
    assert "your table" not in text and "your records" not in text
    assert len(summarise_rows(make_rows())) == 4


def test_without_truth_a_budget_still_bounds_the_gain() -> None:
    report = make_rows(
        any_prior_gain=0.462,
        guarantee="(1, 1e-05)-DP, add-or-remove-one",
        epsilon=1.0,
        fitted=False,
    )
    text = words(rows_markdown(replace(report, prior="p.bif", left_out=("flat",))))
    assert "can expect to gain more than 46.2 percentage points on any real record" in text
    assert "60.0 % with the prior in p.bif alone" in text
    assert "Left out, as neither known nor wanted: flat" in text
    assert "no ceiling" not in text
    weak = make_rows(any_prior_gain=0.9999, guarantee="(30, 1e-05)-DP, replace-one", epsilon=30.0)
    text = words(rows_markdown(weak))
    assert "(30, 1e-05)-DP, replace-one) is so weak that it rules out nothing" in text
    assert "percentage points" not in text


def test_an_attack_that_does_not_say_how_sure_it_is() -> None:
    silent = RowGuesses("stack", 0.65, None, None, None)
    text = rows_markdown(make_rows(guesses=(silent, replace(silent, attack="prior"))))
    assert "does not say how sure" in words(text) and "| **stack** | **65.0** | **–** |" in text
    nobody = replace(silent, confidence=0.6, sure=0)
    text = words(rows_markdown(make_rows(guesses=(nobody, replace(nobody, attack="prior")))))
    assert "sure of 0 of the 600 made-up rows." in text


def test_hostile_names_are_inert() -> None:
    planned = make_report(HOSTILE, HOSTILE, HOSTILE)
    planned = replace(planned, source=replace(planned.source, table=HOSTILE, held_out=HOSTILE))
    rows = replace(make_rows(HOSTILE), left_out=(HOSTILE,), prior=HOSTILE)
    for page in (assess_html(planned), assess_html(publish(planned)), rows_html(rows)):
        reader = read(page)
        assert not {"script", "a", "code", "em"} & set(reader.tags) and "\u202e" not in page
    for text in (assess_markdown(planned), assess_markdown(publish(planned)), rows_markdown(rows)):
        assert not [sign for sign in ("<script", "](", "`", "\u202e") if sign in text]
