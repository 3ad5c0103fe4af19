import math

import numpy as np

from reconbench.bounds.rad import rad_approx_no_aux, rad_grr

epsilon, prior = 5.0, np.array([0.9, 0.1])
true = rad_grr(epsilon, prior)
printed = (1 - prior.max()) * -math.expm1(-epsilon)  # ((1 - kappa)(e^eps - 1) + delta)/e^eps
corrected = rad_approx_no_aux(epsilon, 0.0, prior.min(), prior.max(), prior @ prior)
print(f"true {true:.4f}, printed {printed:.4f}, corrected {corrected:.4f}")
