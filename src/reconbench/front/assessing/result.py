"""What `assess` returns: the report's numbers, sentences, figure and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.benchmarks.assess.assessment import Budget
from reconbench.benchmarks.assess.exposure import Mean
from reconbench.benchmarks.assess.report import AssessmentReport
from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
from reconbench.benchmarks.store.export_import import tabulate_rows
from reconbench.front.arguments import checked, read_path
from reconbench.front.assessing.report_files import draw_pages, write_report
from reconbench.front.assessing.sources import PriorFile
from reconbench.front.figure import Figure
from reconbench.front.frames import make_frame
from reconbench.front.notebook import render_html
from reconbench.reports.assess.report import draw_gains, summarise_assessment

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class AssessResult:
    """What a release of a table would reveal, budget by budget.

    It is computed from the records themselves: it is confidential.

    Args:
        report: All numbers, with the question that they answer.
        prior: The prior that was played with.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> people = rb.load_prior("acs").sample(60, np.random.default_rng(0))
        >>> people = people.project(["SEX", "MAR", "MIL"])
        >>> result = rb.assess(people, "MAR", epsilon=1, epsilons=[1], k=2, reps=1)
        >>> result
        AssessResult(60 records, MAR at ε = 1: confidential)
        >>> result.frame[["epsilon", "attack"]].values.tolist()
        [[1.0, 'prior'], [1.0, 'posterior']]
    """

    report: AssessmentReport
    prior: PriorFile

    def __repr__(self) -> str:
        report = self.report
        epsilons = ", ".join(f"{budget.epsilon:g}" for budget in report.assessment.budgets)
        targets = ", ".join(report.question.targets)
        records = report.source.records
        return f"AssessResult({records:,} records, {targets} at ε = {epsilons}: confidential)"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per budget and attack; successes and gains are shares of records.

        ``success`` is on the table itself, ``fresh`` on tables drawn from the prior, each with half
        of its 95 % interval; ``guessed`` is right without a release. No attack expects to gain more
        than ``most_gain``, or exceeds ``high`` in 95 % of runs.
        """
        budgets = self.report.assessment.budgets
        return make_frame([line for budget in budgets for line in _list_attacks(budget)])

    @cached_property
    def exposed(self) -> pd.DataFrame:
        """The kinds of record at the budget asked about, by column and label; no small ones."""
        exposure = self.report.assessment.exposure
        lines = [
            {
                "column": kind.column,
                "label": kind.label,
                "records": kind.records,
                "guessed": kind.prior,
                **_spread("success", kind.attack),
                "gain": kind.gain,
            }
            for kinds in (*exposure.by_target, *exposure.by_known)
            for kind in kinds.shown
        ]
        return make_frame(lines)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """One row per attack and repetition of the games on drawn tables."""
        rows = add_repetition_ceilings(self.report.assessment.rows)
        return make_frame(tabulate_rows(rows))

    @property
    def document(self) -> Mapping[str, Any]:
        """All numbers, as report.json has them."""
        return self.report.to_json()

    def summary(self) -> str:
        """The report in a few sentences."""
        return "\n".join(summarise_assessment(self.report))

    def plot(self) -> Figure:
        """What attacks gain over guessing without a release, by budget."""
        drawn = draw_gains(self.report)
        return Figure(drawn.title, drawn.svg)

    @checked
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the report (page, Markdown, JSON) and a fitted prior, as `reconbench assess` does.

        Returns the path of the page. All of it is confidential.
        """
        to = read_path("folder", folder)
        paths = write_report(to, self.document, draw_pages(self.report), self.prior)
        return paths[-1]

    def _repr_html_(self) -> str:
        return render_html(self.summary().splitlines(), self.plot().svg, [self.frame])


def _list_attacks(budget: Budget) -> list[dict[str, Any]]:
    ceiling = budget.ceiling
    return [
        {
            "epsilon": budget.epsilon,
            "attack": shares.attack,
            "guessed": budget.prior_real,
            **_spread("success", shares.real),
            "gain": shares.real.value - budget.prior_real,
            **_spread("fresh", shares.fresh),
            **_spread("best_possible_gain", budget.best.gain),
            "most_gain": None if ceiling is None else ceiling.gain,
            "high": None if ceiling is None else ceiling.high,
            "rho": budget.rho,
            "group_gain": budget.group_gain,
            "any_prior_gain": budget.any_prior_gain,
            "guarantee": budget.guarantee,
        }
        for shares in budget.attacks
    ]


def _spread(name: str, mean: Mean | None) -> dict[str, float | None]:
    value, margin = (None, None) if mean is None else (mean.value, mean.margin)
    return {name: value, f"{name}_margin": margin}
