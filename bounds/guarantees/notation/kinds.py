"""The vocabulary of the notation: every kind of guarantee with its parameters.

The vocabulary is closed: what is not listed here is refused, never guessed. A new kind is one entry
of `KINDS`; its parameters say their range, so that no value takes unbounded time or memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.bounds.guarantees.composed import (
    DiscreteGaussianRelease,
    GaussianRelease,
    LaplaceRelease,
    Release,
)
from reconbench.bounds.guarantees.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.laplace import LaplaceDP
from reconbench.bounds.guarantees.notation.curve_file import read_curve
from reconbench.bounds.guarantees.randomised_response import RandomisedResponse
from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.guarantees.renyi import ZCDP, RenyiDP

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A number of a kind, with its range; without a default it must be given.

    `protects` says which way it moves to promise more: +1 up, −1 down; 0 where it is not known to.
    """

    name: str
    meaning: str
    least: float
    most: float
    protects: int
    default: float | None = None
    whole: bool = False
    many: bool = False

    @property
    def required(self) -> bool:
        return self.default is None


@dataclass(frozen=True)
class Kind:
    """A kind of guarantee.

    `guarantee` is that of one release; None where only privacy loss distributions have it.
    `release` is the release that they compose; None where the curve of the guarantee is used.
    `count` names the parameter that counts releases. `only` is the one relation that the analysis
    is for, if it is for one only.
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    relation: Relation = Relation.REPLACE_ONE
    guarantee: Callable[[Values, Relation], Guarantee] | None = None
    release: Callable[[Values, int], Release] | None = None
    count: str = "queries"
    only: Relation | None = None
    file: bool = False


def _epsilon() -> Parameter:
    return Parameter("epsilon", "ε", 1e-12, 600.0, -1)


def _sensitivity(norm: str, *, whole: bool = False) -> Parameter:
    least = 1.0 if whole else 1e-9
    most = 1000.0 if whole else 1e9
    return Parameter(
        "sensitivity", f"{norm} sensitivity between neighbours", least, most, -1, 1.0, whole
    )


QUERIES = Parameter("queries", "how many equal releases", 1, 1e6, -1, 1.0, whole=True)


def _gaussian(values: Values, relation: Relation) -> Guarantee:
    return GaussianDP(values["sensitivity"] / values["sigma"], relation)


def _gdp_release(values: Values, count: int) -> Release:
    return GaussianRelease(1 / values["mu"], count=count)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "gaussian",
            "Gaussian noise",
            (
                Parameter("sigma", "standard deviation of the noise", 1e-9, 1e12, 1),
                _sensitivity("L2"),
                QUERIES,
            ),
            guarantee=_gaussian,
            release=lambda v, k: GaussianRelease(v["sigma"] / v["sensitivity"], count=k),
        ),
        Kind(
            "laplace",
            "Laplace noise",
            (
                Parameter("scale", "scale b of the noise", 1e-9, 1e12, 1),
                _sensitivity("L1"),
                QUERIES,
            ),
            guarantee=lambda v, relation: LaplaceDP(v["sensitivity"] / v["scale"], relation),
            release=lambda v, k: LaplaceRelease(v["scale"] / v["sensitivity"], count=k),
        ),
        Kind(
            "discrete-gaussian",
            "discrete Gaussian noise on integers",
            (
                Parameter("sigma", "parameter σ of the noise", 0.05, 1e4, 1),
                _sensitivity("largest", whole=True),
                QUERIES,
            ),
            release=lambda v, k: DiscreteGaussianRelease(
                v["sigma"], int(v["sensitivity"]), count=k
            ),
        ),
        Kind(
            "dp-sgd",
            "DP-SGD with Poisson subsampling",
            (
                Parameter("noise", "noise multiplier: sd over the clipping norm", 0.05, 1e6, 1),
                Parameter("rate", "sampling rate: batch over records", 1e-9, 1, -1),
                Parameter("steps", "training steps", 1, 1e7, -1, whole=True),
            ),
            relation=Relation.ADD_REMOVE,
            release=lambda v, k: GaussianRelease(v["noise"], v["rate"], k),
            count="steps",
            only=Relation.ADD_REMOVE,
        ),
        Kind(
            "gdp",
            "μ-Gaussian DP",
            (Parameter("mu", "μ", 1e-9, 1e6, -1), QUERIES),
            guarantee=lambda v, relation: GaussianDP(v["mu"], relation),
            release=_gdp_release,
        ),
        Kind(
            "zcdp",
            "ρ-zCDP of any mechanism",
            (Parameter("rho", "ρ", 1e-12, 1e6, -1), QUERIES),
            guarantee=lambda v, relation: ZCDP(v["rho"], relation),
        ),
        Kind(
            "rdp",
            "Rényi DP at some orders",
            (
                Parameter("order", "orders t, joined with /", 1 + 1e-6, 1e6, 0, many=True),
                Parameter("epsilon", "ε(t) of each order, joined with /", 0, 1e6, 0, many=True),
                QUERIES,
            ),
            guarantee=lambda v, relation: RenyiDP(
                np.array(v["order"]), np.array(v["epsilon"]), relation
            ),
        ),
        Kind(
            "pure",
            "ε-DP of any mechanism",
            (_epsilon(), QUERIES),
            guarantee=lambda v, relation: PureDP(v["epsilon"], relation),
        ),
        Kind(
            "approx",
            "(ε, δ)-DP of any mechanism",
            (_epsilon(), Parameter("delta", "δ", 0, 1 - 1e-12, -1), QUERIES),
            guarantee=lambda v, relation: ApproxDP(v["epsilon"], v["delta"], relation),
        ),
        Kind(
            "randomized-response",
            "randomised response over some values",
            (
                _epsilon(),
                Parameter("values", "number of values", 2, 1e9, 0, 2.0, whole=True),
                QUERIES,
            ),
            guarantee=lambda v, relation: RandomisedResponse(
                int(v["values"]), v["epsilon"], relation
            ),
            only=Relation.REPLACE_ONE,
        ),
        Kind(
            "curve",
            "the trade-off curve of a CSV file",
            (QUERIES,),
            guarantee=lambda v, relation: read_curve(Path(v["file"]), relation),
            file=True,
        ),
    )
}


def suggest(text: str, names: list[str]) -> str:
    """What to add to an error about an unknown name: the nearest one, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(text[:100].strip().lower().replace("_", "-"), names, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; use one of {', '.join(names)}"


def check_value(kind: str, parameter: Parameter, value: float) -> float:
    """A value in the range of its parameter."""
    name = f"{parameter.name} of {kind}"
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value:g}")
    if parameter.whole and value != math.floor(value):
        raise ValueError(f"{name} must be an integer, got {value:g}")
    if not parameter.least <= value <= parameter.most:
        raise ValueError(
            f"{name} must be in [{parameter.least:g}, {parameter.most:g}], got {value:g}"
        )
    return value
