"""The ACS loader, on small files of the PUMS schema."""

import csv
import io
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from reconbench.datasets.shipped.codebooks import ACS, ACS_BLANK, ACS_VALUES
from reconbench.datasets.sources import SourceError, _pums_files, load_acs
from reconbench.datasets.sources import acs as acs_module

ADULT = {
    "RT": "P", "SERIALNO": "2018HU0000001", "AGEP": "47", "SCHL": "21", "MAR": "1", "RELP": "00",
    "DIS": "2", "ESP": "", "CIT": "1", "MIG": "1", "MIL": "4", "ANC": "1", "NATIVITY": "1",
    "DEAR": "2", "DEYE": "2", "DREM": "2", "SEX": "2", "RAC1P": "6", "PWGTP": "95",
}  # fmt: skip
BABY = ADULT | {
    "AGEP": "0", "SCHL": "", "MAR": "5", "RELP": "2", "ESP": "1", "MIG": "", "MIL": "",
    "ANC": "8", "DREM": "",
}  # fmt: skip


def pums(*people: dict[str, str]) -> str:
    """A PUMS person file: the columns of the task among others, in another order."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=sorted(ADULT), lineterminator="\n")
    writer.writeheader()
    writer.writerows(people)
    return out.getvalue()


def zipped(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def plain(tmp_path: Path, *people: dict[str, str]) -> Path:
    path = tmp_path / "psam_p06.csv"
    path.write_text(pums(*people))
    return path


def test_values_become_codes(tmp_path: Path) -> None:
    members = {"ACS2018_PUMS_README.pdf": "x", "psam_p06.csv": pums(ADULT, BABY)}
    path = zipped(tmp_path / "csv_pca.zip", members)
    table = load_acs("CA", 2018, file=path)
    assert table.domain == ACS
    labels = table.to_pandas()
    assert list(labels["AGEP"]) == ["40 to 49", "0 to 9"]
    assert list(labels["SCHL"]) == ["Bachelor's degree", ACS_BLANK]
    assert list(labels["RELP"]) == ["Reference person", "Biological son or daughter"]
    assert list(labels["ANC"]) == ["Single ancestry", "Suppressed for select PUMAs"]
    assert list(labels["DREM"]) == ["Without cognitive difficulty", ACS_BLANK]
    values = [ACS_VALUES[name][code] for name, code in zip(ACS.names, table.codes[0], strict=True)]
    assert values == [4, 21, 1, 0, 2, 0, 1, 1, 4, 1, 1, 2, 2, 2, 2, 6]


def test_nobody_is_filtered_out(tmp_path: Path) -> None:
    people = [BABY, ADULT | {"AGEP": "16"}, ADULT | {"AGEP": "99", "PWGTP": "0"}]
    assert len(load_acs(file=plain(tmp_path, *people))) == 3


def test_zip_and_csv_agree_and_floats_are_values(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"psam_p30.csv": pums(ADULT)})
    floats = ADULT | {"SCHL": "21.0", "MIL": "4.0"}
    assert load_acs("mt", file=path) == load_acs("MT", file=plain(tmp_path, floats))


def test_older_years_name_the_member_otherwise(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"ss16pmt.csv": pums(ADULT)})
    assert len(load_acs("MT", 2016, file=path)) == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [("SCHL", "25"), ("SEX", ""), ("RELP", ""), ("AGEP", "100"), ("AGEP", "-1"), ("MAR", "x"),
     ("CIT", "1.5"), ("RAC1P", "inf"), ("SEX", "=1+1"), ("ANC", "5")],
)  # fmt: skip
def test_value_outside_the_dictionary(tmp_path: Path, column: str, value: str) -> None:
    path = plain(tmp_path, ADULT | {column: value})
    with pytest.raises(SourceError, match=f"column '{column}' has the value") as caught:
        load_acs(file=path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_file_of_2019_or_later(tmp_path: Path) -> None:
    path = tmp_path / "psam_p06.csv"
    path.write_text(pums(ADULT).replace("RELP", "RELSHIPP"))
    with pytest.raises(SourceError, match=r"no column 'RELP'.*RELSHIPP.*2018"):
        load_acs(file=path)
    with pytest.raises(SourceError, match=r"year 2019 is not supported; allowed: 2014 to 2018"):
        load_acs("CA", 2019)


def test_unknown_state() -> None:
    with pytest.raises(SourceError, match="unknown state 'XX'"):
        load_acs("XX")


def test_states() -> None:
    assert len(acs_module.STATES) == 52
    assert acs_module.STATES["CA"] == "06" and acs_module.STATES["PR"] == "72"


def test_zip_without_the_member(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"../../psam_p06.csv": pums(ADULT), "x.txt": ""})
    with pytest.raises(SourceError, match=r"no 'psam_p06\.csv'.*give the state and year"):
        load_acs(file=path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.zip"]


def test_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip", {"psam_p06.csv": "0" * 100_000})
    monkeypatch.setattr(_pums_files, "MAX_CSV_BYTES", 99_999)
    with pytest.raises(SourceError, match="unpacks to 100000 bytes, more than 99999"):
        load_acs(file=path)


def people_of(*states: str) -> str:
    """A person file whose records say their state, as all real ones do; ages tell them apart."""
    people = [ADULT | {"ST": state, "AGEP": str(10 * age)} for age, state in enumerate(states)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=["ST", *sorted(ADULT)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(people)
    return out.getvalue()


def test_zip_as_the_census_bureau_serves_it(tmp_path: Path) -> None:
    """A PDF beside the CSV, or all of it in a folder; other cases of letters."""
    for name in ("psam_p06.csv", "csv_pca/psam_p06.csv", "PSAM_P06.CSV"):
        members = {"csv_pca/": "", "ACS2018_PUMS_README.pdf": "%PDF-1.5", name: people_of("06")}
        path = zipped(tmp_path / "csv_pca.zip", members)
        assert len(load_acs("CA", file=path)) == 1


def test_the_national_file_comes_in_parts(tmp_path: Path) -> None:
    members = {
        "psam_pusb.csv": people_of("30", "06", "30"),
        "psam_pusa.csv": people_of("01", "06"),
        "ACS2018_PUMS_README.pdf": "x",
    }
    path = zipped(tmp_path / "csv_pus.zip", members)
    # The parts in their order, records of other states left out.
    assert list(load_acs("CA", file=path).to_pandas()["AGEP"]) == ["10 to 19", "10 to 19"]
    assert list(load_acs("MT", file=path).to_pandas()["AGEP"]) == ["0 to 9", "20 to 29"]
    assert len(load_acs("AL", file=path)) == 1
    with pytest.raises(SourceError, match=r"no records of NY; it has those of AL, CA, MT: give"):
        load_acs("NY", file=path)
    older = zipped(
        tmp_path / "b.zip", {"ss16pusa.csv": people_of("6"), "ss16pusb.csv": pums(ADULT)}
    )
    with pytest.raises(SourceError, match="no column 'ST'"):
        load_acs("CA", 2016, file=older)


def test_the_states_own_file_comes_before_the_national_one(tmp_path: Path) -> None:
    members = {"psam_p06.csv": people_of("06"), "psam_pusa.csv": people_of("06", "06")}
    assert len(load_acs("CA", file=zipped(tmp_path / "a.zip", members))) == 1


def test_records_of_other_states_are_left_out_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "psam_pusa.csv"
    path.write_text(people_of("01", "6", "06", "30"))
    assert list(load_acs("CA", file=path).to_pandas()["AGEP"]) == ["10 to 19", "20 to 29"]
    with pytest.raises(SourceError, match=r"no records of WY; it has those of AL, CA, MT: give"):
        load_acs("WY", file=path)


def test_a_value_of_another_state_is_not_looked_up(tmp_path: Path) -> None:
    path = tmp_path / "psam_pusa.csv"
    path.write_text(people_of("06", "30").replace(",10,", ",400,"))
    assert len(load_acs("CA", file=path)) == 1
    with pytest.raises(SourceError, match="column 'AGEP' has the value '400'"):
        load_acs("MT", file=path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"psam_h06.csv": "x"}, r"no 'psam_p06\.csv' \(it has 'psam_h06\.csv'\).*not the one of h"),
        ({"psam_p30.csv": "x"}, r"no 'psam_p06\.csv' \(it has 'psam_p30\.csv'\); give the state"),
        ({"__MACOSX/._psam_p06.csv": "x"}, r"no 'psam_p06\.csv'"),
        ({"psam_p06.csv.txt": "x"}, r"no 'psam_p06\.csv' \(it has no CSV\)"),
        ({"psam_p06.csv/": "", "x.csv": "x"}, r"no 'psam_p06\.csv'"),
        ({"a/psam_p06.csv": "x", "b/psam_p06.csv": "x"}, r"'psam_p06\.csv' more than once"),
        ({"psam_pusa.csv": "x", "b/psam_pusa.csv": "x"}, r"'psam_pusa\.csv' more than once"),
        ({"psam_p06.csv": ""}, r"it is empty; its first line must name the columns"),
    ],
)  # fmt: skip
def test_members_that_are_not_the_file(
    tmp_path: Path, members: dict[str, str], message: str
) -> None:
    path = zipped(tmp_path / "a.zip", members)
    with pytest.raises(SourceError, match=message) as caught:
        load_acs(file=path)
    assert "\n" not in str(caught.value) and [p.name for p in tmp_path.iterdir()] == ["a.zip"]


def test_an_encrypted_member(tmp_path: Path) -> None:
    """Both headers of the member say so: bit 0 of its flags."""
    path = zipped(tmp_path / "a.zip", {"psam_p06.csv": pums(ADULT)})
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"'psam_p06\.csv' is encrypted; unpack it") as caught:
        load_acs(file=path)
    assert "\n" not in str(caught.value)


def test_bombs_in_parts_and_a_size_that_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {f"psam_pus{part}.csv": "0" * 60_000 for part in "ab"}
    path = zipped(tmp_path / "a.zip", parts)
    monkeypatch.setattr(_pums_files, "MAX_CSV_BYTES", 99_999)
    with pytest.raises(SourceError, match="and 1 more unpack to 120000 bytes, more than 99999"):
        load_acs(file=path)
    path = zipped(tmp_path / "b.zip", {"psam_p06.csv": "0" * 1_000_000})
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 24 : central + 28] = (100).to_bytes(4, "little")  # the declared size
    path.write_bytes(content)
    with pytest.raises(SourceError, match="cannot read"):
        load_acs(file=path)


def test_an_archive_of_very_many_members(tmp_path: Path) -> None:
    members = {f"{number}.csv": "" for number in range(_pums_files.MAX_MEMBERS)}
    path = zipped(tmp_path / "a.zip", members | {"psam_p06.csv": pums(ADULT)})
    with pytest.raises(SourceError, match="1,001 members, more than 1,000"):
        load_acs(file=path)


def test_broken_files(tmp_path: Path) -> None:
    not_zip = tmp_path / "a.zip"
    not_zip.write_bytes(b"not a zip")
    with pytest.raises(SourceError, match="not a zip"):
        load_acs(file=not_zip)
    path = zipped(tmp_path / "b.zip", {"psam_p06.csv": pums(*[ADULT] * 50)})
    content = bytearray(path.read_bytes())
    content[60:80] = b"\xff" * 20
    path.write_bytes(content)
    with pytest.raises(SourceError, match="cannot read"):
        load_acs(file=path)
    with pytest.raises(SourceError, match="No such file"):
        load_acs(file=tmp_path / "none.csv")
    with pytest.raises(SourceError, match="directory"):
        load_acs(file=tmp_path)


def test_truncated_last_line(tmp_path: Path) -> None:
    path = plain(tmp_path, ADULT, BABY)
    path.write_text(path.read_text()[:-12])
    with pytest.raises(SourceError, match=r"line 3 has \d+ cells, the header has 19"):
        load_acs(file=path)


def test_download_goes_to_the_census_bureau(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "served.zip", {"psam_p30.csv": pums(ADULT)})
    asked = []

    class Answer(io.BytesIO):
        headers = Message()

    def opener(url: str, timeout: float) -> Answer:
        asked.append(url)
        return Answer(archive.read_bytes())

    for _ in range(2):
        assert len(load_acs("MT", cache_dir=tmp_path / "cache", opener=opener)) == 1
    assert asked == [
        "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/csv_pmt.zip"
    ]
