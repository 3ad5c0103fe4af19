"""A game: a setting to be played, and the checks before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reconbench.attacks import Metric
from reconbench.attacks.metrics import scores_by_record
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.attacker_prior import check_attacker_prior
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.game.setting import (
    AXES,
    Access,
    Adversary,
    Seeds,
    Setting,
    make_plain_axis,
)
from reconbench.datasets import Domain, Prior
from reconbench.mechanisms import Mechanism


class GameError(ValueError):
    """A game that cannot be played as asked."""


@dataclass(frozen=True)
class Game(Setting):
    """A setting to be played, and one repetition of it.

    An empty ``known`` means all columns but the targets; columns that are neither are left out.
    The realistic adversary knows the known columns of every record. The informed one, against whom
    most bounds are proved, attacks each record knowing all the others in full. Tables are drawn
    from the prior of the data set; ``attacker_prior`` says which one the attacker believes.
    ``advantage`` is the number of records of each table whose attack is also played in a world
    without them, see ``game.worlds.advantage``; 0 leaves it out. ``target_records`` of the table
    are scored, 0 means all: the first ones, since records are independent draws, so that the table,
    the noise and the guesses are those of the game that scores all. ``held_out`` records that were
    not in the table are attacked as well, see ``game.worlds.memorisation``. Specs of files are as
    given, and ``data_hash`` is empty: a row has the names and the hash.

    Args:
        dataset: The data set whose prior tables are drawn from.
        targets: The hidden columns.
        epsilon: The privacy budget; inf for no noise.
        rep: The repetition. The other arguments are settings with defaults, see ``Setting``.

    Example:
        >>> import reconbench as rb
        >>> rb.Game("acs", ("SEX",), epsilon=1.0, n=50)
        Game(dataset='acs', targets=('SEX',), epsilon=1.0, n=50)
    """

    rep: int = 0

    def __repr__(self) -> str:
        return f"Game({self.list_chosen()})"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise GameError(f"n must be at least 1 record, got {self.n}")
        if not self.epsilon > 0:
            raise GameError(f"epsilon must be > 0 (inf is allowed), got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise GameError(f"delta must be in [0, 1), got {self.delta:g}")
        if not self.targets:
            raise GameError("targets is empty; name at least one target column")
        if self.adversary not in list(Adversary):
            raise GameError(f"adversary must be {' or '.join(Adversary)}, got {self.adversary!r}")
        if self.access not in list(Access):
            raise GameError(f"access must be {' or '.join(Access)}, got {self.access!r}")
        if self.held_out < 0:
            raise GameError(f"held_out must be 0 (none) or more records, got {self.held_out}")
        if self.held_out and self.adversary != Adversary.REALISTIC:
            raise GameError("held-out records are attacked by the realistic adversary only")
        if self.rep < 0:
            raise GameError(f"rep must be 0 or more, got {self.rep}")
        if not 0 <= self.advantage <= self.n:
            raise GameError(
                f"advantage must be between 0 (not measured) and the {self.n} records, got "
                f"{self.advantage}"
            )
        if not 0 <= self.target_records <= self.n:
            raise GameError(
                f"target_records must be between 0 (all) and the {self.n} records, got "
                f"{self.target_records}"
            )
        if self.target_records and self.advantage:
            raise GameError(
                "the advantage is measured on records drawn from the whole table: leave out "
                "target_records or advantage"
            )
        check_attacker_prior(self.attacker_prior)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))
        object.__setattr__(self, "adversary", Adversary(self.adversary))
        object.__setattr__(self, "access", Access(self.access))
        object.__setattr__(self, "mechanism_options", Options(self.mechanism_options))

    def repeat(self, rep: int) -> Game:
        """Another repetition of this game."""
        return replace(self, rep=rep)

    def make_stream(self, purpose: str, prior: Prior, seeds: Seeds) -> np.random.Generator:
        """Make a random stream named by the axes it depends on, the prior, seed and repetition."""
        axes: dict[str, object] = {
            name: make_plain_axis(getattr(self, name))
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
        return make_stream(purpose, axes)


def check(game: Game) -> tuple[Prior, tuple[str, ...], Metric, Mechanism]:
    """Find whatever is wrong with a game before anything is drawn or written.

    Returns its prior, known columns, metric and mechanism. Priors and mechanisms are built once.
    """
    prior = plugins.load_prior(game.dataset)
    domain, known = choose_columns(game, prior.domain)
    metric = plugins.build_metric(game.metric)
    metric.check(domain, game.targets)
    if not scores_by_record(metric):
        _check_lists(game, metric)
    mechanism = plugins.build_mechanism(
        game.mechanism,
        domain,
        game.targets,
        game.epsilon,
        game.delta,
        options=game.mechanism_options,
        prior=prior,
    )
    if game.access is Access.MEASUREMENTS and not getattr(mechanism, "measures", False):
        raise GameError(
            f"access to measurements needs a mechanism that fits a synthetic table to them, which "
            f"{mechanism.name} is not; leave access out"
        )
    return prior, known, metric, mechanism


def _check_lists(game: Game, metric: Metric) -> None:
    """Refuse what means nothing if a guess may count for any record."""
    if game.adversary is Adversary.INFORMED:
        raise GameError(
            f"metric {metric.name} lets a guess for one record count for another, which the "
            "informed adversary knows in full; play the realistic adversary"
        )
    if game.advantage:
        raise GameError(
            f"the advantage is measured record by record, which metric {metric.name} is not; leave "
            "advantage out"
        )


def choose_columns(game: Game, domain: Domain) -> tuple[Domain, tuple[str, ...]]:
    """The columns of a data set that a game plays with, and the known ones, in its order."""
    domain.positions(game.targets)
    known = game.known or tuple(name for name in domain.names if name not in game.targets)
    domain.positions(known)
    both = [name for name in known if name in game.targets]
    if both:
        raise GameError(f"column {both[0]!r} is both known and a target; choose one")
    if not known:
        raise GameError(
            "no known column: every column is a target, so guesses cannot be matched with "
            "records; leave at least one column known"
        )
    played = tuple(name for name in domain.names if name in game.targets or name in known)
    return domain.project(played), tuple(name for name in played if name not in game.targets)
