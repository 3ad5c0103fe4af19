"""Loaders of public files.

- ``acs``, ``fire``: the sources behind the shipped priors, downloaded into a checked cache
- ``packages``: images and names that registries of packages carry
- ``idx``, ``vectors``: images and numeric records of one's own; ``resizing`` them
"""

from reconbench.datasets.sources._download import SourceError
from reconbench.datasets.sources.acs import load_acs
from reconbench.datasets.sources.fire import load_fire

__all__ = ["SourceError", "load_acs", "load_fire"]
