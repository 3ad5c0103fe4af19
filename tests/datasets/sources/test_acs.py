"""The ACS loader, on small files of the PUMS schema."""

import csv
import io
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from reconbench.datasets.shipped.codebooks import ACS, ACS_BLANK, ACS_VALUES
from reconbench.datasets.sources import SourceError, load_acs
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
    monkeypatch.setattr(acs_module, "MAX_CSV_BYTES", 99_999)
    with pytest.raises(SourceError, match="unpacks to 100000 bytes, more than 99999"):
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
