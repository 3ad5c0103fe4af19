"""The reconstruction advantage (RAD) of any attack in the ordinary game.

Guerra-Balboa 2026, Definition 4.1: the success of an attack on records that took part, minus its
success on the same records when others, drawn from the prior, took part in their place. The
attacker knows the same in both worlds: the known columns of the records under attack. What an
attack owes to the prior, to the known columns or to the rest of the table cancels.

The first world is the round as it was played. In the second one some of its records are replaced
by fresh draws of the prior, the table is released with the same noise stream, and the attack plays
again with the same stream of its own; it is scored against the records that were taken out. Both
worlds have the laws of the definition; that they share their noise only makes the difference less
noisy.

Replacing one record at a time is the definition. Where a record's guess depends on nothing but its
own part of the release, replacing all at once gives the same number for one release instead of n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from reconbench.attacks import AttackerView, Reconstruction
from reconbench.attacks.metrics import ExactMatch, WithinL1
from reconbench.attacks.rad_optimal import bound_rad, joint_prior
from reconbench.benchmarks.game.round import Round, grant_access
from reconbench.benchmarks.game.setting import Adversary, Seeds
from reconbench.bounds.guarantees.relation import why_not_replace_one
from reconbench.bounds.rad import GaussianNoise, LaplaceNoise, rad_location, success_within
from reconbench.datasets import Table
from reconbench.mechanisms import Release
from reconbench.mechanisms.channels import ChannelRelease
from reconbench.mechanisms.local.reports import LocalRelease
from reconbench.mechanisms.sums import SumRelease

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Generators = Sequence[np.random.Generator]
# An attack's answers to some views, each with a stream of its own.
Answer = Callable[[Sequence[AttackerView], Generators], Sequence[Reconstruction]]

# Views of other worlds that are held at once.
BATCH = 10
# Theorem 4.3 for a noisy sum is an integral, enclosed to this width.
WIDTH = 1e-4
THEOREM_4_2, THEOREM_4_3 = "Theorem 4.2", "Theorem 4.3"


@dataclass(frozen=True)
class Worlds:
    """One repetition: how many records were attacked, and the successes in both worlds."""

    records: int
    took_part: int
    replaced: int

    @property
    def rad(self) -> float:
        return (self.took_part - self.replaced) / self.records


@dataclass(frozen=True)
class Ceiling:
    """What no attack's advantage exceeds in expectation, and the theorem that says so."""

    value: float
    theorem: str


def play_worlds(
    round_: Round, hits: Bools, answer: Answer, streams: Generators, at_once: bool
) -> Worlds:
    """Play both worlds of one repetition, on ``game.worlds.advantage`` records drawn at random.

    ``hits`` says which records the attack got in the round itself, ``streams`` holds the attack's
    stream before each of its views there. Records are replaced all ``at_once``, or one by one.
    """
    game = round_.game
    rng = game.make_stream("rad replacements", round_.prior, Seeds.TABLE)
    chosen = np.sort(rng.permutation(game.n)[: game.advantage])
    groups = [chosen] if at_once else [chosen[i : i + 1] for i in range(len(chosen))]
    replaced = 0
    for start in range(0, len(groups), BATCH):
        batch = groups[start : start + BATCH]
        views = [_view_without(round_, removed, rng) for removed in batch]
        # The informed adversary had one view per record, the realistic one a single view.
        indices = [0 if views[0].others is None else int(removed[0]) for removed in batch]
        parts = answer(views, [deepcopy(streams[index]) for index in indices])
        replaced += sum(
            _count_hits(round_, removed, part) for removed, part in zip(batch, parts, strict=True)
        )
    return Worlds(len(chosen), int(hits[chosen].sum()), replaced)


def _view_without(round_: Round, removed: Codes, rng: np.random.Generator) -> AttackerView:
    """What the attacker sees when fresh draws took part in the place of some records."""
    game, prior, view = round_.game, round_.prior, round_.view
    table = round_.table
    codes = table.codes.copy()
    codes[removed] = prior.sample(len(removed), rng).project(table.domain.names).codes
    noise = game.make_stream("release", prior, Seeds.RELEASE)
    release = grant_access(round_.mechanism.release(Table(table.domain, codes), noise), game.access)
    if game.adversary is Adversary.REALISTIC:
        return replace(view, release=release)
    return replace(round_.view_of(int(removed[0])), release=release)


def _count_hits(round_: Round, removed: Codes, part: Reconstruction) -> int:
    """Count the successes on the records that were taken out."""
    truth = round_.truth
    guess = part.guess.codes[removed] if len(part.guess) == len(truth) else part.guess.codes
    scored = round_.metric.score(
        Table(truth.domain, truth.codes[removed]), Table(truth.domain, guess)
    )
    return int(scored.sum())


def can_replace_at_once(release: Release, shipped: bool) -> bool:
    """Whether guesses depend on nothing but each record's own part of the release.

    Attacks of reconbench read each local report by itself; what a plugin does is not known.
    """
    return shipped and isinstance(release, LocalRelease | ChannelRelease)


def find_ceiling(round_: Round) -> Ceiling | None:
    """Find the tightest bound on the advantage of any attack on this round.

    Theorem 4.3 where the channel of one record is known: exact for local reports of the hidden
    columns, and for a noisy sum whose known columns say nothing about the summed one, whether or
    not the attacker knows the other records. Otherwise Theorem 4.2, the total variation. None if
    the guarantee is not for replace-one neighbours.
    """
    view = replace(round_.view, prior=round_.prior)
    exact = bound_rad(view).get("rad_bound")
    if exact is None:
        exact = _bound_sum(view)
    if exact is not None:
        return Ceiling(exact, THEOREM_4_3)
    guarantee = round_.mechanism.guarantee
    if why_not_replace_one(guarantee):
        return None
    return Ceiling(guarantee.total_variation(), THEOREM_4_2)


def _bound_sum(view: AttackerView) -> float | None:
    release, metric = view.release, view.metric
    if not isinstance(release, SumRelease) or not isinstance(metric, ExactMatch | WithinL1):
        return None
    noise = release.noise
    if not isinstance(noise, LaplaceNoise | GaussianNoise):
        return None
    prior = joint_prior(view.prior, view.targets)
    if np.abs(view.prior.conditional(view.known, view.targets) - prior).max() > 1e-12:
        return None
    error = metric.error if isinstance(metric, WithinL1) else 0
    # Cutting the answer off is post-processing: without it the bound is no smaller.
    return _bound_location(noise, tuple(release.values), tuple(prior), error)


@cache
def _bound_location(
    noise: LaplaceNoise | GaussianNoise,
    values: tuple[float, ...],
    prior: tuple[float, ...],
    error: int,
) -> float:
    codes = np.arange(len(values))
    near = success_within(np.abs(np.subtract.outer(codes, codes)), error)
    return rad_location(noise, values, prior, success=near, tolerance=WIDTH).high
