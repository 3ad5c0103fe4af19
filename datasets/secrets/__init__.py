"""Priors over secrets that a language model may give away (Swanberg 2025, section 5.1).

- ``zipf``: numeric secrets, over so many values that none of them is listed
- ``name_model``: names, by a character model fitted to a list of names
- ``causal_model``: candidates scored by a causal language model of the user's own
- ``priors``: the shipped data sets, ten values of each as in the paper
"""

from reconbench.datasets.secrets.causal_model import CandidateScores, CausalScorer
from reconbench.datasets.secrets.name_model import NameModel, synthetic_names
from reconbench.datasets.secrets.priors import (
    CONTEXT,
    SECRETS,
    made_up_names,
    names,
    names_prior,
    secret,
    uniform_digit,
    zipf_digit,
)
from reconbench.datasets.secrets.zipf import ZipfSecrets, uniform_digits

__all__ = [
    "CONTEXT",
    "SECRETS",
    "CandidateScores",
    "CausalScorer",
    "NameModel",
    "ZipfSecrets",
    "made_up_names",
    "names",
    "names_prior",
    "secret",
    "synthetic_names",
    "uniform_digit",
    "uniform_digits",
    "zipf_digit",
]
