"""Contraceptive Method Choice (Lim 1999): all 10 columns, meanings as in ``cmc.names``.

The husband's occupation has four codes whose meaning is not documented. Brackets: ages in fives, as
fertility surveys print them (women of 15 to 49); children one by one up to five.
"""

from __future__ import annotations

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
    number_codes,
)

_AGES = tuple(range(15, 55, 5))
_CHILDREN = (0, 1, 2, 3, 4, 5, 6, 8, 17)
_LEVELS = number_codes(1, "1 (low)", "2", "3", "4 (high)")

CONTRACEPTIVE_COLUMNS: dict[str, Codes | Brackets] = {
    "wife_age": Brackets(_AGES, name_brackets(*_AGES, last="45 to 49")),
    "wife_education": _LEVELS,
    "husband_education": _LEVELS,
    "children": Brackets(_CHILDREN, name_brackets(*_CHILDREN, last="8 or more")),
    "wife_religion": number_codes(0, "Not Islam", "Islam"),
    "wife_working": number_codes(0, "Yes", "No"),
    "husband_occupation": number_codes(1, "1", "2", "3", "4"),
    "standard_of_living": _LEVELS,
    "media_exposure": number_codes(0, "Good", "Not good"),
    "contraceptive_method": number_codes(1, "No use", "Long-term", "Short-term"),
}

CONTRACEPTIVE = build_domain(
    CONTRACEPTIVE_COLUMNS,
    ordinal={
        "wife_age",
        "wife_education",
        "husband_education",
        "children",
        "standard_of_living",
    },
)
