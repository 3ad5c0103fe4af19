"""A round: a game with its table drawn and released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from reconbench.attacks import AttackerView, BestPossible, Metric
from reconbench.attacks.metrics import ExactMatch, bound_success
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.attacker_prior import (
    SAME,
    bound_misfit_success,
    get_attacker_prior,
)
from reconbench.benchmarks.game.game import Game, check
from reconbench.benchmarks.game.row_ceilings import RowBounds, compute_row_bounds
from reconbench.benchmarks.game.setting import Access, Adversary, Seeds
from reconbench.benchmarks.plugins.bounds import BoundEntry, find_bounds
from reconbench.bounds import Scope, Targets, WholePriors
from reconbench.bounds.guarantees.relation import why_not_replace_one
from reconbench.bounds.weighted_success import bound_weighted_success
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import Mechanism, Release
from reconbench.mechanisms.synthetic.release import SyntheticRelease

if TYPE_CHECKING:
    from reconbench.attacks.judges import Judge, Worth

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Joint values above which the ceiling on bits is not computed.
MOST_WEIGHED = 64


@dataclass(frozen=True)
class Round:
    """A game with its table drawn and released: every attack on it meets the same one.

    ``released`` is all that the mechanism computed, of which attackers see what ``game.access``
    grants. ``bounds`` are specs of bounds in files, beside all that are installed.

    Args:
        game: The game; ``Round.draw(game)`` makes the rest.
        prior: The distribution that the table was drawn from.
        mechanism: What released it.
        released: All that it computed.
        truth: The hidden columns.
        view: What attackers see.
        table_hash: The hash of the table.
        bounds: Bounds in files.

    Example:
        >>> import reconbench as rb
        >>> round_ = rb.Round.draw(rb.Game("acs", ("SEX",), epsilon=1.0))
        >>> round_.truth
        Table(100 records of 'SEX')
    """

    game: Game
    prior: Prior
    mechanism: Mechanism
    released: Release
    truth: Table
    view: AttackerView
    table_hash: str
    bounds: tuple[str, ...] = ()

    @classmethod
    def draw(cls, game: Game, bounds: tuple[str, ...] = ()) -> Round:
        """Draw the table of a game and release it."""
        prior, known, metric, mechanism = check(game)
        names = [name for name in prior.domain.names if name in (*known, *game.targets)]
        rng = game.make_stream("table", prior, Seeds.TABLE)
        table = plugins.sample_table(game.dataset, prior, game.n, rng).project(names)
        rng = game.make_stream("release", prior, Seeds.RELEASE)
        release = plugins.release_table(game.mechanism, mechanism, table, rng)
        believed = get_attacker_prior(prior, game.attacker_prior)
        seen = grant_access(release, game.access)
        view = AttackerView(seen, mechanism, table.project(known), game.targets, believed, metric)
        truth = table.project(game.targets)
        return cls(game, prior, mechanism, release, truth, view, table.sha256(), bounds)

    def __repr__(self) -> str:
        return f"Round({self.game!r})"

    @property
    def metric(self) -> Metric:
        return self.view.metric

    @cached_property
    def baseline(self) -> tuple[Table, Floats]:
        """The best guess from the prior alone, and its chance of success, for scored records."""
        return self.metric.best_guess(self.prior, self.known, self.game.targets)

    @cached_property
    def known(self) -> Table:
        """The known columns of the records that are scored."""
        return self._cut(self.view.known)

    @cached_property
    def table(self) -> Table:
        """What was released, in the columns and the order of the release."""
        return self.view.known.join(self.truth).project(self.view.release.domain.names)

    def views(self) -> Iterator[AttackerView]:
        """What the adversary sees: all records at once, or one view per scored record."""
        if self.game.adversary is Adversary.REALISTIC:
            yield self.view
            return
        for record in range(self.game.scored):
            yield self.view_of(record)

    def view_of(self, record: int) -> AttackerView:
        """What the informed adversary sees of one record."""
        known = self.view.known
        others = Table(self.table.domain, np.delete(self.table.codes, record, axis=0))
        target = Table(known.domain, known.codes[record : record + 1])
        return replace(self.view, known=target, others=others)

    def hits(self, guess: Table) -> Bools:
        """Which of the scored records were reconstructed."""
        return self.metric.score(self._cut(self.truth), self._cut(guess))

    def successes(self, guess: Table) -> int:
        """How many records were reconstructed."""
        return int(self.hits(guess).sum())

    def expected_from_prior(self, guess: Table) -> Floats:
        """The probability under the prior of each guess for a scored record."""
        return self.metric.prior_success(self.prior, self.known, self._cut(guess))

    def believed_successes(self, guess: Table) -> float | None:
        """The successes that the attacker's own prior promises; None if it is the data's."""
        if self.game.attacker_prior == SAME:
            return None
        believed = self.metric.prior_success(self.view.prior, self.known, self._cut(guess))
        return float(believed.sum())

    def weigh_rarity(self, hits: Bools) -> dict[str, float]:
        """Successes by how rare the hidden values are: −log2 of their prior probability, in bits.

        ``right`` of the ``total`` bits, ``prior`` for the prior's best guess, and where it can be
        computed ``most``, which no attack exceeds in expectation. Only the prior decides what is
        rare, so a weight says nothing about the table but the value that it belongs to.
        """
        bits, baseline = self._bits, self.hits(self.baseline[0])
        rarity = {
            "right": float(bits[hits].sum()),
            "prior": float(bits[baseline].sum()),
            "total": float(bits.sum()),
        }
        return rarity if self._most_bits is None else rarity | {"most": self._most_bits}

    @cached_property
    def _bits(self) -> Floats:
        """How rare the hidden values of each scored record are among all records."""
        return _count_bits(self.prior, self._cut(self.truth))

    @cached_property
    def _most_bits(self) -> float | None:
        """The ceiling on the bits of any attack; None but for an exact match of few values."""
        domain, guarantee = self.truth.domain, self.mechanism.guarantee
        small = prod(domain.sizes) <= MOST_WEIGHED
        if not (small and isinstance(self.metric, ExactMatch)) or why_not_replace_one(guarantee):
            return None
        weights = _count_bits(self.prior, Table.of_all_values(domain))
        codes, counts = np.unique(self.known.codes, axis=0, return_counts=True)
        distinct = Table(self.known.domain, codes)
        priors = self.prior.conditional(distinct, domain.names).reshape(len(codes), -1)
        return float(counts @ bound_weighted_success(priors, weights, guarantee))

    def _cut(self, table: Table) -> Table:
        """The records of a table that are scored."""
        scored = self.game.scored
        return table if len(table) <= scored else Table(table.domain, table.codes[:scored])

    @cached_property
    def judges(self) -> tuple[Judge, ...]:
        """Who says what guesses are worth given the release: one for each view, or nobody.

        Judges see all that the mechanism computed: what guesses are worth given that has the same
        mean as what they are worth given the part that attackers see. Only mechanisms of this
        package are believed what they say of their noise.
        """
        from reconbench.attacks.judges import find_judge

        if not type(self.mechanism).__module__.startswith("reconbench."):
            return ()
        rng = self.game.make_stream("judge", self.prior, Seeds.ATTACK)
        judges = []
        for view in self.views():
            whole = replace(view, release=self.released, prior=self.prior)
            judge = find_judge(whole, rng, min(view.n, self.game.scored))
            if judge is None:
                return ()
            judges.append(judge)
        return tuple(judges)

    @cached_property
    def baseline_worth(self) -> Worth | None:
        """What the prior's best guess is worth given the release."""
        return self.judge(self.baseline[0])

    def judge(self, guess: Table) -> Worth | None:
        """What guesses are worth given the release, where somebody can say."""
        from reconbench.attacks.judges import judge_views

        return judge_views(self.judges, self._cut(guess).codes) if self.judges else None

    @cached_property
    def best_possible(self) -> BestPossible | None:
        """What the best guesses are worth given all that the mechanism computed.

        Never less than the prior's. No attack that sees a part of it expects more.
        """
        best = [judge.best_possible for judge in self.judges]
        stated = [one for one in best if one is not None]
        if self.baseline_worth is None or len(stated) < len(best):
            return None
        # Views of single records do not say how their successes depend on each other.
        return BestPossible(
            max(sum(one.expected for one in stated), self.baseline_worth.expected),
            hypot(*(one.error for one in stated)),
            successes=stated[0].successes if len(stated) == 1 else None,
        )

    def compute_bounds(self, expected: Floats) -> RowBounds:
        """Every ceiling that one run has, for an attack with the given prior success."""
        targets = replace(self._targets, guess_success=expected)
        return self._bounds_for_any_attack | self._compute_bounds(Scope.GUESSES, targets)

    @property
    def ceilings_for_any_attack(self) -> dict[str, dict[str, float]]:
        """The ceilings that all attacks on this round have in common."""
        return self._bounds_for_any_attack.ceilings

    @cached_property
    def _bounds_for_any_attack(self) -> RowBounds:
        return self._compute_bounds(Scope.ANY_ATTACK, self._targets)

    def _compute_bounds(self, scope: Scope, targets: Targets) -> RowBounds:
        return compute_row_bounds(
            self._bound_entries, scope, self.game, self.metric, targets, self.mechanism.guarantee
        )

    @cached_property
    def _bound_entries(self) -> list[BoundEntry]:
        return find_bounds(self.bounds)

    @cached_property
    def _targets(self) -> Targets:
        return Targets(
            bound_success(self.metric, self.prior, self.known, self.game.targets, self.baseline[1]),
            self.mechanism.budget,
            read_whole_priors=lambda: self._whole_priors,
            read_misfit_success=lambda: self._misfit_success,
        )

    @cached_property
    def _whole_priors(self) -> WholePriors | None:
        return self.metric.whole_priors(self.prior, self.known, self.game.targets)

    @cached_property
    def _misfit_success(self) -> Floats | None:
        columns = (self.known, self.game.targets)
        return bound_misfit_success(self.prior, self.view.prior, self.metric, *columns)


def grant_access(release: Release, access: str) -> Release:
    """What attackers see of a release."""
    if isinstance(release, SyntheticRelease) and access != Access.MEASUREMENTS:
        return release.hide_measurements()
    return release


def _count_bits(prior: Prior, values: Table) -> Floats:
    """−log2 of the probability of values among all records; 0 for what the prior rules out."""
    bits = np.maximum(-prior.log_evidence(values) / np.log(2), 0.0)
    return np.asarray(np.where(np.isfinite(bits), bits, 0.0))
