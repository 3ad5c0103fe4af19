"""The keeper: a clean process that players are forked from, ``python -m`` with a socket's number.

It has imported the libraries and has never seen a table, a seed or foreign code, so every player
starts from the same state, in milliseconds. Where Linux allows it, the keeper and its players have
process numbers of their own: a player can signal nothing outside, and nothing that it leaves
behind outlives it; and a folder that holds secrets of the run is empty in their eyes. The referee
is at the other end of the socket; when it is gone, all of them end.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

# In the environment of the keeper and of all that come from it, with the referee's process number.
MARK = "RECONBENCH_REFEREE"
PRELOADED = ("reconbench.benchmarks.player.serve",)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
_MS_RDONLY, _MS_REC, _MS_PRIVATE = 1, 1 << 14, 1 << 18
_CAPABILITY_VERSION = 0x20080522


def main(descriptor: int, namespace: bool, hidden: str = "") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    if namespace and _enter_namespace(hidden):
        child = os.fork()
        if child:
            control.close()
            _, status = os.waitpid(child, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    elif sys.platform == "linux":
        # Without it, what a player leaves behind would become a child of process 1.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    _keep(control)


def _enter_namespace(hidden: str) -> bool:
    """Give the next child, and all that come from it, process numbers of their own.

    They see nothing of the ``hidden`` folder, if there is one and the system allows it.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID) != 0:
        return False
    if hidden and os.path.isdir(hidden) and libc.unshare(_CLONE_NEWNS) == 0:
        _hide_folder(libc, hidden)
    return True


def _hide_folder(libc: ctypes.CDLL, folder: str) -> None:
    """Put an empty folder in its place, for good: without capabilities nobody takes it away."""
    nothing, path = ctypes.c_char_p(b"none"), os.fsencode(folder)
    libc.mount(nothing, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None)
    libc.mount(nothing, path, b"tmpfs", ctypes.c_ulong(_MS_RDONLY), None)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _keep(control: socket.socket) -> None:
    player: int | None = None
    control.sendall(json.dumps({"pid": os.getpid()}).encode() + b"\n")
    while True:
        content, descriptors = b"", list[int]()
        # A referee that was killed before it read an answer resets the connection.
        with suppress(ConnectionResetError):
            content, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 2)
        order = json.loads(content) if content else {}
        status = end_player(player, order.get("wait", 0.0))
        player = None
        for folder in Path.cwd().iterdir():
            shutil.rmtree(folder, ignore_errors=True)
        if not content:
            shutil.rmtree(Path.cwd(), ignore_errors=True)
            os._exit(0)
        if order["start"]:
            for name in order["preload"]:
                with suppress(ImportError):
                    importlib.import_module(name)
            player = os.fork()
            if player == 0:
                control.close()
                _become_player(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
        with suppress(BrokenPipeError):
            control.sendall(json.dumps({"pid": player, "status": status}).encode() + b"\n")


def end_player(player: int | None, seconds: float = 0.0) -> int | None:
    """Kill a player and all it left behind; return how it ended, None if it was still running.

    One that is about to end has so many seconds for it.
    """
    if player is None:
        return None
    deadline = time.monotonic() + seconds
    finished, status = os.waitpid(player, os.WNOHANG)
    while not finished and time.monotonic() < deadline:
        time.sleep(0.01)
        finished, status = os.waitpid(player, os.WNOHANG)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(player, signal.SIGKILL)
    if os.getpid() == 1:
        # Process 1 of its own namespace: this reaches everything there but itself.
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    else:
        kill_marked(os.environ[MARK], {os.getpid()})
        _kill_children()
    with suppress(ChildProcessError):
        if not finished:
            os.waitpid(player, 0)
        while os.waitpid(-1, 0 if os.getpid() == 1 else os.WNOHANG)[0]:
            pass
    return os.waitstatus_to_exitcode(status) if finished else None


def _kill_children() -> None:
    """Kill this process's children, and those left to it, until there are none (Linux)."""
    for _ in range(100):
        try:
            text = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        except OSError:
            return
        for pid in map(int, text.split()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if not text.split():
            return


def kill_marked(referee: str, spared: set[int] | None = None) -> None:
    """Kill what has a referee's mark in its environment, children of children too (Linux)."""
    mark = f"{MARK}={referee}\0".encode()
    for _ in range(20):
        marked = [pid for pid in _list_marked(mark) if pid not in (spared or set())]
        if not marked:
            return
        for pid in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _list_marked(mark: bytes) -> list[int]:
    marked = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes() + b"\0":
                marked.append(int(path.parent.name))
    return marked


def _become_player(stream: int, output: int) -> None:
    """In the forked child: a session of its own, nothing of the keeper's, then serve."""
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)
    try:
        os.chdir(tempfile.mkdtemp(dir=os.getcwd()))
        from reconbench.benchmarks.player.serve import serve

        serve(socket.socket(fileno=stream))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "namespace", sys.argv[3])
