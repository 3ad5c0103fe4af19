import math

import numpy as np

from reconbench.bounds.rad import GRR, rad_finite

epsilon, prior = 1.0, np.array([0.5, 0.5])
p = math.exp(epsilon) / (math.exp(epsilon) + 1)
q = 1 - p
true = rad_finite(GRR(epsilon, 2).matrix(), 2)
printed = (p - q) * (1 - prior.sum()) * prior.min()
corrected = (p - q) * (1 - prior @ prior)  # only the guess theta itself counts for theta
print(f"true {true:.4f}, printed {printed:.4f}, corrected {corrected:.4f}")
