"""Any guess: a record counts if some row of the reconstruction succeeds on it, whosever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Self

import numpy as np

from reconbench.attacks.metrics.base import (
    Bools,
    Codes,
    Floats,
    MetricError,
    make_domain,
    multiply_columns,
)
from reconbench.attacks.metrics.columns import ColumnsRight
from reconbench.attacks.metrics.exact import ExactMatch
from reconbench.attacks.metrics.l1 import WithinL1
from reconbench.attacks.metrics.within_distance import MAX_VALUES
from reconbench.bounds import WholePriors
from reconbench.datasets import Domain, Prior, Table

Inner = ExactMatch | ColumnsRight | WithinL1


@dataclass(frozen=True)
class AnyGuess:
    """Population-level success (Swanberg 2025, section 3.3): ℓ_i(x_i, z) = 1[some z_j hits x_i].

    z is the list of different rows of the reconstruction, or the ``most`` frequent ones of them
    (smaller codes first where two are as frequent). ``inner`` says which row hits which record.
    Given all of z each record succeeds or fails by itself, so the metric decomposes. What a record
    is worth depends on guesses for others: ``by_record`` is false.

    The best list from the prior is a maximum coverage problem. `best_guess` is greedy: the best
    list for exact matches, and at least 1 − 1/e of the best otherwise. Ceilings need no less than
    the best: they use `bound_success`.
    """

    inner: Inner
    most: int | None = None
    by_record: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise MetricError(f"metric any needs at least 1 guess, got {self.most}")

    @classmethod
    def parse(cls, parameter: str) -> Self:
        """``[K:]METRIC`` of ``any:[K:]METRIC``."""
        first, _, rest = parameter.partition(":")
        most = int(first) if first.isdecimal() else None
        name, _, value = (parameter if most is None else rest).partition(":")
        if name == "exact" and not value:
            return cls(ExactMatch(), most)
        if name == "columns":
            return cls(ColumnsRight.parse(value), most)
        if name == "l1":
            return cls(WithinL1.parse(value), most)
        raise MetricError(
            "metric any needs exact, columns:M or l1:E after the colon, with a number of guesses "
            f"before it or not, such as any:exact or any:10:l1:2, got {parameter!r}"
        )

    @property
    def name(self) -> str:
        return ":".join(["any", *([] if self.most is None else [str(self.most)]), self.inner.name])

    @property
    def greedy_is_best(self) -> bool:
        """Whether no list covers more than the greedy one: guesses hit one value each."""
        return isinstance(self.inner, ExactMatch)

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        self.inner.check(domain, targets)
        values = prod(domain.project(targets).sizes)
        if values > MAX_VALUES:
            raise MetricError(
                f"metric {self.name} takes targets of up to {MAX_VALUES:,} joint values, "
                f"{', '.join(targets)} have {values:,}; choose fewer or coarser columns"
            )

    def score(self, truth: Table, guess: Table) -> Bools:
        values, which = np.unique(truth.codes, axis=0, return_inverse=True)
        hits = self._find_covered(Table(truth.domain, values), self._list_guesses(guess.codes))
        return hits[which.reshape(-1)]

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        every = Table.of_all_values(guess.domain)
        covered = self._find_covered(every, self._list_guesses(guess.codes))
        chances = prior.conditional(known, guess.domain.names).reshape(len(known), -1)
        return np.minimum(chances @ covered, 1.0)

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        """A greedy list, and the success of it on every record."""
        domain = prior.domain.project(targets)
        chances = prior.conditional(known, targets).reshape(len(known), -1)
        guess = Table(domain, self.decide_list(domain, chances))
        return guess, self.prior_success(prior, known, guess)

    def bound_success(self, prior: Prior, known: Table, targets: Sequence[str]) -> Floats:
        """No list of guesses has a larger prior success, for every record.

        K guesses cover no more than their masses together, and no more than the K·B likeliest
        values if each hits at most B values. For exact matches B = 1, and this is the best list.
        """
        domain = prior.domain.project(targets)
        every = Table.of_all_values(domain)
        chances = prior.conditional(known, targets).reshape(len(known), -1)
        guesses = min(self._count_guesses(len(known)), len(every))
        falling = -np.sort(-chances, axis=1)
        if isinstance(self.inner, ExactMatch):
            return np.asarray(np.minimum(falling[:, :guesses].sum(axis=1), 1.0))
        sizes = self.inner.sum_within(np.ones((1, *domain.sizes))).reshape(-1)
        widest = guesses * round(float(sizes.max()))
        masses = self.inner.sum_within(chances.reshape(-1, *domain.sizes)).reshape(len(known), -1)
        together = -np.sort(-masses, axis=1)[:, :guesses].sum(axis=1)
        likeliest = falling[:, :widest].sum(axis=1)
        return np.asarray(np.minimum(np.minimum(together, likeliest), 1.0))

    def decide(self, columns: Sequence[Floats]) -> Codes:
        """A greedy list for the records along the last axis but one."""
        sizes = [weights.shape[-1] for weights in columns]
        domain, joint = make_domain(sizes), multiply_columns(columns)
        shape, records = joint.shape[:-1], joint.shape[-2] if joint.ndim > 1 else 1
        tables = joint.reshape(-1, records, joint.shape[-1])
        guess = np.array([self.decide_list(domain, table) for table in tables])
        return guess.reshape(*shape, len(sizes))

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        return self.inner.decide_joint(domain, values, weights)

    def decide_list(self, domain: Domain, chances: Floats) -> Codes:
        """A row per record, (n, d), for chances of all joint values, (n, values): guess after guess
        what covers most of the rest."""
        every = Table.of_all_values(domain)
        rest = chances.sum(axis=0)
        guesses: list[Codes] = []
        for _ in range(min(self._count_guesses(len(chances)), len(every))):
            best = self.inner.decide_joint(domain, every.codes, rest)
            guesses.append(best)
            rest = np.where(self._find_covered(every, best[None]), 0.0, rest)
            if not rest.any():
                break
        return np.array(guesses)[np.arange(len(chances)) % len(guesses)]

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """None: a guess is a list, and there are too many lists."""
        return None

    def _count_guesses(self, records: int) -> int:
        return records if self.most is None else min(self.most, records)

    def _list_guesses(self, guess: Codes) -> Codes:
        """The guesses that count, each once."""
        different, counts = np.unique(guess, axis=0, return_counts=True)
        return different[np.argsort(-counts, kind="stable")[: self.most]]

    def _find_covered(self, values: Table, guesses: Codes) -> Bools:
        """Which values some guess hits."""
        covered = np.zeros(len(values), dtype=bool)
        for guess in guesses:
            covered |= self.inner.score(
                values, Table(values.domain, np.tile(guess, (len(values), 1)))
            )
        return covered
