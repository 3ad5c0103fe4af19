import math
from itertools import product

import numpy as np

from reconbench.bounds import ApproxDP, Theorem35

e, delta = math.e, 0.1
both = (1 - 2 * delta - e * delta) / (1 + e) ** 2  # P[guess] by its number of wrong bits
one = e * both + delta
chance = [e * one, one, both]
bits = list(product((0, 1), repeat=2))
rows = {x: np.array([chance[abs(x[0] - y[0]) + abs(x[1] - y[1])] for y in bits]) for x in bits}
spent = np.maximum(rows[0, 0] - e * rows[0, 1], 0).sum()  # the same for every pair of neighbours
printed = float(Theorem35(np.full(2, 0.5), ApproxDP(1.0, delta)).tail(1))
corrected = 1 - (1 / (1 + e)) ** 2 + 2 * delta
print("guess with 0, 1, 2 wrong bits:", ", ".join(f"{each:.4f}" for each in chance))
print(f"delta at epsilon = 1: {spent:.4f}")
print(f"true {1 - both:.4f}, printed {printed:.4f}, corrected {min(1.0, corrected):.4f}")
