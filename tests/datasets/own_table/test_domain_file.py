"""The domain file: strict, and every mistake is one line that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reconbench.datasets.atomic_files import write_json_atomic
from reconbench.datasets.domain import Attribute, Domain, binned
from reconbench.datasets.own_table import domain_file, read_domain

Save = Callable[..., Path]
Refused = Callable[..., None]

PETS = Domain((Attribute("pet", ("cat", "dog", "=1+1")), binned("age", [0, 5, 10])))


def test_domain_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    write_json_atomic(path, PETS.to_json())
    assert read_domain(path) == PETS
    assert [p.name for p in tmp_path.iterdir()] == ["d.json"]


def test_domain_with_bom_notes_and_false_draft(saved: Save) -> None:
    text = json.dumps(PETS.to_json() | {"notes": ["mine"], "draft": False})
    assert read_domain(saved(b"\xef\xbb\xbf" + text.encode())) == PETS


ONE = '{"attributes": [{"name": "a", "labels": ["x"]%s}]}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON: .* at line 1, column 1"),
        ('{"attributes": [', "not valid JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "must be"),
        ('{"attributes": {}}', "must be"),
        ('{"attributes": []}', "at least one attribute"),
        ('{"attributes": [], "attributes": []}', "'attributes' is given twice"),
        (ONE % ', "lables": []', "unknown key 'lables'"),
        (ONE[:-1] % "" + ', "extra": 1}', "unknown key 'extra'; allowed: attributes, missing"),
        (ONE[:-1] % "" + ', "draft": true}', "draft.*publicly known.*delete"),
        (ONE[:-1] % "" + ', "draft": "no"}', "draft"),
        ('{"attributes": [{"name": "a", "labels": ["x", "x"]}]}', "label 'x' twice"),
        ('{"attributes": [{"name": "a", "labels": [1]}]}', "every label must be text"),
        ('{"attributes": [{"name": "a", "labels": [""]}]}', "'' is not usable"),
        ('{"attributes": [{"name": "a", "labels": ["x\\u001b[2J"]}]}', "not usable"),
        ('{"attributes": [{"name": "a\\nb", "labels": ["x"]}]}', "not usable"),
        ('{"attributes": [{"name": "a", "labels": ["%s"]}]}' % ("x" * 5000), "not usable"),
        ('{"attributes": [{"name": "a", "edges": [0, 1%s]}]}' % ("0" * 400), "too large"),
        ('{"attributes": [{"name": "a", "edges": [0, 1%s]}]}' % ("0" * 9000), "limit"),
        ('{"attributes": [{"name": "a", "edges": [0, NaN]}]}', "finite and increasing"),
        ('{"attributes": [{"name": "a", "edges": [3, 1]}]}', "finite and increasing"),
    ],
)
def test_bad_domain_files(saved: Save, refused: Refused, content: str | bytes, reason: str) -> None:
    path = saved(content, "d.json")
    refused(path, reason, lambda: read_domain(path))


def test_domain_file_that_cannot_be_read(
    tmp_path: Path, saved: Save, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(tmp_path, "cannot read", lambda: read_domain(tmp_path))
    missing = tmp_path / "none.json"
    refused(missing, "No such file", lambda: read_domain(missing))
    monkeypatch.setattr(domain_file, "MAX_BYTES", 10)
    big = saved(ONE % "")
    refused(big, "larger than", lambda: read_domain(big))


def test_names_with_numbers_of_values_as_for_aim_and_mst(saved: Save) -> None:
    domain = read_domain(saved('{"age": 3, "sex": 2, "notes": 1}', "d.json"))
    assert domain.names == ("age", "sex", "notes") and domain.sizes == (3, 2, 1)
    assert domain["age"].labels == ("0", "1", "2") and not domain["age"].ordinal
    listed = read_domain(saved('{"sex": ["F", "M"], "size": [1, 2, 5], "age": 2}', "l.json"))
    assert [a.labels for a in listed] == [("F", "M"), ("1", "2", "5"), ("0", "1")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "must be"),
        ('{"age": 0, "sex": 2}', "'age' has 0 values; allowed: 1 to"),
        ('{"age": 100001}', "'age' has 100001 values"),
        ('{"age": true}', "must be"),
        ('{"age": 3.5}', "must be"),
        ('{"age": 3, "sex": "two"}', "must be"),
        ('{"age": []}', "no labels"),
        ('{"age": ["a", "a"]}', "label 'a' twice"),
        ('{"age": 3, "": 2}', "needs a non-empty name"),
        ('{"atributes": []}', "no labels"),
    ],
)
def test_bad_numbers_of_values(saved: Save, refused: Refused, content: str, reason: str) -> None:
    path = saved(content, "d.json")
    refused(path, reason, lambda: read_domain(path))


def test_rules_round_trip(tmp_path: Path) -> None:
    raw = {
        "missing": {"codes": ["", -99], "label": "NA"},
        "leave_out": ["id"],
        "attributes": [
            {"name": "sex", "labels": ["F", "M"]},
            {"name": "age", "edges": [0, 18, 120]},
            {"name": "pay", "edges": [0, 1], "missing": {"codes": ["?"], "drop": True}},
            {"name": "job", "groups": {"health": ["nurse", "doctor"]}, "other": "else"},
            {"name": "size", "labels": ["S", "M"], "ordinal": True, "missing": False},
        ],
    }
    path = tmp_path / "d.json"
    write_json_atomic(path, raw)
    domain = read_domain(path)
    assert domain["sex"].labels == ("F", "M", "NA")
    assert domain["age"].labels == ("[0, 18)", "[18, 120]", "NA") and not domain["age"].ordinal
    assert domain["pay"].labels == ("[0, 1]",) and domain["pay"].ordinal
    assert domain["job"].labels == ("health", "else", "NA")
    assert domain["size"].labels == ("S", "M") and domain.left_out == ("id",)
    again = Domain.from_json(domain.to_json())
    assert again == domain and again.left_out == domain.left_out
    assert [a.recoding for a in again] == [a.recoding for a in domain]


def test_how_a_table_is_read_is_no_part_of_what_it_is() -> None:
    """A prior fitted with one set of rules goes with a table read by another."""
    plain = Domain.from_json({"attributes": [{"name": "a", "labels": ["x", "NA"]}]})
    coded = Domain.from_json(
        {
            "attributes": [
                {"name": "a", "labels": ["x"], "missing": {"codes": [""], "label": "NA"}}
            ],
            "leave_out": ["b"],
        }
    )
    assert plain == coded and plain.canonical() == coded.canonical()
    assert plain["a"].recoding != coded["a"].recoding


RULE = '{"attributes": [{"name": "a", "labels": ["x", "y"], %s}]}'


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ('"missing": true', "'a': 'missing' must be an object such as"),
        ('"missing": {"codes": [""]}', "either a 'label' .* or \"drop\": true"),
        ('"missing": {"codes": [""], "label": "NA", "drop": true}', "either a 'label'"),
        ('"missing": {"codes": [], "drop": true}', "needs 'codes'"),
        ('"missing": {"codes": "N", "drop": true}', "list of texts and whole numbers"),
        ('"missing": {"codes": [1.5], "drop": true}', "list of texts and whole numbers"),
        ('"missing": {"codes": [""], "lable": "NA"}', "unknown key 'lable'"),
        ('"missing": {"codes": ["x"], "label": "NA"}', "'x' is both a label and a code"),
        ('"missing": {"codes": [""], "label": "\\u0007"}', "not usable"),
        ('"missing": {"codes": [""], "label": "NA"}, "ordinal": true', "ordinal, and its label"),
        ('"groups": ["x"]', "'groups' must be an object"),
        ('"groups": {"z": ["q"]}', "'z', which is not a label"),
        ('"groups": {"x": ["q"], "y": ["q"]}', "the value 'q' twice"),
        ('"groups": {"x": ["y"]}', "'y' is both a label and in a group"),
        ('"groups": {"x": ["?"]}, "missing": {"codes": ["?"], "drop": true}', "both a missing"),
        ('"other": 5', "'other' must be the label"),
        ('"mising": {}', "unknown key 'mising'"),
    ],
)
def test_bad_rules(saved: Save, refused: Refused, rule: str, reason: str) -> None:
    path = saved(RULE % rule, "d.json")
    refused(path, reason, lambda: read_domain(path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('"leave_out": "id"', "'leave_out' must be a list of names"),
        ('"leave_out": ["a"]', "'a' is declared and left out"),
        ('"leaveout": ["b"]', "unknown key 'leaveout'.*did you mean 'leave_out'"),
        ('"missing": {"drop": true}', "'codes' of 'missing' must be a list"),
    ],
)
def test_bad_rules_of_the_whole_file(
    saved: Save, refused: Refused, content: str, reason: str
) -> None:
    path = saved("{" + content + ', "attributes": [{"name": "a", "labels": ["x"]}]}', "d.json")
    refused(path, reason, lambda: read_domain(path))


def test_bins_have_neither_groups_nor_others(saved: Save, refused: Refused) -> None:
    for rule in ('"other": "[0, 1]"', '"groups": {"[0, 1]": ["a"]}'):
        path = saved(RULE.replace('"labels": ["x", "y"]', '"edges": [0, 1]') % rule, "d.json")
        refused(path, "bins have no 'groups'", lambda path=path: read_domain(path))
