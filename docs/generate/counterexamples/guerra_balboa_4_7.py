import numpy as np

from reconbench.bounds.rad import LaplaceNoise, rad_laplace, rad_uniform_location

true = rad_uniform_location(LaplaceNoise(1.0), np.array([0.0, 0.1, 1.0]))
print(f"true {true:.4f}, printed {rad_laplace(1.0, 3):.4f}")
