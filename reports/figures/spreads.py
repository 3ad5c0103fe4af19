"""Quantiles that were seen, as boxes, on those that were predicted, as bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reconbench.reports.figures.svg import INK, PALETTE, Band, Dots, Mark, Rules


@dataclass(frozen=True)
class Spread:
    """Quantiles at 5, 25, 50, 75 and 95 %, seen and predicted, at one place."""

    x: float
    seen: tuple[float, ...]
    law: tuple[float, ...]


def draw_spreads(spreads: Sequence[Spread]) -> list[Mark]:
    """Bands of the law from 5 to 95 % and from 25 to 75 %, on them boxes and medians."""
    ranges = ((0, 4, "5 to 95 %", 0.15, 1.2), (1, 3, "25 to 75 %", 0.25, 6.0))
    bands = [
        Band([(s.x, s.law[low], s.law[high]) for s in spreads], f"law, {name}", PALETTE[0], shade)
        for low, high, name, shade, _ in ranges
    ]
    boxes = [
        Rules(
            [(s.x, s.seen[low], s.x, s.seen[high]) for s in spreads], f"seen, {name}", width=width
        )
        for low, high, name, _, width in ranges
    ]
    # The dark ground shows a median also where its box is flat.
    middles = [(s.x, s.seen[2]) for s in spreads]
    ground = Dots(middles, colour=INK, radius=2.0)
    medians = Dots(middles, "seen, median", "#f0e442", radius=1.0)
    return [*bands, *boxes, ground, medians]
