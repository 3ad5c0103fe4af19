"""The referee's end: start a player, ask it within the limits, and end it.

Whatever a player does, ``ask`` returns what it sent, or raises ``PlayerFailed`` with the reason.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from reconbench.attacks import AttackError
from reconbench.benchmarks.player.keeper import MARK, kill_marked
from reconbench.benchmarks.player.messages import BadMessage, RequestWriter, read_reply, read_text

# What is kept of what a player prints.
PRINTED = 2000
# The keeper imports libraries, on a machine that may be busy; to end a player takes milliseconds.
KEEPER_SECONDS = 300.0
END_SECONDS = 20.0
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# All that a player needs of the environment; the rest may hold secrets.
_ENVIRONMENT = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "VIRTUAL_ENV", "PYTHONPATH",
    "PYTHONHASHSEED", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "XDG_CACHE_HOME",
    "RECONBENCH_CACHE", "NUMBA_CACHE_DIR", "CUDA_VISIBLE_DEVICES", *THREAD_VARIABLES,
)  # fmt: skip


class PlayerFailed(AttackError):
    """A player that hung, died or sent nonsense; the text is the rest of a sentence about it."""


class PlayerRaised(AttackError):
    """What foreign code raised, in words."""


class PlayerOutOfMemory(AttackError):
    """Foreign code that asked for more memory than it may have."""


class _KeeperGone(Exception):
    """The keeper does not answer: a player killed or stopped it."""


class Keeper:
    """A keeper process and its present player; there is one of each at most."""

    def __init__(self, namespace: bool = True) -> None:
        self._namespace = namespace
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folder = ""
        self._owner = os.getpid()
        self._player: Player | None = None

    def start(self, preload: tuple[str, ...] = ()) -> Player:
        """A fresh player; the one before it is ended."""
        if self._process is not None:
            try:
                return self._fork(preload)
            except _KeeperGone:
                self.close()
        self._launch()
        return self._fork(preload)

    def end(self, seconds: float = 0.0) -> int | None:
        """End the player and all it started: its exit code, or None if it was still running.

        One that is about to end has so many seconds for it.
        """
        try:
            status = self._order({"start": False, "wait": seconds})["status"]
            return None if status is None else int(status)
        except _KeeperGone:
            self.close()
            return None

    def close(self) -> None:
        """End the keeper and all that came from it."""
        if self._process is None or self._owner != os.getpid():
            return
        if self._player is not None:
            self._player.alive = False
        if self._control is not None:
            self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=END_SECONDS)
        self._process.kill()
        self._process.wait()
        kill_marked(_own_mark())
        shutil.rmtree(self._folder, ignore_errors=True)
        self._process = self._control = None

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        environment |= {name: environment.get(name, "1") for name in THREAD_VARIABLES}
        environment[MARK] = _own_mark()
        self._folder = tempfile.mkdtemp(prefix="reconbench-player-")
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "reconbench.benchmarks.player.keeper",
                    str(theirs.fileno()),
                    "namespace" if self._namespace else "plain",
                    _hidden,
                ],
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control = ours
        self._owner = os.getpid()
        try:
            self._receive(KEEPER_SECONDS)
        except _KeeperGone:
            self.close()
            raise PlayerFailed("cannot be played: the process for players does not start") from None

    def _fork(self, preload: tuple[str, ...]) -> Player:
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        try:
            self._order({"start": True, "preload": preload}, (theirs.fileno(), write_end))
        except BaseException:
            ours.close()
            os.close(read_end)
            raise
        finally:
            theirs.close()
            os.close(write_end)
        self._player = Player(self, ours, read_end)
        return self._player

    def _order(self, order: dict[str, Any], descriptors: tuple[int, ...] = ()) -> dict[str, Any]:
        if self._control is None:
            raise _KeeperGone
        try:
            self._control.settimeout(END_SECONDS)
            socket.send_fds(self._control, [json.dumps(order).encode()], list(descriptors))
        except OSError:
            raise _KeeperGone from None
        return self._receive(KEEPER_SECONDS if order.get("preload") else END_SECONDS)

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self._control is not None
        self._control.settimeout(seconds)
        content = b""
        while not content.endswith(b"\n"):
            try:
                part = self._control.recv(1 << 12)
            except OSError:
                raise _KeeperGone from None
            if not part:
                raise _KeeperGone
            content += part
        reply: dict[str, Any] = json.loads(content)
        return reply


class Player:
    """A player process, as the referee sees it."""

    def __init__(self, keeper: Keeper, stream: socket.socket, output: int) -> None:
        self._keeper = keeper
        self._stream = stream
        self._output = output
        self._stream.setblocking(False)
        os.set_blocking(output, False)
        self._requests = RequestWriter()
        self._printed = b""
        self._dropped = 0
        self.alive = True

    def ask(
        self,
        request: object,
        seconds: float | None,
        shared: Sequence[object] = (),
        views: int = 0,
        most_bytes: int = 0,
        limit: float | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """The reply to a request: a header, and at most so many bytes of numbers.

        ``shared`` are parts of the request that later ones have as well. ``seconds`` may be what is
        left of a ``limit``.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            exchange = _Exchange(self, self._requests.write(request, shared), deadline)
            header, body = read_reply(exchange.read, views, most_bytes)
            error = read_text(header["error"], "an error") if "error" in header else None
        except TimeoutError:
            self.end()
            raise PlayerFailed(
                f"exceeded the {limit or seconds:g} s time limit (--timeout)"
            ) from None
        except EOFError:
            raise PlayerFailed(self._describe_end()) from None
        except BadMessage as bad:
            self.end()
            raise PlayerFailed(str(bad)) from None
        except BaseException:  # Ctrl-C
            self.end()
            raise
        if header.get("memory") is True:
            self.end()
            raise PlayerOutOfMemory
        if error is not None:
            raise PlayerRaised(error)
        return header, body

    def take_printed(self) -> str:
        """The beginning of what was printed since the last time, and how much more there was."""
        self.drain()
        text = self._printed.decode(errors="replace")
        text = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text).strip()
        more = f" [{self._dropped:,} more bytes]" if self._dropped else ""
        self._printed, self._dropped = b"", 0
        return text + more

    def drain(self) -> bool:
        """Read what was printed, at most a few MiB at a time; False if nobody can print more."""
        for _ in range(64):
            try:
                part = os.read(self._output, 1 << 16)
            except (BlockingIOError, OSError):
                return True
            if not part:
                return False
            kept = part[: PRINTED - len(self._printed)]
            self._printed += kept
            self._dropped += len(part) - len(kept)
        return True

    def end(self, seconds: float = 0.0) -> int | None:
        """Kill it, with all that it started; how it had ended before, if it had."""
        if not self.alive:
            return None
        self.alive = False
        status = self._keeper.end(seconds)
        self.drain()
        self._stream.close()
        return status

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self._output)

    def _describe_end(self) -> str:
        code = self.end(seconds=1.0)
        if code is None:
            return "closed the connection of its player process"
        return f"killed its player process ({describe_exit(code)})"


class _Exchange:
    """Send a request and read the reply, while what is printed is taken away."""

    def __init__(self, player: Player, content: bytes, deadline: float | None) -> None:
        self._player = player
        self._stream = player._stream
        self._unsent = memoryview(content)
        self._deadline = deadline
        self._received = bytearray()

    def read(self, length: int) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, selectors.EVENT_READ)
            selector.register(self._player._output, selectors.EVENT_READ)
            while len(self._received) < length:
                self._step(selector, length)
        found = bytes(self._received[:length])
        del self._received[:length]
        return found

    def _step(self, selector: selectors.BaseSelector, length: int) -> None:
        sending = selectors.EVENT_WRITE if self._unsent else 0
        selector.modify(self._stream, selectors.EVENT_READ | sending)
        left = None if self._deadline is None else self._deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        for key, events in selector.select(left):
            if key.fileobj == self._player._output:
                if not self._player.drain():
                    selector.unregister(self._player._output)
                continue
            try:
                if events & selectors.EVENT_WRITE and self._unsent:
                    self._unsent = self._unsent[self._stream.send(self._unsent[: 1 << 18]) :]
                if events & selectors.EVENT_READ:
                    part = self._stream.recv(min(length - len(self._received), 1 << 20))
                    if not part:
                        raise EOFError
                    self._received += part
            except BlockingIOError:
                continue
            except OSError:
                raise EOFError from None


def describe_exit(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    reasons = {
        signal.SIGABRT: "it aborted",
        signal.SIGSEGV: "a segmentation fault",
        getattr(signal, "SIGKILL", 9): "most likely out of memory",
    }
    reason = reasons.get(-code)
    return f"signal {-code}, {reason}" if reason else f"signal {-code}"


def _own_mark() -> str:
    return str(os.getpid())


_keeper: Keeper | None = None
_seconds: float | None = None
_hidden = ""


def get_keeper() -> Keeper:
    """The keeper of this process; it is started by its first player."""
    global _keeper
    if _keeper is None or _keeper._owner != os.getpid():
        _keeper = Keeper()
        atexit.register(_keeper.close)
    return _keeper


def limit_players(seconds: float | None, hidden: str = "") -> None:
    """From now on, give players of this process so much time per answer; None for no limit.

    Players that were started before a folder is ``hidden`` from them are ended.
    """
    global _seconds, _hidden
    if hidden != _hidden and _keeper is not None:
        _keeper.close()
    _seconds, _hidden = seconds, hidden


def get_limit(times: int = 1) -> float | None:
    """The time for so many answers."""
    return None if _seconds is None else _seconds * times


def find_preload(file: Path | None) -> tuple[str, ...]:
    """Large libraries that a file of foreign code names: imported by the keeper, once."""
    if file is None:
        return ("torch",)
    with suppress(OSError):
        return ("torch",) if b"torch" in file.read_bytes() else ()
    return ()
