"""Which sets of columns a synthesizer measures, chosen without looking at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain, Prior, Table
from reconbench.datasets.prior import PriorKey
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import MarginalSets

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]


def list_columns(domain: Domain) -> MarginalSets:
    """Every column alone."""
    return tuple((i,) for i in range(len(domain)))


def pair_with_centers(domain: Domain, centers: Sequence[str]) -> MarginalSets:
    """A star: every pair of a center and another column, centers among themselves included."""
    middle = domain.positions(name.strip() for name in centers)
    others = range(len(domain))
    pairs = {(min(i, j), max(i, j)) for i in middle for j in others if i != j}
    return tuple(sorted(pairs)) or list_columns(domain)


def parse_sets(domain: Domain, text: str) -> MarginalSets:
    """Read sets such as ``"AGEP+SEX,MAR+SEX"``: columns joined by +, sets separated by commas."""
    sets = []
    parts = [[name.strip() for name in part.split("+")] for part in text.split(",")]
    for part, names in zip(text.split(","), parts, strict=True):
        unnamed = not all(names) or (len(parts) == len(names) == 1 and names[0] not in domain)
        if unnamed:
            raise MechanismError(
                "structure must be independent, tree, star or sets of columns such as "
                f"'AGEP+SEX,MAR+SEX', got {text!r}"
            )
        columns = tuple(sorted(domain.positions(names)))
        if columns in sets:
            raise MechanismError(f"structure names the set {part.strip()} twice")
        sets.append(columns)
    held = {column for columns in sets for column in columns}
    missing = [name for i, name in enumerate(domain.names) if i not in held]
    if missing:
        raise MechanismError(
            f"no set of structure holds column {missing[0]!r}; add it, alone if it should be "
            f"independent: {text},{missing[0]}"
        )
    return tuple(sorted(sets))


def grow_prior_tree(domain: Domain, prior: Prior) -> MarginalSets:
    """The tree of largest mutual information under the prior (Chow and Liu 1968): its pairs."""
    return _grow_tree(domain, PriorKey(prior.sha256(), prior))


@lru_cache(maxsize=64)
def _grow_tree(domain: Domain, keyed: PriorKey) -> MarginalSets:
    """The same for all budgets and targets of a suite."""
    if len(domain) == 1:
        return list_columns(domain)
    informations = find_informations(domain, keyed.prior)
    return tuple(sorted(find_spanning_tree(len(domain), informations)))


def find_informations(domain: Domain, prior: Prior) -> dict[Pair, float]:
    """The mutual information of every two columns under a prior, in nats."""
    found = {}
    for i, j in combinations(range(len(domain)), 2):
        pair = Table.of_all_values(domain.project([domain.names[i], domain.names[j]]))
        joint = np.exp(prior.log_evidence(pair)).reshape(domain.sizes[i], domain.sizes[j])
        found[i, j] = measure_information(joint)
    return found


def measure_information(joint: Floats) -> float:
    """The mutual information of the rows and columns of a matrix of probabilities, in nats."""
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


def find_spanning_tree(columns: int, weights: Mapping[Pair, float]) -> list[Pair]:
    """A spanning tree of largest weight (Kruskal); of equal weights the first pair is taken."""
    joined = Components(columns)
    tree = []
    for pair in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if joined.are_apart(*pair):
            joined.join(*pair)
            tree.append(pair)
    return tree


class Components:
    """Which columns of a growing forest are connected."""

    def __init__(self, columns: int) -> None:
        self._of = list(range(columns))

    def are_apart(self, i: int, j: int) -> bool:
        return self._of[i] != self._of[j]

    def join(self, i: int, j: int) -> None:
        old, new = self._of[j], self._of[i]
        self._of = [new if component == old else component for component in self._of]
