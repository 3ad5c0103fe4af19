"""`reconbench gradients`: how near a record its noisy gradient leads, and the noise for a risk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Json
from reconbench.cli.bounds.guarantee_options import Delta
from reconbench.cli.bounds.sweeps import Sweep, draw_sweep
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    from reconbench.bounds.gradients import FromScratch

HELP = """Compute the law of the error with which a record is read off its noisy DP-SGD gradient.

The attacker designed the first layer and knows the scales; the estimate is unbiased and of least
variance (Riess 2026). The answer is the law of that estimate, not a bound on every attack: guessing
0 needs no release and is printed for comparison. --sigma is the noise over the clipping norm.

--error, --psnr (with --span) and --ncc ask for the chance of such an error or better, --records and
--iterations for that in a whole training. --candidates adds the attacker with a list, who picks the
right record, and the risk corridor between both. Without --sigma, --risk with --error or --psnr
solves for it.

\b
Examples:
  reconbench gradients --sigma 1 --dimension 3072
  reconbench gradients --sigma 0.01 --dimension 3072 --psnr 40 --span 1 --ncc 0.9
  reconbench gradients --sigma 1 --dimension 784 --norm 9.2 --clip 1 --rows 1 --steps 10 --json
  reconbench gradients --risk 0.001 --error 1e-4 --dimension 3072 --candidates 10
  reconbench gradients --sigma 2 --dimension 4 --candidates 10 --figure corridor.svg
"""

# The shares of attempts that a figure draws.
SHARES = (1e-6, 0.05, 0.5)


def gradients(
    dimension: Annotated[int, typer.Option(min=1, help="Numbers in a record, N.")],
    sigma: Annotated[
        float | None, typer.Option(help="Noise multiplier: sd over the clipping norm.")
    ] = None,
    norm: Annotated[
        float, typer.Option(help="Norm of the record, or the smallest of all records.")
    ] = 1.0,
    clip: Annotated[float, typer.Option(help="Norm C to which gradients are clipped.")] = 1.0,
    rows: Annotated[
        int | None,
        typer.Option(min=1, help="Rows of the first layer. Default: as many as it takes."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps on the same record.")] = 1,
    error: Annotated[float | None, typer.Option(help="A mean squared error η.")] = None,
    psnr: Annotated[float | None, typer.Option(help="A PSNR in dB; needs --span.")] = None,
    span: Annotated[
        float | None, typer.Option(help="Largest minus smallest value of the records.")
    ] = None,
    ncc: Annotated[float | None, typer.Option(help="A normalised cross-correlation.")] = None,
    spread: Annotated[
        float, typer.Option(help="√(N Var x)/‖x‖ of the record, for --ncc; 1 covers all.")
    ] = 1.0,
    risk: Annotated[
        float | None, typer.Option(help="A chance γ: of the error listed, or to solve for.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=2, help="How many records it may be, all as likely.")
    ] = None,
    records: Annotated[
        int | None, typer.Option(min=1, help="Records of the training, one per iteration.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Steps of the training.")] = None,
    delta: Delta = 1e-5,
    figure: Annotated[
        Path | None, typer.Option(help="The SVG file to draw the error to, over the noise.")
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.bounds.gradients import Asked, FromScratch, gradient_noise, gradient_report

    attack = FromScratch(dimension, norm, clip, rows, steps)
    asked = Asked(error, psnr, ncc, span, spread, risk, candidates, records, iterations)
    solved: dict[str, Any] = {}
    if sigma is None:
        if risk is None or (error is None and psnr is None):
            raise ValueError("give --sigma, or --risk with --error or --psnr to solve for it")
        solved = gradient_noise(attack, asked)
        sigma = float(solved["sigma"])
    report = gradient_report(attack, sigma, asked, delta) | ({"solved": solved} if solved else {})
    if figure is not None:
        _draw(figure, attack, sigma, risk, candidates)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
        return
    _print_report(report)
    if figure is not None:
        typer.echo(str(figure))


def _draw(
    path: Path, attack: FromScratch, sigma: float, risk: float | None, candidates: int | None
) -> None:
    from reconbench.bounds.gradients import gradient_curves

    sweep = Sweep("sigma", sigma, attack.law)
    shares = sorted({*SHARES, *([] if risk is None else [risk])})
    curves = gradient_curves(attack, sweep.values(), shares, candidates)
    title = f"Error of reading {attack.dimension:,} numbers off a noisy gradient"
    draw_sweep(path, title, "mean squared error", sweep, dict(curves), log=True)


def _print_report(report: dict[str, Any]) -> None:
    shown: dict[str, str] = {}
    if "solved" in report:
        solved = report["solved"]
        shown["answer"] = (
            f"sigma at least {solved['sigma']:.6g}: the estimate has an error of at most "
            f"{solved['error']:.6g} with a chance of {solved['risk']:g} ({solved['reference']})"
        )
        if "sigma_identification" in solved:
            shown["against candidates"] = _describe_candidates(solved)
    shown |= {
        "promise": f"{report['guarantee']}, epsilon {report['epsilon']:.6g} at delta "
        f"{report['delta']:g}; {report['replace_one']}",
        "rows": f"{report['rows']:,}; the smallest error needs {report['rows_needed']:,}",
        "mean error": f"{report['mean_error']:.6g}",
        "guessing 0": _describe_error(report["zero_guess"]) + ", without any release",
    }
    title = f"Error of the unbiased estimate, sigma {report['sigma']:.6g}"
    decibels = report["zero_guess"]["psnr"] is not None
    header = ["share of attempts", "error at most", *(["PSNR at least"] if decibels else [])]
    rows = [
        [f"{each['chance']:g}", f"{each['error']:.6g}"]
        + ([f"{each['psnr']:.4g} dB"] if decibels else [])
        for each in report["luckiest"]
    ]
    print_table(title, header, rows)
    for each in report["chances"]:
        free = " (guessing 0 is always as near)" if each["zero_guess_within"] else ""
        sign = "at most" if each["measure"].startswith("mse") else "at least"
        name = f"{each['measure']} {sign} {each['value']:g}"
        shown[name] = f"chance {each['chance']:.6g}{free}, {each['reference']}"
    if "corridor" in report:
        corridor = report["corridor"]
        error = "any error" if corridor["error"] is None else f"{corridor['error']:.6g}"
        shown["identification"] = (
            f"one of {corridor['candidates']:,} candidates is picked with a chance of at most "
            f"{corridor['identification']:.6g}, {corridor['reference']}"
        )
        trivial = "; guessing 0 is within it" if corridor["zero_guess_within"] else ""
        shown["risk corridor"] = f"0 to {error}{trivial}"
    print_pairs(shown | {"holds for": report["statement"]})


def _describe_candidates(solved: dict[str, Any]) -> str:
    sigma = solved["sigma_identification"]
    if sigma is None:
        return "no noise: a guess among the candidates is right more often without any release"
    return f"sigma at least {sigma:.6g}: one is picked with a chance of {solved['risk']:g}"


def _describe_error(entry: dict[str, Any]) -> str:
    psnr = "" if entry["psnr"] is None else f" (PSNR {entry['psnr']:.4g} dB)"
    return f"error {entry['error']:.6g}{psnr}"
