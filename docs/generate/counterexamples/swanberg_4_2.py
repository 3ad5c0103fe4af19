import math

epsilon, p = 1.0, 0.5  # randomised response of a fair bit
true = math.exp(epsilon) / (math.exp(epsilon) + 1)
printed = math.exp(epsilon) / (math.exp(epsilon) + 1 / p)
corrected = math.exp(epsilon) / (math.exp(epsilon) - 1 + 1 / p)
print(f"true {true:.4f}, printed {printed:.4f}, corrected {corrected:.4f}")
