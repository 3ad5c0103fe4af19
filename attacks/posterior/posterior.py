"""The Bayes-optimal attack on Gaussian counts: Markov chain Monte Carlo on the hidden columns.

Records x_i are independent given what is known of them, and the noise is Gaussian, so
    log p(x | release) = Σ_i log π(x_i | known_i) − Σ_s ‖Q_s(x) − answers_s‖² / (2 sd_s²) + const
with Q_s the counts of a measured set of columns: a marginal, or what a synthetic table was fitted
to. Guessing, for every record, what the metric likes best under its posterior has the largest
expected success of all attacks; that expectation is reported with its error. Where the sets were
chosen by looking at the table, the choice is evidence that is not counted: the attack plays, but
states no best possible.

Gibbs sweeps (`gibbs`) draw from this posterior. At low noise they would stick, so the likelihood
is tempered: replicas at several noise levels, from one at which sweeps mix to the true one, are
annealed side by side and trade places (parallel tempering); only the true level is counted. Where
that would take too long, each chain is one replica, annealed slowly. Chains that still disagree go
on while there is time, each round twice as long as the one before, which then counts for nothing.
Chains never copy each other's state: those that agree do so independently. Without noise, or with
so little that counts can be rounded, no chain is needed where all tables that fit are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
)
from reconbench.attacks.candidates.solution import ExactTables
from reconbench.attacks.marginals.measured import (
    CHOICE_NOT_COUNTED,
    read_measurements,
    skip_unless_measured,
)
from reconbench.attacks.metrics import ExactMatch, scores_by_record
from reconbench.attacks.posterior.cell_model import GRAM_LIMIT, CellModel
from reconbench.attacks.posterior.certified import CertifiedPosterior, solve_exactly
from reconbench.attacks.posterior.chains import (
    HOT,
    STEP,
    effective_size,
    noise_levels,
    split_rhat,
)
from reconbench.attacks.posterior.counts.model import CountModel
from reconbench.attacks.posterior.draws.model import DrawModel, takes_draws
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gibbs import exchange
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.joint import model as joint_model
from reconbench.attacks.posterior.joint.model import JointModel
from reconbench.attacks.posterior.posteriors import (
    Posteriors,
    complete_table,
    count_successes,
    estimate_best_possible,
)
from reconbench.mechanisms.measurements import Measurements

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Chains that disagree more than this go on, and are reported as not converged if they may not.
RHAT_LIMIT = 1.1
# Looks at a number that a game may take: some 10 seconds, and for tables longer than LONG records
# in proportion more, up to ten times.
WORK = 2_000_000_000
LONG = 1_000
FEWEST_SWEEPS = 20
# What is said of a best possible, and what is said where sets were chosen by looking at the table.
PROMISES = ("certified", "best_possible_at_most")
# Chains whose squared errors differ by less fit equally well.
FITTED = 1e-6
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
        return skip_unless_measured(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        reason = self.skip(view)
        if reason is not None:
            raise AttackError(reason)
        measured = read_measurements(view)
        answer = self._decide(view, measured, rng)
        if not measured.adaptive:
            return answer
        info = {name: value for name, value in answer.info.items() if name not in PROMISES}
        return replace(answer, info=info | CHOICE_NOT_COUNTED, best_possible=None)

    def _decide(
        self, view: AttackerView, measured: Measurements, rng: np.random.Generator
    ) -> Reconstruction:
        if not measured.sets:
            chosen, success = view.metric.best_guess(view.prior, view.known, view.targets)
            stated = BestPossible(float(success.sum())) if scores_by_record(view.metric) else None
            return view.reconstruction(chosen.codes, success, {"certified": 1.0}, stated)
        solution = solve_exactly(view, Evidence(measured, view.targets))
        if solution.posterior is not None:
            return self._read_off(view, solution.posterior)
        sampled = self.sample(view, rng, tables=solution.tables)
        posteriors, trusted = sampled.posteriors, sampled.trusted_chains
        guess = posteriors.guess(trusted)
        scores = np.mean([posteriors.success(chain, guess) for chain in trusted], axis=0)
        best = sampled.estimate_best_possible(view)
        info = sampled.info
        if solution.most_successes is not None and isinstance(view.metric, ExactMatch):
            info["best_possible_at_most"] = solution.most_successes
        return view.reconstruction(guess, np.clip(scores, 0.0, 1.0), info, best)

    def _read_off(self, view: AttackerView, exact: CertifiedPosterior) -> Reconstruction:
        posteriors = exact.posteriors
        guess = posteriors.guess([0])
        scores = np.clip(posteriors.success(0, guess), 0.0, 1.0)
        return view.reconstruction(guess, scores, exact.info, exact.find_best_possible())

    def sample(
        self,
        view: AttackerView,
        rng: np.random.Generator,
        work: float | None = None,
        tables: ExactTables | None = None,
    ) -> Sampled:
        """Run the chains; ``work`` is what they may take on a short table, WORK by default.

        ``tables`` bound the values that sets without noise leave possible.
        """
        evidence = Evidence.of(view)
        model = choose_model(view, evidence, tables)
        work = (WORK if work is None else work) * min(max(view.n / LONG, 1), 10)
        plan = self._plan(model, evidence, int(work / (model.cost * self.chains)))
        traces, posteriors = self.run(view, model, plan, rng)
        converged = traces.rhat <= RHAT_LIMIT and _fit(view, evidence, posteriors, traces.tables)
        return Sampled(posteriors, traces, len(plan.levels), converged)

    def _plan(self, model: Model, evidence: Evidence, affordable: int) -> Plan:
        """At how many levels and how long to anneal and to sample, given how many sweeps of a
        replica may be made: with wider steps, or one level alone, where they are too few."""
        most = max(1, model.most_replicas // self.chains)
        for step in (model.step, max(model.step, STEP)):
            levels = noise_levels(evidence.weight, evidence.total, most, step, model.frozen)
            burn_in = self.burn_in * model.patience if len(levels) > 1 else self.burn_in // 3
            if (burn_in + self.sweeps) * len(levels) <= affordable:
                break
        hot = float(levels[0])
        if (burn_in + self.sweeps) * len(levels) > affordable:
            levels = levels[-1:]
            burn_in = max(affordable // 2, FEWEST_SWEEPS)
        sweeps = min(self.sweeps, max(affordable // 2, FEWEST_SWEEPS))
        rounds = self._divide(sweeps, affordable // len(levels) - burn_in - sweeps)
        return Plan(levels, np.geomspace(hot, levels[-1], burn_in), rounds)

    def _divide(self, sweeps: int, left: int) -> tuple[int, ...]:
        """Rounds of sweeps, each twice as long as the one before; the last takes what is left, if
        that is enough for a round at least as long, but no more than two would."""
        rounds = [sweeps]
        while len(rounds) < self.rounds and left >= rounds[-1]:
            double = 2 * rounds[-1]
            last = left < 3 * double
            rounds.append(min(left, 2 * double) if last else double)
            left -= rounds[-1]
        return tuple(rounds)

    def run(
        self, view: AttackerView, model: Model, plan: Plan, rng: np.random.Generator
    ) -> tuple[Traces, Posteriors]:
        """Anneal all chains to the true noise level, then sample there until they agree."""
        levels = plan.levels
        at = np.arange(self.chains * len(levels)).reshape(self.chains, -1)
        model.start(*at.shape, rng)
        for t, top in enumerate(plan.burn_in):
            self._sweep(model, at, np.minimum(levels, top), t, rng)
            if t >= len(plan.burn_in) // 2:
                model.keep(at[:, -1])
        for sweeps in plan.rounds:
            model.forget(sweeps)
            traces = Traces.empty(self.chains, sweeps)
            every = max(
                1, -(-sweeps // TABLES), model.tables(at[:, -1]).size * sweeps // KEPT_VALUES
            )
            for t in range(sweeps):
                self._sweep(model, at, levels, t, rng, kept=traces)
                if t % every == 0:
                    tables = model.tables(at[:, -1])
                    traces.tables.append(tables.astype(np.min_scalar_type(int(tables.max()))))
            posteriors = model.posteriors()
            traces.count_hits(view, posteriors)
            if traces.rhat <= RHAT_LIMIT:
                break
        return traces, posteriors

    def _sweep(
        self,
        model: Model,
        at: Codes,
        weights: Floats,
        t: int,
        rng: np.random.Generator,
        kept: Traces | None = None,
    ) -> None:
        errors = model.sweep(at, weights, rng)
        if kept is not None:
            true = at[:, -1]
            model.keep(true)
            kept.errors[:, t] = errors[true]
            kept.log_priors[:, t] = model.log_priors(true)
        for row, chance in zip(at, rng.random(at.shape), strict=True):
            exchange(row, weights, errors, chance, t % 2)


@dataclass(frozen=True)
class Plan:
    """Inverse noise variances of the replicas of a chain, the largest one of every sweep of the
    burn-in, and the sweeps of each round of sampling."""

    levels: Floats
    burn_in: Floats
    rounds: tuple[int, ...]


@dataclass(frozen=True)
class Traces:
    """Numbers of every kept sweep, (chains, sweeps) each, by which chains are compared.

    ``tables`` are the hidden columns after some of the sweeps, (chains, n, targets) each, and
    ``hits`` how many records of these the guess of all chains gets right: chains that fit a release
    equally well with different tables differ in nothing else.
    """

    errors: Floats
    log_priors: Floats
    tables: list[Codes] = field(default_factory=list)
    hits: list[Floats] = field(default_factory=list)

    @classmethod
    def empty(cls, chains: int, sweeps: int) -> Traces:
        return cls(np.empty((chains, sweeps)), np.empty((chains, sweeps)))

    def count_hits(self, view: AttackerView, posteriors: Posteriors) -> None:
        """Compare the tables with the guess of all chains."""
        if not scores_by_record(view.metric):
            return
        guess, tables = posteriors.guess(range(posteriors.chains)), np.array(self.tables)
        self.hits.extend(
            count_successes(posteriors, view, tables[:, chain], guess).astype(np.float64)
            for chain in range(posteriors.chains)
        )

    @property
    def rhat(self) -> float:
        hits = np.array(self.hits)
        compared = (self.errors, self.log_priors, *([hits] if hits.size else ()))
        return max(split_rhat(trace) for trace in compared)

    @property
    def effective_size(self) -> float:
        return min(effective_size(trace) for trace in (self.errors, self.log_priors))


@dataclass(frozen=True)
class Sampled:
    """What the chains of one game found, at how many noise levels, and whether they agree."""

    posteriors: Posteriors
    traces: Traces
    levels: int
    converged: bool

    @property
    def trusted_chains(self) -> Sequence[int]:
        """The chains to guess by: all if they agree, else those that fit the release best."""
        errors = self.traces.errors
        if self.converged:
            return range(len(errors))
        means = errors.mean(axis=1)
        best = int(means.argmin())
        return np.flatnonzero(means <= means[best] + 2 * errors[best].std() + FITTED).tolist()

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


def _fit(
    view: AttackerView, evidence: Evidence, posteriors: Posteriors, tables: Sequence[Codes]
) -> bool:
    """Whether every chain has the counts of the sets without noise, first and last."""
    if all(sd > 0 for sd in evidence.measurements.noise_sds):
        return True
    return all(
        evidence.fits(complete_table(posteriors, view, table))
        for table in (*tables[0], *tables[-1])
    )


def choose_model(
    view: AttackerView, evidence: Evidence, tables: ExactTables | None = None
) -> Model:
    """The quickest model of a game; ``tables`` bound what is possible without noise."""
    single = len(view.targets) == 1
    if takes_draws(view, evidence):
        return DrawModel(view, evidence)
    if view.n > GRAM_LIMIT:
        return (CountModel if single else CellModel)(view, evidence)
    strength = evidence.weight * evidence.total
    if not single and (strength <= HOT or not joint_model.fits(view)):
        return CellModel(view, evidence)
    possible = None if tables is None else tables.mark_possible(view.target_domain.sizes)
    return (GramModel if single else JointModel)(view, evidence, possible)


class Model(Protocol):
    """The posterior of one game in a form that can be swept; replicas are numbered from 0."""

    @property
    def step(self) -> float:
        """Of the logarithm of the noise levels, up to the level ``frozen``."""
        ...

    @property
    def frozen(self) -> float: ...

    @property
    def patience(self) -> int:
        """How many times as long as usual to anneal."""
        ...

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

    def log_priors(self, replicas: Codes) -> Floats: ...

    def forget(self, sweeps: int) -> None:
        """Drop what was kept; this many sweeps will be."""
        ...

    def keep(self, replicas: Codes) -> None:
        """Record the last sweep of every chain; the replicas are those of the last level."""
        ...

    def tables(self, replicas: Codes) -> Codes:
        """The hidden columns of replicas, (replicas, n, targets), or counts of their values,
        (replicas, rows, V)."""
        ...

    def posteriors(self) -> Posteriors: ...
