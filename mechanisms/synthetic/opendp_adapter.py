"""MST and AIM of OpenDP, as they are shipped, with their accounting converted to replace-one.

They need ``opendp[mbi]`` (extra ``synth-opendp``), which pins mbi 1 and so cannot share an
environment with the extra ``synth``.

**Accounting.** OpenDP states ρ-zCDP for adding or removing a record, the number of records being
secret. It offers replacements as two such steps, with sensitivity 2 for counts; replacing a record
moves one count down and one up, a sensitivity of √2. Here it runs for one record added or removed,
and the ρ of a replacement is worked out step by step:

- Counts with discrete Gaussian noise of scale s and sensitivity Δ cost Δ²/2s². Adding a record has
  Δ = 1, replacing one Δ = √2: twice the ρ. The number of records does not change at all.
- A choice by report noisy max among scores of sensitivity Δ, w |counts − expected|₁ with weights w
  of at most W, costs (2Δ/τ)²/8 at scale τ. Adding a record has Δ = W, replacing one Δ = 2W: four
  times the ρ.

Half of ρ goes to single columns and half to rounds, of which 0.9 are counts and 0.1 choices; so the
release as a whole is (2·0.95 + 4·0.05) ρ = 2.1 ρ-zCDP for replacements. AIM decides what a round
costs as it goes. The sum of all rounds is filtered at half of ρ, every round costs 2·0.9 + 4·0.1 =
2.2 times as much, and a filter on zCDP holds for costs chosen on the way (Whitehouse, Ramdas,
Rogers and Wu 2023, "Fully-adaptive composition in differential privacy").

**Reproducibility.** OpenDP draws its noise from the operating system. Within one process the same
table and seed give the same release; another process gets other noise.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from math import inf, isfinite, nextafter
from typing import Any, ClassVar, Self

import numpy as np

from reconbench.bounds import ZCDP
from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.synthetic.graphical.fitting import MOST_CELLS, build_tree
from reconbench.mechanisms.synthetic.graphical.kernels import Floats, find_marginals, spread
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel
from reconbench.mechanisms.synthetic.release import SyntheticRelease
from reconbench.mechanisms.synthetic.row_count import RowCount

# Shares of OpenDP's ρ by its defaults, ``oneway_split`` 0.5 and ``measure_split`` 0.9.
SHARE_OF_CHOICES = 0.5 * 0.1
COUNTS_FACTOR, CHOICES_FACTOR = 2.0, 4.0
REMEMBERED = 64


def convert_rho(rho: float) -> float:
    """ρ for replacing a record, of what OpenDP states as ρ for adding or removing one."""
    return rho * (COUNTS_FACTOR * (1 - SHARE_OF_CHOICES) + CHOICES_FACTOR * SHARE_OF_CHOICES)


def find_largest_rho(epsilon: float, delta: float) -> float:
    """The largest ρ for which ρ-zCDP gives (ε, δ), to twelve digits and never above it."""
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        if ZCDP(middle).delta_at(epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


def round_rho(rho: float, choices: int) -> float:
    """A ρ a little lower, of which OpenDP can split its share of choices into so many.

    OpenDP 0.16 divides the share among the pairs of MST, adds the parts up again with every
    rounding upwards, and refuses its own sum where that is a last digit too large. That depends on
    nothing but these digits, so another ρ is taken, lower by parts of 2⁻⁴⁰.
    """
    for step in range(100_000):
        lower = rho * (1 - step * 2.0**-40)
        rounds = _step_down(_step_down(lower - lower * 0.5))
        share = _step_down(_step_down(rounds - rounds * 0.9))
        part, total = _step_down(share / choices), 0.0
        for _ in range(choices):
            total = _add_upwards(total, part)
        if total <= share:
            return lower
    raise MechanismError(f"OpenDP cannot divide rho = {rho:g} among {choices} choices")


def _step_down(number: float) -> float:
    return nextafter(number, -inf)


def _add_upwards(first: float, second: float) -> float:
    total = first + second
    return total if Fraction(total) >= Fraction(first) + Fraction(second) else nextafter(total, inf)


@dataclass(frozen=True)
class OpenDPSynthesizer(BudgetedMechanism):
    """What both have in common. ``algorithm`` is the class of ``opendp.extras.mbi``."""

    measures: ClassVar[bool] = True
    algorithm: ClassVar[str]

    row_count: RowCount
    degree: int = 2

    def __post_init__(self) -> None:
        _require_opendp(self.name)
        if not isfinite(self.epsilon):
            raise MechanismError(f"{self.name} always adds noise, so epsilon must be finite")
        if not self.delta > 0:
            raise MechanismError(f"{self.name} is never pure DP: delta must be greater than 0")

    @cached_property
    def rho(self) -> float:
        """The ρ that OpenDP is given."""
        return find_largest_rho(self.epsilon, self.delta) / convert_rho(1.0)

    @cached_property
    def guarantee(self) -> ZCDP:
        return ZCDP(convert_rho(self.rho), self.budget.relation)

    def release(self, table: Table, rng: np.random.Generator) -> SyntheticRelease:
        self.check_table(table)
        rows = self.row_count.count(len(table))
        key = (self, table.sha256(), int(rng.integers(1 << 62)))
        if key not in _RELEASED:
            _RELEASED[key] = self._measure(table)
            while len(_RELEASED) > REMEMBERED:
                _RELEASED.popitem(last=False)
        measured, model = _RELEASED[key]
        return SyntheticRelease(self.domain, model.sample(rows, rng), len(table), measured)

    def _measure(self, table: Table) -> tuple[Measurements, MarkovModel]:
        dp: Any = import_module("opendp.prelude")
        polars: Any = import_module("polars")
        dp.enable_features("contrib")
        names = [f"c{i}" for i in range(len(self.domain))]
        frame = polars.DataFrame(dict(zip(names, table.codes.T, strict=True))).lazy()
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(rho=self.rho),
        )
        released = (
            context.query(rho=self.rho)
            .select(*names)
            .contingency_table(
                keys={
                    name: list(range(size))
                    for name, size in zip(names, self.domain.sizes, strict=True)
                },
                algorithm=getattr(dp.mbi, self.algorithm)(**self._settings()),
            )
            .release()
        )
        measured = read_measurements(released.marginals.flatten(), self.domain, len(table))
        return measured, read_model(released.model.potentials, self.domain)

    def _settings(self) -> dict[str, object]:
        return {}

    def facts(self) -> dict[str, float]:
        return {"rho": self.guarantee.rho, "opendp_rho": self.rho}


_RELEASED: OrderedDict[tuple[OpenDPSynthesizer, str, int], tuple[Measurements, MarkovModel]] = (
    OrderedDict()
)


@dataclass(frozen=True)
class OpenDPMST(OpenDPSynthesizer):
    """OpenDP's MST, which measures single columns and a tree of pairs."""

    name: ClassVar[str] = "opendp-mst"
    algorithm: ClassVar[str] = "MST"

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        rows: str | int = "n",
    ) -> Self:
        """``rows`` is a number, or a multiple of the records such as ``50n``."""
        return cls(domain, tuple(hidden), epsilon, delta, RowCount.parse(rows))

    @cached_property
    def rho(self) -> float:
        return round_rho(super().rho, max(len(self.domain) - 1, 1))


@dataclass(frozen=True)
class OpenDPAIM(OpenDPSynthesizer):
    """OpenDP's AIM, which measures marginals where its model is worst."""

    name: ClassVar[str] = "opendp-aim"
    algorithm: ClassVar[str] = "AIM"

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        degree: int = 2,
        rows: str | int = "n",
    ) -> Self:
        """``degree`` is the most columns of a marginal.

        ``rows`` is a number, or a multiple of the records such as ``50n``.
        """
        if not (isinstance(degree, int) and 1 <= degree <= len(domain)):
            raise MechanismError(
                f"degree must be between 1 and the {len(domain)} columns, got {degree!r}"
            )
        return cls(domain, tuple(hidden), epsilon, delta, RowCount.parse(rows), degree)

    def _settings(self) -> dict[str, object]:
        return {"queries": self.degree}


def _require_opendp(name: str) -> None:
    how = (
        f"{name} needs opendp[mbi] in an environment of its own: "
        "pip install 'reconbench[synth-opendp]'"
    )
    try:
        _ = version("opendp"), version("polars")
        mbi = version("mbi")
    except PackageNotFoundError as error:
        raise MechanismError(f"{how} ({error.name} is not installed)") from None
    if not mbi.startswith("1."):
        raise MechanismError(f"{how} (mbi {mbi} is installed, of the extra synth)")


def read_measurements(parts: Sequence[Any], domain: Domain, records: int) -> Measurements:
    """OpenDP's measurements in our form: without its last label of every column, for no value."""
    sets, answers = [], []
    for part in parts:
        columns = _read_columns(part.clique)
        shape = [domain.sizes[v] + 1 for v in columns]
        sets.append(tuple(sorted(columns)))
        answers.append(_drop_missing(np.asarray(part.noisy_measurement).reshape(shape), columns))
    deviations = tuple(float(part.stddev) for part in parts)
    return Measurements(domain, tuple(sets), tuple(answers), deviations, records, adaptive=True)


def read_model(potentials: Any, domain: Domain) -> MarkovModel:
    """OpenDP's model, given that no column has its last label, for no value.

    That is a post-processing: the label's cells are left out of every potential.
    """
    columns = [_read_columns(clique) for clique in potentials.cliques]
    sets = [tuple(sorted(each)) for each in columns]
    tree = build_tree(domain, sets, MOST_CELLS)
    values = [
        _drop_missing(np.asarray(potentials[clique].values, dtype=np.float64), each)
        for clique, each in zip(potentials.cliques, columns, strict=True)
    ]
    flat = np.concatenate([value.ravel() for value in values])
    cells = find_marginals(tree.flat, spread(tree.flat, tree.place_sets(sets), flat))
    return MarkovModel(domain, tree, tree.unflatten(cells))


def _read_columns(names: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(name[1:]) for name in names)


def _drop_missing(values: Floats, columns: Sequence[int]) -> Floats:
    """Leave out the last label of every axis, and put the axes in the order of the columns."""
    kept = values[(slice(None, -1),) * len(columns)]
    return np.ascontiguousarray(kept.transpose(np.argsort(columns)), dtype=np.float64)
