"""The parameter that a figure varies: the budget, or the noise, of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.cli.bounds.guarantee_options import build_guarantee

if TYPE_CHECKING:
    from reconbench.bounds import Guarantee
    from reconbench.bounds.rad import KnownMechanism

CHANNELS = ("grr", "oue", "ss", "laplace", "gaussian")
LOCAL = CHANNELS[:3]
# A figure goes from an eighth of the stated value to eight times it.
_RANGE, _POINTS = 8.0, 33


@dataclass(frozen=True)
class Sweep:
    """A parameter with its stated value, and what the mechanism is at any other value."""

    name: str
    value: float
    at: Callable[[float], Any]
    least: float = 0.0
    most: float = math.inf

    def values(self) -> list[float]:
        """Values around the stated one, equally spaced on a logarithmic axis."""
        import numpy as np

        if not 0 < self.value < math.inf:
            raise ValueError(f"--figure needs a finite {self.name} > 0, got {self.value:g}")
        low, high = max(self.value / _RANGE, self.least), min(self.value * _RANGE, self.most)
        return [float(value) for value in np.geomspace(low, high, _POINTS)]


def sweep_guarantee(
    epsilon: float | None,
    delta: float,
    mu: float | None,
    relation: str | None,
    mechanism: str | None,
    *,
    gaussian: bool,
) -> Sweep:
    """The budget of the stated guarantee, or the first noise or budget of the mechanism."""
    from reconbench.bounds import parse_mechanism
    from reconbench.bounds.guarantees.notation.composition import COARSE
    from reconbench.bounds.guarantees.notation.free_parameter import open_parameter

    def budget(value: float) -> Guarantee:
        pair = (value, None) if mu is None else (None, value)
        return build_guarantee(pair[0], delta, pair[1], relation, None, gaussian=gaussian)

    if mechanism is None:
        name, value = ("epsilon", epsilon) if mu is None else ("mu", mu)
        assert value is not None
        return Sweep(name, value, budget)
    asked = parse_mechanism(mechanism)
    found = open_parameter(asked)
    if found is None:
        raise ValueError(f"--figure needs noise or a budget to vary, and {asked.text} has none")
    opened, parameter, value = found
    return Sweep(
        parameter.name,
        value,
        lambda at: opened.fill(at).guarantee(relation, discretisation=COARSE),
        parameter.least,
        parameter.most,
    )


def sweep_channel(
    channel: str,
    size: int,
    gap: float,
    epsilon: float | None,
    delta: float,
    mu: float | None,
    noise: float | None,
) -> Sweep:
    """The budget or the noise of a mechanism that is known in full."""
    from difflib import get_close_matches

    from reconbench.bounds import gaussian_mu
    from reconbench.bounds.rad import LocalReports, LocationNoise

    if channel not in CHANNELS:
        close = get_close_matches(channel[:100].lower(), CHANNELS, 1)
        near = f": did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"--channel must be one of {', '.join(CHANNELS)}, got {channel!r}{near}")
    if channel in LOCAL:
        if epsilon is None or mu is not None or noise is not None:
            raise ValueError(f"--channel {channel} needs --epsilon, and no --mu or --noise")
        return Sweep("epsilon", epsilon, lambda at: LocalReports(channel, at, size))
    if [epsilon, mu, noise].count(None) != 2 or (channel == "laplace" and mu is not None):
        budgets = "--noise or --epsilon" if channel == "laplace" else "--noise, --epsilon or --mu"
        raise ValueError(f"--channel {channel} needs {budgets}, one of them")

    def of_budget(ratio: float) -> KnownMechanism:
        return LocationNoise.for_budget(channel, ratio, size, gap)

    if noise is not None:
        return Sweep("noise", noise, lambda at: LocationNoise(channel, at, size, gap))
    if mu is not None:
        return Sweep("mu", mu, of_budget)
    assert epsilon is not None
    if channel == "laplace":
        return Sweep("epsilon", epsilon, of_budget)
    return Sweep("epsilon", epsilon, lambda at: of_budget(gaussian_mu(at, delta)))


def draw_sweep(
    path: Path,
    title: str,
    y_label: str,
    sweep: Sweep,
    series: dict[str, Sequence[float | None]],
    *,
    log: bool = False,
) -> None:
    """Write curves over the parameter as an SVG file, with the stated value marked."""
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports import lines_svg

    drawn = lines_svg(
        title, sweep.name, y_label, sweep.values(), series, stated=sweep.value, log=log
    )
    write_atomic(path, drawn)
