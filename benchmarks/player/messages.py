"""Messages between the referee and a player.

What the referee sends is trusted by the player and may be any object. What a player sends is plain:
a JSON header and the bytes of arrays whose sizes the referee knows beforehand. Nothing in it is
executed or built by name, and whatever does not fit is refused as a ``BadMessage``.
"""

from __future__ import annotations

import io
import json
import pickle
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

_REQUEST = struct.Struct("!Q")
_REPLY = struct.Struct("!QQ")
# The longest header: a base, and more for every view, for its numbers.
HEADER = 1 << 16
HEADER_PER_VIEW = 1 << 13
LONGEST_TEXT = 2000
MOST_NUMBERS = 50
# A PCG64 generator is two whole numbers below 2^128, and half a draw that is left over.
_STATE_LIMITS = (1 << 128, 1 << 128, 2, 1 << 32)

Read = Callable[[int], bytes]


class BadMessage(ValueError):
    """A message that a player must not send."""


@dataclass(frozen=True)
class Answer:
    """A player's answer to one view, and its generator before that view."""

    codes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64] | None = None
    info: Mapping[str, float] = field(default_factory=dict)
    best_possible: tuple[float, float, bool] | None = None
    state: tuple[int, ...] = (0, 0, 0, 0)


class RequestWriter:
    """Requests to one player, any objects; ``shared`` ones are sent once and referred to later."""

    def __init__(self) -> None:
        # The objects are kept so that no other gets the identity of one that is gone.
        self._sent: dict[int, object] = {}

    def write(self, request: object, shared: Sequence[object] = ()) -> bytes:
        new = {id(each): each for each in shared if id(each) not in self._sent}
        self._sent |= new
        content = io.BytesIO()
        pickle.dump(new, content, protocol=5)
        known = self._sent

        class _Writer(pickle.Pickler):
            def persistent_id(self, obj: Any) -> int | None:
                return id(obj) if id(obj) in known else None

        _Writer(content, protocol=5).dump(request)
        return _REQUEST.pack(content.tell()) + content.getvalue()


class RequestReader:
    """The other end, in the player. ``find_class`` finds what requests refer to by name."""

    def __init__(self, stream: socket.socket, find_class: Callable[[str, str], Any]) -> None:
        self._stream = stream
        self._find_class = find_class
        self._shared: dict[int, Any] = {}

    def read(self) -> Any:
        """The next request; raises ``EOFError`` if the referee is gone."""
        (length,) = _REQUEST.unpack(_receive(self._stream, _REQUEST.size))
        find_class, shared = self._find_class, self._shared

        class _Reader(pickle.Unpickler):
            def find_class(self, module_name: str, global_name: str, /) -> Any:
                return find_class(module_name, global_name)

            def persistent_load(self, pid: int) -> Any:
                return shared[pid]

        content = io.BytesIO(_receive(self._stream, length))
        shared |= _Reader(content).load()
        return _Reader(content).load()


def write_reply(header: Mapping[str, object], arrays: Sequence[npt.NDArray[Any]] = ()) -> bytes:
    """A header and arrays, from a player to the referee."""
    text = json.dumps(header).encode()
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return _REPLY.pack(len(text), len(body)) + text + body


def read_reply(read: Read, views: int = 0, most_bytes: int = 0) -> tuple[dict[str, Any], bytes]:
    """A header and the bytes behind it, in the referee, none longer than it may be."""
    header_length, body_length = _REPLY.unpack(read(_REPLY.size))
    if header_length > HEADER + views * HEADER_PER_VIEW or body_length > most_bytes:
        raise BadMessage(f"sent {header_length + body_length:,} bytes, more than any answer has")
    text, body = read(header_length), read(body_length)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("sent a message that is not JSON") from None
    if not isinstance(header, dict):
        raise BadMessage("sent a message that is not a JSON object")
    return header, body


def encode_answers(answers: Sequence[Answer]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Answers as the header and the arrays of a reply."""
    arrays: list[Any] = []
    for answer in answers:
        arrays.append(np.asarray(answer.codes, dtype="<i8"))
        if answer.scores is not None:
            arrays.append(np.asarray(answer.scores, dtype="<f8"))
    return [
        {
            "scores": answer.scores is not None,
            "info": dict(answer.info),
            "best_possible": answer.best_possible,
            "state": [str(number) for number in answer.state],
        }
        for answer in answers
    ], arrays


def decode_answers(
    raw: object, body: bytes, shapes: Sequence[tuple[int, int]], *, scored: bool = True
) -> list[Answer]:
    """The inverse of ``encode_answers`` for views with (records, targets) of these ``shapes``."""
    if not isinstance(raw, list) or len(raw) != len(shapes):
        raise BadMessage("sent an answer that is not one entry per view")
    answers, offset = [], 0
    for entry, (n, targets) in zip(raw, shapes, strict=True):
        if not isinstance(entry, dict):
            raise BadMessage("sent an answer that is not a JSON object")
        sizes = [n * targets, n if entry.get("scores") is True and scored else 0]
        parts = []
        for size, kind in zip(sizes, ("<i8", "<f8"), strict=True):
            if len(body) - offset < 8 * size:
                raise BadMessage("sent fewer numbers than its views have records")
            parts.append(np.frombuffer(body, kind, size, offset).copy())
            offset += 8 * size
        codes, scores = parts
        answers.append(
            Answer(
                codes.reshape(n, targets).astype(np.int64),
                scores.astype(np.float64) if sizes[1] else None,
                read_info(entry.get("info", {})),
                _read_best_possible(entry.get("best_possible")),
                _read_state(entry.get("state")),
            )
        )
    if offset != len(body):
        raise BadMessage("sent more numbers than its views have records")
    return answers


def read_text(raw: object, what: str) -> str:
    """A text of a player in one line, without what would steer a terminal."""
    if not isinstance(raw, str):
        raise BadMessage(f"sent {what} that is not a text")
    shown = "".join(c if c.isprintable() else " " for c in raw[: 2 * LONGEST_TEXT])
    return " ".join(shown.split())[:LONGEST_TEXT]


def read_info(raw: object) -> dict[str, float]:
    if not isinstance(raw, dict) or len(raw) > MOST_NUMBERS:
        raise BadMessage(f"sent info that is not an object of at most {MOST_NUMBERS} numbers")
    if not all(_is_number(value) and len(name) <= 100 for name, value in raw.items()):
        raise BadMessage("sent info that does not map short names to numbers")
    return {read_text(name, "info"): float(value) for name, value in raw.items()}


def _read_best_possible(raw: object) -> tuple[float, float, bool] | None:
    match raw:
        case None:
            return None
        case [float() as expected, float() as error, bool() as converged]:
            if isfinite(expected) and isfinite(error):
                return expected, error, converged
    raise BadMessage("sent a best possible success that is not two finite numbers and a truth")


def _read_state(raw: object) -> tuple[int, ...]:
    if isinstance(raw, list) and len(raw) == len(_STATE_LIMITS):
        digits = [text for text in raw if isinstance(text, str) and text.isdecimal()]
        short = [int(text) for text in digits if len(text) < 40]
        if len(short) == len(raw) and all(
            number < limit for number, limit in zip(short, _STATE_LIMITS, strict=True)
        ):
            return tuple(short)
    raise BadMessage("sent a generator that is not one of numpy's PCG64")


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 1 << 1000)


def get_state(rng: np.random.Generator) -> tuple[int, ...]:
    """The state of a PCG64 generator as whole numbers."""
    raw: Any = rng.bit_generator.state
    return (raw["state"]["state"], raw["state"]["inc"], raw["has_uint32"], raw["uinteger"])


def make_generator(state: Sequence[int]) -> np.random.Generator:
    """The inverse of ``get_state``."""
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state[0], "inc": state[1]},
        "has_uint32": state[2],
        "uinteger": state[3],
    }
    return np.random.Generator(bits)


def _receive(stream: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = stream.recv(min(length - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
