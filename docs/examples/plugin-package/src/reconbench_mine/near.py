"""Success within a distance on every target column."""

import numpy as np

from reconbench.attacks import EnumeratedMetric, MetricError


class Near(EnumeratedMetric):
    """Every target is off by at most so many codes: near:1, near:2, ..."""

    def __init__(self, error: int = 1) -> None:
        self.error = error

    @classmethod
    def parse(cls, parameter: str):
        """The text after the colon; empty without one."""
        if parameter and not parameter.isdecimal():
            raise MetricError(f"near takes a whole number such as near:2, got {parameter!r}")
        return cls(int(parameter or 1))

    @property
    def name(self) -> str:
        return f"near:{self.error}"

    def score(self, truth, guess):
        return (np.abs(truth.codes - guess.codes) <= self.error).all(axis=1)
