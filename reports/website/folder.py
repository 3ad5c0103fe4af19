"""Write a site whole or not at all, and only where nothing else would be lost.

A site is built in a temporary folder beside its place and then changes places with the one before.
``site.json`` in it lists every file with its hash: a folder without that list, or with files that
are not on it, is not ours to replace.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from reconbench.reports.website.content import SiteError

FORMAT = "reconbench-site/1"
MANIFEST = "site.json"
_MOST_BYTES = 256 << 20


def check_folder(folder: Path) -> None:
    """Raise unless the folder is missing, empty, or a site that this package wrote."""
    if folder.is_symlink():
        raise SiteError(f"--out {folder} is a symbolic link; name the folder itself")
    if not folder.exists():
        if not folder.absolute().parent.is_dir():
            raise SiteError(f"cannot write --out {folder}: no folder {folder.parent}; create it")
        return
    if not folder.is_dir():
        raise SiteError(f"--out {folder} is not a folder; choose another")
    own = _read_files(folder / MANIFEST)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if own is None or (name not in own and (path.is_symlink() or not path.is_dir())):
            what = "is not a site of reconbench" if own is None else "has a file that is not ours"
            raise SiteError(
                f"--out {folder} {what}: it holds {name!r}; move it away or choose another folder"
            )


def write_site(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write all files and put them in place of what was there; return how many."""
    check_folder(folder)
    target = folder.absolute()
    try:
        built = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise SiteError(f"cannot write --out {folder}: {error.strerror}") from None
    try:
        hashes: dict[str, str] = {}
        for name, content in files:
            path = built / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            hashes[name] = hashlib.sha256(content).hexdigest()
        manifest = {"format": FORMAT, "files": {**dict(sorted(hashes.items())), MANIFEST: ""}}
        (built / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        built.chmod(0o755)
        _swap(built, target)
    except BaseException:
        shutil.rmtree(built, ignore_errors=True)
        raise
    return len(hashes)


def _swap(built: Path, target: Path) -> None:
    """Two renames; if the second one fails, the first is undone."""
    if not target.exists():
        os.rename(built, target)
        return
    old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.old."))
    os.rename(target, old / "site")
    try:
        os.rename(built, target)
    except OSError:
        os.rename(old / "site", target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _read_files(path: Path) -> set[str] | None:
    """The files that a site lists; None if there is no such list."""
    with suppress(OSError, ValueError, RecursionError):
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            raw = json.loads(path.read_bytes())
            if isinstance(raw, dict) and raw.get("format") == FORMAT:
                files = raw.get("files")
                return set(files) if isinstance(files, dict) else None
    return None
