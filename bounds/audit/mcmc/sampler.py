"""MCMC-DP-Est (Yildirim 2025, Algorithm 1): the posterior of ε and attack strength from counts.

Metropolis-Hastings with averaged acceptance ratios (Andrieu et al. 2020): a proposed (ε′, s′) is
judged by K error pairs an attack at once. By Proposition 1 the posterior is met exactly for any
K > 1. Three things differ from the paper's text, none of them the posterior: auxiliary pairs come
from what the counts say instead of the unit square, (log ε, s) walk with a covariance learnt in
the warm-up, and chains start from the data.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds._validate import positive_integer
from reconbench.bounds.audit.mcmc._tables import LARGEST, BetaTables, arc_edges, arc_width
from reconbench.bounds.audit.mcmc.counts import Counts
from reconbench.bounds.audit.mcmc.estimate import Estimate, Run
from reconbench.bounds.audit.mcmc.gdp.model import GdpPrior, gdp_delta, gdp_epsilon
from reconbench.bounds.audit.mcmc.gdp.walk import GdpWalk
from reconbench.bounds.audit.mcmc.model import (
    BetaStrength,
    CorrelatedNormal,
    FixedStrength,
    IndependentBinomial,
    Likelihood,
    Prior,
    epsilon_level,
    folded,
    in_strip,
    known_delta,
    strength_level,
)
from reconbench.bounds.guarantees.relation import Relation

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

# Pairs in memory at once: three doubles each.
MOST_PAIRS = 20_000_000
MOST_DRAWS = 50_000_000
_ROUNDS = 10
_WANTED_ACCEPTANCE = 0.3
_FIRST_STEPS = (0.2, 0.1, 0.5, 0.3)


@dataclass(frozen=True)
class Settings:
    """How long to sample: `iterations` are kept in each of `chains` after `warmup` that are not.

    `auxiliary` is K, the number of error pairs an attack in one iteration.
    """

    chains: int = 4
    iterations: int = 10_000
    warmup: int = 3_000
    auxiliary: int = 250

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("iterations", 100), ("warmup", 100), ("auxiliary", 2)):
            if positive_integer(name, getattr(self, name)) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)!r}")
        if self.chains * (self.iterations + self.warmup) > MOST_DRAWS:
            raise ValueError(
                f"chains × (iterations + warmup) must be at most {MOST_DRAWS:,}, got "
                f"{self.chains} × {self.iterations + self.warmup:,}: ask for fewer iterations"
            )


def estimate(
    counts: Counts,
    delta: float,
    *,
    rng: np.random.Generator,
    prior: Prior | GdpPrior | None = None,
    likelihood: Likelihood | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    settings: Settings | None = None,
) -> Estimate:
    """The posterior of (ε, s) given the counts of attacks on an (ε, δ)-DP mechanism, δ known.

    ε is the smallest for which the mechanism is (ε, δ)-DP under `relation`; the counts must come
    from neighbours under that relation (`hypotheses`). With a `GdpPrior` the mechanism is taken to
    be Gaussian (`gdp.py`), otherwise errors spread over R(ε, δ) as in Yildirim 2025. Chains run in
    threads; the result does not depend on how many.
    """
    run = Run(
        counts,
        known_delta(delta),
        relation,
        prior or Prior(),
        likelihood or IndependentBinomial(),
    )
    return estimate_run(run, settings or Settings(), rng)


def estimate_run(run: Run, settings: Settings, rng: np.random.Generator) -> Estimate:
    """The same, with all that is estimated in one place."""
    if len(run.counts) * settings.auxiliary > MOST_PAIRS:
        raise ValueError(
            f"attacks × auxiliary must be at most {MOST_PAIRS:,}, got {len(run.counts):,} × "
            f"{settings.auxiliary:,}: ask for fewer auxiliary pairs"
        )
    if isinstance(run.prior, GdpPrior):
        return _estimate_gdp(run, settings, rng)
    if run.counts.base_count < len(run.counts):
        raise ValueError(
            f"counts must have one row per base for the region model, got {len(run.counts)} rows "
            f"of {run.counts.base_count} bases: keep one level per base, or use the gdp model"
        )
    return Estimate(run, *sample(run, settings, rng))


def _estimate_gdp(run: Run, settings: Settings, rng: np.random.Generator) -> Estimate:
    gdp_delta(run.delta)
    if not isinstance(run.likelihood, IndependentBinomial):
        raise ValueError(
            f"likelihood must be independent binomial counts for the gdp model, got "
            f"{run.likelihood.describe()}: learn the attack from separate shadow models"
        )
    draws, acceptance = sample(run, settings, rng)
    mu, s = draws[:, :, 0], draws[:, :, 1]
    return Estimate(run, np.stack([gdp_epsilon(mu, run.delta), s, mu], axis=2), acceptance)


def sample(
    run: Run, settings: Settings, rng: np.random.Generator, jacobian: float = 1.0
) -> tuple[Floats, Floats]:
    """Draws (chains, iterations, parameters) and the acceptance rate of each chain.

    `jacobian` is the exponent of ε′/ε in the acceptance ratio; anything but 1 samples another
    distribution, which the test of posterior ranks must notice.
    """
    model = _model(run, settings.auxiliary)
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(_chain, model, run, settings, each, jacobian, model.starts(place))
            for place, each in enumerate(rng.spawn(settings.chains))
        ]
        chains = [job.result() for job in jobs]
    return np.stack([draws for draws, _ in chains]), np.array([rate for _, rate in chains])


Start = Callable[[Run, np.random.Generator], tuple[Floats, Floats, Floats]]


class _Model(Protocol):
    """A likelihood: what a chain carries along besides its parameters, and how it moves."""

    parameters: int
    # Moves per iteration that is kept.
    thinning: int

    def starts(self, place: int) -> Start:
        """Where the chain that is number ``place`` begins."""

    def start(self, low: Floats, high: Floats) -> tuple[Floats, ...]:
        """What a chain from these folded pairs carries along."""

    def walked(self, trace: Floats) -> Floats:
        """Draws in the coordinates to which steps are added."""

    def tuned(self, carried: tuple[Floats, ...], seen: Floats) -> tuple[Floats, ...]:
        """The same, with proposals that suit the walk seen in the warm-up."""

    def advance(
        self,
        state: Words,
        steps: Floats,
        thresholds: Floats,
        jacobian: float,
        now: Floats,
        carried: tuple[Floats, ...],
        trace: Floats,
    ) -> int:
        """Iterate in place; the number of accepted proposals."""


def _model(run: Run, auxiliary: int) -> _Model:
    if isinstance(run.prior, GdpPrior):
        return GdpWalk(run)
    if isinstance(run.likelihood, CorrelatedNormal):
        return _Correlated(run, auxiliary)
    return _Binomial(run, auxiliary)


class _Binomial:
    """Carries folded pairs (lows, highs), each (n, K)."""

    parameters, thinning = 2, 1

    def __init__(self, run: Run, auxiliary: int) -> None:
        self._run, self._auxiliary = run, auxiliary
        self._tables = BetaTables.of(run.counts)

    def starts(self, place: int) -> Start:
        return _start

    def start(self, low: Floats, high: Floats) -> tuple[Floats, ...]:
        return _room(low, self._auxiliary), _room(high, self._auxiliary)

    def walked(self, trace: Floats) -> Floats:
        return np.column_stack([np.log(trace[:, 0]), trace[:, 1]])

    def tuned(self, carried: tuple[Floats, ...], seen: Floats) -> tuple[Floats, ...]:
        return carried

    def advance(
        self,
        state: Words,
        steps: Floats,
        thresholds: Floats,
        jacobian: float,
        now: Floats,
        carried: tuple[Floats, ...],
        trace: Floats,
    ) -> int:
        from reconbench.bounds.audit.mcmc import _kernels

        tables, prior = self._tables, self._run.prior
        a, b = prior.strength.exponents
        lows, highs = carried
        return _kernels.binomial_chain(
            state,
            steps,
            thresholds,
            tables.alpha_rows,
            tables.beta_rows,
            tables.edges,
            tables.squeeze,
            tables.log_top,
            tables.powers,
            float(self._run.delta),
            float(prior.variance),
            a,
            b,
            jacobian,
            now,
            lows,
            highs,
            trace,
        )


class _Correlated:
    """Carries cells of the proposals, pairs (alphas, betas) and one over their density."""

    parameters, thinning = 4, 1

    def __init__(self, run: Run, auxiliary: int) -> None:
        self._run, self._auxiliary = run, auxiliary
        self._columns = run.counts.columns.astype(np.float64)
        self._tau_sd = _tau_sd(run)
        self._shift = 1 / float(np.mean([run.counts.negatives, run.counts.positives]))

    def starts(self, place: int) -> Start:
        # There may be two modes: some chains begin in each, or R-hat would not know.
        return _start_at_chance if place % 2 else _start

    def start(self, low: Floats, high: Floats) -> tuple[Floats, ...]:
        # Unfold towards the observed rates.
        alpha, beta = self._run.counts.rates
        swap, turn = alpha > beta, alpha + beta > 1
        x, y = np.where(swap ^ turn, high, low), np.where(swap ^ turn, low, high)
        x, y = np.where(turn, 1 - x, x), np.where(turn, 1 - y, y)
        return self._carried(np.minimum(x, LARGEST), np.minimum(y, LARGEST), tau=0.0)

    def walked(self, trace: Floats) -> Floats:
        epsilon, s, tau, rho = trace.T
        size = tau + self._shift
        return np.column_stack([np.log(epsilon), s, np.log(size), rho / size])

    def tuned(self, carried: tuple[Floats, ...], seen: Floats) -> tuple[Floats, ...]:
        alphas, betas = carried[2:4]
        tau = float(np.exp(np.median(seen[:, 2]))) - self._shift
        return self._carried(alphas[:, 0], betas[:, 0], max(tau, 0.0))

    def _carried(self, alpha: Floats, beta: Floats, tau: float) -> tuple[Floats, ...]:
        from reconbench.bounds.audit.mcmc import _kernels

        counts = self._run.counts
        x_edges = arc_edges(counts.rates[0], counts.negatives, tau)
        y_edges = arc_edges(counts.rates[1], counts.positives, tau)
        sides = arc_width(x_edges, alpha), arc_width(y_edges, beta)
        spread = np.array(
            [_kernels.spread_of(*each) for each in zip(*sides, alpha, beta, strict=True)]
        )
        return x_edges, y_edges, *(_room(each, self._auxiliary) for each in (alpha, beta, spread))

    def advance(
        self,
        state: Words,
        steps: Floats,
        thresholds: Floats,
        jacobian: float,
        now: Floats,
        carried: tuple[Floats, ...],
        trace: Floats,
    ) -> int:
        from reconbench.bounds.audit.mcmc import _kernels

        prior = self._run.prior
        a, b = prior.strength.exponents
        x_edges, y_edges, alphas, betas, spread = carried
        return _kernels.correlated_chain(
            state,
            steps,
            thresholds,
            self._columns,
            float(self._run.delta),
            float(prior.variance),
            a,
            b,
            self._tau_sd,
            self._shift,
            jacobian,
            now,
            x_edges,
            y_edges,
            alphas,
            betas,
            spread,
            trace,
        )


def _tau_sd(run: Run) -> float:
    """The prior's spread of τ; inf where τ is uniform or not estimated."""
    return run.likelihood.tau_sd if isinstance(run.likelihood, CorrelatedNormal) else np.inf


def _room(first: Floats, auxiliary: int) -> Floats:
    room = np.zeros((len(first), auxiliary))
    room[:, 0] = first
    return room


def _chain(
    model: _Model,
    run: Run,
    settings: Settings,
    rng: np.random.Generator,
    jacobian: float,
    begin: Start,
) -> tuple[Floats, float]:
    state = rng.integers(0, 2**64, size=4, dtype=np.uint64)
    start, low, high = begin(run, rng)
    now, carried = start[: model.parameters].copy(), model.start(low, high)
    moving = np.ones(model.parameters, dtype=bool)
    moving[1] = isinstance(run.prior.strength, BetaStrength)
    factor = np.diag(_FIRST_STEPS[: model.parameters]) * moving

    def advance(iterations: int) -> tuple[Floats, float]:
        moves = iterations * model.thinning
        trace = np.empty((moves, model.parameters))
        steps = rng.standard_normal((moves, model.parameters)) @ factor.T
        thresholds = -rng.standard_exponential(moves)
        accepted = model.advance(state, steps, thresholds, jacobian, now, carried, trace)
        return trace[model.thinning - 1 :: model.thinning], accepted / moves

    scale, seen = 1.0, np.empty((0, model.parameters))
    # From a start that does not follow the data it may be a long way.
    for _ in range(_ROUNDS if begin is not _start_at_chance else 2 * _ROUNDS):
        trace, rate = advance(max(settings.warmup // _ROUNDS, 10))
        # The first rounds are on the way to the posterior: half of what was seen is forgotten.
        seen = np.concatenate([seen[len(seen) // 2 :], model.walked(trace)])
        scale = float(np.clip(scale * np.exp(2 * (rate - _WANTED_ACCEPTANCE)), 1e-3, 10.0))
        factor = _step_factor(seen[:, moving], moving, factor, scale)
        carried = model.tuned(carried, seen)
    return advance(settings.iterations)


def _step_factor(seen: Floats, moving: NDArray[np.bool_], before: Floats, scale: float) -> Floats:
    """The root of the covariance of steps, 2.38²/d of the draws' (Haario et al. 2001)."""
    covariance = np.atleast_2d(np.cov(seen, rowvar=False))
    if not (np.diag(covariance) > 0).all():
        # Nothing moved yet: smaller steps.
        return before / 4
    floor = 1e-6 * np.diag(np.diag(covariance))
    factor = np.zeros(before.shape)
    root = np.linalg.cholesky(covariance + floor) * (2.38 / np.sqrt(len(covariance)))
    factor[np.ix_(moving, moving)] = scale * root
    return factor


def _start(run: Run, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """(ε, s, τ, ρ) and folded pairs within R_s, drawn from what the counts alone say.

    From a random start a chain can stay where no pair of the posterior is inside the strip.
    """
    counts, delta = run.counts, run.delta
    x, n0 = counts.false_positives, counts.negatives
    y, n1 = counts.false_negatives, counts.positives
    low, high = folded(rng.beta(x + 1.0, n0 - x + 1.0), rng.beta(y + 1.0, n1 - y + 1.0))
    level = float(epsilon_level(low, high, delta).max())
    # Just above the strongest attack, and at least where a strip has some width.
    epsilon = max(level, 0.01) * (1 + 0.3 * rng.random())
    strength = run.prior.strength
    if isinstance(strength, FixedStrength):
        s = strength.value
    else:
        s = float(strength_level(low, high, epsilon, delta).min()) * (1 - 0.5 * rng.random())
        s = min(max(s, 1e-12), 1 - 1e-9)
    tau = min(rng.random() / float(np.mean([n0, n1])), _tau_sd(run))
    return np.array([epsilon, s, tau, 0.0]), *_moved_inside(low, high, epsilon, s, delta)


def _start_at_chance(run: Run, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """The same where nothing is revealed: ε near 0, and a τ that makes up for what was counted."""
    delta, strength = run.delta, run.prior.strength
    epsilon, tau = 0.02 + 0.2 * rng.random(), 0.1 + 0.4 * rng.random()
    tau = min(tau, 3 * _tau_sd(run))
    s = strength.value if isinstance(strength, FixedStrength) else 0.05 + 0.9 * rng.random()
    alpha, beta = run.counts.rates
    # The nearest point with α + β = 1, and from there to the middle of the strip.
    near = np.clip((alpha + 1 - beta) / 2, 0.02, 0.98)
    low = np.minimum(near, 1 - near)
    high = 1 - (1 + s) * delta / 2 - low * (np.exp(epsilon) + np.exp(s * epsilon)) / 2
    low, high = np.minimum(low, high), np.maximum(low, high)
    return np.array([epsilon, s, tau, 0.0]), *_moved_inside(low, high, epsilon, s, delta)


def _moved_inside(
    low: Floats, high: Floats, epsilon: float, s: float, delta: float
) -> tuple[Floats, Floats]:
    """Folded pairs; those that are not in the strip go to equal errors in its middle."""
    middle = (1 - delta) / (1 + np.exp(epsilon)), (1 - s * delta) / (1 + np.exp(s * epsilon))
    equal = sum(middle) / 2
    there = in_strip(low, high, epsilon, delta, s)
    return np.where(there, low, equal), np.where(there, high, equal)
