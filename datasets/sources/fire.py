"""San Francisco's Fire Department Calls for Service: ten categorical columns of DataSF's export.

One record is one unit's response, so a call with several units has several near-equal records.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from reconbench.datasets.domain import Attribute, Domain, DomainError
from reconbench.datasets.shipped.codebooks import FIRE, MISSING
from reconbench.datasets.sources._csv import TextColumn, read_columns, reading
from reconbench.datasets.sources._download import (
    Opener,
    Progress,
    SourceError,
    fetch,
    open_https,
)
from reconbench.datasets.table import Table

URL = "https://data.sfgov.org/api/views/nuek-vuh3/rows.csv?accessType=DOWNLOAD"
MAX_BYTES = 1 << 34
MAX_VALUES = 10_000  # distinct values of a column

# The spellings of the export, in capitals.
_CITIES = {
    "Brisbane": ("BN", "BRISBANE"),
    "Daly City": ("DC", "DALY CITY"),
    "Fort Mason": ("FM", "FORT MASON"),
    "Hunters Point": ("HP", "HUNTERS POINT"),
    "Presidio": ("PR", "PRESIDIO"),
    "San Francisco": ("SF", "SAN FRANCISCO"),
    "Treasure Isla": ("TI", "TREASURE ISLA", "TREASURE ISLAND"),
    "Yerba Buena": ("YB", "YERBA BUENA", "YERBA BUENA IS", "YERBA BUENA ISLAND"),
}
_CITY_OF = {spelling: city for city, spellings in _CITIES.items() for spelling in spellings}


def load_fire(
    file: str | Path | None = None,
    cache_dir: str | Path | None = None,
    *,
    domain: Domain | None = None,
    drop_unknown: bool = False,
    limit: int | None = None,
    progress: Progress | None = None,
    opener: Opener = open_https,
) -> Table:
    """The calls of an export, its first ``limit`` records if given.

    Without ``domain`` the labels are the values found, sorted, with ``NA`` (an empty cell) last.
    With it (say ``FIRE``) a value outside the domain is an error that names it, or, with
    ``drop_unknown``, its records are left out and a warning counts them.

    ``file`` is an export that you have; without it the whole data set, some gigabytes, is
    downloaded from DataSF into the cache.
    """
    if limit is not None and limit < 1:
        raise SourceError(f"limit must be at least 1, got {limit}")
    if domain is not None and domain.names != FIRE.names:
        raise DomainError(f"the domain must have the columns {', '.join(FIRE.names)}, in order")
    path = fetch(
        URL,
        "fire-nuek-vuh3.csv",
        max_bytes=MAX_BYTES,
        file=file,
        cache_dir=cache_dir,
        progress=progress,
        opener=opener,
    )
    with (
        reading(path, SourceError),
        path.open(encoding="utf-8-sig", newline="") as handle,
    ):
        columns = read_columns(handle, FIRE.names, max_values=MAX_VALUES, limit=limit)
    labels = [[_normalise(text, column.name) for text in column.texts] for column in columns]
    if domain is None:
        domain = Domain(tuple(map(_attribute_of_labels, FIRE, labels)))
    return _encode(columns, labels, domain, path, drop_unknown)


def _attribute_of_labels(attribute: Attribute, labels: list[str]) -> Attribute:
    ordered = sorted(set(labels), key=lambda label: (label == MISSING, label))
    return Attribute(attribute.name, tuple(ordered), attribute.ordinal)


def _encode(
    columns: list[TextColumn],
    labels: list[list[str]],
    domain: Domain,
    path: Path,
    drop_unknown: bool,
) -> Table:
    codes = np.empty((len(columns[0].numbers), len(columns)), dtype=np.int64)
    strange = []
    for position, (column, texts, attribute) in enumerate(
        zip(columns, labels, domain, strict=True)
    ):
        known = {label: code for code, label in enumerate(attribute.labels)}
        lookup = np.asarray([known.get(label, -1) for label in texts])
        codes[:, position] = lookup[column.numbers]
        unknown = sorted(set(texts) - set(known))
        if unknown:
            strange.append(
                f"{attribute.name}: {', '.join(repr(label[:40]) for label in unknown[:5])}"
            )
    if not strange:
        return Table(domain, codes)
    outside = (codes < 0).any(axis=1)
    problem = (
        f"{int(outside.sum())} of {len(codes)} records with values outside the domain "
        f"({'; '.join(strange)})"
    )
    if not drop_unknown:
        raise SourceError(
            f"{path} has {problem}; drop them with drop_unknown=True, or load without a domain"
        )
    warnings.warn(f"{path}: dropped {problem}", stacklevel=3)
    return Table(domain, codes[~outside])


def _normalise(text: str, name: str) -> str:
    value = text.strip()
    if name == "City":
        value = value.replace('"', "").strip()
        value = _CITY_OF.get(value.upper(), value)
    elif name == "ALS Unit":
        value = value.lower()
    return value or MISSING
