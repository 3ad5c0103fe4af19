"""NIST Diverse Communities Data Excerpts, national 2019: 20 of the 24 columns.

Names, codes and meanings are those of the excerpts' data dictionary; N is not applicable. Left out:
INDP (271 industry codes that INDP_CAT groups, without labels in the dictionary), DENSITY (fixed by
PUMA) and the survey weights PWGTP and WGTP, which describe the sample and not the person.

Brackets: AGEP breaks at the ages 3, 5 and 15 where the dictionary starts EDU, the difficulties and
MSP, then at the Census Bureau's 18, 25, 35, ... 85; PINCP has the brackets of ACS table B19001;
POVPIP those of ACS table C17002 and whole multiples of the poverty line above.
"""

from __future__ import annotations

from math import inf

from reconbench.datasets.shipped.codebooks.acs import ACS_LABELS
from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
    number_codes,
)

_AGES = (0, 3, 5, 15, 18, 25, 35, 45, 55, 65, 75, 85, 100)
_INCOMES = (
    *(1, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000, 45_000, 50_000, 60_000, 75_000),
    *(100_000, 125_000, 150_000, 200_000),
)
_POVERTY = (0, 50, 100, 125, 150, 185, 200, 300, 400, 501, 502)
_YES_NO = {"1": "Yes", "2": "No"}
_FROM_FIVE = Codes({"N": "N/A (less than 5 years old)", **_YES_NO})

NIST_COLUMNS: dict[str, Codes | Brackets] = {
    "PUMA": Codes(
        {
            code: f"{code} {place}"
            for code, place in {
                "01-01301": "Birmingham City (West)",
                "06-07502": "San Francisco County (North & East)--North Beach & Chinatown",
                "06-08507": "Santa Clara County (Southwest)--Cupertino, Saratoga Cities & Los "
                "Gatos Town",
                "08-00803": "Boulder County (Central)--Boulder City",
                "13-04600": "Atlanta Regional Commission--Fulton County (Central)--Atlanta City "
                "(Central)",
                "17-03529": "Chicago City (South)--South Shore, Hyde Park, Woodlawn, Grand "
                "Boulevard & Douglas",
                "17-03531": "Chicago City (South)--Auburn Gresham, Roseland, Chatham, Avalon Park "
                "& Burnside",
                "19-01700": "Des Moines City",
                "24-01004": "Montgomery County (South)--Bethesda, Potomac & North Bethesda",
                "26-02702": "Washtenaw County (East Central)--Ann Arbor City Area",
                "28-01100": "Central Region--Jackson City (East & Central)",
                "29-01901": "St. Louis City (North)",
                "30-00600": "East Montana (Outside Billings City)",
                "32-00405": "Las Vegas City (Southeast)",
                "36-03710": "NYC-Bronx Community District 1 & 2--Hunts Point, Longwood & Melrose",
                "36-04010": "NYC-Brooklyn Community District 17--East Flatbush, Farragut & Rugby",
                "38-00100": "West North Dakota--Minot City",
                "40-00200": "Cherokee, Sequoyah & Adair Counties",
                "51-01301": "Arlington County (North)",
                "51-51255": "Alexandria City",
            }.items()
        }
    ),
    "AGEP": Brackets(_AGES, name_brackets(*_AGES, last="85 or older")),
    "SEX": number_codes(1, "Male", "Female"),
    "MSP": Codes(
        {
            "N": "N/A (age less than 15 years)",
            "1": "Now married, spouse present",
            "2": "Now married, spouse absent",
            "3": "Widowed",
            "4": "Divorced",
            "5": "Separated",
            "6": "Never married",
        }
    ),
    "HISP": number_codes(
        0,
        "Not Spanish/Hispanic/Latino",
        "Mexican",
        "Puerto Rican",
        "Cuban",
        "All other Spanish/Hispanic/Latino",
    ),
    "RAC1P": number_codes(1, *ACS_LABELS["RAC1P"].values()),
    "NOC": Brackets(
        (0, 1, 2, 3, 4, 5, 19),
        ("No own children", "1", "2", "3", "4", "5 or more"),
        {"N": "N/A (group quarters)"},
    ),
    "NPF": Brackets(
        (2, 3, 4, 5, 6, 7, 20),
        ("2", "3", "4", "5", "6", "7 or more"),
        {"N": "N/A (group quarters or non-family household)"},
    ),
    "HOUSING_TYPE": number_codes(
        1, "Housing unit", "Institutional group quarters", "Non-institutional group quarters"
    ),
    "OWN_RENT": number_codes(0, "Group quarters", "Own housing unit", "Rent housing unit"),
    "INDP_CAT": Codes(
        {
            "N": "N/A (younger than 16, or last worked more than 5 years ago, or never worked)",
            "0": "Agriculture, Forestry, Fishing and Hunting",
            "1": "Mining, Quarrying, and Oil and Gas Extraction",
            "2": "Utilities",
            "3": "Construction",
            "4": "Manufacturing",
            "5": "Wholesale Trade",
            "6": "Retail Trade",
            "7": "Transportation and Warehousing",
            "8": "Information",
            "9": "Finance, Insurance, Real Estate",
            "10": "Professional, Scientific and Technical Services",
            "11": "Educational Services",
            "12": "Health Care",
            "13": "Social Assistance",
            "14": "Arts, Entertainment, Accommodation, Food Services and Recreation",
            "15": "Other Services",
            "16": "Government, Public Administration",
            "17": "Military",
            "18": "Unemployed",
        }
    ),
    "EDU": Codes(
        {
            "N": "N/A (less than 3 years old)",
            "1": "No schooling completed",
            "2": "Nursery school, preschool, or kindergarten",
            "3": "Grade 1 to grade 8",
            "4": "Grade 9 to grade 12, no diploma",
            "5": "High school diploma",
            "6": "GED",
            "7": "Some college, no degree",
            "8": "Associate degree",
            "9": "Bachelor's degree",
            "10": "Master's degree",
            "11": "Professional degree",
            "12": "Doctorate degree",
        }
    ),
    "PINCP": Brackets(
        (-inf, 0, *_INCOMES, inf),
        ("Loss", "None", *name_brackets(*_INCOMES, 10**9, last="200,000 or more")),
        {"N": "N/A (less than 15 years old)"},
    ),
    "PINCP_DECILE": Codes(
        {
            "N": "N/A (less than 15 years old)",
            **{str(tenth): f"{10 * tenth}th percentile" for tenth in range(10)},
        }
    ),
    "POVPIP": Brackets(_POVERTY, name_brackets(*_POVERTY, last="more than 500"), {"N": "N/A"}),
    "DVET": Codes(
        {
            "N": "N/A (no service-connected disability, or never served in military)",
            "1": "0 percent",
            "2": "10 or 20 percent",
            "3": "30 or 40 percent",
            "4": "50 or 60 percent",
            "5": "70, 80, 90 or 100 percent",
            "6": "Not reported",
        }
    ),
    "DREM": _FROM_FIVE,
    "DPHY": _FROM_FIVE,
    "DEYE": Codes(_YES_NO),
    "DEAR": Codes(_YES_NO),
}

# The first label of EDU, PINCP and PINCP_DECILE is of children, who have not got there yet.
NIST = build_domain(NIST_COLUMNS, ordinal={"AGEP", "EDU", "PINCP", "PINCP_DECILE"})
