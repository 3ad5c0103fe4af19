"""What the owner of a table asks, and what an assessment of it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isinf

import numpy as np

from reconbench.attacks.metrics import scores_by_record
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.accuracy import Accuracy
from reconbench.benchmarks.assess.exposure import Exposure, Mean
from reconbench.benchmarks.assess.max_epsilon import Measure, MeasuredEpsilon, ProvedEpsilon
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import Game, check
from reconbench.benchmarks.game.result import Result
from reconbench.datasets import Table
from reconbench.mechanisms import GaussianMarginals

PRIOR, OPTIMAL = "prior", "posterior"
FEWEST_RECORDS = 10
STEPS = (0.1, 1 / 3, 1.0, 3.0, 10.0)
SURE = 0.9


class AssessError(ValueError):
    """The question cannot be answered as asked."""


def space_budgets(epsilon: float) -> tuple[float, ...]:
    """Space budgets around one, rounded to three digits."""
    return tuple(float(f"{epsilon * step:.3g}") if step != 1 else epsilon for step in STEPS)


@dataclass(frozen=True)
class Question:
    """What the owner of a table asks; an empty ``known`` means all columns but the targets."""

    dataset: str
    targets: tuple[str, ...]
    epsilon: float
    known: tuple[str, ...] = ()
    epsilons: tuple[float, ...] = ()
    delta: float = 1e-5
    k: int = 3
    metric: str = "exact"
    attacks: tuple[str, ...] = (PRIOR, OPTIMAL)
    reps: int = 5
    seed: int = 0
    threshold: int = 10
    max_risk: float | None = None
    measure: Measure = Measure.ADVANTAGE

    def __post_init__(self) -> None:
        for epsilon in (self.epsilon, *self.epsilons):
            if not epsilon > 0:
                raise AssessError(f"epsilon must be > 0, got {epsilon:g}")
        if isinf(self.epsilon) and not self.epsilons:
            raise AssessError("epsilon inf has no budgets around it; list some with --epsilons")
        if self.reps < 1:
            raise AssessError(f"reps must be at least 1, got {self.reps}")
        if self.threshold < 1:
            raise AssessError(f"threshold must be at least 1 record, got {self.threshold}")
        if self.max_risk is not None and not 0 < self.max_risk < 1:
            raise AssessError(f"max-risk must be strictly between 0 and 1, got {self.max_risk:g}")
        missing = {PRIOR, OPTIMAL} - set(self.attacks)
        if missing:
            raise AssessError(f"attacks must contain {PRIOR} and {OPTIMAL}, got {self.attacks}")
        named = plugins.get_entries("attack")
        for name in self.attacks:
            if name not in named:
                raise AssessError(f"unknown attack {name!r}; allowed: {', '.join(named)}")

    @cached_property
    def budgets(self) -> tuple[float, ...]:
        """The ε that are played, ascending."""
        return tuple(sorted({self.epsilon, *(self.epsilons or space_budgets(self.epsilon))}))

    def build_game(self, n: int, epsilon: float, rep: int = 0) -> Game:
        return Game(
            dataset=self.dataset,
            targets=self.targets,
            known=self.known,
            epsilon=epsilon,
            delta=self.delta,
            n=n,
            mechanism_options=Options({} if self.k == 3 else {"k": self.k}),
            metric=self.metric,
            seed=self.seed,
            rep=rep,
        )


def check_table(question: Question, table: Table) -> None:
    """Refuse a question that does not fit the table, whatever the prior."""
    domain, targets = table.domain, question.targets
    domain.positions(targets)
    known = question.known or tuple(name for name in domain.names if name not in targets)
    domain.positions(known)
    both = [name for name in known if name in targets]
    if both:
        raise AssessError(f"column {both[0]!r} is both known and a target; choose one")
    if not targets or not known:
        raise AssessError("name at least one target column and leave at least one column known")
    if len(table) < FEWEST_RECORDS:
        raise AssessError(
            f"the table has {len(table)} records, fewer than {FEWEST_RECORDS}: too few to assess"
        )
    for name in targets:
        values = np.unique(table.column(name))
        if len(values) == 1:
            label = domain[name].labels[int(values[0])]
            raise AssessError(
                f"target {name!r} has the single value {label[:60]!r} in all records: there is "
                "nothing to reconstruct; choose another target"
            )
    played = domain.project(name for name in domain.names if name in (*known, *targets))
    metric = plugins.build_metric(question.metric)
    metric.check(played, targets)
    if not scores_by_record(metric):
        raise AssessError(
            f"an assessment is about single records, and metric {metric.name} lets a guess for one "
            "count for another; use exact, columns:M or l1:E"
        )
    for epsilon in question.budgets:
        GaussianMarginals.for_budget(played, targets, epsilon, question.delta, k=question.k)


def check_question(question: Question, table: Table) -> None:
    """Refuse a question that does not fit the table and its prior, before anything is played."""
    check_table(question, table)
    for epsilon in question.budgets:
        prior, _, _, _ = check(question.build_game(len(table), epsilon))
    if prior.domain != table.domain:
        raise AssessError(
            "the prior and the table have different columns or labels; fit the prior with the same "
            "domain file"
        )


@dataclass(frozen=True)
class AttackShares:
    """An attack at a budget: shares of records reconstructed."""

    attack: str
    real: Mean
    fresh: Mean | None
    converged: bool | None


@dataclass(frozen=True)
class Ceiling:
    """No attack reconstructs more than this share: on average, and in 95 % of runs (proved).

    ``gain`` is the mean less what the best guess without a release expects.
    """

    mean: float
    gain: float
    high: float


@dataclass(frozen=True)
class Sure:
    """Records of which the optimal attack is at least 90 % sure: how many, and the share right.

    Both are None where the records are fewer than the threshold. ``right`` is None where the other
    records are fewer, because it would reveal something about them.
    """

    records: float | None
    right: float | None


@dataclass(frozen=True)
class Budget:
    """The numbers of one ε; all successes are shares of records.

    ``prior_real`` is guessed right of the real hidden cells without a release; ``prior_expected``
    and ``ceiling`` are for hidden cells drawn from the prior given the real known columns.
    ``ceiling`` is None without a guarantee. ``fresh_gain`` is how much more the best attack got on
    fresh tables than guessing did; ``best_possible`` is what it expected to get.
    """

    epsilon: float | None
    guarantee: str
    mu: float | None
    noise_sd: float
    prior_real: float
    prior_expected: float
    attacks: tuple[AttackShares, ...]
    best_possible: float | None
    best_converged: bool | None
    fresh_gain: Mean | None
    ceiling: Ceiling | None
    sure: Sure
    accuracy: Accuracy

    def get_attack(self, name: str) -> AttackShares:
        return next(shares for shares in self.attacks if shares.attack == name)


@dataclass(frozen=True)
class Assessment:
    """All numbers of a report."""

    known: tuple[str, ...]
    marginals: int
    relation: str
    unit: str
    budgets: tuple[Budget, ...]
    exposure: Exposure
    proved: tuple[ProvedEpsilon, ...] = ()
    measured: tuple[MeasuredEpsilon, ...] = ()
    rows: tuple[Result, ...] = field(default=(), repr=False)
