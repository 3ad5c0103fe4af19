"""Compiled sweeps over the joint values of several columns: single records, and trades of two.

Let U run over the parts that hidden columns have in the measured sets, x_U be a joint value in the
columns U, and G_U[g, h] add up the scales of the sets with just these hidden columns on whose known
columns the known rows g and h agree. Two records share cells that weigh Σ_U G_U[g, h] 1[x_U = y_U].
So with B[g, v] the scaled sum of the answers in the cells of a record of row g and joint value v,
    log P(v | all other records) = log π_g(v) + w (B[g, v] − Σ_U Σ_j G_U[g, g_j] 1[x_jU = v_U]),
up to a constant, and the sums over j move along with the table: no cell is looked at. They are
``pulled[place[v, U] + g]``, and as all rows see the same of sets without known columns, for which
``own[U]`` is 0, ``pulled[place[v, U]]`` there.

Joint values are numbered in row-major order: column c of value v is ``codes[v, c]``, and the next
value of that column is ``strides[c]`` further on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.compilation import vectorised

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Values whose probability is below exp(−NEGLIGIBLE) of the largest are left out.
NEGLIGIBLE = 30.0
# Trades whose odds add up to less than this are not tried, and the odds of no trade.
HOPELESS = 1e-12
STAY = 0.1


@vectorised
def shift_changed(pulled: Floats, gram: Floats, own: Codes, old: Codes, new: Codes, g: int) -> None:
    """A record of row g changes from the parts ``old`` to the parts ``new``."""
    rows = gram.shape[2]
    for part in range(len(old)):
        first, second = old[part], new[part]
        if first != second:
            for h in range(rows if own[part] else 1):
                pulled[first + h] -= gram[part, g, h]
                pulled[second + h] += gram[part, g, h]


@vectorised
def shift_row(pulled: Floats, gram: Floats, own: Codes, place: Codes, g: int, by: float) -> None:
    """Count a record of row g in or out, in what its own row sees alone."""
    for part in range(len(place)):
        pulled[place[part] + g * own[part]] += by * gram[part, g, g]


@vectorised
def sweep_columns(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    codes: Codes,
    strides: Codes,
    sizes: Codes,
    gathered: Floats,
    log_prior: Floats,
    group: Codes,
    w: float,
    order: Codes,
    uniforms: Floats,
    logits: Floats,
    kept_values: Codes,
    kept_weights: Floats,
) -> None:
    """Every hidden column of every record once, given the others; records in the given order.

    The values that a record may take so, and their probabilities over the number of columns, are
    left in ``kept_values`` and ``kept_weights``, (n, Σ sizes), unless these are empty.
    """
    columns = len(strides)
    for i in order:
        g, end = group[i], 0
        for c in range(columns):
            old = x[i]
            shift_row(pulled, gram, own, place[old], g, -1.0)
            base = old - codes[old, c] * strides[c]
            top = -1e300
            for v in range(sizes[c]):
                value = base + v * strides[c]
                total = gathered[g, value]
                for part in range(place.shape[1]):
                    total -= pulled[place[value, part] + g * own[part]]
                logits[v] = log_prior[g, value] + w * total
                top = max(top, logits[v])
            shift_row(pulled, gram, own, place[old], g, 1.0)
            total = 0.0
            for v in range(sizes[c]):
                gap = logits[v] - top
                logits[v] = np.exp(gap) if gap > -NEGLIGIBLE else 0.0
                total += logits[v]
            uniform, new = uniforms[c, i] * total, old
            for v in range(sizes[c]):
                if logits[v] > 0.0:
                    new = base + v * strides[c]
                    uniform -= logits[v]
                    if uniform < 0.0:
                        break
            if len(kept_values) > 0:
                for v in range(sizes[c]):
                    kept_values[i, end + v] = base + v * strides[c]
                    kept_weights[i, end + v] = logits[v] / total
                end += sizes[c]
            if new != old:
                x[i] = new
                shift_changed(pulled, gram, own, place[old], place[new], g)


@vectorised
def sweep_fresh(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    gathered: Floats,
    below: Floats,
    group: Codes,
    w: float,
    uniforms: Floats,
) -> None:
    """Every record is offered one draw of all its hidden columns from the prior (Metropolis).

    ``below[g]`` are the cumulative prior probabilities of known row g. At high noise most are
    taken; a prior that allows few joint values cannot lock up a record.
    """
    for i in range(len(x)):
        g, old = group[i], x[i]
        new = np.searchsorted(below[g], uniforms[0, i] * below[g, -1], side="right")
        if new == old:
            continue
        gain = gathered[g, new] - gathered[g, old]
        for part in range(place.shape[1]):
            if place[new, part] != place[old, part]:
                row = g * own[part]
                gain -= pulled[place[new, part] + row] - pulled[place[old, part] + row]
                gain -= gram[part, g, g]
        if np.log(uniforms[1, i]) < w * gain:
            x[i] = new
            shift_changed(pulled, gram, own, place[old], place[new], g)


@vectorised
def trade_odds(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    gathered: Floats,
    log_prior: Floats,
    group: Codes,
    partners: Codes,
    codes: Codes,
    strides: Codes,
    w: float,
    i: int,
    odds: Floats,
) -> float:
    """min(1, ratio of posteriors) of every trade of record i, in ``odds``; returns their sum.

    Partner q trades column c at q (d + 1) + c, and all d columns at q (d + 1) + d. Trading u, v
    for a, b changes half the squared error by B_g(u) − B_g(a) + B_h(v) − B_h(b) and, with P_g what
    row g sees of all records, these two among them, in every part by
        P_g(a) − P_g(u) + P_h(b) − P_h(v) + G_gg 1[a ≠ u] + G_hh 1[b ≠ v]
        + G_gh (1[u = v] − 1[a = v] − 1[u = b] + 1[a = b]).
    """
    g, u, total = group[i], x[i], 0.0
    d, parts = len(strides), place.shape[1]
    for q in range(partners.shape[1]):
        j = partners[i, q]
        h, v = group[j], x[j]
        for c in range(d + 1):
            index = q * (d + 1) + c
            odds[index] = 0.0
            if c < d:
                step = (codes[v, c] - codes[u, c]) * strides[c]
                a, b = u + step, v - step
            else:
                a, b = v, u
            # records of one known row are alike: for them a trade of all columns changes nothing
            if a == u or (c < d and a == v) or (c == d and g == h):
                continue
            gain = log_prior[g, a] + log_prior[h, b] - log_prior[g, u] - log_prior[h, v]
            worse = gathered[g, u] + gathered[h, v] - gathered[g, a] - gathered[h, b]
            for part in range(parts):
                pu, pv, pa, pb = place[u, part], place[v, part], place[a, part], place[b, part]
                if pa == pu:  # and so pb == pv: the two trade nothing that this part sees
                    continue
                mine, theirs = g * own[part], h * own[part]
                worse += pulled[pa + mine] - pulled[pu + mine]
                worse += pulled[pb + theirs] - pulled[pv + theirs]
                worse += gram[part, g, g] + gram[part, h, h]
                worse += gram[part, g, h] * (
                    int(pu == pv) - int(pa == pv) - int(pu == pb) + int(pa == pb)
                )
            gain -= w * worse
            if gain > -NEGLIGIBLE:
                odds[index] = np.exp(min(gain, 0.0))
                total += odds[index]
    return total


@vectorised
def trade(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    group: Codes,
    codes: Codes,
    strides: Codes,
    i: int,
    j: int,
    c: int,
) -> None:
    """Records i and j trade column c, or all columns if c is their number."""
    u, v = x[i], x[j]
    a, b = v, u
    if c < len(strides):
        step = (codes[v, c] - codes[u, c]) * strides[c]
        a, b = u + step, v - step
    g, h = group[i], group[j]
    x[i], x[j] = a, b
    shift_changed(pulled, gram, own, place[u], place[a], g)
    shift_changed(pulled, gram, own, place[v], place[b], h)


@vectorised
def sweep_trades(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    gathered: Floats,
    log_prior: Floats,
    group: Codes,
    partners: Codes,
    codes: Codes,
    strides: Codes,
    w: float,
    uniforms: Floats,
    odds: Floats,
) -> None:
    """Every record may trade with one of its partners, drawn by the odds of the trade.

    It is accepted by the ratio of the sums of odds before and after (Zanella 2020, locally
    balanced proposals): where nearly every trade is hopeless, the few good ones are found. To stay
    has odds of STAY: see ``gibbs.gram_trades``.
    """
    kinds = len(strides) + 1
    state = (x, pulled, gram, own, place, gathered, log_prior, group, partners, codes, strides, w)
    for i in range(len(x)):
        before = trade_odds(*state, i, odds)
        uniform, chosen = uniforms[0, i] * (before + STAY), 0
        if before < HOPELESS or uniform >= before:
            continue
        for index in range(len(odds)):
            if odds[index] > 0.0:
                chosen = index
                uniform -= odds[index]
                if uniform < 0.0:
                    break
        j, c = partners[i, chosen // kinds], chosen % kinds
        trade(x, pulled, gram, own, place, group, codes, strides, i, j, c)
        after = trade_odds(*state, i, odds)
        if uniforms[1, i] * (after + STAY) >= before + STAY:
            trade(x, pulled, gram, own, place, group, codes, strides, i, j, c)


@vectorised
def joint_round(
    x: Codes,
    pulled: Floats,
    gram: Floats,
    own: Codes,
    place: Codes,
    codes: Codes,
    strides: Codes,
    sizes: Codes,
    gathered: Floats,
    log_prior: Floats,
    below: Floats,
    group: Codes,
    partners: Codes,
    at: Codes,
    weights: Floats,
    order: Codes,
    uniforms: Floats,
    kept_values: Codes,
    kept_weights: Floats,
    errors: Floats,
) -> None:
    """Trades and sweeps of the replicas ``at[level]`` of a chain; those of the last level are kept.

    ``uniforms`` are (levels, 4 + columns, n). ``errors`` become the squared errors of the replicas,
    up to a constant.
    """
    logits = np.empty(sizes.max())
    odds = np.empty(partners.shape[1] * (len(strides) + 1))
    for level in range(len(at)):
        r, w = at[level], weights[level]
        mine = uniforms[level]
        last = level == len(at) - 1
        sweep_fresh(x[r], pulled[r], gram, own, place, gathered, below, group, w, mine[2:4])
        sweep_trades(
            x[r],
            pulled[r],
            gram,
            own,
            place,
            gathered,
            log_prior,
            group,
            partners,
            codes,
            strides,
            w,
            mine[:2],
            odds,
        )
        sweep_columns(
            x[r],
            pulled[r],
            gram,
            own,
            place,
            codes,
            strides,
            sizes,
            gathered,
            log_prior,
            group,
            w,
            order,
            mine[4:],
            logits,
            kept_values if last else kept_values[:0],
            kept_weights if last else kept_weights[:0],
        )
        error = 0.0
        for i in range(len(group)):
            v, g = x[r, i], group[i]
            error -= 2 * gathered[g, v]
            for part in range(place.shape[1]):
                error += pulled[r, place[v, part] + g * own[part]]
        errors[level] = error
