"""`reconbench audit mcmc`: the posterior of epsilon from counts of membership attacks."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli.terminal.tables import print_table

if TYPE_CHECKING:
    from reconbench.bounds.audit.mcmc import Likelihood, Prior

HELP = """Estimate epsilon and the attacks' strength from counts of membership attacks.

The file is CSV with one row per attack: X false positives in N0 challenges without the record, Y
false negatives in N1 challenges with it. No attack is assumed to be the strongest: the strength s
of the attacks is estimated too (0: spread over everything the guarantee allows, 1: as strong as it
allows), unless --strength fixes it. Delta is given. The prior of epsilon is half-normal with
--prior-variance; the prior of s is Beta(a, b).

Use --likelihood correlated for decisions that share shadow models. Their counts vary more, by tau
and rho, which are estimated as well.

The output says when the chains have not converged. --out writes a page with figures and a Markdown
report; both include other priors and --deltas.

\b
Examples:
  reconbench audit mcmc counts.csv --delta 1e-2 --json
  reconbench audit mcmc counts.csv --delta 1e-5 --out report --deltas 0,1e-3,1e-2
  reconbench audit mcmc counts.csv --delta 0 --strength 0.9 --iterations 50000 --auxiliary 1000
"""

HTML, MARKDOWN, JSON = "audit.html", "audit.md", "audit.json"


class LikelihoodName(StrEnum):
    BINOMIAL = "binomial"
    CORRELATED = "correlated"


class RelationName(StrEnum):
    ADD_REMOVE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"


def mcmc(
    counts: Annotated[Path, typer.Argument(help="CSV file with columns X, N0, Y and N1.")],
    delta: Annotated[float, typer.Option(help="The delta of the guarantee, from 0 to below 1.")],
    deltas: Annotated[
        str | None, typer.Option(help="Further deltas, comma-separated; one estimate each.")
    ] = None,
    chains: Annotated[int, typer.Option(help="Number of chains.")] = 4,
    iterations: Annotated[int, typer.Option(help="Draws kept per chain.")] = 10_000,
    warmup: Annotated[int, typer.Option(help="Draws discarded before these, per chain.")] = 3_000,
    auxiliary: Annotated[int, typer.Option("--auxiliary", "-K", help="Pairs per iteration.")] = 250,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    prior_variance: Annotated[
        float, typer.Option(help="Variance (not sd) of the prior of epsilon.")
    ] = 10.0,
    strength: Annotated[float | None, typer.Option(help="Fix s, from 0 to below 1.")] = None,
    strength_prior: Annotated[str, typer.Option(help="The Beta prior of s, as a,b.")] = "1,1",
    relation: Annotated[
        RelationName, typer.Option(help="Neighbouring relation of the attacked tables.")
    ] = RelationName.ADD_REMOVE,
    likelihood: Annotated[
        LikelihoodName, typer.Option(help="Distribution of the counts.")
    ] = LikelihoodName.BINOMIAL,
    out: Annotated[Path | None, typer.Option(help="Folder for the report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    import numpy as np

    from reconbench.bounds import Relation
    from reconbench.bounds.audit.mcmc import (
        Settings,
        estimate,
        estimate_at,
        known_delta,
        prior_sensitivity,
        read_counts,
    )
    from reconbench.bounds.audit.mcmc.document import document, figures

    settings = Settings(chains, iterations, warmup, auxiliary)
    prior = _prior(prior_variance, strength, strength_prior)
    asked = [] if deltas is None else _numbers("--deltas", deltas)
    further = [known_delta(each) for each in asked]
    rng = np.random.default_rng(seed)
    read = read_counts(counts)
    if out is not None:
        make_folder(out)
    found = estimate(
        read,
        delta,
        rng=rng,
        prior=prior,
        likelihood=_likelihood(likelihood),
        relation=Relation(relation.value),
        settings=settings,
    )
    others = estimate_at(found.run, further, settings, rng)
    priors = prior_sensitivity(found.run, settings, rng) if out is not None else []
    report = document(found, other_priors=priors, other_deltas=others)
    if out is not None:
        write_report(out, report, figures(found))
    print_report(report, as_json=as_json)


def _prior(variance: float, strength: float | None, beta: str) -> Prior:
    from reconbench.bounds.audit.mcmc import BetaStrength, FixedStrength, Prior

    if strength is not None:
        return Prior(variance, FixedStrength(strength))
    shape = _numbers("--strength-prior", beta)
    if len(shape) != 2:
        raise ValueError(f"--strength-prior must be two numbers a,b, got {beta!r}")
    return Prior(variance, BetaStrength(*shape))


def _likelihood(name: LikelihoodName) -> Likelihood:
    from reconbench.bounds.audit.mcmc import CorrelatedNormal, IndependentBinomial

    return CorrelatedNormal() if name is LikelihoodName.CORRELATED else IndependentBinomial()


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers separated by commas, got {text!r}") from None


def make_folder(out: Path) -> None:
    """Make the report's folder; called before the chains run, so that an error comes early."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None


def write_report(out: Path, document: dict[str, Any], figures: dict[str, Any]) -> None:
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.audit.mcmc import audit_mcmc_html, audit_mcmc_markdown

    write_atomic(out / HTML, audit_mcmc_html(document, figures))
    write_atomic(out / MARKDOWN, audit_mcmc_markdown(document))
    write_atomic(out / JSON, json.dumps(document, indent=1) + "\n")


def print_report(document: dict[str, Any], *, as_json: bool) -> None:
    from reconbench.reports.audit.mcmc import summarise_audit

    if as_json:
        typer.echo(json.dumps(document))
        return
    names = [name for name in ("epsilon", "strength", "tau", "rho") if name in document]
    formats = {"median": ".3f", "lower": ".3f", "upper": ".3f", "r_hat": ".3f", "ess_bulk": ".0f"}
    rows = [
        [
            name,
            *(
                "" if (value := document[name][key]) is None else f"{value:{digits}}"
                for key, digits in formats.items()
            ),
        ]
        for name in names
    ]
    attacks = f"{document['attacks']} attack{'s' if document['attacks'] > 1 else ''}"
    title = f"{attacks}, delta {document['delta']:g}, {document['relation']}"
    print_table(title, ["parameter", "median", "5 %", "95 %", "R-hat", "ESS"], rows)
    for other in document["other_deltas"]:
        found = other["epsilon"]
        typer.echo(
            f"delta {other['delta']:g}: {found['median']:.3f} "
            f"[{found['lower']:.3f}, {found['upper']:.3f}]"
        )
    for sentence in summarise_audit(document):
        typer.echo(sentence)
    for warning in document["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
