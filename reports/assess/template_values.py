"""Names, shares and sentences that the templates of assessments have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconbench.reports.text.number_format import brief, budget, listed, number, signed

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.assessment import Sure
    from reconbench.benchmarks.assess.exposure import Column, Exposure, Kind, Mean

_MOST_NAMES = 8
_MOST_KINDS = 12
# A gain that is printed as all there is: whoever promises no less promises nothing.
_VACUOUS = 0.9995


def common_values(exposure: Exposure | None) -> dict[str, object]:
    """What every template of an assessment needs, and the kinds most exposed if any are known."""
    return {
        "exposed": [] if exposure is None else _find_exposed(exposure),
        "before_and_after": _before_and_after,
        "count": lambda value: f"{value:,.0f}",
        "digits": lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.3g}",
        "epsilon": format_epsilon,
        "names": format_names,
        "percentage": lambda share: f"{number(100 * share)} %",
        "round_down": round_down,
        "percent_points": lambda share: number(None if share is None else 100 * share),
        "share": format_share,
        "sure_cells": _write_sure,
        "vacuous": _VACUOUS,
    }


def describe_goal(targets: Sequence[str], metric: str) -> str:
    """What it takes for a record to be guessed right."""
    kind, _, parameter = metric.partition(":")
    if kind == "columns":
        return f"at least {parameter} of {format_names(targets)}"
    if kind == "l1":
        sums = "in sum" if len(targets) > 1 else "on its scale"
        return f"{format_names(targets)} (off by at most {parameter} {sums})"
    return format_names(targets) if len(targets) == 1 else f"all of {format_names(targets)}"


def format_epsilon(value: float | None) -> str:
    return "not stated" if value is None else budget(value)


def format_names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    left = len(names) - most
    return listed([*map(brief, names[:most]), *([f"{left} more"] if left > 0 else [])])


def format_share(mean: Mean | None) -> str:
    """A share in percent, with the margin of its interval where it has one."""
    if mean is None:
        return "–"
    margin = "" if mean.margin is None else f" ± {number(100 * mean.margin)}"
    return f"{number(100 * mean.value)}{margin}"


def round_down(value: float, digits: int = 3) -> str:
    """A number that is no larger than the value: an ε that is printed must keep the limit, too."""
    text = f"{value:.{digits}g}"
    if float(text) <= value:
        return text
    step = 10.0 ** (int(f"{value:e}".partition("e")[2]) - digits + 1)
    return f"{float(text) - step:.{digits}g}"


def _find_exposed(exposure: Exposure) -> list[Kind]:
    known = [kind for column in exposure.by_known for kind in column.shown]
    known.sort(key=lambda kind: -kind.gain)
    return known[:_MOST_KINDS] if any(kind.gain for kind in known) else []


def _write_sure(sure: Sure) -> list[str]:
    """How many records an attack is sure of, and the share of them that is right."""
    if sure.records is None:
        return ["too few", "–"]
    right = "–" if sure.right is None else f"{number(100 * sure.right)} %"
    return [f"{sure.records:,.0f}", right]


def _before_and_after(group: Kind | Column) -> list[str]:
    gain = group.attack.value - group.prior
    return [number(100 * group.prior), format_share(group.attack), signed(100 * gain)]
