"""Files of own tables, and errors that are one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.datasets.domain import DomainError

Save = Callable[..., Path]
Refused = Callable[..., None]


@pytest.fixture
def saved(tmp_path: Path) -> Save:
    """Write a file and return its path."""

    def save(content: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return save


@pytest.fixture
def refused() -> Refused:
    """Expect one line that names a file and the reason."""

    def check(path: Path, reason: str, call: Callable[[], Any]) -> None:
        with pytest.raises(DomainError, match=reason) as caught:
            call()
        text = str(caught.value)
        assert str(path) in text and "\n" not in text and len(text) < 600

    return check
