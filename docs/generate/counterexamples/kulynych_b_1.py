import math

from reconbench.bounds import ZCDP, ReRoZCDP

rho, prior = 1.0, 0.9  # guess the value of prior 0.9 without looking
printed = math.exp(-((math.sqrt(-math.log(prior)) - math.sqrt(rho)) ** 2))
corrected = float(ReRoZCDP().success(prior, ZCDP(rho)))
print(f"true {prior:.4f}, printed {printed:.4f}, corrected {corrected:.4f}")
