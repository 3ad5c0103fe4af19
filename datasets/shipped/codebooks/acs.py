"""The American Community Survey: the 16 features of folktables' ACSEmployment (Ding et al. 2021).

Labels follow the Census Bureau's PUMS data dictionary of 2018; ``ACS_VALUES`` keeps the PUMS value
behind each label.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconbench.datasets.domain import Attribute, Domain

ACS_BLANK = "Not applicable (blank in PUMS)"


def _numbered(start: int, *labels: str) -> dict[int, str]:
    return dict(enumerate(labels, start))


# PUMS value -> label, in code order: code i is the i-th entry. Ages are decades (AGEP // 10), and
# value 0 stands for a blank where PUMS leaves one (except in RELP, where it is a person).
ACS_LABELS: Mapping[str, Mapping[int, str]] = {
    "AGEP": _numbered(0, "0 to 9", *(f"{decade}0 to {decade}9" for decade in range(1, 10))),
    "SCHL": _numbered(
        0,
        ACS_BLANK,
        "No schooling completed",
        "Nursery school, preschool",
        "Kindergarten",
        *(f"Grade {grade}" for grade in range(1, 12)),
        "12th grade - no diploma",
        "Regular high school diploma",
        "GED or alternative credential",
        "Some college, but less than 1 year",
        "1 or more years of college credit, no degree",
        "Associate's degree",
        "Bachelor's degree",
        "Master's degree",
        "Professional degree beyond a bachelor's degree",
        "Doctorate degree",
    ),
    "MAR": _numbered(
        1, "Married", "Widowed", "Divorced", "Separated", "Never married or under 15 years old"
    ),
    "RELP": _numbered(
        0,
        "Reference person",
        "Husband/wife",
        "Biological son or daughter",
        "Adopted son or daughter",
        "Stepson or stepdaughter",
        "Brother or sister",
        "Father or mother",
        "Grandchild",
        "Parent-in-law",
        "Son-in-law or daughter-in-law",
        "Other relative",
        "Roomer or boarder",
        "Housemate or roommate",
        "Unmarried partner",
        "Foster child",
        "Other nonrelative",
        "Institutionalized group quarters population",
        "Noninstitutionalized group quarters population",
    ),
    "DIS": _numbered(1, "With a disability", "Without a disability"),
    "ESP": _numbered(
        0,
        ACS_BLANK,
        "Living with two parents: both parents in labor force",
        "Living with two parents: father only in labor force",
        "Living with two parents: mother only in labor force",
        "Living with two parents: neither parent in labor force",
        "Living with father: father in labor force",
        "Living with father: father not in labor force",
        "Living with mother: mother in labor force",
        "Living with mother: mother not in labor force",
    ),
    "CIT": _numbered(
        1,
        "Born in the U.S.",
        "Born in Puerto Rico, Guam, the U.S. Virgin Islands, or the Northern Marianas",
        "Born abroad of American parent(s)",
        "U.S. citizen by naturalization",
        "Not a citizen of the U.S.",
    ),
    "MIG": _numbered(
        0,
        ACS_BLANK,
        "Same house a year ago (nonmover)",
        "Outside US and Puerto Rico a year ago",
        "Different house in US or Puerto Rico a year ago",
    ),
    "MIL": _numbered(
        0,
        ACS_BLANK,
        "Now on active duty",
        "On active duty in the past, but not now",
        "Only on active duty for training in Reserves/National Guard",
        "Never served in the military",
    ),
    "ANC": {
        1: "Single ancestry",
        2: "Multiple ancestry",
        3: "Ancestry unclassified",
        4: "Ancestry not reported",
        8: "Suppressed for select PUMAs",
    },
    "NATIVITY": _numbered(1, "Native", "Foreign born"),
    "DEAR": _numbered(1, "With hearing difficulty", "Without hearing difficulty"),
    "DEYE": _numbered(1, "With vision difficulty", "Without vision difficulty"),
    "DREM": _numbered(0, ACS_BLANK, "With cognitive difficulty", "Without cognitive difficulty"),
    "SEX": _numbered(1, "Male", "Female"),
    "RAC1P": _numbered(
        1,
        "White alone",
        "Black or African American alone",
        "American Indian alone",
        "Alaska Native alone",
        "American Indian and Alaska Native tribes specified, or not specified and no other races",
        "Asian alone",
        "Native Hawaiian and Other Pacific Islander alone",
        "Some Other Race alone",
        "Two or More Races",
    ),
}

_ACS_ORDINAL = frozenset({"AGEP", "SCHL"})

ACS = Domain(
    tuple(
        Attribute(name, tuple(labels.values()), ordinal=name in _ACS_ORDINAL)
        for name, labels in ACS_LABELS.items()
    )
)

# The PUMS values of each column, in code order.
ACS_VALUES: Mapping[str, tuple[int, ...]] = {
    name: tuple(labels) for name, labels in ACS_LABELS.items()
}
