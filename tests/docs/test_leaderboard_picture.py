"""The picture of the leaderboard that README shows is made by a command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generate.leaderboard_picture import PICTURE, main, take_picture
from reconbench.reports import leaderboard_html


def test_the_command_says_what_it_needs(tmp_path: Path) -> None:
    for arguments in ([], [str(tmp_path / "absent.html")], ["a", "b"]):
        with pytest.raises(SystemExit, match=r"give the path of a leaderboard\.html"):
            main(arguments)


def test_the_picture_is_that_of_a_page(tmp_path: Path) -> None:
    page, picture = tmp_path / "leaderboard.html", tmp_path / "picture.png"
    page.write_text(leaderboard_html([], "Demo", {}), encoding="utf-8", newline="")
    if shutil.which("chromium") or shutil.which("chromium-browser"):
        # in a process of its own: another test of this one may have a browser open
        command = "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        command += "from generate.leaderboard_picture import take_picture\n"
        command += "take_picture(Path(sys.argv[2]), Path(sys.argv[3]))"
        docs = str(PICTURE.parents[1])
        subprocess.run([sys.executable, "-c", command, docs, str(page), str(picture)], check=True)
        assert picture.read_bytes()[:4] == PICTURE.read_bytes()[:4] == b"\x89PNG"
        # width and height are in the header
        assert picture.read_bytes()[16:24] == PICTURE.read_bytes()[16:24]
    else:
        with pytest.raises(SystemExit, match="no Chromium found"):
            take_picture(page, picture)
