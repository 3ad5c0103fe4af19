"""Theorem 4.3 of Guerra-Balboa 2026 by simulation, with a confidence interval.

Two cases. With finitely many values z, the gain of the best guess is exact at every output, and
only the outputs are drawn (``rad_sampled``, and ``optimal_sampled`` for the success of Algorithm 1,
too). With a continuous prior also the gain is estimated, from an inner sample (``rad_nested``); the
maximum of estimated gains is too large on average, and the gain of a guess that was chosen on other
draws too small, so the two enclose the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.rad._inputs import Labels, as_labels, as_prior
from reconbench.bounds.rad.channel import as_success

Values = NDArray[Any]

# Numbers of one block of likelihoods at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Interval:
    """low ≤ RAD ≤ high with the given confidence; ``estimate`` lies between them."""

    estimate: float
    low: float
    high: float
    confidence: float


class Likelihoods(Protocol):
    """Outputs of a mechanism when its one free record is drawn from the prior."""

    def __call__(self, count: int, rng: np.random.Generator) -> FloatArray:
        """P(θ | z) of ``count`` outputs θ (rows) and every value z, up to a factor a row."""


def rad_sampled(
    likelihoods: Likelihoods,
    prior: ArrayLike | int,
    rng: np.random.Generator,
    *,
    aux: ArrayLike | None = None,
    success: ArrayLike | None = None,
    outputs: int = 10_000,
    confidence: float = 0.95,
) -> Interval:
    """Theorem 4.3 from drawn outputs, for finitely many values and any output space.

    RAD = E_θ[Σ_x max_g Σ_{z: a(z) = x, success[g, z]} P(z | θ) − π_z]. What is averaged lies in
    [−1, 1], so the interval is the empirical Bernstein one of Maurer and Pontil 2009, Theorem 4,
    on either side: it holds at every number of outputs.
    """
    masses = as_prior(prior)
    labels, table = as_labels(aux, masses.size), as_success(success, masses.size)
    count, level = positive_integer("outputs", outputs), _level(confidence)
    step = max(1, _BLOCK // masses.size)
    gains = [
        _best_guesses(likelihoods(min(step, count - start), rng), masses, labels, table)[0]
        for start in range(0, count, step)
    ]
    return _bernstein(np.concatenate(gains), _gain_span(table), level)


@dataclass(frozen=True)
class SampledAttack:
    """Algorithm 1 on drawn outputs: its advantage, which is the largest of any attack, and its
    chance of success on a target that took part (the paper's ReRo)."""

    rad: Interval
    success: Interval


def optimal_sampled(
    likelihoods: ArrayLike,
    prior: ArrayLike | int,
    *,
    aux: ArrayLike | None = None,
    success: ArrayLike | None = None,
    confidence: float = 0.95,
) -> SampledAttack:
    """Algorithm 1 on outputs that were drawn: P(θ | z), a row an output and a column a value.

    As ``rad_sampled``, and the success E_θ[Σ_x Σ_{z: a(z) = x, success[g, z]} P(z | θ)] of the same
    guesses g. Rows are up to a factor, and independent; each interval has the confidence.
    """
    masses, chances = as_prior(prior), np.asarray(likelihoods, dtype=np.float64)
    if chances.ndim != 2 or chances.shape[1] != masses.size:
        raise ValueError(
            f"likelihoods must have one row an output and {masses.size} columns, got shape "
            f"{chances.shape}"
        )
    if not (np.isfinite(chances) & (chances >= 0)).all() or not (chances @ masses > 0).all():
        raise ValueError("likelihoods must be finite, not negative, and not all 0 for an output")
    table, level = as_success(success, masses.size), _level(confidence)
    gains, hits = _best_guesses(chances, masses, as_labels(aux, masses.size), table)
    return SampledAttack(_bernstein(gains, _gain_span(table), level), _bernstein(hits, 1.0, level))


def _gain_span(success: FloatArray | None) -> float:
    """The length of an interval that holds all gains.

    Perfect reconstruction never loses: the guess is the likeliest value, or misses on purpose.
    """
    return 1.0 if success is None else 2.0


def _level(confidence: float) -> float:
    return _validate.strictly_between_zero_and_one("confidence", confidence)


def _bernstein(draws: FloatArray, span: float, level: float) -> Interval:
    """The mean of draws from an interval of length ``span``.

    P(|mean − E| > √(2V ln(2/β)/n) + 7 R ln(2/β)/(3(n − 1))) ≤ 2β with range R.
    """
    if draws.size < 2:
        raise ValueError(f"outputs must be at least 2, got {draws.size}")
    mean, log_term = float(draws.mean()), math.log(4 / (1 - level))
    reach = math.sqrt(2 * draws.var(ddof=1) * log_term / draws.size)
    reach += 7 * span * log_term / (3 * (draws.size - 1))
    return Interval(mean, max(mean - reach, 0.0), min(mean + reach, 1.0), level)


def _best_guesses(
    likelihoods: FloatArray, prior: FloatArray, labels: Labels, success: FloatArray | None
) -> FloatArray:
    """Of every output, the gain of the best guess and the chance that it is right."""
    posterior = likelihoods * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    weights = posterior - prior
    rows = np.arange(len(weights))
    gains, hits = np.zeros((2, len(weights)))
    for label in range(int(labels.max()) + 1):
        mine = np.flatnonzero(labels == label)
        if success is None:
            best = mine[weights[:, mine].argmax(axis=1)]
            gain, hit = weights[rows, best], posterior[rows, best]
            if mine.size < prior.size:
                # Where every value of the label loses, a value of another label misses on purpose.
                gain, hit = np.where(gain < 0, 0.0, [gain, hit])
        else:
            table = success[:, mine]
            found = weights[:, mine] @ table.T
            best = found.argmax(axis=1)
            gain = found[rows, best]
            hit = np.einsum("ij,ij->i", posterior[:, mine], table[best])
        gains += gain
        hits += hit
    return np.stack([gains, hits])


class Continuous(Protocol):
    """A mechanism and a prior with a density each; a value is one row of an array."""

    def draw_prior(self, count: int, rng: np.random.Generator) -> Values: ...

    def draw_output(self, values: Values, rng: np.random.Generator) -> Values:
        """One output for every value."""

    def density(self, outputs: Values, values: Values) -> FloatArray:
        """p(θ | z), outputs down and values across."""

    def success(self, values: Values) -> FloatArray:
        """1[ℓ(z, g) ≤ η] for the finitely many guesses g (rows) that the attacker has."""

    @property
    def label_count(self) -> int:
        """How many different a(z) there are; 1 without auxiliary knowledge."""

    def labels(self, values: Values) -> Labels:
        """a(z), from 0 to label_count − 1."""


def rad_nested(
    model: Continuous,
    rng: np.random.Generator,
    *,
    batches: int = 32,
    outer: int = 256,
    inner: int = 512,
    confidence: float = 0.95,
) -> Interval:
    """Theorem 4.3 for a continuous prior, by nested Monte Carlo.

    RAD = ∫ Σ_x max_g Cov_Z(1[Z counts for g, a(Z) = x], p(θ | Z)) dθ. A batch draws ``outer``
    outputs from a mixture of p(· | z) over a design of values, weighted by that mixture's own
    density, and estimates the covariances from two inner samples of ``inner`` values. The maximum
    over one sample has too large a mean, its choice valued on the other too small a one. Batches
    are independent, so Student's interval on either side has the stated confidence as they grow
    in number.
    """
    count, level = positive_integer("batches", batches), confidence
    if count < 2 or positive_integer("inner", inner) < 2:
        raise ValueError(f"batches and inner must be at least 2, got {batches} and {inner}")
    _validate.strictly_between_zero_and_one("confidence", level)
    pairs = [_batch(model, rng, positive_integer("outer", outer), inner) for _ in range(count)]
    lows, highs = np.array(pairs).T
    reach = float(stdtrit(count - 1, (1 + level) / 2)) / math.sqrt(count)
    return Interval(
        estimate=float((lows + highs).mean() / 2),
        low=float(lows.mean() - reach * lows.std(ddof=1)),
        high=float(highs.mean() + reach * highs.std(ddof=1)),
        confidence=level,
    )


def _batch(
    model: Continuous, rng: np.random.Generator, outer: int, inner: int
) -> tuple[float, float]:
    """Unbiased below and above: the mean gain of a choice on other draws, and of the maximum."""
    design = model.draw_prior(outer, rng)
    outputs = model.draw_output(design, rng)
    mixture = model.density(outputs, design).mean(axis=1)
    first, second = (_covariances(model, outputs, inner, rng) for _ in range(2))
    rows = np.arange(outer)
    low, high = np.zeros(outer), np.zeros(outer)
    for a, b in zip(first, second, strict=True):
        low += (a[rows, b.argmax(axis=1)] + b[rows, a.argmax(axis=1)]) / 2
        high += (a.max(axis=1) + b.max(axis=1)) / 2
    return float((low / mixture).mean()), float((high / mixture).mean())


def _covariances(
    model: Continuous, outputs: Values, inner: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Unbiased Cov_Z(1[Z counts for g, a(Z) = x], p(θ | Z)), one table (θ, g) a label x."""
    values = model.draw_prior(inner, rng)
    density, success, labels = (
        model.density(outputs, values),
        model.success(values),
        model.labels(values),
    )
    centred = (density - density.mean(axis=1, keepdims=True)) / (inner - 1)
    return [centred @ (success * (labels == x)).T for x in range(model.label_count)]
