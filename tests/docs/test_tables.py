"""Tables of the documentation are what the declarations say."""

from __future__ import annotations

import pytest

from generate.tables import DOCS, TABLES, fill_tables


@pytest.mark.parametrize("page", sorted({home for home, _ in TABLES.values()}))
def test_committed_tables_are_current(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert fill_tables(page, text) == text, "run: python docs/generate tables"


def test_a_stale_table_is_found() -> None:
    text = (DOCS / "ceilings.md").read_text(encoding="utf-8")
    assert fill_tables("ceilings.md", text.replace("`prior-exact` |", "`prior` |")) == text
    with pytest.raises(ValueError, match=r"docs/ceilings\.md must have one place"):
        fill_tables("ceilings.md", "nothing")
