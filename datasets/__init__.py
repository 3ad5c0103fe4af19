"""Domains, tables and priors; the shipped priors, loaders and bring-your-own tables.

- ``domain``, ``table``, ``prior``: the schema, the records, and the contract of a prior; read first
- ``network``: Bayesian networks: inference, fitting and BIF files
- ``shipped``: the priors that come with the package, and how they were fitted
- ``secrets``: secrets that a language model may give away
- ``standard_networks``: networks of the bnlearn repository, such as ``bn:insurance``
- ``prior_families``: priors given by a rule, such as ``uniform:10``
- ``named``, ``cards``: all of these by name, and what each is, whence and under which licence
- ``sources``: loaders of public files
- ``own_table``: tables of one's own (CSV, Parquet, DataFrames) and the file that declares a domain
- ``released_table``: tables that somebody published
- ``recoding``: what missing and rare values become; ``near_names``: the name that was meant
- ``atomic_files``, ``bounded_files``: writing files whole or not at all, reading no more than fits
"""

if __name__ != "reconbench.datasets":
    raise ImportError("import this package as reconbench.datasets, not as datasets")

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import load_prior, save_prior
from reconbench.datasets.prior import Prior, draw_targets, list_likeliest_values
from reconbench.datasets.table import Table

__all__ = [
    "Attribute",
    "BayNet",
    "Domain",
    "DomainError",
    "Prior",
    "Table",
    "draw_targets",
    "list_likeliest_values",
    "load_prior",
    "save_prior",
]
