"""An attack that is not of this package, as the game sees it.

It has the members of any attack, but its code runs in a player process. One player is alive at a
time; it serves one attack, which is built afresh for every row.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.attacks import AttackError, AttackerView, BestPossible, Reconstruction
from reconbench.benchmarks import memory, plugins
from reconbench.benchmarks.player.messages import (
    Answer,
    BadMessage,
    decode_answers,
    get_state,
    make_generator,
    read_text,
)
from reconbench.benchmarks.player.referee import (
    Player,
    PlayerFailed,
    PlayerOutOfMemory,
    PlayerRaised,
    find_preload,
    get_keeper,
    get_limit,
)
from reconbench.benchmarks.player.serve import Build, Files, Play, Probe, Skip
from reconbench.benchmarks.plugins.specs import get_copies, get_modules, locate_file

# Codes of other records that cross the border at once, and views.
MOST_CODES = 1 << 21
MOST_VIEWS = 1000

Identity = tuple[str, str, str]


class ForeignAttack:
    """Use like any attack. Building it raises what is wrong with it, within the time limit."""

    def __init__(self, spec: str, options: Mapping[str, Any]) -> None:
        self.spec = spec
        self.options = dict(options)
        self.changed_view = False
        self.watched = False
        self._identity = (spec, repr(sorted(self.options.items())), _hash_file(spec))
        broken = _broken.get(self._identity)
        if broken is not None:
            raise AttackError(broken)
        header = self._build()
        self.name: str = header["name"]
        if header["together"] is True:
            self.reconstruct_many: Callable[..., list[Reconstruction]] = self._reconstruct_many

    def skip(self, view: AttackerView) -> str | None:
        return self.skip_all([view])[0]

    def skip_all(self, views: Sequence[AttackerView]) -> list[str | None]:
        """Why each view is not played, or None."""
        header, _ = self._ask(Skip(views), views, get_limit(len(views)))
        reasons = header.get("reasons")
        if not isinstance(reasons, list) or len(reasons) != len(views):
            raise self._refuse("sent a skip that is not one reason per view")
        return [None if each is None else self._read_text(each, "a reason") for each in reasons]

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        ((part, _),) = self.play_in_turn([view], rng, may_skip=False)
        return part

    def play_in_turn(
        self, views: Iterable[AttackerView], rng: np.random.Generator, may_skip: bool = True
    ) -> list[tuple[Reconstruction, np.random.Generator]]:
        """Answer views one after the other with one generator; also return it before each.

        Raises ``Skipped`` if the attack ``may_skip`` the game and does.
        """
        answers: list[tuple[Reconstruction, np.random.Generator]] = []
        limit = get_limit()
        deadline = None if limit is None else time.monotonic() + limit
        state, informed = get_state(rng), False
        for batch in _split_views(views):
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            played, last = self._play(batch, [state], left, may_skip=may_skip and not answers)
            answers += played
            state, informed = last, batch[0].others is not None
        rng.bit_generator.state = make_generator(state).bit_generator.state
        if informed:
            # The views of a table together hold all of it: nobody may keep them for its next game.
            self._player().end()
        return answers

    def _reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        answers, _ = self._play(
            views, [get_state(rng) for rng in rngs], get_limit(len(views)), together=True
        )
        return [part for part, _ in answers]

    def _play(
        self,
        views: Sequence[AttackerView],
        states: Sequence[tuple[int, ...]],
        seconds: float | None,
        together: bool = False,
        may_skip: bool = False,
    ) -> tuple[list[tuple[Reconstruction, np.random.Generator]], tuple[int, ...]]:
        """The answers with the generators before them, and the generator after the last one."""
        shapes = [(view.n, len(view.targets)) for view in views]
        most_bytes = 8 * sum(n * (targets + 1) for n, targets in shapes)
        request = Play(views, states, together, may_skip, self.watched)
        header, body = self._ask(request, views, seconds, most_bytes)
        if may_skip and "skips" in header:
            raise Skipped(self._read_text(header["skips"], "a reason"))
        try:
            answers = decode_answers(header.get("answers"), body, shapes)
            last = header.get("last")
            after = answers[-1].state if last is None else _read_last(last)
        except BadMessage as bad:
            raise self._refuse(str(bad)) from None
        self.changed_view |= header.get("changed") is True
        pairs = zip(views, answers, strict=True)
        return [(_rebuild(*pair), make_generator(pair[1].state)) for pair in pairs], after

    def _ask(
        self,
        request: object,
        views: Sequence[AttackerView],
        seconds: float | None,
        most_bytes: int = 0,
    ) -> tuple[dict[str, Any], bytes]:
        shared = [part for view in views[:1] for part in (view.prior, view.mechanism, view.metric)]
        return self._player().ask(request, seconds, shared, len(views), most_bytes, get_limit())

    def _player(self) -> Player:
        """The player of this very object, which is started again if another took its place."""
        session = _sessions.current
        if session is None or session.owner is not self or not session.player.alive:
            self._build()
            session = _sessions.current
        assert session is not None
        return session.player

    def _build(self) -> dict[str, Any]:
        session = _sessions.open(self._identity, self)
        request = Build(_list_files(self.spec), self.spec, self.options)
        try:
            header, _ = session.player.ask(request, get_limit())
            header["name"] = read_text(header.get("name"), "a name")[:200]
        except PlayerRaised as error:
            session.player.end()
            raise AttackError(str(error)) from None
        except (PlayerFailed, PlayerOutOfMemory, BadMessage) as error:
            session.player.end()
            reason = str(error) or memory.complaint()
            text = f"attack {self.spec!r} {reason}, while it was imported and built"
            _broken[self._identity] = text
            raise AttackError(text) from None
        return header

    def _read_text(self, raw: object, what: str) -> str:
        try:
            return read_text(raw, what)
        except BadMessage as bad:
            raise self._refuse(str(bad)) from None

    def _refuse(self, reason: str) -> PlayerFailed:
        self._player().end()
        return PlayerFailed(reason)


class Skipped(Exception):
    """An attack does not play a game, for this reason."""


class _Session:
    """A player, the attack whose code it has imported, and the object that it serves."""

    def __init__(self, identity: Identity, owner: object, player: Player) -> None:
        self.identity = identity
        self.owner = owner
        self.player = player


class _Sessions:
    """The player of this process."""

    def __init__(self) -> None:
        self.current: _Session | None = None

    def open(self, identity: Identity, owner: object) -> _Session:
        """The present player if it has the same attack, otherwise a fresh one."""
        session = self.current
        if session is not None and session.player.alive and session.identity == identity:
            session.owner = owner
            return session
        if session is not None:
            session.player.end()
        player = get_keeper().start(find_preload(_find_file(identity[0])))
        self.current = _Session(identity, owner, player)
        return self.current


_sessions = _Sessions()
# Attacks that hung or died while they were built: nobody waits for them again.
_broken: dict[Identity, str] = {}


def take_printed() -> str:
    """What the present player printed since the last time, cut short."""
    return "" if _sessions.current is None else _sessions.current.player.take_printed()


def probe_plugin(kind: str, spec: str, seconds: float) -> str:
    """Import a plugin in a player; the first line of its documentation.

    Raises ``PluginError`` if that fails, hangs or ends the process.
    """
    limit = get_limit()
    seconds = min(seconds, limit) if limit is not None else seconds
    session = _sessions.open((spec, kind, ""), None)
    try:
        header, _ = session.player.ask(Probe(_list_files(spec), kind, spec), seconds)
        return read_text(header.get("doc"), "a documentation")
    except PlayerRaised as error:
        raise plugins.PluginError(str(error)) from None
    except AttackError as error:
        text = f"{kind} {spec!r} {str(error) or memory.complaint()}, while it was imported"
        raise plugins.PluginError(text) from None
    finally:
        session.player.end()


def _split_views(views: Iterable[AttackerView]) -> Iterator[list[AttackerView]]:
    """Batches of views that are not too large."""
    batch: list[AttackerView] = []
    codes = 0
    for view in views:
        batch.append(view)
        codes += 0 if view.others is None else view.others.codes.size
        if codes > MOST_CODES or len(batch) >= MOST_VIEWS:
            yield batch
            batch, codes = [], 0
    if batch:
        yield batch


def _rebuild(view: AttackerView, answer: Answer) -> Reconstruction:
    """Check an answer against its view, as any other attack's."""
    best = None if answer.best_possible is None else BestPossible(*answer.best_possible)
    return view.reconstruction(answer.codes, answer.scores, answer.info, best)


def _read_last(raw: object) -> tuple[int, ...]:
    (answer,) = decode_answers([{"state": raw}], b"", [(0, 0)])
    return answer.state


def _list_files(spec: str) -> Files:
    """What a player needs to find files, from a working directory of its own."""
    parts, file = plugins.split_file(spec), _find_file(spec)
    here = {} if parts is None or file is None else {parts.path: str(file)}
    return Files(here | get_copies(), get_modules())


def _find_file(spec: str) -> Path | None:
    parts = plugins.split_file(spec)
    return None if parts is None else locate_file(parts.path)[1]


def _hash_file(spec: str) -> str:
    file = _find_file(spec)
    if file is not None:
        with suppress(OSError):
            return hashlib.sha256(file.read_bytes()).hexdigest()
    return ""
