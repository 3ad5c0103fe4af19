"""`reconbench audit`: estimate epsilon from trials or counts, with an interval and a verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import audit_mcmc, audit_train
from reconbench.cli._options import name_flag
from reconbench.cli.terminal.tables import print_pairs, print_table
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.audits.report import AuditReport

LDP_HELP = """Run a local randomiser many times, attack every report, estimate epsilon.

Three audits use the same run: RAD through the exact ceiling of the mechanism (an interval), RAD as
a black box, and LDP-Auditor (both lower bounds). A verdict compares --epsilon, the client's claim,
with the lower end. Each holds at --confidence: it flags a correct client with probability at most
1 - confidence. The exact audit trusts the name of the mechanism, so it may flag a different client
that is still epsilon-DP. The other two trust nothing.

The client is the shipped one, at --client-epsilon if given (to see a wrong one caught), or your
own: --client my_client.py:report, a function report(values, rng) that takes an array of values from
0 to domain size - 1 and returns their reports. These are as many values for grr, one row of
distinct values each for ss, and one row of 0/1 for every value of the domain for oue.

--prior is uniform, zipf:S (the prior of value i is proportional to i^-S), or a CSV file with a
column `prior` and one row per value.

\b
Examples:
  reconbench audit ldp --mechanism grr --epsilon 4 --domain-size 100 --trials 1e6 --json
  reconbench audit ldp --mechanism grr --epsilon 1 --client-epsilon 2 --domain-size 20
  reconbench audit ldp --mechanism oue --epsilon 2 --domain-size 50 --client my_client.py:report
  reconbench audit ldp --mechanism ss --epsilon 3 --domain-size 200 --prior zipf:1.1
"""

RAD_HELP = """Compare an attack's success when the target took part and when another draw did.

Count --hits of --trials in the real world. For the world with a replaced target, count
--replaced-hits of --replaced-trials, or give --chance if its success is known: 1/m for m equally
likely values. Without --mechanism the answer is a lower bound for any mechanism. With it, it is an
interval that assumes the mechanism and the optimal attack.

\b
Examples:
  reconbench audit counts rad --hits 700 --trials 1000 --chance 0.01 --domain-size 100 --epsilon 4
  reconbench audit counts rad --hits 70 --trials 100 --replaced-hits 9 --replaced-trials 100 \\
    --domain-size 10 --mechanism grr
"""

POSITIVES_HELP = """Audit true and false positives, as in LDP-Auditor or a membership test.

\b
Examples:
  reconbench audit counts positives --tp 900 --fp 30 --trials 1000 --epsilon 2
  reconbench audit counts positives --tp 90 --trials 100 --fp 2 --fp-trials 400 --delta 1e-5
"""

ONE_RUN_HELP = """Audit right guesses on the canaries of a single run.

Each of --canaries was drawn independently and uniformly from --values values (2 for membership).
The attack guessed --guesses of them and was right on --right.

\b
Examples:
  reconbench audit counts one-run --canaries 1000 --guesses 200 --right 150 --epsilon 0.5
  reconbench audit counts one-run --canaries 500 --guesses 500 --right 120 --values 10 --delta 1e-5
"""

app = typer.Typer(help="Estimate epsilon from an attack's outcomes.", no_args_is_help=True)
counts = typer.Typer(help="Audit your own attack from its counts.", no_args_is_help=True)
app.add_typer(counts, name="counts")
app.command("mcmc", help=audit_mcmc.HELP)(audit_mcmc.mcmc)
app.command("train", help=audit_train.HELP)(audit_train.train)

Claimed = Annotated[
    float | None, typer.Option("--epsilon", help="The claim; without it, no verdict.")
]
Confidence = Annotated[float, typer.Option(help="Confidence of each interval and verdict.")]
Delta = Annotated[float, typer.Option(help="Delta of the (epsilon, delta)-DP claim.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs; null means infinite.")]
Prior = Annotated[str, typer.Option(help="uniform, zipf:S, or a CSV file with a column `prior`.")]
Domain = Annotated[int | None, typer.Option("--domain-size", help="Number of values, m.")]


@app.command("ldp", help=LDP_HELP)
def ldp(
    mechanism: Annotated[str, typer.Option(help="What the client claims to be: grr, ss or oue.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon that the client claims.")],
    domain_size: Domain = None,
    trials: Annotated[float, typer.Option(help="Number of reports, such as 1e6.")] = 1e5,
    prior: Prior = "uniform",
    client_epsilon: Annotated[
        float | None, typer.Option(help="Epsilon that it really uses.")
    ] = None,
    client: Annotated[str | None, typer.Option(help="Your own client: file.py:function.")] = None,
    delta: Delta = 0.0,
    confidence: Confidence = 0.99,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.audits.report import Claim, audit_client, find_weights

    claim = Claim(epsilon, delta, confidence, name_flag)
    report = audit_client(
        mechanism,
        claim,
        find_weights(prior, domain_size, name_flag),
        trials,
        client=client,
        client_epsilon=client_epsilon,
        seed=seed,
        prior=prior,
        show=lambda total: show_progress("audit", total, quiet=quiet or as_json),
    )
    _print_report(report, as_json=as_json)


@counts.command("rad", help=RAD_HELP)
def rad(
    hits: Annotated[int, typer.Option(help="Successes when the target took part.")],
    trials: Annotated[int, typer.Option(help="Trials with the target.")],
    replaced_hits: Annotated[int | None, typer.Option(help="Successes without it.")] = None,
    replaced_trials: Annotated[int | None, typer.Option(help="Trials without it.")] = None,
    chance: Annotated[float | None, typer.Option(help="Success without it, if known.")] = None,
    domain_size: Domain = None,
    prior: Prior = "uniform",
    mechanism: Annotated[str | None, typer.Option(help="grr, ss or oue, if it is one.")] = None,
    subset: Annotated[int, typer.Option(help="Values in an ss report; 0: the default.")] = 0,
    epsilon: Claimed = None,
    delta: Delta = 0.0,
    confidence: Confidence = 0.99,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.audits.report import (
        Claim,
        audit_advantage,
        choose_replaced,
        count_successes,
        find_weights,
    )

    claim = Claim(epsilon, delta, confidence, name_flag)
    report = audit_advantage(
        count_successes("--hits", hits, "--trials", trials),
        choose_replaced(replaced_hits, replaced_trials, chance, name_flag),
        find_weights(prior, domain_size, name_flag),
        claim,
        mechanism=mechanism,
        subset=subset,
    )
    _print_report(report, as_json=as_json)


@counts.command("positives", help=POSITIVES_HELP)
def positives(
    tp: Annotated[int, typer.Option(help="Guesses of a value on runs that had it.")],
    fp: Annotated[int, typer.Option(help="Guesses of it on runs that had another.")],
    trials: Annotated[int, typer.Option(help="Runs that had it.")],
    fp_trials: Annotated[int | None, typer.Option(help="Runs that had another.")] = None,
    epsilon: Claimed = None,
    delta: Delta = 0.0,
    confidence: Confidence = 0.99,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.audits.report import Claim, audit_positives, count_successes

    claim = Claim(epsilon, delta, confidence, name_flag)
    true = count_successes("--tp", tp, "--trials", trials)
    name = "--trials" if fp_trials is None else "--fp-trials"
    false = count_successes("--fp", fp, name, trials if fp_trials is None else fp_trials)
    _print_report(audit_positives(true, false, claim), as_json=as_json)


@counts.command("one-run", help=ONE_RUN_HELP)
def one_run(
    canaries: Annotated[int, typer.Option(help="Targets of the run, m.")],
    guesses: Annotated[int, typer.Option(help="Targets that were guessed.")],
    right: Annotated[int, typer.Option(help="Guesses that were right.")],
    values: Annotated[int, typer.Option(help="Equally likely values of a canary, k.")] = 2,
    epsilon: Claimed = None,
    delta: Delta = 0.0,
    confidence: Confidence = 0.99,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.audits.report import Claim, audit_one_run

    claim = Claim(epsilon, delta, confidence, name_flag)
    _print_report(audit_one_run(canaries, guesses, right, values, claim), as_json=as_json)


def _print_report(report: AuditReport, *, as_json: bool) -> None:
    document = report.to_json()
    if as_json:
        typer.echo(json.dumps(document, ensure_ascii=False))
        return
    claimed, delta = report.claim.epsilon, report.claim.delta
    claim = "no claim" if claimed is None else f"claimed epsilon {claimed:g}"
    claim += f", delta {delta:g}" if delta else ""
    shown = [
        [
            row["method"],
            _format_end(row["epsilon"]),
            f"[{_format_end(row['lower'])}, {_format_end(row['upper'])}]",
            row["verdict"] or "",
            row["reference"],
        ]
        for row in document["estimates"]
    ]
    title = f"Audit, {claim}, {100 * report.claim.confidence:g} % confidence"
    print_table(title, ["audit", "epsilon", "interval", "verdict", "reference"], shown)
    print_pairs(
        {
            name: f"{value:.6g}" if isinstance(value, float) else str(value)
            for name, value in report.facts.items()
            if value is not None
        }
    )


def _format_end(value: Any) -> str:
    return "inf" if value is None else f"{value:.4g}"
