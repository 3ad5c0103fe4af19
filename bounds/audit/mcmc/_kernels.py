"""Compiled loops of MCMC-DP-Est (Yildirim 2025, Algorithm 1).

It is imported when first used, as numba is slow to import.

Random words come from xoshiro256++ (Blackman and Vigna 2021), whose state the caller seeds from
its Generator: 40,000 error probabilities an iteration are drawn in the loop itself, and a call into
the Generator would cost as much as the rest. Steps of the walk and acceptance thresholds come in as
arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds.audit.mcmc._tables import CELL_BITS, CELLS, LARGEST
from reconbench.compilation import unlocked

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Word = np.uint64
Words = NDArray[np.uint64]

_MASK, _SHIFT = np.uint64(CELLS - 1), np.uint64(CELL_BITS)
_ELEVEN, _SEVENTEEN, _NINETEEN = np.uint64(11), np.uint64(17), np.uint64(19)
_TWENTY_THREE, _FORTY_ONE, _FORTY_FIVE = np.uint64(23), np.uint64(41), np.uint64(45)
_UNIT_53 = 2.0**-53
_UNIT_REST = 2.0 ** -(64 - CELL_BITS)
# A quarter of the correlated chain's pairs are near α + β = 1: their distance is as likely at any
# scale from this up to 1.
NEAREST = 1e-4
_SCALES = math.log(1.0 / NEAREST)
_EIGHTEEN, _THREE, _FOUR = np.uint64(2 * CELL_BITS), np.uint64(3), np.uint64(4)


@unlocked
def next_word(a: Word, b: Word, c: Word, d: Word) -> tuple[Word, Word, Word, Word, Word]:
    """64 random bits and the next state: xoshiro256++ on unsigned 64-bit words."""
    total = a + d
    word = ((total << _TWENTY_THREE) | (total >> _FORTY_ONE)) + a
    shifted = b << _SEVENTEEN
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << _FORTY_FIVE) | (d >> _NINETEEN)
    return word, a, b, c, d


@unlocked
def unit(word: Word) -> float:
    """A word as a number in (0, 1)."""
    return (float(word >> _ELEVEN) + 0.5) * _UNIT_53


@unlocked
def uniform(state: Words) -> float:
    """In (0, 1)."""
    word, a, b, c, d = next_word(state[0], state[1], state[2], state[3])
    state[0], state[1], state[2], state[3] = a, b, c, d
    return unit(word)


@unlocked
def log_shape(x: float, powers: Floats) -> float:
    """log x^p (1 − x)^q."""
    found = 0.0
    if powers[0] > 0.0:
        found += powers[0] * np.log(x)
    if powers[1] > 0.0:
        found += powers[1] * np.log1p(-x)
    return found


@unlocked
def draw_tail(state: Words, end: float, sign: float, powers: Floats) -> float:
    """An exact draw beyond ``end``, on the side of ``sign``, by rejection from an exponential.

    log x^p (1 − x)^q is concave: it lies below its tangent at ``end``.
    """
    rate: float = -sign * (powers[0] / end - powers[1] / (1.0 - end))
    while True:
        gap = -math.log(uniform(state)) / rate
        x: float = end + sign * gap
        if 0.0 < x < 1.0:
            log_share = log_shape(x, powers) - log_shape(end, powers) + rate * gap
            if math.log(uniform(state)) < log_share:
                return x


@unlocked
def fill_beta(
    state: Words, edges: Floats, squeeze: Floats, log_top: Floats, powers: Floats, out: Floats
) -> None:
    """Exact independent draws with density ∝ x^p (1 − x)^q, from all but the first place on.

    The cells between ``edges`` are equally likely. Within one, a uniform x is kept with chance
    density/top; below ``squeeze``, the least such chance, that needs no logarithm. A negative
    ``squeeze`` marks a tail (`_tables.py`).
    """
    a, b, c, d = state[0], state[1], state[2], state[3]
    for k in range(1, len(out)):
        word, a, b, c, d = next_word(a, b, c, d)
        cell = np.int64(word & _MASK)
        rest = (float(word >> _SHIFT) + 0.5) * _UNIT_REST
        left, right, sure = edges[cell], edges[cell + 1], squeeze[cell]
        word, a, b, c, d = next_word(a, b, c, d)
        x = left + unit(word) * (right - left)
        if rest >= sure:
            state[0], state[1], state[2], state[3] = a, b, c, d
            if sure < 0.0:
                x = draw_tail(state, right if cell == 0 else left, 2.0 * (cell > 0) - 1.0, powers)
            else:
                while np.log(rest) >= log_shape(x, powers) - log_top[cell]:
                    rest, x = uniform(state), left + uniform(state) * (right - left)
            a, b, c, d = state[0], state[1], state[2], state[3]
        out[k] = x
    state[0], state[1], state[2], state[3] = a, b, c, d


@unlocked
def fold(alphas: Floats, betas: Floats) -> None:
    """(α, β) to (smaller, larger) error as in `model.folded`, in place, all but the first."""
    for k in range(1, len(alphas)):
        x, y = alphas[k], betas[k]
        turned = x + y > 1.0
        x, y = (1.0 - x if turned else x), (1.0 - y if turned else y)
        alphas[k], betas[k] = min(x, y), max(x, y)


@unlocked
def inside(
    low: float, high: float, outer: float, inner: float, floor: float, inner_floor: float
) -> bool:
    """Folded errors in R_s(ε, δ), with e^ε, e^{sε}, 1 − δ and 1 − sδ (`model.in_strip`)."""
    return (high + outer * low >= floor) & (high + inner * low < inner_floor)


@unlocked
def count_inside(
    lows: Floats, highs: Floats, outer: float, inner: float, floor: float, inner_floor: float
) -> int:
    count = 0
    for k in range(len(lows)):
        count += inside(lows[k], highs[k], outer, inner, floor, inner_floor)
    return count


@unlocked
def pick_inside(
    lows: Floats,
    highs: Floats,
    outer: float,
    inner: float,
    floor: float,
    inner_floor: float,
    place: np.int64,
) -> None:
    """Move the pair that is number ``place`` of those inside to the front."""
    for k in range(len(lows)):
        if inside(lows[k], highs[k], outer, inner, floor, inner_floor):
            if place == 0:
                lows[0], highs[0] = lows[k], highs[k]
                return
            place -= 1


@unlocked
def log_strip_area(epsilon: float, delta: float, s: float) -> float:
    """log |R_s(ε, δ)| as in `model.strip_area`."""
    lower = 1.0 / (1.0 + np.exp(s * epsilon))
    by_delta = (1.0 - s) * delta * (2.0 - (1.0 + s) * delta) * lower
    gap = -np.expm1(-(1.0 - s) * epsilon)
    by_epsilon = (1.0 - delta) ** 2 * gap * lower / (1.0 + np.exp(-epsilon))
    area = 2.0 * (by_delta + by_epsilon)
    return np.log(area) if area > 0.0 else -np.inf


@unlocked
def log_prior(epsilon: float, s: float, variance: float, a: float, b: float) -> float:
    """log p(ε) p(s) up to a constant."""
    found = -(epsilon**2) / (2.0 * variance)
    if a != 1.0:
        found += (a - 1.0) * np.log(s)
    if b != 1.0:
        found += (b - 1.0) * np.log1p(-s)
    return found


@unlocked
def binomial_chain(
    state: Words,
    steps: Floats,
    thresholds: Floats,
    alpha_rows: Ints,
    beta_rows: Ints,
    edges: Floats,
    squeeze: Floats,
    log_top: Floats,
    powers: Floats,
    delta: float,
    variance: float,
    a: float,
    b: float,
    jacobian: float,
    now: Floats,
    lows: Floats,
    highs: Floats,
    trace: Floats,
) -> int:
    """Algorithm 1 for independent binomial counts; returns how many proposals were accepted.

    Auxiliary pairs come from q_j ∝ g(X_j, Y_j | ·), so that a weight p(α, β | ε, s) g/q is
    1[(α, β) in R_s]/|R_s| up to a constant, and sums of weights are numbers of pairs inside.
    ``now`` = (ε, s) and the first columns of ``lows`` and ``highs`` (n, K), the current error
    pairs, folded, move on in place. ``steps`` (M, 2) are added to (log ε, s); ``thresholds`` (M,)
    are logs of uniforms; ``trace`` (M, 2) receives (ε, s). ``jacobian`` is the exponent of ε′/ε.
    """
    n = len(lows)
    floor, accepted = 1.0 - delta, 0
    counts, new_counts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(len(steps)):
        e, s = now[0], now[1]
        new_e, new_s = e * np.exp(steps[i, 0]), s + steps[i, 1]
        possible = 0.0 < new_s < 1.0 or (steps[i, 1] == 0.0)
        if not possible:
            new_e, new_s = e, s
        outer, inner, inner_floor = np.exp(e), np.exp(s * e), 1.0 - s * delta
        new_outer, new_inner = np.exp(new_e), np.exp(new_s * new_e)
        new_inner_floor = 1.0 - new_s * delta
        # log of p(s′) p(ε′) ε′ / (p(s) p(ε) ε), times (|R_s| / |R_s′|)^n
        log_ratio = log_prior(new_e, new_s, variance, a, b) - log_prior(e, s, variance, a, b)
        log_ratio += jacobian * (np.log(new_e) - np.log(e))
        new_area = log_strip_area(new_e, delta, new_s)
        log_ratio -= n * (new_area - log_strip_area(e, delta, s))
        possible = possible and new_area > -np.inf
        for j in range(n):
            row = alpha_rows[j]
            fill_beta(state, edges[row], squeeze[row], log_top[row], powers[row], lows[j])
            row = beta_rows[j]
            fill_beta(state, edges[row], squeeze[row], log_top[row], powers[row], highs[j])
            fold(lows[j], highs[j])
            counts[j] = count_inside(lows[j], highs[j], outer, inner, floor, inner_floor)
            new_counts[j] = count_inside(
                lows[j], highs[j], new_outer, new_inner, floor, new_inner_floor
            )
            # The current pair is inside, so that there is no division by zero.
            share = new_counts[j] / counts[j]
            log_ratio += np.log(share) if share > 0.0 else -np.inf
        if possible and thresholds[i] < log_ratio:
            accepted += 1
            now[0], now[1] = new_e, new_s
            outer, inner, inner_floor = new_outer, new_inner, new_inner_floor
            counts[:] = new_counts
        for j in range(n):
            place = np.int64(uniform(state) * counts[j])
            pick_inside(lows[j], highs[j], outer, inner, floor, inner_floor, place)
        trace[i, 0], trace[i, 1] = now[0], now[1]
    return accepted


@unlocked
def spread_of(width: float, height: float, alpha: float, beta: float) -> float:
    """One over the density of (φ, ψ) in cells of these sides, up to a constant (`fill_pairs`)."""
    gap = abs(alpha + beta - 1.0)
    near = 0.0
    if NEAREST < gap < 1.0:
        # 1/(2 gap log(1/NEAREST)) for β, times dβ/dψ = 2 √(β(1 − β))
        near = CELLS * math.sqrt(beta * (1.0 - beta)) / (gap * _SCALES)
    return 4.0 * width / (3.0 / height + near)


@unlocked
def fill_pairs(
    state: Words, x_edges: Floats, y_edges: Floats, alphas: Floats, betas: Floats, spread: Floats
) -> None:
    """α = sin²φ and β = sin²ψ, all but the first; ``spread`` is one over their density.

    φ is uniform within equally likely cells. So is ψ in three of four draws, where the counts are;
    in the fourth β lies next to 1 − α, where the strip is if ε is small. Those that fall outside
    the unit square have spread 0.
    """
    for k in range(1, len(alphas)):
        word, a, b, c, d = next_word(state[0], state[1], state[2], state[3])
        state[0], state[1], state[2], state[3] = a, b, c, d
        x, y = np.int64(word & _MASK), np.int64((word >> _SHIFT) & _MASK)
        width = x_edges[x + 1] - x_edges[x]
        alphas[k] = min(np.sin(x_edges[x] + uniform(state) * width) ** 2, LARGEST)
        coins = word >> _EIGHTEEN
        if coins & _THREE == 0:
            gap = NEAREST * math.exp(uniform(state) * _SCALES)
            betas[k] = 1.0 - alphas[k] + (gap if coins & _FOUR else -gap)
            if not 0.0 < betas[k] <= LARGEST:
                betas[k], spread[k] = 0.5, 0.0
                continue
            right = int(np.searchsorted(y_edges, math.asin(math.sqrt(betas[k]))))
            right = min(max(right, 1), CELLS)
            height = y_edges[right] - y_edges[right - 1]
        else:
            height = y_edges[y + 1] - y_edges[y]
            betas[k] = min(np.sin(y_edges[y] + uniform(state) * height) ** 2, LARGEST)
        spread[k] = spread_of(width, height, alphas[k], betas[k])


@unlocked
def weigh(
    alphas: Floats,
    betas: Floats,
    spread: Floats,
    counts: Floats,
    delta: float,
    at: Floats,
    weights: Floats,
) -> float:
    """Weights 1[R_s] g/q of the pairs, and the log of their sum over |R_s|; −inf if impossible.

    g is Yildirim 2025, Equation 7, at ``counts`` = (X, N₀, Y, N₁) and ``at`` = (ε, s, τ, ρ). Its
    factor 1/√(α(1 − α)β(1 − β)) is the Jacobian of (φ, ψ) and drops out.
    """
    e, s, tau, rho = at[0], at[1], at[2], at[3]
    x, n0, y, n1 = counts[0], counts[1], counts[2], counts[3]
    v0, v1 = n0 + n0 * (n0 - 1.0) * tau, n1 + n1 * (n1 - 1.0) * tau
    r = n0 * n1 * rho / np.sqrt(v0 * v1)
    log_area = log_strip_area(e, delta, s)
    if abs(r) >= 1.0 or log_area == -np.inf:
        return -np.inf
    outer, inner, inner_floor = np.exp(e), np.exp(s * e), 1.0 - s * delta
    total = 0.0
    for k in range(len(alphas)):
        a, b = alphas[k], betas[k]
        turned = a + b > 1.0
        p, q = (1.0 - a if turned else a), (1.0 - b if turned else b)
        weights[k] = 0.0
        if inside(min(p, q), max(p, q), outer, inner, 1.0 - delta, inner_floor):
            z = (x - n0 * a) / np.sqrt(a * (1.0 - a) * v0)
            w = (y - n1 * b) / np.sqrt(b * (1.0 - b) * v1)
            quadratic = (z * z - 2.0 * r * z * w + w * w) / (1.0 - r * r)
            weights[k] = spread[k] * np.exp(-quadratic / 2.0)
        total += weights[k]
    if not total > 0.0:
        return -np.inf
    return math.log(total) - log_area - math.log(v0 * v1 * (1.0 - r * r)) / 2.0


@unlocked
def pick_weighted(weights: Floats, share: float) -> int:
    """The place at a quantile of the weights; never one of weight zero."""
    left, last = share * weights.sum(), 0
    for k in range(len(weights)):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                break
    return last


@unlocked
def log_tau_prior(tau: float, counts: Floats, sd: float) -> float:
    """log of a half-normal density of τ, and of that of ρ given τ, 1/(2 min r(τ)); no constants."""
    least = np.inf
    for j in range(len(counts)):
        n0, n1 = counts[j, 1], counts[j, 3]
        least = min(least, (1.0 + (n0 - 1.0) * tau) * (1.0 + (n1 - 1.0) * tau) / (n0 * n1))
    return -tau * tau / (2.0 * sd * sd) - math.log(least) / 2.0


@unlocked
def correlated_chain(
    state: Words,
    steps: Floats,
    thresholds: Floats,
    counts: Floats,
    delta: float,
    variance: float,
    a: float,
    b: float,
    tau_sd: float,
    shift: float,
    jacobian: float,
    now: Floats,
    alpha_edges: Floats,
    beta_edges: Floats,
    alphas: Floats,
    betas: Floats,
    spread: Floats,
    trace: Floats,
) -> int:
    """Algorithm 1 for the correlated counts of Equation 7; as `binomial_chain` otherwise.

    ``now`` = (ε, s, τ, ρ); for ``tau_sd`` see `CorrelatedNormal`. With
    c = ``shift`` = 1/N, ``steps`` (M, 4) are added to (log ε, s, log(τ + c), ρ/(τ + c)), with a
    Jacobian ((τ′ + c)/(τ + c))² of its own. ``spread`` goes with ``alphas`` and ``betas``.
    """
    n, auxiliary = alphas.shape
    accepted = 0
    weights, new_weights = np.empty((n, auxiliary)), np.empty((n, auxiliary))
    new = np.empty(4)
    for i in range(len(steps)):
        new[0] = now[0] * np.exp(steps[i, 0])
        new[1] = now[1] + steps[i, 1]
        size = now[2] + shift
        new_size = size * np.exp(steps[i, 2])
        new[2], new[3] = new_size - shift, new_size * (now[3] / size + steps[i, 3])
        possible = 0.0 < new[1] < 1.0 or steps[i, 1] == 0.0
        possible = possible and 0.0 <= new[2] <= 1.0 and -1.0 <= new[3] <= 1.0
        if not possible:
            new[:] = now
        log_ratio = log_prior(new[0], new[1], variance, a, b)
        log_ratio -= log_prior(now[0], now[1], variance, a, b)
        log_ratio += jacobian * (np.log(new[0]) - np.log(now[0])) + 2.0 * np.log(new_size / size)
        if tau_sd < np.inf:
            log_ratio += log_tau_prior(new[2], counts, tau_sd) - log_tau_prior(
                now[2], counts, tau_sd
            )
        for j in range(n):
            fill_pairs(state, alpha_edges[j], beta_edges[j], alphas[j], betas[j], spread[j])
            log_ratio += weigh(
                alphas[j], betas[j], spread[j], counts[j], delta, new, new_weights[j]
            ) - weigh(alphas[j], betas[j], spread[j], counts[j], delta, now, weights[j])
        if possible and thresholds[i] < log_ratio:
            accepted += 1
            now[:] = new
            weights[:] = new_weights
        for j in range(n):
            k = pick_weighted(weights[j], uniform(state))
            alphas[j, 0], betas[j, 0], spread[j, 0] = alphas[j, k], betas[j, k], spread[j, k]
        trace[i] = now
    return accepted
