"""The shipped secrets: one hidden column of ten values behind a context that everybody knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.secrets.name_model import NameModel, synthetic_names
from reconbench.datasets.secrets.zipf import ZipfSecrets

CONTEXT = "context"


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


@cache
def names() -> BayNet:
    """The ten likeliest of the made-up names, with their chances among themselves."""
    likeliest = made_up_names().likeliest(10)
    chances = np.array([chance for _, chance in likeliest])
    return secret("name", [name for name, _ in likeliest], chances / chances.sum(), "Dear ")


@cache
def made_up_names() -> NameModel:
    """The character model of 5,000 made-up names."""
    return NameModel.fit(synthetic_names(5_000, np.random.default_rng(0)))


SECRETS: Mapping[str, Callable[[], BayNet]] = {
    "secret-digits-uniform": uniform_digit,
    "secret-digits-zipf": zipf_digit,
    "secret-names": names,
}
