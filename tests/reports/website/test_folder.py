"""A site replaces a site, whole, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconbench.reports.website.content import SiteError
from reconbench.reports.website.folder import MANIFEST, check_folder, write_site

FILES = [("index.html", b"one"), ("a/b.html", b"two")]


def read_tree(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_site_is_replaced_whole(tmp_path: Path) -> None:
    out = tmp_path / "site"
    assert write_site(out, FILES) == 2
    assert write_site(out, [("index.html", b"three")]) == 1
    assert read_tree(out).keys() == {"index.html", MANIFEST}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    listed = json.loads((out / MANIFEST).read_text())["files"]
    assert set(listed) == {"index.html", MANIFEST}


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    write_site(tmp_path / "site", FILES)
    assert (tmp_path / "site" / "a" / "b.html").read_bytes() == b"two"


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(out, FILES)
    before = read_tree(out)

    def fail() -> Iterator[tuple[str, bytes]]:
        yield "index.html", b"half"
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_site(out, fail())
    assert read_tree(out) == before and [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("manifest", [None, "{}", "[", '{"format": "reconbench-site/1"}'])
def test_other_folders_are_refused(tmp_path: Path, manifest: str | None) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    if manifest is not None:
        (out / MANIFEST).write_text(manifest)
    before = read_tree(out)
    with pytest.raises(SiteError, match=r"is not a site of reconbench: it holds"):
        write_site(out, FILES)
    assert read_tree(out) == before


def test_files_of_others_in_a_site_are_not_lost(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(out, FILES)
    (out / "CNAME").write_text("example")
    with pytest.raises(SiteError, match="has a file that is not ours: it holds 'CNAME'"):
        write_site(out, FILES)
    assert (out / "CNAME").is_file()


def test_other_targets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name, error in (
        ("file", "is not a folder"),
        ("link", "is a symbolic link"),
        ("none/site", "no folder .*none; create it"),
    ):
        with pytest.raises(SiteError, match=error):
            check_folder(tmp_path / name)
