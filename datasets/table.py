"""Tables of integer codes; pandas lives at this edge."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain, DomainError, preview
from reconbench.missing_package import needed_by

if TYPE_CHECKING:
    import pandas as pd

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """n records over a domain, as an n × d array of codes.

    Args:
        domain: The columns.
        codes: One row per record, one code per column.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> domain = rb.Domain((rb.Attribute("sex", ("f", "m")), rb.Attribute("ill", ("n", "y"))))
        >>> rb.Table(domain, np.array([[0, 1], [1, 1]])).to_pandas().values.tolist()
        [['f', 'y'], ['m', 'y']]
    """

    domain: Domain
    codes: Codes

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 2 or codes.shape[1] != len(self.domain):
            raise DomainError(
                f"a table over {len(self.domain)} columns needs an array of shape "
                f"(n, {len(self.domain)}), got {codes.shape}"
            )
        if codes.dtype.kind not in "iu":
            raise DomainError(f"codes must be integers, got {codes.dtype}")
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        sizes = np.asarray(self.domain.sizes)
        outside = (codes < 0) | (codes >= sizes)
        if outside.any():
            row, column = (int(x) for x in np.argwhere(outside)[0])
            attribute = self.domain.attributes[column]
            raise DomainError(
                f"column {attribute.name!r}, record {row}: code {codes[row, column]} is outside "
                f"the domain; allowed: 0 to {attribute.size - 1}"
            )
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)

    def __repr__(self) -> str:
        return f"Table({len(self):,} records of {preview(self.domain.names, 4)})"

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.domain == other.domain and np.array_equal(self.codes, other.codes)

    def column(self, name: str) -> Codes:
        return self.codes[:, self.domain.position(name)]

    def project(self, names: Iterable[str]) -> Table:
        names = tuple(names)
        positions = list(self.domain.positions(names))
        return Table(self.domain.project(names), self.codes[:, positions])

    def join(self, other: Table) -> Table:
        """The columns of both tables, record by record."""
        if len(self) != len(other):
            raise DomainError(f"cannot join tables of {len(self)} and {len(other)} records")
        domain = Domain(self.domain.attributes + other.domain.attributes)
        return Table(domain, np.hstack([self.codes, other.codes]))

    def distinct(self) -> tuple[Table, Codes]:
        """The rows that occur, in lexicographic order, and the number of each record's."""
        first, which = number_rows(self.codes, self.domain.sizes)
        return Table(self.domain, self.codes[first]), which

    @classmethod
    def of_all_values(cls, domain: Domain) -> Table:
        """List every joint value of a domain once, the last column changing fastest."""
        return cls(domain, np.indices(domain.sizes).reshape(len(domain), -1).T)

    def sha256(self) -> str:
        digest = hashlib.sha256(self.domain.canonical().encode())
        digest.update(str(self.codes.shape).encode())
        digest.update(self.codes.astype("<i8").tobytes())
        return digest.hexdigest()

    def to_csv(self) -> str:
        """Labels below a line of column names, as text of a CSV file."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.domain.names)
        columns = zip(self.domain, self.codes.T, strict=True)
        writer.writerows(
            zip(*(np.array(each.labels, object)[codes] for each, codes in columns), strict=True)
        )
        return text.getvalue()

    def to_pandas(self) -> pd.DataFrame:
        """Labels, as categoricals in the domain's order."""
        with needed_by("a DataFrame", "pandas"):
            import pandas as pd

        return pd.DataFrame(
            {
                attribute.name: pd.Categorical.from_codes(
                    self.codes[:, position],
                    categories=pd.Index(attribute.labels),
                    ordered=attribute.ordinal,
                )
                for position, attribute in enumerate(self.domain)
            }
        )

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame, domain: Domain) -> Table:
        """Read labels (or, for columns with declared edges, numbers) into codes, strictly.

        The frame must hold exactly the domain's columns, in any order, without missing values.
        """
        names = [str(name) for name in frame.columns]
        for name in names:
            if names.count(name) > 1:
                raise DomainError(f"duplicate column {name!r} in the table")
            if name not in domain:
                raise DomainError(
                    f"column {name!r} is not in the domain; drop it or declare it "
                    f"(declared: {', '.join(domain.names)})"
                )
        missing = [name for name in domain.names if name not in names]
        if missing:
            raise DomainError(f"the table lacks column {missing[0]!r} of its domain")
        frame = frame.set_axis(names, axis=1)
        columns = [_encode(frame[attribute.name], attribute) for attribute in domain]
        return cls(domain, np.column_stack(columns))


def number_rows(codes: Codes, sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """One record of every row that occurs, rows in lexicographic order, and each record's number.

    Rows are packed into one whole number, and packed anew where that would be too large. O(n) where
    few rows are possible, and otherwise sorting n numbers.
    """
    key, possible = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if possible * size > _MOST_ROWS:
            first, key = _number_keys(key, possible)
            possible = len(first)
        key = key * size + column
        possible *= size
    return _number_keys(key, possible)


# Packed rows are below this.
_MOST_ROWS = 1 << 62


def _number_keys(keys: Codes, possible: int) -> tuple[Codes, Codes]:
    """One position of every key that occurs, ascending, and the rank of each key."""
    if possible > 8 * len(keys) + 1024:
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return first, which.reshape(-1)
    position = np.full(possible, -1, dtype=np.int64)
    position[keys] = np.arange(len(keys))
    occurs = position >= 0
    rank = np.cumsum(occurs) - 1
    return position[occurs], rank[keys]


def _encode(series: pd.Series[Any], attribute: Attribute) -> Codes:
    gaps = series.isna().to_numpy()
    if gaps.any():
        raise DomainError(
            f"column {attribute.name!r}, record {int(gaps.argmax())}: missing value; "
            'drop the record or declare a label for it (say "NA") and fill it in'
        )
    if attribute.edges is not None:
        return _bin(series, attribute, attribute.edges)
    labels = series.astype(str)
    codes = labels.map({label: code for code, label in enumerate(attribute.labels)})
    unknown = codes.isna().to_numpy()
    if unknown.any():
        attribute.code(labels.iloc[int(unknown.argmax())])  # raises, naming the label
    return np.asarray(codes, dtype=np.int64)


def _bin(series: pd.Series[Any], attribute: Attribute, edges: tuple[float, ...]) -> Codes:
    import pandas as pd

    values = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~((values >= edges[0]) & (values <= edges[-1]))
    if wrong.any():
        row = int(wrong.argmax())
        raise DomainError(
            f"column {attribute.name!r}, record {row}: {series.iloc[row]!r} is not a number "
            f"within the declared edges {edges[0]:g} to {edges[-1]:g}"
        )
    codes = np.searchsorted(np.asarray(edges), values, side="right") - 1
    return np.minimum(codes, len(edges) - 2).astype(np.int64)
