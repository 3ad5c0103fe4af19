"""Tables from which the kernels draw error probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtr, xlog1py, xlogy

from reconbench.bounds.audit.mcmc.counts import Counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELL_BITS = 9
CELLS = 1 << CELL_BITS
# The largest error probability of a pair: variances α(1 − α) stay above 0.
LARGEST = 1.0 - 2.0**-53


@dataclass(frozen=True, eq=False)
class BetaTables:
    """Cells of equal probability of Beta(X + 1, N − X + 1), one row a distinct pair (X, N).

    `alpha_rows[j]` and `beta_rows[j]` are the rows of attack j. A row has the cells' `edges`, the
    log of the largest density within each (`log_top`), the least density over the largest
    (`squeeze`; −1 for the outermost cells where the density falls to 0), and the exponents
    (X, N − X). Densities are x^X (1 − x)^(N − X), without their constant.
    """

    alpha_rows: Ints
    beta_rows: Ints
    edges: Floats
    squeeze: Floats
    log_top: Floats
    powers: Floats

    @classmethod
    def of(cls, counts: Counts) -> BetaTables:
        errors = np.concatenate([counts.false_positives, counts.false_negatives])
        totals = np.concatenate([counts.negatives, counts.positives])
        distinct, rows = np.unique(np.stack([errors, totals]), axis=1, return_inverse=True)
        rows = rows.reshape(-1).astype(np.int64)
        x, rest = distinct[0, :, None].astype(np.float64), (distinct[1] - distinct[0])[:, None]
        rest = rest.astype(np.float64)
        edges = _equal_cells(x, rest)
        at_edges = _log_density(edges, x, rest)
        left, right = at_edges[:, :-1], at_edges[:, 1:]
        # The density is unimodal: within a cell it is largest at an end, or at the mode X/N.
        mode = x / (x + rest)
        holds_mode = (edges[:, :-1] <= mode) & (mode <= edges[:, 1:])
        log_top = np.where(holds_mode, _log_density(mode, x, rest), np.maximum(left, right))
        # Edges and density are rounded: a sure yes stays clear of it.
        squeeze = np.exp(np.minimum(left, right) - log_top) * (1 - 1e-9)
        squeeze[:, :1][x > 0] = -1.0
        squeeze[:, -1:][rest > 0] = -1.0
        powers = np.hstack([x, rest])
        n = len(counts)
        return cls(rows[:n], rows[n:], edges, squeeze, log_top, powers)


def _equal_cells(x: Floats, rest: Floats) -> Floats:
    """Quantiles 0, 1/CELLS, …, 1 of Beta(x + 1, rest + 1), the upper half from above."""
    share = np.arange(1, CELLS // 2 + 1) / CELLS
    lower = betaincinv(x + 1, rest + 1, share)
    upper = betainccinv(x + 1, rest + 1, share[-2::-1])
    edges = np.hstack([np.zeros_like(x), lower, upper, np.ones_like(x)])
    return np.asarray(edges, dtype=np.float64)


def _log_density(p: Floats, x: Floats, rest: Floats) -> Floats:
    """log p^x (1 − p)^rest."""
    return np.asarray(xlogy(x, p) + xlog1py(rest, -p), dtype=np.float64)


def arc_edges(rates: Floats, challenges: Ints, tau: float) -> Floats:
    """Equally likely cells of φ = arcsin √p from which error probabilities are proposed, (n, ·).

    φ spreads about √(1 + (N − 1)τ)/(2√N) around arcsin √(X/N). Most cells are for that, with half
    as much again; the rest for the case that τ is larger, up to all of [0, π/2].
    """
    return np.stack([_arc_row(*each, tau) for each in zip(rates, challenges, strict=True)])


def _arc_row(rate: float, challenges: int, tau: float) -> Floats:
    centre, end = np.arcsin(np.sqrt(rate)), np.pi / 2
    widths = [0.75 * np.sqrt((1 + (challenges - 1) * tau) / challenges)]
    while widths[-1] < end:
        widths.append(3 * widths[-1])
    points = np.clip(centre + np.outer(widths, np.linspace(-6, 6, 2001)), 0.0, end)
    points = np.unique(np.append(points, [0.0, end]))
    cdf = np.zeros_like(points)
    for i, width in enumerate(widths):
        below = ndtr((points - centre) / width)
        share = 0.85 if i == 0 else 0.15 / (len(widths) - 1)
        cdf += share * (below - below[0]) / (below[-1] - below[0])
    edges = np.interp(np.linspace(0, 1, CELLS + 1), cdf / cdf[-1], points)
    return np.asarray(edges, dtype=np.float64)


def arc_width(edges: Floats, p: Floats) -> Floats:
    """The width of the cell that arcsin √p is in, row by row."""
    angle = np.arcsin(np.sqrt(p))
    cells = [np.searchsorted(row, each) for row, each in zip(edges, angle, strict=True)]
    right = np.clip(cells, 1, CELLS)
    rows = np.arange(len(edges))
    return np.asarray(edges[rows, right] - edges[rows, right - 1], dtype=np.float64)
