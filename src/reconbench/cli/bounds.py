"""`reconbench ceiling`, `risk`, `calibrate` and `compare-bounds`: the bounds on their own."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reconbench.bounds import ApproxDP, Bound, Guarantee, PureDP, Targets

    Floats = npt.NDArray[np.float64]

CEILING_HELP = """How many of n targets no attack recovers, at a confidence and in the mean.

A budget of --epsilon and --delta promises no more than (epsilon, delta)-DP; add --gaussian when
the mechanism is a Gaussian one calibrated to it, or give its --mu, for the tighter bounds that
follow. --prior-file is a CSV file with one row a target: a column `prior` with the success of the
best guess from the prior, or columns p0, p1, ... with the whole prior.

\b
Examples:
  reconbench ceiling --prior 0.56 --n 100 --epsilon 1 --delta 1e-5
  reconbench ceiling --prior 0.56 --n 100 --mu 0.268 --json
  reconbench ceiling --prior-file priors.csv --epsilon 3 --gaussian --confidence 0.99
  reconbench ceiling --prior 0.56 --epsilon 1 --bound my_bound.py:MyBound --bound thm35
"""

RISK_HELP = """Success and advantage that every applicable bound allows on one target.

\b
Examples:
  reconbench risk --baseline 0.1 --mu 1
  reconbench risk --baseline 1e-6 --epsilon 4 --delta 1e-5 --json
"""

CALIBRATE_HELP = """The largest epsilon and mu, and the least noise, that keep a risk in check.

--measure is success, advantage, generalised-advantage, worst-advantage (at any baseline), or
ceiling (the share of targets recovered at 95 % confidence, with one prior a target in
--prior-file).

\b
Examples:
  reconbench calibrate --risk 0.05 --baseline 1e-9 --measure advantage
  reconbench calibrate --risk 0.8 --prior-file priors.csv --measure ceiling --json
"""

COMPARE_HELP = """All bounds on one target side by side, over many baselines; optionally a figure.

\b
Examples:
  reconbench compare-bounds --epsilon 1
  reconbench compare-bounds --mu 1 --baseline 0.001 --baseline 0.1 --json
  reconbench compare-bounds --epsilon 2 --delta 1e-5 --figure bounds.svg
"""

BASELINES = (1e-6, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9)
CURVE = 101

Epsilon = Annotated[float | None, typer.Option(help="Privacy budget; `inf` for none.")]
Delta = Annotated[float, typer.Option(help="Privacy budget; 0 for pure DP.")]
Mu = Annotated[float | None, typer.Option(help="Gaussian DP, instead of --epsilon.")]
Gaussian = Annotated[
    bool, typer.Option("--gaussian", help="The mechanism is Gaussian, calibrated to the budget.")
]
PriorFile = Annotated[Path | None, typer.Option(help="CSV: column `prior`, or p0, p1, ...")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def ceiling(
    prior: Annotated[
        float | None, typer.Option(help="Success of the best guess from the prior, every target.")
    ] = None,
    n: Annotated[int, typer.Option(min=1, help="Targets.")] = 100,
    prior_file: PriorFile = None,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    bound: Annotated[
        list[str] | None,
        typer.Option(help="Only this bound: a name or file.py:Class; repeatable."),
    ] = None,
    confidence: Annotated[
        list[float] | None, typer.Option(help="Default 0.05, 0.5 and 0.95; repeatable.")
    ] = None,
    as_json: Json = False,
) -> None:
    import numpy as np

    from reconbench.bounds import CONFIDENCES

    tight = _guarantee(epsilon, delta, mu, gaussian=gaussian)
    if (prior is None) == (prior_file is None):
        raise ValueError("give --prior (with --n) or --prior-file, one of them")
    best: Floats
    whole: Floats | None
    if prior_file is not None:
        best, whole = _read_priors(prior_file)
    else:
        best, whole = np.full(n, prior), None
    levels = confidence or list(CONFIDENCES)
    targets = _targets(best, whole, _budget(tight, delta))
    report: dict[str, Any] = {
        "n": len(best),
        "guarantee": tight.describe(),
        "relation": tight.relation.value,
        "prior_mean": float(best.mean()),
        "bounds": _bound_ceilings(bound or [], targets, tight, levels),
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
    _show.table(f"Ceilings on {len(best)} targets, {tight.describe()}", header, rows)


def risk(
    baseline: Annotated[float, typer.Option(help="Success of the best guess without a release.")],
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import risk_report

    report = risk_report(baseline, _guarantee(epsilon, delta, mu, gaussian=gaussian))
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    rows = [
        [name, f"{entry['success']:.6g}", f"{entry['advantage']:.6g}", entry["reference"]]
        for name, entry in report["bounds"].items()
    ]
    title = f"One target, baseline {baseline:g}, {report['guarantee']}; TV {report['tv']:.4g}"
    _show.table(title, ["bound", "success", "advantage", "reference"], rows)
    _show.pairs(report["not_applicable"])


def calibrate(
    risk: Annotated[float, typer.Option(help="The most risk to allow.")],
    baseline: Annotated[float | None, typer.Option(help="Success without a release.")] = None,
    prior_file: PriorFile = None,
    measure: Annotated[str, typer.Option(help="What is bounded.")] = "advantage",
    delta: Delta = 1e-5,
    sensitivity: Annotated[float, typer.Option(help="L2 sensitivity, for the noise.")] = 1.0,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import calibration_report

    if (baseline is None) == (prior_file is None) and measure != "worst-advantage":
        raise ValueError("give --baseline or --prior-file, one of them")
    base: Any = baseline if prior_file is None else _read_priors(prior_file)[0]
    report = calibration_report(risk, 0.0 if base is None else base, measure, delta, sensitivity)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    _show.pairs({key: _shown(value) for key, value in report.items() if value != {}})


def compare_bounds(
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    mu: Mu = None,
    gaussian: Gaussian = False,
    baseline: Annotated[list[float] | None, typer.Option(help="Repeatable.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the curves into an SVG file.")] = None,
    as_json: Json = False,
) -> None:
    import numpy as np

    from reconbench import bounds
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports import curves_svg

    guarantee = _guarantee(epsilon, delta, mu, gaussian=gaussian)
    report = bounds.compare_bounds(baseline or list(BASELINES), guarantee)
    if figure is not None:
        curves = bounds.compare_bounds(np.linspace(0, 1, CURVE), guarantee)
        series = {name: entry["success"] for name, entry in curves["bounds"].items()}
        title = f"Success on one target, {guarantee.describe()}"
        write_atomic(figure, curves_svg(title, curves["baselines"], series))
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    header = ["bound", *(f"{base:g}" for base in report["baselines"])]
    rows = [
        [name, *("" if value is None else f"{value:.4g}" for value in entry["success"])]
        for name, entry in report["bounds"].items()
    ]
    _show.table(f"Success by baseline, {report['guarantee']}", header, rows)
    if figure is not None:
        typer.echo(str(figure))


def _guarantee(
    epsilon: float | None, delta: float, mu: float | None, *, gaussian: bool
) -> Guarantee:
    from reconbench.bounds import ApproxDP, GaussianDP, PureDP, gaussian_mu

    if (epsilon is None) == (mu is None):
        raise ValueError("give --epsilon (with --delta) or --mu, one of them")
    if mu is not None:
        return GaussianDP(mu)
    budget = PureDP(epsilon or 0.0) if delta == 0 else ApproxDP(epsilon or 0.0, delta)
    return GaussianDP(gaussian_mu(budget.epsilon, delta)) if gaussian else budget


def _budget(guarantee: Guarantee, delta: float) -> ApproxDP | PureDP:
    """The (ε, δ) at which Theorem 3.5 is read off."""
    from reconbench.bounds import ApproxDP, PureDP

    if isinstance(guarantee, ApproxDP | PureDP):
        return guarantee
    epsilon = guarantee.epsilon_at(delta)
    return ApproxDP(max(epsilon, math.ulp(1.0)), delta)


def _targets(best: Floats, whole: Floats | None, budget: ApproxDP | PureDP) -> Targets:
    from reconbench.bounds import Targets, WholePriors

    # A prior of which only the best guess is known: the rest in values no likelier than that.
    priors = WholePriors(best[:, None], 1 - best) if whole is None else WholePriors(whole)
    return Targets(best, budget, guess_success=best, read_whole_priors=lambda: priors)


@dataclass(frozen=True)
class _Setting:
    """The axes of a game that `ceiling` stands for: exact match, by somebody with the prior."""

    n: int
    epsilon: float
    delta: float
    adversary: str = "realistic"
    attacker_prior: str = "same"
    name: str = "exact"


def _bound_ceilings(
    specs: Sequence[str], targets: Targets, guarantee: Guarantee, levels: Sequence[float]
) -> dict[str, Any]:
    """The ceilings of the named bounds, or of all that hold for these targets."""
    from reconbench.benchmarks.plugins.bounds import find_bounds, load_bound
    from reconbench.bounds import NotApplicable, Scope

    budget = targets.budget
    setting = _Setting(targets.n, budget.epsilon, getattr(budget, "delta", 0.0))
    chosen: dict[str, type[Bound]] = {each.name: each for each in map(load_bound, specs)}
    if not specs:
        chosen = {each.name: each.bound for each in find_bounds() if each.bound is not None}
    found: dict[str, Any] = {}
    for name, each in chosen.items():
        reason = each.holds_for(setting, setting)
        if each.scope is Scope.REPETITIONS:
            reason = "it is computed from the repetitions of an attack"
        try:
            if reason is None:
                ceilings = dict(each.ceilings(targets, guarantee, levels))
                found[name] = {"reference": each.reference, "ceilings": ceilings}
        except NotApplicable as error:
            reason = str(error)
        if reason is not None and specs:
            raise ValueError(f"bound {name!r} does not hold here: {reason}")
    return found


def _read_priors(path: Path) -> tuple[Floats, Floats | None]:
    """The best guess's prior of every target and, where the file has them, whole priors."""
    import numpy as np

    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if not rows:
        raise ValueError(f"{path} has no rows; it needs a header and one row a target")
    header = list(rows[0])
    names = ["prior"] if "prior" in header else [f"p{i}" for i in range(len(header))]
    if set(names) != set(header) & {*names, "prior"} or not set(names) <= set(header):
        raise ValueError(f"{path} needs a column `prior`, or columns p0, p1, ... and no others")
    try:
        values = np.array([[float(row[name] or 0) for name in names] for row in rows])
    except (TypeError, ValueError):
        raise ValueError(f"{path}: every entry must be a number") from None
    if names == ["prior"]:
        return values[:, 0], None
    return values.max(axis=1), values


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
