"""Bring your own table: strict, and every mistake is one line that names the file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reconbench.datasets import own_table
from reconbench.datasets.atomic_files import write_json_atomic
from reconbench.datasets.domain import Attribute, Domain, DomainError, binned
from reconbench.datasets.own_table import read_domain, read_table, suggest_domain

PETS = Domain((Attribute("pet", ("cat", "dog", "=1+1")), binned("age", [0, 5, 10])))
DOCS = Path(__file__).parents[2] / "docs" / "data.md"


def saved(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, reason: str, call: Any) -> None:
    with pytest.raises(DomainError, match=reason) as caught:
        call()
    told = str(caught.value)
    assert str(path) in told and "\n" not in told and len(told) < 500


# Domains


def test_domain_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    write_json_atomic(path, PETS.to_json())
    assert read_domain(path) == PETS
    assert [p.name for p in tmp_path.iterdir()] == ["d.json"]


def test_domain_with_bom_notes_and_false_draft(tmp_path: Path) -> None:
    text = json.dumps(PETS.to_json() | {"notes": ["mine"], "draft": False})
    assert read_domain(saved(tmp_path, b"\xef\xbb\xbf" + text.encode())) == PETS


ONE = '{"attributes": [{"name": "a", "labels": ["x"]%s}]}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON: .* at line 1, column 1"),
        ('{"attributes": [', "not valid JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "must be"),
        ('{"attributes": {}}', "must be"),
        ('{"attributes": []}', "at least one attribute"),
        ('{"attributes": [], "attributes": []}', "'attributes' is given twice"),
        (ONE % ', "lables": []', "unknown key 'lables'"),
        (ONE[:-1] % "" + ', "extra": 1}', "unknown key 'extra'; allowed: attributes, notes"),
        (ONE[:-1] % "" + ', "draft": true}', "draft.*publicly known.*delete"),
        (ONE[:-1] % "" + ', "draft": "no"}', "draft"),
        ('{"attributes": [{"name": "a", "labels": ["x", "x"]}]}', "label 'x' twice"),
        ('{"attributes": [{"name": "a", "labels": [1]}]}', "every label must be text"),
        ('{"attributes": [{"name": "a", "labels": [""]}]}', "'' is not usable"),
        ('{"attributes": [{"name": "a", "labels": ["x\\u001b[2J"]}]}', "not usable"),
        ('{"attributes": [{"name": "a\\nb", "labels": ["x"]}]}', "not usable"),
        ('{"attributes": [{"name": "a", "labels": ["%s"]}]}' % ("x" * 5000), "not usable"),
        ('{"attributes": [{"name": "a", "edges": [0, 1%s]}]}' % ("0" * 400), "too large"),
        ('{"attributes": [{"name": "a", "edges": [0, 1%s]}]}' % ("0" * 9000), "limit"),
        ('{"attributes": [{"name": "a", "edges": [0, NaN]}]}', "finite and increasing"),
        ('{"attributes": [{"name": "a", "edges": [3, 1]}]}', "finite and increasing"),
    ],
)
def test_bad_domain_files(tmp_path: Path, content: str | bytes, reason: str) -> None:
    path = saved(tmp_path, content, "d.json")
    refused(path, reason, lambda: read_domain(path))


def test_domain_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(tmp_path, "cannot read", lambda: read_domain(tmp_path))
    missing = tmp_path / "none.json"
    refused(missing, "No such file", lambda: read_domain(missing))
    monkeypatch.setattr(own_table, "MAX_DOMAIN_BYTES", 10)
    big = saved(tmp_path, ONE % "")
    refused(big, "larger than", lambda: read_domain(big))


# Tables


@pytest.mark.parametrize(
    "content",
    [
        "pet,age\ncat,3\ndog,10\n=1+1,5\n",
        "age,pet\n3,cat\n10,dog\n5,=1+1",
        "pet,age\r\ncat,3\r\ndog,10\r\n=1+1,5.0\r\n\r\n",
        "\ufeffpet,age\ncat,3e0\ndog,10\n=1+1,5\n",
        '"pet","age"\n"cat","3"\n"dog","10"\n"=1+1","5"\n',
        "pet,age\rcat,3\rdog,10\r=1+1,5\r",
    ],
)
def test_good_tables(tmp_path: Path, content: str) -> None:
    table = read_table(saved(tmp_path, content), PETS)
    assert table.codes.tolist() == [[0, 0], [1, 1], [2, 1]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("pet,age\n", "no records"),
        ("pet,age,name\ncat,3,Tom\n", "column 'name' is not in the domain"),
        ("pet\ncat\n", "lacks column 'age'"),
        ("pet;age\ncat;3\n", "'pet;age' is not in the domain"),
        ("pet,age,pet\ncat,3,cat\n", "duplicate column 'pet'"),
        ("pet,\ncat,3\n", "column 2 has the unusable name ''"),
        ("pet,a\x1bge\ncat,3\n", r"unusable name 'a\\x1bge'"),
        ("pet,age\nfish,3\n", "no label 'fish'; allowed: 'cat', 'dog'"),
        ("pet,age\n cat,3\n", "no label ' cat'"),
        ("pet,age\ncat\x1b[2J,3\n", r"no label 'cat\\x1b\[2J'"),
        ("pet,age\ncat,old\n", "column 'age', record 0: 'old' is not a number"),
        ("pet,age\ncat,11\n", "within the declared edges 0 to 10"),
        ("pet,age\ncat,nan\n", "not a number"),
        ("pet,age\ncat,3\n,4\n", "column 'pet', record 1: missing value"),
        ("pet,age\ncat,\n", "column 'age', record 0: missing value"),
        ("pet,age\ncat,3\ncat\n", "line 3 has 1 cells, the header has 2"),
        ("pet,age\ncat,3,4\n", "line 2 has 3 cells, the header has 2"),
        ("pet,age\ncat,3\n\ndog,4\n", "line 3 is blank"),
        ('pet,age\n"cat,3\n', "unexpected end of data"),
        ('pet,age\n"c"at,3\n', "expected after"),
        ("pet,age\nca\0t,3\n", "line 2 has a NUL byte"),
        (b"pet,age\n\xe9,3\n", "not UTF-8"),
        ("pet,age\ncat,3\n".encode("utf-16"), "not UTF-8"),
        ("pet,age\n%s,3\n" % ("x" * 2000), "cell of 2000 characters"),
        ("pet,age\n%s,3\n" % ("x" * 200_000), "field larger than field limit"),
        ("x" * (1 << 21), "more than 1048576 characters"),
        ("x" * 2000 + ",age\n", "unusable name"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str | bytes, reason: str) -> None:
    path = saved(tmp_path, content)
    refused(path, reason, lambda: read_table(path, PETS))


def test_table_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(tmp_path, "cannot read", lambda: read_table(tmp_path, PETS))
    missing = tmp_path / "none.csv"
    refused(missing, "No such file", lambda: read_table(missing, PETS))
    monkeypatch.setattr(own_table, "MAX_CSV_BYTES", 10)
    big = saved(tmp_path, "pet,age\ncat,3\n")
    refused(big, "more than 10; bring a sample", lambda: read_table(big, PETS))


def test_text_stays_text(tmp_path: Path) -> None:
    codes = Domain((Attribute("code", ("01", "1", "NA", "nan", "true", "1.0")),))
    table = read_table(saved(tmp_path, "code\n1\n01\nNA\nnan\ntrue\n1.0\n"), codes)
    assert table.codes[:, 0].tolist() == [1, 0, 2, 3, 4, 5]


# Drafts


def draft_of(tmp_path: Path, columns: dict[str, list[object]], **options: int) -> dict[str, Any]:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    return suggest_domain(saved(tmp_path, "\n".join(lines) + "\n"), **options)


def test_draft(tmp_path: Path) -> None:
    n = 200
    draft = draft_of(
        tmp_path,
        {
            "id": list(range(1000, 1000 + n)),
            "email": [f"user{i}@example.org" for i in range(n)],
            "sex": ["F", "M"] * (n // 2),
            "stars": [10, 2, 1, 3] * (n // 4),
            "age": [18 + i % 70 for i in range(n)],
            "score": [i / 7 for i in range(n)],
            "zip": [f"0{i % 30}" for i in range(n)],
            "gap": ["", "x"] * (n // 2),
            "void": [""] * n,
            "word": [f"w{i % 120}" for i in range(n)],
        },
    )
    by_name = {a["name"]: a for a in draft["attributes"]}
    assert draft["draft"] is True
    assert list(by_name) == ["sex", "stars", "age", "score", "zip", "gap"]
    assert by_name["sex"]["labels"] == ["F", "M"]
    assert by_name["stars"]["labels"] == ["1", "2", "3", "10"]
    assert by_name["age"]["edges"] == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert by_name["score"]["edges"] == [0, 5, 10, 15, 20, 25, 30]
    assert len(by_name["zip"]["labels"]) == 30
    assert by_name["gap"]["labels"] == ["x", "NA"]
    notes = "\n".join(draft["notes"])
    for said in ["id: left out", "email: left out", "void: left out", "word: left out: it has"]:
        assert said in notes
    assert "gap: 100 empty cells" in notes and "reveal" in draft["notes"][0]


def test_draft_is_refused_until_edited(tmp_path: Path) -> None:
    table = saved(tmp_path, "pet,age\n" + "".join(f"cat,{i % 40}\ndog,3\n" for i in range(200)))
    path = tmp_path / "d.json"
    draft = suggest_domain(table)
    write_json_atomic(path, draft)
    refused(path, "this is a draft", lambda: read_domain(path))
    del draft["draft"]
    write_json_atomic(path, draft)
    assert len(read_table(table, read_domain(path))) == 400


def test_draft_max_labels(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {"w": ["a", "b", "c"]}
    assert draft_of(tmp_path, columns, max_labels=2)["attributes"] == []
    with pytest.raises(DomainError, match="max_labels must be at least 1"):
        draft_of(tmp_path, columns, max_labels=0)


@pytest.mark.parametrize(
    "numbers",
    [
        [1e15 + i for i in range(50)],
        [i * 1e-300 for i in range(50)],
        [(-1) ** i * 1.7e308 / (1 + i) for i in range(50)],
        [0.1 + i * 1e-17 for i in range(50)] + [0.3],
        [-(10.0**i) for i in range(-25, 25)],
    ],
)
def test_drafted_edges_cover_the_numbers(tmp_path: Path, numbers: list[float]) -> None:
    columns: dict[str, list[object]] = {"x": [repr(x) for x in numbers * 3]}
    for attribute in draft_of(tmp_path, columns)["attributes"]:
        if edges := attribute.get("edges"):
            assert edges == sorted(set(edges))
            assert edges[0] <= min(numbers) and max(numbers) <= edges[-1]


def test_write_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    write_json_atomic(path, {"a": "é"})
    with pytest.raises(TypeError):
        write_json_atomic(path, {"a": object()})
    assert path.read_text(encoding="utf-8") == '{\n "a": "é"\n}\n'
    assert [p.name for p in tmp_path.iterdir()] == ["d.json"]
    with pytest.raises(ValueError, match="cannot write"):
        write_json_atomic(tmp_path / "no" / "d.json", {})


def test_examples_of_the_documentation_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text(encoding="utf-8")
    text = re.sub(r"<!-- needs the network -->\n```python\n.*?```", "", text, flags=re.DOTALL)
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), {})
    assert "this is a draft" in capsys.readouterr().out
