"""The one parameter of a mechanism given as `?`, solved for a risk.

The search moves from 1 to the side that the risk asks for and then halves the gap on a log scale,
first on a coarse grid of losses, then on the fine one. The value is rounded to the protective side,
and the risk that is reported is computed at the rounded value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.notation.composition import COARSE, FINE
from reconbench.bounds.guarantees.notation.kinds import Parameter
from reconbench.bounds.guarantees.notation.mechanism import FREE, Mechanism
from reconbench.bounds.guarantees.relation import Relation

_DIGITS = 4
_RTOL = 1e-4
# How much further the fine grid is tried: it hardly ever allows more than this.
_NEAR = 1.005
_LEAST = 1e-15


@dataclass(frozen=True)
class Solved:
    """The value nearest to no protection that keeps the risk at or below the threshold.

    `limit` says that even the least protective value allowed does.
    """

    parameter: Parameter
    value: float
    mechanism: Mechanism
    guarantee: Guarantee
    risk: float
    threshold: float
    limit: bool


def find_free(mechanism: Mechanism) -> Parameter:
    """The parameter given as `?`.

    Args:
        mechanism: with exactly one; none, or more than one, is an error.
    """
    free = [(part.kind.name, parameter) for _, part, parameter in mechanism.free()]
    if len(free) != 1:
        names = ", ".join(f"{parameter.name} of {kind}" for kind, parameter in free) or "none"
        raise ValueError(
            f"mechanism must have exactly one free parameter ({FREE}) to calibrate, got {names}"
        )
    return free[0][1]


def open_parameter(mechanism: Mechanism) -> tuple[Mechanism, Parameter, float] | None:
    """The mechanism with `?` for its first noise or budget, as a figure varies it.

    Args:
        mechanism: with numbers for all its parameters.

    Returns:
        The mechanism, that parameter, and its value; None where there is none, as in `curve`.
    """
    for place, part in enumerate(mechanism.parts):
        for parameter in part.kind.parameters:
            if parameter.required and parameter.protects and not parameter.whole:
                value = part.values[parameter.name]
                opened = replace(part, values=part.values | {parameter.name: FREE})
                parts = (*mechanism.parts[:place], opened, *mechanism.parts[place + 1 :])
                return Mechanism(parts), parameter, float(value)
    return None


def solve_free(
    risk: Callable[[Guarantee], float],
    threshold: float,
    mechanism: Mechanism,
    relation: Relation | str | None = None,
) -> Solved | None:
    """The least protective value of the free parameter within the threshold; None if there is none.

    Args:
        risk: the risk of a guarantee, which must not decrease as the guarantee weakens.
        threshold: the largest risk to allow.
        mechanism: one parameter of it is `?`.
        relation: the neighbouring relation wanted, as in `parse_guarantee`.

    Returns:
        The value with the guarantee and the risk there, on the safe side of the threshold.
    """
    limit = float(_validate.probabilities("threshold", threshold))
    parameter = find_free(mechanism)

    def keeps(value: float, step: float) -> bool:
        guarantee = mechanism.fill(value).guarantee(relation, discretisation=step)
        return risk(guarantee) <= limit

    def solved(value: float, step: float, *, at_end: bool) -> Solved:
        filled = mechanism.fill(value)
        guarantee = filled.guarantee(relation, discretisation=step)
        return Solved(parameter, value, filled, guarantee, risk(guarantee), limit, at_end)

    search = _Search(parameter)
    coarse = search.find(lambda value: keeps(value, COARSE), search.start)
    if coarse is None:
        return None
    if coarse == search.weakest:
        return solved(coarse, FINE, at_end=True)
    bad = search.weaker(coarse, _NEAR)
    fine = search.halve(lambda value: keeps(value, FINE), coarse, bad)
    for value, step in ((search.round(fine), FINE), (search.round(coarse), COARSE)):
        found = solved(value, step, at_end=False)
        if found.risk <= limit:
            return found
    return solved(coarse, COARSE, at_end=False)


@dataclass(frozen=True)
class _Search:
    """Steps along one parameter, between its protective and its weak end."""

    parameter: Parameter

    @property
    def weakest(self) -> float:
        return self._end(-self.parameter.protects)

    @property
    def strongest(self) -> float:
        return self._end(self.parameter.protects)

    @property
    def start(self) -> float:
        return min(max(1.0, self._end(-1)), self._end(1))

    def _end(self, side: int) -> float:
        return self.parameter.most if side > 0 else max(self.parameter.least, _LEAST)

    def weaker(self, value: float, factor: float) -> float:
        """The value moved by a factor, a whole one by at least 1, and not beyond the weak end."""
        return self._move(value, factor, -self.parameter.protects, self.weakest)

    def _move(self, value: float, factor: float, side: int, end: float) -> float:
        moved = value * factor if side > 0 else value / factor
        if self.parameter.whole:
            moved = math.ceil(moved) if side > 0 else math.floor(moved)
        return min(moved, end) if side > 0 else max(moved, end)

    def find(self, keeps: Callable[[float], bool], start: float) -> float | None:
        """The weakest value that keeps; None if the strongest does not."""
        value, factor = start, 2.0
        if keeps(start):
            while value != self.weakest:
                further = self.weaker(value, factor)
                if not keeps(further):
                    return self.halve(keeps, value, further)
                value, factor = further, factor**1.5
            return value
        while value != self.strongest:
            further = self._move(value, factor, self.parameter.protects, self.strongest)
            if keeps(further):
                return self.halve(keeps, further, value)
            value, factor = further, factor**1.5
        return None

    def halve(self, keeps: Callable[[float], bool], good: float, bad: float) -> float:
        """The weakest value between one that keeps and one that need not."""
        while abs(bad - good) > (1 if self.parameter.whole else _RTOL * good):
            middle = math.sqrt(good * bad)
            if self.parameter.whole:
                middle = min(max(round(middle), min(good, bad) + 1), max(good, bad) - 1)
            good, bad = (middle, bad) if keeps(middle) else (good, middle)
        return good

    def round(self, value: float) -> float:
        """The value with few digits, to the protective side."""
        if self.parameter.whole:
            return value
        unit = 10.0 ** (math.floor(math.log10(value)) + 1 - _DIGITS)
        towards = math.ceil if self.parameter.protects > 0 else math.floor
        rounded = float(f"{towards(value / unit) * unit:.{_DIGITS}g}")
        return min(max(rounded, self._end(-1)), self._end(1))
