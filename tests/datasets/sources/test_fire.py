"""The FIRE loader, on small files of the export's schema."""

import csv
from pathlib import Path
from typing import NoReturn
from urllib.error import URLError

import numpy as np
import pytest

from reconbench.datasets.domain import DomainError
from reconbench.datasets.shipped.codebooks import FIRE
from reconbench.datasets.sources import SourceError, _csv, load_fire

CALL = {
    "Call Number": "160010001", "Unit ID": "E36", "Call Type": "Medical Incident",
    "Call Final Disposition": "Code 2 Transport", "City": "San Francisco",
    "Zipcode of Incident": "94102", "Battalion": "B02", "Station Area": "36",
    "Original Priority": "3", "Priority": "3", "Final Priority": "3", "ALS Unit": "true",
    "Call Type Group": "Potentially Life-Threatening", "Number of Alarms": "1",
    "Location": "(37.77, -122.42)", "RowID": "160010001-E36",
}  # fmt: skip


def export(tmp_path: Path, *calls: dict[str, str], rename: bool = False) -> Path:
    path = tmp_path / "calls.csv"
    with path.open("w", newline="") as out:
        names = [n.lower().replace(" ", "_") if rename else n for n in CALL]
        csv.writer(out).writerow(names)
        csv.writer(out).writerows([(CALL | call).values() for call in calls])
    return path


def test_ten_columns_with_the_shipped_domain(tmp_path: Path) -> None:
    table = load_fire(export(tmp_path, {}, {"Station Area": "01", "City": ""}), domain=FIRE)
    labels = table.to_pandas()
    assert table.domain == FIRE
    assert list(labels["Station Area"]) == ["36", "01"]
    assert list(labels["City"]) == ["San Francisco", "NA"]
    assert list(labels["ALS Unit"]) == ["true", "true"]


def test_domain_is_what_is_found(tmp_path: Path) -> None:
    zips = ["94158", "94102", "", "94999"]
    calls = [{"Zipcode of Incident": z, "ALS Unit": "FALSE"} for z in zips]
    table = load_fire(export(tmp_path, *calls))
    assert table.domain["Zipcode of Incident"].labels == ("94102", "94158", "94999", "NA")
    assert table.domain["Zipcode of Incident"].ordinal
    assert table.domain["ALS Unit"].labels == ("false",)
    assert table.column("Zipcode of Incident").tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize(
    ("spelled", "city"),
    [("SAN FRANCISCO", "San Francisco"), ("SF", "San Francisco"), ("sf", "San Francisco"),
     ("San Francisco", "San Francisco"), ("HP", "Hunters Point"), ("TI", "Treasure Isla"),
     ("TREASURE ISLAND", "Treasure Isla"), ("Treasure Isla", "Treasure Isla"),
     ("DC", "Daly City"), ("YB", "Yerba Buena"), ("YERBA BUENA IS", "Yerba Buena"),
     ("PR", "Presidio"), (' FM"', "Fort Mason"), ("BN", "Brisbane"), ("  ", "NA"), ("", "NA")],
)  # fmt: skip
def test_city_spellings(tmp_path: Path, spelled: str, city: str) -> None:
    table = load_fire(export(tmp_path, {"City": spelled}), domain=FIRE)
    assert table.to_pandas()["City"][0] == city


def test_values_outside_the_domain(tmp_path: Path) -> None:
    path = export(tmp_path, {}, {"City": "Oakland"}, {"Priority": ""}, {"City": "OAK"})
    with pytest.raises(SourceError) as caught:
        load_fire(path, domain=FIRE)
    assert str(caught.value) == (
        f"{path} has 3 of 4 records with values outside the domain "
        "(City: 'OAK', 'Oakland'; Priority: 'NA'); "
        "drop them with drop_unknown=True, or load without a domain"
    )
    with pytest.warns(UserWarning, match="dropped 3 of 4 records"):
        assert len(load_fire(path, domain=FIRE, drop_unknown=True)) == 1


def test_chunks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    calls = [{"Battalion": f"B{i:02}"} for i in rng.integers(1, 11, size=100)]
    path = export(tmp_path, *calls)
    whole = load_fire(path, domain=FIRE)
    monkeypatch.setattr(_csv, "CHUNK_ROWS", 7)
    assert load_fire(path, domain=FIRE) == whole
    assert [FIRE["Battalion"].labels[c] for c in whole.column("Battalion")] == [
        call["Battalion"] for call in calls
    ]
    assert np.array_equal(load_fire(path, domain=FIRE, limit=9).codes, whole.codes[:9])


def test_api_names_are_the_same_columns(tmp_path: Path) -> None:
    plain = load_fire(export(tmp_path, {}, {"City": "TI"}), domain=FIRE)
    assert load_fire(export(tmp_path, {}, {"City": "TI"}, rename=True), domain=FIRE) == plain


def test_crlf_bom_and_quotes(tmp_path: Path) -> None:
    path = export(tmp_path, {"Location": 'a "quoted", name\nover two lines'}, {})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(load_fire(path, domain=FIRE)) == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n", "no column 'Call Type'"),
        (",".join(CALL).encode() + b"\n", "no records"),
        (",".join(CALL).encode() + b"\n1,2\n", "line 2 has 2 cells, the header has 16"),
        (",".join(CALL).encode() + b"\n\xff\xfe\n", "not UTF-8"),
        (b"a\0b,c\n", "NUL byte"),
        (b"City,City\n", "duplicate column 'City'"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "calls.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=f"cannot read .*{reason}") as caught:
        load_fire(path)
    assert "\n" not in str(caught.value)


def test_too_many_values(tmp_path: Path) -> None:
    calls = [{"Call Type": str(i)} for i in range(10_001)]
    with pytest.raises(SourceError, match="'Call Type' has more than 10000 distinct values"):
        load_fire(export(tmp_path, *calls))


def test_arguments(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="limit must be at least 1"):
        load_fire(export(tmp_path, {}), limit=0)
    with pytest.raises(DomainError, match="the domain must have the columns Call Type"):
        load_fire(export(tmp_path, {}), domain=FIRE.project(["City"]))
    with pytest.raises(SourceError, match="No such file"):
        load_fire(tmp_path / "none.csv")


def test_offline(tmp_path: Path) -> None:
    def opener(url: str, timeout: float) -> NoReturn:
        raise URLError("no network")

    with pytest.raises(SourceError, match=r"cannot download https://data\.sfgov\.org/.*--file"):
        load_fire(cache_dir=tmp_path, opener=opener)
