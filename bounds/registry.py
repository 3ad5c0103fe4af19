"""All bounds on many targets at once, by name, for listings."""

from __future__ import annotations

from typing import NamedTuple

from .ceilings import Corollary34, Theorem32, Theorem35
from .conditional import Theorem33
from .fdp_recursion import FdpRecursion
from .mean_ceilings import MeanFromGuess
from .prior_exact import PriorExact
from .profile import Profile
from .profile_recursion import ProfileRecursion


class BoundInfo(NamedTuple):
    """What a listing of the bounds shows."""

    reference: str
    summary: str


BOUNDS: dict[str, BoundInfo] = {
    bound.name: BoundInfo(bound.reference, bound.summary)
    for bound in (
        Theorem32,
        Theorem33,
        Corollary34,
        Theorem35,
        Profile,
        ProfileRecursion,
        FdpRecursion,
        MeanFromGuess,
        PriorExact,
    )
}
