"""Files are written whole or not at all."""

from pathlib import Path

import pytest

from reconbench.datasets.atomic_files import write_json_atomic


def test_write_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    write_json_atomic(path, {"a": "é"})
    with pytest.raises(TypeError):
        write_json_atomic(path, {"a": object()})
    assert path.read_text(encoding="utf-8") == '{\n "a": "é"\n}\n'
    assert [p.name for p in tmp_path.iterdir()] == ["d.json"]
    with pytest.raises(ValueError, match="cannot write"):
        write_json_atomic(tmp_path / "no" / "d.json", {})
