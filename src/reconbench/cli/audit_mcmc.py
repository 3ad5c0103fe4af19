"""`reconbench audit mcmc`: the posterior of epsilon from counts of membership attacks."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli.terminal.tables import print_table

if TYPE_CHECKING:
    import numpy as np

    from reconbench.bounds import Relation
    from reconbench.bounds.audit.mcmc import (
        Counts,
        Estimate,
        GdpPrior,
        Likelihood,
        PredictiveCheck,
        Prior,
        Settings,
    )

HELP = """Estimate epsilon and the attacks' strength from counts of membership attacks.

The file is CSV with one row per attack: X false positives in N0 challenges without the record, Y
false negatives in N1 challenges with it. No attack is assumed to be the strongest: the strength s
of the attacks is estimated too (0: spread over everything the guarantee allows, 1: as strong as it
allows), unless --strength fixes it. Delta is given.

--model says what attacks can do. Each model is checked against the counts, and a failed check is a
warning: its interval may be far too low.

\b
region  errors are spread evenly over all that (epsilon, delta) allows, as in the paper
gdp     the mechanism is Gaussian: errors lie between the curve of mu-GDP and chance; gives mu too
both    fit both and compare their checks, to see which interval to believe

Use gdp for Gaussian noise and DP-SGD: there region reports an epsilon that is much too small. Under
gdp, rows with the same value in a column `base` are levels of one attack and are used jointly. The
prior of epsilon (region) or mu (gdp) is half-normal with --prior-variance; that of s is Beta(a, b).

Use --likelihood correlated for decisions that share shadow models. Their counts vary more, by tau
and rho, which are estimated as well.

The output says when the chains have not converged. --out writes a page with figures and a Markdown
report; both include other priors and --deltas.

\b
Examples:
  reconbench audit mcmc counts.csv --delta 1e-2 --json
  reconbench audit mcmc counts.csv --delta 1e-2 --model both
  reconbench audit mcmc counts.csv --delta 1e-5 --out report --deltas 0,1e-3,1e-2
  reconbench audit mcmc counts.csv --delta 0 --strength 0.9 --iterations 50000 --auxiliary 1000
"""

HTML, MARKDOWN, JSON = "audit.html", "audit.md", "audit.json"


class LikelihoodName(StrEnum):
    BINOMIAL = "binomial"
    CORRELATED = "correlated"


class ModelName(StrEnum):
    REGION = "region"
    GDP = "gdp"
    BOTH = "both"


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
    model: Annotated[
        ModelName, typer.Option(help="What attacks on the mechanism can do.")
    ] = ModelName.REGION,
    prior_variance: Annotated[
        float | None,
        typer.Option(help="Variance (not sd) of the prior: of epsilon (10), or of mu for gdp (4)."),
    ] = None,
    strength: Annotated[float | None, typer.Option(help="Fix s, from 0 to below 1.")] = None,
    strength_prior: Annotated[
        str | None, typer.Option(help="The Beta prior of s, as a,b (1,1; 1,0.5 for gdp).")
    ] = None,
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
        estimate_at,
        prior_sensitivity,
        read_counts,
    )
    from reconbench.bounds.audit.mcmc.document import document, figures

    settings = Settings(chains, iterations, warmup, auxiliary)
    if model is ModelName.BOTH and prior_variance is not None:
        raise ValueError(
            f"--prior-variance must be left out with --model both, got {prior_variance:g}: "
            "the models have different parameters; fit one at a time"
        )
    priors_of = [
        _prior(name, prior_variance, strength, strength_prior) for name in models_of(model)
    ]
    asked = [] if deltas is None else _numbers("--deltas", deltas)
    further = [check_delta(each, model) for each in asked]
    check_delta(delta, model)
    check_likelihood(_likelihood(likelihood), model)
    rng = np.random.default_rng(seed)
    read = read_counts(counts)
    if out is not None:
        make_folder(out)
    fitted = [
        fit(read, delta, prior, _likelihood(likelihood), Relation(relation.value), settings, rng)
        for prior in priors_of
    ]
    found, check = fitted[0]
    others = estimate_at(found.run, further, settings, rng)
    priors = prior_sensitivity(found.run, settings, rng) if out is not None else []
    report = document(
        found,
        check,
        other_model=fitted[1] if len(fitted) > 1 else None,
        other_priors=priors,
        other_deltas=others,
    )
    if out is not None:
        write_report(out, report, figures(found))
    print_report(report, as_json=as_json)


def models_of(model: ModelName) -> list[ModelName]:
    """The models to fit; the first is the one that is reported in full."""
    return [ModelName.REGION, ModelName.GDP] if model is ModelName.BOTH else [model]


def check_delta(delta: float, model: ModelName) -> float:
    """Delta, if the models have an epsilon there; raises otherwise."""
    from reconbench.bounds.audit.mcmc import known_delta
    from reconbench.bounds.audit.mcmc.gdp.model import gdp_delta

    return known_delta(delta) if model is ModelName.REGION else gdp_delta(delta)


def check_likelihood(likelihood: Likelihood, model: ModelName) -> None:
    """Raise for what a model cannot be fitted to, before anything is sampled."""
    from reconbench.bounds.audit.mcmc import IndependentBinomial

    if model is not ModelName.REGION and not isinstance(likelihood, IndependentBinomial):
        raise ValueError(
            f"--model must be region for correlated counts, got {model.value}: the gdp model needs "
            "independent counts, from attacks that learn from separate shadow models"
        )


def fit(
    counts: Counts,
    delta: float,
    prior: Prior | GdpPrior,
    likelihood: Likelihood,
    relation: Relation,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Estimate, PredictiveCheck]:
    """The posterior under one model, and the check of that model."""
    from reconbench.bounds.audit.mcmc import check_model, estimate

    found = estimate(
        counts,
        delta,
        rng=rng,
        prior=prior,
        likelihood=likelihood,
        relation=relation,
        settings=settings,
    )
    # A stream of its own: draws of later chains do not depend on the check.
    return found, check_model(found, rng.spawn(1)[0])


def _prior(
    model: ModelName, variance: float | None, strength: float | None, beta: str | None
) -> Prior | GdpPrior:
    from dataclasses import replace

    from reconbench.bounds.audit.mcmc import BetaStrength, FixedStrength, GdpPrior, Prior

    prior: Prior | GdpPrior = GdpPrior() if model is ModelName.GDP else Prior()
    if variance is not None:
        prior = replace(prior, variance=variance)
    if strength is not None:
        return replace(prior, strength=FixedStrength(strength))
    if beta is None:
        return prior
    shape = _numbers("--strength-prior", beta)
    if len(shape) != 2:
        raise ValueError(f"--strength-prior must be two numbers a,b, got {beta!r}")
    return replace(prior, strength=BetaStrength(*shape))


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
    names = [name for name in ("epsilon", "mu", "strength", "tau", "rho") if name in document]
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
    title = (
        f"{attacks}, delta {document['delta']:g}, {document['relation']}, model {document['model']}"
    )
    print_table(title, ["parameter", "median", "5 %", "95 %", "R-hat", "ESS"], rows)
    for other in document["other_deltas"]:
        found = other["epsilon"]
        typer.echo(
            f"delta {other['delta']:g}: {found['median']:.3f} "
            f"[{found['lower']:.3f}, {found['upper']:.3f}]"
        )
    for fitted in document["models"]:
        found, check = fitted["epsilon"], fitted["check"]
        verdict = "too few attacks to check"
        if check["p_value"] is not None:
            outcome = "FAILS" if check["failed"] else "passes"
            verdict = f"{outcome} its predictive check (p = {check['p_value']:.3f})"
        typer.echo(
            f"model {fitted['model']}: epsilon [{found['lower']:.3f}, {found['upper']:.3f}], "
            f"{verdict}"
        )
    for sentence in summarise_audit(document):
        typer.echo(sentence)
    for warning in document["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
