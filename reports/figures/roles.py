"""How every figure of the leaderboard shows attacks, and what they are measured against.

Attacks have colours. The prior, the best possible and the ceilings are black and grey, and have
marks of their own, so nothing that limits an attack can be taken for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Colour i and shape i tell attack i apart: 5 colours and 8 shapes make 40 looks. Each colour has a
# contrast of at least 3 on both themes, and none is near to grey.
ATTACK_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a56a35")
# Shapes by Vega's name, with their outline in a box from −5 to 5.
ATTACK_SHAPES: Mapping[str, str] = {
    "circle": "M-4.5,0A4.5,4.5,0,1,1,4.5,0A4.5,4.5,0,1,1,-4.5,0Z",
    "square": "M-4,-4H4V4H-4Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "diamond": "M0,-5.5L5,0L0,5.5L-5,0Z",
    "cross": "M-5,-1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "triangle-left": "M-5,0L4,-5V5Z",
    "triangle-right": "M5,0L-4,-5V5Z",
}
# Marks that are no attack take their colour from the theme: light, dark, and on paper.
PRIOR, BEST, MOST, ONE_RUN = "prior", "best", "most", "one-run"
ROLE_COLOURS: Mapping[str, str] = {
    PRIOR: "#59606b",
    BEST: "#1c1f24",
    MOST: "#8a919b",
    ONE_RUN: "#8a919b",
}
# The attack that answers with the prior's best guess.
GUESSING = "prior"


@dataclass(frozen=True)
class Look:
    """An attack's name, colour and outline."""

    attack: str
    colour: int
    outline: str


def list_looks(attacks: Iterable[str]) -> list[Look]:
    """The looks of the attacks in their order, guessing last: every figure gives them the same."""
    names = sorted(dict.fromkeys(attacks), key=lambda name: name == GUESSING)
    outlines = tuple(ATTACK_SHAPES.values())
    return [
        Look(name, index % len(ATTACK_COLOURS), outlines[index % len(outlines)])
        for index, name in enumerate(names)
    ]
