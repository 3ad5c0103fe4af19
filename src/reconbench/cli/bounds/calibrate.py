"""`reconbench calibrate`: the budget, or the noise, for a given risk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json
from reconbench.cli.bounds.commands import PriorFile
from reconbench.cli.bounds.guarantee_options import REPLACE_ONE, Delta, RelationName
from reconbench.cli.terminal.tables import print_pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

HELP = """Find the largest epsilon and mu, and the least noise, for a given risk.

--measure is success, advantage, generalised-advantage, worst-advantage (over all baselines), or
ceiling (the share of targets recovered at 95 % confidence, with one prior per target in
--prior-file). A secret is guessed exactly; add --any-event where a guess may be right for several
values (an age within a year). Columns p0, p1, ... in --prior-file give whole priors, which need
less noise. --mechanism names a mechanism with one parameter `?`, which is solved for instead of
epsilon and mu. --sensitivity is that between neighbours under --relation: for a count it is 1 under
add-remove.

\b
Examples:
  reconbench calibrate --risk 0.05 --baseline 1e-9 --measure advantage
  reconbench calibrate --risk 0.1 --baseline 0.5 --relation add-remove
  reconbench calibrate --risk 0.8 --prior-file priors.csv --measure ceiling --json
  reconbench calibrate --risk 0.1 --baseline 0.01 --mechanism dp-sgd:noise=?,rate=0.004,steps=792
"""


def calibrate(
    risk: Annotated[float, typer.Option(help="The largest risk to allow.")],
    baseline: Annotated[
        float | None, typer.Option(help="Success of the best guess without the release.")
    ] = None,
    prior_file: PriorFile = None,
    measure: Annotated[str, typer.Option(help="The risk to bound; see above.")] = "advantage",
    delta: Delta = 1e-5,
    sensitivity: Annotated[
        float | None,
        typer.Option(help="L2 sensitivity under --relation, to compute the noise. Default: 1."),
    ] = None,
    relation: RelationName = None,
    mechanism: Annotated[
        str | None,
        typer.Option(metavar="KIND:NAME=?,...", help="Solve for the one parameter given as `?`."),
    ] = None,
    any_event: Annotated[
        bool, typer.Option("--any-event", help="A guess may be right for several values.")
    ] = False,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import calibration_report, mechanism_calibration_report
    from reconbench.bounds.prior_file import read_priors

    if (baseline is None) == (prior_file is None) and measure != "worst-advantage":
        raise ValueError("give either --baseline or --prior-file")
    base: Any = 0.0 if baseline is None else baseline
    whole: Floats | None = None
    if prior_file is not None:
        base, whole = read_priors(prior_file)
    if mechanism is not None:
        if sensitivity is not None:
            raise ValueError("give sensitivity=... within --mechanism, not as --sensitivity")
        answer = mechanism_calibration_report(
            mechanism, risk, base, measure, relation=relation, priors=whole, any_event=any_event
        )
        _print_answer(answer, as_json=as_json)
        return
    report = calibration_report(
        risk,
        base,
        measure,
        delta,
        1.0 if sensitivity is None else sensitivity,
        relation=relation or REPLACE_ONE,
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


def _print_answer(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    keys = ("measure", "threshold", "relation", "mechanism", "solved", "answer")
    print_pairs({key: _format_value(report[key]) for key in keys if report[key] is not None})


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_format_value(item)}" for key, item in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
