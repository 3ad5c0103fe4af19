from math import comb

steps, records = 30, 12
printed = sum(comb(steps, k) / records**steps for k in range(steps + 1))
corrected = sum(
    comb(steps, k) * (records - 1) ** (steps - k) / records**steps for k in range(steps + 1)
)
print(f"summed over k: printed {printed:.0e}, corrected {corrected:.4f}")
