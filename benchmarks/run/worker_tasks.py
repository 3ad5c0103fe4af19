"""What a worker does: play a group of games, and report each step as an event.

``play_group`` is a plain function of a group, the same wherever it runs. Handing groups out, and
replacing workers that hang or die, is up to ``pool`` and ``cluster``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from reconbench.attacks import AttackError
from reconbench.benchmarks import memory
from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.play import (
    Adversary,
    AttackSpec,
    Game,
    OutOfMemory,
    Round,
    play,
    play_together,
    plays_together,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.rows import blank_row, failed_row, unplayed_row
from reconbench.benchmarks.player.foreign_attack import take_printed
from reconbench.benchmarks.store.provenance import shipped_method

# How the rows of a game that could not be set up begin.
SETTING_UP = "setting up the game"


@dataclass(frozen=True)
class Turn:
    """One call of an attack: its index in the group, and those of the repetitions it plays.

    Several repetitions are one call of ``reconstruct_many``.
    """

    attack: int
    reps: tuple[int, ...]

    def split(self) -> list[Turn]:
        return [Turn(self.attack, (rep,)) for rep in self.reps]


def takes_several(attack: AttackSpec, game: Game) -> bool:
    """``plays_together``, without loading an attack whose source shows that it has the method."""
    if game.adversary is Adversary.REALISTIC:
        has_method = shipped_method(attack.spec, "reconstruct_many")
        if has_method is not None:
            return has_method
    return plays_together(attack, game)


@dataclass(frozen=True)
class Group:
    """Repetitions of one game, equal in everything but ``rep``, and the attacks that play each.

    Attacks with ``reconstruct_many`` get all repetitions of a group at once. The rows do not
    depend on how repetitions are grouped, so a group of one is as good.
    """

    games: tuple[Game, ...]
    attacks: tuple[AttackSpec, ...]
    bounds: tuple[str, ...] = ()

    def turns(self) -> list[Turn]:
        """Everything there is to play, attack by attack."""
        everyone = tuple(range(len(self.games)))
        turns: list[Turn] = []
        for index, attack in enumerate(self.attacks):
            whole = Turn(index, everyone)
            together = len(everyone) > 1 and takes_several(attack, self.games[0])
            turns += [whole] if together else whole.split()
        return turns


@dataclass(frozen=True)
class SetupStarted:
    """The table and the release of a repetition are being made."""

    rep: int


@dataclass(frozen=True)
class SetupFinished:
    """They are made; ``row`` is what is known of the round before any attack."""

    rep: int
    row: Result


@dataclass(frozen=True)
class AttackStarted:
    """A call of an attack begins."""

    turn: Turn


@dataclass(frozen=True)
class FinishedRow:
    """A finished row, with the indices of its attack and its repetition in the group."""

    attack: int
    rep: int
    row: Result


@dataclass(frozen=True)
class FailedRow:
    """A row that nobody will finish, and the ``reason``, as part of a sentence.

    ``row`` is what is known of the round; there is none if it could not be set up.
    """

    attack: int
    rep: int
    reason: str
    row: Result | None = None


Outcome = FinishedRow | FailedRow


@dataclass(frozen=True)
class MemoryExhausted:
    """An attack ran out of memory and may still hold some: go on in a fresh process."""


Event = SetupStarted | SetupFinished | AttackStarted | FinishedRow | MemoryExhausted


def play_group(group: Group, turns: Sequence[Turn] | None = None) -> Iterator[Event]:
    """Play the turns of a group, all of them by default; a failure is a row that says so."""
    rounds: dict[int, Round | str] = {}
    with one_thread():
        for turn in group.turns() if turns is None else turns:
            ready: dict[int, Round] = {}
            for rep in turn.reps:
                if rep not in rounds:
                    yield SetupStarted(rep)
                    rounds[rep] = round_ = _set_up(group.games[rep], group.bounds)
                    if isinstance(round_, Round):
                        yield SetupFinished(rep, blank_row(round_))
                round_ = rounds[rep]
                if isinstance(round_, Round):
                    ready[rep] = round_
                else:
                    row = unplayed_row(group.games[rep], group.attacks[turn.attack], round_)
                    yield FinishedRow(turn.attack, rep, row)
            if ready:
                spec = group.attacks[turn.attack]
                yield from _play_turn(Turn(turn.attack, tuple(ready)), spec, ready)


def complete_row(group: Group, outcome: Outcome) -> FinishedRow:
    """An outcome as a finished row. It may load the plugins and the prior of the group."""
    if isinstance(outcome, FinishedRow):
        return outcome
    attack, rep, reason = outcome.attack, outcome.rep, outcome.reason
    spec = group.attacks[attack]
    if outcome.row is None:
        row = unplayed_row(group.games[rep], spec, f"{SETTING_UP} {reason}")
        return FinishedRow(attack, rep, row)
    row = failed_row(outcome.row, spec, "")
    return FinishedRow(attack, rep, replace(row, error=f"attack {row.attack!r} {reason}"))


def _set_up(game: Game, bounds: tuple[str, ...]) -> Round | str:
    """A round with all that its attacks share, or why there is none."""
    try:
        round_ = Round.draw(game, bounds)
        _ = blank_row(round_), round_.ceilings_for_any_attack, round_.best_possible
    except (Exception, SystemExit) as error:  # mechanisms and priors may be foreign code
        if memory.exhausted(error):
            return f"{SETTING_UP} {memory.complaint()}"
        return f"{SETTING_UP} failed: {describe_error(error)}"
    return round_


def _play_turn(turn: Turn, spec: AttackSpec, rounds: dict[int, Round]) -> Iterator[Event]:
    """One turn. A call for several repetitions that fails is made again one by one."""
    yield AttackStarted(turn)
    exhausted = False
    try:
        if len(turn.reps) > 1:
            rows = play_together([rounds[rep] for rep in turn.reps], spec)
        else:
            rows = [play(rounds[turn.reps[0]], spec)]
    except Exception as error:
        exhausted = isinstance(error, OutOfMemory)
        if len(turn.reps) > 1:
            if exhausted:
                yield MemoryExhausted()
            for single in turn.split():
                yield from _play_turn(single, spec, rounds)
            return
        if not isinstance(error, AttackError):
            error = AttackError(
                f"attack {spec.spec!r} could not be scored: {describe_error(error)}"
            )
        row = failed_row(blank_row(rounds[turn.reps[0]]), spec, str(error))
        rows = [replace(row, printed=take_printed())]
    for rep, row in zip(turn.reps, rows, strict=True):
        yield FinishedRow(turn.attack, rep, row)
    if exhausted:
        yield MemoryExhausted()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums come out the same whatever the number of cores only if their order is fixed."""
    from threadpoolctl import threadpool_limits

    with ExitStack() as stack:
        with suppress(ImportError):  # where torch is missing, no attack uses it
            import torch

            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        stack.enter_context(threadpool_limits(limits=1))
        yield
