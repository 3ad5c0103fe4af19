import numpy as np

rng = np.random.default_rng(0)
n, sigma, records = 784, 0.1, 20_000
x = rng.standard_normal((records, n))
x -= x.mean(axis=1, keepdims=True)
x /= np.linalg.norm(x, axis=1, keepdims=True)
guess = x + sigma * rng.standard_normal((records, n))
guess -= guess.mean(axis=1, keepdims=True)
correlation = np.einsum("ij,ij->i", x, guess) / np.linalg.norm(guess, axis=1)
share = (correlation > 1 / np.sqrt(1 + sigma**2 * n)).mean()
print(f"records above the bound: {100 * share:.0f} %, printed 0 %")
