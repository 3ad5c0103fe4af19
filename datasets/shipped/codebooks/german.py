"""South German Credit: all 21 columns, names and labels of Grömping 2019's code table.

The file that is read is Statlog's ``german.data``, whose documentation gives several codes the
wrong meaning (Grömping 2019). The code table corrects them. Codes of the two files match by their
position: A11 is 1, A34 is 4, and so on; only ``pers`` and ``gastarb`` run the other way, 1 there
being 2 here. So ``A201``, which Statlog calls a foreign worker, is not one.

Brackets are round: months of the loan in half years and years, amounts in thousands of DM, ages in
fives.
"""

from __future__ import annotations

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
    number_codes,
)

_MONTHS = (1, 7, 13, 19, 25, 37, 49, 73)
_AMOUNTS = (0, 1_000, 2_000, 3_000, 4_000, 5_000, 7_500, 10_000, 20_000)
_AGES = (18, 25, 30, 35, 40, 45, 50, 55, 60, 65, 100)


def _coded(prefix: str, start: int, *labels: str) -> Codes:
    """Labels of Statlog's codes, such as A11, A12, ... for prefix A1."""
    return Codes({f"{prefix}{value}": label for value, label in enumerate(labels, start)})


GERMAN_COLUMNS: dict[str, Codes | Brackets] = {
    "status": _coded(
        "A1",
        1,
        "no checking account",
        "... < 0 DM",
        "0 <= ... < 200 DM",
        "... >= 200 DM / salary for at least 1 year",
    ),
    "duration": Brackets(_MONTHS, name_brackets(*_MONTHS, last="49 to 72")),
    "credit_history": _coded(
        "A3",
        0,
        "delay in paying off in the past",
        "critical account/other credits elsewhere",
        "no credits taken/all credits paid back duly",
        "existing credits paid back duly till now",
        "all credits at this bank paid back duly",
    ),
    "purpose": _coded(
        "A4",
        0,
        "others",
        "car (new)",
        "car (used)",
        "furniture/equipment",
        "radio/television",
        "domestic appliances",
        "repairs",
        "education",
        "vacation",
        "retraining",
        "business",
    ),
    "amount": Brackets(_AMOUNTS, name_brackets(*_AMOUNTS, last="10,000 or more")),
    "savings": _coded(
        "A6",
        1,
        "unknown/no savings account",
        "... < 100 DM",
        "100 <= ... < 500 DM",
        "500 <= ... < 1000 DM",
        "... >= 1000 DM",
    ),
    "employment_duration": _coded(
        "A7", 1, "unemployed", "< 1 yr", "1 <= ... < 4 yrs", "4 <= ... < 7 yrs", ">= 7 yrs"
    ),
    "installment_rate": number_codes(1, ">= 35", "25 <= ... < 35", "20 <= ... < 25", "< 20"),
    "personal_status_sex": _coded(
        "A9",
        1,
        "male : divorced/separated",
        "female : non-single or male : single",
        "male : married/widowed",
        "female : single",
    ),
    "other_debtors": _coded("A10", 1, "none", "co-applicant", "guarantor"),
    "present_residence": number_codes(
        1, "< 1 yr", "1 <= ... < 4 yrs", "4 <= ... < 7 yrs", ">= 7 yrs"
    ),
    "property": _coded(
        "A12",
        1,
        "unknown / no property",
        "car or other",
        "building soc. savings agr./life insurance",
        "real estate",
    ),
    "age": Brackets(_AGES, name_brackets(*_AGES, last="65 or older")),
    "other_installment_plans": _coded("A14", 1, "bank", "stores", "none"),
    "housing": _coded("A15", 1, "for free", "rent", "own"),
    "number_credits": number_codes(1, "1", "2-3", "4-5", ">= 6"),
    "job": _coded(
        "A17",
        1,
        "unemployed/unskilled - non-resident",
        "unskilled - resident",
        "skilled employee/official",
        "manager/self-empl./highly qualif. employee",
    ),
    "people_liable": number_codes(1, "0 to 2", "3 or more"),
    "telephone": _coded("A19", 1, "no", "yes (under customer name)"),
    "foreign_worker": _coded("A20", 1, "no", "yes"),
    "credit_risk": number_codes(1, "good", "bad"),
}

GERMAN = build_domain(
    GERMAN_COLUMNS,
    ordinal={
        "duration",
        "amount",
        "savings",
        "employment_duration",
        "installment_rate",
        "present_residence",
        "property",
        "age",
        "number_credits",
        "job",
    },
)
