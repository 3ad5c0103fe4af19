"""All bounds on many targets at once, by name, for listings."""

from __future__ import annotations

from typing import NamedTuple

from reconbench.bounds.ceilings.conditional import Theorem33
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion
from reconbench.bounds.ceilings.mean import MeanFromGuess
from reconbench.bounds.ceilings.prior_exact import PriorExact
from reconbench.bounds.ceilings.profile import Profile
from reconbench.bounds.ceilings.profile_recursion import ProfileRecursion
from reconbench.bounds.ceilings.swanberg import Corollary34, Theorem32, Theorem35


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
