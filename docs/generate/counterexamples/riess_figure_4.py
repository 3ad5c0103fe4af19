import numpy as np

from reconbench.benchmarks.computations.gradient_errors import Scales, images, simulate
from reconbench.mechanisms.gradient_steps import DeepNetwork, GradientStep

for scales in (Scales.KNOWN, Scales.ASSUMED):
    for sigma in (1e-3, 1.0):
        rng = np.random.default_rng(0)
        step = GradientStep(DeepNetwork(bias=False, trap=30.0), sigma)
        ratio = simulate(images(500, 4, 1.01, rng), step, rng, scales).ratio
        print(f"scales {scales.value}, sigma {sigma:g}: {ratio:.3g} times the law's error")
