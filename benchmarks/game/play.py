"""Let attacks play rounds: reconstruct, score and bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from math import hypot, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.attacks import (
    Attack,
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    check_reconstruction,
    skip_reason,
)
from reconbench.attacks.metrics import scores_by_record
from reconbench.benchmarks import memory
from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.attack_spec import AttackSpec as AttackSpec
from reconbench.benchmarks.game.attacker_prior import SAME
from reconbench.benchmarks.game.game import Game as Game
from reconbench.benchmarks.game.game import GameError as GameError
from reconbench.benchmarks.game.game import check as check
from reconbench.benchmarks.game.reliability import count_claims, count_reliability
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.round import Round as Round
from reconbench.benchmarks.game.rows import blank_row
from reconbench.benchmarks.game.scores import ScoredBy
from reconbench.benchmarks.game.setting import Adversary as Adversary
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.game.worlds import advantage
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.benchmarks.kernels import read_kernels
from reconbench.benchmarks.player.foreign_attack import ForeignAttack, Skipped, take_printed
from reconbench.benchmarks.player.referee import PlayerFailed, PlayerOutOfMemory
from reconbench.bounds import run_tail
from reconbench.datasets import Table


class OutOfMemory(AttackError):
    """An attack that asked for more memory than there is, or than it may have."""


def play(round_: Round, attack: AttackSpec) -> Result:
    """Let an attack play a round. Failures of the attack are raised as AttackError."""
    player = attack.build()
    row = _start_row(round_, player, attack)
    rng = _make_stream(round_, player)
    started = time.perf_counter()
    if isinstance(player, ForeignAttack):
        try:
            with _blame(player):
                answers = player.play_in_turn(round_.views(), rng)
        except Skipped as skipped:
            return replace(row, status=Status.SKIPPED, error=str(skipped), printed=take_printed())
        seconds = time.perf_counter() - started
        parts, streams = [part for part, _ in answers], [stream for _, stream in answers]
        return _score(round_, row, player, parts, streams, seconds)
    with _blame(player):
        reason = skip_reason(player, next(round_.views()))
    if reason is not None:
        return replace(row, status=Status.SKIPPED, error=reason)
    parts, streams = [], []
    started = time.perf_counter()
    for view in round_.views():
        if round_.game.advantage or round_.game.held_out:
            streams.append(deepcopy(rng))
        parts += _reconstruct(player, [view], [rng])
    seconds = time.perf_counter() - started
    return _score(round_, row, player, parts, streams, seconds)


def plays_together(attack: AttackSpec, game: Game) -> bool:
    """Whether an attack takes several repetitions of a game in one call; not if it is broken."""
    if game.adversary is not Adversary.REALISTIC:
        return False
    try:
        built = attack.build()
    except ValueError:
        return False
    return callable(getattr(built, "reconstruct_many", None))


def play_together(rounds: Sequence[Round], attack: AttackSpec) -> list[Result]:
    """Let an attack play repetitions of one game in one call of ``reconstruct_many``.

    The rows are those of ``play``, except that the seconds of the call are shared equally.
    """
    player = attack.build()
    rows = [_start_row(round_, player, attack) for round_ in rounds]
    with _blame(player):
        if isinstance(player, ForeignAttack):
            reasons = player.skip_all([round_.view for round_ in rounds])
        else:
            reasons = [skip_reason(player, round_.view) for round_ in rounds]
    played = [round_ for round_, reason in zip(rounds, reasons, strict=True) if reason is None]
    rngs, before = ([_make_stream(round_, player) for round_ in played] for _ in range(2))
    started = time.perf_counter()
    parts = _reconstruct_many(player, [round_.view for round_ in played], rngs) if played else []
    seconds = (time.perf_counter() - started) / max(len(played), 1)
    answers = zip(parts, before, strict=True)
    results = []
    for round_, row, reason in zip(rounds, rows, reasons, strict=True):
        if reason is None:
            part, rng = next(answers)
            results.append(_score(round_, row, player, [part], [rng], seconds))
        else:
            results.append(replace(row, status=Status.SKIPPED, error=reason))
    return results


Generators = Sequence[np.random.Generator]
Floats = npt.NDArray[np.float64]


def _reconstruct(
    player: Attack, views: Sequence[AttackerView], rngs: Generators
) -> list[Reconstruction]:
    with _blame(player):
        return [
            check_reconstruction(view, player.reconstruct(view, rng))
            for view, rng in zip(views, rngs, strict=True)
        ]


def _reconstruct_many(
    player: Any, views: Sequence[AttackerView], rngs: Generators
) -> list[Reconstruction]:
    """Hold the answer of ``reconstruct_many`` to its contract, whatever was returned."""
    with _blame(player):
        answer: object = player.reconstruct_many(views, rngs)
        if not isinstance(answer, list | tuple) or len(answer) != len(views):
            got = f"{len(answer)}" if isinstance(answer, list | tuple) else type(answer).__name__
            raise AttackError(
                f"reconstruct_many must return a list of {len(views)} reconstructions, one per "
                f"view in the order of the views, got {got}"
            )
        return [check_reconstruction(view, part) for view, part in zip(views, answer, strict=True)]


@contextmanager
def _blame(player: Attack) -> Iterator[None]:
    """Raise whatever an attack raises as its failure: a plugin may even try to exit."""
    try:
        yield
    except (KeyboardInterrupt, Skipped):
        raise
    except PlayerFailed as error:
        raise PlayerFailed(f"attack {player.name!r} {error}") from None
    except PlayerOutOfMemory:
        raise AttackError(f"attack {player.name!r} {memory.complaint()}") from None
    except BaseException as error:
        if memory.exhausted(error):
            raise OutOfMemory(f"attack {player.name!r} {memory.complaint()}") from None
        raise AttackError(f"attack {player.name!r} failed: {describe_error(error)}") from error


def _start_row(round_: Round, player: Attack, attack: AttackSpec) -> Result:
    return replace(blank_row(round_), attack=player.name, attack_options=dict(attack.options))


def _make_stream(round_: Round, player: Attack) -> np.random.Generator:
    return round_.game.make_stream(f"attack {player.name}", round_.prior, Seeds.ATTACK)


def _is_shipped(player: Attack) -> bool:
    """Whether an attack is one of this package: only these are trusted on what is possible."""
    ours = type(player).__module__.startswith("reconbench.")
    return ours and not isinstance(player, ForeignAttack)


def _score(
    round_: Round,
    row: Result,
    player: Attack,
    parts: Sequence[Reconstruction],
    streams: Generators,
    seconds: float,
) -> Result:
    """Score reconstructions; ``streams`` are the attack's before each of its views."""
    guess = Table(round_.truth.domain, np.concatenate([part.guess.codes for part in parts]))
    hits = round_.hits(guess)
    scores = [_cut_scores(part, len(hits)) for part in parts]
    expected = round_.expected_from_prior(guess)
    row_bounds = round_.compute_bounds(expected)
    info = _read_info(player, parts)
    believed = round_.believed_successes(guess)
    if believed is not None:
        info["misfit_believed"] = believed
    return replace(
        row,
        successes=int(hits.sum()),
        expected_from_prior=float(expected.sum()),
        ceilings=row_bounds.ceilings,
        bounds=row_bounds.foreign,
        run_tail=run_tail(expected, round_.mechanism.budget).to_json(),
        info=info,
        calibration=count_reliability(scores, hits),
        claims=count_claims(scores, hits),
        rarity=round_.weigh_rarity(hits),
        guess_hash=guess.sha256(),
        kernels=read_kernels(),
        seconds=seconds,
        printed=take_printed() if isinstance(player, ForeignAttack) else "",
        **_score_without_luck(round_, player, guess, float(expected.sum())),
        **_measure_advantage(round_, player, hits, streams),
        **_attack_held_out(round_, player, streams),
        **_measure_peak_memory(),
        **_read_best_possible(round_, player, parts),
    )


def _cut_scores(part: Reconstruction, scored: int) -> Floats | None:
    """The scores of the guesses that count: the first ones of a view."""
    return None if part.scores is None else part.scores[:scored]


def _score_without_luck(
    round_: Round, player: Attack, guess: Table, from_prior: float
) -> dict[str, Any]:
    """What the guesses and the prior's are worth given the release, where somebody can say."""
    baseline = round_.baseline_worth
    if _is_shipped(player) and not getattr(player, "looks_at_release", True):
        return {
            "expected_successes": from_prior,
            "expected_successes_se": 0.0,
            "expected_baseline": None if baseline is None else baseline.expected,
            "scored_by": ScoredBy.PRIOR.value,
        }
    worth = round_.judge(guess)
    if worth is None or baseline is None:
        return {"scored_by": ScoredBy.CONTROL.value}
    exact = all(judge.exact for judge in round_.judges)
    return {
        "expected_successes": worth.expected,
        "expected_successes_se": worth.error,
        "expected_baseline": baseline.expected,
        "scored_by": (ScoredBy.EXACT if exact else ScoredBy.SAMPLED).value,
    }


def _read_best_possible(
    round_: Round, player: Attack, parts: Sequence[Reconstruction]
) -> dict[str, Any]:
    """The best possible success, by the judge of the round or else by an attack to be trusted.

    An attack must state it for every view. One with another prior is wrong about what is possible.
    What has not converged is not a number: the row says so and has none.
    """
    if round_.game.attacker_prior != SAME:
        return {}
    if round_.best_possible is not None:
        return _format_best_possible([round_.best_possible])
    # An attack on the whole table says what is possible on all of it, and record by record.
    whole = sum(len(part.guess) for part in parts) > round_.game.scored
    if whole or not scores_by_record(round_.metric):
        return {}
    stated = [part.best_possible for part in parts if part.best_possible is not None]
    if not _is_shipped(player) or len(stated) < len(parts):
        return {}
    if not all(best.converged for best in stated):
        return {"best_possible_converged": False}
    return _format_best_possible(stated)


def _format_best_possible(stated: Sequence[BestPossible]) -> dict[str, Any]:
    # Views of single records do not say how their successes depend on each other.
    successes = stated[0].successes if len(stated) == 1 else None
    return {
        "best_successes": None if successes is None else successes.to_json(),
        "best_possible": float(sum(best.expected for best in stated)),
        "best_possible_se": float(hypot(*(best.error for best in stated))),
        "best_possible_converged": True,
    }


def _measure_advantage(
    round_: Round, player: Attack, hits: advantage.Bools, streams: Generators
) -> dict[str, Any]:
    """Play the world without the target; nothing unless the game asks for it."""
    if not round_.game.advantage:
        return {}
    shipped = _is_shipped(player)

    def answer(views: Sequence[AttackerView], rngs: Generators) -> Sequence[Reconstruction]:
        together = callable(getattr(player, "reconstruct_many", None)) and views[0].others is None
        return (_reconstruct_many if together else _reconstruct)(player, views, rngs)

    at_once = advantage.can_replace_at_once(round_.view.release, shipped)
    worlds = advantage.play_worlds(round_, hits, answer, streams, at_once)
    ceiling = advantage.find_ceiling(round_)
    return {
        "rad_successes": worlds.took_part,
        "rad_replaced": worlds.replaced,
        "rad_ceiling": None if ceiling is None else ceiling.value,
        "rad_theorem": None if ceiling is None else ceiling.theorem,
    }


def _attack_held_out(round_: Round, player: Attack, streams: Generators) -> dict[str, Any]:
    """Play on records that were not in the table; nothing unless the game asks for it."""
    if not round_.game.held_out:
        return {}
    held_out = HeldOut.draw(round_)
    views = list(held_out.views(round_))
    answers = _reconstruct(player, views, [deepcopy(streams[0]) for _ in views])
    return held_out.score(round_, held_out.join_guesses(answer.guess for answer in answers))


def _read_info(player: Attack, parts: Sequence[Reconstruction]) -> dict[str, float]:
    """What an attack with a single view says of itself, as plain numbers without NaN."""
    if len(parts) > 1:
        return {}
    info: Mapping[str, float] = parts[0].info
    with _blame(player):
        try:
            numbers = {str(name): float(value) for name, value in info.items()}
        except (AttributeError, TypeError, ValueError):
            raise AttackError(f"info must map names to numbers, got {info!r}"[:300]) from None
    return {name: value for name, value in numbers.items() if not isnan(value)}


def _measure_peak_memory() -> dict[str, Any]:
    """The most memory that this process has held so far, where the system reports it."""
    try:
        import resource
    except ImportError:
        return {}
    return {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
