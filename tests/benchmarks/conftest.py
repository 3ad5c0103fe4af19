from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from reconbench.benchmarks.store import provenance, source_code

CACHED = (provenance._hash_computation, provenance._hash_game, provenance._hash_part)


@pytest.fixture
def change_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Act as if the source of one module were another."""
    read_code = source_code.read_code

    def clear() -> None:
        for hashed in CACHED:
            hashed.cache_clear()

    def change(name: str) -> None:
        changed = Path(str(import_module(name).__file__))
        monkeypatch.setattr(
            source_code, "read_code", lambda path: "other" if path == changed else read_code(path)
        )
        clear()

    yield change
    monkeypatch.undo()
    clear()
