"""Assess what is published already: one release, whose noise or generator nobody can run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import inf
from typing import ClassVar, Protocol

from reconbench.benchmarks.assess.assessment import PICKED, Assessment, Budget
from reconbench.benchmarks.assess.budgets import measure_budget, measure_exposure
from reconbench.benchmarks.assess.games.real_games import (
    RealGame,
    build_published_round,
    find_plays,
    play_real_game,
    split_held_out,
)
from reconbench.benchmarks.assess.max_epsilon import Measure
from reconbench.benchmarks.assess.published.picked import pick_by_other_records
from reconbench.benchmarks.assess.question import (
    PRIOR,
    AttackQuestion,
    check_prior,
    check_table,
)
from reconbench.benchmarks.assess.reference import choose_reference, list_attacks
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round
from reconbench.benchmarks.game.setting import Access, Seeds
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.bounds import ApproxDP
from reconbench.datasets import Table
from reconbench.mechanisms import Mechanism, Release


class Published(Mechanism, Protocol):
    """A mechanism of which only a release is known, and perhaps a budget."""

    @property
    def stated(self) -> ApproxDP | None:
        """The budget that the publisher states; None where nothing is promised."""
        ...


@dataclass(frozen=True)
class PublishedQuestion(AttackQuestion):
    """What is asked of a release that is out. ``mechanism`` names the kind of release.

    ``epsilon`` is inf where no budget is stated.
    """

    _: KW_ONLY
    mechanism: str
    mechanism_options: Options = Options()  # noqa: RUF009
    epsilon: float = inf
    delta: float = 1e-5
    access: ClassVar[Access] = Access.TABLE
    reps: ClassVar[int] = 1
    max_risk: ClassVar[None] = None
    in_rho: ClassVar[bool] = False
    measure: ClassVar[Measure] = Measure.ADVANTAGE

    def build_game(self, n: int) -> Game:
        return Game(
            dataset=self.dataset,
            targets=self.targets,
            known=self.known,
            epsilon=self.epsilon,
            delta=self.delta,
            n=n,
            mechanism=self.mechanism,
            mechanism_options=self.mechanism_options,
            metric=self.metric,
            seed=self.seed,
        )


def assess_release(
    question: PublishedQuestion,
    truth: Table,
    release: Release,
    mechanism: Published,
    held_out: Table | None = None,
    announce: Callable[[str], None] = lambda name: None,
) -> Assessment:
    """Attack a release that exists already, and count the successes against the truth.

    ``held_out`` are records that are not in the table, to be attacked as well; ``announce`` is told
    the name of every attack that is about to play.
    """
    check_table(question, truth)
    round_ = build_published_round(question.build_game(len(truth)), truth, release, mechanism)
    check_prior(round_.prior, truth)
    reference = choose_reference(round_.view)
    attacks = list_attacks(question.attacks, reference, round_.view)
    others = None if held_out is None else split_held_out(held_out, round_)
    with one_thread():
        specs = [AttackSpec(name) for name in attacks]
        games = [play_real_game(round_, truth, specs, others, announce)]
    (own,) = find_plays(reference, games)
    if own.converged is None:
        reference, games = _pick_best(round_, games)
        attacks = (PRIOR, PICKED, *attacks[1:])
    found = measure_budget(round_, attacks, reference, question.threshold, games, [], others)
    guarantee = mechanism.stated or mechanism.guarantee
    return Assessment(
        known=round_.view.known.domain.names,
        reference=reference,
        relation=guarantee.relation.value,
        unit=guarantee.unit,
        budgets=(_state_budget(found, mechanism),),
        exposure=measure_exposure(round_, reference, games, question.threshold),
    )


def _pick_best(round_: Round, games: Sequence[RealGame]) -> tuple[str, list[RealGame]]:
    """Add the best of all attacks, since none of them is known to be."""
    rng = round_.game.make_stream(
        f"pick attacks on the table {round_.table_hash}", round_.prior, Seeds.ATTACK
    )
    return PICKED, [
        replace(game, plays=(*game.plays, pick_by_other_records(game.plays, rng))) for game in games
    ]


def _state_budget(budget: Budget, mechanism: Published) -> Budget:
    """The numbers of a budget, with what is promised: nothing where nothing is stated."""
    stated, used = mechanism.stated, mechanism.guarantee
    if stated is None:
        return replace(
            budget,
            epsilon=None,
            mu=None,
            ceiling=None,
            any_prior_gain=None,
            guarantee="none stated",
        )
    return replace(
        budget,
        # Both hold: a guarantee of either neighbouring relation bounds the advantage as it is.
        any_prior_gain=min(stated.total_variation(), used.total_variation()),
        guarantee=(used if stated.relation is used.relation else stated).describe(),
    )
