"""`reconbench ceiling`, `risk`, `calibrate` and `compare-bounds`: the bounds on their own."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reconbench.bounds import ApproxDP, Bound, Guarantee, PureDP, Targets

    Floats = npt.NDArray[np.float64]

CEILING_HELP = """Compute ceilings: how many of n targets any attack recovers at most.

Ceilings hold at a confidence or on the mean. --epsilon and --delta alone stand for any
(epsilon, delta)-DP mechanism. For the tighter bounds of a Gaussian mechanism calibrated to that
budget, add --gaussian, or give its --mu. --prior-file is a CSV file with one row per target: a
column `prior` with the success of the best guess from the prior, or columns p0, p1, ... with the
whole prior. Ceilings need replace-one neighbours: with --relation add-remove, the guarantee is
converted first (replacing is removing and adding).

\b
Examples:
  reconbench ceiling --prior 0.56 --n 100 --epsilon 1 --delta 1e-5
  reconbench ceiling --prior 0.56 --n 100 --mu 0.268 --json
  reconbench ceiling --prior-file priors.csv --epsilon 3 --gaussian --confidence 0.99
  reconbench ceiling --prior 0.56 --epsilon 1 --bound my_bound.py:MyBound --bound thm35
"""

RISK_HELP = """Compute the success and advantage on one target that each applicable bound allows.

The headline is the smallest bound for a secret guessed exactly, whatever its prior. Bounds that
need replace-one neighbours convert an add-remove guarantee.

\b
Examples:
  reconbench risk --baseline 0.1 --mu 1
  reconbench risk --baseline 1e-6 --epsilon 4 --delta 1e-5 --json
  reconbench risk --baseline 0.1 --mu 1 --relation add-remove
"""

CALIBRATE_HELP = """Find the largest epsilon and mu, and the least noise, for a given risk.

--measure is success, advantage, generalised-advantage, worst-advantage (over all baselines), or
ceiling (the share of targets recovered at 95 % confidence, with one prior per target in
--prior-file). A secret is guessed exactly; add --any-event where a guess may be right for several
values (an age within a year). Columns p0, p1, ... in --prior-file give whole priors, which need
less noise. --sensitivity is that between neighbours under --relation: for a count it is 1 under
add-remove.

\b
Examples:
  reconbench calibrate --risk 0.05 --baseline 1e-9 --measure advantage
  reconbench calibrate --risk 0.1 --baseline 0.5 --relation add-remove
  reconbench calibrate --risk 0.8 --prior-file priors.csv --measure ceiling --json
"""

COMPARE_HELP = """Compare all bounds on one target over many baselines, and optionally draw them.

\b
Examples:
  reconbench compare-bounds --epsilon 1
  reconbench compare-bounds --mu 1 --baseline 0.001 --baseline 0.1 --json
  reconbench compare-bounds --epsilon 2 --delta 1e-5 --figure bounds.svg
"""

BASELINES = (1e-6, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9)
CURVE = 101
REPLACE_ONE = "replace-one"

Epsilon = Annotated[float | None, typer.Option(help="Privacy budget ε; `inf` for no noise.")]
Delta = Annotated[float, typer.Option(help="Privacy parameter δ; 0 for pure DP.")]
Mu = Annotated[float | None, typer.Option(help="Parameter μ of Gaussian DP, instead of --epsilon.")]
Gaussian = Annotated[
    bool, typer.Option("--gaussian", help="The mechanism is Gaussian, calibrated to the budget.")
]
RelationName = Annotated[
    str, typer.Option("--relation", help="Neighbouring relation: replace-one or add-remove.")
]
PriorFile = Annotated[
    Path | None, typer.Option(help="CSV file with a column `prior`, or p0, p1, ...")
]


def ceiling(
    prior: Annotated[
        float | None,
        typer.Option(help="Success of the best guess from the prior, for every target."),
    ] = None,
    n: Annotated[int, typer.Option(min=1, help="Number of targets.")] = 100,
    prior_file: PriorFile = None,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    relation: RelationName = REPLACE_ONE,
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

    from reconbench.bounds import CONFIDENCES, as_replace_one
    from reconbench.bounds.guarantees.guarantee import stated_pair

    stated = _build_guarantee(epsilon, delta, mu, relation, gaussian=gaussian)
    tight = as_replace_one(stated)
    if (prior is None) == (prior_file is None):
        raise ValueError("give either --prior (with --n) or --prior-file")
    best: Floats
    whole: Floats | None
    if prior_file is not None:
        best, whole = read_priors(prior_file)
    else:
        best, whole = np.full(n, prior), None
    levels = confidence or list(CONFIDENCES)
    targets = _build_targets(best, whole, stated_pair(stated, delta))
    report: dict[str, Any] = {
        "n": len(best),
        "guarantee": stated.describe(),
        "relation": stated.relation.value,
        "replace_one": tight.describe(),
        "prior_mean": float(best.mean()),
        "bounds": _compute_ceilings(bound or [], targets, tight, levels),
    }
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
    used = "" if tight is stated else f", used as {tight.describe()}"
    print_table(f"Ceilings on {len(best)} targets, {stated.describe()}{used}", header, rows)


def risk(
    baseline: Annotated[float, typer.Option(help="Success of the best guess without the release.")],
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    relation: RelationName = REPLACE_ONE,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import risk_bounds, risk_report

    guarantee = _build_guarantee(epsilon, delta, mu, relation, gaussian=gaussian)
    report = risk_report(baseline, guarantee, risk_bounds(delta=delta))
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
    title = f"One target, baseline {baseline:g}, {report['guarantee']}; TV {report['tv']:.4g}"
    print_table(title, ["bound", "success", "advantage", "relation", "reference"], rows)
    whole = report["any_event"]
    print_pairs(
        {
            "exact match": f"advantage at most {report['advantage']:.6g}, by {report['bound']}",
            "any success event": f"advantage at most {whole['advantage']:.6g}, by {whole['bound']}",
            **report["not_applicable"],
        }
    )


def calibrate(
    risk: Annotated[float, typer.Option(help="The largest risk to allow.")],
    baseline: Annotated[
        float | None, typer.Option(help="Success of the best guess without the release.")
    ] = None,
    prior_file: PriorFile = None,
    measure: Annotated[str, typer.Option(help="The risk to bound; see above.")] = "advantage",
    delta: Delta = 1e-5,
    sensitivity: Annotated[
        float, typer.Option(help="L2 sensitivity under --relation, to compute the noise.")
    ] = 1.0,
    relation: RelationName = REPLACE_ONE,
    any_event: Annotated[
        bool, typer.Option("--any-event", help="A guess may be right for several values.")
    ] = False,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import calibration_report

    if (baseline is None) == (prior_file is None) and measure != "worst-advantage":
        raise ValueError("give either --baseline or --prior-file")
    base: Any = 0.0 if baseline is None else baseline
    whole: Floats | None = None
    if prior_file is not None:
        base, whole = read_priors(prior_file)
    report = calibration_report(
        risk,
        base,
        measure,
        delta,
        sensitivity,
        relation=relation,
        priors=whole,
        any_event=any_event,
    )
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    shown = {key: report[key] for key in ("measure", "threshold", "relation", "delta")}
    # None and no answer are for programs; the sentences say both.
    shown |= {key: report[key] for key in ("epsilon", "mu") if report.get(key) is not None}
    if report.get("mu") is not None:
        shown |= {"sensitivity": report["sensitivity"], "sigma": report["sigma"]}
    print_pairs({key: _format_value(value) for key, value in (shown | report["answer"]).items()})


def compare_bounds(
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    relation: RelationName = REPLACE_ONE,
    baseline: Annotated[list[float] | None, typer.Option(help="A baseline; repeatable.")] = None,
    figure: Annotated[Path | None, typer.Option(help="The SVG file to draw the curves to.")] = None,
    as_json: Json = False,
) -> None:
    import numpy as np

    from reconbench import bounds
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports import curves_svg

    guarantee = _build_guarantee(epsilon, delta, mu, relation, gaussian=gaussian)
    listed = bounds.risk_bounds(delta=delta)
    report = bounds.compare_bounds(baseline or list(BASELINES), guarantee, listed)
    if figure is not None:
        curves = bounds.compare_bounds(np.linspace(0, 1, CURVE), guarantee, listed)
        series = {name: entry["success"] for name, entry in curves["bounds"].items()}
        title = f"Success on one target, {guarantee.describe()}"
        write_atomic(figure, curves_svg(title, curves["baselines"], series))
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


def _build_guarantee(
    epsilon: float | None, delta: float, mu: float | None, relation: str, *, gaussian: bool
) -> Guarantee:
    from reconbench.bounds import ApproxDP, GaussianDP, PureDP, gaussian_mu
    from reconbench.bounds.guarantees.relation import as_relation

    neighbours = as_relation(relation)
    if (epsilon is None) == (mu is None):
        raise ValueError("give either --epsilon (with --delta) or --mu")
    if mu is not None:
        return GaussianDP(mu, neighbours)
    if gaussian:
        return GaussianDP(gaussian_mu(epsilon or 0.0, delta), neighbours)
    if delta == 0:
        return PureDP(epsilon or 0.0, neighbours)
    return ApproxDP(epsilon or 0.0, delta, neighbours)


def _build_targets(best: Floats, whole: Floats | None, budget: ApproxDP | PureDP) -> Targets:
    from reconbench.bounds import Targets, WholePriors

    # Only the best guess of a prior is known: the other values are no likelier than it.
    priors = WholePriors(best[:, None], 1 - best) if whole is None else WholePriors(whole)
    return Targets(best, budget, guess_success=best, read_whole_priors=lambda: priors)


@dataclass(frozen=True)
class _Setting:
    """The axes of the game that `ceiling` assumes: exact match, an attacker with the true prior."""

    n: int
    epsilon: float
    delta: float
    adversary: str = "realistic"
    attacker_prior: str = "same"
    name: str = "exact"


def _compute_ceilings(
    specs: Sequence[str], targets: Targets, guarantee: Guarantee, levels: Sequence[float]
) -> dict[str, Any]:
    """The ceilings of the named bounds, or of all that hold for these targets."""
    from reconbench.benchmarks.plugins.bounds import find_bounds, load_bound
    from reconbench.bounds import NotApplicable, Scope

    budget = targets.budget
    setting = _Setting(targets.n, budget.epsilon, getattr(budget, "delta", 0.0))
    chosen: dict[str, type[Bound]] = {bound.name: bound for bound in map(load_bound, specs)}
    if not specs:
        chosen = {entry.name: entry.bound for entry in find_bounds() if entry.bound is not None}
    by_bound: dict[str, Any] = {}
    for name, bound in chosen.items():
        reason = bound.holds_for(setting, setting)
        if bound.scope is Scope.REPETITIONS:
            reason = "it is computed from the repetitions of an attack"
        try:
            if reason is None:
                ceilings = dict(bound.ceilings(targets, guarantee, levels))
                by_bound[name] = {"reference": bound.reference, "ceilings": ceilings}
        except NotApplicable as error:
            reason = str(error)
        if reason is not None and specs:
            raise ValueError(f"bound {name!r} does not hold here: {reason}")
    return by_bound


def read_priors(path: Path) -> tuple[Floats, Floats | None]:
    """The best guess's prior of every target and, where the file has them, whole priors."""
    import numpy as np

    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if not rows:
        raise ValueError(f"{path} has no rows; it needs a header and one row per target")
    header = list(rows[0])
    names = ["prior"] if "prior" in header else [f"p{i}" for i in range(len(header))]
    if set(names) != set(header) & {*names, "prior"} or not set(names) <= set(header):
        raise ValueError(f"{path} must have a column `prior`, or columns p0, p1, ... and no others")
    try:
        values = np.array([[float(row[name] or 0) for name in names] for row in rows])
    except (TypeError, ValueError):
        raise ValueError(f"{path}: every value must be a number") from None
    if names == ["prior"]:
        return values[:, 0], None
    return values.max(axis=1), values


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_format_value(item)}" for key, item in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
