"""Results as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reconbench.missing_package import needed_by

if TYPE_CHECKING:
    import pandas as pd


def make_frame(
    data: Sequence[Any] | Mapping[str, Sequence[Any]], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """A DataFrame of rows or of columns."""
    with needed_by("a result as a table", "pandas"):
        import pandas as pd
    return pd.DataFrame(data, columns=None if columns is None else list(columns))
