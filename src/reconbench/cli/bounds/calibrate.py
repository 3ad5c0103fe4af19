"""`reconbench calibrate`: the budget, or the noise, for a given risk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json
from reconbench.cli.bounds.guarantee_options import REPLACE_ONE, Delta, RelationName
from reconbench.cli.bounds.prior_options import (
    KnowledgeName,
    PriorFile,
    PriorList,
    Values,
    Within,
    read_baseline,
    read_knowledge,
)
from reconbench.cli.terminal.tables import print_pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reconbench.bounds.calibration.named import Details

    Floats = npt.NDArray[np.float64]

HELP = """Find the largest epsilon and mu, and the least noise, for a given risk.

--measure is one of

\b
  success, advantage, generalised-advantage   on one target, or the worst of several
  worst-advantage   over all baselines
  ceiling           the share of targets recovered at 95 % confidence, one row per target
  rad               the reconstruction advantage: what taking part adds to the success
  singling-out      of anyone in a table (--records), or of one person (--candidates)

A secret is guessed exactly; add --any-event where a guess may be right for several values (an age
within a year). State the best guess's success as --baseline (for singling-out, the predicate's
weight), or the whole prior, which needs less noise: --values, --prior, or columns p0, p1, ... in
--prior-file. rad needs the whole prior, and takes --knowledge and --within as `reconbench rad`.

--mechanism names a mechanism with one parameter `?`, which is solved for instead of epsilon and mu.
--sensitivity is that between neighbours under --relation: for a count it is 1 under add-remove.

\b
Examples:
  reconbench calibrate --risk 0.05 --baseline 1e-9 --measure advantage
  reconbench calibrate --risk 0.1 --baseline 0.5 --relation add-remove
  reconbench calibrate --risk 0.1 --prior 0.5,0.3,0.2 --mechanism gaussian:sigma=?
  reconbench calibrate --risk 0.8 --prior-file priors.csv --measure ceiling --json
  reconbench calibrate --risk 0.1 --values 10 --measure rad --knowledge any
  reconbench calibrate --risk 0.05 --baseline 1e-6 --measure singling-out --records 10000
  reconbench calibrate --risk 0.1 --baseline 0.01 --mechanism dp-sgd:noise=?,rate=0.004,steps=792
"""


def calibrate(
    risk: Annotated[float, typer.Option(help="The largest risk to allow.")],
    baseline: Annotated[
        float | None, typer.Option(help="Success of the best guess without the release.")
    ] = None,
    values: Values = None,
    prior: PriorList = None,
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
    knowledge: KnowledgeName = None,
    within: Within = None,
    records: Annotated[
        int | None, typer.Option(min=1, help="For singling-out: records of the table.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="For singling-out: records that may be the target's.")
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.bounds import calibration_report, mechanism_calibration_report

    base, whole = _read_baselines(baseline, values, prior, prior_file, measure)
    details: Details = {
        "priors": whole,
        "any_event": any_event,
        "within": within,
        "records": records,
        "candidates": candidates,
    }
    if knowledge is not None:
        # Without a prior there are no values to read labels for, and the measure says so.
        known = knowledge if whole is None else read_knowledge(knowledge, whole.shape[1])
        details["knowledge"] = known
    if mechanism is not None:
        if sensitivity is not None:
            raise ValueError("give sensitivity=... within --mechanism, not as --sensitivity")
        answer = mechanism_calibration_report(
            mechanism, risk, base, measure, relation=relation, delta=delta, **details
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
        **details,
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


def _read_baselines(
    baseline: float | None,
    values: int | None,
    prior: str | None,
    path: Path | None,
    measure: str,
) -> tuple[Floats | None, Floats | None]:
    """The success of the best guess of every target and, where they are given, whole priors."""
    import numpy as np

    from reconbench.bounds.prior_file import read_priors

    given = [baseline, values, prior, path]
    if given.count(None) == len(given) and measure == "worst-advantage":
        return None, None
    if given.count(None) != len(given) - 1:
        raise ValueError("give either --baseline or --prior-file, or else --values or --prior")
    if measure == "singling-out" and baseline is None:
        raise ValueError("measure singling-out needs --baseline, the weight of the predicate")
    if path is not None:
        return read_priors(path)
    best, masses = read_baseline(baseline, values, prior)
    if values is not None and measure == "rad":
        masses = np.full(values, best)
    return np.array([best]), None if masses is None else masses[None, :]


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
