"""Data sets by name: the shipped priors, secrets, standard networks, rules and files.

Data sets of plugins are not among them: ``reconbench.benchmarks.plugins`` adds these.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reconbench.datasets import prior_families
from reconbench.datasets.domain import DomainError, quote
from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.network.bif import ENDINGS, load_prior
from reconbench.datasets.prior import Prior
from reconbench.datasets.secrets.priors import SECRETS
from reconbench.datasets.shipped import list_shipped, load_shipped
from reconbench.datasets.standard_networks import NETWORKS, PREFIX


def list_names() -> tuple[str, ...]:
    """The names of all data sets of this package; rules with a parameter are not listed."""
    standard = (f"{PREFIX}{name}" for name in NETWORKS)
    return (*list_shipped(), *SECRETS, *standard)


def load_named(name: str) -> Prior:
    """Load a data set by its name, a rule such as ``uniform:10``, or the path of a BIF file."""
    if name.endswith(ENDINGS):
        return load_prior(Path(name))
    if prior_families.is_family(name):
        return prior_families.load(name, load_named)
    if name in SECRETS:
        return SECRETS[name]()
    if name in list_shipped():
        return load_shipped(name)
    raise DomainError(f"unknown data set {quote(name)}{suggest_dataset(name, list_names())}")


def suggest_dataset(name: str, names: Sequence[str]) -> str:
    """The end of an error about an unknown data set: the nearest known one, if any is near."""
    return suggest_name(name, names) or suggest_name(PREFIX + name, names)
