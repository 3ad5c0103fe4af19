"""What is played: a configuration, and a table drawn and released for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reconbench.attacks import AttackerView, Metric
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game import misfit, row_ceilings
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.random_streams import stream
from reconbench.benchmarks.game.setting import AXES, Adversary, Seeds, Setting, plain_axis
from reconbench.benchmarks.plugins.bounds import BoundEntry, find_bounds
from reconbench.bounds import Scope, Targets, WholePriors
from reconbench.datasets import Domain, Prior, Table
from reconbench.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class GameError(ValueError):
    """A game that cannot be played as asked."""


@dataclass(frozen=True)
class Game(Setting):
    """A setting to be played, and one repetition of it.

    ``known`` left empty means all columns but the targets; other columns of the prior are left
    out. The realistic adversary knows the known columns of every record; the informed one, against
    whom most bounds are proved, attacks each record knowing all the others in full. Tables are
    drawn from the prior of the data set; ``attacker_prior`` says which one the attacker believes.
    ``advantage`` is the number of records of each table whose attack is also played in a world
    without them, see ``game.rad_worlds``; 0 leaves it out. Specs of files are as given, and
    ``data_hash`` is empty: a row has the names and the hash.
    """

    rep: int = 0

    def __post_init__(self) -> None:
        if self.n < 1:
            raise GameError(f"n must be at least 1 record, got {self.n}")
        if not self.epsilon > 0:
            raise GameError(f"epsilon must be > 0 (inf is allowed), got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise GameError(f"delta must be in [0, 1), got {self.delta:g}")
        if not self.targets:
            raise GameError("name at least one target column")
        if self.adversary not in list(Adversary):
            raise GameError(f"adversary must be {' or '.join(Adversary)}, got {self.adversary!r}")
        if self.rep < 0:
            raise GameError(f"rep must be 0 or more, got {self.rep}")
        if not 0 <= self.advantage <= self.n:
            raise GameError(
                f"advantage must be between 0 (not measured) and the {self.n} records, got "
                f"{self.advantage}"
            )
        misfit.check_spec(self.attacker_prior)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))
        object.__setattr__(self, "adversary", Adversary(self.adversary))
        object.__setattr__(self, "mechanism_options", Options(self.mechanism_options))

    def at(self, rep: int) -> Game:
        """Another repetition of this game."""
        return replace(self, rep=rep)

    def stream(self, purpose: str, prior: Prior, seeds: Seeds) -> np.random.Generator:
        """A random stream named by the axes it depends on, the prior, seed and repetition."""
        axes: dict[str, object] = {
            name: plain_axis(getattr(self, name))
            for name, axis in AXES.items()
            if seeds in axis.seeds
        }
        if "mechanism" in axes:
            # The names of streams have had a k of their own since before it was an option.
            others = self.mechanism_options.without("k")
            axes |= {"mechanism": plugins.identify_spec(self.mechanism)}
            axes |= {"k": self.mechanism_options.get("k", 3), "mechanism_options": others.text}
            if not others:
                del axes["mechanism_options"]
        if "metric" in axes:
            axes["metric"] = plugins.identify_spec(self.metric)
        axes |= {"prior": prior.sha256(), "seed": self.seed, "rep": self.rep}
        return stream(purpose, axes)


def check(game: Game) -> tuple[Prior, tuple[str, ...], Metric, Mechanism]:
    """Whatever can be wrong with a game is found here, before anything is drawn or written."""
    prior = plugins.load_prior(game.dataset)
    domain, known = columns(game, prior.domain)
    metric = plugins.build_metric(game.metric)
    metric.check(domain, game.targets)
    mechanism = plugins.build_mechanism(
        game.mechanism,
        domain,
        game.targets,
        game.epsilon,
        game.delta,
        options=game.mechanism_options,
    )
    return prior, known, metric, mechanism


@dataclass(frozen=True)
class Round:
    """A game with its table drawn and released: every attack on it meets the same one.

    ``bounds`` are specs of bounds in files, beside all that are installed.
    """

    game: Game
    prior: Prior
    mechanism: Mechanism
    truth: Table
    view: AttackerView
    table_hash: str
    bounds: tuple[str, ...] = ()

    @classmethod
    def of(cls, game: Game, bounds: tuple[str, ...] = ()) -> Round:
        prior, known, metric, mechanism = check(game)
        names = [name for name in prior.domain.names if name in (*known, *game.targets)]
        rng = game.stream("table", prior, Seeds.TABLE)
        table = plugins.sample_table(game.dataset, prior, game.n, rng).project(names)
        rng = game.stream("release", prior, Seeds.RELEASE)
        release = plugins.release_table(game.mechanism, mechanism, table, rng)
        theirs = misfit.attacker_prior(prior, game.attacker_prior)
        view = AttackerView(release, mechanism, table.project(known), game.targets, theirs, metric)
        truth = table.project(game.targets)
        return cls(game, prior, mechanism, truth, view, table.sha256(), bounds)

    @property
    def metric(self) -> Metric:
        return self.view.metric

    @cached_property
    def baseline(self) -> tuple[Table, Floats]:
        """The best guess from the prior alone, and its chance of success, for every record."""
        return self.metric.best_guess(self.prior, self.view.known, self.game.targets)

    @cached_property
    def table(self) -> Table:
        """What was released, in the columns and the order of the release."""
        return self.view.known.join(self.truth).project(self.view.release.domain.names)

    def views(self) -> Iterator[AttackerView]:
        """What the adversary sees: all records at once, or one view a record."""
        if self.game.adversary is Adversary.REALISTIC:
            yield self.view
            return
        for i in range(len(self.truth)):
            yield self.view_of(i)

    def view_of(self, record: int) -> AttackerView:
        """What the informed adversary sees of one record."""
        known = self.view.known
        others = Table(self.table.domain, np.delete(self.table.codes, record, axis=0))
        target = Table(known.domain, known.codes[record : record + 1])
        return replace(self.view, known=target, others=others)

    def hits(self, guess: Table) -> Bools:
        """Which records were reconstructed."""
        return self.metric.score(self.truth, guess)

    def successes(self, guess: Table) -> int:
        return int(self.hits(guess).sum())

    def expected_from_prior(self, guess: Table) -> Floats:
        return self.metric.prior_success(self.prior, self.view.known, guess)

    def compute_bounds(self, expected: Floats) -> row_ceilings.RowBounds:
        """Every ceiling that one run has, for an attack with the given prior success."""
        targets = replace(self._targets, guess_success=expected)
        return self._any_attack | self._compute_bounds(Scope.GUESSES, targets)

    def ceilings(self, expected: Floats) -> dict[str, dict[str, float]]:
        return self.compute_bounds(expected).ceilings

    def believed(self, guess: Table) -> dict[str, float]:
        """The success that the attacker's own prior promises; nothing if it is the data's."""
        if self.game.attacker_prior == misfit.SAME:
            return {}
        promised = self.metric.prior_success(self.view.prior, self.view.known, guess)
        return {"misfit_believed": float(promised.sum())}

    @property
    def for_every_attack(self) -> dict[str, dict[str, float]]:
        """The ceilings that all attacks on this round have in common."""
        return self._any_attack.ceilings

    @cached_property
    def _any_attack(self) -> row_ceilings.RowBounds:
        return self._compute_bounds(Scope.ANY_ATTACK, self._targets)

    def _compute_bounds(self, scope: Scope, targets: Targets) -> row_ceilings.RowBounds:
        return row_ceilings.compute(
            self._bound_entries, scope, self.game, self.metric, targets, self.mechanism.guarantee
        )

    @cached_property
    def _bound_entries(self) -> list[BoundEntry]:
        return find_bounds(self.bounds)

    @cached_property
    def _targets(self) -> Targets:
        return Targets(
            self.baseline[1],
            self.mechanism.budget,
            read_whole_priors=lambda: self._whole_priors,
            read_misfit_success=lambda: self._misfit_success,
        )

    @cached_property
    def _whole_priors(self) -> WholePriors | None:
        return self.metric.whole_priors(self.prior, self.view.known, self.game.targets)

    @cached_property
    def _misfit_success(self) -> Floats | None:
        columns = (self.view.known, self.game.targets)
        return misfit.corrected(self.prior, self.view.prior, self.metric, *columns)


def columns(game: Game, domain: Domain) -> tuple[Domain, tuple[str, ...]]:
    domain.positions(game.targets)
    known = game.known or tuple(name for name in domain.names if name not in game.targets)
    domain.positions(known)
    both = [name for name in known if name in game.targets]
    if both:
        raise GameError(f"column {both[0]!r} is both known and a target")
    if not known:
        raise GameError(
            "no known column: every column is a target, so guesses cannot be matched with "
            "records; leave at least one column known"
        )
    played = tuple(name for name in domain.names if name in game.targets or name in known)
    return domain.project(played), tuple(name for name in played if name not in game.targets)
