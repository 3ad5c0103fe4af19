"""The game: sample a table, release, attack, score, and bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache, cached_property
from importlib.metadata import version
from math import hypot, isinf, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.attacks import (
    Attack,
    AttackError,
    AttackerView,
    Metric,
    Reconstruction,
    check_reconstruction,
    parse_metric,
    skip_reason,
)
from reconbench.benchmarks import bounding, memory, misfit, options, plugins
from reconbench.benchmarks.results import Result, Status
from reconbench.benchmarks.seeds import stream
from reconbench.bounds import run_tail
from reconbench.datasets import Domain, Prior, Table
from reconbench.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]


class GameError(ValueError):
    """A game that cannot be played as asked."""


class Adversary(StrEnum):
    REALISTIC = "realistic"
    INFORMED = "informed"

    @classmethod
    def parse(cls, text: str) -> Adversary:
        if text not in list(cls):
            raise GameError(f"adversary must be {' or '.join(cls)}, got {text!r}")
        return cls(text)


@dataclass(frozen=True)
class Game:
    """One configuration and repetition; ``known`` left empty means all columns but the targets.

    The game is played on the known and target columns; other columns of the prior are left out.
    The realistic adversary knows the known columns of every record; the informed one, against
    whom most bounds are proved, attacks each record knowing all the others in full. Tables are
    drawn from the prior of the data set; ``attacker_prior`` says which one the attacker believes.
    ``mechanism_options`` is a JSON object.
    """

    dataset: str
    targets: tuple[str, ...]
    epsilon: float
    delta: float = 1e-5
    n: int = 100
    k: int = 3
    known: tuple[str, ...] = ()
    mechanism: str = "gaussian-marginals"
    metric: str = "exact"
    adversary: Adversary = Adversary.REALISTIC
    seed: int = 0
    rep: int = 0
    attacker_prior: str = misfit.SAME
    mechanism_options: str = options.NONE

    def __post_init__(self) -> None:
        if self.n < 1:
            raise GameError(f"n must be at least 1 record, got {self.n}")
        if not self.epsilon > 0:
            raise GameError(f"epsilon must be > 0 (inf is allowed), got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise GameError(f"delta must be in [0, 1), got {self.delta:g}")
        if not self.targets:
            raise GameError("name at least one target column")
        if self.rep < 0:
            raise GameError(f"rep must be 0 or more, got {self.rep}")
        misfit.check_spec(self.attacker_prior)
        object.__setattr__(self, "mechanism_options", options.canonical(self.mechanism_options))

    def at(self, rep: int) -> Game:
        """Another repetition of this game."""
        return replace(self, rep=rep)

    def stream(self, purpose: str, prior: Prior, *names: str) -> np.random.Generator:
        """A random stream named by the given axes of this game, its prior, seed and repetition."""
        axes: dict[str, object] = {name: _axis(getattr(self, name)) for name in names}
        if "mechanism" in axes:
            axes["mechanism"] = plugins.identity(self.mechanism)
            if self.mechanism_options != options.NONE:
                axes["mechanism_options"] = self.mechanism_options
        axes |= {"prior": prior.sha256(), "seed": self.seed, "rep": self.rep}
        return stream(purpose, axes)


def check(game: Game) -> tuple[Prior, tuple[str, ...], Metric, Mechanism]:
    """Whatever can be wrong with a game is found here, before anything is drawn or written."""
    prior = plugins.prior(game.dataset)
    domain, known = _columns(game, prior.domain)
    metric = parse_metric(game.metric)
    metric.check(domain, game.targets)
    mechanism = plugins.calibrated(
        game.mechanism,
        domain,
        game.targets,
        game.epsilon,
        game.delta,
        k=game.k,
        options=options.read(game.mechanism_options),
    )
    return prior, known, metric, mechanism


RELEASE_AXES = ("n", "targets", "known", "k", "epsilon", "delta", "mechanism")


@dataclass(frozen=True)
class Round:
    """A game with its table drawn and released: every attack on it meets the same one."""

    game: Game
    prior: Prior
    mechanism: Mechanism
    truth: Table
    view: AttackerView
    table_hash: str

    @classmethod
    def of(cls, game: Game) -> Round:
        prior, known, metric, mechanism = check(game)
        names = [name for name in prior.domain.names if name in (*known, *game.targets)]
        table = prior.sample(game.n, game.stream("table", prior, "n")).project(names)
        rng = game.stream("release", prior, *RELEASE_AXES)
        release = mechanism.release(table, rng)
        theirs = misfit.attacker_prior(prior, game.attacker_prior)
        view = AttackerView(release, mechanism, table.project(known), game.targets, theirs, metric)
        return cls(game, prior, mechanism, table.project(game.targets), view, table.sha256())

    @property
    def metric(self) -> Metric:
        return self.view.metric

    @cached_property
    def baseline(self) -> tuple[Table, Floats]:
        """The best guess from the prior alone, and its chance of success, for every record."""
        return self.metric.best_guess(self.prior, self.view.known, self.game.targets)

    def views(self) -> Iterator[AttackerView]:
        """What the adversary sees: all records at once, or one view a record."""
        if self.game.adversary is Adversary.REALISTIC:
            yield self.view
            return
        known, truth = self.view.known, self.truth
        table = known.join(truth).project(self.view.release.domain.names)
        for i in range(len(known)):
            others = Table(table.domain, np.delete(table.codes, i, axis=0))
            target = Table(known.domain, known.codes[i : i + 1])
            yield replace(self.view, known=target, others=others)

    def successes(self, guess: Table) -> int:
        return int(self.metric.score(self.truth, guess).sum())

    def expected_from_prior(self, guess: Table) -> Floats:
        return self.metric.prior_success(self.prior, self.view.known, guess)

    def ceilings(self, expected: Floats) -> dict[str, dict[str, float]]:
        """Every ceiling that one run has, for an attack with the given prior success."""
        return {**self.for_every_attack, **bounding.for_guesses(expected, self.mechanism)}

    def believed(self, guess: Table) -> dict[str, float]:
        """The success that the attacker's own prior promises; nothing if it is the data's."""
        if self.game.attacker_prior == misfit.SAME:
            return {}
        promised = self.metric.prior_success(self.view.prior, self.view.known, guess)
        return {"misfit_believed": float(promised.sum())}

    @cached_property
    def for_every_attack(self) -> dict[str, dict[str, float]]:
        """The ceilings that all attacks on this round have in common."""
        columns = (self.view.known, self.game.targets)
        whole = self.metric.prior_bounds(self.prior, *columns, self.mechanism.guarantee)
        found = bounding.for_every_attack(self.baseline[1], self.mechanism, whole)
        if self.game.attacker_prior == misfit.SAME:
            return found
        priors = misfit.corrected(self.prior, self.view.prior, self.metric, *columns)
        return {**found, **misfit.corrected_ceilings(priors, self.mechanism.budget)}


@dataclass(frozen=True)
class AttackSpec:
    """An attack by name or file, with its options."""

    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Attack:
        try:
            return plugins.attack(self.spec, self.options)
        except ValueError:
            raise
        except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
            raise AttackError(f"attack {self.spec!r} cannot be built: {told(error)}") from error


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
    started = time.perf_counter()
    with _blaming(player.name):
        parts = [
            check_reconstruction(view, player.reconstruct(view, rng)) for view in round_.views()
        ]
    return _scored(round_, row, parts, time.perf_counter() - started, _ours(player))


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
    rngs = [_attack_stream(rounds[place], player.name) for place in played]
    started = time.perf_counter()
    with _blaming(player.name):
        found = check_many(views, player.reconstruct_many(views, rngs)) if played else []
    seconds = (time.perf_counter() - started) / max(len(played), 1)
    scored = {
        place: _scored(rounds[place], rows[place], [part], seconds, _ours(player))
        for place, part in zip(played, found, strict=True)
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
    prior = plugins.prior(game.dataset)
    row = Result(
        **_axes(game, prior, _columns(game, prior.domain)[1], parse_metric(game.metric)),
        mechanism=plugins.mechanism(game.mechanism).name,
        sigma=0.0,
        mu=0.0,
        noise_sd=0.0,
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
        raise AttackError(f"attack {name!r} failed: {told(error)}") from error


def told(error: BaseException) -> str:
    """An error in one short line, whatever it says."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())[:500]


def _attack_stream(round_: Round, attack: str) -> np.random.Generator:
    axes = (*RELEASE_AXES, "metric", "adversary")
    return round_.game.stream(f"attack {attack}", round_.prior, *axes)


def _ours(player: Attack) -> bool:
    """Whether an attack is one of this package: only these are believed on what is possible."""
    return type(player).__module__.startswith("reconbench.")


def _scored(
    round_: Round, row: Result, parts: Sequence[Reconstruction], seconds: float, believed: bool
) -> Result:
    guess = Table(round_.truth.domain, np.concatenate([part.guess.codes for part in parts]))
    expected = round_.expected_from_prior(guess)
    info = _numbers(row.attack, parts[0].info) if len(parts) == 1 else {}
    row = replace(
        row,
        successes=round_.successes(guess),
        expected_from_prior=float(expected.sum()),
        ceilings=round_.ceilings(expected),
        run_tail=run_tail(expected, round_.mechanism.budget).to_json(),
        info=info | round_.believed(guess),
        seconds=seconds,
        **_peak_memory(),
    )
    best = [part.best_possible for part in parts if part.best_possible is not None]
    # An attacker with another prior is wrong about what is possible.
    if not believed or round_.game.attacker_prior != misfit.SAME or len(best) < len(parts):
        return row
    return replace(
        row,
        best_possible=float(sum(each.expected for each in best)),
        best_possible_se=float(hypot(*(each.error for each in best))),
        best_possible_converged=all(each.converged for each in best),
    )


def _numbers(attack: str, info: Mapping[str, float]) -> dict[str, float]:
    """What an attack says of itself, as plain numbers; those that are none are left out."""
    with _blaming(attack):
        try:
            found = {str(key): float(value) for key, value in info.items()}
        except (AttributeError, TypeError, ValueError):
            raise AttackError(f"info must map names to numbers, got {info!r}"[:300]) from None
    return {key: value for key, value in found.items() if not isnan(value)}


def _peak_memory() -> dict[str, Any]:
    """The most memory that this process has held so far, where the system and the row tell."""
    if "peak_memory_mib" not in {each.name for each in fields(Result)}:
        return {}
    try:
        import resource
    except ImportError:
        return {}
    return {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _columns(game: Game, domain: Domain) -> tuple[Domain, tuple[str, ...]]:
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


def _row(round_: Round, attack: str, options: Mapping[str, Any]) -> Result:
    game, mechanism = round_.game, round_.mechanism
    guess, expected = round_.baseline
    facts = mechanism.facts()
    return Result(
        **_axes(game, round_.prior, round_.view.known.domain.names, round_.metric),
        mechanism=mechanism.name,
        sigma=float(facts.get("sigma", 0.0)),
        mu=float(facts.get("mu", 0.0)),
        noise_sd=float(facts.get("noise_sd", 0.0)),
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
    """What a row says before anything is drawn."""
    return {
        "dataset": plugins.short(game.dataset),
        "data_hash": prior.sha256(),
        "targets": game.targets,
        "known": known,
        "n": game.n,
        "k": game.k,
        "epsilon": float(game.epsilon),
        "delta": float(game.delta),
        "metric": metric.name,
        "adversary": game.adversary.value,
        "seed": game.seed,
        "rep": game.rep,
        "attacker_prior": game.attacker_prior,
        "mechanism_options": options.read(game.mechanism_options),
    }


@cache
def versions() -> dict[str, str]:
    """Of everything that a number may depend on."""
    return {name: version(name) for name in ("reconbench", "numba", "numpy", "scipy", "torch")}


def _axis(value: object) -> object:
    if isinstance(value, float) and isinf(value):
        return "inf"
    return list(value) if isinstance(value, tuple) else value
