"""`reconbench ceiling`, `risk` and `compare-bounds`: the bounds on their own."""

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
    PriorFile,
    PriorList,
    Values,
    read_baseline,
)
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

CEILING_HELP = """Compute ceilings: how many of n targets any attack recovers at most.

Ceilings hold at a confidence or on the mean. --epsilon and --delta alone stand for any
(epsilon, delta)-DP mechanism. For the tighter bounds of a Gaussian mechanism calibrated to that
budget, add --gaussian, or give its --mu. --prior-file is a CSV file with one row per target: a
column `prior` with the success of the best guess from the prior, or columns p0, p1, ... with the
whole prior. Ceilings need replace-one neighbours: with --relation add-remove, the guarantee is
converted first (replacing is removing and adding).

--mechanism states the mechanism itself; docs/guarantees.md lists the kinds.

\b
Examples:
  reconbench ceiling --prior 0.56 --n 100 --epsilon 1 --delta 1e-5
  reconbench ceiling --prior 0.56 --n 100 --mu 0.268 --json
  reconbench ceiling --prior-file priors.csv --epsilon 3 --gaussian --confidence 0.99
  reconbench ceiling --prior 0.56 --mechanism laplace:scale=5,queries=15
  reconbench ceiling --prior 0.56 --epsilon 1 --bound my_bound.py:MyBound --bound thm35
"""

RISK_HELP = """Compute the success and advantage on one target that each applicable bound allows.

The headline is the smallest bound for a secret guessed exactly. State the success of the best guess
without the release as --baseline, or the secret itself: --values equally likely ones, or the
probability of each by --prior, which may give a smaller bound. Bounds that need replace-one
neighbours convert an add-remove guarantee. --mechanism states the mechanism itself, with its own
relation unless --relation says otherwise; docs/guarantees.md lists the kinds.

\b
Examples:
  reconbench risk --baseline 0.1 --mu 1
  reconbench risk --prior 0.5,0.3,0.2 --mu 1
  reconbench risk --baseline 1e-6 --epsilon 4 --delta 1e-5 --json
  reconbench risk --baseline 0.1 --mu 1 --relation add-remove
  reconbench risk --baseline 0.1 --mechanism dp-sgd:noise=1.0,rate=0.004,steps=792
  reconbench risk --baseline 0.1 --mechanism gaussian:sigma=2+laplace:scale=5,queries=15
"""

COMPARE_HELP = """Compare all bounds on one target over many baselines, and optionally draw them.

\b
Examples:
  reconbench compare-bounds --epsilon 1
  reconbench compare-bounds --mu 1 --baseline 0.001 --baseline 0.1 --json
  reconbench compare-bounds --mechanism discrete-gaussian:sigma=4,queries=10
  reconbench compare-bounds --epsilon 2 --delta 1e-5 --figure bounds.svg
"""

BASELINES = (1e-6, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9)


def ceiling(
    prior: Annotated[
        float | None,
        typer.Option(help="Success of the best guess from the prior, for every target."),
    ] = None,
    n: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of targets.")] = 100,
    prior_file: PriorFile = None,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    mechanism: MechanismText = None,
    relation: RelationName = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(help="Only this bound: a name or file.py:Class; repeatable."),
    ] = None,
    confidence: Annotated[
        list[float] | None, typer.Option(help="Confidence; repeatable. Default 0.05, 0.5 and 0.95.")
    ] = None,
    as_json: Json = False,
) -> None:
    import numpy as np

    from reconbench.benchmarks.plugins.ceiling_report import report_ceilings
    from reconbench.bounds import CONFIDENCES
    from reconbench.bounds.prior_file import read_priors

    stated = build_guarantee(epsilon, delta, mu, relation, mechanism, gaussian=gaussian)
    if (prior is None) == (prior_file is None):
        raise ValueError("give either --prior (with --n) or --prior-file")
    whole: Floats | None
    if prior_file is not None:
        best, whole = read_priors(prior_file)
    else:
        best, whole = np.full(n, prior), None
    levels = confidence or list(CONFIDENCES)
    report = report_ceilings(
        best, whole, stated, delta=delta, bounds=bound or [], confidences=levels
    )
    report |= name_mechanism(mechanism)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    rows = [
        [
            name,
            *(entry["ceilings"].get(f"{level:g}", "") for level in levels),
            f"{entry['ceilings']['mean']:.1f}" if "mean" in entry["ceilings"] else "",
            entry["reference"],
        ]
        for name, entry in report["bounds"].items()
    ]
    header = ["bound", *(f"{100 * level:g} %" for level in levels), "mean", "reference"]
    same = report["replace_one"] == report["guarantee"]
    used = "" if same else f", used as {report['replace_one']}"
    print_table(f"Ceilings on {len(best)} targets, {report['guarantee']}{used}", header, rows)


def risk(
    baseline: Annotated[
        float | None, typer.Option(help="Success of the best guess without the release.")
    ] = None,
    values: Values = None,
    prior: PriorList = None,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    mechanism: MechanismText = None,
    relation: RelationName = None,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import risk_bounds, risk_report

    guarantee = build_guarantee(epsilon, delta, mu, relation, mechanism, gaussian=gaussian)
    base, whole = read_baseline(baseline, values, prior)
    report = risk_report(base, guarantee, risk_bounds(delta=delta, prior=whole))
    report |= name_mechanism(mechanism)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    rows = [
        [
            name,
            f"{entry['success']:.6g}",
            f"{entry['advantage']:.6g}",
            entry["relation"],
            entry["reference"],
        ]
        for name, entry in report["bounds"].items()
    ]
    title = f"One target, baseline {base:g}, {report['guarantee']}; TV {report['tv']:.4g}"
    print_table(title, ["bound", "success", "advantage", "relation", "reference"], rows)
    print_pairs(
        {
            "exact match": _describe_least(report, report["bounds"]),
            "any success event": _describe_least(report["any_event"], report["bounds"]),
            **report["not_applicable"],
        }
    )


def _describe_least(least: dict[str, Any], rows: dict[str, dict[str, Any]]) -> str:
    row = rows[least["bound"]]
    return (
        f"success at most {least['success']:.6g}, advantage at most {least['advantage']:.6g} (by "
        f"{least['bound']}: {row['reference']}, {row['relation']} neighbours)"
    )


def compare_bounds(
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    mechanism: MechanismText = None,
    relation: RelationName = None,
    baseline: Annotated[list[float] | None, typer.Option(help="A baseline; repeatable.")] = None,
    figure: Annotated[Path | None, typer.Option(help="The SVG file to draw the curves to.")] = None,
    as_json: Json = False,
) -> None:
    from reconbench import bounds
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.figures.bound_curves import draw_risk_curves

    guarantee = build_guarantee(epsilon, delta, mu, relation, mechanism, gaussian=gaussian)
    listed = bounds.risk_bounds(delta=delta)
    report = bounds.compare_bounds(baseline or list(BASELINES), guarantee, listed)
    if figure is not None:
        curves = bounds.compare_bounds(bounds.BASELINE_GRID, guarantee, listed)
        write_atomic(figure, draw_risk_curves(curves))
    report |= name_mechanism(mechanism)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    header = ["bound", "relation", *(f"{base:g}" for base in report["baselines"])]
    rows = [
        [
            name,
            entry["relation"],
            *("" if value is None else f"{value:.4g}" for value in entry["success"]),
        ]
        for name, entry in report["bounds"].items()
    ]
    print_table(f"Success by baseline, {report['guarantee']}", header, rows)
    if figure is not None:
        typer.echo(str(figure))
