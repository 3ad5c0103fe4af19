"""What the owner of a table asks, and whether it can be answered."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import isinf

import numpy as np

from reconbench.attacks.metrics import scores_by_record
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.max_epsilon import Measure
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import Game, check
from reconbench.benchmarks.game.setting import Access
from reconbench.datasets import Domain, Prior, Table
from reconbench.mechanisms import GaussianMarginals, Mechanism

PRIOR = "prior"
ALL = "all"
FEWEST_RECORDS = 10
STEPS = (0.1, 1 / 3, 1.0, 3.0, 10.0)


class AssessError(ValueError):
    """The question cannot be answered as asked."""


def space_budgets(epsilon: float) -> tuple[float, ...]:
    """Space budgets around one, rounded to three digits."""
    return tuple(float(f"{epsilon * step:.3g}") if step != 1 else epsilon for step in STEPS)


@dataclass(frozen=True)
class AttackQuestion:
    """Who attacks a table; an empty ``known`` means all columns but the targets.

    ``attacks`` are played beside the prior's guess and the reference, see ``reference``; `all`
    are those that can.
    """

    dataset: str
    targets: tuple[str, ...]
    _: KW_ONLY
    known: tuple[str, ...] = ()
    metric: str = "exact"
    attacks: tuple[str, ...] = ()
    seed: int = 0
    threshold: int = 10

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise AssessError(f"threshold must be at least 1 record, got {self.threshold}")
        named = plugins.get_entries("attack")
        for name in self.attacks:
            if name not in (ALL, *named):
                raise AssessError(f"unknown attack {name!r}; allowed: {ALL}, {', '.join(named)}")


@dataclass(frozen=True)
class Question(AttackQuestion):
    """What the owner of a table asks about a release that is planned.

    ``in_rho`` says that its budgets were stated as ρ of zero-concentrated DP, see ``zcdp_budgets``.
    """

    _: KW_ONLY
    epsilon: float
    epsilons: tuple[float, ...] = ()
    delta: float = 1e-5
    mechanism: str = GaussianMarginals.name
    mechanism_options: Options = Options()  # noqa: RUF009
    access: Access = Access.TABLE
    reps: int = 5
    max_risk: float | None = None
    measure: Measure = Measure.ADVANTAGE
    in_rho: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for epsilon in (self.epsilon, *self.epsilons):
            if not epsilon > 0:
                raise AssessError(f"epsilon must be > 0, got {epsilon:g}")
        if isinf(self.epsilon) and not self.epsilons:
            raise AssessError("epsilon inf has no budgets around it; list some with --epsilons")
        if self.reps < 1:
            raise AssessError(f"reps must be at least 1, got {self.reps}")
        if self.max_risk is not None and not 0 < self.max_risk < 1:
            raise AssessError(f"max-risk must be strictly between 0 and 1, got {self.max_risk:g}")
        plugins.check_options(self.mechanism, self.mechanism_options)
        options = plugins.drop_default_options(self.mechanism, Options(self.mechanism_options))
        object.__setattr__(self, "mechanism_options", options)

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
            mechanism=self.mechanism,
            mechanism_options=self.mechanism_options,
            metric=self.metric,
            access=self.access,
            seed=self.seed,
            rep=rep,
        )

    def build_mechanism(self, epsilon: float, played: Domain, prior: Prior) -> Mechanism:
        """The mechanism at a budget, for the columns that are known or wanted."""
        return plugins.build_mechanism(
            self.mechanism,
            played,
            self.targets,
            epsilon,
            self.delta,
            options=self.mechanism_options,
            prior=prior,
        )


def choose_played(
    domain: Domain, targets: tuple[str, ...], known: tuple[str, ...]
) -> tuple[Domain, tuple[str, ...]]:
    """The columns that are known or wanted, and the known ones, in the order of the domain."""
    domain.positions(targets)
    known = known or tuple(name for name in domain.names if name not in targets)
    domain.positions(known)
    both = [name for name in known if name in targets]
    if both:
        raise AssessError(f"column {both[0]!r} is both known and a target; choose one")
    if not targets or not known:
        raise AssessError("name at least one target column and leave at least one column known")
    played = domain.project(name for name in domain.names if name in (*known, *targets))
    return played, tuple(name for name in played.names if name in known)


def check_metric(spec: str, played: Domain, targets: tuple[str, ...]) -> None:
    """Refuse a metric that does not fit the targets or that is not about single records."""
    metric = plugins.build_metric(spec)
    metric.check(played, targets)
    if not scores_by_record(metric):
        raise AssessError(
            f"an assessment is about single records, and metric {metric.name} lets a guess for one "
            "count for another; use exact, columns:M or l1:E"
        )


def check_records(table: Table, targets: tuple[str, ...]) -> None:
    """Refuse a table with too few records, or without anything to guess."""
    if len(table) < FEWEST_RECORDS:
        raise AssessError(
            f"the table has {len(table)} records, fewer than {FEWEST_RECORDS}: too few to assess"
        )
    for name in targets:
        values = np.unique(table.column(name))
        if len(values) == 1:
            label = table.domain[name].labels[int(values[0])]
            raise AssessError(
                f"target {name!r} has the single value {label[:60]!r} in all records: there is "
                "nothing to reconstruct; choose another target"
            )


def check_table(question: AttackQuestion, table: Table) -> None:
    """Refuse a question that does not fit the table, whatever the prior."""
    played, _ = choose_played(table.domain, question.targets, question.known)
    check_records(table, question.targets)
    check_metric(question.metric, played, question.targets)


def check_prior(prior: Prior, table: Table) -> None:
    """Refuse a prior of other columns or labels than the table's."""
    if prior.domain != table.domain:
        raise AssessError(
            "the prior and the table have different columns or labels; fit the prior with the same "
            "domain file"
        )


def check_question(question: Question, table: Table) -> None:
    """Refuse a question that does not fit the table and its prior, before anything is played."""
    check_table(question, table)
    for epsilon in question.budgets:
        prior, _, _, _ = check(question.build_game(len(table), epsilon))
    check_prior(prior, table)
