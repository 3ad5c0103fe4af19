import numpy as np

from reconbench.bounds import GaussianDP, bayes_error

pi = 0.3
print(f"q = 1 always: true {1:.4f}, printed {1 - bayes_error(GaussianDP(1.0), pi):.4f}")
alpha = np.array([0.0, 1.0])  # f is linear: the minima are at the ends
f = (1 - alpha) / 2  # M(z0) always says 0, M(z1) tosses a fair coin
true = np.array([[1 - pi, 0.0], [pi / 2, pi / 2]]).max(axis=0).sum()
printed = 1 - (pi * alpha + (1 - pi) * f).min()
corrected = 1 - ((1 - pi) * alpha + pi * f).min()
print(f"coin: true {true:.4f}, printed {printed:.4f}, corrected {corrected:.4f}")
