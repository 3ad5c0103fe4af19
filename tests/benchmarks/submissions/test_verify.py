"""Verdicts: honest attacks are accepted; cheats, inventions and failures are refused."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.player.referee import limit_players
from reconbench.benchmarks.submissions.entry import Entry, EntryError
from reconbench.benchmarks.submissions.verdict import Outcome, Verdict, read_verdict
from reconbench.benchmarks.submissions.verify import Verification, match_rows
from reconbench.benchmarks.suites.suite import Suite, read_suite

from ..player.test_seal import REPLAY
from .conftest import HONEST, SUITE, Submit, rehash


def verify(entry: Entry, suite: Suite, **options: Any) -> Verdict:
    return Verification.plan(entry, suite, **options).run()


def forge(entry: Entry, **changes: Any) -> Entry:
    """The entry with other values in its first row, and hashes that fit."""
    raw = copy.deepcopy(entry.to_json())
    raw["rows"][0] |= changes
    return Entry.from_json(rehash(raw))


@pytest.fixture(scope="session")
def verdict(entry: Entry, suite: Suite) -> Verdict:
    return verify(entry, suite)


def test_an_honest_attack_is_accepted(verdict: Verdict, entry: Entry, tmp_path: Path) -> None:
    assert verdict.outcome is Outcome.ACCEPTED and verdict.outcome.exit_code == 0
    assert verdict.reasons[0] == "3 of 3 public rows were replayed and agree"
    assert verdict.test is not None and not verdict.test.refuses
    assert len(verdict.sealed_rows) == 21 and verdict.seal is not None
    assert {row.seed for row in verdict.sealed_rows} == {verdict.seal.seed}
    path = verdict.write(tmp_path / "verified")
    assert path.name == f"votes-{entry.sha256[:12]}.json" and read_verdict(path) == verdict


def test_the_source_is_not_imported_here(verdict: Verdict) -> None:
    sources = [getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]]
    assert not [path for path in sources if "reconbench-entry" in path or "my_attack" in path]


def test_replaying_the_seed_is_refused(submit: Submit, suite: Suite) -> None:
    """The negative control of the sealed games: 6 records of 100 copied from the public tables."""
    cheat = verify(submit(REPLAY, "Replay"), suite)
    assert cheat.outcome is Outcome.REFUSED and cheat.outcome.exit_code == 1
    assert "public results are better than sealed ones beyond chance" in cheat.reasons[0]
    assert cheat.test is not None and cheat.test.public_gain == pytest.approx(6.0)
    assert cheat.test.sealed_gain == 0.0
    honest = verify(submit(REPLAY, "Replay", share=0.0), suite)
    assert honest.outcome is Outcome.ACCEPTED


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"successes": 100}, "successes"),
        ({"guess_hash": "0" * 64}, "guess_hash"),
        ({"table_hash": "0" * 64}, "table_hash"),
    ],
)
def test_invented_rows_are_refused(
    entry: Entry, suite: Suite, changes: dict[str, Any], field: str
) -> None:
    forged = verify(forge(entry, **changes), suite)
    assert forged.outcome is Outcome.REFUSED and forged.seal is None
    assert "comes out otherwise: votes on acs SEX" in forged.reasons[0]
    assert f"differs in {field}" in forged.reasons[0]


def test_other_floats_are_drift(entry: Entry, suite: Suite) -> None:
    """Beyond the tolerance, drifted; within it, accepted; versions are only reported."""
    expected = entry.rows[0].baseline_expected
    drifted = verify(forge(entry, baseline_expected=expected * (1 + 1e-6)), suite)
    assert drifted.outcome is Outcome.DRIFTED and drifted.outcome.exit_code == 4
    assert "decides the same, but these numbers differ: baseline_expected" in drifted.reasons[0]
    raw = copy.deepcopy(entry.to_json())
    raw["rows"][0]["baseline_expected"] = expected * (1 + 1e-12)
    for part in (raw, *raw["rows"]):
        part["versions"] = {**part["versions"], "numpy": "1.0"}
    close = verify(Entry.from_json(rehash(raw)), suite)
    assert close.outcome is Outcome.ACCEPTED
    assert "agree up to numerical drift of at most 1." in close.reasons[0]
    assert close.reasons[-1].startswith("the entry was made with numpy 1.0; here: numpy ")


ON_SEALED = """        from reconbench.benchmarks.game.play import Game
        from reconbench.benchmarks.game.setting import Seeds
        games = [Game("acs", view.targets, 3.0, n=view.n, rep=rep) for rep in range(3)]
        tables = [view.prior.sample(view.n, game.make_stream("table", view.prior, Seeds.TABLE))
                  for game in games]
        sealed = not any((table.project(view.known.domain.names).codes == view.known.codes).all()
                         for table in tables)
"""
START = "        release, names ="


@pytest.mark.parametrize(
    ("sealed", "error"),
    [
        ("if sealed: 1 / 0", "the attack fails in a sealed game: votes on acs SEX"),
        ("while sealed: pass", "exceeded the 2 s time limit"),
    ],
)
def test_failing_or_hanging_on_sealed_games_is_refused(
    submit: Submit, suite: Suite, sealed: str, error: str
) -> None:
    source = HONEST.replace(START, f"{ON_SEALED}        {sealed}\n{START}")
    entry = submit(source, "Votes")
    limit_players(2.0)
    try:
        refused = verify(entry, suite)
    finally:
        limit_players(None)
    assert refused.outcome is Outcome.REFUSED and error in refused.reasons[0]


def test_skipping_sealed_games_is_refused(submit: Submit, suite: Suite) -> None:
    skip = f"\n    def skip(self, view):\n{ON_SEALED}        return 'sealed' if sealed else None\n"
    refused = verify(submit(HONEST + skip, "Votes"), suite)
    assert refused.outcome is Outcome.REFUSED
    assert "it skips a sealed game that it plays in public" in refused.reasons[0]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import nowhere_to_be_found", "my_attack.py does not import: ModuleNotFoundError"),
        ("def broken(:", "does not import"),
        ("x = 1", "has no class or function 'Votes'"),
        ("import os; os._exit(0)", "killed its player process"),
        (HONEST.replace('"votes"', '"others"'), "but the class calls itself 'others'"),
    ],
)
def test_sources_that_cannot_be_played_are_one_line(
    entry: Entry, suite: Suite, source: str, error: str
) -> None:
    import hashlib

    raw = copy.deepcopy(entry.to_json())
    raw["attack"] |= {"source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}
    with pytest.raises(EntryError) as raised:
        verify(Entry.from_json(rehash(raw)), suite)
    assert error in str(raised.value) and "/tmp" not in str(raised.value)


def test_rows_must_be_those_of_the_suite(entry: Entry, suite: Suite, tmp_path: Path) -> None:
    raw = copy.deepcopy(entry.to_json())
    raw["rows"] = raw["rows"][:2]
    with pytest.raises(EntryError, match="1 of 3 rows of the suite small are missing"):
        match_rows(Entry.from_json(rehash(raw)), suite)
    single = {**raw, "rows": raw["rows"][:1], "suite": {**raw["suite"], "repetitions": 1}}
    with pytest.raises(EntryError, match="at least 2 repetitions of every game, got 1"):
        Verification.plan(Entry.from_json(rehash(single)), suite)
    raw["rows"] += raw["rows"][:1]
    with pytest.raises(EntryError, match="a row is there twice"):
        match_rows(Entry.from_json(rehash(raw)), suite)
    (tmp_path / "other.toml").write_text(SUITE.replace('"SEX"', '"DIS"'))
    other = read_suite(tmp_path / "other.toml")
    with pytest.raises(EntryError, match="has no such row: votes on acs SEX"):
        match_rows(entry, other)
    with pytest.raises(EntryError, match="has no game of the entry"):
        Verification.plan(entry, suite, other)
    both = SUITE.replace('"SEX"', '"SEX", "DIS"')
    (tmp_path / "both.toml").write_text(both)
    more = Verification.plan(entry, suite, read_suite(tmp_path / "both.toml"), replayed_rows=1)
    twice = Verification.plan(entry, suite, sealed_repetitions=42)
    assert len(twice.sealed) == 42
    with pytest.raises(EntryError, match="--sealed-reps must be at least 21 for 3 public"):
        Verification.plan(entry, suite, sealed_repetitions=20)
    assert len(more.sealed) == 42 and len(more.replayed) == 1 and more.rows == 43


def test_changed_verdicts_are_not_read(verdict: Verdict, tmp_path: Path) -> None:
    path = verdict.write(tmp_path)
    raw = json.loads(path.read_text())
    raw["outcome"] = "drifted"
    path.write_text(json.dumps(raw))
    with pytest.raises(ValueError, match="sha256 does not fit the content"):
        read_verdict(path)
    for change, error in (
        ({"outcome": "praised"}, "outcome: Input should be"),
        ({"seal": {**raw["seal"], "seed": 1}}, "seal: the seed does not fit the commitment"),
        ({"seal": None}, "a row was not played under the seal"),
        ({"sealed_rows": [{}]}, "sealed_rows: "),
        ({"entry": {}}, "format must be 'reconbench-entry/1'"),
    ):
        path.write_text(json.dumps(rehash({**raw, **change})))
        with pytest.raises(ValueError, match=error):
            read_verdict(path)
