"""Real games: attacks on releases of the owner's own table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reconbench.attacks import AttackError, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.accuracy import Accuracy, measure_accuracy
from reconbench.benchmarks.assess.question import FEWEST_RECORDS, AssessError
from reconbench.benchmarks.game.game import choose_columns
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, check
from reconbench.benchmarks.game.round import grant_access
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.datasets import Table
from reconbench.mechanisms import Mechanism, Release

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RealPlay:
    """An attack on one release of the real table, record by record.

    ``held_out_hits`` is what it gets on records that were not in the table.
    """

    attack: str
    guess: Codes
    hits: Bools
    sure: Floats | None
    converged: bool | None
    held_out_hits: Bools | None = None


@dataclass(frozen=True)
class RealGame:
    """All attacks on one release of the real table."""

    plays: tuple[RealPlay, ...]
    accuracy: Accuracy | None


def build_real_round(game: Game, table: Table) -> Round:
    """Build the round of a game on a given table, with new noise.

    The name of the noise's random stream contains the hash of the table.
    """
    prior, known, _, mechanism = check(game)
    names = [name for name in prior.domain.names if name in (*known, *game.targets)]
    rng = game.make_stream(f"release of the table {table.sha256()}", prior, Seeds.RELEASE)
    release = plugins.release_table(game.mechanism, mechanism, table.project(names), rng)
    return build_published_round(game, table, release, mechanism)


def build_published_round(
    game: Game, table: Table, release: Release, mechanism: Mechanism
) -> Round:
    """Build the round of a game on a given table and a release of it."""
    prior = plugins.load_prior(game.dataset)
    _, known = choose_columns(game, prior.domain)
    metric = plugins.build_metric(game.metric)
    seen = grant_access(release, game.access)
    view = AttackerView(seen, mechanism, table.project(known), game.targets, prior, metric)
    truth = table.project(game.targets)
    return Round(game, prior, mechanism, release, truth, view, table.sha256())


def play_real_game(
    round_: Round,
    table: Table,
    specs: Iterable[AttackSpec],
    held_out: HeldOut | None = None,
    announce: Callable[[str], None] = lambda name: None,
) -> RealGame:
    """Let attacks play a round on a real table, and measure what the release is good for.

    ``announce`` is told the name of every attack that is about to play.
    """
    plays = []
    for spec in specs:
        announce(spec.spec)
        plays.append(_play(round_, spec, held_out))
    played = table.project(round_.view.release.domain.names)
    return RealGame(tuple(plays), measure_accuracy(played, round_.view.release))


def _play(round_: Round, spec: AttackSpec, held_out: HeldOut | None) -> RealPlay:
    attack, view = spec.build(), round_.view
    reason = skip_reason(attack, view)
    if reason is not None:
        raise AttackError(f"attack {attack.name!r} cannot play: {reason}")
    purpose = f"attack {attack.name} on the table {round_.table_hash}"
    rng = round_.game.make_stream(purpose, round_.prior, Seeds.ATTACK)
    same = deepcopy(rng)
    reconstruction = check_reconstruction(view, attack.reconstruct(view, rng))
    best = reconstruction.best_possible
    play = RealPlay(
        attack=attack.name,
        guess=reconstruction.guess.codes,
        hits=round_.metric.score(round_.truth, reconstruction.guess),
        sure=reconstruction.scores,
        converged=None if best is None else best.converged,
    )
    if held_out is None:
        return play
    guess = held_out.join_guesses(
        check_reconstruction(others, attack.reconstruct(others, deepcopy(same))).guess
        for others in held_out.views(round_)
    )
    return replace(play, held_out_hits=round_.metric.score(held_out.truth, guess))


def split_held_out(table: Table, round_: Round) -> HeldOut:
    """Records that were not in the table, as what is known of them and what is hidden."""
    if len(table) < FEWEST_RECORDS:
        raise AssessError(
            f"there are {len(table)} held-out records, fewer than {FEWEST_RECORDS}: too few to "
            "compare with"
        )
    return HeldOut(
        table.project(round_.view.known.domain.names), table.project(round_.game.targets)
    )


def find_plays(name: str, games: Sequence[RealGame]) -> list[RealPlay]:
    """What an attack did in all games."""
    return [play for game in games for play in game.plays if play.attack == name]
