import numpy as np

from reconbench.bounds.rad import GRR, rad_finite

channel = GRR(1.0, 2).matrix()
true = rad_finite(channel, 2, success=np.ones((2, 2), dtype=bool))  # every guess succeeds
printed = np.abs(channel[:, 0] - channel[:, 1]).sum() / 2 * (1 - 1 / 2)  # TV (1 - kappa)
print(f"true {true:.4f}, printed {printed:.4f}")
