"""Private-PGM: synthetic tables from a fixed list of noisy marginals.

The sets of columns are chosen without looking at the table, by the user or from the public prior.
Their counts get Gaussian noise, and a graphical model is fitted to them (`fitting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod, sqrt
from typing import ClassVar, Self

import numpy as np

from reconbench.datasets import Domain, Prior, Table
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import MarginalSets
from reconbench.mechanisms.measurements import Measurements, measure
from reconbench.mechanisms.synthetic.graphical import mbi_engine
from reconbench.mechanisms.synthetic.graphical.fitting import (
    MOST_CELLS,
    MOST_MBI_CELLS,
    build_tree,
    fit_model,
)
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel
from reconbench.mechanisms.synthetic.row_count import RowCount
from reconbench.mechanisms.synthetic.structure import (
    grow_prior_tree,
    list_columns,
    pair_with_centers,
    parse_sets,
)
from reconbench.mechanisms.synthetic.synthesizer import Synthesizer


class Engine(StrEnum):
    """What fits the model: the kernels here, or the package mbi (extra ``synth``)."""

    CORE = "core"
    MBI = "mbi"


@dataclass(frozen=True)
class PrivatePGM(Synthesizer):
    """A graphical model of fixed sets of columns, fitted to their noisy counts.

    T sets of L2 sensitivity √2 each (a replaced record moves one count down and one up), each with
    noise of standard deviation √(2T)/μ, compose to exactly μ-GDP. ``sets`` are public.

    McKenna, Sheldon and Miklau 2019, "Graphical-model based estimation and inference for
    differential privacy". There the number of records is estimated; here it is public.
    """

    name: ClassVar[str] = "pgm"

    sets: MarginalSets
    engine: Engine = Engine.CORE

    def __post_init__(self) -> None:
        mbi = self.engine is Engine.MBI
        build_tree(self.domain, self.sets, MOST_MBI_CELLS if mbi else MOST_CELLS)
        if mbi:
            mbi_engine.require_mbi()
        _ = self.guarantee

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        structure: str = "tree",
        center: str = "",
        engine: str = Engine.CORE,
        rows: str | int = "n",
        prior: Prior | None = None,
    ) -> Self:
        """Choose the sets.

        ``structure`` is ``independent``, ``tree`` (of largest mutual information under the prior),
        ``star`` (pairs with the columns of ``center``, joined by +; by default the hidden ones), or
        the sets themselves, such as ``"AGEP+SEX,MAR+SEX"``. ``engine`` is ``core``, or ``mbi`` for
        models beyond its size. ``rows`` is a number, or a multiple of the records such as ``50n``.
        """
        if engine not in list(Engine):
            raise MechanismError(f"engine must be 'core' or 'mbi', got {engine!r}")
        sets = _choose_sets(domain, hidden, structure, center, prior)
        return cls(
            domain, tuple(hidden), epsilon, delta, RowCount.parse(rows), sets, Engine(engine)
        )

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on every count."""
        return sqrt(2 * len(self.sets)) / self.guarantee.mu

    def learn(self, table: Table, rng: np.random.Generator) -> tuple[Measurements, MarkovModel]:
        measured = measure(table, self.sets, [self.noise_sd] * len(self.sets), rng)
        if self.engine is Engine.MBI:
            return measured, mbi_engine.fit_with_mbi(measured)
        return measured, fit_model(measured)

    def facts(self) -> dict[str, float]:
        return {
            **super().facts(),
            "noise_sd": self.noise_sd,
            "sets": len(self.sets),
            "cells": sum(prod(self.domain.sizes[i] for i in columns) for columns in self.sets),
        }


def _choose_sets(
    domain: Domain, hidden: Sequence[str], structure: str, center: str, prior: Prior | None
) -> MarginalSets:
    if center and structure != "star":
        raise MechanismError(f"center is for structure star, which {structure!r} is not")
    match structure:
        case "independent":
            return list_columns(domain)
        case "tree":
            if prior is None:
                raise MechanismError("structure tree is grown from a prior: pass one as prior")
            return grow_prior_tree(domain, prior)
        case "star":
            return pair_with_centers(domain, center.split("+") if center else hidden)
        case _:
            return parse_sets(domain, structure)
