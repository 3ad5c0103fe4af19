"""Adult (Becker and Kohavi 1996): 13 of the 15 columns, names and values as in ``adult.names``.

Left out: fnlwgt, a survey weight, and education-num, which numbers the values of education.

Brackets: ages in fives from 20 with the Census Bureau's 17 to 19 and 75 or older; hours as in the
Current Population Survey's table of persons at work by hours; capital gains and losses in round
dollars, with the top code 99,999 apart.
"""

from __future__ import annotations

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
)

_AGES = (17, *range(20, 80, 5), 91)
_GAINS = (0, 1, 2_000, 5_000, 10_000, 20_000, 99_999, 100_000)
_LOSSES = (0, 1, 1_500, 1_750, 2_000, 2_500, 5_000)
_HOURS = (1, 5, 15, 30, 35, 40, 41, 49, 60, 100)


def _same(text: str) -> Codes:
    return Codes({value: value for value in text.split()})


def _or_unknown(text: str) -> Codes:
    return Codes({**_same(text).meaning, "?": "Unknown"})


ADULT_COLUMNS: dict[str, Codes | Brackets] = {
    "age": Brackets(_AGES, name_brackets(*_AGES, last="75 or older")),
    "workclass": _or_unknown(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
        "Never-worked"
    ),
    "education": _same(
        "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc "
        "Assoc-acdm Bachelors Masters Prof-school Doctorate"
    ),
    "marital-status": _same(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse"
    ),
    "occupation": _or_unknown(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces"
    ),
    "relationship": _same("Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    "race": _same("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    "sex": _same("Female Male"),
    "capital-gain": Brackets(
        _GAINS, ("None", *name_brackets(*_GAINS[1:], last="99,999 or more (top code)"))
    ),
    "capital-loss": Brackets(_LOSSES, ("None", *name_brackets(*_LOSSES[1:], last="2,500 or more"))),
    "hours-per-week": Brackets(_HOURS, name_brackets(*_HOURS, last="60 or more")),
    "native-country": _or_unknown(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands"
    ),
    "income": _same("<=50K >50K"),
}

ADULT = build_domain(
    ADULT_COLUMNS,
    ordinal={"age", "education", "capital-gain", "capital-loss", "hours-per-week"},
)
