"""The American Community Survey's person file (PUMS), as folktables' ACSEmployment prepares it.

folktables' ACSEmployment keeps every person of the file (its ``preprocess`` is the identity; the
filter on age and weight belongs to another task, ACSEmploymentFiltered) and replaces blanks by 0.
Swanberg 2025 adds AGEP // 10. This loader does the same, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

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
from reconbench.datasets.sources._pums_files import PersonFiles, find_person_files
from reconbench.datasets.table import Codes, Table

ROOT = "https://www2.census.gov/programs-surveys/acs/data/pums"
MAX_ZIP_BYTES = 1 << 29
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

    ``file`` is a PUMS person file that you have, as .csv or as the .zip that the Census Bureau
    serves, of the state or of the whole country; without it the state's is downloaded into the
    cache. Where records say their state (column ST), those of others are left out.
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
    with reading(path, SourceError):
        found = find_person_files(path, state, STATES[state], year)
        with found.open_all() as handles:
            parts = [_read_part(handle, state, found) for handle in handles]
    codes = np.concatenate([part for part, _ in parts])
    if not len(codes):
        held = sorted({name for _, names in parts for name in names})
        raise SourceError(
            f"cannot read {path}: it has no records of {state}; it has those of "
            f"{', '.join(held[:8])}{' and others' if len(held) > 8 else ''}: give its state"
        )
    return Table(ACS, codes)


def _read_part(handle: IO[str], state: str, files: PersonFiles) -> tuple[Codes, set[str]]:
    """The codes of a state's records in one file, and the states of all its records."""
    try:
        columns = read_columns(handle, ACS.names, max_values=1000, optional=["ST"])
    except MissingColumn as error:
        if error.column == "RELP":
            raise CsvError(f"{error}; {_RELSHIPP}: use a file of 2018 or before") from None
        raise
    own, states = columns[: len(ACS)], columns[len(ACS) :]
    if files.national and not states:
        raise CsvError("it has no column 'ST', so its records cannot be told by state")
    kept, names = slice(None), set[str]()
    if states:
        names = {_name_state(text) for text in states[0].texts}
        mine = [_name_state(text) == state for text in states[0].texts]
        kept = np.array(mine)[states[0].numbers]
    return np.column_stack([_codes(column, kept, files.path) for column in own]), names


def _name_state(text: str) -> str:
    """The postal code of a state by its number; the text itself where it is none."""
    number = text.strip().zfill(2)
    return next((name for name, fips in STATES.items() if fips == number), text[:10])


def _codes(column: TextColumn, kept: Any, path: Path) -> Codes:
    """Codes of the kept records of one column: each distinct PUMS value is looked up once."""
    codes = {value: code for code, value in enumerate(ACS_VALUES[column.name])}
    numbers = column.numbers[kept]
    lookup = np.empty(len(column.texts), dtype=np.int64)
    for number in np.unique(numbers):
        text = column.texts[number]
        value = _pums_value(text, column.name)
        if value is None or value not in codes:
            raise SourceError(
                f"cannot read {path}: column {column.name!r} has the value {text[:40]!r}, which "
                "is not in the PUMS dictionary of 2018"
            )
        lookup[number] = codes[value]
    encoded: Codes = lookup[numbers]
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
