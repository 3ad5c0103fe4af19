"""Private-PGM by the package mbi (extra ``synth``), for models beyond the size of the core.

mbi 2 (McKenna, https://github.com/ryan112358/mbi) runs on jax, compiles every structure anew, and
computes in single precision unless told. Here it runs in double precision, its marginals are held
to the same proof of convergence as those of the core, and rows are drawn by `MarkovModel`, since
its own sampler draws from the global generator.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.synthetic.graphical.fitting import (
    DISTANCE,
    MOST_MBI_CELLS,
    FitProblem,
    build_tree,
)
from reconbench.mechanisms.synthetic.graphical.junction_tree import JunctionTree
from reconbench.mechanisms.synthetic.graphical.kernels import Floats, find_gap
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel
from reconbench.missing_package import MissingPackage, describe_need, find_missing

STEPS_A_BLOCK = 500
MOST_BLOCKS = 100


def require_mbi() -> None:
    """Refuse to go on without the package."""
    if find_missing(("mbi", "jax")):
        raise MissingPackage(describe_need("engine mbi", "mbi", "synth", "use engine core"))


def fit_with_mbi(measurements: Measurements) -> MarkovModel:
    """Fit a model to measurements, as near to the best fit as `fitting.fit_model`."""
    require_mbi()
    domain = measurements.domain
    tree = build_tree(domain, measurements.sets, MOST_MBI_CELLS)
    problem = FitProblem.of(tree, measurements)
    enough = problem.enough(DISTANCE)
    jax: Any = import_module("jax")
    with jax.enable_x64(True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about single precision, which is not used
            mbi: Any = import_module("mbi")
        described = mbi.Domain(range(len(domain)), domain.sizes)
        parts = [
            mbi.LinearMeasurement(answer.ravel(), columns, stddev=sd or 1.0)
            for columns, answer, sd in zip(
                measurements.sets, measurements.answers, measurements.noise_sds, strict=True
            )
        ]
        fitted = None
        for _ in range(MOST_BLOCKS):
            fitted = mbi.estimation.MirrorDescent().estimate(
                described,
                parts,
                known_total=float(measurements.records),
                iters=STEPS_A_BLOCK,
                warm_start=fitted,
            )
            cells = _read_cliques(mbi, fitted, tree)
            gap = find_gap(tree.flat, problem.placed, problem.frequencies, problem.weights, cells)
            if gap <= enough:
                return MarkovModel(domain, tree, tree.unflatten(cells))
    raise MechanismError(
        f"mbi did not converge in {STEPS_A_BLOCK * MOST_BLOCKS:,} steps: measure fewer or smaller "
        "sets"
    )


def _read_cliques(mbi: Any, fitted: Any, tree: JunctionTree) -> Floats:
    """The distribution of every clique of our tree, one after the other."""
    oracle = mbi.marginal_oracles.message_passing_hugin
    marginals = oracle(fitted.potentials.expand(list(tree.cliques)), 1.0)
    parts = [
        np.asarray(marginals.project(clique).datavector(), dtype=np.float64)
        for clique in tree.cliques
    ]
    return np.concatenate(parts)
