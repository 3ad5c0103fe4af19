"""The game: sample a table, release, attack, score, and bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from math import hypot, isnan
from typing import Any

import numpy as np

from reconbench.attacks import (
    Attack,
    AttackError,
    AttackerView,
    Metric,
    Reconstruction,
    check_reconstruction,
    skip_reason,
)
from reconbench.benchmarks import memory, plugins
from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game import misfit, rad_worlds
from reconbench.benchmarks.game.reliability import calibration
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.round import Game as Game
from reconbench.benchmarks.game.round import GameError as GameError
from reconbench.benchmarks.game.round import Round as Round
from reconbench.benchmarks.game.round import check as check
from reconbench.benchmarks.game.round import columns
from reconbench.benchmarks.game.setting import Adversary as Adversary
from reconbench.benchmarks.game.setting import Seeds, axis_values
from reconbench.bounds import run_tail
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import Mechanism


@dataclass(frozen=True)
class AttackSpec:
    """An attack by name or file, with its options."""

    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Attack:
        try:
            return plugins.build_attack(self.spec, self.options)
        except ValueError:
            raise
        except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
            raise AttackError(
                f"attack {self.spec!r} cannot be built: {describe_error(error)}"
            ) from error


class OutOfMemory(AttackError):
    """An attack that asked for more memory than there is, or than it may have."""


def play(round_: Round, attack: AttackSpec) -> Result:
    """Let an attack play a round. Failures of the attack are raised as AttackError."""
    player = attack.build()
    row = _row(round_, player.name, attack.options)
    with _blaming(player.name):
        reason = skip_reason(player, next(round_.views()))
    if reason is not None:
        return replace(row, status=Status.SKIPPED, error=reason)
    rng = _attack_stream(round_, player.name)
    parts, streams = [], []
    started = time.perf_counter()
    for view in round_.views():
        if round_.game.advantage:
            streams.append(deepcopy(rng))
        with _blaming(player.name):
            parts.append(check_reconstruction(view, player.reconstruct(view, rng)))
    seconds = time.perf_counter() - started
    return _scored(round_, row, player, parts, streams, seconds)


def plays_together(attack: AttackSpec, game: Game) -> bool:
    """Whether an attack takes several repetitions of a game in one call."""
    if game.adversary is not Adversary.REALISTIC:
        return False
    return callable(getattr(attack.build(), "reconstruct_many", None))


def play_together(rounds: Sequence[Round], attack: AttackSpec) -> list[Result]:
    """Let an attack play repetitions of one game in one call of ``reconstruct_many``.

    The rows are those of ``play``, but for the seconds: each has its share of the call's.
    """
    player: Any = attack.build()
    rows = [_row(round_, player.name, attack.options) for round_ in rounds]
    with _blaming(player.name):
        reasons = [skip_reason(player, round_.view) for round_ in rounds]
    played = [place for place, reason in enumerate(reasons) if reason is None]
    views = [rounds[place].view for place in played]
    rngs, before = (
        [_attack_stream(rounds[place], player.name) for place in played] for _ in range(2)
    )
    started = time.perf_counter()
    with _blaming(player.name):
        found = check_many(views, player.reconstruct_many(views, rngs)) if played else []
    seconds = (time.perf_counter() - started) / max(len(played), 1)
    scored = {
        place: _scored(rounds[place], rows[place], player, [part], [rng], seconds)
        for place, part, rng in zip(played, found, before, strict=True)
    }
    return [
        scored[place]
        if reason is None
        else replace(rows[place], status=Status.SKIPPED, error=reason)
        for place, reason in enumerate(reasons)
    ]


def check_many(views: Sequence[AttackerView], found: object) -> list[Reconstruction]:
    """Hold the answer of ``reconstruct_many`` against the contract, whatever was returned."""
    if not isinstance(found, list | tuple) or len(found) != len(views):
        got = f"{len(found)}" if isinstance(found, list | tuple) else type(found).__name__
        raise AttackError(
            f"reconstruct_many must return a list of {len(views)} reconstructions, one a view in "
            f"their order, got {got}"
        )
    return [check_reconstruction(view, each) for view, each in zip(views, found, strict=True)]


def failed(round_: Round, attack: AttackSpec, error: Exception) -> Result:
    """The row of an attack that did not finish."""
    return lost(blank(round_), attack, str(error))


def blank(round_: Round) -> Result:
    """The row of a round that nobody has played yet."""
    return _row(round_, "", {})


def lost(row: Result, attack: AttackSpec, error: str) -> Result:
    """A blank row as that of an attack that did not finish."""
    try:
        name = attack.build().name
    except ValueError:
        name = attack.spec
    return replace(
        row,
        attack=name,
        attack_options=dict(attack.options),
        status=Status.FAILED,
        error=error,
    )


def unplayed(game: Game, attack: AttackSpec, error: str) -> Result:
    """The row of a game that could not be set up: no table, no release, no attack's fault."""
    prior = plugins.load_prior(game.dataset)
    row = Result(
        **_axes(game, prior, columns(game, prior.domain)[1], plugins.build_metric(game.metric)),
        rep=game.rep,
        guarantee="",
        relation="",
        unit="",
        attack="",
        attack_options={},
        table_hash="",
        baseline_successes=0,
        baseline_expected=0.0,
        versions=versions(),
    )
    return lost(row, attack, error)


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """A plugin is foreign code: whatever it raises, also to leave the program, is its fault."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if memory.exhausted(error):
            raise OutOfMemory(f"attack {name!r} {memory.complaint()}") from None
        raise AttackError(f"attack {name!r} failed: {describe_error(error)}") from error


def _attack_stream(round_: Round, attack: str) -> np.random.Generator:
    return round_.game.stream(f"attack {attack}", round_.prior, Seeds.ATTACK)


def _ours(player: Attack) -> bool:
    """Whether an attack is one of this package: only these are believed on what is possible."""
    return type(player).__module__.startswith("reconbench.")


def _scored(
    round_: Round,
    row: Result,
    player: Attack,
    parts: Sequence[Reconstruction],
    streams: Sequence[np.random.Generator],
    seconds: float,
) -> Result:
    """``streams`` are the attack's before each of its views."""
    guess = Table(round_.truth.domain, np.concatenate([part.guess.codes for part in parts]))
    expected = round_.expected_from_prior(guess)
    info = _numbers(row.attack, parts[0].info) if len(parts) == 1 else {}
    row_bounds = round_.compute_bounds(expected)
    row = replace(
        row,
        successes=round_.successes(guess),
        expected_from_prior=float(expected.sum()),
        ceilings=row_bounds.ceilings,
        bounds=row_bounds.foreign,
        run_tail=run_tail(expected, round_.mechanism.budget).to_json(),
        info=info | round_.believed(guess),
        calibration=calibration([part.scores for part in parts], round_.hits(guess)),
        seconds=seconds,
        **_advantage(round_, player, guess, streams),
        **_peak_memory(),
    )
    best = [part.best_possible for part in parts if part.best_possible is not None]
    # An attacker with another prior is wrong about what is possible.
    if not _ours(player) or round_.game.attacker_prior != misfit.SAME or len(best) < len(parts):
        return row
    return replace(
        row,
        best_possible=float(sum(each.expected for each in best)),
        best_possible_se=float(hypot(*(each.error for each in best))),
        best_possible_converged=all(each.converged for each in best),
    )


def _advantage(
    round_: Round, player: Attack, guess: Table, streams: Sequence[np.random.Generator]
) -> dict[str, Any]:
    """What a row says of the world without the target; nothing unless the game asks for it."""
    if not round_.game.advantage:
        return {}

    def answers(views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]) -> Any:
        many = getattr(player, "reconstruct_many", None)
        with _blaming(player.name):
            if callable(many) and views[0].others is None:
                return check_many(views, many(views, rngs))
            asked = zip(views, rngs, strict=True)
            return [
                check_reconstruction(view, player.reconstruct(view, rng)) for view, rng in asked
            ]

    at_once = rad_worlds.replaced_at_once(round_.view.release, _ours(player))
    worlds = rad_worlds.play_worlds(round_, round_.hits(guess), answers, streams, at_once)
    most = rad_worlds.ceiling(round_)
    return {
        "rad_successes": worlds.took_part,
        "rad_replaced": worlds.replaced,
        "rad_ceiling": None if most is None else most.value,
        "rad_theorem": None if most is None else most.theorem,
    }


def _numbers(attack: str, info: Mapping[str, float]) -> dict[str, float]:
    """What an attack says of itself, as plain numbers; those that are none are left out."""
    with _blaming(attack):
        try:
            found = {str(key): float(value) for key, value in info.items()}
        except (AttributeError, TypeError, ValueError):
            raise AttackError(f"info must map names to numbers, got {info!r}"[:300]) from None
    return {key: value for key, value in found.items() if not isnan(value)}


def _peak_memory() -> dict[str, Any]:
    """The most memory that this process has held so far, where the system tells."""
    try:
        import resource
    except ImportError:
        return {}
    return {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _row(round_: Round, attack: str, options: Mapping[str, Any]) -> Result:
    mechanism = round_.mechanism
    guess, expected = round_.baseline
    return Result(
        **_axes(round_.game, round_.prior, round_.view.known.domain.names, round_.metric),
        rep=round_.game.rep,
        facts=_facts(mechanism),
        guarantee=mechanism.guarantee.describe(),
        relation=mechanism.guarantee.relation.value,
        unit=mechanism.guarantee.unit,
        attack=attack,
        attack_options=dict(options),
        table_hash=round_.table_hash,
        baseline_successes=round_.successes(guess),
        baseline_expected=float(expected.sum()),
        versions=versions(),
    )


def _axes(game: Game, prior: Prior, known: tuple[str, ...], metric: Metric) -> dict[str, Any]:
    """The axes as a row has them: names in place of specs, known columns listed."""
    return axis_values(game) | {
        "dataset": plugins.shorten_spec(game.dataset),
        "data_hash": prior.sha256(),
        "known": known,
        "epsilon": float(game.epsilon),
        "delta": float(game.delta),
        "mechanism": plugins.load_mechanism(game.mechanism).name,
        "metric": metric.name,
    }


def _facts(mechanism: Mechanism) -> dict[str, float]:
    """What a mechanism says of itself, as plain numbers under ``mechanism.``."""
    try:
        return {f"mechanism.{name}": float(value) for name, value in mechanism.facts().items()}
    except (AttributeError, TypeError, ValueError):
        raise GameError(
            f"facts() of mechanism {mechanism.name!r} must map names to numbers, got "
            f"{mechanism.facts()!r}"[:300]
        ) from None


@cache
def versions() -> dict[str, str]:
    """Of everything that a number may depend on."""
    return {name: version(name) for name in ("reconbench", "numba", "numpy", "scipy", "torch")}
