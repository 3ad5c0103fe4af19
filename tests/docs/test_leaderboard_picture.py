"""The picture of the leaderboard that README shows is made by a command."""

from __future__ import annotations

import shutil
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
        take_picture(page, picture)
        assert picture.read_bytes()[:4] == PICTURE.read_bytes()[:4] == b"\x89PNG"
        # width and height are in the header
        assert picture.read_bytes()[16:24] == PICTURE.read_bytes()[16:24]
    else:
        with pytest.raises(SystemExit, match="no Chromium found"):
            take_picture(page, picture)
