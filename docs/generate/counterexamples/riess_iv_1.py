import numpy as np

rng = np.random.default_rng(0)
x, clip, sigma = np.array([0.6, 0.8, 0.0]), 5.0, 0.3  # norm 1
for rows in (5, 25):  # printed: C/|X|; needed: (C/|X|)^2
    scale = min(1.0, clip / np.sqrt(rows))  # the gradient's norm is sqrt(rows) |X|
    seen = scale * x + sigma * clip * rng.standard_normal((20_000, rows, 3))
    error = (seen.mean(axis=1) / scale - x).var()
    print(f"{rows} rows: variance {error / sigma**2:.2f} sigma^2 |X|^2")
