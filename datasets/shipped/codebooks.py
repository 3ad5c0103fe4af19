"""The public schemas of the two shipped data sets, with the meaning of every code.

``ACS`` is the feature set of folktables' ACSEmployment task (Ding et al. 2021) over the American
Community Survey's person file; labels follow the Census Bureau's PUMS data dictionary of 2018, and
``ACS_VALUES`` keeps the PUMS value behind each label. ``FIRE`` is the ten categorical columns of
DataSF's Fire Department Calls for Service.
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

MISSING = "NA"  # FIRE's label of an empty cell, always the last one


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRE = Domain(
    (
        Attribute(
            "Call Type",
            (
                "Administrative",
                "Aircraft Emergency",
                "Alarms",
                "Assist Police",
                "Citizen Assist / Service Call",
                "Confined Space / Structure Collapse",
                "Electrical Hazard",
                "Elevator / Escalator Rescue",
                "Explosion",
                "Extrication / Entrapped (Machinery, Vehicle)",
                "Fuel Spill",
                "Gas Leak (Natural and LP Gases)",
                "HazMat",
                "High Angle Rescue",
                "Industrial Accidents",
                "Lightning Strike (Investigation)",
                "Marine Fire",
                "Medical Incident",
                "Mutual Aid / Assist Outside Agency",
                "Odor (Strange / Unknown)",
                "Oil Spill",
                "Other",
                "Outside Fire",
                "Smoke Investigation (Outside)",
                "Structure Fire",
                "Suspicious Package",
                "Traffic Collision",
                "Train / Rail Fire",
                "Train / Rail Incident",
                "Vehicle Fire",
                "Water Rescue",
                "Watercraft in Distress",
            ),
        ),
        Attribute(
            "Call Final Disposition",
            (
                "Against Medical Advice",
                "CHP",
                "Cancelled",
                "Code 2 Transport",
                "Code 3 Transport",
                "Duplicate",
                "Fire",
                "Gone on Arrival",
                "Medical Examiner",
                "Multi-casualty Incident",
                "No Merit",
                "Other",
                "Patient Declined Transport",
                "SFPD",
                "Unable to Locate",
            ),
        ),
        Attribute(
            "City",
            (
                "Brisbane",
                "Daly City",
                "Fort Mason",
                "Hunters Point",
                "Presidio",
                "San Francisco",
                "Treasure Isla",
                "Yerba Buena",
                MISSING,
            ),
        ),
        # Ordinal as in Swanberg 2025, section 6.4, which scores an L1 error on its codes.
        Attribute(
            "Zipcode of Incident",
            (
                *_listed("94102 94103 94104 94105 94107 94108 94109 94110 94111 94112 94114 94115"),
                *_listed("94116 94117 94118 94121 94122 94123 94124 94127 94129 94130 94131 94132"),
                *_listed("94133 94134 94158"),
                MISSING,
            ),
            ordinal=True,
        ),
        Attribute("Battalion", _listed("B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B99")),
        Attribute(
            "Station Area",
            (
                *_listed("01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"),
                *_listed("25 26 28 29 31 32 33 34 35 36 37 38 39 40 41 42 43 44 47 48 51"),
                MISSING,
            ),
        ),
        Attribute("Priority", _listed("1 2 3 A B C E I")),
        Attribute("ALS Unit", ("false", "true")),
        Attribute(
            "Call Type Group",
            (
                "Alarm",
                "Fire",
                "Non Life-threatening",
                "Potentially Life-Threatening",
                MISSING,
            ),
        ),
        Attribute("Number of Alarms", _listed("1 2 3 4 5"), ordinal=True),
    )
)
