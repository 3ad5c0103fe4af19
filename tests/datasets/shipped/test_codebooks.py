"""The codebooks hold the published schemas."""

import pytest

from reconbench.datasets import Domain, DomainError
from reconbench.datasets.shipped.codebooks import (
    ACS,
    ACS_BLANK,
    ACS_LABELS,
    ACS_VALUES,
    ADULT,
    CONTRACEPTIVE,
    CREDIT,
    FARS,
    FIRE,
    GERMAN,
    MISSING,
    NHANES,
    NIST,
)
from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
    number_codes,
)

DOMAINS = [ACS, FIRE, NIST, ADULT, GERMAN, CONTRACEPTIVE, CREDIT, NHANES, FARS]


def test_sizes_are_the_published_ones() -> None:
    assert ACS.sizes == (10, 25, 5, 18, 2, 9, 5, 4, 5, 5, 2, 2, 2, 3, 2, 9)
    assert FIRE.sizes == (32, 15, 9, 28, 11, 46, 8, 2, 5, 5)
    assert ACS.names[:4] == ("AGEP", "SCHL", "MAR", "RELP")
    assert FIRE.names[0] == "Call Type" and FIRE.names[-1] == "Number of Alarms"


def test_every_acs_label_has_its_pums_value() -> None:
    for attribute in ACS:
        assert len(ACS_VALUES[attribute.name]) == attribute.size
        assert tuple(ACS_LABELS[attribute.name].values()) == attribute.labels
    assert ACS_VALUES["ANC"] == (1, 2, 3, 4, 8)
    assert ACS_VALUES["MAR"] == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("column", "value", "label"),
    [
        ("SEX", 2, "Female"),
        ("SCHL", 1, "No schooling completed"),
        ("SCHL", 4, "Grade 1"),
        ("SCHL", 14, "Grade 11"),
        ("SCHL", 16, "Regular high school diploma"),
        ("SCHL", 24, "Doctorate degree"),
        ("RELP", 0, "Reference person"),
        ("RELP", 17, "Noninstitutionalized group quarters population"),
        ("MIL", 4, "Never served in the military"),
        ("RAC1P", 6, "Asian alone"),
        ("ESP", 7, "Living with mother: mother in labor force"),
        ("AGEP", 9, "90 to 99"),
    ],
)
def test_known_meanings(column: str, value: int, label: str) -> None:
    assert ACS_LABELS[column][value] == label


def test_blank_is_code_zero_where_pums_leaves_one() -> None:
    blank = [a.name for a in ACS if ACS_BLANK in a.labels]
    assert blank == ["SCHL", "ESP", "MIG", "MIL", "DREM"]
    assert all(ACS[name].labels[0] == ACS_BLANK and ACS_VALUES[name][0] == 0 for name in blank)


def test_missing_comes_last_in_fire() -> None:
    columns = [a.name for a in FIRE if MISSING in a.labels]
    assert columns == ["City", "Zipcode of Incident", "Station Area", "Call Type Group"]
    assert all(FIRE[name].labels[-1] == MISSING for name in columns)


def test_ordinal_columns() -> None:
    assert [a.name for a in ACS if a.ordinal] == ["AGEP", "SCHL"]
    assert [a.name for a in FIRE if a.ordinal] == ["Zipcode of Incident", "Number of Alarms"]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.names[0])
def test_labels_are_plain_text(domain: Domain) -> None:
    for attribute in domain:
        assert attribute.size >= 2
        for text in (attribute.name, *attribute.labels):
            assert text.isprintable() and text == text.strip() and len(text) <= 100


def test_sizes_of_files_read_as_published() -> None:
    assert NIST.sizes == (20, 12, 2, 7, 5, 9, 7, 7, 3, 3, 20, 13, 19, 11, 11, 7, 3, 3, 2, 2)
    assert ADULT.sizes == (13, 9, 16, 7, 15, 6, 5, 2, 7, 6, 9, 42, 2)
    assert GERMAN.sizes == (4, 7, 5, 11, 8, 5, 5, 4, 4, 3, 4, 4, 10, 3, 3, 4, 4, 2, 2, 2, 2)
    assert CONTRACEPTIVE.sizes == (7, 4, 4, 8, 2, 2, 4, 4, 2, 3)
    assert (len(CREDIT), len(NHANES), len(FARS)) == (14, 25, 18)


def test_brackets_have_names_and_limits() -> None:
    edges = (0, 1, 1_000, 5_000)
    ages = Brackets(edges, name_brackets(*edges, last="1,000 or more"), {"N": "None"})
    assert ages.labels == ("None", "0", "1 to 999", "1,000 or more")
    assert [ages.label(text) for text in ("N", "0", "1", "999.5", "1e3", "5000")] == [
        *("None", "0", "1 to 999", "1 to 999", "1,000 or more", "1,000 or more")
    ]
    for text in ("-1", "5001", "", "nan", "inf", "ten"):
        with pytest.raises(DomainError, match="is not a number from 0 to 5000"):
            ages.label(text)
    with pytest.raises(DomainError, match="2 brackets need 3 increasing edges"):
        Brackets((0, 2, 1), ("a", "b"))


def test_codes_may_share_a_label() -> None:
    answers = Codes({"1": "Yes", "2": "No", "7": "Not known", "9": "Not known"})
    assert answers.labels == ("Yes", "No", "Not known") and answers.label("9") == "Not known"
    with pytest.raises(DomainError, match="'3' is not in the codebook; allowed: '1', '2'"):
        answers.label("3")
    assert number_codes(1, "a", "b").label("2") == "b"


def test_only_plain_brackets_are_declared_as_edges() -> None:
    plain = Brackets((0, 1, 2), ("a", "b"))
    domain = build_domain(
        {"plain": plain, "special": Brackets((0, 1, 2), ("a", "b"), {"N": "n"})}, {"plain"}
    )
    assert domain["plain"].edges == (0, 1, 2) and domain["special"].edges is None
    assert domain["plain"].ordinal and not domain["special"].ordinal
