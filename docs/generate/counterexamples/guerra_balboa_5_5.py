import math

import numpy as np
from scipy.stats import norm

from reconbench.bounds import GaussianDP
from reconbench.bounds.rad import rad_any_aux

sigma, steps, clip = 10.0, 100, 0.1
rng = np.random.default_rng(0)
x, weights = rng.random(5), rng.standard_normal((2, 5))  # logistic regression on two classes


def gradient(label: int) -> np.ndarray:
    chances = np.exp(weights @ x) / np.exp(weights @ x).sum()
    whole = np.outer(chances - np.eye(2)[label], x)
    return np.asarray(whole * min(1, clip / np.linalg.norm(whole)))


apart = np.linalg.norm(gradient(0) - gradient(1)) / clip  # the same at all weights
true = (2 * norm.cdf(apart * math.sqrt(steps) / sigma / 2) - 1) / 2  # the likelier of two normals
printed, corrected = (rad_any_aux(GaussianDP(k * math.sqrt(steps) / sigma), 2) for k in (1, 2))
print(f"gradients {apart:.2f} C apart: true {true:.4f}", end=", ")
print(f"printed {printed:.4f}, corrected {corrected:.4f}")
