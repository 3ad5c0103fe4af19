import numpy as np

from reconbench.mechanisms.gradient_steps import OptimalNetwork

x, clip, sigma = np.array([[0.6, 0.8, 0.0]]), 1.0, 0.3  # norm 1
for bias in (False, True):
    for rows in (1, 10_000):
        scale = OptimalNetwork(rows, bias).backward(x).scales(clip)[0, 0]
        variance = (sigma * clip) ** 2 / (rows * scale**2)
        print(f"bias {bias}, {rows} rows: variance {variance / sigma**2:.2f} sigma^2")
