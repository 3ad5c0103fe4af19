"""The Bayes-optimal attack on Gaussian marginals: Markov chain Monte Carlo on the hidden columns.

Records x_i are independent given what is known of them, and the noise is Gaussian, so
    log p(x | release) = Σ_i log π(x_i | known_i) − ‖Q(x) − answers‖² / (2 noise_sd²) + const
with Q the marginals. Guessing, for every record, what the metric likes best under its posterior
has the largest expected success of all attacks; that expectation is reported with its error.

Gibbs sweeps (`gibbs`) draw from this posterior. At low noise they would stick, so the likelihood
is tempered: replicas at several noise levels, from one at which sweeps mix to the true one, are
annealed side by side and trade places (parallel tempering); only the true level is counted. Where
that would take too long, each chain is one replica, annealed slowly. Chains that still disagree go
on while there is time, each round twice as long as the one before, which then counts for nothing.
Without noise, chains that do not fit the release are known to be wrong and go on from one that
does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    require_playable,
)
from reconbench.attacks.marginals.release_parts import skip_unless_marginals
from reconbench.attacks.posterior.cell_model import GRAM_LIMIT, CellModel
from reconbench.attacks.posterior.chains import (
    coldest_level,
    effective_size,
    noise_levels,
    split_rhat,
)
from reconbench.attacks.posterior.draw_model import DrawModel, takes_draws
from reconbench.attacks.posterior.gibbs import exchange
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.posteriors import Posteriors, estimate_best_possible
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Chains that disagree more than this go on, and are reported as not converged if they may not.
RHAT_LIMIT = 1.1
# Looks at a number that a game may take: some 10 seconds, and for tables longer than LONG records
# in proportion more, up to ten times.
WORK = 2_000_000_000
LONG = 1_000
FEWEST_SWEEPS = 20
# Tables of each chain that are kept to count successes on, and the most values in all of them.
TABLES = 200
KEPT_VALUES = 1 << 24


class Posterior:
    """Guess what the metric likes best under the posterior of each record."""

    name: ClassVar[str] = "posterior"

    def __init__(
        self, chains: int = 4, sweeps: int = 200, burn_in: int = 60, rounds: int = 4
    ) -> None:
        for option, value, least in (
            ("chains", chains, 2),
            ("sweeps", sweeps, 4),
            ("burn_in", burn_in, 1),
            ("rounds", rounds, 1),
        ):
            if value < least:
                raise AttackError(f"posterior: {option} must be at least {least}, got {value}")
        self.chains = chains
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.rounds = rounds

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_marginals(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        sampled = self.sample(view, rng)
        posteriors = sampled.posteriors
        guess = posteriors.guess(range(self.chains))
        scores = np.mean([posteriors.success(c, guess) for c in range(self.chains)], axis=0)
        best = sampled.estimate_best_possible(view)
        return view.reconstruction(guess, np.clip(scores, 0.0, 1.0), sampled.info, best)

    def sample(
        self, view: AttackerView, rng: np.random.Generator, work: float | None = None
    ) -> Sampled:
        """Run the chains; ``work`` is what they may take on a short table, WORK by default."""
        release = require_playable(self, view, MarginalsRelease).touching(view.targets)
        true = coldest_level(release.noise_sd, len(release.domain), release.k)
        model = choose_form(view, release, true)(view, release)
        most = max(1, model.most_replicas // self.chains)
        levels = noise_levels(true, len(release.workload), most)
        work = (WORK if work is None else work) * min(max(view.n / LONG, 1), 10)
        plan = self._plan(levels, int(work / (model.cost * self.chains)))
        traces = self.run(model, plan, rng, exact=release.noise_sd == 0)
        converged = traces.rhat <= RHAT_LIMIT and not (release.noise_sd == 0 and traces.misfit > 0)
        return Sampled(model.posteriors(), traces, len(plan.levels), converged)

    def _plan(self, levels: Floats, affordable: int) -> Plan:
        """How long to anneal and to sample, given how many sweeps of a replica may be made."""
        hot = float(levels[0])
        burn_in = self.burn_in if len(levels) > 1 else self.burn_in // 3
        if (burn_in + self.sweeps) * len(levels) > affordable:
            levels = levels[-1:]
            burn_in = max(affordable // 2, FEWEST_SWEEPS)
        sweeps = min(self.sweeps, max(affordable // 2, FEWEST_SWEEPS))
        rounds, left = 1, affordable // len(levels) - burn_in - sweeps
        while rounds < self.rounds and left >= sweeps << rounds:
            left -= sweeps << rounds
            rounds += 1
        return Plan(levels, np.geomspace(hot, levels[-1], burn_in), sweeps, rounds)

    def run(self, model: Model, plan: Plan, rng: np.random.Generator, *, exact: bool) -> Traces:
        """Anneal all chains to the true noise level, then sample there until they agree."""
        levels = plan.levels
        at = np.arange(self.chains * len(levels)).reshape(self.chains, -1)
        model.start(*at.shape, rng)
        for t, top in enumerate(plan.burn_in):
            errors = self._sweep(model, at, np.minimum(levels, top), t, rng)
            if t >= len(plan.burn_in) // 2:
                model.keep(at[:, -1])
        for doublings in range(plan.rounds):
            if exact:
                model.adopt(int(np.argmin(errors)), at[errors[at] > errors.min()])
            sweeps = plan.sweeps << doublings
            model.forget(sweeps)
            traces = Traces.empty(self.chains, sweeps)
            every = max(
                1, -(-sweeps // TABLES), model.tables(at[:, -1]).size * sweeps // KEPT_VALUES
            )
            for t in range(sweeps):
                errors = self._sweep(model, at, levels, t, rng, kept=traces)
                if t % every == 0:
                    tables = model.tables(at[:, -1])
                    traces.tables.append(tables.astype(np.min_scalar_type(int(tables.max()))))
            if traces.rhat <= RHAT_LIMIT:
                break
        return traces

    def _sweep(
        self,
        model: Model,
        at: Codes,
        weights: Floats,
        t: int,
        rng: np.random.Generator,
        kept: Traces | None = None,
    ) -> Floats:
        errors = model.sweep(at, weights, rng)
        if kept is not None:
            true = at[:, -1]
            model.keep(true)
            kept.errors[:, t] = errors[true]
            kept.log_priors[:, t] = model.log_priors(true)
        for row, chance in zip(at, rng.random(at.shape), strict=True):
            exchange(row, weights, errors, chance, t % 2)
        return errors


def choose_form(
    view: AttackerView, release: MarginalsRelease, weight: float
) -> type[GramModel | DrawModel | CellModel]:
    """The cheapest form of a posterior, given the largest inverse noise variance."""
    if len(view.targets) == 1 and view.n <= GRAM_LIMIT:
        return GramModel
    return DrawModel if takes_draws(view, release, weight) else CellModel


@dataclass(frozen=True)
class Plan:
    """Inverse noise variances of the replicas of a chain, the largest one of every sweep of the
    burn-in, sweeps of the first round of sampling, and the most rounds."""

    levels: Floats
    burn_in: Floats
    sweeps: int
    rounds: int


@dataclass(frozen=True)
class Traces:
    """Two numbers of every kept sweep, (chains, sweeps) each, by which chains are compared.

    ``tables`` are the hidden columns after some of the sweeps, (chains, n, targets) each.
    """

    errors: Floats
    log_priors: Floats
    tables: list[Codes] = field(default_factory=list)

    @classmethod
    def empty(cls, chains: int, sweeps: int) -> Traces:
        return cls(np.empty((chains, sweeps)), np.empty((chains, sweeps)))

    @property
    def rhat(self) -> float:
        return max(split_rhat(trace) for trace in (self.errors, self.log_priors))

    @property
    def effective_size(self) -> float:
        return min(effective_size(trace) for trace in (self.errors, self.log_priors))

    @property
    def misfit(self) -> float:
        """The largest squared error that a chain ended at."""
        return float(self.errors[:, -1].max())


@dataclass(frozen=True)
class Sampled:
    """What the chains of one game found, at how many noise levels, and whether they agree."""

    posteriors: Posteriors
    traces: Traces
    levels: int
    converged: bool

    @property
    def info(self) -> dict[str, float]:
        return {
            "rhat": self.traces.rhat,
            "ess": self.traces.effective_size,
            "sweeps": float(self.traces.errors.shape[1]),
            "levels": float(self.levels),
        }

    def estimate_best_possible(self, view: AttackerView) -> BestPossible:
        tables = np.array(self.traces.tables)
        return estimate_best_possible(self.posteriors, view, tables, self.converged)


class Model(Protocol):
    """The posterior of one game in a form that can be swept; replicas are numbered from 0."""

    @property
    def most_replicas(self) -> int:
        """How many replicas fit into memory."""
        ...

    @property
    def cost(self) -> int:
        """Of a sweep of one replica, in looks at a number."""
        ...

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        """Replicas drawn from the prior, one for each level of each chain."""
        ...

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        """One sweep; ``at``, (chains, levels), names the replicas. Returns the replicas' errors."""
        ...

    def adopt(self, source: int, replicas: Codes) -> None:
        """Set replicas to the state of another one."""
        ...

    def log_priors(self, replicas: Codes) -> Floats: ...

    def forget(self, sweeps: int) -> None:
        """Drop what was kept; this many sweeps will be."""
        ...

    def keep(self, replicas: Codes) -> None:
        """Record the last sweep of every chain; the replicas are those of the last level."""
        ...

    def tables(self, replicas: Codes) -> Codes:
        """The hidden columns of replicas, (replicas, n, targets)."""
        ...

    def posteriors(self) -> Posteriors: ...
