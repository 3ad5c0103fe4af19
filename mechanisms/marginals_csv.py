"""Read and write released marginals as a CSV file with one line per cell.

The file has the columns ``marginal`` (names of columns joined by ``|``), ``cell`` (one label of
each, joined by ``|`` in the same order) and ``value`` (the noisy count). Within a name or label a
``|`` is written ``\\|`` and a backslash ``\\\\``. Every cell of a marginal has one line, also an
empty one.

A release of ``GaussianMarginals`` is for measuring risk, not for publishing: its noise is drawn in
floating point, whose low bits can reveal the exact count (Mironov 2012). ``vetted_release`` makes
releases for publication.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain
from reconbench.datasets.atomic_files import write_atomic
from reconbench.datasets.domain import quote
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import MAX_CELLS, MarginalsRelease, workload

Floats = npt.NDArray[np.float64]

HEADER = ("marginal", "cell", "value")
MAX_BYTES = 2 << 30


class ReleaseFileError(MechanismError):
    """A file that does not hold the marginals it should."""


@dataclass(frozen=True)
class ReleaseFile:
    """The marginals of a file, by their columns in the order of the domain."""

    domain: Domain
    answers: Mapping[tuple[str, ...], Floats]

    @property
    def k(self) -> int:
        return len(next(iter(self.answers)))

    def seen(self, known: Sequence[str], targets: Sequence[str], sd: float) -> MarginalsRelease:
        """What an attacker has of it who knows some columns and wants others.

        Marginals of known columns alone tell that attacker nothing and are left out. All others
        that these columns have must be there: attacks reckon with a full set.
        """
        named = (*known, *targets)
        for columns in self.answers:
            stray = [name for name in columns if name not in named]
            if stray:
                raise ReleaseFileError(
                    f"the marginal {_quote_names(columns)} has the column {stray[0]!r}, which is "
                    "neither known nor a target; name it in --known or --targets, or drop that "
                    "marginal"
                )
        played = self.domain.project(name for name in self.domain.names if name in named)
        sets = workload(played, targets, self.k)
        answers = []
        for positions in sets:
            columns = tuple(played.names[i] for i in positions)
            if columns not in self.answers:
                raise ReleaseFileError(
                    f"the marginal {_quote_names(columns)} is missing; a release must hold every "
                    f"{self.k}-way marginal of the known and target columns that has a target: add "
                    "it, or name fewer columns in --known"
                )
            answers.append(self.answers[columns].copy())
        return MarginalsRelease(played, sets, tuple(answers), sd)


def write_release(release: MarginalsRelease, path: Path) -> None:
    """Write marginals so that ``read_release`` gives back the same numbers to the last bit.

    Publish only what ``vetted_release`` made, not noise that was drawn in floating point.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(HEADER)
    for columns, answer in zip(release.workload, release.answers, strict=True):
        attributes = [release.domain.attributes[i] for i in columns]
        name = _join([attribute.name for attribute in attributes])
        cells = product(*(attribute.labels for attribute in attributes))
        for cell, value in zip(cells, answer.ravel().tolist(), strict=True):
            writer.writerow([name, _join(cell), repr(value)])
    write_atomic(path, out.getvalue())


def read_release(path: Path, domain: Domain) -> ReleaseFile:
    """The marginals of a file, strictly: every cell once, all of one number of columns."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ReleaseFileError(f"it has more than {MAX_BYTES >> 30} GiB")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            answers = _read(csv.reader(stream, strict=True), domain)
    except OSError as error:
        raise ReleaseFileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ReleaseFileError(f"cannot read {path}: it is not UTF-8 text") from None
    except (ValueError, csv.Error) as error:
        raise ReleaseFileError(f"{path}: {error}") from None
    return ReleaseFile(domain, answers)


@dataclass
class _Marginal:
    """A marginal while it is read; cells that were not given yet are nan."""

    given: tuple[str, ...]
    positions: tuple[int, ...]
    answer: Floats

    @classmethod
    def of(cls, text: str, domain: Domain) -> _Marginal:
        given = tuple(_split(text))
        positions = domain.positions(given)
        sizes = [domain.sizes[i] for i in positions]
        if math.prod(sizes) > MAX_CELLS:
            raise ReleaseFileError(
                f"the marginal {_quote_names(given)} has {math.prod(sizes):,} cells, "
                f"more than {MAX_CELLS:,}"
            )
        return cls(given, positions, np.full(sizes, np.nan))

    def put(self, cell: str, value: float, domain: Domain) -> None:
        labels = _split(cell)
        if len(labels) != len(self.given):
            raise ReleaseFileError(
                f"the cell {quote(cell)} has {len(labels)} labels, its marginal "
                f"{len(self.given)} columns; write a | within a label as \\|"
            )
        code = tuple(
            domain.attributes[i].code(x) for i, x in zip(self.positions, labels, strict=True)
        )
        if not np.isnan(self.answer[code]):
            raise ReleaseFileError(
                f"the cell {quote(cell)} of {_quote_names(self.given)} is given twice"
            )
        self.answer[code] = value

    def sort(self) -> tuple[tuple[int, ...], Floats]:
        order = sorted(range(len(self.positions)), key=self.positions.__getitem__)
        answer = np.ascontiguousarray(self.answer.transpose(order))
        return tuple(self.positions[i] for i in order), answer


def _read(rows: Any, domain: Domain) -> dict[tuple[str, ...], Floats]:
    """``rows`` is a csv.reader, which has no public type."""
    header: list[str] = next(rows, [])
    if tuple(header) != HEADER:
        raise ReleaseFileError(f"its first line must be {','.join(HEADER)}, got {header!r:.120}")
    marginals: dict[str, _Marginal] = {}
    for row in rows:
        if len(row) != len(HEADER):
            raise ReleaseFileError(f"line {rows.line_num} has {len(row)} cells, not {len(HEADER)}")
        name, cell, text = row
        try:
            if name not in marginals:
                marginals[name] = _Marginal.of(name, domain)
            marginals[name].put(cell, _number(text), domain)
        except ValueError as error:
            raise ReleaseFileError(f"line {rows.line_num}: {error}") from None
    if not marginals:
        raise ReleaseFileError("it holds no marginal")
    return _check_marginals(marginals, domain)


def _check_marginals(
    marginals: Mapping[str, _Marginal], domain: Domain
) -> dict[tuple[str, ...], Floats]:
    answers: dict[tuple[str, ...], Floats] = {}
    widths = {len(marginal.given) for marginal in marginals.values()}
    if len(widths) > 1:
        raise ReleaseFileError(
            f"marginals must all have the same number of columns, got {sorted(widths)}; assess one "
            "number at a time, with the budget of all of them"
        )
    for marginal in marginals.values():
        missing = int(np.isnan(marginal.answer).sum())
        if missing:
            raise ReleaseFileError(
                f"the marginal {_quote_names(marginal.given)} lacks {missing} of its "
                f"{marginal.answer.size} cells; give every combination of labels a line, also the "
                "empty ones"
            )
        positions, answer = marginal.sort()
        columns = tuple(domain.names[i] for i in positions)
        if columns in answers:
            raise ReleaseFileError(f"the marginal of {_quote_names(columns)} is given twice")
        answers[columns] = answer
    return answers


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ReleaseFileError(f"value must be a finite number, got {quote(text)}")
    return value


def _join(parts: Sequence[str]) -> str:
    return "|".join(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)


def _split(text: str) -> list[str]:
    parts, signs = [""], iter(text)
    for sign in signs:
        if sign == "|":
            parts.append("")
        else:
            parts[-1] += next(signs, "\\") if sign == "\\" else sign
    return parts


def _quote_names(columns: Sequence[str]) -> str:
    return quote(_join(columns))
