"""Bring your own table: CSV, Parquet or a DataFrame, and the JSON file that declares its domain.

- ``domain_file``: the domain file
- ``reading``: a table by its domain, with what was found out and recoded; read this first
- ``cells``: labels, bins and rules for missing values, cell by cell
- ``columns``: a table as columns of text; ``frames`` and ``parquet`` make these of typed values
- ``table_format``: what is stated of a file and what is found; ``encoding``, ``separator`` and
  ``decimals`` find it
- ``frame_domain``: the domain of a DataFrame, without a file
- ``draft``: a domain file to edit, with ``draft_bins`` and ``draft_signs``
"""

from reconbench.datasets.own_table.domain_file import parse_domain, read_domain
from reconbench.datasets.own_table.draft import suggest_domain
from reconbench.datasets.own_table.frame_domain import FrameDomain, infer_domain
from reconbench.datasets.own_table.reading import OwnTable, read_beside, read_own_table, read_table
from reconbench.datasets.own_table.table_format import CsvStyle, TableFormat

__all__ = [
    "CsvStyle",
    "FrameDomain",
    "OwnTable",
    "TableFormat",
    "infer_domain",
    "parse_domain",
    "read_beside",
    "read_domain",
    "read_own_table",
    "read_table",
    "suggest_domain",
]
