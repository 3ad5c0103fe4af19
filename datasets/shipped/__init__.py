"""The priors that come with the package.

``codebooks`` has their public schemas, ``extracts`` the readers of the raw files, ``recipes`` what
was fitted and where it came from; ``fit_priors`` is the script that fitted them; ``data`` holds the
networks.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import load_prior

DATA = Path(__file__).resolve().parent / "data"


def acs() -> BayNet:
    """16 attributes of the American Community Survey (ACSEmployment), Montana."""
    return load_shipped("acs")


def fire() -> BayNet:
    """10 categorical attributes of San Francisco Fire Department calls for service."""
    return load_shipped("fire")


def nist() -> BayNet:
    """20 attributes of the NIST Diverse Communities Data Excerpts, national 2019."""
    return load_shipped("nist")


def adult() -> BayNet:
    """13 attributes of Adult: people of the US Current Population Survey of 1994, with income."""
    return load_shipped("adult")


def german() -> BayNet:
    """21 attributes of South German Credit: borrowers of 1973 to 1975, with their credit risk."""
    return load_shipped("german")


def contraceptive() -> BayNet:
    """10 attributes of married women in Indonesia, 1987, with their contraceptive method."""
    return load_shipped("contraceptive")


def credit() -> BayNet:
    """14 attributes of credit card clients in Taiwan, 2005, with payments and defaults."""
    return load_shipped("credit")


def nhanes() -> BayNet:
    """25 attributes of adults of the US health survey NHANES 2017-2018: illnesses, mood, drugs."""
    return load_shipped("nhanes")


def fars() -> BayNet:
    """18 attributes of people in fatal US crashes of 2001: injuries, alcohol, drugs."""
    return load_shipped("fars")


@cache
def load_shipped(name: str) -> BayNet:
    """Load a shipped prior by the name of its file."""
    return load_prior(DATA / f"{name}.bif")


def list_shipped() -> tuple[str, ...]:
    """The names of the shipped priors, in order."""
    return tuple(sorted(path.stem for path in DATA.glob("*.bif")))
