"""Extraction of a secret from an n-gram model that was trained on it (Swanberg 2025, section 5).

The paper's attack guesses what the model thinks likeliest. Ours multiplies the likelihood of the
model's logits under each secret by the prior of the secret: where that likelihood is exact, no
attack on these models succeeds more often in expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    log_chances,
    require_playable,
)
from reconbench.attacks.posterior.posteriors import ColumnPosteriors
from reconbench.attacks.rad_optimal import argmax_at_random
from reconbench.mechanisms.ngram_models import LazyTraining, NgramRelease, softmax

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Without noise a likelihood is 0 or 1: this much noise is as good as none.
_LEAST_NOISE = 1e-6
# The pull of fitted coefficients towards 0: they stay finite where secrets can be told for sure.
_RIDGE = 1e-6


def _skip(view: AttackerView) -> str | None:
    if not isinstance(view.release, NgramRelease):
        return "extraction needs trained n-gram models, such as ngram-dpsgd releases"
    if view.targets != (view.release.column,):
        return f"extraction guesses the column that was learnt, {view.release.column!r}"
    if view.others is not None:
        return "extraction plays the realistic adversary: other records have models of their own"
    return None


class Extraction:
    """The value that the model gives the highest probability; the prior is not used."""

    name: ClassVar[str] = "extraction"

    def skip(self, view: AttackerView) -> str | None:
        return _skip(view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        logits = require_playable(self, view, NgramRelease).logits
        return view.reconstruction(argmax_at_random(logits, rng), softmax(logits).max(axis=1))


class ExtractionPrior:
    """The value of largest posterior: the likelihood of the model's logits times the prior.

    Models of one epoch have an exact likelihood, and the best possible success is known with it.
    Those of more epochs have theirs learnt from ``shadows`` models that the attack trains itself.
    """

    name: ClassVar[str] = "extraction-prior"

    def __init__(self, shadows: int = 20_000) -> None:
        if shadows < 100:
            raise AttackError(f"shadows must be at least 100 models, got {shadows}")
        self.shadows = shadows

    def skip(self, view: AttackerView) -> str | None:
        return _skip(view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, NgramRelease)
        exact = release.training.epochs == 1
        if exact:
            evidence = one_step_likelihood(release.training, release.logits)
        else:
            learnt = LearntLikelihood.fit(release.training, self.shadows, rng)
            evidence = learnt.likelihood(release.logits)
        posteriors = multiply_prior(view, evidence)
        guess = posteriors.guess([0])
        success = posteriors.success(0, guess)
        best = BestPossible(float(success.sum())) if exact else None
        return view.reconstruction(guess, success, best_possible=best)


def multiply_prior(view: AttackerView, evidence: Floats) -> ColumnPosteriors:
    """The posterior of every secret, from log-likelihoods (n, V)."""
    prior = view.prior.conditional(view.known, view.targets)
    chances = softmax(log_chances(prior) + evidence)
    return ColumnPosteriors(view, np.arange(view.n), chances[None])


def one_step_likelihood(training: LazyTraining, logits: Floats) -> Floats:
    """Compute log P(logits | secret) of every model and secret, up to a constant per model.

    After one step the row is N(start − rate g_y, rate² noise² I), g_y = clip(p − e_y), so with
    x = (start − row)/rate it is −|x − g_y|²/(2 noise²).
    """
    gradients = training.first_gradients()
    moved = (np.array(training.start) - logits) / training.rate
    # |x − g|² = |x|² − 2 x·g + |g|², the first of which is the same for every secret
    distance = np.einsum("ij,ij->i", gradients, gradients) - 2 * moved @ gradients.T
    distance -= distance.min(axis=1, keepdims=True)
    return np.asarray(-distance / (2 * max(training.noise, _LEAST_NOISE) ** 2))


@dataclass(frozen=True, eq=False)
class LearntLikelihood:
    """log P(logits | secret y) = a·(row_y − start_y) + b·(p_y − p⁰_y) + c_y, up to a constant.

    Without clipping, all rows on the way have log P = (row_y/rate + Σ_t p_y(t))/noise² + const: a
    is its first part, and b stands for what the last row tells of the second. Clipping and a start
    that favours some secrets are left to the fit: logistic regression of the secret on the row,
    over shadow models with equally likely secrets. Secrets with the same start are exchangeable
    and share their c.
    """

    training: LazyTraining
    scale: Floats
    weights: Floats
    intercepts: Floats

    @classmethod
    def fit(cls, training: LazyTraining, shadows: int, rng: np.random.Generator) -> Self:
        from scipy.optimize import minimize

        values = len(training.start)
        secrets = rng.integers(0, values, shadows)
        features = _features(training, training.train(secrets, rng))
        scale = np.maximum(features.std(axis=(1, 2)), 1e-12)
        features /= scale[:, None, None]
        labels = secrets[:, None] == np.arange(values)
        count = len(features)
        levels, level = np.unique(training.start, return_inverse=True)

        def loss(parameters: Floats) -> tuple[float, Floats]:
            logits = np.tensordot(parameters[:count], features, 1) + parameters[count:][level]
            chances = softmax(logits)
            missing = chances - labels
            value = -np.log(np.maximum(chances[labels], 1e-300)).mean()
            towards = np.bincount(level, missing.sum(axis=0), len(levels))
            slope = np.append(np.einsum("kij,ij->k", features, missing), towards)
            pull = _RIDGE * parameters
            return value + float(parameters @ pull) / 2, slope / shadows + pull

        best = minimize(loss, np.zeros(count + len(levels)), jac=True, method="L-BFGS-B").x
        return cls(training, scale, best[:count], best[count:][level])

    def likelihood(self, logits: Floats) -> Floats:
        features = _features(self.training, logits) / self.scale[:, None, None]
        return np.asarray(np.tensordot(self.weights, features, 1) + self.intercepts)


def _features(training: LazyTraining, rows: Floats) -> Floats:
    """(2, n, values): how far each logit moved, and each probability."""
    start = np.array(training.start)
    return np.stack([rows - start, softmax(rows) - softmax(start)])
