"""Analytic gradient inversion: a record read off the noisy gradient of a linear first layer.

Riess 2026, sections III and IV. Row j of the layer shows s_j X + noise, so a record is estimated by
dividing by the scale; a table's record is one-hot, and the guess for a hidden column is the largest
entry of its block. ``agia`` estimates the scales from the bias, ``agia-optimal`` knows them, and
``agia-prior`` uses the prior and the known columns as well: no attack does better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod, sqrt
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackerView,
    BestPossible,
    Reconstruction,
    log_chances,
    require_playable,
)
from reconbench.attacks.metrics import ExactMatch
from reconbench.datasets import BayNet, Domain, Table
from reconbench.mechanisms.gradient_steps import GradientRelease, one_hot

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Records times joint values that a posterior without a shared scale lists, each with a backward
# pass, and joint values of all records of one batch.
MOST_PASSES = 1 << 18
MOST_JOINT = 1 << 16
_BLOCK = 1 << 22


def scaled_estimate(weights: Floats, scales: Floats) -> Floats:
    """The unbiased estimate of least variance: Σ_j s_j W̃_j/Σ_j s_j², (records, N).

    With equal scales it is the sample mean of W̃_j/s_j (Riess 2026, equation 14 and Corollary IV.3);
    with unequal ones the sample mean has a larger variance, by Gauss and Markov. With the bias'
    gradient in place of the scales it is the attack that estimates them: for one row the ratio
    W̃ ⊘ b̃ (equation 13), which has no mean.
    """
    squares = np.einsum("ij,ij->i", scales, scales)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.einsum("ij,ijk->ik", scales, weights) / squares[:, None])


def sample_mean(weights: Floats, scales: Floats) -> Floats:
    """X̂_M = (1/M) Σ_j W̃_j/s_j (Riess 2026, equation 14), (records, N)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((weights / scales[:, :, None]).mean(axis=1))


@dataclass(frozen=True, eq=False)
class Observed:
    """What a view shows of each of its records: means over steps, and the sd of their noise.

    In a batch these are sums over its records, unless all others are known and were taken off.
    """

    weights: Floats
    biases: Floats | None
    noise_sd: float

    @classmethod
    def of(cls, view: AttackerView, release: GradientRelease) -> Observed:
        weights = release.weights.mean(axis=0)
        biases = None if release.biases is None else release.biases.mean(axis=0)
        if view.others is None:
            batch = np.arange(view.n) // release.step.batch
            weights, biases = weights[batch], None if biases is None else biases[batch]
        else:
            x = one_hot(view.others.project(release.domain.names))
            scales = release.step.network.backward(x).scales(release.step.clip)
            weights = weights - np.einsum("ij,ik->jk", scales, x)
            biases = None if biases is None else biases - scales.sum(axis=0)
        return cls(weights, biases, release.noise_sd / sqrt(release.step.steps))

    def sd(self, scale: float) -> float:
        """The noise's sd, or so little of the scale that only the likeliest record counts."""
        return max(self.noise_sd, 1e-4 * scale)


def split_columns(domain: Domain, columns: tuple[str, ...], vectors: Floats) -> list[Floats]:
    """The parts of one-hot vectors that belong to some columns."""
    ends = np.cumsum(domain.sizes)
    positions = domain.positions(columns)
    return [vectors[..., ends[p] - domain.sizes[p] : ends[p]] for p in positions]


class GradientAttack(ABC):
    """What the attacks on noisy gradients have in common."""

    name: ClassVar[str]

    def skip(self, view: AttackerView) -> str | None:
        if not isinstance(view.release, GradientRelease):
            return f"{self.name} needs the gradients of mechanism 'gradient'"
        if view.others is not None and view.release.weights.shape[1] > 1:
            return (
                f"{self.name} plays the informed adversary on one batch only, where others can be "
                "subtracted; set the mechanism's option batch to n, or play the realistic adversary"
            )
        return self._skip(view, view.release)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, GradientRelease)
        return self._guess(view, release, Observed.of(view, release))

    @abstractmethod
    def _skip(self, view: AttackerView, release: GradientRelease) -> str | None: ...

    @abstractmethod
    def _guess(
        self, view: AttackerView, release: GradientRelease, observed: Observed
    ) -> Reconstruction: ...

    def _skip_unknown_scale(self, release: GradientRelease) -> str | None:
        if release.scale is not None:
            return None
        return (
            f"{self.name} needs known scales, and in this network they depend on the record; play "
            "agia, or the mechanism's option network = optimal or idle"
        )


def _guess_largest(
    view: AttackerView, release: GradientRelease, estimate: Floats
) -> Reconstruction:
    """Guess the largest entry of every hidden column's block."""
    parts = split_columns(release.domain, view.targets, estimate)
    return view.reconstruction(np.column_stack([part.argmax(axis=1) for part in parts]))


class Agia(GradientAttack):
    """The ratio of both gradients: no scale is known. ``known_scales`` divides by it instead."""

    name: ClassVar[str] = "agia"

    def __init__(self, *, known_scales: bool = False) -> None:
        self.known_scales = known_scales

    def _skip(self, view: AttackerView, release: GradientRelease) -> str | None:
        if self.known_scales:
            return self._skip_unknown_scale(release)
        if release.biases is None:
            return (
                "agia reads the scale off the bias, and this network has none; set the "
                "mechanism's option bias to true, or the attack's known_scales"
            )
        return None

    def _guess(
        self, view: AttackerView, release: GradientRelease, observed: Observed
    ) -> Reconstruction:
        if self.known_scales or observed.biases is None:
            scales = np.full(observed.weights.shape[:2], release.scale)
            return _guess_largest(view, release, sample_mean(observed.weights, scales))
        return _guess_largest(view, release, scaled_estimate(observed.weights, observed.biases))


class AgiaOptimal(GradientAttack):
    """The unbiased estimate of least variance, with the scale that all records share."""

    name: ClassVar[str] = "agia-optimal"

    def _skip(self, view: AttackerView, release: GradientRelease) -> str | None:
        return self._skip_unknown_scale(release)

    def _guess(
        self, view: AttackerView, release: GradientRelease, observed: Observed
    ) -> Reconstruction:
        scales = np.full(observed.weights.shape[:2], release.scale)
        return _guess_largest(view, release, scaled_estimate(observed.weights, scales))


class AgiaPrior(GradientAttack):
    """The likeliest hidden values given the gradients, the known columns and the prior.

    One-hot records have one norm, so where the scale is shared the log-likelihood is linear in the
    record: a term for each hidden cell. The posterior mode is then exact, by elimination in the
    network (any other prior is listed). Without a shared scale, as in a deep network, every joint
    value is listed with its own backward pass; in batches, the joint values of all their records.
    """

    name: ClassVar[str] = "agia-prior"

    def _skip(self, view: AttackerView, release: GradientRelease) -> str | None:
        if not isinstance(view.metric, ExactMatch):
            return f"{self.name} maximises exact matches, not {view.metric}"
        values = prod(view.target_domain.sizes)
        if _shares_steps(view, release):
            if release.scale is None:
                return f"{self.name} needs a shared scale in batches: network = optimal or idle"
            if values**release.step.batch > MOST_JOINT:
                return (
                    f"{self.name} lists the {values:,}^{release.step.batch} joint values of a "
                    f"batch, more than {MOST_JOINT:,}; use smaller batches or fewer targets"
                )
            return None
        if release.scale is not None and isinstance(view.prior, BayNet):
            feasible = view.prior.can_find_mode(view.known.domain.names, view.targets)
            return None if feasible else f"{self.name}: exact inference is too large here"
        if values * view.n > MOST_PASSES:
            return (
                f"{self.name} lists {view.n:,} records by {values:,} joint values, more than "
                f"{MOST_PASSES:,}; hide fewer columns or attack fewer records"
            )
        return None

    def _guess(
        self, view: AttackerView, release: GradientRelease, observed: Observed
    ) -> Reconstruction:
        scale = release.scale
        if (
            scale is not None
            and not _shares_steps(view, release)
            and isinstance(view.prior, BayNet)
        ):
            evidence = cell_evidence(view, release, observed, scale)
            guess, chance = view.prior.find_mode(view.known, view.targets, evidence)
        else:
            posterior = list_posterior(view, release, observed)
            likeliest = posterior.argmax(axis=1)
            guess = Table.of_all_values(view.target_domain).codes[likeliest]
            chance = np.minimum(posterior[np.arange(view.n), likeliest], 1.0)
        best = BestPossible(float(chance.sum()))
        return view.reconstruction(guess, chance, best_possible=best)


def _shares_steps(view: AttackerView, release: GradientRelease) -> bool:
    """Whether records share steps with others that are not known."""
    return view.others is None and min(view.n, release.step.batch) > 1


def cell_evidence(
    view: AttackerView, release: GradientRelease, observed: Observed, scale: float
) -> list[Floats]:
    """The log-likelihood of every value of every target, (n, size) each, up to a constant.

    −‖W̃ − s x‖²/2τ² = ⟨s Σ_j W̃_j, x⟩/τ² + constant, for the noise sd τ of a mean over steps.
    """
    pulled = scale * observed.weights.sum(axis=1) / observed.sd(scale) ** 2
    return split_columns(release.domain, view.targets, pulled)


def list_posterior(view: AttackerView, release: GradientRelease, observed: Observed) -> Floats:
    """The posterior of every record's joint values, (n, values)."""
    if release.scale is None:
        return list_with_own_scales(view, release, observed)
    if _shares_steps(view, release):
        return list_in_batches(view, release, observed, release.scale)
    return _normalise(_weigh_cells(view, release, observed, release.scale))


def _weigh_cells(
    view: AttackerView, release: GradientRelease, observed: Observed, scale: float
) -> Floats:
    """log P(u | known) plus the log-likelihood of u's cells, of every joint value u."""
    every = Table.of_all_values(view.target_domain).codes
    logs = log_chances(view.prior.conditional(view.known, view.targets).reshape(view.n, -1))
    for index, cells in enumerate(cell_evidence(view, release, observed, scale)):
        logs += cells[:, every[:, index]]
    return logs


def list_with_own_scales(
    view: AttackerView, release: GradientRelease, observed: Observed
) -> Floats:
    """P(u | known) N(gradients; s(x_u) x_u) of every joint value u, each record on its own."""
    every = Table.of_all_values(view.target_domain).codes
    values = len(every)
    likelihood = np.empty((view.n, values))
    step = max(1, _BLOCK // (values * int(sum(release.domain.sizes)) * observed.weights.shape[1]))
    for start in range(0, view.n, step):
        part = slice(start, start + step)
        codes = view.known.codes[part]
        count = len(codes)
        known = Table(view.known.domain, np.repeat(codes, values, axis=0))
        hidden = Table(view.target_domain, np.tile(every, (count, 1)))
        x = one_hot(known.join(hidden).project(release.domain.names))
        scales = release.step.network.backward(x).scales(release.step.clip)
        gaps = (
            np.repeat(observed.weights[part], values, axis=0) - scales[:, :, None] * x[:, None, :]
        )
        squares = np.einsum("ijk,ijk->i", gaps, gaps)
        if observed.biases is not None:
            squares += ((np.repeat(observed.biases[part], values, axis=0) - scales) ** 2).sum(
                axis=1
            )
        likelihood[part] = -squares.reshape(count, values) / 2
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    return _normalise(log_chances(prior) + _divide_by_variance(likelihood, observed.noise_sd))


def _divide_by_variance(squares: Floats, noise_sd: float) -> Floats:
    """Divide half the squared gaps, negated, by the variance; without noise the least wins."""
    gaps: Floats = squares - squares.max(axis=1, keepdims=True)
    if noise_sd > 0:
        return gaps / noise_sd**2
    return np.where(gaps < -1e-9, -np.inf, 0.0)


def list_in_batches(
    view: AttackerView, release: GradientRelease, observed: Observed, scale: float
) -> Floats:
    """Each record's own posterior, listing the joint values of its batch.

    ⟨s Σ_j W̃_j, Σ_b x_b⟩/τ² − s² M ‖Σ_b x_b‖²/2τ²: a term for each record, and one for each pair.
    """
    every = Table.of_all_values(view.target_domain).codes
    values, n, size = len(every), view.n, release.step.batch
    alone = _weigh_cells(view, release, observed, scale)
    # ‖Σ x_b‖² counts the cells that two records share; those of known columns are a constant.
    shared = (every[:, None, :] == every[None, :, :]).sum(axis=2)
    shared = shared * (scale**2 * observed.weights.shape[1] / observed.sd(scale) ** 2)
    marginals = np.empty((n, values))
    for start in range(0, n, size):
        count = min(size, n - start)
        joint = np.zeros((values,) * count)
        for a in range(count):
            joint += np.expand_dims(alone[start + a], [b for b in range(count) if b != a])
            for b in range(a):
                joint -= np.expand_dims(shared, [c for c in range(count) if c not in (a, b)])
        posterior = _normalise(joint.reshape(1, -1)).reshape(joint.shape)
        for a in range(count):
            others = tuple(b for b in range(count) if b != a)
            marginals[start + a] = posterior.sum(axis=others)
    return marginals


def _normalise(logs: Floats) -> Floats:
    """Turn logarithms into posteriors; where nothing is possible, all is equally likely."""
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(np.where(np.isneginf(top), 0.0, logs - np.where(np.isneginf(top), 0.0, top)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
