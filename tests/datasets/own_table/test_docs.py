"""The examples of docs/data.md run."""

import re
from pathlib import Path

import pytest

from reconbench.datasets.own_table import read_domain

DOCS = Path(__file__).parents[3] / "docs" / "data.md"


def test_examples_of_the_documentation_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text(encoding="utf-8")
    text = re.sub(r"<!-- needs the network -->\n```python\n.*?```", "", text, flags=re.DOTALL)
    head, _, rest = text.partition("## From a spreadsheet to a report")  # run by the CLI's tests
    text = head + rest.partition("\n## ")[2]
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 9
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), names)
    assert "this is a draft" in capsys.readouterr().out


def test_the_domain_file_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "d.json").write_text(block)
    domain = read_domain(tmp_path / "d.json")
    assert domain["sex"].labels == ("F", "M", "NA") and domain.left_out == ("id",)
    assert domain["age"].ordinal and domain["smokes"].recoding.missing is None
