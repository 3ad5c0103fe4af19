import math

from scipy.stats import beta

trials, alpha = 10**6, 0.01
for share in (4, 2):  # Clopper-Pearson at alpha/share for each of the two rates
    true_positives = beta.ppf(alpha / share, trials, 1)  # lower end, all right
    false_positives = beta.isf(alpha / share, 1, trials)  # upper end, none wrong
    cap = math.log(true_positives / false_positives)
    print(f"alpha/{share} a side: {cap:.3f}")
