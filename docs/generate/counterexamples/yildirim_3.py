from scipy.stats import ncx2

mean0, sd0, mean1, sd1, alpha = 2.0, 1.0, 3.0, 0.5, 0.1
centre = (mean0 / sd0**2 - mean1 / sd1**2) / (1 / sd0**2 - 1 / sd1**2)


def power(r: float) -> float:
    q = ncx2.ppf(alpha, 1, (mean0 + r) ** 2 / sd0**2) * sd0**2  # quantile without the record
    return float(ncx2.cdf(q / sd1**2, 1, (mean1 + r) ** 2 / sd1**2))


print(f"power: printed {power(centre):.4f}, corrected {power(-centre):.4f}")
