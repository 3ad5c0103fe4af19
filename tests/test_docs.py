"""What the documents show is run, so that it stays true."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from generate.site_build.api_reference import API_PAGES

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


# The examples of data.md need files of its own and are run with the loaders' tests.
PAGES = [p for p in sorted((ROOT / "docs").glob("*.md")) if p.name != "data.md"]
PYTHON = [(path, code) for path in (ROOT / "README.md", *PAGES) for code in blocks(path, "python")]


@pytest.mark.parametrize(
    ("path", "code"), PYTHON, ids=lambda x: x.name if isinstance(x, Path) else ""
)
def test_python_blocks_run(path: Path, code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_readme_commands_run(tmp_path: Path) -> None:
    commands = [
        line[2:]
        for block in blocks(ROOT / "README.md", "console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert len(commands) >= 3
    for command in commands:
        program, *arguments = shlex.split(command)
        done = subprocess.run(
            [str(BIN / program), *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, (command, done.stderr)


def test_readme_starts_with_the_two_commands() -> None:
    first = blocks(ROOT / "README.md", "console")[0].splitlines()
    assert first[0].startswith("make bench") and first[1].startswith("make test")


def test_contributed_attack_runs_and_reaches_the_leaderboard(tmp_path: Path) -> None:
    """The file that CONTRIBUTING shows, outside the repository, as it stands there."""
    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    (tmp_path / "gut_feeling.py").write_text(code, encoding="utf-8")
    shown = blocks(ROOT / "CONTRIBUTING.md", "console")[1].splitlines()
    assert all("gut_feeling.py:GutFeeling" in line for line in shown)
    for command in (*shown[:1], "reconbench run smoke --attack gut_feeling.py:GutFeeling --reps 1"):
        _, *arguments = shlex.split(command)
        done = subprocess.run(
            [str(BIN / "reconbench"), *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    out = tmp_path / "results" / "smoke"
    rows = list(csv.DictReader((out / "leaderboard.csv").read_text().splitlines()))
    mine = [row for row in rows if row["attack"] == "gut-feeling"]
    assert len(mine) == 2 and all(row["success"] for row in mine)
    assert "gut-feeling" in (out / "leaderboard.html").read_text()


def test_contributed_bound_is_written_and_passes_its_checks(tmp_path: Path) -> None:
    """The commands that CONTRIBUTING shows for a bound, one after the other."""
    commands = blocks(ROOT / "CONTRIBUTING.md", "console")[2].splitlines()
    assert [command.split()[1] for command in commands] == ["new", "check", "list"]
    for command in commands:
        _, *arguments = shlex.split(command, comments=True)
        done = subprocess.run(
            [str(BIN / "reconbench"), *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def anchors_of(path: Path) -> set[str]:
    """The anchors of a page, as the site makes them of its headings."""
    plain = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)
    return {slugify(re.sub(r"[`*]|\]\(.*?\)|\[", "", heading), "-") for heading in headings}


def broken_links(path: Path) -> list[str]:
    """Links of a document to files, or to headings of Markdown files, that do not exist."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        file = path.parent / target if target else path
        if target.startswith(("http:", "https:")):
            continue
        if not file.exists() or (
            anchor and file.suffix == ".md" and anchor not in anchors_of(file)
        ):
            broken.append(f"{path.name} links to {link}")
    return broken


def test_links_of_the_documents_exist() -> None:
    """On the site mkdocs checks links, too; these are read in the repository."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    assert [link for path in documents for link in broken_links(path)] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two`\n[a](#one-two) [b](page.md#one-two) [c](page.md#three) [d](no.py)")
    assert broken_links(page) == ["page.md links to page.md#three", "page.md links to no.py"]


def test_the_ten_places_exist() -> None:
    """What docs/design.md promises a newcomer: ten questions, each answered by a path."""
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    section = text.partition("## Ten places")[2].partition("\n## ")[0]
    places = re.findall(r"^\| .+\? \| `([^`]+)` \|$", section, flags=re.MULTILINE)
    assert len(places) == 10
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_every_page_is_on_the_site() -> None:
    """A page that the navigation or the index forgets cannot be found."""
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    scripts = {f"notebooks/{path.name}" for path in (ROOT / "docs" / "notebooks").glob("*.py")}
    shown = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    made = {page for page in shown if "/" in page}
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert pages == shown - made - {"index.md", "changelog.md"}
    assert pages == set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert scripts == set(re.findall(r"\]\((notebooks/\w+\.py)\)", index))
    reference = {f"reference/{page.name}.md" for page in API_PAGES} | {"reference/cli.md"}
    assert made == reference | {script.removesuffix(".py") + ".md" for script in scripts}
