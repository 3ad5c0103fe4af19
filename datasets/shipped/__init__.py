"""The priors that come with the package.

``codebooks`` has their public schemas; ``fit_priors`` is the script that fitted them to extracts of
the public sources; ``data`` holds the networks.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import load_codebook, load_prior

DATA = Path(__file__).resolve().parent / "data"


@cache
def acs() -> BayNet:
    """16 attributes of the American Community Survey (ACSEmployment), Montana."""
    return load_prior(DATA / "acs.bif")


@cache
def fire() -> BayNet:
    """10 categorical attributes of San Francisco Fire Department calls for service."""
    return load_prior(DATA / "fire.bif")


def card(name: str) -> dict[str, Any]:
    """The provenance card of a shipped prior."""
    return dict(load_codebook(DATA / f"{name}.bif")["card"])
