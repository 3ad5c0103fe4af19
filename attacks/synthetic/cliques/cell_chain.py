"""A Gibbs chain on one hidden column, given measured counts.

With n_S(x, t) the records in cell (x, t) of set S and n(t) those with hidden value t, there are
measurements y(t) of n(t) and r_S(x, t) of n_S(x, t) − κ_S(x, t) n(t), with independent errors of
precision p(t) and p_S(x, t):

    log p(hidden column | y, r) = Σ_i log π_i(t_i) − Σ_t p(t) (y(t) − n(t))²/2
                                  − Σ_S Σ_x,t p_S (r_S − n_S + κ_S n)²/2 + const.

Counted without record i, giving it the value t adds, with x its own row of each set,

    p(t) (y(t) − n(t) − ½) + Σ_S [p_S(x, t) R_S(x, t) − A_S(t) − (p_S(x, t) (1 − 2κ_S(x, t)) +
    Q_S(t))/2], R_S = r_S − n_S + κ_S n,     A_S(t) = Σ_x p_S κ_S R_S,     Q_S(t) = Σ_x p_S κ_S².

A_S(t) = Σ_x p_S κ_S r_S − B_S(t) + n(t) Q_S(t), of which only B_S(t) = Σ_x p_S κ_S n_S moves along
with the records. So a sweep takes n V K looks at a cell, for K sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.attacks.posterior.gibbs import normalise, pick
from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredCounts:
    """What was measured: the cells of all sets end to end, a set's rows one after the other.

    ``rows``, (n, K), is the row of each record in each set, and ``starts``, (K + 1,), where the
    sets begin and end. ``residual`` is r, ``precision`` p_S and ``share`` κ, (cells,); ``totals``
    is y and ``totals_precision`` p, (V,).
    """

    rows: Codes
    starts: Codes
    residual: Floats
    precision: Floats
    share: Floats
    totals: Floats
    totals_precision: Floats

    def sample(self, log_prior: Floats, uniforms: Floats, burn_in: int) -> Floats:
        """Mean conditional probabilities of every record, (n, V), see ``sample_column``."""
        return sample_column(
            self.rows,
            self.starts,
            self.residual,
            self.precision,
            self.share,
            self.totals,
            self.totals_precision,
            log_prior,
            uniforms,
            burn_in,
        )


@compiled
def sample_column(
    rows: Codes,
    starts: Codes,
    residual: Floats,
    precision: Floats,
    share: Floats,
    totals: Floats,
    totals_precision: Floats,
    log_prior: Floats,
    uniforms: Floats,
    burn_in: int,
) -> Floats:
    """The mean conditional probabilities of every record over the sweeps after ``burn_in``, (n, V).

    ``uniforms``, (sweeps, n), are all the randomness. The likelihood is annealed in over the
    burn-in.
    """
    n, size = log_prior.shape
    sets = rows.shape[1]
    # What does not change: Σ_x p κ r and Q.
    fixed, squares = np.zeros((sets, size)), np.zeros((sets, size))
    for k in range(sets):
        for c in range(starts[k], starts[k + 1]):
            v = (c - starts[k]) % size
            weight = precision[c] * share[c]
            fixed[k, v] += weight * residual[c]
            squares[k, v] += weight * share[c]
    counts, count, moving = np.zeros(len(residual)), np.zeros(size), np.zeros((sets, size))
    x = np.zeros(n, dtype=np.int64)
    for i in range(n):
        x[i] = np.argmax(log_prior[i])
        count[x[i]] += 1.0
        for k in range(sets):
            c = starts[k] + rows[i, k] * size + x[i]
            counts[c] += 1.0
            moving[k, x[i]] += precision[c] * share[c]
    kept, chances = np.zeros((n, size)), np.zeros(size)
    sweeps = len(uniforms)
    for t in range(sweeps):
        heat = min(1.0, t / burn_in) if burn_in > 0 else 1.0
        for i in range(n):
            old = x[i]
            count[old] -= 1.0
            for k in range(sets):
                c = starts[k] + rows[i, k] * size + old
                counts[c] -= 1.0
                moving[k, old] -= precision[c] * share[c]
            for v in range(size):
                gain = totals_precision[v] * (totals[v] - count[v] - 0.5)
                for k in range(sets):
                    c = starts[k] + rows[i, k] * size + v
                    gap = residual[c] - counts[c] + share[c] * count[v]
                    others = fixed[k, v] - moving[k, v] + count[v] * squares[k, v]
                    own = precision[c] * (1.0 - 2.0 * share[c]) + squares[k, v]
                    gain += precision[c] * gap - others - 0.5 * own
                chances[v] = log_prior[i, v] + heat * gain
            normalise(chances)
            new = pick(chances, uniforms[t, i])
            x[i] = new
            count[new] += 1.0
            for k in range(sets):
                c = starts[k] + rows[i, k] * size + new
                counts[c] += 1.0
                moving[k, new] += precision[c] * share[c]
            if t >= burn_in:
                for v in range(size):
                    kept[i, v] += chances[v]
    return kept / (sweeps - burn_in)
