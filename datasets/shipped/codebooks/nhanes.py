"""NHANES 2017-2018, adults of 20 or more: 25 columns of person, income, health and habits.

``NHANES_VARIABLES`` has the questionnaire variable of each column. The file that is read has
recoded some answers: yes is 1 and no is 0; household income is a number of its bracket; an empty
cell is a question that was not asked, was refused or not answered, which the file does not tell
apart.

Brackets: ages in decades, 80 or older together as published; body mass index by the WHO's classes;
glycohaemoglobin by the American Diabetes Association's limits of 5.7 and 6.5 percent.
"""

from __future__ import annotations

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
)

UNKNOWN = "Not known"
_AGES = (20, 30, 40, 50, 60, 70, 80, 81)
_INCOME_MIDDLES = (
    *(2_000, 7_500, 12_500, 17_500, 22_500, 30_000, 40_000, 50_000, 60_000, 70_000, 87_500),
    100_000,
)
_INCOMES = (
    *(0, 5_000, 10_000, 15_000, 20_000, 25_000, 35_000, 45_000, 55_000, 65_000, 75_000, 100_000),
    10**9,
)
_YES_NO = Codes({"1": "Yes", "0": "No", "": UNKNOWN})
_DAYS = Codes(
    {
        "0": "Not at all",
        "1": "Several days",
        "2": "More than half the days",
        "3": "Nearly every day",
        "": UNKNOWN,
    }
)


def _same(*labels: str) -> Codes:
    return Codes({**{label: label for label in labels}, "Don't Know": UNKNOWN, "": UNKNOWN})


NHANES_COLUMNS: dict[str, Codes | Brackets] = {
    "gender": Codes({"Male": "Male", "Female": "Female"}),
    "age": Brackets(_AGES, name_brackets(*_AGES, last="80 or older")),
    "race": Codes(
        {
            label: label
            for label in (
                "Mexican American",
                "Other Hispanic",
                "Non-Hispanic White",
                "Non-Hispanic Black",
                "Non-Hispanic Asian",
                "Other Race - Including Multi-Racial",
            )
        }
    ),
    "education": _same(
        "Less than 9th grade",
        "9-11th grade (Includes 12th grade with no diploma)",
        "High school graduate/GED or equivalent",
        "Some college or AA degree",
        "College graduate or above",
    ),
    "marital_status": _same(
        "Married", "Widowed", "Divorced", "Separated", "Never married", "Living with partner"
    ),
    "household_size": Codes(
        {
            **{str(people): str(people) for people in range(1, 7)},
            "7 or more people in the Household": "7 or more",
        }
    ),
    "household_income": Codes(
        {
            **{
                str(middle): name
                for middle, name in zip(
                    _INCOME_MIDDLES,
                    name_brackets(*_INCOMES, last="100,000 or more"),
                    strict=True,
                )
            },
            "": UNKNOWN,
        }
    ),
    "veteran": Codes({"1": "Yes", "0": "No", "Don't Know": UNKNOWN, "": UNKNOWN}),
    "insured": _YES_NO,
    "general_health": Codes(
        {
            "Excellent": "Excellent",
            "Very good": "Very good",
            "Good": "Good",
            "Fair or": "Fair",
            "Poor?": "Poor",
            "": UNKNOWN,
        }
    ),
    "body_mass_index": Brackets(
        (0, 18.5, 25, 30, 35, 40, 200),
        (
            "Underweight (below 18.5)",
            "Normal (18.5 to below 25)",
            "Overweight (25 to below 30)",
            "Obese, class 1 (30 to below 35)",
            "Obese, class 2 (35 to below 40)",
            "Obese, class 3 (40 or more)",
        ),
        {"": UNKNOWN},
        special_first=False,
    ),
    "glycohaemoglobin": Brackets(
        (0, 5.7, 6.5, 20),
        ("Below 5.7", "5.7 to below 6.5", "6.5 or more"),
        {"": UNKNOWN},
        special_first=False,
    ),
    "diabetes": Codes({"1": "Yes", "0": "No", "Borderline": "Borderline", "": UNKNOWN}),
    "arthritis": _YES_NO,
    "heart_attack": _YES_NO,
    "stroke": _YES_NO,
    "cancer": _YES_NO,
    "walking_difficulty": _YES_NO,
    "feeling_down": _DAYS,
    "better_off_dead": _DAYS,
    "depression_medication": _YES_NO,
    "smoked_100_cigarettes": _YES_NO,
    "smokes_now": Codes(
        {
            "Every day": "Every day",
            "Some days": "Some days",
            "Not at all": "Not at all",
            "": "Not known, or fewer than 100 cigarettes in life",
        }
    ),
    "marijuana": _YES_NO,
    "hard_drugs": _YES_NO,
}

NHANES = build_domain(NHANES_COLUMNS, ordinal={"age", "household_size"})

# The questionnaire variable of each column, and its name in the published file.
NHANES_VARIABLES: dict[str, tuple[str, str]] = {
    "gender": ("RIAGENDR", "Gender"),
    "age": ("RIDAGEYR", "AgeInYearsAtScreening"),
    "race": ("RIDRETH3", "RacehispanicOriginWNhAsian"),
    "education": ("DMDEDUC2", "EducationLevelAdults20"),
    "marital_status": ("DMDMARTL", "MaritalStatus"),
    "household_size": ("DMDHHSIZ", "TotalNumberOfPeopleInTheHousehold"),
    "household_income": ("INDHHIN2", "AnnualHouseholdIncome"),
    "veteran": ("DMQMILIZ", "ServedActiveDutyInUsArmedForces"),
    "insured": ("HIQ011", "CoveredByHealthInsurance"),
    "general_health": ("HSD010", "GeneralHealthCondition"),
    "body_mass_index": ("BMXBMI", "BodyMassIndexKgm2"),
    "glycohaemoglobin": ("LBXGH", "Glycohemoglobin"),
    "diabetes": ("DIQ010", "DoctorToldYouHaveDiabetes"),
    "arthritis": ("MCQ160A", "DoctorEverSaidYouHadArthritis"),
    "heart_attack": ("MCQ160E", "EverToldYouHadHeartAttack"),
    "stroke": ("MCQ160F", "EverToldYouHadAStroke"),
    "cancer": ("MCQ220", "EverToldYouHadCancerOrMalignancy"),
    "walking_difficulty": ("DLQ050", "HaveSeriousDifficultyWalking"),
    "feeling_down": ("DPQ020", "FeelingDownDepressedOrHopeless"),
    "better_off_dead": ("DPQ090", "ThoughtYouWouldBeBetterOffDead"),
    "depression_medication": ("DLQ150", "TakeMedicationForDepression"),
    "smoked_100_cigarettes": ("SMQ020", "SmokedAtLeast100CigarettesInLife"),
    "smokes_now": ("SMQ040", "DoYouNowSmokeCigarettes"),
    "marijuana": ("DUQ200", "EverUsedMarijuanaOrHashish"),
    "hard_drugs": ("DUQ240", "EverUsedCocaineheroinmethamphetamine"),
}
