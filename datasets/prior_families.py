"""Families of priors, by ``name:text``: given by a rule, or a standard network by name.

Those given by a rule have one secret, and nothing known of it. A game matches guesses with records
by their known columns. Where nothing is known of a record there is still one such column,
``CONSTANT``: it has one value, so it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.prior import Prior
from reconbench.datasets.standard_networks import load_standard
from reconbench.datasets.table import Table

Floats = npt.NDArray[np.float64]

CONSTANT = "constant"
MAX_VALUES = 100_000
HOURS = 101
# Joint values of the columns that ``columns`` lists.
MAX_JOINT = 1 << 20


def uniform(values: int) -> BayNet:
    """One column ``value`` of equally likely values."""
    if not 2 <= values <= MAX_VALUES:
        raise DomainError(f"uniform needs 2 to {MAX_VALUES} values, got {values}")
    return _alone("value", np.full(values, 1 / values))


def hours(shape: str) -> BayNet:
    """One column ``hours`` of whole working hours a week, 0 to 100, as one of ``HOURS_SHAPES``."""
    if shape not in HOURS_SHAPES:
        raise DomainError(f"hours must be {', '.join(HOURS_SHAPES)}, got {shape!r}")
    return _alone("hours", HOURS_SHAPES[shape]())


def columns(prior: Prior, names: Sequence[str]) -> BayNet:
    """Some columns of a prior with their joint distribution, and nothing else known."""
    domain = prior.domain.project(names)
    if np.prod(domain.sizes, dtype=float) > MAX_JOINT:
        raise DomainError(
            f"{len(domain)} columns have more than {MAX_JOINT:,} joint values; name fewer"
        )
    joint = np.exp(prior.log_evidence(Table.of_all_values(domain))).reshape(domain.sizes)
    cpts = []
    for column in range(len(domain)):
        # P(column | the columns before it); anything where those never occur
        mass = joint.sum(axis=tuple(range(column + 1, len(domain))))
        total = mass.sum(axis=-1, keepdims=True)
        size = domain.sizes[column]
        cpts.append(np.where(total > 0, mass / np.where(total > 0, total, 1), 1 / size))
    parents = [tuple(range(column)) for column in range(len(domain))]
    return _beside_a_constant(domain, parents, cpts)


def _alone(name: str, chances: Floats) -> BayNet:
    labels = tuple(str(value) for value in range(len(chances)))
    domain = Domain((Attribute(name, labels, ordinal=True),))
    return _beside_a_constant(domain, [()], [chances / chances.sum()])


def _beside_a_constant(
    domain: Domain, parents: Sequence[tuple[int, ...]], cpts: Sequence[Floats]
) -> BayNet:
    wider = Domain((*domain.attributes, Attribute(CONSTANT, ("same",))))
    return BayNet(wider, (*parents, ()), (*cpts, np.ones(1)), wider.names)


def _peaked() -> Floats:
    """Half of all people work 40 hours, the others a number ∝ e^(−|h − 40|/10)."""
    away = np.abs(np.arange(HOURS) - 40)
    others = np.where(away > 0, np.exp(-away / 10), 0.0)
    return np.where(away > 0, others / (2 * others.sum()), 0.5)


def _extreme() -> Floats:
    """Half of all people work 0 hours, half 100: the values that are easiest to tell apart."""
    chances = np.zeros(HOURS)
    chances[[0, -1]] = 0.5
    return chances


HOURS_SHAPES: Mapping[str, Callable[[], Floats]] = {
    "uniform": lambda: np.full(HOURS, 1 / HOURS),
    "peaked": _peaked,
    "extreme": _extreme,
}


Find = Callable[[str], Prior]


@dataclass(frozen=True)
class Family:
    """Priors by ``name:text``; ``usage`` says what the text is.

    ``build`` gets the text, and a function that loads any data set by its spec.
    """

    usage: str
    description: str
    build: Callable[[str, Find], BayNet]


def _uniform(text: str, find: Find) -> BayNet:
    if not text.isdecimal():
        raise DomainError(f"uniform:M needs a whole number of values M, got {text!r}")
    return uniform(int(text))


def _columns(text: str, find: Find) -> BayNet:
    dataset, names = split_columns(text)
    return columns(find(dataset), names)


FAMILIES: Mapping[str, Family] = {
    "bn": Family(
        "bn:NAME",
        "A standard network of the bnlearn repository",
        lambda text, find: load_standard(text),
    ),
    "columns": Family(
        "columns:DATASET:A,B", "Some columns of a data set, and nothing else known", _columns
    ),
    "hours": Family(
        "hours:SHAPE",
        f"Whole working hours a week, 0 to 100: {', '.join(HOURS_SHAPES)}",
        lambda text, find: hours(text),
    ),
    "uniform": Family("uniform:M", "One column of M equally likely values", _uniform),
}


def is_family(spec: str) -> bool:
    """Say whether a spec begins with the name of a family and a colon."""
    name, colon, _ = spec.partition(":")
    return bool(colon) and name in FAMILIES


def load(spec: str, find: Find) -> BayNet:
    """Build the prior of a family that a spec ``family:text`` names.

    ``find`` loads the data set of which ``columns:DATASET:A,B`` takes columns.
    """
    name, _, text = spec.partition(":")
    if name not in FAMILIES:
        raise DomainError(f"unknown family {name!r}; known: {', '.join(FAMILIES)}")
    return FAMILIES[name].build(text, find)


def split_columns(text: str) -> tuple[str, tuple[str, ...]]:
    """Split ``DATASET:A,B``; a data set of a family or in a Python file has a colon itself."""
    dataset, colon, listed = text.partition(":")
    if colon and (is_family(text) or dataset.endswith(".py")):
        rest, colon, listed = listed.partition(":")
        dataset = f"{dataset}:{rest}"
    if not (dataset and colon and listed) or dataset.startswith("columns:"):
        raise DomainError(
            "columns:DATASET:A,B needs a data set and some of its columns, as in "
            f"columns:acs:SEX,MAR, got {text!r}"
        )
    return dataset, tuple(listed.split(","))
