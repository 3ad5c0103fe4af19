"""Assess marginals that are published, given the table that they were made from."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.cli.assessing.inputs import Attacker
from reconbench.cli.assessing.outputs import show_assessment
from reconbench.front.assessing.report_files import check_folder
from reconbench.front.assessing.sources import describe_source

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.published.release import PublishedQuestion
    from reconbench.datasets import Domain
    from reconbench.mechanisms import MarginalsRelease
    from reconbench.mechanisms.marginals import PublishedMarginals
    from reconbench.mechanisms.marginals_csv import ReleaseFile


def assess_marginals(
    attacker: Attacker,
    release: Path,
    truth: Path | None,
    epsilon: float | None,
    delta: float,
    noise_sd: float | None,
) -> None:
    """Attack marginals that are out, count the guesses against the truth, and write the report."""
    from reconbench.benchmarks.assess.published.release import PublishedQuestion, assess_release
    from reconbench.benchmarks.assess.question import check_table
    from reconbench.benchmarks.assess.report import AssessmentReport
    from reconbench.benchmarks.game.options import Options
    from reconbench.mechanisms import GaussianMarginals
    from reconbench.mechanisms.marginals_csv import read_release

    if truth is None:
        raise ValueError("--release needs --truth, the table that it was made from")
    if (epsilon is None) == (noise_sd is None):
        raise ValueError(
            "--release needs exactly one of --epsilon (Gaussian noise that uses this budget) and "
            "--noise-sd"
        )
    domain = attacker.read_domain()
    records = attacker.read_records(truth, domain)
    published = read_release(release, domain)
    check_folder(attacker.out)

    question = PublishedQuestion(
        "",
        **attacker.asked,
        # The game that is played: that these marginals were published does not change it.
        mechanism=GaussianMarginals.name,
        mechanism_options=Options({} if published.k == 3 else {"k": published.k}),
        epsilon=inf if epsilon is None else epsilon,
        delta=delta,
    )
    check_table(question, records.table)
    seen, mechanism = _view_release(question, published, domain, noise_sd)
    with attacker.find_prior(records, attacker.read_prior_source(domain)) as prior:
        question = replace(question, dataset=prior.spec)
        found = assess_release(
            question, records.table, seen, mechanism, announce=attacker.announce_attack
        )
        played = (*found.known, *question.targets)
        source = describe_source(records, prior, played, question.targets, release=release.name)
        report = AssessmentReport(question, found, source)
        show_assessment(report, attacker.out, prior, as_json=attacker.as_json)


def _view_release(
    question: PublishedQuestion, published: ReleaseFile, domain: Domain, noise_sd: float | None
) -> tuple[MarginalsRelease, PublishedMarginals]:
    """What the attacker has of a file, and the mechanism that its noise is taken to come from."""
    from reconbench.benchmarks.assess.question import choose_played
    from reconbench.bounds import ApproxDP
    from reconbench.mechanisms.marginals import PublishedMarginals

    targets = question.targets
    played, known = choose_played(domain, targets, question.known)
    if noise_sd is None:
        budget = ApproxDP(question.epsilon, question.delta)
        mechanism = PublishedMarginals.of_budget(
            played, targets, published.k, budget, len(published.answers)
        )
    else:
        mechanism = PublishedMarginals(played, targets, published.k, noise_sd)
    return published.seen(known, targets, mechanism.noise_sd), mechanism
