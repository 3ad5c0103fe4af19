"""Domains, tables and priors; the shipped priors, loaders and bring-your-own tables.

- ``domain``, ``table``, ``prior``: the schema, the records, and the contract of a prior; read first
- ``network``: Bayesian networks: inference, fitting and BIF files
- ``shipped``: the priors that come with the package, and how they were fitted
- ``secrets``: secrets that a language model may give away
- ``prior_families``: priors given by a rule, such as ``uniform:10``
- ``sources``: loaders of public files
- ``own_table``: a CSV file of one's own and the JSON file that declares its domain
- ``atomic_files``: writing files whole or not at all
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
