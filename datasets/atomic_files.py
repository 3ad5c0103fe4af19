"""Write files whole or not at all, so that a reader never meets half of one."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

# Who may read and write a file: everybody may read it, or its owner alone may do either.
PUBLIC, PRIVATE = 0o644, 0o600


def write_atomic(path: Path, content: str | bytes, mode: int = PUBLIC) -> None:
    """Write a file whole or not at all; text as UTF-8, its line ends as they are."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder, give the name of a file in it")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json_atomic(path: str | os.PathLike[str], content: object) -> None:
    """Write JSON as a file that appears whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomic(Path(path), text + "\n")
