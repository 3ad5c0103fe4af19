"""Default of Credit Card Clients (Yeh and Lien 2009): 14 of the 24 columns.

Names and meanings are the donor's; codes that the documentation leaves out keep their number.
Taken: the limit, the person, the repayment status of six months, the newest bill and payment, and
the default. Left out: the bills and payments of the other five months.

Brackets: amounts in round New Taiwan dollars; ages in fives.
"""

from __future__ import annotations

from math import inf

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
    number_codes,
)

_LIMITS = (0, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000, 1_000_001)
_AGES = (20, 25, 30, 35, 40, 45, 50, 55, 60, 100)
_BILLS = (1, 1_000, 5_000, 20_000, 50_000, 100_000, 200_000, 10**8)
_PAYMENTS = (0, 1, 1_000, 2_000, 5_000, 10_000, 50_000, 10**8)
_STATUS = Codes(
    {
        "-2": "-2 (not documented)",
        "-1": "-1 (paid duly)",
        "0": "0 (not documented)",
        "1": "1 month late",
        **{str(months): f"{months} months late" for months in range(2, 9)},
        "9": "9 months late or more",
    }
)

CREDIT_COLUMNS: dict[str, Codes | Brackets] = {
    "LIMIT_BAL": Brackets(_LIMITS, name_brackets(*_LIMITS, last="500,000 or more")),
    "SEX": number_codes(1, "Male", "Female"),
    "EDUCATION": Codes(
        {
            "1": "Graduate school",
            "2": "University",
            "3": "High school",
            "4": "Others",
            "0": "0 (not documented)",
            "5": "5 (not documented)",
            "6": "6 (not documented)",
        }
    ),
    "MARRIAGE": Codes({"1": "Married", "2": "Single", "3": "Others", "0": "0 (not documented)"}),
    "AGE": Brackets(_AGES, name_brackets(*_AGES, last="60 or older")),
    "PAY_0": _STATUS,
    **{f"PAY_{month}": _STATUS for month in range(2, 7)},
    "BILL_AMT1": Brackets(
        (-inf, 0, *_BILLS),
        ("Negative", "None", *name_brackets(*_BILLS, last="200,000 or more")),
    ),
    "PAY_AMT1": Brackets(
        _PAYMENTS, ("None", *name_brackets(*_PAYMENTS[1:], last="50,000 or more"))
    ),
    "default": number_codes(0, "No", "Yes"),
}

CREDIT = build_domain(
    CREDIT_COLUMNS,
    ordinal={
        "LIMIT_BAL",
        "AGE",
        "PAY_0",
        *(f"PAY_{month}" for month in range(2, 7)),
        "BILL_AMT1",
        "PAY_AMT1",
    },
)
