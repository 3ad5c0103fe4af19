"""The American Community Survey's person file (PUMS), as folktables' ACSEmployment prepares it.

folktables' ACSEmployment keeps every person of the file (its ``preprocess`` is the identity; the
filter on age and weight belongs to another task, ACSEmploymentFiltered) and replaces blanks by 0.
Swanberg 2025 adds AGEP // 10. This loader does the same, and nothing else.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from reconbench.datasets.shipped.codebooks import ACS, ACS_BLANK, ACS_LABELS, ACS_VALUES
from reconbench.datasets.sources._csv import (
    CsvError,
    MissingColumn,
    TextColumn,
    read_columns,
    reading,
)
from reconbench.datasets.sources._download import (
    Opener,
    Progress,
    SourceError,
    fetch,
    open_https,
)
from reconbench.datasets.table import Codes, Table

ROOT = "https://www2.census.gov/programs-surveys/acs/data/pums"
MAX_ZIP_BYTES = 1 << 29
MAX_CSV_BYTES = 1 << 32
YEARS = range(2014, 2019)
_RELSHIPP = "from 2019 on PUMS has RELSHIPP instead of RELP, with other codes"

_FIPS = (
    "AL01 AK02 AZ04 AR05 CA06 CO08 CT09 DE10 DC11 FL12 GA13 HI15 ID16 IL17 IN18 IA19 KS20 KY21 "
    "LA22 ME23 MD24 MA25 MI26 MN27 MS28 MO29 MT30 NE31 NV32 NH33 NJ34 NM35 NY36 NC37 ND38 OH39 "
    "OK40 OR41 PA42 RI44 SC45 SD46 TN47 TX48 UT49 VT50 VA51 WA53 WV54 WI55 WY56 PR72"
)
STATES: Mapping[str, str] = {pair[:2]: pair[2:] for pair in _FIPS.split()}


def load_acs(
    state: str = "CA",
    year: int = 2018,
    file: str | Path | None = None,
    cache_dir: str | Path | None = None,
    *,
    progress: Progress | None = None,
    opener: Opener = open_https,
) -> Table:
    """Every person of a state's 1-year PUMS file, over the domain ``ACS``.

    ``file`` is a PUMS person file that you have, as .zip or .csv; without it the file is downloaded
    from the Census Bureau into the cache.
    """
    state = state.upper()
    if state not in STATES:
        raise SourceError(f"unknown state {state!r}; give a postal code such as CA, DC or PR")
    if year not in YEARS:
        raise SourceError(
            f"year {year} is not supported; allowed: {YEARS[0]} to {YEARS[-1]} ({_RELSHIPP})"
        )
    path = fetch(
        f"{ROOT}/{year}/1-Year/csv_p{state.lower()}.zip",
        f"acs-{year}-1year-p{state.lower()}.zip",
        max_bytes=MAX_ZIP_BYTES,
        file=file,
        cache_dir=cache_dir,
        progress=progress,
        opener=opener,
    )
    with reading(path, SourceError), _open_csv(path, _member(state, year)) as handle:
        try:
            columns = read_columns(handle, ACS.names, max_values=1000)
        except MissingColumn as error:
            if error.column == "RELP":
                raise CsvError(f"{error}; {_RELSHIPP}: use a file of 2018 or before") from None
            raise
    return Table(ACS, np.column_stack([_codes(column, path) for column in columns]))


def _member(state: str, year: int) -> str:
    if year >= 2017:
        return f"psam_p{STATES[state]}.csv"
    return f"ss{year % 100}p{state.lower()}.csv"


@contextmanager
def _open_csv(path: Path, member: str) -> Iterator[IO[str]]:
    """Open the CSV in place: nothing of an archive is ever written to disk."""
    if path.suffix.lower() != ".zip" and not zipfile.is_zipfile(path):
        with path.open(encoding="utf-8-sig", newline="") as handle:
            yield handle
        return
    with zipfile.ZipFile(path) as archive:
        if member not in archive.namelist():
            held = [name for name in archive.namelist() if name.lower().endswith(".csv")]
            raise SourceError(
                f"cannot read {path}: it has no {member!r} (it has "
                f"{', '.join(map(repr, held[:3])) or 'no CSV'}); "
                "give the state and year of the file"
            )
        size = archive.getinfo(member).file_size  # zipfile reads no further than this
        if size > MAX_CSV_BYTES:
            raise SourceError(
                f"cannot read {path}: {member!r} unpacks to {size} bytes, more than {MAX_CSV_BYTES}"
            )
        with archive.open(member) as packed:
            yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")


def _codes(column: TextColumn, path: Path) -> Codes:
    """Codes of one column: each distinct PUMS value is looked up once."""
    codes = {value: code for code, value in enumerate(ACS_VALUES[column.name])}
    lookup = np.empty(len(column.texts), dtype=np.int64)
    for number, text in enumerate(column.texts):
        value = _pums_value(text, column.name)
        if value is None or value not in codes:
            raise SourceError(
                f"cannot read {path}: column {column.name!r} has the value {text[:40]!r}, which "
                "is not in the PUMS dictionary of 2018"
            )
        lookup[number] = codes[value]
    encoded: Codes = lookup[column.numbers]
    return encoded


def _pums_value(text: str, name: str) -> int | None:
    if not text.strip():
        return 0 if ACS_LABELS[name].get(0) == ACS_BLANK else None
    try:
        number = float(text)
    except ValueError:
        return None
    if not number.is_integer():
        return None
    return int(number) // 10 if name == "AGEP" else int(number)
