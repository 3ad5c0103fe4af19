"""The public schemas of the shipped data sets, with the meaning of every code; one file a table.

Each table has a ``Domain``. Those that are read from a file as it was published also have
``..._COLUMNS``: what the file writes, and the label that stands for it (``columns.py``).
Labels and brackets come from data dictionaries, questionnaires and round numbers, never from the
quantiles of the data, because labels are public knowledge in a game.
"""

from reconbench.datasets.shipped.codebooks.acs import ACS, ACS_BLANK, ACS_LABELS, ACS_VALUES
from reconbench.datasets.shipped.codebooks.adult import ADULT, ADULT_COLUMNS
from reconbench.datasets.shipped.codebooks.contraceptive import (
    CONTRACEPTIVE,
    CONTRACEPTIVE_COLUMNS,
)
from reconbench.datasets.shipped.codebooks.credit import CREDIT, CREDIT_COLUMNS
from reconbench.datasets.shipped.codebooks.fars import FARS, FARS_COLUMNS
from reconbench.datasets.shipped.codebooks.fire import FIRE, MISSING
from reconbench.datasets.shipped.codebooks.german import GERMAN, GERMAN_COLUMNS
from reconbench.datasets.shipped.codebooks.nhanes import NHANES, NHANES_COLUMNS
from reconbench.datasets.shipped.codebooks.nist import NIST, NIST_COLUMNS

__all__ = [
    "ACS",
    "ACS_BLANK",
    "ACS_LABELS",
    "ACS_VALUES",
    "ADULT",
    "ADULT_COLUMNS",
    "CONTRACEPTIVE",
    "CONTRACEPTIVE_COLUMNS",
    "CREDIT",
    "CREDIT_COLUMNS",
    "FARS",
    "FARS_COLUMNS",
    "FIRE",
    "GERMAN",
    "GERMAN_COLUMNS",
    "MISSING",
    "NHANES",
    "NHANES_COLUMNS",
    "NIST",
    "NIST_COLUMNS",
]
