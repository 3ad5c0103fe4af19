"""The Bayes-optimal attack on Gaussian marginals: Markov chain Monte Carlo on the hidden columns.

Records x_i are independent given what is known of them, and the noise is Gaussian, so
    log p(x | release) = Σ_i log π(x_i | known_i) − ‖Q(x) − answers‖² / (2 noise_sd²) + const
with Q the marginals. Guessing, for every record, what the metric likes best under its posterior
has the largest expected success of all attacks; that expectation is reported with its error.

Gibbs sweeps (`_gibbs`) draw from this posterior. At low noise they would stick, so the likelihood
is tempered: replicas at several noise levels, from one at which sweeps mix to the true one, are
annealed side by side and trade places (parallel tempering); only the true level is counted. With
no noise at all the coldest level is `_gibbs.COLD`, at which a table that fits is beyond others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks._api import AttackError, AttackerView, Reconstruction
from reconbench.attacks._gibbs import (
    cell_sweep,
    effective_size,
    exchange,
    fresh_sweep,
    gram_sweep,
    logs,
    near_of,
    noise_levels,
    split_rhat,
)
from reconbench.attacks.marginal_fit import ReleaseParts, shared_parts
from reconbench.attacks.rap import draw_hidden
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

GRAM_LIMIT = 2_000
REPLICA_CELLS = 1 << 26
# Chains that disagree more than this are reported as not converged.
RHAT_LIMIT = 1.1
# What the smoothed estimate of a joint posterior counts for, in draws.
PSEUDO_DRAWS = 20.0
CANDIDATES = 50
# Joint priors of several hidden columns are listed up to this many numbers.
JOINT_LIMIT = 1 << 17


class Posterior:
    """Guess what the metric likes best under the posterior of each record."""

    name: ClassVar[str] = "posterior"

    def __init__(self, chains: int = 4, sweeps: int = 200, burn_in: int = 60) -> None:
        if chains < 2:
            raise AttackError(f"posterior: chains must be at least 2 to compare, got {chains}")
        if sweeps < 4:
            raise AttackError(f"posterior: sweeps must be at least 4, got {sweeps}")
        if burn_in < 1:
            raise AttackError(f"posterior: burn_in must be at least 1, got {burn_in}")
        self.chains = chains
        self.sweeps = sweeps
        self.burn_in = burn_in

    def skip(self, view: AttackerView) -> str | None:
        if view.others is not None:
            return "posterior plays the realistic adversary only"
        if not isinstance(view.release, MarginalsRelease):
            return "posterior attacks marginals only"
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        if not isinstance(view.release, MarginalsRelease):
            raise AttackError("posterior attacks marginals only")
        gram = len(view.targets) == 1 and view.n <= GRAM_LIMIT
        model: Model = GramModel(view, view.release) if gram else CellModel(view, view.release)
        release, most = view.release, max(1, model.most_replicas // self.chains)
        levels = noise_levels(release.noise_sd, len(release.workload), most)
        runs = self._run(model, levels, rng)
        shares = _shares(runs, levels[-1], view.release.noise_sd > 0)
        guess, success = _decide(view, model, runs, shares, levels[-1])
        scores = np.clip(shares @ success, 0.0, 1.0)
        spread: float = success.sum(axis=1).std(ddof=1) / np.sqrt(self.chains)
        traces = [np.stack([getattr(run, f) for run in runs]) for f in ("errors", "log_priors")]
        rhat = max(split_rhat(trace) for trace in traces)
        info = {
            "bayes_optimal": float(scores.sum()),
            "bayes_optimal_se": float(spread),
            "rhat": rhat,
            "ess": min(effective_size(trace) for trace in traces),
            "converged": float(rhat <= RHAT_LIMIT),
            "levels": float(len(levels)),
        }
        return view.reconstruction(guess, scores, info)

    def _run(self, model: Model, levels: Floats, rng: np.random.Generator) -> list[Run]:
        """All chains side by side: annealed to the true noise level, then sampled there."""
        at = np.arange(self.chains * len(levels)).reshape(self.chains, -1)
        model.start(*at.shape, rng)
        runs = [model.new_run(self.sweeps) for _ in at]
        tops = np.geomspace(levels[0], levels[-1], self.burn_in)
        for t in range(self.burn_in + self.sweeps):
            weights = np.minimum(levels, tops[t]) if t < self.burn_in else levels
            errors = model.sweep(at, weights, rng)
            if t >= self.burn_in:
                model.keep(runs, t - self.burn_in, at[:, -1])
                for run, replica in zip(runs, at[:, -1], strict=True):
                    run.errors[t - self.burn_in] = errors[replica]
            for row, chance in zip(at, rng.random(at.shape), strict=True):
                exchange(row, weights, errors, chance, t % 2)
        return runs


@dataclass
class Run:
    """What one chain leaves: traces, and of one hidden column the sum of its conditional
    probabilities (n, V), of several the draws (sweeps, n, d′) and the mean residual."""

    errors: Floats
    log_priors: Floats
    marginals: Floats
    draws: Codes
    residual: Floats


class Model(Protocol):
    """The posterior of one game in a form that can be swept; replicas are numbered from 0."""

    @property
    def most_replicas(self) -> int:
        """How many replicas fit into memory."""
        ...

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        """Replicas drawn from the prior, one for each level of each chain."""
        ...

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        """One sweep; ``at``, (chains, levels), names the replicas. Returns the replicas' errors."""
        ...

    def new_run(self, sweeps: int) -> Run: ...

    def keep(self, runs: Sequence[Run], t: int, replicas: Codes) -> None:
        """Record the last sweep of every chain; the replicas are those of the last level."""
        ...


class GramModel:
    """One hidden column: the Gram matrix of the records and a statistic gathered once."""

    most_replicas = 256

    def __init__(self, view: AttackerView, release: MarginalsRelease) -> None:
        parts = ReleaseParts([release], view.known, view.targets)
        self._gram = shared_parts(view.known, parts.k - 1)
        gathered = parts.gathered(tuple(parts.order))[0]
        self._prior = view.prior.conditional(view.known, view.targets)
        self._gathered = np.broadcast_to(gathered, self._prior.shape).copy()
        self._log_prior = logs(self._prior)
        self._near = near_of(self._gram)

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        n, size = self._prior.shape
        self._chances = np.empty((chains, n, size))
        total = self._prior.cumsum(axis=1)
        below = total / total[:, -1:] <= rng.random((chains * levels, n, 1))
        self._x: Codes = below.sum(axis=2)
        one_hot = np.eye(size)[self._x]
        self._pulled = np.ascontiguousarray((self._gram @ one_hot).transpose(0, 2, 1))

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        errors = np.empty(at.size)
        uniforms = rng.random((*at.shape, 3, len(self._prior)))
        for (chain, level), replica in np.ndenumerate(at):
            errors[replica] = gram_sweep(
                self._gram,
                self._gathered,
                self._log_prior,
                self._x[replica],
                self._pulled[replica],
                float(weights[level]),
                uniforms[chain, level],
                self._near,
                self._chances[chain],
            )
        return errors

    def new_run(self, sweeps: int) -> Run:
        none = np.zeros((0, *self._prior.shape), dtype=np.int64)
        empty = np.zeros(sweeps)
        return Run(empty, empty.copy(), np.zeros_like(self._prior), none, np.zeros(0))

    def keep(self, runs: Sequence[Run], t: int, replicas: Codes) -> None:
        rows = np.arange(len(self._prior))
        for run, chances, x in zip(runs, self._chances, self._x[replicas], strict=True):
            run.marginals += chances / len(run.errors)
            run.log_priors[t] = self._log_prior[rows, x].sum()


class CellModel:
    """Any number of hidden columns: the residual of every released cell."""

    def __init__(self, view: AttackerView, release: MarginalsRelease) -> None:
        self._view = view
        domain = release.domain
        self._names = domain.names
        self._hidden = np.array(domain.positions(view.targets), dtype=np.int64)
        self._columns = np.array(release.workload, dtype=np.int64)
        sizes = np.array(domain.sizes, dtype=np.int64)[self._columns]
        ends = np.cumsum(sizes.prod(axis=1))
        self._offsets = ends - sizes.prod(axis=1)
        # row-major: a column's stride is the product of the sizes after it
        after = np.concatenate([sizes[:, 1:], np.ones((len(sizes), 1), dtype=np.int64)], axis=1)
        self._strides = np.ascontiguousarray(after[:, ::-1].cumprod(axis=1)[:, ::-1])
        self._answers = np.concatenate([answer.ravel() for answer in release.answers])
        self._sets = [np.flatnonzero((self._columns == c).any(axis=1)) for c in self._hidden]
        self._sizes = view.target_domain.sizes
        n = view.n
        self._near = (
            near_of(shared_parts(view.known, release.k - 1))
            if n <= GRAM_LIMIT
            else np.arange(1, n + 1)[None] / n
        )
        self._several = len(self._hidden) > 1
        self._joint: Floats | None = None
        if not self._several or n * prod(self._sizes) <= JOINT_LIMIT:
            self._joint = view.prior.conditional(view.known, view.targets)

    @property
    def most_replicas(self) -> int:
        return REPLICA_CELLS // len(self._answers)

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        view, replicas = self._view, chains * levels
        self._chances = np.empty((chains, view.n, max(self._sizes)))
        table = np.empty((view.n, len(self._names)), dtype=np.int64)
        for position, name in enumerate(self._names):
            if name not in view.targets:
                table[:, position] = view.known.column(name)
        self._codes = np.repeat(table[None], replicas, axis=0)
        self._codes[:, :, self._hidden] = self._draw(replicas, rng)
        cells = len(self._answers)
        self._residual = np.empty((replicas, cells))
        for codes, residual in zip(self._codes, self._residual, strict=True):
            residual[:] = np.bincount(self.cells(codes).ravel(), minlength=cells) - self._answers

    def cells(self, codes: Codes) -> Codes:
        """The flat cell of every record in every set: (n, sets)."""
        inside = (codes[:, self._columns] * self._strides).sum(axis=2)
        return np.asarray(inside + self._offsets)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        view = self._view
        layout = (self._columns, self._strides, self._offsets)
        for place, c in enumerate(self._hidden):
            log_priors = self._log_conditional(place)
            uniforms = rng.random((*at.shape, 3, view.n))
            for (chain, level), replica in np.ndenumerate(at):
                cell_sweep(
                    self._codes[replica],
                    self._residual[replica],
                    *layout,
                    self._sets[place],
                    c,
                    log_priors[replica],
                    float(weights[level]),
                    uniforms[chain, level],
                    self._near,
                    self._chances[chain, :, : self._sizes[place]],
                )
        if self._several:
            proposed = self._draw(at.size, rng)
            chances = rng.random((*at.shape, view.n))
            for (chain, level), r in np.ndenumerate(at):
                state = (self._codes[r], self._residual[r], *layout, self._hidden, proposed[r])
                fresh_sweep(*state, float(weights[level]), chances[chain, level])
        return np.asarray(np.einsum("rc,rc->r", self._residual, self._residual))

    def new_run(self, sweeps: int) -> Run:
        n, several = self._view.n, self._several
        draws = np.zeros((sweeps if several else 0, n, len(self._hidden)), dtype=np.int64)
        marginals = np.zeros((n, 0 if several else self._sizes[0]))
        residual = np.zeros(len(self._answers) if several else 0)
        return Run(np.zeros(sweeps), np.zeros(sweeps), marginals, draws, residual)

    def keep(self, runs: Sequence[Run], t: int, replicas: Codes) -> None:
        states = self._codes[replicas]
        if self._joint is not None:
            hidden = np.moveaxis(states[:, :, self._hidden], 2, 0)
            heights = logs(self._joint[(np.arange(self._view.n)[None], *hidden)])
        else:
            heights = self._log_evidence(states.reshape(-1, len(self._names)))
        for chain, (run, replica) in enumerate(zip(runs, replicas, strict=True)):
            run.log_priors[t] = heights.reshape(len(runs), -1)[chain].sum()
            if self._several:
                run.draws[t] = self._codes[replica][:, self._hidden]
                run.residual += self._residual[replica] / len(run.errors)
            else:
                run.marginals += self._chances[chain] / len(run.errors)

    def joint(self, runs: Sequence[Run], shares: Floats, weight: float) -> tuple[Codes, Floats]:
        """The likeliest joint value of each record, (n, d′), and each chain's share of it.

        Draws of many columns hardly repeat, so their counts are smoothed: among a record's values
        drawn most often and the prior's own favourite u, PSEUDO_DRAWS draws are laid out in
        proportion to π(u) exp(−w Σ_s r̄_s(u)), r̄ the mean residual without the record itself.
        """
        view = self._view
        favourite, _ = view.prior.map(view.known, view.targets)
        draws = np.stack([run.draws for run in runs])  # (chains, sweeps, n, d′)
        residual = np.tensordot(shares, np.stack([run.residual for run in runs]), axes=1)
        chains, sweeps, n, width = draws.shape
        guess, success = np.empty((n, width), dtype=np.int64), np.empty((chains, n))
        table = self._codes[0].copy()
        for i in range(n):
            mine = draws[:, :, i].reshape(-1, width)
            values, inverse = np.unique(
                np.concatenate([mine, favourite.codes[i : i + 1]]), axis=0, return_inverse=True
            )
            places = inverse.ravel()[:-1].reshape(chains, sweeps)
            counts = np.stack([np.bincount(row, minlength=len(values)) for row in places]) / sweeps
            found = shares @ counts
            best = np.union1d(np.argsort(-found, kind="stable")[:CANDIDATES], inverse.ravel()[-1:])
            rows = np.repeat(table[i : i + 1], len(values), axis=0)
            rows[:, self._hidden] = values
            cells = self.cells(rows)
            own = np.bincount(cells.ravel(), np.repeat(found, cells.shape[1]), len(residual))
            pull = (residual - own)[cells[best]].sum(axis=1)
            logits = self._log_evidence(rows[best]) - weight * pull
            smooth = np.exp(logits - logits.max())
            # Good and Turing: values drawn once stand for the mass of those never drawn
            unseen = np.mean(np.bincount(places.ravel())[places] == 1)
            smooth *= (1 - unseen) / smooth.sum()
            blend = PSEUDO_DRAWS / (PSEUDO_DRAWS + chains * sweeps)
            chosen = int(np.argmax((1 - blend) * found[best] + blend * smooth))
            guess[i] = values[best[chosen]]
            success[:, i] = (1 - blend) * counts[:, best[chosen]] + blend * smooth[chosen]
        return guess, success

    def _draw(self, replicas: int, rng: np.random.Generator) -> Codes:
        """Hidden cells from the prior given the known ones: (replicas, n, d′)."""
        view = self._view
        if self._joint is not None:
            total = self._joint.reshape(view.n, -1).cumsum(axis=1)
            total /= total[:, -1:]
            picks = [(total <= rng.random((view.n, 1))).sum(axis=1) for _ in range(replicas)]
            return np.stack(np.unravel_index(np.stack(picks), self._sizes), axis=-1)
        known = Table(view.known.domain, np.tile(view.known.codes, (replicas, 1)))
        drawn = draw_hidden(view.prior, known, view.targets, rng)
        return np.asarray(drawn.codes, dtype=np.int64).reshape(replicas, view.n, -1)

    def _log_conditional(self, place: int) -> Floats:
        """log P(one hidden column | the rest of the record) + const: (replicas, n, V)."""
        c, prior = int(self._hidden[place]), self._view.prior
        if self._joint is not None:
            others = [self._codes[:, :, h] for h in np.delete(self._hidden, place)]
            rows = np.arange(self._view.n)[None].repeat(len(self._codes), axis=0)
            return logs(np.moveaxis(self._joint, 1 + place, -1)[(rows, *others)])
        rest = [name for name in self._names if name != self._names[c]]
        codes = np.delete(self._codes, c, axis=2).reshape(-1, len(rest))
        chances = prior.conditional(Table(prior.domain.project(rest), codes), [self._names[c]])
        return logs(chances).reshape(len(self._codes), self._view.n, -1)

    def _log_evidence(self, codes: Codes) -> Floats:
        prior = self._view.prior
        return prior.log_evidence(Table(prior.domain.project(self._names), codes))


def _decide(
    view: AttackerView, model: Model, runs: Sequence[Run], shares: Floats, weight: float
) -> tuple[Codes, Floats]:
    """The guess, (n, d′), and its chance of success in each chain's eyes, (chains, n)."""
    if isinstance(model, CellModel) and len(view.targets) > 1:
        return model.joint(runs, shares, weight)
    marginals = np.stack([run.marginals for run in runs])
    codes = view.metric.decide([np.tensordot(shares, marginals, axes=1)])
    guess = Table(view.target_domain, codes)
    success = np.zeros(marginals.shape[:2])
    for v in range(marginals.shape[2]):
        truth = Table(view.target_domain, np.full((view.n, 1), v))
        success += marginals[:, :, v] * view.metric.score(truth, guess)
    return codes, success


def _shares(runs: Sequence[Run], weight: float, noisy: bool) -> Floats:
    """How much each chain counts: all the same, but without noise those that fit best count.

    A chain that is stuck short of a fit is known to be wrong then, not merely elsewhere.
    """
    if noisy:
        return np.full(len(runs), 1 / len(runs))
    heights = np.array([(run.log_priors - weight * run.errors / 2).mean() for run in runs])
    shares = np.exp(heights - heights.max())
    return np.asarray(shares / shares.sum())
