"""Marginals with more noise than the budget asks for."""

from dataclasses import dataclass
from functools import cached_property

from reconbench.bounds import GaussianDP, Relation
from reconbench.mechanisms import GaussianMarginals


@dataclass(frozen=True)
class Padded(GaussianMarginals):
    """Gaussian marginals whose noise is multiplied by a factor of 1 or more."""

    name = "padded"
    factor: float = 1.0

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k=3, factor=1.0):
        if not factor >= 1:
            raise ValueError(f"padded: factor must be 1 or more, got {factor!r}")
        return cls(domain, tuple(hidden), epsilon, delta, k, factor=factor)

    @cached_property
    def guarantee(self):
        return GaussianDP(super().guarantee.mu / self.factor, Relation.REPLACE_ONE)
