"""The codebooks hold the published schemas."""

import pytest

from reconbench.datasets.shipped.codebooks import (
    ACS,
    ACS_BLANK,
    ACS_LABELS,
    ACS_VALUES,
    FIRE,
    MISSING,
)


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


def test_labels_are_plain_text() -> None:
    for attribute in (*ACS, *FIRE):
        assert all(label.isprintable() and label == label.strip() for label in attribute.labels)
