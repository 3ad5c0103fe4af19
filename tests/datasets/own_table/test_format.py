"""How a CSV file is written: found out and said, stated, or refused; never guessed in silence."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets.domain import Attribute, Domain, DomainError, binned
from reconbench.datasets.own_table import CsvStyle, encoding, read_own_table, read_table
from reconbench.datasets.own_table.decimals import parse_number
from reconbench.datasets.sources._csv import CsvError

Save = Callable[..., Path]
Refused = Callable[..., None]

TOWNS = Domain((Attribute("Ort", ("Köln", "Zürich", "€-Stadt")), binned("Maß", [0, 2, 5])))
TEXT = "Ort;Maß\nKöln;1,5\nZürich;2,25\nKöln;5\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (TEXT.encode(), "semicolon-separated, UTF-8, decimal comma"),
        (TEXT.encode("utf-8-sig"), "UTF-8 with a byte order mark"),
        (TEXT.encode("utf-16"), "semicolon-separated, UTF-16, decimal comma"),
        (TEXT.encode("utf-16-le"), "UTF-16"),
        (TEXT.encode("utf-16-be"), "UTF-16"),
        (TEXT.encode("utf-32"), "UTF-32"),
        (TEXT.encode("latin-1"), "semicolon-separated, Latin-1, decimal comma"),
        ((TEXT + "€-Stadt;0\n").encode("cp1252"), "Windows-1252"),
        (TEXT.replace(";", "\t").encode(), "tab-separated"),
        (TEXT.replace(";", "|").encode(), "pipe-separated"),
        (TEXT.replace(",", ".").replace(";", ",").encode(), "comma-separated, UTF-8, decimal p"),
        ('Ort,Maß\nKöln,"1,5"\nZürich,"2,25"\nKöln,5\n'.encode(), "comma-separated.*decimal comma"),
        (TEXT.replace("\n", "\r\n").encode("latin-1"), "Latin-1"),
        ("Ort;Maß\nKöln;1\nZürich;2\nKöln;5\n".encode(), "semicolon-separated, UTF-8$"),
    ],
)
def test_formats_are_found_and_said(saved: Save, content: bytes, said: str) -> None:
    found = read_own_table(saved(content), TOWNS)
    assert found.table.codes[:3].tolist() == [[0, 0], [1, 1], [0, 1]]
    assert found.describe() == found.format.describe()
    assert re.search(said, found.describe()), found.describe()


def test_what_is_stated_is_not_looked_for(saved: Save) -> None:
    path = saved("Ort:Maß\nKöln:1\n".replace(":", "|").encode("cp437"))
    table = read_table(path, TOWNS, separator="pipe", encoding="cp437", decimal="point")
    assert table.codes.tolist() == [[0, 0]]
    stated = CsvStyle(";", "latin1", ",")
    found = read_own_table(saved(TEXT.encode("latin-1")), TOWNS, stated)
    assert found.format.encoding == "latin1" and found.format.decimal == ","


@pytest.mark.parametrize(
    ("style", "reason"),
    [
        ({"separator": ":"}, "--separator must be one of comma .*, got ':'"),
        ({"separator": ""}, "--separator must be"),
        ({"decimal": "dot"}, "--decimal must be one of point .* got 'dot'"),
        ({"encoding": "klingon"}, "--encoding must name"),
        ({"encoding": "rot13"}, "--encoding must name"),
        ({"encoding": "base64"}, "--encoding must name"),
        ({"encoding": "unicode_escape"}, "--encoding must name"),
        ({"encoding": "../x"}, "--encoding must name"),
        ({"encoding": "a\0b"}, "--encoding must name"),
        ({"encoding": "ascii"}, "not ascii text at byte 6; .*--encoding"),
        ({"encoding": "utf-16"}, "not utf-16 text"),
        ({"separator": "tab"}, "not in the domain"),
        ({"decimal": "point"}, "'1,5' is not a number within"),
    ],
)
def test_statements_that_do_not_fit(saved: Save, style: dict[str, str], reason: str) -> None:
    path = saved(TEXT)
    with pytest.raises((DomainError, CsvError), match=reason):
        read_table(path, TOWNS, **style)


ONE = Domain((binned("x", [0, 10]),))
TWO = Domain((Attribute("a", ("1", "2", "1,5", "2;5")), Attribute("b", ("1", "2", "x", "5;2"))))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a b\n1;2\n", "has one column, but|not in the domain"),
        ("c,d;e\n1,2;3\n", "separated by comma or semicolon; state the separator"),
        ("c;d|e\n1;2|3\n1;2|3\n", "semicolon or pipe"),
        ("c,d;e\n1,2\n1;2;3\n", "comma or semicolon"),
        ("a;b\n1;2;3\n", "line 2 has 3 cells, the header has 2"),
        ('a;b\n"1;2\n', "unexpected end of data"),
        ("a;a\n1;2\n", "duplicate column 'a'"),
        ("a;\n1;2\n", "column 2 has the unusable name"),
        ("a;b\n1;%s\n" % ("x" * 2000), "cell of 2000 characters"),
    ],
)
def test_separators_that_cannot_be_told(
    saved: Save, refused: Refused, content: str, reason: str
) -> None:
    path = saved(content)
    refused(path, reason, lambda: read_table(path, TWO))


def test_names_of_the_domain_decide_between_separators(saved: Save) -> None:
    """Both signs are in every line; only one of them makes the names of the domain."""
    path = saved("a,b;c\n1,2;5\n")
    domain = Domain((Attribute("a,b", ("1,2",)), Attribute("c", ("5",))))
    assert read_table(path, domain).codes.tolist() == [[0, 0]]
    other = Domain((Attribute("a", ("1",)), Attribute("b;c", ("2;5",))))
    assert read_table(path, other).codes.tolist() == [[0, 0]]


def test_a_comma_within_a_semicolon_file(saved: Save) -> None:
    assert read_table(saved("a;b\n1,5;x\n2;x\n"), TWO).codes.tolist() == [[2, 2], [1, 2]]


def test_one_column(saved: Save) -> None:
    assert read_table(saved("x\n1\n2\n"), ONE).codes.tolist() == [[0], [0]]
    path = saved("x\n1,5\n2,5\n")
    with pytest.raises(DomainError, match="one column, but other lines have commas"):
        read_table(path, ONE)
    assert len(read_table(path, ONE, separator=";")) == 2


def test_a_long_file_is_judged_by_its_start(saved: Save) -> None:
    """The sample ends within quotes."""
    lines = ["a;b\n", *('1;"x"\n' for _ in range(300_000))]
    assert len(read_table(saved("".join(lines)), TWO)) == 300_000


@pytest.mark.parametrize(
    ("numbers", "decimal", "reason"),
    [
        (["1,5", "2.5"], None, "decimal points and column 'x' decimal commas"),
        (["1,234", "5,678"], None, "comma before three digits.*--decimal"),
        (["1.234", "5.678"], None, "point before three digits.*--decimal"),
        (["1.234,5", "2,5"], None, r"'1.234,5' is not a number \(with a decimal comma\)"),
        (["1.234", "2,5"], None, "'1.234' is not a number"),
        (["1,234.5"], None, "'1,234.5' is not a number"),
        (["1,5"], "point", "'1,5' is not a number"),
        (["1_0"], None, "is not a number"),
        (["0x5"], None, "is not a number"),
        (["inf"], None, "is not a number"),
        (["1e999"], None, "is not a number"),
        (["١"], None, "is not a number"),
    ],
)
def test_decimals_that_cannot_be_told(
    saved: Save, refused: Refused, numbers: list[str], decimal: str | None, reason: str
) -> None:
    path = saved("x;y\n" + "".join(f"{number};1\n" for number in numbers))
    domain = Domain((*ONE.attributes, Attribute("y", ("1",))))
    refused(path, reason, lambda: read_table(path, domain, decimal=decimal))


def test_three_digits_are_decimals_where_a_comma_separates_or_another_number_says_so(
    saved: Save,
) -> None:
    assert read_own_table(saved("x,y\n1.234,1\n"), two_columns()).format.decimal == "."
    assert read_own_table(saved("x;y\n1,234;1\n1,5;1\n"), two_columns()).format.decimal == ","
    stated = CsvStyle(decimal="comma")
    assert read_own_table(saved("x;y\n1,234;1\n"), two_columns(), stated).format.decimal == ","


def two_columns() -> Domain:
    return Domain((*ONE.attributes, Attribute("y", ("1",))))


def test_numbers() -> None:
    assert parse_number(" 1.5 ") == 1.5 and parse_number("1,5", ",") == 1.5
    assert parse_number("-.5e1") == -5 and parse_number("5.") == 5
    for text in ("", ".", "-", "1.2.3", "nan", "1e", "1,5", "one", "1 2"):
        assert parse_number(text) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Ort;Maß\nKöln;1\n".encode() * 9 + b"Z\xfcrich;1\n", "most of it is UTF-8"),
        ("Ort;Mass\nМосква;1\nПариж;1\n".encode("cp1251"), "neither UTF-8 nor plain Latin-1"),
        ("Ort;Maß\n東京都庁;1\n".encode("gbk", "ignore"), "neither UTF-8 nor"),
        (b"Ort;Ma\xdf\nK\x81ln;1\n", "neither UTF-8 nor"),
        (b"Ort;Ma\x02\n", "binary file"),
        (b"PAR1aaaa", "name that ends in .parquet"),
        (b"\x1f\x8b\x08\x00", "gzip"),
    ],
)
def test_encodings_that_cannot_be_told(
    saved: Save, refused: Refused, content: bytes, reason: str
) -> None:
    path = saved(content)
    refused(path, reason, lambda: read_table(path, TOWNS))


def test_utf_8_is_checked_to_the_end(saved: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that two blocks share is no error, and a broken one in the last block is."""
    monkeypatch.setattr(encoding, "BLOCK", 9)
    assert read_own_table(saved(TEXT), TOWNS).format.encoding == "UTF-8"
    found = read_own_table(saved(TEXT.encode("latin-1")), TOWNS)
    assert found.format.encoding == "Latin-1"


def test_messages_about_formats_hold_no_cells(saved: Save) -> None:
    for content in (
        "x;y\n7,777;1\n",
        "x;y\n7,7;1\n7.7;1\n",
        "c,d;e\n7,7;7\n",
        "Ort;Maß\nsieben;1\n".encode() * 9 + b"sieb\xe9n;1\n",
    ):
        with pytest.raises(DomainError) as caught:
            read_table(saved(content), two_columns())
        text = str(caught.value).replace("t.csv", "")
        assert "7" not in Path(text.split(": ", 1)[0]).name + text.split(": ", 1)[1]
        assert "sieb" not in text
