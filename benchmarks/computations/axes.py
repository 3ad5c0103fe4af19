"""The figures of every kind of computation: what stands across and up, and what tells lines apart.

Axes, scales and panels are those of the papers' figures; ``reports.figures.computed`` draws them. A
quantity is found in a row by its name: ``epsilon`` and ``mechanism``, ``point`` (what the row is
about), ``value``, or whatever was asked for (``Point.options``).

This stands apart from the kinds: rows depend on the code of their kind, and what a figure looks
like is no reason to compute them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

VALUE, POINT = "value", "point"

# Names that say which release of a family a row is about: along an axis of one, all vary.
RELEASE = ("epsilon", "sigma", "scale", "rho", "label", "noise", "accuracy", "mechanism", "risk")

# How a panel or a line says which number its rows have in common; others by "name number".
HELD_TEXTS: Mapping[str, str] = {
    "records": "{} records",
    "challenges": "{} challenges",
}
# Names whose value says enough; other texts are followed by their name.
PLAIN = ("mechanism", "images", POINT)


class Drawing(StrEnum):
    """How a panel draws values.

    Intervals take the first three of ``Axes.values`` as lower end, middle and upper end, and the
    others as marks; boxes take the first five as ends, box and middle of what was seen and the next
    five as those of what was predicted.
    """

    LINES = "lines"
    BARS = "bars"
    INTERVALS = "intervals"
    BOXES = "boxes"


@dataclass(frozen=True)
class Quantity:
    """What an axis shows: its name in a row, its title with the unit, and its scale.

    The axis covers the data, and ``low`` and ``high`` where they are given.
    """

    name: str
    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Axes:
    """A figure of a kind of computation.

    It draws rows of one ``metric``, or of any, and the ``values`` named, or all. Rows that differ
    in ``panels`` are in different panels, those that differ in ``lines`` on different lines; what
    varies ``along`` the axes tells nothing apart, and whatever else rows differ in parts panels,
    too. Axes of one ``figure`` are alternatives: of the lines through a row, the longest is drawn.
    ``diagonal`` names the line on which both quantities are equal, ``level`` is a height with a
    line of its own; ``title`` is what a panel is called beside what its rows have in common. What
    goes ``beyond`` the paper's figure is drawn last.
    """

    x: Quantity
    y: Quantity
    metric: str = ""
    panels: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    drawing: Drawing = Drawing.LINES
    figure: str = ""
    title: str = ""
    diagonal: str = ""
    level: float | None = None
    beyond: bool = False


_EPSILON = Quantity("epsilon", "privacy budget ε", low=0)
_BASELINE = Quantity("baseline", "baseline: success without release")
_SIGMA = Quantity("sigma", "noise multiplier σ", log=True)
_RISK = Quantity(VALUE, "risk: success − baseline", low=0)
_ALLOWED = Quantity("risk", "risk that is allowed")
_LEVEL = Quantity("label", "level of the release")
_NOISE = "noise multiplier σ"
_ACCURACY = "test accuracy, %"
_WORST = "worst-case advantage"
_NO_RELEASE = "no release"


def _by_baseline_or_budget(metric: str, y: Quantity) -> tuple[Axes, ...]:
    """Against the baseline for each release, or against ε for each baseline."""
    diagonal = _NO_RELEASE if metric == "success" else ""
    return (
        Axes(_BASELINE, y, metric, ("mechanism", POINT), diagonal=diagonal),
        Axes(_EPSILON, y, metric, ("mechanism", "baseline")),
    )


_SUCCESS = (
    *_by_baseline_or_budget("success", Quantity(VALUE, "success, at most", high=1)),
    # Kulynych 2025, figure 9: bars by named level; figures 1 and 3: lines
    Axes(_LEVEL, _RISK, "advantage", ("mechanism", "baseline"), drawing=Drawing.BARS),
    *_by_baseline_or_budget("advantage", _RISK),
    # Swanberg 2025, figure 2a
    Axes(
        _EPSILON,
        Quantity(VALUE, "generalised advantage", low=0, high=1),
        "generalised advantage",
        ("mechanism",),
        ("baseline",),
        level=0.05,
    ),
)

_WORST_CASE = (
    # Kulynych 2025, figures 4 and 9: bars; figure 3, right
    Axes(_LEVEL, _RISK, panels=("mechanism", "baseline"), drawing=Drawing.BARS),
    Axes(_EPSILON, _RISK, panels=("mechanism", "baseline")),
)

_TRAINING = (
    # Kulynych 2025, figures 1 and 7: left, middle, and the middle read at a risk
    Axes(
        Quantity("noise", _NOISE),
        Quantity(VALUE, _RISK.title),
        _WORST,
        along=("steps",),
        title="less noise",
    ),
    Axes(
        Quantity("accuracy", _ACCURACY),
        Quantity(VALUE, _RISK.title),
        _WORST,
        along=("steps",),
        figure="accuracy",
        title="better utility",
    ),
    Axes(_ALLOWED, Quantity(VALUE, _ACCURACY), "accuracy", title="accuracy at a risk", beyond=True),
)

_ERROR_VALUES = tuple(
    f"{kind}-{share}" for kind in ("seen", "law") for share in ("05", "25", "50", "75", "95")
)
_P_VALUE = Quantity(VALUE, "p-value", low=0, high=1)
_ERRORS = (
    # Riess 2026, figures 4 and 5: MSE, PSNR; and how well the law fits
    *(
        Axes(
            _SIGMA,
            y,
            metric,
            ("network", "scales"),
            values=_ERROR_VALUES,
            drawing=Drawing.BOXES,
            title=metric.upper(),
        )
        for metric, y in (
            ("mse", Quantity(VALUE, "error of the estimate", log=True)),
            ("psnr", Quantity(VALUE, "PSNR of the estimate, dB")),
        )
    ),
    *(
        Axes(
            *(_SIGMA, y, "mse", ("scales",), ("network",), (value,)),
            figure=value,
            title=title,
            beyond=True,
        )
        for value, y, title in (
            ("ks", _P_VALUE, "fit of the law"),
            ("ks-smaller", _P_VALUE, "errors are no smaller"),
            ("ratio", Quantity(VALUE, "mean error / predicted", log=True), "mean error"),
        )
    ),
)

_INTERVAL = ("epsilon-low", "epsilon-median", "epsilon-high", "clopper-pearson")
_STRENGTH = Quantity("strength", "strength s of the attack", low=0, high=1)
_AUDITED = Quantity(VALUE, "ε: 90 % interval and median", low=0)
_BY_STRENGTH = tuple(
    # Yildirim 2025, figure 2
    Axes(x, _AUDITED, panels=panels, values=_INTERVAL, drawing=Drawing.INTERVALS)
    for x, panels in (
        (_STRENGTH, ("challenges",)),
        (Quantity("challenges", "challenges N", log=True), ("strength",)),
    )
)


def _by_name(
    title: str, *along: str, metric: str = "", panels: tuple[str, ...] = ()
) -> tuple[Axes, ...]:
    """Yildirim 2025, figures 3 to 5 and table 1: ε and the strength of attacks by name."""
    x = Quantity(POINT, title)
    strength = Quantity(VALUE, "median strength s", low=0, high=1)
    return (
        Axes(
            x,
            _AUDITED,
            metric,
            panels,
            values=_INTERVAL,
            along=along,
            drawing=Drawing.INTERVALS,
            title="ε",
        ),
        Axes(
            x,
            strength,
            metric,
            panels,
            values=("strength-median",),
            along=along,
            figure="strength",
            title="strength of the attacks",
        ),
    )


_ATTACKS = (
    # Guerra-Balboa 2026, figure 3; beyond it the intervals, and the bound as it is printed
    Axes(
        _EPSILON,
        Quantity(VALUE, "advantage and success", low=0, high=1),
        panels=("known",),
        values=("rad-attack", "rad-thm42", "rero-attack", "rero-bound", "rad-thm51"),
    ),
    *(
        Axes(
            _EPSILON,
            Quantity(VALUE, title, low=0),
            panels=("known",),
            values=(f"{name}-low", name, f"{name}-high", *marks),
            drawing=Drawing.INTERVALS,
            figure=name,
            title=short,
            beyond=True,
        )
        for name, marks, title, short in (
            ("rad-attack", ("rad-published",), "advantage (RAD)", "RAD"),
            ("rero-attack", ("rero-bound", "rero-blind"), "success (ReRo)", "ReRo"),
        )
    ),
)
_AUDITS = (
    *(f"audit-exact{end}" for end in ("-low", "", "-high")),
    "audit-black-box",
    "audit-ldp-auditor",
)

_ROWS = Quantity("rows", "rows M of the attacker's layer", log=True)
_BY_ROWS = (
    # Riess 2026, figure 2, which shows two M; and how well the law fits
    Axes(
        _ROWS,
        Quantity(VALUE, "error of the estimate", log=True),
        values=("rows-seen", "rows-law", "rows-published", "zero-guess"),
        title="MSE",
    ),
    Axes(
        _ROWS,
        Quantity(VALUE, "PSNR of the estimate, dB"),
        values=("rows-seen-psnr", "rows-law-psnr"),
        figure="psnr",
        title="PSNR",
    ),
    Axes(
        _ROWS,
        _P_VALUE,
        values=("rows-p-value",),
        figure="rows-p-value",
        title="fit of the law",
        beyond=True,
    ),
)


KIND_AXES: Mapping[str, tuple[Axes, ...]] = {
    "success": _SUCCESS,
    "advantage": _SUCCESS,
    "generalised-advantage": _SUCCESS,
    "worst-advantage": _WORST_CASE,
    # Kulynych 2025, figures 2, 8 and 10
    "singling-out": (Axes(_EPSILON, _RISK, panels=("mechanism", "records")),),
    # Kulynych 2025, figure 6
    "queries": (
        Axes(
            Quantity(VALUE, "number of queries", low=0),
            Quantity("risk", _ALLOWED.title, low=0),
            panels=("baseline",),
            along=("advantage",),
        ),
    ),
    "training-risk": _TRAINING,
    "training-noise": (
        Axes(_ALLOWED, Quantity(VALUE, _NOISE), title="noise for a risk", beyond=True),
    ),
    # Guerra-Balboa 2026, figures 1 and 2
    "rad": (Axes(_EPSILON, Quantity(VALUE, "advantage (RAD)", low=0), panels=("mechanism",)),),
    "rad-error": (
        Axes(
            Quantity("risk", "risk that is allowed", low=0),
            Quantity(VALUE, "error of the query, at most", log=True),
            title="noise set by a risk",
        ),
    ),
    # Guerra-Balboa 2026, figure 3, and its intervals; figure 5
    "rad-training": _ATTACKS,
    "audit-ldp": (
        Axes(
            _EPSILON,
            Quantity(VALUE, "audited ε: interval and bounds", low=0),
            panels=("mechanism",),
            values=_AUDITS,
            drawing=Drawing.INTERVALS,
            diagonal="audited = true",
        ),
    ),
    # Swanberg 2025, figure 2b
    "epsilon-protect": (
        Axes(
            Quantity("prior", "prior of the secret", log=True),
            Quantity(VALUE, "ε that protects", low=0),
            along=("baseline",),
            title="largest ε within the advantage",
        ),
    ),
    # Riess 2026, figures 1 to 5
    "gradient-sigma": (
        Axes(
            Quantity("error", "allowed error η (MSE)", low=0),
            Quantity(VALUE, _NOISE, low=0),
            title="noise for one risk",
        ),
    ),
    "gradient-risk": (
        Axes(
            _SIGMA,
            Quantity(VALUE, "chance of success γ", low=0, high=1),
            lines=("error",),
            title="the risk surface, by error",
        ),
    ),
    "gradient-corridor": (
        Axes(_SIGMA, Quantity(VALUE, "error η (MSE)", log=True), title="the risk corridor"),
    ),
    "gradient-errors": _ERRORS,
    "gradient-rows": _BY_ROWS,
    "mcmc-strength": _BY_STRENGTH,
    "mcmc-counts": _by_name("attacks"),
    "mcmc-train": _by_name("training", "algorithm"),
    "mcmc-images": (
        *_by_name("training", "of", "decisions", "tau_sd", metric="epsilon", panels=("delta",)),
        Axes(
            Quantity("base", "challenge base"),
            Quantity(VALUE, "errors of the attack", low=0),
            "errors",
            panels=("start", "sigma"),
            title="errors",
        ),
    ),
}
