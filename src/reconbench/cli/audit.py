"""`reconbench audit`: estimate epsilon from trials or counts, with an interval and a verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import audit_mcmc, audit_train
from reconbench.cli.terminal.progress import show_progress
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reconbench.benchmarks.audits.ldp import Client
    from reconbench.bounds.audit import Counted, EpsilonEstimate, MeasuredRad, RadAudit

    Floats = npt.NDArray[np.float64]

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
    from reconbench.benchmarks.audits import ldp
    from reconbench.benchmarks.game.random_streams import make_stream

    count = _read_count("--trials", trials)
    _check_claim(epsilon, delta, confidence)
    weights = _resolve_prior(prior, domain_size)
    runner = _resolve_client(mechanism, epsilon, client_epsilon, client, weights.size)
    rng = make_stream("audit ldp", {"seed": seed})
    total = len(ldp.batches(count, ldp.READERS[mechanism].cells(weights.size)))
    with show_progress("audit", total, quiet=quiet or as_json) as advance:
        outcome = ldp.play(runner, mechanism, weights, count, rng, advance)
    found = ldp.estimates(outcome, mechanism, weights, delta, confidence)
    facts = {
        "mechanism": mechanism,
        "client": client or "shipped",
        "client_epsilon": None if client else epsilon if client_epsilon is None else client_epsilon,
        "domain_size": weights.size,
        "prior": prior,
        "trials": count,
        "seed": seed,
        **_measure_advantage(outcome.measured(weights), confidence),
    }
    _print_report(found, epsilon, delta, facts, as_json=as_json)


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
    from reconbench.bounds.audit import Known, MeasuredRad, Proportion, audit_black_box

    _check_claim(epsilon, delta, confidence)
    real = _make_counted("--hits", hits, "--trials", trials)
    counted = replaced_hits is not None and replaced_trials is not None
    if counted == (chance is not None) or (replaced_hits is None) != (replaced_trials is None):
        raise ValueError("give either --replaced-hits and --replaced-trials, or --chance")
    replaced: Proportion
    if replaced_hits is not None and replaced_trials is not None:
        replaced = _make_counted(
            "--replaced-hits", replaced_hits, "--replaced-trials", replaced_trials
        )
    else:
        replaced = Known(chance or 0.0)
    weights = _resolve_prior(prior, domain_size)
    audits: list[RadAudit] = [audit_black_box(weights, delta)]
    if mechanism is not None:
        audits.insert(0, _find_exact_audit(mechanism, weights, subset))
    elif subset:
        raise ValueError("--subset needs --mechanism ss, got none")
    measured = MeasuredRad(real, replaced)
    facts = _measure_advantage(measured, confidence)
    found = [each.audit(measured, confidence) for each in audits]
    _print_report(found, epsilon, delta, facts, as_json=as_json)


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
    from reconbench.bounds.audit import LdpAuditor

    _check_claim(epsilon, delta, confidence)
    true = _make_counted("--tp", tp, "--trials", trials)
    name = "--trials" if fp_trials is None else "--fp-trials"
    false = _make_counted("--fp", fp, name, trials if fp_trials is None else fp_trials)
    found = LdpAuditor(delta).audit(true, false, confidence)
    facts = {"tpr": true.estimate, "fpr": false.estimate}
    _print_report([found], epsilon, delta, facts, as_json=as_json)


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
    from reconbench.bounds import Tally
    from reconbench.bounds.audit import audit_canaries, audit_membership

    _check_claim(epsilon, delta, confidence)
    _make_counted("--guesses", guesses, "--canaries", canaries)
    _make_counted("--right", right, "--guesses", guesses)
    tally = Tally(right, guesses, canaries, values)
    found = [audit_canaries(tally, delta, confidence)]
    if values == 2:
        found.insert(0, audit_membership(tally, delta, confidence))
    _print_report(found, epsilon, delta, {"right_share": right / guesses}, as_json=as_json)


def _measure_advantage(measured: MeasuredRad, confidence: float) -> dict[str, float]:
    """Both successes, and their difference with its interval."""
    low, high = measured.interval(confidence)
    return {
        "success": measured.real.estimate,
        "replaced_success": measured.replaced.estimate,
        "rad": measured.estimate,
        "rad_low": low,
        "rad_high": high,
    }


def _print_report(
    found: Sequence[EpsilonEstimate],
    claimed: float | None,
    delta: float,
    facts: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    rows = []
    for each in found:
        verdict = None if claimed is None else each.verdict(claimed)
        rows.append(
            each.to_dict()
            | {
                "verdict": None if verdict is None else str(verdict),
                "violated": None if verdict is None else verdict.violated,
            }
        )
    if as_json:
        report = {"claimed_epsilon": claimed, "delta": delta, **facts, "estimates": rows}
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
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
        for row in rows
    ]
    title = f"Audit, {claim}, {100 * found[0].confidence:g} % confidence"
    print_table(title, ["audit", "epsilon", "interval", "verdict", "reference"], shown)
    print_pairs(
        {
            name: f"{value:.6g}" if isinstance(value, float) else str(value)
            for name, value in facts.items()
            if value is not None
        }
    )


def _format_end(value: Any) -> str:
    return "inf" if value is None else f"{value:.4g}"


def _check_claim(epsilon: float | None, delta: float, confidence: float) -> None:
    if epsilon is not None and not 0 <= epsilon < float("inf"):
        raise ValueError(f"--epsilon must be a finite number >= 0, got {epsilon:g}")
    if not 0 <= delta < 1:
        raise ValueError(f"--delta must be in [0, 1), got {delta:g}")
    if not 0 < confidence < 1:
        raise ValueError(f"--confidence must be between 0 and 1, got {confidence:g}")


def _read_count(name: str, value: float) -> int:
    if not 1 <= value < 1e12 or value != int(value):
        raise ValueError(f"{name} must be a whole number of at least 1, got {value:g}")
    return int(value)


def _make_counted(name: str, successes: int, of: str, trials: int) -> Counted:
    from reconbench.bounds.audit import Counted

    if trials < 1:
        raise ValueError(f"{of} must be at least 1, got {trials}: nothing was tried")
    if not 0 <= successes <= trials:
        raise ValueError(f"{name} must be from 0 to {of} = {trials}, got {successes}")
    return Counted(successes, trials)


def _resolve_prior(text: str, size: int | None) -> Floats:
    import numpy as np

    from reconbench.bounds.rad import as_prior
    from reconbench.cli.bounds.prior_options import read_priors

    kind, colon, rest = text.partition(":")
    if text != "uniform" and not (kind == "zipf" and colon):
        weights = as_prior(read_priors(Path(text))[0])
        if size not in (None, weights.size):
            raise ValueError(f"--domain-size is {size}, but {text} has {weights.size} values")
        return weights
    if size is None or size < 2:
        raise ValueError(f"--domain-size must be at least 2, got {size}")
    if text == "uniform":
        return np.full(size, 1 / size)
    try:
        exponent = float(rest)
    except ValueError:
        exponent = float("nan")
    if not 0 <= exponent <= 100:
        raise ValueError(f"--prior zipf:S needs an S from 0 to 100, got {rest!r}")
    weights = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def _find_exact_audit(mechanism: str, weights: Floats, subset: int) -> RadAudit:
    from reconbench.bounds.audit import AUDITS, audit_ss

    if mechanism not in AUDITS:
        raise ValueError(f"unknown mechanism {mechanism!r}; available: {', '.join(AUDITS)}")
    if not subset:
        return AUDITS[mechanism](weights)
    if mechanism != "ss":
        raise ValueError(f"--subset needs --mechanism ss, got {mechanism}")
    return audit_ss(weights, subset)


def _resolve_client(
    mechanism: str, epsilon: float, other: float | None, spec: str | None, m: int
) -> Client:
    from reconbench.benchmarks.audits import ldp

    if other is not None and spec is not None:
        raise ValueError("give --client-epsilon or --client, not both")
    ldp.reader_of(mechanism)
    if spec is not None:
        return ldp.load_client(spec)
    used = epsilon if other is None else other
    return ldp.client_of(ldp.CHANNELS[mechanism](used, m))
