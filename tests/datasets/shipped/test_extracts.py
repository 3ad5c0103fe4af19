"""Readers of the raw files, on files of a few made-up records in the published formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets import DomainError, Table
from reconbench.datasets.shipped.codebooks import NHANES_COLUMNS, NIST_COLUMNS
from reconbench.datasets.shipped.codebooks.fars import FARS_NAMES
from reconbench.datasets.shipped.codebooks.nhanes import NHANES_VARIABLES
from reconbench.datasets.shipped.extracts.adult import read_adult
from reconbench.datasets.shipped.extracts.contraceptive import read_contraceptive
from reconbench.datasets.shipped.extracts.credit import read_credit
from reconbench.datasets.shipped.extracts.fars import read_fars
from reconbench.datasets.shipped.extracts.german import read_german
from reconbench.datasets.shipped.extracts.nhanes import read_nhanes
from reconbench.datasets.shipped.extracts.nist import read_nist

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, <=50K"
)
GERMAN = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1"
KEEL = "@relation x\n" + "".join(f"@attribute a{i} integer[0,9]\n" for i in range(10)) + "@data\n"


def label(table: Table, column: str, record: int = 0) -> str:
    return table.domain[column].labels[int(table.column(column)[record])]


def nist_row(**changed: str) -> dict[str, str]:
    known = {name: next(iter(_meanings(name))) for name in NIST_COLUMNS}
    return {**known, "AGEP": "40", **changed}


def _meanings(name: str) -> list[str]:
    column = NIST_COLUMNS[name]
    return list(getattr(column, "meaning", None) or getattr(column, "special", {})) or ["0"]


def write_rows(path: Path, rows: list[dict[str, str]], between: str = ",") -> None:
    lines = [between.join(rows[0]), *(between.join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("AGEP", "2", "0 to 2"),
        ("AGEP", "3", "3 to 4"),
        ("AGEP", "99", "85 or older"),
        ("PINCP", "N", "N/A (less than 15 years old)"),
        ("PINCP", "-100.0", "Loss"),
        ("PINCP", "0.0", "None"),
        ("PINCP", "9999.0", "1 to 9,999"),
        ("PINCP", "10000.0", "10,000 to 14,999"),
        ("PINCP", "1341000.0", "200,000 or more"),
        ("POVPIP", "500", "400 to 500"),
        ("POVPIP", "501", "more than 500"),
        ("NOC", "19", "5 or more"),
        ("RAC1P", "6", "Asian alone"),
    ],
)
def test_nist_values(tmp_path: Path, column: str, text: str, expected: str) -> None:
    row = nist_row(**{column: text})
    write_rows(tmp_path / "national2019.csv", [{"WGTP": "0", **dict(reversed(row.items()))}])
    assert label(read_nist(tmp_path), column) == expected


def test_adult_joins_train_and_test(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text(f"{ADULT}\n\n")
    other = ADULT.replace("State-gov", "?").replace("<=50K", ">50K.")
    (tmp_path / "adult.test").write_text(f"|1x3 Cross validator\n{other}\n")
    table = read_adult(tmp_path)
    assert len(table) == 2
    assert [label(table, "income", i) for i in (0, 1)] == ["<=50K", ">50K"]
    assert label(table, "workclass", 1) == "Unknown"
    assert label(table, "capital-gain") == "2,000 to 4,999"
    assert label(table, "hours-per-week") == "40"


def test_german_has_the_corrected_labels(tmp_path: Path) -> None:
    (tmp_path / "german.data").write_text(f"{GERMAN}\n")
    table = read_german(tmp_path)
    assert label(table, "status") == "no checking account"  # Statlog's label: below 0 DM
    assert label(table, "foreign_worker") == "no"  # Statlog's label: yes
    assert label(table, "people_liable") == "0 to 2"  # Statlog's label: 1
    assert label(table, "credit_history") == "all credits at this bank paid back duly"
    assert label(table, "duration") == "1 to 6" and label(table, "age") == "65 or older"


def test_contraceptive(tmp_path: Path) -> None:
    (tmp_path / "contraceptive.dat").write_text(
        KEEL + "24,2,3,3,1,1,2,3,0,1\n45,1,3,10,1,0,3,4,0,3\n"
    )
    table = read_contraceptive(tmp_path)
    assert label(table, "wife_age", 1) == "45 to 49" and label(table, "children", 1) == "8 or more"
    assert label(table, "wife_working", 1) == "Yes"  # 0 is yes in this survey
    assert label(table, "contraceptive_method", 1) == "Short-term"


def credit_row() -> dict[str, str]:
    row = {"LIMIT_BAL": "20000.0", "SEX": "1", "AGE": "24", "default-payment-next-month": "1"}
    row |= {f"PAY_{month}": "0" for month in (0, 2, 3, 4, 5, 6)}
    row |= {"BILL_AMT1": "-3.0", "PAY_AMT1": "0.0"}
    row |= {f"EDUCATION_{code}": str(int(code == 5)) for code in range(7)}
    return row | {f"MARRIAGE_{code}": str(int(code == 2)) for code in range(4)}


def test_credit_puts_codes_together(tmp_path: Path) -> None:
    write_rows(tmp_path / "UCI_Credit_Card.csv", [credit_row()])
    table = read_credit(tmp_path)
    assert label(table, "SEX") == "Female" and label(table, "MARRIAGE") == "Single"
    assert label(table, "EDUCATION") == "5 (not documented)"
    assert label(table, "BILL_AMT1") == "Negative" and label(table, "PAY_AMT1") == "None"
    assert label(table, "default") == "Yes"


def test_credit_needs_one_indicator(tmp_path: Path) -> None:
    write_rows(tmp_path / "UCI_Credit_Card.csv", [{**credit_row(), "MARRIAGE_1": "1"}])
    with pytest.raises(DomainError, match="MARRIAGE"):
        read_credit(tmp_path)


def test_nhanes_takes_adults(tmp_path: Path) -> None:
    blank = {NHANES_VARIABLES[name][1]: "" for name in NHANES_COLUMNS}
    adult = blank | {
        "Gender": "Male",
        "AgeInYearsAtScreening": "80.0",
        "RacehispanicOriginWNhAsian": "Other Hispanic",
        "TotalNumberOfPeopleInTheHousehold": "2",
        "AnnualHouseholdIncome": "100000.0",
        "BodyMassIndexKgm2": "25.0",
        "Glycohemoglobin": "6.4",
        "DoctorToldYouHaveDiabetes": "1",
        "GeneralHealthCondition": "Poor?",
    }
    child = adult | {"AgeInYearsAtScreening": "19.0"}
    path = tmp_path / "NHANES_data_2017-2018.tsv"
    write_rows(path, [adult, child], between="\t")
    table = read_nhanes(tmp_path)
    assert len(table) == 1
    assert label(table, "age") == "80 or older" and label(table, "general_health") == "Poor"
    assert label(table, "household_income") == "100,000 or more"
    assert label(table, "body_mass_index") == "Overweight (25 to below 30)"
    assert label(table, "glycohaemoglobin") == "5.7 to below 6.5"
    assert label(table, "diabetes") == "Yes" and label(table, "marijuana") == "Not known"


def test_fars(tmp_path: Path) -> None:
    values = {
        "STATE": "New_York",
        "AGE": "99",
        "SEX": "Male",
        "PERSON_TYPE": "Driver",
        "SEATING_POSITION": "Unknown",
        "RESTRAINT": "Lap_Belt",
        "AIR_BAG": "Air_Bad_Available-Deployment_Not_Known_for_this_Seat",
        "EJECTION": "Unknown",
        "EXTRICATION": "Unknown",
        "POLICE_ALCOHOL": "Not_reported",
        "ALCOHOL_TEST": "Urine",
        "ALCOHOL_RESULT": "08",
        "POLICE_DRUGS": "No_Drugs",
        "DRUG_TEST": "Urine_Test",
        "HISPANIC_ORIGIN": "Cuban",
        "TAKEN_TO_HOSPITAL": "Yes",
        "RACE": "White",
        "INJURY_SEVERITY": "Nonincapaciting_Evident_Injury",
    }
    header = "".join(f"@attribute {FARS_NAMES[name]} {{x}}\n" for name in values)
    (tmp_path / "fars.dat").write_text(
        f"@relation fars\n{header}@data\n{','.join(values.values())}\n"
    )
    table = read_fars(tmp_path)
    assert label(table, "AGE") == "Unknown" and label(table, "ALCOHOL_RESULT") == ".08 to .14"
    assert label(table, "AIR_BAG").startswith("Air Bag Available - Deployment Not Known")
    assert label(table, "INJURY_SEVERITY") == "Nonincapacitating Evident Injury"


Reader = Callable[[Path], Table]


@pytest.mark.parametrize(
    ("read", "name", "text", "message"),
    [
        (read_german, "german.data", "", "holds no records"),
        (read_german, "german.data", GERMAN.replace("A11", "A15"), "record 0, column status"),
        (read_german, "german.data", GERMAN.replace("67", "old"), "not a number from 18 to 100"),
        (read_german, "german.data", "A11 6", "2 values, expected 21"),
        (read_contraceptive, "contraceptive.dat", "1,2,3", "no line '@data'"),
        (read_nist, "national2019.csv", "PUMA,SEX\n01-01301,1\n", "has no column 'AGEP'"),
        (read_adult, "adult.data", "39, Private", "has not 15 values"),
        (read_credit, "UCI_Credit_Card.csv", "ID,SEX\n1,2\n", "lacks column or value '2'"),
    ],
)
def test_wrong_files_are_named(
    tmp_path: Path, read: Reader, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DomainError, match=message) as caught:
        read(tmp_path)
    assert name in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=r"cannot read .*german\.data"):
        read_german(tmp_path)
