"""Take the picture of the leaderboard that README and the documentation show.

    reconbench run quick --out results/quick
    python docs/generate leaderboard_picture results/quick/leaderboard.html

opens a page in Chromium, without a network, and writes its first screen to
``docs/img/leaderboard.png``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
PICTURE = HOME / "img" / "leaderboard.png"
SIZE = {"width": 1280, "height": 905}


def take_picture(page: Path, picture: Path = PICTURE) -> None:
    """Write the first screen of a page in the light theme."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("no Chromium found: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = browser.new_context(viewport=SIZE, offline=True, color_scheme="light")  # type: ignore[arg-type]
        tab = context.new_page()
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.screenshot(path=picture)
        browser.close()


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        raise SystemExit(
            "give the path of a leaderboard.html, such as results/quick/leaderboard.html"
        )
    take_picture(Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
