"""A keeper whose referee was killed ends without a word, and takes its folder along."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path


def test_a_referee_that_is_gone_before_it_read_an_answer(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "reconbench.benchmarks.player.keeper", str(theirs.fileno())]
    (tmp_path / "folder").mkdir()
    keeper = subprocess.Popen(
        [*command, "plain", ""],
        pass_fds=(theirs.fileno(),),
        cwd=tmp_path / "folder",
        stderr=subprocess.PIPE,
        text=True,
    )
    theirs.close()
    # Wait until the greeting is there, and leave it unread: closing then resets the connection.
    assert ours.recv(1, socket.MSG_PEEK)
    ours.close()
    _, said = keeper.communicate()
    assert (keeper.returncode, said) == (0, "") and not (tmp_path / "folder").exists()
