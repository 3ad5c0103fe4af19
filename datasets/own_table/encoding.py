"""The encoding of a text file: Unicode is recognised, Western 8-bit text is taken as such."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from reconbench.datasets.sources._csv import CsvError

BLOCK = 1 << 20
# Control characters that no text holds; a NUL is left to the reader, which names its line.
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
# Runs of this many bytes beyond ASCII are rare in Western text and the rule in other scripts.
_LONG_RUN = 4
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_C1 = re.compile(rb"[\x80-\x9f]")
_NOT_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7"}
STATE_IT = "save the file as UTF-8, or state its encoding (--encoding)"


@dataclass(frozen=True)
class Encoding:
    """How bytes become text: the name of Python's codec, and the one that people use."""

    codec: str
    title: str


UTF_8 = Encoding("utf-8", "UTF-8")
UTF_8_BOM = Encoding("utf-8-sig", "UTF-8 with a byte order mark")
LATIN_1 = Encoding("latin-1", "Latin-1")
CP1252 = Encoding("cp1252", "Windows-1252")
_BY_MARK = (
    (codecs.BOM_UTF32_LE, Encoding("utf-32", "UTF-32")),
    (codecs.BOM_UTF32_BE, Encoding("utf-32", "UTF-32")),
    (codecs.BOM_UTF8, UTF_8_BOM),
    (codecs.BOM_UTF16_LE, Encoding("utf-16", "UTF-16")),
    (codecs.BOM_UTF16_BE, Encoding("utf-16", "UTF-16")),
)

_MAGIC = {
    b"PK\x03\x04": "it is a workbook or a zip archive; export the table as CSV",
    b"PAR1": "it is Parquet; give it a name that ends in .parquet",
    b"\x1f\x8b": "it is compressed with gzip; unpack it",
}


def state_encoding(name: str) -> Encoding:
    """The encoding that a user names."""
    try:
        found = codecs.lookup(name.strip())
        "".encode(found.name)  # codecs that are no encodings of text refuse this
    except (LookupError, ValueError, TypeError):
        raise CsvError(_describe_unknown(name)) from None
    if found.name.replace("_", "-") in _NOT_ENCODINGS:
        raise CsvError(_describe_unknown(name))
    if found.name == "utf-8":  # a mark at the start is not text
        return Encoding("utf-8-sig", "UTF-8")
    return Encoding(found.name, name.strip())


def _describe_unknown(name: str) -> str:
    return (
        f"--encoding must name an encoding of text such as utf-8, utf-16, latin-1 or cp1252, got "
        f"{name[:60]!r}"
    )


def detect_encoding(path: Path) -> Encoding:
    """Find out the encoding of a whole file; refuse to guess where that would be a guess.

    A byte order mark decides; then valid UTF-8 is UTF-8, since other text is hardly ever valid by
    chance. What is left is 8-bit text, of which Latin-1 and Windows-1252 are taken for granted if
    nothing speaks against them.
    """
    with path.open("rb") as stream:
        start = stream.read(BLOCK)
    for mark, encoding in _BY_MARK:
        if start.startswith(mark):
            return encoding
    utf_16 = _find_utf_16(start)
    if utf_16 is not None:
        return utf_16
    for magic, remedy in _MAGIC.items():
        if start.startswith(magic):
            raise CsvError(remedy)
    if _CONTROLS.search(start):
        raise CsvError("it has control characters: a binary file, not a CSV")
    return UTF_8 if _is_utf_8(path) else _choose_western(path)


def _find_utf_16(start: bytes) -> Encoding | None:
    """UTF-16 without its mark: every other byte of Western text is NUL."""
    pairs = len(start) // 2
    if pairs < 2:
        return None
    even, odd = start[0 : 2 * pairs : 2].count(0), start[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even == 0:
        return Encoding("utf-16-le", "UTF-16")
    if even > 0.7 * pairs and odd == 0:
        return Encoding("utf-16-be", "UTF-16")
    return None


def _is_utf_8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _choose_western(path: Path) -> Encoding:
    """Latin-1 or Windows-1252, which differ in the bytes 80 to 9F, for text that is not UTF-8."""
    high = multibyte = long_runs = 0
    c1 = undefined = False
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            runs = [len(run) for run in _HIGH_RUN.findall(block)]
            high += sum(runs)
            long_runs += sum(run for run in runs if run >= _LONG_RUN)
            multibyte += sum(map(len, _MULTIBYTE.findall(block)))
            c1 = c1 or _C1.search(block) is not None
            undefined = undefined or _UNDEFINED_IN_CP1252.search(block) is not None
    if multibyte > high / 2:
        raise CsvError(f"most of it is UTF-8, but not all: it is damaged; {STATE_IT}")
    if multibyte > high / 20 or long_runs > high / 2 or undefined:
        raise CsvError(f"it is neither UTF-8 nor plain Latin-1 or Windows-1252 text; {STATE_IT}")
    return CP1252 if c1 else LATIN_1
