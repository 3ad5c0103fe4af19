"""What a worker does: play a group of games, telling what it is at.

``play_group`` is a plain function of a group, the same wherever it runs; who hands groups out, and
what becomes of a worker that hangs or dies, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    blank,
    failed,
    lost,
    play,
    play_together,
    plays_together,
    unplayed,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.store.provenance import shipped_method

# How the rows of a game that could not be set up begin.
SETTING_UP = "setting up the game"


@dataclass(frozen=True)
class Turn:
    """One call of an attack: its place in the group, and those of the repetitions it plays.

    Several repetitions are one call of ``reconstruct_many``.
    """

    attack: int
    reps: tuple[int, ...]

    def alone(self) -> list[Turn]:
        return [Turn(self.attack, (rep,)) for rep in self.reps]


def takes_several(attack: AttackSpec, game: Game) -> bool:
    """``plays_together``, without loading an attack of reconbench's own where its source tells."""
    if game.adversary is Adversary.REALISTIC:
        told_by_source = shipped_method(attack.spec, "reconstruct_many")
        if told_by_source is not None:
            return told_by_source
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
        found: list[Turn] = []
        for place, attack in enumerate(self.attacks):
            whole = Turn(place, everyone)
            together = len(everyone) > 1 and takes_several(attack, self.games[0])
            found += [whole] if together else whole.alone()
        return found


@dataclass(frozen=True)
class Building:
    """The table and the release of a repetition are being made."""

    rep: int


@dataclass(frozen=True)
class Built:
    """They are made; ``row`` is what is known of the round whatever becomes of an attack."""

    rep: int
    row: Result


@dataclass(frozen=True)
class Started:
    """An attack is at work from now on."""

    turn: Turn


@dataclass(frozen=True)
class Played:
    """A finished row, by the places of its attack and its repetition in the group."""

    attack: int
    rep: int
    row: Result


@dataclass(frozen=True)
class Lost:
    """A row that nobody will finish, and ``how`` that came about, as part of a sentence.

    ``row`` is what is known of the round; there is none if it could not be set up.
    """

    attack: int
    rep: int
    how: str
    row: Result | None = None


Outcome = Played | Lost


@dataclass(frozen=True)
class Exhausted:
    """An attack ran out of memory and may still hold some: better go on in a fresh process."""


Event = Building | Built | Started | Played | Exhausted


def play_group(group: Group, turns: Sequence[Turn] | None = None) -> Iterator[Event]:
    """Play the turns of a group (all of them by default); whatever fails is a row that says so."""
    rounds: dict[int, Round | str] = {}
    with one_thread():
        for turn in group.turns() if turns is None else turns:
            ready: dict[int, Round] = {}
            for rep in turn.reps:
                if rep not in rounds:
                    yield Building(rep)
                    rounds[rep] = made = _build(group.games[rep], group.bounds)
                    if isinstance(made, Round):
                        yield Built(rep, blank(made))
                found = rounds[rep]
                if isinstance(found, Round):
                    ready[rep] = found
                else:
                    row = unplayed(group.games[rep], group.attacks[turn.attack], found)
                    yield Played(turn.attack, rep, row)
            if ready:
                spec = group.attacks[turn.attack]
                yield from _take(Turn(turn.attack, tuple(ready)), spec, ready)


def settled(group: Group, outcome: Outcome) -> Played:
    """An outcome as a row. It may load the plugins and the prior of the group."""
    if isinstance(outcome, Played):
        return outcome
    attack, rep, how = outcome.attack, outcome.rep, outcome.how
    spec = group.attacks[attack]
    if outcome.row is None:
        return Played(attack, rep, unplayed(group.games[rep], spec, f"{SETTING_UP} {how}"))
    row = lost(outcome.row, spec, "")
    return Played(attack, rep, replace(row, error=f"attack {row.attack!r} {how}"))


def _build(game: Game, bounds: tuple[str, ...]) -> Round | str:
    """A round with all that its attacks share, or why there is none."""
    try:
        round_ = Round.of(game, bounds)
        _ = round_.baseline, round_.for_every_attack
    except (Exception, SystemExit) as error:  # mechanisms and priors may be foreign code
        if memory.exhausted(error):
            return f"{SETTING_UP} {memory.complaint()}"
        return f"{SETTING_UP} failed: {describe_error(error)}"
    return round_


def _take(turn: Turn, spec: AttackSpec, rounds: dict[int, Round]) -> Iterator[Event]:
    """One turn. A call for several repetitions that fails is taken again one by one."""
    yield Started(turn)
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
                yield Exhausted()
            for each in turn.alone():
                yield from _take(each, spec, rounds)
            return
        if not isinstance(error, AttackError):
            error = AttackError(
                f"attack {spec.spec!r} could not be scored: {describe_error(error)}"
            )
        rows = [failed(rounds[turn.reps[0]], spec, error)]
    for rep, row in zip(turn.reps, rows, strict=True):
        yield Played(turn.attack, rep, row)
    if exhausted:
        yield Exhausted()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums come out the same whatever the number of cores only if their order is fixed."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)
