"""Loaders of the public sources behind the shipped priors."""

from reconbench.datasets.sources._download import SourceError
from reconbench.datasets.sources.acs import load_acs
from reconbench.datasets.sources.fire import load_fire

__all__ = ["SourceError", "load_acs", "load_fire"]
