"""What several chains found out about every record: guesses, and their chances of success.

Records that agree in all known columns are exchangeable, so they share one posterior: what chains
found out about any of them counts for all. A chain that never swaps two of them is no worse for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc

from reconbench.attacks.base import AttackerView, BestPossible
from reconbench.attacks.metrics import ExactMatch
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
    """Posteriors of all records, as each chain sees them."""

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
    posteriors: Posteriors, view: AttackerView, tables: Codes, converged: bool
) -> BestPossible:
    """Each chain judges the guess of the others, so that no guess profits from its own noise.

    ``tables`` are hidden columns that the chains went through, (draws, chains, n, targets). Given
    the release the truth is distributed as they are, and records depend on each other, so the
    number of successes is counted table by table.
    """
    everyone = range(posteriors.chains)
    judged, batches = [], []
    counts: list[Codes] = []
    for chain in everyone:
        guess = posteriors.guess([other for other in everyone if other != chain])
        judged.append(posteriors.success(chain, guess).sum())
        batches.append(posteriors.judge(chain, guess))
        drawn = tables[:, chain].reshape(-1, len(view.targets)).astype(np.int64)
        guessed = np.tile(guess, (len(tables), 1))
        hits = view.metric.score(
            Table(view.target_domain, drawn), Table(view.target_domain, guessed)
        )
        counts.append(hits.reshape(len(tables), -1).sum(axis=1))
    error = estimate_error(np.array(judged), np.array(batches))
    successes = CompactTail.of_draws(view.n, np.concatenate(counts)) if converged else None
    return BestPossible(float(np.mean(judged)), error, converged, successes)


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
    _, group = np.unique(known.codes, axis=0, return_inverse=True)
    return np.asarray(group.ravel(), dtype=np.int64)


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
        return self.view.metric.decide([self.chances[list(chains)].mean(axis=0)])[self.group]

    def success(self, chain: int, guess: Codes) -> Floats:
        return self._success(self.chances[chain], guess)

    def judge(self, chain: int, guess: Codes) -> Floats:
        batches = self.chances[None] if self.batches is None else self.batches
        return np.asarray(self._success(batches[:, chain], guess).sum(axis=-1))

    def _success(self, chances: Floats, guess: Codes) -> Floats:
        """From probabilities by group, (…, groups, V), those of each record's success, (…, n)."""
        if isinstance(self.view.metric, ExactMatch):
            return np.asarray(chances[..., self.group, guess[:, 0]])
        domain = self.view.target_domain
        table, total = Table(domain, guess), np.zeros((*chances.shape[:-2], len(guess)))
        for v in range(chances.shape[-1]):
            truth = Table(domain, np.full((len(guess), 1), v))
            total += chances[..., self.group, v] * self.view.metric.score(truth, table)
        return np.asarray(np.clip(total, 0.0, 1.0))


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
    ) -> None:
        """``draws``: chains, groups, codes (m, targets), weights; a piece per sweep and chain."""
        self._group = group
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
        return self._codes[self._ranked(chains)[self._starts]][self._group]

    def likeliest(self, count: int) -> Codes:
        """The ``count`` likeliest values of every group, (groups, count, targets); the last one
        repeats where fewer were drawn."""
        ranked = self._ranked(range(self.chains))
        ends = np.append(self._starts[1:], len(ranked))
        wanted = np.minimum(self._starts[:, None] + np.arange(count), ends[:, None] - 1)
        likeliest: Codes = self._codes[ranked[wanted]]
        return likeliest

    def success(self, chain: int, guess: Codes) -> Floats:
        index = self._find(guess)
        return np.where(index < 0, 0.0, self.shares[chain][index])

    def judge(self, chain: int, guess: Codes) -> Floats:
        """Batches without a sweep are left out."""
        mine = self._draw_chain == chain
        index, weight = self._draw_index[mine], self._draw_weight[mine]
        batch = self._draw_batch[mine].astype(np.int64)
        groups, values = len(self._starts), len(self._owners)
        owned = np.bincount(batch * groups + self._owners[index], weight, BATCHES * groups)
        drawn = np.bincount(batch * values + index, weight, BATCHES * values)
        owned, drawn = owned.reshape(BATCHES, groups), drawn.reshape(BATCHES, values)
        used, found = owned.any(axis=1), self._find(guess)
        right = np.where(found < 0, 0.0, drawn[used][:, found])
        return np.asarray((right / owned[used][:, self._group]).sum(axis=1))

    def _find(self, guess: Codes) -> Codes:
        """The index of each record's guess among the values of its group; −1 if never drawn."""
        own = np.column_stack([self._group, guess])
        asked, which = np.unique(own, axis=0, return_inverse=True)
        ends = np.append(self._starts[1:], len(self._owners))
        index = np.full(len(asked), -1)
        for row, (group, *codes) in enumerate(asked):
            start = self._starts[group]
            same = (self._codes[start : ends[group]] == codes).all(axis=1)
            if same.any():
                index[row] = start + int(same.argmax())
        return index[which.reshape(-1)]

    def _ranked(self, chains: Sequence[int]) -> Codes:
        """All values, by group and falling probability."""
        mean = self.shares[list(chains)].mean(axis=0)
        if self._watched is not None:
            chances = self._watched.chances(chains)
            index = self._watched_index.reshape(chances.shape)
            together = mean[index].sum(axis=1, keepdims=True)
            mean[index] = together * chances / chances.sum(axis=1, keepdims=True)
        return np.lexsort((-mean, self._owners))
