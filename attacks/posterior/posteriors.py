"""What several chains found out about every record: guesses, and their chances of success.

Records that agree in all known columns are exchangeable, so they share one posterior: what chains
found out about any of them counts for all. A chain that never swaps two of them is no worse for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc

from reconbench.attacks.base import AttackerView, BestPossible
from reconbench.attacks.metrics import ExactMatch, scores_by_record
from reconbench.bounds import CompactTail
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WORD = 1 << 62
TINY = 1e-300
# Each chain is cut into this many batches, to learn how much its mean varies.
BATCHES = 4
# Chains and batches are taken to vary alike unless an F test contradicts at this level. So high a
# level is usual before pooling two variances (Bancroft 1964): missing a difference costs more.
POOLED = 0.25


class Posteriors(Protocol):
    """Posteriors of all records, as each chain sees them.

    Guesses that are judged may be those of the first records alone.
    """

    @property
    def chains(self) -> int: ...

    def guess(self, chains: Sequence[int]) -> Codes:
        """The best guess by the given chains, (n, targets)."""
        ...

    def success(self, chain: int, guess: Codes) -> Floats:
        """The chance, in one chain's eyes, that each record's guess succeeds."""
        ...

    def judge(self, chain: int, guess: Codes) -> Floats:
        """The successes that each batch of one chain expects of a guess, (batches,)."""
        ...


def estimate_best_possible(
    posteriors: Posteriors,
    view: AttackerView,
    tables: Codes,
    converged: bool,
    records: int | None = None,
) -> BestPossible:
    """Each chain judges the guess of the others, so that no guess profits from its own noise.

    ``tables`` are hidden columns that the chains went through, (draws, chains, n, targets), or
    counts of their values, (draws, chains, rows, V). Given the release the truth is distributed as
    they are, and records depend on each other, so the number of successes is counted table by
    table. ``records`` of them count, the first ones; all by default. Counts do not say which
    records are among the first.
    """
    count = view.n if records is None else records
    counted = isinstance(posteriors, CountPosteriors)
    everyone = range(posteriors.chains)
    judged, batches = [], []
    counts: list[Codes] = []
    for chain in everyone:
        guess = posteriors.guess([other for other in everyone if other != chain])[:count]
        judged.append(posteriors.success(chain, guess).sum())
        batches.append(posteriors.judge(chain, guess))
        if converged and not (counted and count < view.n):
            counts.append(count_successes(posteriors, view, tables[:, chain], guess))
    expected, error = float(np.mean(judged)), estimate_error(np.array(judged), np.array(batches))
    if isinstance(posteriors, CountPosteriors):
        expected, doubt = posteriors.remove_bias(expected, count)
        error = hypot(error, doubt)
    successes = CompactTail.of_draws(count, np.concatenate(counts)) if counts else None
    return BestPossible(expected, error, converged, successes)


def count_successes(
    posteriors: Posteriors, view: AttackerView, tables: Codes, guess: Codes
) -> Codes:
    """How many records of each table a guess is right about.

    Tables are (draws, n, targets), or counts of their values, (draws, rows, V). Guesses may be
    those of the first records alone.
    """
    if isinstance(posteriors, CountPosteriors):
        return posteriors.count_successes(tables, guess)
    drawn = tables[:, : len(guess)].reshape(-1, len(view.targets)).astype(np.int64)
    guessed = np.tile(guess, (len(tables), 1))
    hits = view.metric.score(Table(view.target_domain, drawn), Table(view.target_domain, guessed))
    return np.asarray(hits.reshape(len(tables), -1).sum(axis=1))


def complete_table(posteriors: Posteriors, view: AttackerView, table: Codes) -> Table:
    """The known and hidden columns of a table that a chain went through, (n, targets) or counts of
    its values, (rows, V). Records may change their order."""
    table = table.astype(np.int64)
    if not isinstance(posteriors, CountPosteriors):
        return view.known.join(Table(view.target_domain, table))
    rows, _ = view.known.distinct()
    row = np.repeat(np.arange(len(rows)), table.sum(axis=1))
    values = np.repeat(np.tile(np.arange(table.shape[1]), len(rows)), table.ravel())
    known = Table(rows.domain, rows.codes[row])
    return known.join(Table(view.target_domain, values[:, None]))


def estimate_error(judged: Floats, batches: Floats) -> float:
    """The standard error of the mean of C chains, each cut into B batches, (C, B).

    The spread of C = 4 chains alone has 3 degrees of freedom: as an estimate of σ² it is unbiased,
    but errors beyond twice its root are three times as frequent as for a normal variable, and its
    median is 11 % too small. Where consecutive batches are as good as independent,
        B Var(chain means) = MS between, and MS within, the variance of batches in a chain,
    estimate the same variance, and pooled have CB − 1 = 15 degrees of freedom. Where chains vary
    more than their batches do, because they mix slowly, their own spread counts.
    """
    chains, count = batches.shape
    between = count * float(np.var(judged, ddof=1))
    own = float(np.var(batches, axis=1, ddof=1).mean()) if count > 1 else 0.0
    if own <= 0 or fdtrc(chains - 1, chains * (count - 1), between / own) < POOLED:
        pooled = between
    else:
        # ((C − 1) MS between + C (B − 1) MS within) / (CB − 1)
        weights = np.array([chains - 1, chains * (count - 1)])
        pooled = float(weights @ [between, own] / weights.sum())
    return float(np.sqrt(pooled / (chains * count)))


def number_groups(known: Table) -> Codes:
    """The number of each record's known values: the same for records that agree in all."""
    return known.distinct()[1]


def number_values(owners: Codes, codes: Codes, sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Number the distinct values of each owner, by owner; and the first row of each of them.

    Codes, (m, columns), are packed into as few whole numbers as hold them.
    """
    words, room = [np.zeros(len(codes), dtype=np.int64)], WORD
    for size, column in zip(sizes, codes.T, strict=True):
        if size > room:
            words.append(np.zeros(len(codes), dtype=np.int64))
            room = WORD
        words[-1] = words[-1] * size + column
        room //= size
    order = np.lexsort((*words, owners))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in (*words, owners)], axis=0)
    index = np.empty(len(order), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    return index, order[new]


def sum_by_group(values: Floats, group: Codes) -> Floats:
    """Sums over the records of each group, along the middle one of three axes."""
    total = np.zeros((int(group.max()) + 1, len(values), values.shape[2]))
    np.add.at(total, group, values.transpose(1, 0, 2))
    return total.transpose(1, 0, 2)


@dataclass(frozen=True)
class ColumnPosteriors:
    """One hidden column: probabilities by group of records, (chains, groups, V), and the same by
    batch, (batches, chains, groups, V); ``group`` is the number of each record's.

    Exact probabilities are one chain and need no batches.
    """

    view: AttackerView
    group: Codes
    chances: Floats
    batches: Floats | None = None

    @classmethod
    def of(cls, view: AttackerView, sums: Floats) -> ColumnPosteriors:
        """From what was kept in each batch, (batches, chains, n, V)."""
        group = number_groups(view.known)

        def normalise(kept: Floats) -> Floats:
            total = sum_by_group(kept, group)
            return np.asarray(total / total.sum(axis=2, keepdims=True))

        used = [kept for kept in sums if kept.any()]
        batches = np.array([normalise(kept) for kept in used])
        return cls(view, group, normalise(sums.sum(axis=0)), batches)

    @property
    def chains(self) -> int:
        return len(self.chances)

    def guess(self, chains: Sequence[int]) -> Codes:
        chances = self.chances[list(chains)].mean(axis=0)
        if scores_by_record(self.view.metric):
            return self.view.metric.decide([chances])[self.group]
        return self.view.metric.decide([chances[self.group]])

    def success(self, chain: int, guess: Codes) -> Floats:
        return self._success(self.chances[chain], guess)

    def judge(self, chain: int, guess: Codes) -> Floats:
        batches = self.chances[None] if self.batches is None else self.batches
        return np.asarray(self._success(batches[:, chain], guess).sum(axis=-1))

    def _success(self, chances: Floats, guess: Codes) -> Floats:
        """From probabilities by group, (…, groups, V), those of each record's success, (…, n)."""
        group = self.group[: len(guess)]
        if isinstance(self.view.metric, ExactMatch):
            return np.asarray(chances[..., group, guess[:, 0]])
        domain = self.view.target_domain
        table, total = Table(domain, guess), np.zeros((*chances.shape[:-2], len(guess)))
        for v in range(chances.shape[-1]):
            truth = Table(domain, np.full((len(guess), 1), v))
            total += chances[..., group, v] * self.view.metric.score(truth, table)
        return np.asarray(np.clip(total, 0.0, 1.0))


@dataclass(frozen=True)
class CountPosteriors(ColumnPosteriors):
    """The same on a long table: what can be is computed for distinct known rows, not for records.

    Groups are the distinct known rows.
    """

    @classmethod
    def of_shares(cls, view: AttackerView, group: Codes, sums: Floats) -> CountPosteriors:
        """From the shares of values that were kept in each batch, (batches, chains, rows, V)."""
        batches = np.array([_normalise(kept) for kept in sums if kept.any()])
        return cls(view, group, _normalise(sums.sum(axis=0)), batches)

    def remove_bias(self, judged: float, records: int) -> tuple[float, float]:
        """The expected successes of the best guess, and how much of its correction is in doubt.

        ``records`` of them were judged, the first ones.

        On a long table many records nearly tie. Guesses of C − 1 chains that another one judges
        lose some of these: they are worth s²/(C − 1) below the best, s² going by the noise of a
        chain. All C chains judging their own guess overstate the best by s²/C: for two values whose
        probabilities differ by δ̂ = δ + noise, ∫ (E |δ̂| − |δ|) dδ = ∫ (|δ| − E sign(δ̂) δ) dδ, so
        this holds where ties are as dense as near-ties. A quarter of the gap is left as doubt.
        """
        own = self._worth(self.chances.mean(axis=0))
        guess = self.guess(range(self.chains))[:records]
        gap = float((own * self._tally(guess)).sum()) - judged
        return judged + gap * self.chains / (2 * self.chains - 1), abs(gap) / 4

    def judge(self, chain: int, guess: Codes) -> Floats:
        batches = self.chances[None] if self.batches is None else self.batches
        return np.asarray((self._worth(batches[:, chain]) * self._tally(guess)).sum(axis=(1, 2)))

    def count_successes(self, counts: Codes, guess: Codes) -> Codes:
        """How many records a guess is right about, for counts of values, (draws, rows, V).

        Which record of a row has which value is uniform given the counts: where guesses for the
        records of a row differ, so does the number of successes, and its mean is rounded.
        """
        # Each record of a row has the share of its guesses that the row's values succeed with.
        tally = self._tally(guess)
        right = self._worth(np.eye(tally.shape[1])) @ (tally / tally.sum(axis=1, keepdims=True)).T
        return np.asarray(np.rint(np.einsum("dgv,vg->d", counts, right)), dtype=np.int64)

    def _success(self, chances: Floats, guess: Codes) -> Floats:
        return np.asarray(self._worth(chances)[..., self.group[: len(guess)], guess[:, 0]])

    def _tally(self, guess: Codes) -> Codes:
        """How many records of every row have which guess, (rows, V)."""
        shape = self.chances.shape[1:]
        flat = self.group[: len(guess)] * shape[1] + guess[:, 0]
        return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)

    def _worth(self, chances: Floats) -> Floats:
        """The chance of success of every guess, (…, V), from the chances of every value."""
        if isinstance(self.view.metric, ExactMatch):
            return chances
        every = Table.of_all_values(self.view.target_domain).codes
        truth, guess = np.repeat(every, len(every), axis=0), np.tile(every, (len(every), 1))
        domain = self.view.target_domain
        hits = self.view.metric.score(Table(domain, truth), Table(domain, guess))
        return np.asarray(np.clip(chances @ hits.reshape(len(every), -1), 0.0, 1.0))


def _normalise(shares: Floats) -> Floats:
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Watched:
    """Values of each group of records that were followed closely: codes (groups, C, targets), log
    prior (groups, C), and for each chain the sum of their likelihoods over the mean one,
    (chains, groups, C)."""

    codes: Codes
    log_prior: Floats
    odds: Floats

    def chances(self, chains: Sequence[int]) -> Floats:
        """Posteriors up to a factor for each group, (groups, C)."""
        logits = self.log_prior + np.log(np.maximum(self.odds[list(chains)].mean(axis=0), TINY))
        return np.asarray(np.exp(logits - logits.max(axis=1, keepdims=True)))


class JointPosteriors:
    """Several hidden columns: joint values that were drawn, with their weights.

    Values are packed into as few whole numbers as hold them and sorted by group, so that equal
    ones stand together; ``shares``, (chains, values), is each chain's probability of each. Shares
    are unbiased but noisy where hardly a value repeats: among the watched values the guess goes by
    their prior and likelihood, scaled to the share they have together.
    """

    def __init__(
        self,
        group: Codes,
        sizes: Sequence[int],
        draws: Sequence[tuple[Codes, Codes, Codes, Floats]],
        watched: Watched | None = None,
        view: AttackerView | None = None,
    ) -> None:
        """``draws``: chains, groups, codes (m, targets), weights; a piece per sweep and chain.

        Guesses are for the metric of the view; without one, for an exact match.
        """
        self._group = group
        exact = view is None or isinstance(view.metric, ExactMatch)
        self._view = None if exact else view
        chains, owners, codes, weights = (
            np.concatenate(parts) for parts in zip(*draws, strict=True)
        )
        self._watched = watched
        self.chains = int(chains.max()) + 1
        extra = 0
        if watched is not None:
            count, extra = watched.codes.shape[1], watched.log_prior.size
            chains = np.append(chains, np.zeros(extra, dtype=np.int64))
            owners = np.append(owners, np.repeat(np.arange(extra // count), count))
            codes = np.concatenate([codes, watched.codes.reshape(extra, -1)])
            weights = np.append(weights, np.zeros(extra))
        index, first = number_values(owners, codes, sizes)
        self._owners, self._codes = owners[first], codes[first].astype(np.int64)
        self.shares = np.zeros((self.chains, len(first)))
        np.add.at(self.shares, (chains, index), weights)
        self._drawn = len(index) - extra
        self._draw_chain, self._draw_index = chains[: self._drawn], index[: self._drawn]
        self._draw_weight = weights[: self._drawn]
        sweep = np.repeat(np.arange(len(draws)) // self.chains, [len(part[0]) for part in draws])
        self._draw_batch = (sweep * BATCHES // (len(draws) // self.chains)).astype(np.int8)
        self._starts = np.flatnonzero(np.diff(self._owners, prepend=-1))
        self.shares /= np.add.reduceat(self.shares, self._starts, axis=1)[:, self._owners]
        self._watched_index = index[len(index) - extra :]

    def guess(self, chains: Sequence[int]) -> Codes:
        if self._view is None:
            return self._codes[self._ranked(chains)[self._starts]][self._group]
        decide, domain = self._view.metric.decide_joint, self._view.target_domain
        weights, ends = self._weigh(chains), np.append(self._starts[1:], len(self._owners))
        parts = [slice(*pair) for pair in zip(self._starts, ends, strict=True)]
        best = [decide(domain, self._codes[part], weights[part]) for part in parts]
        return np.array(best)[self._group]

    def likeliest(self, count: int) -> Codes:
        """The ``count`` likeliest values of every group, (groups, count, targets); the last one
        repeats where fewer were drawn."""
        ranked = self._ranked(range(self.chains))
        ends = np.append(self._starts[1:], len(ranked))
        wanted = np.minimum(self._starts[:, None] + np.arange(count), ends[:, None] - 1)
        likeliest: Codes = self._codes[ranked[wanted]]
        return likeliest

    def success(self, chain: int, guess: Codes) -> Floats:
        return np.asarray(self._sum_hits(self.shares[chain][None], guess)[0])

    def judge(self, chain: int, guess: Codes) -> Floats:
        """Batches without a sweep are left out."""
        mine = self._draw_chain == chain
        index, weight = self._draw_index[mine], self._draw_weight[mine]
        batch = self._draw_batch[mine].astype(np.int64)
        groups, values = len(self._starts), len(self._owners)
        owned = np.bincount(batch * groups + self._owners[index], weight, BATCHES * groups)
        drawn = np.bincount(batch * values + index, weight, BATCHES * values)
        owned, drawn = owned.reshape(BATCHES, groups), drawn.reshape(BATCHES, values)
        used = owned.any(axis=1)
        right = self._sum_hits(drawn[used].astype(np.float64), guess)
        return np.asarray((right / owned[used][:, self._group[: len(guess)]]).sum(axis=1))

    def _sum_hits(self, weights: Floats, guess: Codes) -> Floats:
        """Of weights of all values, (…, values), those that each record's guess hits, (…, n)."""
        if self._view is not None and not scores_by_record(self._view.metric):
            domain = self._view.target_domain
            hits = self._view.metric.score(Table(domain, self._codes), Table(domain, guess))
            totals = np.add.reduceat(weights * hits, self._starts, axis=1)
            return np.asarray(totals[:, self._group[: len(guess)]])
        own = np.column_stack([self._group[: len(guess)], guess])
        asked, which = np.unique(own, axis=0, return_inverse=True)
        ends = np.append(self._starts[1:], len(self._owners))
        total = np.zeros((len(weights), len(asked)))
        for row, (group, *codes) in enumerate(asked):
            part = slice(self._starts[group], ends[group])
            total[:, row] = weights[:, part] @ self._find_hits(self._codes[part], codes)
        return total[:, which.reshape(-1)]

    def _find_hits(self, values: Codes, guess: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Which values a guess succeeds on."""
        if self._view is None:
            return np.asarray((values == guess).all(axis=1))
        domain = self._view.target_domain
        repeated = np.tile(guess, (len(values), 1))
        return self._view.metric.score(Table(domain, values), Table(domain, repeated))

    def _ranked(self, chains: Sequence[int]) -> Codes:
        """All values, by group and falling probability."""
        return np.lexsort((-self._weigh(chains), self._owners))

    def _weigh(self, chains: Sequence[int]) -> Floats:
        """The probability of every value."""
        mean = self.shares[list(chains)].mean(axis=0)
        if self._watched is not None:
            chances = self._watched.chances(chains)
            index = self._watched_index.reshape(chances.shape)
            together = mean[index].sum(axis=1, keepdims=True)
            mean[index] = together * chances / chances.sum(axis=1, keepdims=True)
        return np.asarray(mean)
