"""What one noisy gradient gives away of its record, and the noise for a risk, ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reconbench.bounds import _validate
from reconbench.bounds._validate import positive_integer
from reconbench.bounds.gradients.laws import (
    Corridor,
    GradientError,
    attack_variance,
    identification_sigma,
    mse_at_most_in_training,
    mse_to_psnr,
    ncc_at_least,
    psnr_to_mse,
    risk_corridor,
    rows_needed,
    scratch_sigma,
    zero_guess_error,
)
from reconbench.bounds.guarantees.guarantee import GaussianDP, Guarantee, Relation, as_replace_one

# How lucky an attacker may be: the shares of attempts whose error is listed.
CHANCES = (1e-6, 0.05, 0.5, 0.95)
_LEAST, _MOST_PSNR = 1e-50, 1000.0
MOST_ITERATIONS = 10_000_000
LAW, PSNR_LAW = "Riess 2026, Theorem IV.5", "Riess 2026, Proposition IV.8"
NCC_LAW = "reconbench, non-central t (in place of Riess 2026, Proposition A.2)"
TRAINING = "Riess 2026, section IV-C (corrected): hits are binomial"
SOLVED = "Riess 2026, Corollary IV.6 for its estimator"
IDENTIFIED = "1 − f(1/candidates), Riess 2026, section IV-D"


@dataclass(frozen=True)
class FromScratch:
    """The from-scratch attack of Riess 2026 on one record, whose scales are known.

    Args:
        dimension: N, how many numbers a record has.
        norm: ‖X‖ of the record, or the smallest over a domain without its zero vector.
        clip: the norm C to which gradients are clipped; σ is relative to it.
        rows: M, the rows of the first layer; None for as many as the smallest error takes.
        steps: k, how many steps are on the same record.
    """

    dimension: int
    norm: float = 1.0
    clip: float = 1.0
    rows: int | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        positive_integer("dimension", self.dimension)
        positive_integer("steps", self.steps)
        _check_range("norm", self.norm)
        _check_range("clip", self.clip)
        positive_integer("rows", self.layer_rows)

    @property
    def layer_rows(self) -> int:
        """The rows of the first layer."""
        return rows_needed(self.norm, self.clip) if self.rows is None else self.rows

    @property
    def reach(self) -> float:
        """max(C/√M, ‖X‖): what stands for the norm of the record in the error."""
        return math.sqrt(attack_variance(1.0, self.norm, self.clip, self.layer_rows))

    def law(self, sigma: float) -> GradientError:
        """The error at a noise multiplier: v = σ² max(C²/M, ‖X‖²)/k (Theorem IV.1, corrected)."""
        _check_range("sigma", sigma)
        return GradientError.of(self.dimension, sigma, self.reach, self.steps)

    def guarantee(self, sigma: float) -> GaussianDP:
        """What the steps promise for adding or removing a record: √k/σ-GDP."""
        return GaussianDP(math.sqrt(self.steps) / sigma, Relation.ADD_REMOVE)

    def free_error(self) -> float:
        """‖X‖²/N, the MSE of guessing 0 without any release."""
        return zero_guess_error(self.dimension, self.norm)

    def corridor(self, sigmas: Sequence[float], candidates: int) -> list[Corridor]:
        """The risk corridor at every σ, for that many candidates."""
        found: list[Corridor] = risk_corridor(
            list(sigmas),
            self.dimension,
            candidates,
            self.norm,
            self.steps,
            self.guarantee,
            self.law,
        )
        return found

    def sigma_for(self, error: float, gamma: float) -> float:
        """The σ with P(MSE ≤ error) = gamma for this estimate; refused where guessing 0 is as good.

        Args:
            error: η, a mean squared error below that of guessing 0.
            gamma: the chance to allow, strictly between 0 and 1.
        """
        # The variance grows with σ·reach, for which the optimal network has σ‖X‖.
        optimal = scratch_sigma(error, gamma, self.dimension, self.norm, self.steps)
        return optimal * self.norm / self.reach


@dataclass(frozen=True)
class Asked:
    """What is asked about the estimate, besides its law; None for what is not.

    Args:
        error: η, a mean squared error.
        psnr: a peak signal-to-noise ratio in dB, which needs `span`.
        ncc: a normalised cross-correlation.
        span: max − min of the values, for PSNR.
        spread: √(N Var(x))/‖X‖ of the record, at most 1, for NCC; 1 bounds all records.
        risk: γ, a chance at which the error is listed.
        candidates: how many records it may be, for identification and the risk corridor.
        records: how many records a training draws from, one per iteration.
        iterations: how many steps that training has.
    """

    error: float | None = None
    psnr: float | None = None
    ncc: float | None = None
    span: float | None = None
    spread: float = 1.0
    risk: float | None = None
    candidates: int | None = None
    records: int | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        if self.error is not None:
            _validate.non_negative("error", self.error)
        if self.risk is not None:
            _validate.strictly_between_zero_and_one("risk", self.risk)
        if self.span is not None:
            _check_range("span", self.span)
        if self.psnr is not None and not -_MOST_PSNR <= self.psnr <= _MOST_PSNR:
            raise ValueError(f"psnr must be within ±{_MOST_PSNR:g} dB, got {self.psnr!r}")
        if self.ncc is not None and not -1 <= self.ncc <= 1:
            raise ValueError(f"ncc must be a correlation in [-1, 1], got {self.ncc!r}")
        if self.psnr is not None and self.span is None:
            raise ValueError("psnr needs span, the difference of the largest and smallest value")
        if (self.records is None) != (self.iterations is None):
            raise ValueError("records and iterations must be given together: a training has both")
        if self.iterations is not None and self.iterations > MOST_ITERATIONS:
            raise ValueError(
                f"iterations must be at most {MOST_ITERATIONS:,}, got {self.iterations:,}"
            )
        if self.records is not None and self.error is None:
            raise ValueError("records and iterations need error: the chance is that of an error")

    @property
    def target(self) -> float | None:
        """The mean squared error to stay above, stated as such or as a PSNR."""
        if self.error is not None or self.psnr is None or self.span is None:
            return self.error
        return float(psnr_to_mse(self.psnr, self.span))


def gradient_noise(attack: FromScratch, asked: Asked) -> dict[str, Any]:
    """The noise multiplier that keeps an error at a risk, ready for JSON.

    Args:
        attack: the record, the layer and the steps.
        asked: `risk` and either `error` or `psnr`; `candidates` for the noise against them.

    Returns:
        `sigma`, at which the from-scratch estimate is within the error with that chance, and
        `sigma_identification`, at which one of the candidates is picked as often; None where a
        guess among them is, without any release.
    """
    if asked.risk is None or asked.target is None or asked.ncc is not None:
        raise ValueError("sigma is solved for a risk and an error: give risk, and error or psnr")
    if asked.target <= 0:
        raise ValueError(f"error must be > 0 to solve for sigma, got {asked.target!r}")
    if asked.error is not None and asked.psnr is not None:
        raise ValueError("sigma is solved for one error: give error or psnr, not both")
    found: dict[str, Any] = {
        "risk": asked.risk,
        "error": asked.target,
        "sigma": attack.sigma_for(asked.target, asked.risk),
        "reference": SOLVED,
    }
    if asked.candidates is not None:
        found["sigma_identification"] = (
            identification_sigma(asked.risk, asked.candidates) * math.sqrt(attack.steps)
            if asked.risk > 1 / positive_integer("candidates", asked.candidates)
            else None
        )
    return found


def gradient_report(
    attack: FromScratch, sigma: float, asked: Asked | None = None, delta: float = 1e-5
) -> dict[str, Any]:
    """The law of the from-scratch estimate at one noise multiplier, ready for JSON.

    Args:
        attack: the record, the layer and the steps.
        sigma: the noise multiplier, noise over the clipping norm.
        asked: errors and chances of interest.
        delta: where the ε of the steps is read.

    Returns:
        `luckiest` lists the error that a share of attempts stays below, `chances` the probability
        of every error asked about, with the theorem; `zero_guess` is the error of guessing 0, and
        `statement` says what these laws are laws of. `corridor` needs candidates.
    """
    asked = asked or Asked()
    law, promised = attack.law(sigma), attack.guarantee(sigma)
    free = attack.free_error()
    shares = sorted({*CHANCES, *([] if asked.risk is None else [asked.risk])})
    report: dict[str, Any] = {
        "sigma": float(sigma),
        "dimension": attack.dimension,
        "norm": attack.norm,
        "clip": attack.clip,
        "rows": attack.layer_rows,
        "rows_needed": rows_needed(attack.norm, attack.clip),
        "steps": attack.steps,
        **_promise(promised, delta),
        "mean_error": law.variance,
        "zero_guess": {"error": free, "psnr": _decibels(free, asked.span)},
        "luckiest": [_luckiest(law, share, asked.span) for share in shares],
        "chances": _chances(attack, sigma, asked),
        "statement": (
            "laws of one attack, the unbiased estimate of least variance with known scales: not "
            f"bounds on every attack. Guessing 0 has an error of {free:.6g} without any release, "
            "so Corollary IV.6 (Riess 2026) holds for this estimate only"
        ),
    }
    if asked.candidates is not None:
        (corridor,) = attack.corridor([sigma], asked.candidates)
        report["corridor"] = {
            "candidates": asked.candidates,
            "identification": corridor.gamma,
            # Where identification is certain in double precision, no error is the end.
            "error": corridor.error if math.isfinite(corridor.error) else None,
            "zero_guess_within": corridor.trivial,
            "reference": IDENTIFIED,
        }
    return report


def gradient_curves(
    attack: FromScratch,
    sigmas: Sequence[float],
    chances: Sequence[float],
    candidates: int | None = None,
) -> dict[str, list[float | None]]:
    """Errors over the noise multiplier, for a figure.

    Args:
        attack: the record, the layer and the steps.
        sigmas: the noise multipliers.
        chances: one curve for each, the error that this share of attempts stays below.
        candidates: with them, the upper end of the risk corridor.

    Returns:
        One list of mean squared errors per curve, by its name; `guessing 0` is constant.
    """
    curves: dict[str, list[float | None]] = {
        _name_share(chance): [float(attack.law(sigma).mse_quantile(chance)) for sigma in sigmas]
        for chance in chances
    }
    if candidates is not None:
        found = attack.corridor(sigmas, candidates)
        name = f"corridor, {candidates:,} candidates"
        curves[name] = [each.error if math.isfinite(each.error) else None for each in found]
    return curves | {"guessing 0": [attack.free_error()] * len(sigmas)}


def _name_share(chance: float) -> str:
    return "median error" if chance == 0.5 else f"luckiest {100 * chance:g} %"


def _promise(promised: GaussianDP, delta: float) -> dict[str, Any]:
    replaced: Guarantee = as_replace_one(promised)
    return {
        "guarantee": promised.describe(),
        "relation": promised.relation.value,
        "replace_one": replaced.describe(),
        "epsilon": promised.epsilon_at(delta),
        "delta": _validate.below_one("delta", delta),
    }


def _check_range(name: str, value: float) -> None:
    """Refuse what would overflow when it is squared, and what is no positive number."""
    if not _LEAST <= _validate.positive(name, value) <= 1 / _LEAST:
        raise ValueError(f"{name} must be in [{_LEAST:g}, {1 / _LEAST:g}], got {value!r}")


def _luckiest(law: GradientError, share: float, span: float | None) -> dict[str, Any]:
    error = float(law.mse_quantile(share))
    return {"chance": share, "error": error, "psnr": _decibels(error, span)}


def _decibels(error: float, span: float | None) -> float | None:
    """The PSNR of an error; None without a span, and without an error."""
    return None if span is None or error == 0 else float(mse_to_psnr(error, span))


def _chances(attack: FromScratch, sigma: float, asked: Asked) -> list[dict[str, Any]]:
    law, free = attack.law(sigma), attack.free_error()
    rows: list[dict[str, Any]] = []
    if asked.error is not None:
        rows.append(_chance("mse", asked.error, float(law.mse_at_most(asked.error)), LAW))
        rows[-1]["zero_guess_within"] = free <= asked.error
    if asked.psnr is not None and asked.span is not None:
        chance = float(law.psnr_at_least(asked.psnr, asked.span))
        rows.append(_chance("psnr", asked.psnr, chance, PSNR_LAW))
        rows[-1]["zero_guess_within"] = free <= float(psnr_to_mse(asked.psnr, asked.span))
    if asked.ncc is not None:
        # The noise per coordinate is that of the optimal network at this multiplier.
        multiplier = sigma * attack.reach / attack.norm
        found = ncc_at_least(asked.ncc, multiplier, attack.dimension, asked.spread, attack.steps)
        rows.append(_chance("ncc", asked.ncc, float(found), NCC_LAW))
        rows[-1]["zero_guess_within"] = None
    if asked.records is not None and asked.iterations is not None and asked.error is not None:
        found_in_training = mse_at_most_in_training(
            asked.error, attack.dimension, sigma, asked.iterations, asked.records, attack.reach
        )
        rows.append(_chance("mse in training", asked.error, found_in_training, TRAINING))
        rows[-1]["zero_guess_within"] = free <= asked.error
    return rows


def _chance(measure: str, value: float, chance: float, reference: str) -> dict[str, Any]:
    return {"measure": measure, "value": value, "chance": chance, "reference": reference}
