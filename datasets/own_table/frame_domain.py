"""The domain of a DataFrame: what its categorical columns declare, and a draft of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reconbench.datasets.domain import Domain
from reconbench.datasets.own_table.domain_file import parse_domain
from reconbench.datasets.own_table.draft import MISSING, draft_domain
from reconbench.datasets.own_table.table_format import CsvStyle

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FrameDomain:
    """A domain; the labels of the columns ``drafted`` were taken from the records."""

    domain: Domain
    drafted: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that look like identifiers or weights, or that hold nothing to tell."""
        return self.domain.left_out


def infer_domain(frame: pd.DataFrame) -> FrameDomain:
    """Take the categories of categorical columns as labels, in their order, and draft the others.

    Categories are declared, whatever the records hold: they reveal nothing about them. A draft
    does, see ``draft``.
    """
    import pandas as pd

    draft, _ = draft_domain(frame, CsvStyle())
    declared: dict[str, dict[str, Any]] = {}
    for position, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, position]
        kind = column.dtype
        if isinstance(kind, pd.CategoricalDtype) and len(kind.categories):
            labels = [str(label) for label in kind.categories]
            gaps = bool(column.isna().any())
            declared[name] = _declare(name, labels, ordinal=bool(kind.ordered), gaps=gaps)
    drafted = {entry["name"]: entry for entry in draft["attributes"]}
    names = [name for name in map(str, frame.columns) if name in declared or name in drafted]
    left_out = [name for name in draft.get("leave_out", []) if name not in declared]
    raw: dict[str, Any] = {"attributes": [declared.get(n) or drafted[n] for n in names]}
    domain = parse_domain(raw | ({"leave_out": left_out} if left_out else {}))
    return FrameDomain(domain, tuple(name for name in names if name not in declared))


def _declare(name: str, labels: list[str], *, ordinal: bool, gaps: bool) -> dict[str, Any]:
    """The entry of a domain file; with gaps, a label for them takes the order away."""
    if not gaps:
        return {"name": name, "labels": labels, "ordinal": ordinal}
    label = MISSING if MISSING not in labels else f"{MISSING} values"
    return {"name": name, "labels": labels, "missing": {"codes": [""], "label": label}}
