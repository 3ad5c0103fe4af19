import numpy as np

from reconbench.bounds.rad import rad_finite, rad_uniform

m, delta = 10, 0.05  # publish the record with probability delta, else say nothing
channel = np.vstack([delta * np.eye(m), np.full((1, m), 1 - delta)])
true = rad_finite(channel, m)
printed = (m - 1) / m * 2 * delta / m  # (m - 1)/m R/(e^eps + m - 1), R = e^eps - 1 + 2 delta
print(f"true {true:.4f}, printed {printed:.4f}, corrected {rad_uniform(0.0, m, delta):.4f}")
