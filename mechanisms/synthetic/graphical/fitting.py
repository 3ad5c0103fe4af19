"""Private-PGM: the distribution of largest entropy among those nearest to noisy counts.

McKenna, Sheldon and Miklau 2019, "Graphical-model based estimation and inference for differential
privacy": minimise L(μ) = Σ over sets of |μ_i − y_i|²/(2σ_i²) over the marginals μ of distributions
of n records, by mirror descent on log potentials: θ ← θ − η ∇L(μ(θ)). The total n is public here.

Steps are those of Barzilai and Borwein in the geometry of the entropy, with a non-monotone line
search (Grippo, Lampariello and Lucidi 1986). How far the fit is from the best one is proved, not
guessed: L is quadratic, so |μ − μ*|² over 2σ² is at most L(μ) − L(μ*), which is at most the
Frank-Wolfe gap max over s of ⟨∇L(μ), μ − s⟩, and one maximisation over the tree gives that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from reconbench.datasets import Domain
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.synthetic.graphical.junction_tree import Columns, JunctionTree
from reconbench.mechanisms.synthetic.graphical.kernels import FlatSets, Floats, descend, scale
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel

MOST_CELLS = 1 << 22
# By way of mbi.
MOST_MBI_CELLS = 1 << 25
MOST_STEPS = 1_000_000
# Proved Euclidean distance of the fitted frequencies from the best ones, times √n. Those of n drawn
# rows are about 1/√n from the fit.
DISTANCE = 0.05


def fit_model(measurements: Measurements) -> MarkovModel:
    """Fit a model to measurements.

    The frequencies of its sets are within ``DISTANCE``/√n of the best fit: the root mean square
    over sets, each weighted by one over the square of its noise.
    """
    model, converged = try_to_fit(measurements, DISTANCE, MOST_STEPS)
    if not converged:
        raise MechanismError(
            f"the fit to the measurements did not converge in {MOST_STEPS:,} steps: measure fewer "
            "or smaller sets"
        )
    return model


def try_to_fit(
    measurements: Measurements, distance: float, most_steps: int
) -> tuple[MarkovModel, bool]:
    """A model to within ``distance``/√n of the best fit, and whether so many steps were enough."""
    domain = measurements.domain
    tree = build_tree(domain, measurements.sets)
    problem = FitProblem.of(tree, measurements)
    enough = problem.enough(distance)
    arguments = (tree.flat, problem.placed, problem.frequencies)
    if any(measurements.noise_sds):
        cells, off = descend(*arguments, problem.weights, enough, most_steps)
    else:
        cells, off = scale(*arguments, enough, most_steps)
    return MarkovModel(domain, tree, tree.unflatten(cells)), off <= enough


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Frequencies to fit on a tree, with a weight for each cell of each set.

    In units of frequencies σ/n is the noise, and a weight is one over its square. Without noise all
    weights are 2: the loss is then the sum of squared misses, and as a table reaches 0, what is off
    is the loss itself. It is fitted ten times as closely.
    """

    placed: FlatSets
    frequencies: Floats
    weights: Floats
    scale: float

    @classmethod
    def of(cls, tree: JunctionTree, measurements: Measurements) -> Self:
        n, placed = measurements.records, tree.place_sets(measurements.sets)
        weights = np.array([(n / sd) ** 2 if sd else 2.0 for sd in measurements.noise_sds])
        return cls(
            placed,
            np.concatenate([answer.ravel() / n for answer in measurements.answers]),
            np.repeat(weights, np.diff(placed.cells)),
            float(weights.sum()) / 2 / n / (1.0 if any(measurements.noise_sds) else 100.0),
        )

    def enough(self, distance: float) -> float:
        """How much larger than the least the loss may be: Σ w |μ − μ*|²/2 is no more than that."""
        return self.scale * distance**2


def build_tree(domain: Domain, sets: Sequence[Columns], most: int = MOST_CELLS) -> JunctionTree:
    """The junction tree of the sets; refuse one of too many cells for exact inference."""
    tree = JunctionTree.of_sets(domain.sizes, sets)
    if tree.cells > most:
        names = " + ".join(domain.names[v] for v in tree.widest)
        larger = (
            f", give pgm the option engine = mbi, which takes {MOST_MBI_CELLS:,}"
            if tree.cells <= MOST_MBI_CELLS
            else ""
        )
        raise MechanismError(
            f"the sets are too dense for exact inference: together they join {names} (width "
            f"{len(tree.widest)}), and the model has {tree.cells:,} cells where {most:,} are "
            f"allowed; measure fewer or smaller sets{larger}"
        )
    return tree
