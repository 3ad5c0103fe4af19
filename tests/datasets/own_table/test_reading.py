"""Tables by their domain: strict, and every mistake is one line that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets.domain import Attribute, Domain, binned
from reconbench.datasets.own_table import columns, read_table

Save = Callable[..., Path]
Refused = Callable[..., None]

PETS = Domain((Attribute("pet", ("cat", "dog", "=1+1")), binned("age", [0, 5, 10])))


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
def test_good_tables(saved: Save, content: str) -> None:
    table = read_table(saved(content), PETS)
    assert table.codes.tolist() == [[0, 0], [1, 1], [2, 1]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("pet,age\n", "no records"),
        ("pet,age,name\ncat,3,Tom\n", "column 'name' is not in the domain"),
        ("pet\ncat\n", "lacks column 'age'"),
        ("pet:age\ncat:3\n", "'pet:age' is not in the domain"),
        ("Pet,age\ncat,3\n", "'Pet' is not in the domain.*did you mean 'pet'"),
        ("pet,age\nCat,3\n", "no label 'Cat'.*did you mean 'cat'"),
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
        (b"pet,age\n\xe9,3\n", "no label 'é'"),
        (b"PK\x03\x04abc", "workbook or a zip archive; export"),
        (b"\x89PNG\r\n\x1a\n\x01", "binary file"),
        ("pet,age\n%s,3\n" % ("x" * 2000), "cell of 2000 characters"),
        ("pet,age\n%s,3\n" % ("x" * 200_000), "field larger than field limit"),
        ("x" * (1 << 21), "more than 1048576 characters"),
        ("x" * 2000 + ",age\n", "unusable name"),
    ],
)
def test_bad_tables(saved: Save, refused: Refused, content: str | bytes, reason: str) -> None:
    path = saved(content)
    refused(path, reason, lambda: read_table(path, PETS))


def test_table_that_cannot_be_read(
    tmp_path: Path, saved: Save, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(tmp_path, "cannot read", lambda: read_table(tmp_path, PETS))
    missing = tmp_path / "none.csv"
    refused(missing, "No such file", lambda: read_table(missing, PETS))
    monkeypatch.setattr(columns, "MAX_BYTES", 10)
    big = saved("pet,age\ncat,3\n")
    refused(big, "more than 10; bring a sample", lambda: read_table(big, PETS))


def test_text_stays_text(saved: Save) -> None:
    codes = Domain((Attribute("code", ("01", "1", "NA", "nan", "true", "1.0")),))
    table = read_table(saved("code\n1\n01\nNA\nnan\ntrue\n1.0\n"), codes)
    assert table.codes[:, 0].tolist() == [1, 0, 2, 3, 4, 5]
