import math

from scipy.optimize import brentq

from reconbench.bounds import GaussianDP, UnifiedBound, fano_information, gaussian_information

mu = 2 / 4  # sensitivity 2, sigma = 4, a fair bit
analytic = -math.log((1 + math.exp(-(mu**2) / 2)) / 2)  # bound on the information, in nats


def bits(s: float) -> float:
    return -s * math.log2(s) - (1 - s) * math.log2(1 - s)


left = math.log(2) - analytic / math.log(2)  # entropy in nats, information in bits
printed = brentq(lambda s: bits(s) - left, 0.5, 1 - 1e-12)
corrected = fano_information([0.5, 0.5], analytic)
exact = fano_information([0.5, 0.5], gaussian_information(mu, 0.5))
f_dp = float(UnifiedBound().success(0.5, GaussianDP(mu)))
print(f"analytic information: mixed units {printed:.3f}, nats throughout {corrected:.3f}")
print(f"exact information: {exact:.3f}; 1 - f(baseline): {f_dp:.3f}")
