import math

import numpy as np

from reconbench.bounds.rad import rad_oue


def example(prior: np.ndarray, epsilon: float) -> float:
    q = 1 / (math.exp(epsilon) + 1)
    p = 1 - q
    powers = p ** np.arange(prior.size - 1, -1, -1)
    before = np.cumsum(prior) - prior
    total = powers @ (prior * (1 - prior)) - q * (powers @ (prior * before))
    return float((p - q) / (2 * p) * total)


prior = np.array([0.7, 0.2, 0.1])
ascending = example(np.sort(prior), 1.0)
print(f"true {rad_oue(1.0, prior):.4f}, in the order given {example(prior, 1.0):.4f}", end=", ")
print(f"ascending {ascending:.4f}")
