"""The pages: links, escaping, history, and the commands that reproduce a number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.result import Result, Status
from reconbench.reports.website.code_versions import split_versions
from reconbench.reports.website.commands import write_assess_command, write_game_command
from reconbench.reports.website.content import (
    Assessment,
    ResultFolder,
    SiteContent,
    SiteError,
    StoredRow,
    make_slug,
)
from reconbench.reports.website.pages import percent, plan_pages, show
from reconbench.reports.website.prepared import PreparedSuite

from .conftest import Write, check_links, read_pages, rename

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>/../../etc/\u202epasswd {{ 7*7 }}'


def test_every_link_leads_to_a_page(folder: ResultFolder, write: Write) -> None:
    site = write(SiteContent("Results", (folder,)))
    assert check_links(site) > 50
    names = {path.relative_to(site).parts[0] for path in site.rglob("*") if path.is_file()}
    expected = {"index.html", "history.html", "site.css", "site.json"}
    assert names == expected | {"suites", "attacks", "datasets", "numbers"}
    for path, page in read_pages(site).items():
        if path.name != "leaderboard.html":
            assert "script" not in page.tags and "style" not in page.tags
            assert page.tags.count("h1") == 1 and "main" in page.tags


def test_the_same_content_gives_the_same_bytes(folder: ResultFolder, write: Write) -> None:
    def read(site: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(site)): path.read_bytes()
            for path in site.rglob("*")
            if path.is_file()
        }

    finished_otherwise = replace(folder, rows=folder.rows[::-1])
    first, second, third = (
        read(write(SiteContent("Results", (each,)), name))
        for each, name in ((folder, "a"), (folder, "b"), (finished_otherwise, "c"))
    )
    assert first == second == third


def test_hostile_names_stay_text(folder: ResultFolder, write: Write, tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "attack": HOSTILE,
        "dataset": HOSTILE,
        "mechanism": HOSTILE,
        "targets": (HOSTILE,),
        "versions": {HOSTILE: HOSTILE},
        "kernels": {HOSTILE: HOSTILE},
    }
    hostile = rename(replace(folder, name=HOSTILE, suite=HOSTILE, description=HOSTILE), **changes)
    site = write(SiteContent(HOSTILE, (hostile, folder)))
    check_links(site)
    for path, page in read_pages(site).items():
        assert "img" not in page.tags and "\u202e" not in path.read_text(encoding="utf-8")
        if path.name != "leaderboard.html":
            assert "script" not in page.tags and "alert(1)" in page.text
        assert all(part.isascii() and ".." not in part for part in path.relative_to(site).parts)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["", "..", "/", "ä", "a/b", "CON", "x" * 300, "\ud800", "a\0b"])
def test_slugs_are_plain_and_different(name: str) -> None:
    slug = make_slug(name)
    assert slug.isascii() and len(slug) < 60 and not set(slug) & set("/\\.\0 ")
    assert slug != make_slug(f"{name}!")


def make_version(folder: ResultFolder, code: str, number: str, gain: int) -> list[StoredRow]:
    """The averaging rows of a folder as another version of the code would have played them."""
    return [
        StoredRow(
            f"{code}{stored.key[4:]}",
            code * 16,
            replace(
                stored.row,
                successes=(stored.row.successes or 0) + gain,
                expected_successes=None,
                expected_baseline=None,
                scored_by="",
                versions={**stored.row.versions, "reconbench": number},
            ),
        )
        for stored in folder.rows
        if stored.row.attack == "averaging"
    ]


def test_history_shows_how_a_standing_changed(folder: ResultFolder, write: Write) -> None:
    own = [stored for stored in folder.rows if stored.row.attack == "prior"]
    old = make_version(folder, "aaaa", "0.9.0", 0)
    new = make_version(folder, "bbbb", "0.10.0", 3)
    # The newer version comes first in the store, as after a merge.
    mixed = replace(folder, rows=(*new, *own, *old))
    suite = PreparedSuite(mixed)
    first, second = (line for line in suite.history if line.version.attack == "averaging")
    assert [first.version.code[:4], second.version.code[:4]] == ["aaaa", "bbbb"]
    assert first.change is None and second.version.newest and not first.version.newest
    assert second.change is not None
    assert second.change.mean == pytest.approx(10.0) and second.change.rows == 2
    assert second.change.low == pytest.approx(10.0)
    assert suite.older == 2 and {stored.code[:4] for stored in suite.newest} == {"bbbb", "c0de"}
    site = write(SiteContent("Results", (mixed,)))
    text = read_pages(site)[site / "history.html"].text
    assert "0.9.0, code aaaaaaaa" in text and "superseded" in text
    assert "+10.00 (+10.00 to +10.00), 2 rows" in text
    assert "2 rows of older code versions" in read_pages(site)[site / "index.html"].text
    check_links(site)


def test_versions_of_one_number_keep_the_order_of_the_store(folder: ResultFolder) -> None:
    rows = [*make_version(folder, "bbbb", "0.1.0", 0), *make_version(folder, "aaaa", "0.1.0", 0)]
    (versions,) = split_versions(rows).values()
    assert [version.code[:4] for version in versions] == ["bbbb", "aaaa"]
    assert versions[0].gain is not None and len(versions[0].standings) == 1
    alone = versions[1].compare(replace(versions[0], rows=()))
    assert alone is None


def test_a_number_page_says_how_to_reproduce_it(folder: ResultFolder, write: Write) -> None:
    row = folder.rows[0].row
    columns = {row.data_hash: (*row.known, "SEX")}
    site = write(SiteContent("Results", (folder,), columns=columns, shipped=frozenset({"small"})))
    pages = [page.text for path, page in read_pages(site).items() if "numbers" in path.parts]
    (text,) = (text for text in pages if "--attack averaging" in text)
    assert "reconbench game --dataset acs --targets SEX --epsilon 3 --n 30 --attack" in text
    assert "--seed 0 --reps 2 --json" in text and "reconbench run small --seed 0 --reps 2" in text
    for stored in folder.rows:
        assert (stored.key in text) == (stored.row.attack == "averaging")
    assert row.versions["numpy"] in text and "c0de" * 16 in text and "store key" in text


def test_games_that_cannot_be_played_alone_have_no_command(folder: ResultFolder) -> None:
    stored = folder.rows[0]
    columns = {stored.row.data_hash: (*stored.row.known, "SEX")}

    def command(**changes: Any) -> str | None:
        return write_game_command(replace(stored, row=replace(stored.row, **changes)), 2, columns)

    assert command() is not None
    assert command(attacker_prior="marginals") is None
    assert command(known=stored.row.known[1:]) is None
    assert command(data_hash="0" * 64) is None
    options = command(
        delta=1e-6,
        epsilon=float("inf"),
        mechanism="exact-marginals",
        metric="l1:1",
        adversary="informed",
        advantage=2,
        attack_options={"a b": "c"},
    )
    assert options is not None
    for part in (
        "--epsilon inf",
        "--delta 9.9999999999999995e-07",
        "--mechanism gaussian-marginals",
        "--metric l1:1",
        "--adversary informed",
        "--advantage 2",
        "--option 'a b=\"c\"'",
    ):
        assert part in options, options


def test_failed_skipped_and_missing_rows_are_shown(folder: ResultFolder, write: Write) -> None:
    broken: dict[str, Any] = {"successes": None, "ceilings": {}, "run_tail": None}
    broken |= {"expected_successes": None, "expected_baseline": None, "scored_by": ""}
    failed = rename(folder, status=Status.FAILED, error="it broke", **broken)
    site = write(SiteContent("Results", (failed, replace(folder, name="empty", rows=()))))
    check_links(site)
    texts = "".join(page.text for page in read_pages(site).values())
    assert "failed: it broke" in texts and "No rows yet." in texts


def test_an_empty_site_says_so(write: Write) -> None:
    site = write(SiteContent("Results"))
    assert "No suites." in read_pages(site)[site / "index.html"].text
    check_links(site)


ASSESSMENT: dict[str, Any] = {
    "format": "reconbench-assessment/1",
    "source": {
        "table": "people.csv",
        "records": 200,
        "prior": "prior.bif",
        "fitted": True,
        "left_out": [],
        "release": None,
    },
    "targets": ["MAR"],
    "known": ["AGEP", "SEX"],
    "question": {
        "epsilon": 1.0,
        "delta": 1e-5,
        "k": 3,
        "metric": "exact",
        "max_risk": 0.1,
        "measure": "advantage",
        "threshold": 10,
        "reps": 2,
        "seed": 7,
        "attacks": ["prior", "posterior"],
    },
    "budgets": [
        {
            "epsilon": "inf",
            "guarantee": "none <b>",
            "prior_real": 0.5,
            "attacks": [{"attack": "posterior", "real": {"value": 0.75, "margin": 0.1}}],
            "ceiling": None,
        }
    ],
    "proved": [{"scope": "mean", "epsilon": 6.5, "why_not": None}],
    "versions": {"reconbench": "0.1.0"},
}


def test_a_site_with_an_assessment_is_confidential(folder: ResultFolder, write: Write) -> None:
    assessment = Assessment.from_json("ours", ASSESSMENT)
    site = write(SiteContent("Results", (folder,), assessments=(assessment,)))
    check_links(site)
    pages = read_pages(site)
    for path, page in pages.items():
        if path.name != "leaderboard.html":
            assert "Do not publish it." in page.text
    (text,) = (page.text for path, page in pages.items() if "assessments" in path.parts)
    assert "75.0 % ± 10.0 %" in text and "none <b>" in text and "6.5" in text
    assert "reconbench assess people.csv --domain domain.json --targets MAR" in text
    released = {
        **ASSESSMENT,
        "source": {**ASSESSMENT["source"], "release": "r.csv", "fitted": False},
    }
    command = write_assess_command(Assessment.from_json("ours", released).document)
    assert command.startswith(
        "reconbench assess --release r.csv --truth people.csv --prior prior.bif"
    )
    assert "--reps" not in command


def test_assessments_of_synthetic_tables_can_be_made_again() -> None:
    planned = {
        **ASSESSMENT,
        "question": {**ASSESSMENT["question"], "k": None},
        "mechanism": {
            "name": "pgm",
            "options": {"rows": "50n"},
            "access": "measurements",
            "relation": "replace-one",
        },
    }
    command = write_assess_command(Assessment.from_json("ours", planned).document)
    assert (
        "--mechanism pgm --mechanism-option 'rows=\"50n\"' --access measurements --reps 2"
        in command
    )
    released = {
        **planned,
        "source": {**ASSESSMENT["source"], "release": "out.csv", "held_out": "others.csv"},
        "mechanism": {"name": "published-table", "relation": "add-or-remove-one"},
    }
    command = write_assess_command(Assessment.from_json("ours", released).document)
    assert command.startswith(
        "reconbench assess --synthetic out.csv --truth people.csv --relation add-or-remove-one"
    )
    assert "--held-out others.csv" in command and "--mechanism" not in command
    silent = {**released, "question": {**planned["question"], "epsilon": None}}
    command = write_assess_command(Assessment.from_json("ours", silent).document)
    assert "--epsilon" not in command and "--relation" not in command


def test_documents_that_are_no_assessments() -> None:
    with pytest.raises(SiteError, match=r"ours: format must be 'reconbench-assessment/1', got x"):
        Assessment.from_json("ours", {"format": "x"})
    with pytest.raises(SiteError, match="ours: question: Field required"):
        Assessment.from_json("ours", {k: v for k, v in ASSESSMENT.items() if k != "question"})


def test_values_are_shown_as_people_read_them() -> None:
    assert [show(value) for value in (None, "", True, 1.0 / 3, -2.5, float("inf"), "x", 7)] == [
        "–", "–", "yes", "0.33333", "−2.5", "∞", "x", "7"
    ]  # fmt: skip
    assert percent(None) == "–" and percent(0.123) == "12.3 %"


def test_pages_are_planned_before_they_are_made(folder: ResultFolder, rows: list[Result]) -> None:
    paths = [page.path for page in plan_pages(SiteContent("Results", (folder,)))]
    assert len(paths) == len(set(paths)) and paths[:2] == ["site.css", "index.html"]


def test_attacks_with_options_have_pages_of_their_own(folder: ResultFolder, write: Write) -> None:
    """Standings and games name an attack with its options in the same way."""
    tuned = rename(folder, attack_options={"trust": 2, "b": "<b>"})
    site = write(SiteContent("Results", (folder, replace(tuned, name="tuned"))))
    check_links(site)
    titles = {page.text.partition(" · ")[0].strip() for page in read_pages(site).values()}
    assert {"Attack averaging", 'Attack averaging {"b": "<b>", "trust": 2}'} <= titles
