import numpy as np
from scipy.stats import chi2

n, sigma = 784, 0.1
x = np.random.default_rng(0).standard_normal(n)
x /= np.linalg.norm(x)
error = np.mean((0 - x) ** 2)  # of guessing 0, always |X|^2/N
printed = chi2.cdf(error * n / sigma**2, n)  # P[MSE <= error] of the unbiased estimate
print(f"P[MSE <= 1/N]: true 1 (guess 0), printed {printed:.0e}")
