import math

epsilon, delta, prior = 1.0, 0.01, 0.5  # a fair bit, published with probability delta
published, other = delta * prior, 0.0  # P[output "1", bit 1], P[output "1", bit 0]
true = published / (published + other)  # the posterior of the bit, given that output
printed = prior / (prior + (1 - prior) * math.exp(-epsilon))
print(f"true {true:.4f}, printed {printed:.4f}")
