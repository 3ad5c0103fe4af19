"""Domains, tables and priors; the shipped priors, loaders and bring-your-own tables."""

if __name__ != "reconbench.datasets":
    raise ImportError("import this package as reconbench.datasets, not as datasets")

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import load_prior, save_prior
from reconbench.datasets.prior import Prior, draw_targets
from reconbench.datasets.table import Table

__all__ = [
    "Attribute",
    "BayNet",
    "Domain",
    "DomainError",
    "Prior",
    "Table",
    "draw_targets",
    "load_prior",
    "save_prior",
]
