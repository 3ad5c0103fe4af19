"""`reconbench rad`: the reconstruction advantage of a mechanism, a prior and a knowledge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json
from reconbench.cli.bounds.guarantee_options import (
    Delta,
    Epsilon,
    Gaussian,
    MechanismText,
    Mu,
    RelationName,
    build_guarantee,
    name_mechanism,
)
from reconbench.cli.bounds.prior_options import (
    KnowledgeName,
    PriorFile,
    PriorList,
    Values,
    Within,
    read_knowledge,
    read_one_prior,
)
from reconbench.cli.bounds.sweeps import (
    CHANNELS,
    Sweep,
    draw_sweep,
    sweep_channel,
    sweep_guarantee,
)
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    from reconbench.bounds import Guarantee
    from reconbench.bounds.rad import KnownMechanism, Secret

HELP = """Bound the reconstruction advantage: what an attack gains because its target took part.

It is the success of an attack on a target that took part, minus that of the same attack when
another draw of the prior took part instead (Guerra-Balboa 2026). An attack that ignores the release
has none, however often it is right.

The secret: --values, --prior or --prior-file (a column `probability`, one row per value). What the
attacker knows of it: --knowledge none (the default), any (unknown: the answer holds whatever it
is), all (the value itself: only taking part is open), or a CSV file with a column `group`, one row
per value. With --within, values are numbers at gaps of --gap and a guess counts if it is as near.

The mechanism: its guarantee (--epsilon, --mu, or --mechanism as in docs/guarantees.md), or one that
is known in full, whose exact value is computed: --channel grr, oue or ss with --epsilon, or laplace
or gaussian noise on the numbers, by --noise in their unit or by a budget for their whole range.

\b
Examples:
  reconbench rad --values 10 --epsilon 1
  reconbench rad --prior 0.5,0.3,0.2 --knowledge any --mechanism laplace:scale=5,queries=15
  reconbench rad --values 100 --mechanism dp-sgd:noise=1.0,rate=0.004,steps=792
  reconbench rad --channel ss --epsilon 2 --prior-file jobs.csv --knowledge jobs.csv --json
  reconbench rad --channel laplace --noise 50 --values 101 --within 10 --figure rad.svg
"""


def rad(
    values: Values = None,
    prior: PriorList = None,
    prior_file: PriorFile = None,
    knowledge: KnowledgeName = None,
    within: Within = None,
    gap: Annotated[float, typer.Option(help="The distance between a value and the next.")] = 1.0,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    mechanism: MechanismText = None,
    relation: RelationName = None,
    channel: Annotated[
        str | None,
        typer.Option(metavar="|".join(CHANNELS), help="A mechanism that is known in full."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Scale of --channel laplace, sd of gaussian, in the unit of the values."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="The SVG file to draw the bounds to, over the budget.")
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.bounds.rad import Secret, rad_report

    masses = read_one_prior(values, prior, prior_file)
    size = masses if isinstance(masses, int) else masses.size
    secret = Secret.of(masses, read_knowledge(knowledge, size), within or 0.0, gap)
    shown: Guarantee | KnownMechanism
    sweep: Sweep | None = None
    if channel is not None:
        if mechanism is not None or relation is not None or gaussian:
            raise ValueError("give --channel without --mechanism, --relation and --gaussian")
        sweep = sweep_channel(channel, secret.size, gap, epsilon, delta, mu, noise)
        shown = sweep.at(sweep.value)
    else:
        if noise is not None:
            raise ValueError("--noise is for --channel laplace or gaussian; see --mechanism")
        shown = build_guarantee(epsilon, delta, mu, relation, mechanism, gaussian=gaussian)
        if figure is not None:
            sweep = sweep_guarantee(epsilon, delta, mu, relation, mechanism, gaussian=gaussian)
    report = rad_report(shown, secret, delta)
    report |= name_mechanism(mechanism)
    if channel is not None:
        report["channel"] = channel
    if figure is not None and sweep is not None:
        _draw(figure, sweep, secret, delta)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    _print_report(report)
    if figure is not None:
        typer.echo(str(figure))


def _draw(path: Path, sweep: Sweep, secret: Secret, delta: float) -> None:
    from reconbench.bounds.rad import rad_curves

    title = f"Reconstruction advantage, {secret.size:,} values, knowledge: {secret.knowledge.name}"
    curves = rad_curves(sweep.at, sweep.values(), secret, delta)
    draw_sweep(path, title, "reconstruction advantage, at most", sweep, dict(curves))


def _print_report(report: dict[str, Any]) -> None:
    rows = [
        [name, f"{entry['advantage']:.6g}", entry["relation"], entry["reference"]]
        for name, entry in report["bounds"].items()
    ]
    kind = "equally likely values" if report["uniform"] else "values"
    what = f"{report['values']:,} {kind}"
    title = f"Reconstruction advantage, {what}, {report['described']}"
    print_table(title, ["bound", "advantage", "relation", "reference"], rows)
    exact = report["bounds"].get("thm43")
    shown = {
        "answer": _answer(report),
        "attacker knows": report["known"],
        "without release": f"the best guess succeeds with {report['baseline']:.6g}",
    }
    if report["relation"] != "replace-one":
        shown["used as"] = f"{report['replace_one']}: replacing is removing and adding"
    if report["attack"] is not None:
        attack = report["attack"]
        shown["optimal attack"] = (
            f"success {attack['success']:.6g}, and {attack['success_without_target']:.6g} if the "
            "target did not take part"
        )
    elif exact is not None and exact["at_least"] < exact["advantage"]:
        shown["enclosed"] = f"the exact value is at least {exact['at_least']:.6g}"
    print_pairs(shown | report["not_applicable"])


def _answer(report: dict[str, Any]) -> str:
    by = f"by {report['bound']}: {report['reference']}, replace-one neighbours"
    tight = "attained" if report["attained"] else "an upper bound"
    return (
        f"advantage at most {report['advantage']:.6g} of {report['most']:.6g} possible ({by}; "
        f"{tight})"
    )
