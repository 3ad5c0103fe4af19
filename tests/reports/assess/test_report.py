"""The report of an assessment: page, Markdown and summary."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from math import inf
from typing import Any

import pytest

from reconbench.benchmarks.assess.accuracy import MarginalsAccuracy
from reconbench.benchmarks.assess.assessment import (
    Assessment,
    AttackShares,
    BestPossible,
    Budget,
    Ceiling,
    Sure,
)
from reconbench.benchmarks.assess.exposure import Column, Exposure, Kind, Kinds, Mean
from reconbench.benchmarks.assess.max_epsilon import MeasuredEpsilon, ProvedEpsilon
from reconbench.benchmarks.assess.prior_fit import PriorFit
from reconbench.benchmarks.assess.published.release import PublishedQuestion
from reconbench.benchmarks.assess.question import Question
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.game.options import Options
from reconbench.datasets.network.misfit import PairMisfit
from reconbench.reports.assess.report import assess_html, assess_markdown, summarise_assessment

HOSTILE = "<script>alert(1)</script>|`=1+1`[x](javascript:a)*_\u202e"


def mean(value: float) -> Mean:
    return Mean(value, 0.01)


def make_kind(column: str, label: str, prior: float, attack: float) -> Kind:
    return Kind(column, label, 20, prior, mean(attack))


def make_budget(epsilon: float) -> Budget:
    return Budget(
        epsilon=epsilon,
        guarantee="0.268-GDP, replace-one",
        mu=0.268,
        noise_sd=4.0,
        prior_real=0.6,
        prior_expected=0.59,
        attacks=(
            AttackShares("prior", mean(0.6), mean(0.59), None),
            AttackShares("posterior", mean(0.65), mean(0.63), True),
        ),
        best=BestPossible(0.63, mean(0.04)),
        fresh_gain=mean(0.04),
        ceiling=Ceiling(mean=0.69, gain=0.1, high=0.8),
        sure=Sure(30.0, 0.95),
        any_prior_gain=0.2,
        accuracy=MarginalsAccuracy(
            k=2,
            marginals=2,
            noise_sd=4.0,
            cell_error=3.19,
            typical_cell=5.0,
            relative=0.638,
            cells=120,
            distance=0.4,
            cleaned=0.2,
        ),
    )


def make_report(
    target: str = "income",
    known: str = "age",
    label: str = "rich",
    known_label: str = "old",
    table: str = "people.csv",
) -> AssessmentReport:
    old, young = (make_kind(known, each, 0.5, at) for each, at in ((known_label, 0.7), ("y", 0.5)))
    exposure = Exposure(
        columns=(Column(target, 0.6, mean(0.65)),),
        by_target=(Kinds(target, (make_kind(target, label, 0.1, 0.3),), 2, 12),),
        by_known=(Kinds(known, (old, young), 0, 0),),
    )
    found = Assessment(
        known=(known, "sex"),
        reference="posterior",
        relation="replace-one",
        unit="a record",
        budgets=(make_budget(0.1), make_budget(1.0), make_budget(inf)),
        exposure=exposure,
        proved=(
            ProvedEpsilon("mean", 0.8799),
            ProvedEpsilon("worst-record", None, "no epsilon keeps it"),
            ProvedEpsilon("any-prior", inf),
        ),
        measured=(
            MeasuredEpsilon("real", 1.0, inf, None),
            MeasuredEpsilon("fresh", None, 0.1, None),
        ),
    )
    budgets = (0.1, 1.0, inf)
    question = Question(
        "prior.bif",
        (target,),
        epsilon=1.0,
        epsilons=budgets,
        mechanism_options=Options({"k": 2}),
        max_risk=0.05,
    )
    return AssessmentReport(question, found, TableSource(table, 200, "prior.bif", True, ()))


@pytest.fixture
def report() -> AssessmentReport:
    return make_report()


def change(report: AssessmentReport, **changes: Any) -> AssessmentReport:
    """The report with other fields of its assessment."""
    return replace(report, assessment=replace(report.assessment, **changes))


def with_measured(
    report: AssessmentReport, keeps: float | None, passes: float | None, about: float | None
) -> AssessmentReport:
    real = MeasuredEpsilon("real", keeps, passes, about)
    return change(report, measured=(real, report.assessment.measured[1]))


def summary(report: AssessmentReport) -> str:
    return "\n".join(summarise_assessment(report))


class Reader(HTMLParser):
    """What a browser would make of it: tags, and the text of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def test_the_page_says_it(report: AssessmentReport) -> None:
    reader = read(assess_html(report))
    text = " ".join(reader.text.split())
    for words in (
        "Confidential",
        "guesses income right for 60.0 % of your 200 records",
        "gets 65.0 % right on your table: 5.0 percentage points more, about 10 records",
        "gain more than 10.0 percentage points",
        "kept on average over your records up to ε = 0.879, but at no ε for every single record",
        "2 labels, not shown",
        "Kinds of fewer than 10 records are not shown",
        "fitted to this very table",
        "replace-one",
        "none keeps it",
        "between 1 and ∞",
        "less than 0.1",
        "A released count is off by 3.19 on average; the typical non-empty cell holds 5",
    ):
        assert words in text, words
    assert "script" not in reader.tags and "img" not in reader.tags and "link" not in reader.tags
    assert reader.tags.count("svg") == reader.tags.count("details") == 1
    # the points of the best attack, on the table and on drawn ones, and their samples
    assert reader.tags.count("circle") == 2 * 3 + 2
    assert "best attack, your table, ε = 1: +5.0 points" in text


def test_the_limit_is_rounded_down(report: AssessmentReport) -> None:
    for epsilon, shown in ((0.8799, "0.879"), (0.9996, "0.999"), (12.37, "12.3"), (2.0, "2")):
        proved = (ProvedEpsilon("mean", epsilon), ProvedEpsilon("worst-record", epsilon))
        text = summary(change(report, proved=proved))
        for words in ("over your records up to", "for every single record up to"):
            assert f"{words} ε = {shown}" in text, epsilon


def test_measured_answers_are_rounded_down_too(report: AssessmentReport) -> None:
    assert "about 1.9 (between 1 and 3)" in summary(with_measured(report, 1.0, 3.0, 1.97))


def test_what_a_prior_fitted_to_the_table_means_is_said(report: AssessmentReport) -> None:
    text = " ".join(assess_markdown(report).split())
    assert "its budget is not counted here" in text
    assert "may gain more from the release than is said here" in text
    assert "can expect to gain more than 20.0 percentage points on any record (proved)" in text
    read_in = replace(report, source=replace(report.source, fitted=False))
    assert "may gain more" not in assess_markdown(read_in)


def test_a_share_right_that_reveals_few_others_is_left_out(report: AssessmentReport) -> None:
    small, asked, large = report.assessment.budgets
    budgets = (small, replace(asked, sure=Sure(195.0, None)), large)
    assert "| **195** | **–** |" in assess_markdown(change(report, budgets=budgets))


def test_a_measured_answer_below_the_proved_one_is_reported(report: AssessmentReport) -> None:
    assert "Use the smaller one" not in summary(report)
    assert "Use the smaller one" in summary(with_measured(report, 0.1, 1.0, 0.5))
    assert "Use the smaller one" in summary(with_measured(report, None, 0.1, None))


def test_a_limit_that_is_kept_without_noise(report: AssessmentReport) -> None:
    assert "the largest ε is without limit" in summary(with_measured(report, inf, None, None))


def test_a_gain_within_chance_is_said_and_the_list_goes_on(report: AssessmentReport) -> None:
    small, asked, large = report.assessment.budgets
    attacks = (asked.attacks[0], replace(asked.attacks[1], real=Mean(0.61, 0.02)))
    near = change(report, budgets=(small, replace(asked, attacks=attacks), large))
    lines = summarise_assessment(near)
    assert len(lines) == 5
    assert lines[1].endswith("varies by ± 2.0 points from one draw of the noise to the next.")
    same = (asked.attacks[0], replace(asked.attacks[1], real=Mean(0.6, 0.02)))
    none = change(report, budgets=(small, replace(asked, attacks=same), large))
    assert summarise_assessment(none)[1].endswith(
        "right on your table: as many as without the release."
    )


def test_markdown_has_the_same_numbers(report: AssessmentReport) -> None:
    text = assess_markdown(report)
    assert "| **1** | **60.0** | **65.0 ± 1.0** | **+5.0** |" in text
    assert "| rich | 20 | 10.0 | 30.0 ± 1.0 | +20.0 |" in text
    assert summarise_assessment(report)[0] in " ".join(text.split())
    assert max(len(line) for line in text.splitlines() if line[:1] not in "|#") <= 100


def test_other_attacks_and_several_targets_have_their_columns(report: AssessmentReport) -> None:
    budgets = tuple(
        replace(each, attacks=(*each.attacks, AttackShares("rap", mean(0.62), mean(0.6), None)))
        for each in report.assessment.budgets
    )
    columns = (Column("income", 0.6, mean(0.65)), Column("wealth", 0.5, mean(0.5)))
    more = change(
        report, budgets=budgets, exposure=replace(report.assessment.exposure, columns=columns)
    )
    more = replace(
        more,
        question=replace(
            report.question,
            attacks=("rap",),
            targets=("income", "wealth"),
        ),
    )
    text = assess_markdown(more)
    assert "| its gain, points | rap, % |" in text and "| **+5.0** | **62.0 ± 1.0** |" in text
    assert "| wealth | 50.0 | 50.0 ± 1.0 | 0.0 |" in text
    assert "guesses all of income and wealth right" in " ".join(text.split())


def test_hostile_names_are_inert() -> None:
    hostile = make_report(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    page = assess_html(hostile)
    reader = read(page)
    assert not {"script", "a", "code", "em"} & set(reader.tags) and "\u202e" not in page
    assert "<script>alert(1)</script>|`=1+1`[x](javascript:a)*_" in reader.text
    markdown = assess_markdown(hostile)
    assert not [sign for sign in ("<script", "](", "`", "\u202e") if sign in markdown]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in _table(markdown, "gain, points")}
    assert len(widths) == 1


def _table(markdown: str, header: str) -> list[str]:
    lines = markdown.splitlines()
    first = next(i for i, line in enumerate(lines) if header in line and line.startswith("| label"))
    end = next(i for i in range(first, len(lines)) if not lines[i])
    return lines[first:end]


def test_long_labels_are_cut() -> None:
    report = make_report("x" * 10_000)
    assert len(assess_html(report)) < 40_000 and "x" * 60 not in assess_markdown(report)


def test_one_release_without_a_guarantee(report: AssessmentReport) -> None:
    budget = make_budget(1.0)
    attacks = tuple(replace(each, fresh=None) for each in budget.attacks)
    unstated = replace(
        budget,
        epsilon=None,
        ceiling=None,
        any_prior_gain=None,
        fresh_gain=None,
        mu=None,
        attacks=attacks,
    )
    single = replace(
        change(report, budgets=(unstated,), proved=(), measured=()),
        question=PublishedQuestion("prior.bif", ("income",), mechanism="gaussian-marginals"),
        source=replace(report.source, release="marginals.csv", fitted=False),
    )
    reader = read(assess_html(single))
    text = " ".join(reader.text.split())
    # nothing is said of repetitions and drawn tables that there are not
    assert "Drawn tables" not in text and "mind the ±" not in text
    assert "The noise was drawn once" in text
    assert "so there is no ceiling" in text and "svg" not in reader.tags
    assert "With the 2-way marginals in marginals.csv" in text
    assert "not stated" in assess_markdown(single)
    assert single.to_json()["question"]["epsilon"] is None


def test_a_prior_that_misses_much_is_said_at_the_top(report: AssessmentReport) -> None:
    pairs = tuple(
        PairMisfit((one, "income"), bits, 1e-9, 0.3, 0.1)
        for one, bits in (("<b>age</b>", 0.2), ("town", 0.05))
    )
    fit = PriorFit(("income",), 10, 4, 0.01, pairs)
    source = replace(report.source, fit=fit, format="tab-separated, UTF-16", dropped=7)
    text = " ".join(assess_markdown(replace(report, source=source)).split())
    assert "Take care: the prior holds income independent of all known columns" in text
    assert "misses much of what 2 of 10 pairs of columns have in common" in text
    assert "misses something of 4, beyond chance (level 0.01); the largest:" in text
    assert "town and income, 0.050 bits per record" in text and "<b>" not in text
    assert "tab-separated, UTF-16" in text and "7 records" in text
    assert (
        sum(
            item.startswith("Take care")
            for item in summarise_assessment(replace(report, source=source))
        )
        == 2
    )
    quiet = replace(report.source, fit=PriorFit((), 10, 0, 0.01, ()))
    text = assess_markdown(replace(report, source=quiet))
    assert "Take care" not in text and "something of 0, beyond chance" in " ".join(text.split())
    assert "Take care" not in assess_markdown(report)
