"""What a player does: import an attack, build it, and answer views until the referee is gone.

This code shares its process with foreign code, which may change any of it. The referee therefore
checks everything again that is checked here; the checks here are for messages that explain.
"""

from __future__ import annotations

import inspect
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.attacks import AttackError, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks import memory, plugins
from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.player.messages import (
    Answer,
    RequestReader,
    encode_answers,
    get_state,
    make_generator,
    write_reply,
)
from reconbench.benchmarks.plugins.build import construct_attack
from reconbench.benchmarks.plugins.specs import import_as


@dataclass(frozen=True)
class Files:
    """Where plugins are read from, and the modules of plugins that views refer to, by name."""

    copies: Mapping[str, str]
    modules: Mapping[str, tuple[Path, Path]]


@dataclass(frozen=True)
class Probe:
    """Import a plugin of any kind, and nothing more."""

    files: Files
    kind: str
    spec: str


@dataclass(frozen=True)
class Build:
    """Import an attack and build it, afresh."""

    files: Files
    spec: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Skip:
    """Ask for every view whether the attack plays it."""

    views: Sequence[AttackerView]


@dataclass(frozen=True)
class Play:
    """Answer views, each with its generator or all with the first one, one by one or together.

    An attack that ``may_skip`` is first asked whether it plays the first view at all. ``watched``
    views are compared with what they were before.
    """

    views: Sequence[AttackerView]
    states: Sequence[tuple[int, ...]]
    together: bool = False
    may_skip: bool = False
    watched: bool = False


def serve(stream: socket.socket) -> None:
    """The whole life of a player."""
    modules: dict[str, tuple[Path, Path]] = {}
    attack: Any = None

    def find_class(module: str, name: str) -> Any:
        home = import_as(module, *modules[module]) if module in modules else import_module(module)
        found: Any = home
        for part in name.split("."):
            found = getattr(found, part)
        return found

    requests = RequestReader(stream, find_class)
    while True:
        request = None
        try:
            request = requests.read()
            if isinstance(request, Probe | Build):
                plugins.use_copies(request.files.copies)
                modules.update(request.files.modules)
            if isinstance(request, Build):
                attack = construct_attack(request.spec, request.options)
                reply = write_reply(_describe(attack))
            else:
                reply = _handle(request, attack)
        except EOFError:
            return
        except BaseException as error:  # foreign code may raise anything, Ctrl-C's error too
            failure = _describe_failure(error)
            if isinstance(request, Build) and not isinstance(error, ValueError):
                failure["error"] = f"attack {request.spec!r} cannot be built: {failure['error']}"
            reply = write_reply(failure)
        for printed in (sys.stdout, sys.stderr):
            with suppress(Exception):
                printed.flush()
        try:
            stream.sendall(reply)
        except OSError:
            return


def _handle(request: object, attack: Any) -> bytes:
    match request:
        case Probe():
            entry = plugins.load_entry(request.kind, request.spec)
            return write_reply({"doc": (inspect.getdoc(entry) or "").partition("\n")[0]})
        case Skip():
            return write_reply({"reasons": [skip_reason(attack, view) for view in request.views]})
        case Play():
            reason = skip_reason(attack, request.views[0]) if request.may_skip else None
            if reason is not None:
                return write_reply({"skips": reason})
            before = [fingerprint(view) for view in request.views] if request.watched else []
            rngs = [make_generator(state) for state in request.states]
            answers = _answer(attack, request, rngs)
            last = [str(number) for number in get_state(rngs[-1])]
            entries, arrays = encode_answers(answers)
            after = [fingerprint(view) for view in request.views] if request.watched else []
            header = {"answers": entries, "changed": before != after, "last": last}
            return write_reply(header, arrays)
        case _:
            raise TypeError(f"no such request: {type(request).__name__}")


def _describe(attack: Any) -> dict[str, object]:
    return {
        "name": str(attack.name),
        "together": callable(getattr(attack, "reconstruct_many", None)),
        "doc": (inspect.getdoc(type(attack)) or "").partition("\n")[0],
    }


def _describe_failure(error: BaseException) -> dict[str, object]:
    if memory.exhausted(error):
        return {"error": "", "memory": True}
    return {"error": describe_error(error), "memory": False}


def _answer(attack: Any, request: Play, rngs: list[np.random.Generator]) -> list[Answer]:
    views = request.views
    if request.together:
        before = [get_state(rng) for rng in rngs]
        parts = attack.reconstruct_many(views, rngs)
        if not isinstance(parts, list | tuple) or len(parts) != len(views):
            got = f"{len(parts)}" if isinstance(parts, list | tuple) else type(parts).__name__
            raise AttackError(
                f"reconstruct_many must return a list of {len(views)} reconstructions, one per "
                f"view in the order of the views, got {got}"
            )
        pairs = zip(views, parts, before, strict=True)
        return [_read_answer(view, part, state) for view, part, state in pairs]
    answers = []
    rngs = rngs if len(rngs) == len(views) else rngs * len(views)
    for view, rng in zip(views, rngs, strict=True):
        state = get_state(rng)
        answers.append(_read_answer(view, attack.reconstruct(view, rng), state))
    return answers


def _read_answer(view: AttackerView, raw: object, state: tuple[int, ...]) -> Answer:
    checked = check_reconstruction(view, raw)
    try:
        info = {str(name): float(value) for name, value in checked.info.items()}
    except (AttributeError, TypeError, ValueError):
        raise AttackError(f"info must map names to numbers, got {checked.info!r}"[:300]) from None
    best = checked.best_possible
    stated = None if best is None else (float(best.expected), float(best.error), best.converged)
    return Answer(checked.guess.codes, checked.scores, info, stated, state)


def fingerprint(view: AttackerView) -> list[bytes]:
    """The known columns, and every array of the release."""
    contents = [view.known.codes.tobytes()]
    for value in getattr(view.release, "__dict__", {}).values():
        parts = value if isinstance(value, list | tuple) else [value]
        contents += [part.tobytes() for part in parts if isinstance(part, np.ndarray)]
    return contents
