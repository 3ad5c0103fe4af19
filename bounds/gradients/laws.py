"""From-scratch reconstruction from a DP-SGD gradient, and the risk corridor (Riess 2026).

One step of DP-SGD clips the gradient G of a record X ∈ R^N to norm C and adds noise N(0, σ²C² I). A
network that begins with a linear layer of M rows shows s_j X + noise in row j. With known scales
s_j the attacker's unbiased estimate of least variance has independent Gaussian coordinates, so its
mean squared error is a multiple of a χ²_N variable, and everything here follows from that law.

These are laws of that estimator, not bounds on every attack: see `zero_guess_error`. What bounds
every attack that has a prior, say a list of candidates, is 1 − f(κ): `identification`.
The noise multiplier σ is relative to the clipping norm C: the sensitivity for adding or removing a
record. Replacing one may move the gradient by 2C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import (
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtri,
    xlog1py,
    xlogy,
)

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.guarantee import GaussianDP, Guarantee, Relation


def attack_variance(sigma: float, norm: float, clip: float = 1.0, rows: int = 1) -> float:
    """σ² max(C²/M, ‖X‖²): a coordinate's variance under the optimal network.

    Riess 2026, Theorem IV.1, as its proof gives it: the loss 1ᵀ W X has the gradient norm √M ‖X‖,
    so the smallest variance σ²‖X‖² needs M ≥ (C/‖X‖)² rows. The theorem's M ≥ ⌈C/‖X‖⌉ is too few
    wherever C > ‖X‖; the caption of its figure 2 has the square.

    Args:
        sigma: the noise multiplier, relative to C.
        norm: ‖X‖ of the record.
        clip: C.
        rows: M.
    """
    size, limit = _finite("norm", norm), _finite("clip", clip)
    m = positive_integer("rows", rows)
    return _validate.non_negative("sigma", sigma) ** 2 * max(limit**2 / m, size**2)


def rows_needed(norm: float, clip: float = 1.0) -> int:
    """The fewest rows M ≥ (C/‖X‖)² that reach the smallest variance (Theorem IV.1, corrected).

    Args:
        norm: the smallest of the records under attack.
        clip: C.
    """
    ratio = (_finite("clip", clip) / _finite("norm", norm)) ** 2
    # A ratio that is whole but for rounding is taken as whole.
    return max(1, math.ceil(ratio * (1 - 1e-12)))


@dataclass(frozen=True)
class GradientError:
    """The error of the optimal unbiased estimate: MSE = (v/N) Y with Y ~ χ²_N (Theorem IV.5).

    ``dimension`` is N and ``variance`` is v, that of every coordinate. Assumes known scales, a
    batch of one record and a fixed X ≠ 0. Over a set of records, the smallest v gives a law that
    the estimate reaches on none of them with less error (Corollary IV.6, for this estimator only).
    """

    dimension: int
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", positive_integer("dimension", self.dimension))
        object.__setattr__(self, "variance", _finite("variance", self.variance))

    @classmethod
    def of(cls, dimension: int, sigma: float, norm: float = 1.0, steps: int = 1) -> GradientError:
        """v = σ²‖X‖²/k: k steps on the same record, matched and averaged (Proposition IV.10).

        ``norm`` is that of the record, or the smallest over a domain without its zero vector.
        """
        k = positive_integer("steps", steps)
        # As many rows as it takes: the clipping norm then has no part in the variance.
        return cls(dimension, (_finite("sigma", sigma) * _finite("norm", norm)) ** 2 / k)

    def mse_at_most(self, eta: ArrayLike) -> FloatArray:
        """P(MSE ≤ η), accurate in relative terms where it is small."""
        # Γ_R(N/2, Nη/2v)
        return np.asarray(gammainc(self.dimension / 2, self._scaled(eta)))

    def mse_above(self, eta: ArrayLike) -> FloatArray:
        """P(MSE > η), accurate in relative terms where it is small."""
        return np.asarray(gammaincc(self.dimension / 2, self._scaled(eta)))

    def mse_quantile(self, gamma: ArrayLike) -> FloatArray:
        """The η with P(MSE ≤ η) = γ (Corollary IV.11)."""
        # η = 2v/N · Γ_R⁻¹(N/2, γ)
        root = gammaincinv(self.dimension / 2, _validate.probabilities("gamma", gamma))
        return np.asarray(2 * self.variance / self.dimension * root)

    def mse_upper_quantile(self, tail: ArrayLike) -> FloatArray:
        """The η with P(MSE > η) = tail."""
        root = gammainccinv(self.dimension / 2, _validate.probabilities("tail", tail))
        return np.asarray(2 * self.variance / self.dimension * root)

    def mse_density(self, eta: ArrayLike) -> FloatArray:
        """The density of the MSE at η."""
        half, x = self.dimension / 2, self._scaled(eta)
        logs = xlogy(half - 1, x) - x - gammaln(half)
        return np.asarray(np.exp(logs) * self.dimension / (2 * self.variance))

    def psnr_at_least(self, eta: ArrayLike, span: float) -> FloatArray:
        """P(PSNR ≥ η) in dB for a record, or a domain, whose values span max − min.

        Proposition IV.8: exact for one record's own span; with a domain's span and smallest norm,
        an upper bound for the estimate on each of its records (Corollary IV.9, this estimator
        only).
        """
        return self.mse_at_most(psnr_to_mse(eta, span))

    def psnr_quantile(self, gamma: ArrayLike, span: float) -> FloatArray:
        """The η in dB with P(PSNR ≥ η) = γ."""
        return mse_to_psnr(self.mse_quantile(gamma), span)

    def psnr_density(self, eta: ArrayLike, span: float) -> FloatArray:
        """The density of the PSNR at η, in dB."""
        mse = psnr_to_mse(eta, span)
        # |dMSE/dPSNR| = MSE · ln(10)/10
        return np.asarray(self.mse_density(mse) * mse * math.log(10) / 10)

    def _scaled(self, eta: ArrayLike) -> FloatArray:
        """Nη/2v."""
        error = np.asarray(eta, dtype=np.float64)
        if not (error >= 0).all():
            raise ValueError(f"eta must be errors >= 0, got {eta!r}")
        return np.asarray(self.dimension * error / (2 * self.variance))


def psnr_to_mse(psnr: ArrayLike, span: float) -> FloatArray:
    """η̃ = 10^(−PSNR/10) (max − min)² (Riess 2026, Definition IV.7).

    Args:
        psnr: in dB.
        span: max − min of the values.
    """
    return np.asarray(10 ** (-np.asarray(psnr, dtype=np.float64) / 10) * _finite("span", span) ** 2)


def mse_to_psnr(mse: ArrayLike, span: float) -> FloatArray:
    """10 log₁₀((max − min)²/MSE); inf for no error at all.

    Args:
        mse: mean squared errors.
        span: max − min of the values.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(10 * (2 * np.log10(_finite("span", span)) - np.log10(mse)))


def zero_guess_error(dimension: int, norm: float = 1.0) -> float:
    """‖X‖²/N: the MSE of guessing 0, without any release.

    Corollary IV.6 is stated for every reconstruction, and this guess refutes it: for N = 784 and
    σ = 0.1 the claimed γ at η = ‖X‖²/784 is 2·10⁻²⁰⁴, and the guess succeeds with certainty. The
    corollary holds for the unbiased estimate alone; from this η on, no noise helps.

    Args:
        dimension: N.
        norm: ‖X‖ of the record, or the smallest over a domain.
    """
    return _finite("norm", norm) ** 2 / positive_integer("dimension", dimension)


def ncc_population(sigma: float, dimension: int) -> float:
    """1/√(1 + σ²N): the largest correlation of random variables (Riess 2026, Proposition A.2).

    A statement on a population. The correlation of one record with its reconstruction scatters
    around it, and is larger about half the time: use `ncc_at_least` for probabilities.

    Args:
        sigma: the noise multiplier.
        dimension: N.
    """
    n = positive_integer("dimension", dimension)
    return 1 / math.sqrt(1 + _validate.non_negative("sigma", sigma) ** 2 * n)


def ncc_at_least(
    eta: ArrayLike, sigma: float, dimension: int, spread: float = 1.0, steps: int = 1
) -> FloatArray:
    """P(NCC ≥ η) of a record and its optimal estimate, N ≥ 3; exact, what Proposition A.2 lacks.

    Regress the estimate X + ζ on X: r √(N − 2)/√(1 − r²) is the t statistic of the slope, which is
    non-central t with N − 2 degrees of freedom and non-centrality √(N Var(x))/(σ‖X‖).

    Args:
        eta: correlations in [−1, 1].
        sigma: the noise multiplier, under the optimal network.
        dimension: N ≥ 3.
        spread: √(N Var(x))/‖X‖ ≤ 1, with equality for a centred record; 1 bounds all records from
            above.
        steps: k, how many steps are on the same record.
    """
    from scipy.stats import nct

    n = positive_integer("dimension", dimension)
    if n < 3:
        raise ValueError(f"dimension must be at least 3 for a correlation, got {dimension!r}")
    if not 0 < spread <= 1:
        raise ValueError(f"spread must be in (0, 1], got {spread!r}")
    r = np.asarray(eta, dtype=np.float64)
    if not (np.abs(r) <= 1).all():
        raise ValueError(f"eta must be correlations in [-1, 1], got {eta!r}")
    centre = spread * math.sqrt(positive_integer("steps", steps)) / _finite("sigma", sigma)
    with np.errstate(divide="ignore"):
        t = r * math.sqrt(n - 2) / np.sqrt((1 - r) * (1 + r))
    return np.asarray(nct.sf(t, n - 2, centre))


def hit_probability(hits: ArrayLike, iterations: int, records: int) -> FloatArray:
    """C(K, k) (1/D)^k (1 − 1/D)^(K − k): how likely one of D records is drawn k times in K steps.

    Riess 2026, section IV-C, has C(K, k)/D^K, which leaves out the (D − 1)^(K − k) ways in which
    the other steps may go. Batches of one, drawn uniformly with replacement.

    Args:
        hits: k, one number or several.
        iterations: K.
        records: D.
    """
    k, total = np.asarray(hits, dtype=np.float64), positive_integer("iterations", iterations)
    d = positive_integer("records", records)
    if not ((k >= 0) & (k <= total) & (k == np.floor(k))).all():
        raise ValueError(f"hits must be whole numbers from 0 to {total}, got {hits!r}")
    choose = gammaln(total + 1) - gammaln(k + 1) - gammaln(total - k + 1)
    return np.asarray(np.exp(choose - k * math.log(d) + xlog1py(total - k, -1 / d)))


def mse_at_most_in_training(
    eta: float, dimension: int, sigma: float, iterations: int, records: int, norm: float = 1.0
) -> float:
    """P(MSE ≤ η) when the record takes part as often as it is drawn: Σ_k P(k hits) P(MSE_k ≤ η).

    Propositions IV.10 and IV.5 under `hit_probability`. A record that is never drawn is not
    reconstructed; the attacker knows which steps were whose, which the paper calls strong.

    Args:
        eta: a mean squared error.
        dimension: N.
        sigma: the noise multiplier.
        iterations: K, the steps of the training, one record each.
        records: D, the records that it draws from.
        norm: ‖X‖ of the record.
    """
    hits = np.arange(1, positive_integer("iterations", iterations) + 1)
    chances = hit_probability(hits, iterations, records)
    one = GradientError.of(dimension, sigma, norm)
    # v/k in place of v is kη in place of η.
    return float(chances @ one.mse_at_most(hits * eta))


def identification(candidates: int, guarantee: Guarantee) -> float:
    """1 − f(κ) with κ = 1/candidates: the most likely any attacker is to pick the right record.

    Hayes et al. 2023 and Kaissis et al. 2023 as in Riess 2026, section IV-D. All candidates are
    equally likely. Either neighbouring relation will do: a release without the record, or of
    another one, says nothing of it and is right with chance κ. Two opposite gradients reach it.

    Args:
        candidates: how many records it may be.
        guarantee: of all the steps.
    """
    return float(guarantee.power(1 / positive_integer("candidates", candidates)))


def scratch_sigma(
    eta: float, gamma: float, dimension: int, norm: float = 1.0, steps: int = 1
) -> float:
    """The σ with P(MSE ≤ η) = γ for the from-scratch estimate.

    Corollary IV.6 solved for σ (and Proposition IV.10); σ grows with η. Refused from η = ‖X‖²/N on,
    where guessing 0 succeeds whatever the noise. For a PSNR, give `psnr_to_mse` of it.

    Args:
        eta: the mean squared error.
        gamma: the chance to allow, strictly between 0 and 1.
        dimension: N.
        norm: ‖X‖ of the record, or the smallest in the domain.
        steps: k, how many steps are on the same record.
    """
    error, chance = _finite("eta", eta), _validate.strictly_between_zero_and_one("gamma", gamma)
    free = zero_guess_error(dimension, norm)
    if error >= free:
        raise ValueError(
            f"eta, the error, must be below {free:g}, got {eta!r}: guessing 0 has that error "
            "without any release, so no noise makes it unlikely"
        )
    # kNη/(2σ²‖X‖²) = Γ_R⁻¹(N/2, γ)
    unit = GradientError.of(dimension, 1.0, norm, steps)
    return math.sqrt(error / float(unit.mse_quantile(chance)))


def identification_sigma(gamma: float, candidates: int, sensitivity: float = 1.0) -> float:
    """The σ at which 1 − f(κ) = γ for Gaussian noise of sd σ: Δ/(Φ⁻¹(γ) − Φ⁻¹(κ)), γ > κ.

    Args:
        gamma: the chance to allow, above 1/candidates.
        candidates: how many records it may be, all as likely: κ = 1/candidates.
        sensitivity: Δ, relative to the clipping norm.
    """
    chance = _validate.strictly_between_zero_and_one("gamma", gamma)
    kappa = 1 / positive_integer("candidates", candidates)
    if chance <= kappa:
        raise ValueError(
            f"gamma must be above 1/candidates = {kappa:g}, got {gamma!r}: a guess among the "
            "candidates succeeds that often without any release"
        )
    return _finite("sensitivity", sensitivity) / float(ndtri(chance) - ndtri(kappa))


@dataclass(frozen=True)
class Corridor:
    """The risk corridor [0, η(γ)] at one σ (Riess 2026, section IV-D).

    With candidates an attacker picks the exact record with probability at most ``gamma``; without,
    the from-scratch estimate is as likely to be within ``error``. ``free_error`` is that of
    guessing 0: a corridor that is wider says nothing about attackers beyond the estimate.
    """

    sigma: float
    gamma: float
    error: float
    free_error: float

    @property
    def trivial(self) -> bool:
        """Whether guessing 0 is certain to be within the corridor."""
        return self.error >= self.free_error


def risk_corridor(
    sigma: ArrayLike,
    dimension: int,
    candidates: int,
    norm: float = 1.0,
    steps: int = 1,
    guarantee: Callable[[float], Guarantee] | None = None,
    law: Callable[[float], GradientError] | None = None,
) -> list[Corridor]:
    """The corridor at every σ: identification at one end, from scratch at the other.

    Args:
        sigma: noise multipliers, one or several.
        dimension: N.
        candidates: how many records it may be.
        norm: ‖X‖ of the record, or the smallest over a domain.
        steps: k, how many steps are on the same record.
        guarantee: what a noise multiplier promises after all steps; by default √k/σ-GDP for adding
            or removing a record, which is what Riess 2026 compares with (Δ = 1).
        law: the error at a noise multiplier, by default that of the optimal network.
    """
    k = positive_integer("steps", steps)

    def usual(multiplier: float) -> Guarantee:
        return GaussianDP(math.sqrt(k) / multiplier, Relation.ADD_REMOVE)

    def optimal(multiplier: float) -> GradientError:
        return GradientError.of(dimension, multiplier, norm, k)

    promise, errors = guarantee or usual, law or optimal
    free = zero_guess_error(dimension, norm)
    found = []
    for each in np.atleast_1d(np.asarray(sigma, dtype=np.float64)):
        multiplier = _finite("sigma", float(each))
        promised, errors_there = promise(multiplier), errors(multiplier)
        gamma = identification(candidates, promised)
        # Near γ = 1 the quantile is read off the tail f(κ) = 1 − γ, which keeps its digits.
        tail = float(promised.tradeoff(1 / candidates))
        low = gamma < 0.5
        error = errors_there.mse_quantile(gamma) if low else errors_there.mse_upper_quantile(tail)
        found.append(Corridor(multiplier, gamma, float(error), free))
    return found


def _finite(name: str, value: float) -> float:
    """``value`` as a float in (0, ∞)."""
    number = _validate.positive(name, value)
    if math.isinf(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number
