"""`reconbench audit mcmc`: the posterior of epsilon from counts of membership attacks."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    from reconbench.bounds.audit.mcmc import Likelihood, Prior

HELP = """The posterior of epsilon and of the attacks' strength, from counts of membership attacks.

The file is CSV with one row an attack: X false positives in N0 challenges without the record, Y
false negatives in N1 challenges with it. No attack is taken to be the strongest: the strength s of
the attacks is estimated too (0: spread over all that the guarantee allows, 1: as strong as it
allows), unless --strength fixes it. Delta is given. The prior of epsilon is half-normal of
--prior-variance, that of s Beta(a, b).

--likelihood correlated is for decisions that share shadow models: N-fold counts vary more then, by
tau and rho, which are estimated along.

The answer says when the chains have not converged. --out writes a page and Markdown with figures,
other priors and --deltas.

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
    counts: Annotated[Path, typer.Argument(help="CSV with columns X, N0, Y, N1.")],
    delta: Annotated[float, typer.Option(help="The delta of the guarantee, from 0 to below 1.")],
    deltas: Annotated[
        str | None, typer.Option(help="Further deltas, separated by commas; an estimate each.")
    ] = None,
    chains: Annotated[int, typer.Option(help="Chains.")] = 4,
    iterations: Annotated[int, typer.Option(help="Draws kept of each chain.")] = 10_000,
    warmup: Annotated[int, typer.Option(help="Draws dropped before these.")] = 3_000,
    auxiliary: Annotated[int, typer.Option("--auxiliary", "-K", help="Pairs an iteration.")] = 250,
    seed: Annotated[int, typer.Option(min=0, help="Of the random numbers.")] = 0,
    prior_variance: Annotated[float, typer.Option(help="Variance, not sd, of epsilon.")] = 10.0,
    strength: Annotated[float | None, typer.Option(help="Fix s, from 0 to below 1.")] = None,
    strength_prior: Annotated[str, typer.Option(help="a,b of the Beta prior of s.")] = "1,1",
    relation: Annotated[
        RelationName, typer.Option(help="Which tables the attacks told apart.")
    ] = RelationName.ADD_REMOVE,
    likelihood: Annotated[
        LikelihoodName, typer.Option(help="How counts vary.")
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
        prepare(out)
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
    told = document(found, other_priors=priors, other_deltas=others)
    if out is not None:
        write_report(out, told, figures(found))
    if as_json:
        typer.echo(json.dumps(told))
    else:
        show(told)


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


def prepare(out: Path) -> None:
    """What would keep the report from being written is said before the chains run."""
    from reconbench.reports.audit.mcmc import converter

    converter()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None


def write_report(out: Path, told: dict[str, Any], drawn: dict[str, Any]) -> None:
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.audit.mcmc import audit_mcmc_html, audit_mcmc_markdown

    write_atomic(out / HTML, audit_mcmc_html(told, drawn))
    write_atomic(out / MARKDOWN, audit_mcmc_markdown(told))
    write_atomic(out / JSON, json.dumps(told, indent=1) + "\n")


def show(told: dict[str, Any]) -> None:
    from reconbench.reports.audit.mcmc import sentences

    names = [name for name in ("epsilon", "strength", "tau", "rho") if name in told]
    shown = {"median": ".3f", "lower": ".3f", "upper": ".3f", "r_hat": ".3f", "ess_bulk": ".0f"}
    rows = [
        [
            name,
            *("" if (v := told[name][each]) is None else f"{v:{f}}" for each, f in shown.items()),
        ]
        for name in names
    ]
    attacks = f"{told['attacks']} attack{'s' if told['attacks'] > 1 else ''}"
    title = f"{attacks}, delta {told['delta']:g}, {told['relation']}"
    _show.table(title, ["parameter", "median", "5 %", "95 %", "R-hat", "ESS"], rows)
    for each in told["other_deltas"]:
        e = each["epsilon"]
        typer.echo(
            f"delta {each['delta']:g}: {e['median']:.3f} [{e['lower']:.3f}, {e['upper']:.3f}]"
        )
    for sentence in sentences(told):
        typer.echo(sentence)
    for warning in told["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
