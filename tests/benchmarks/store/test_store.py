"""The store: what it keeps, what it refuses, and what becomes of rows made by other code."""

from __future__ import annotations

import ast
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.runner import Unit, run
from reconbench.benchmarks.store import provenance, source_code
from reconbench.benchmarks.store import store as stores
from reconbench.benchmarks.store.store import (
    FILE_NAME,
    Entry,
    Freshness,
    Key,
    Keys,
    Store,
    StoreError,
    StoreWriteError,
    row_key,
)

GAME = Game("acs", ("SEX",), 3.0, n=10, mechanism_options=Options({"k": 2}))
PRIOR = AttackSpec("prior")


@pytest.fixture(scope="module")
def row(drop_scores: Callable[[Result], Result]) -> Result:
    return drop_scores(play(Round.draw(GAME), PRIOR))


@pytest.fixture
def filled(row: Result, tmp_path: Path) -> Path:
    """A store with three repetitions."""
    with Store(tmp_path / "out") as store:
        for rep in range(3):
            store.put(row_key(replace(GAME, rep=rep), PRIOR), replace(row, rep=rep))
    return tmp_path / "out"


def test_rows_come_back_as_they_were(row: Result, tmp_path: Path) -> None:
    rows = {
        Key("a"): row,
        Key("b"): replace(
            row,
            epsilon=inf,
            facts={"mechanism.mu": inf},
            info={"loss": inf, "low": -inf},
            ceilings={"mine": {"mean": inf}},
            bounds={"mine": {}},
            attack_options={"steps": 3, "name": "inf"},
            peak_memory_mib=12.5,
        ),
        Key("c"): replace(row, status=Status.FAILED, error="ä\u2028\n", successes=None),
    }
    with Store(tmp_path) as store:
        for key, each in rows.items():
            store.put(key, each)
        assert store.get(rows) == rows
        assert [entry.row for entry in store.entries()] == list(rows.values())
    for each in rows.values():
        assert Result.from_trusted_json(each.to_json()) == Result.from_json(each.to_json()) == each


def test_finished_rows_are_never_rewritten(row: Result, tmp_path: Path) -> None:
    key = Key("a")
    with Store(tmp_path) as store:
        failed = replace(row, status=Status.FAILED, successes=None)
        store.put(key, replace(failed, error="first"))
        store.put(key, replace(failed, error="second"))
        assert store.get([key])[key].error == "second"
        store.put(key, row)
        store.put(key, replace(row, successes=0, seconds=9.0))
        store.put(key, replace(failed, error="third"))
        assert store.get([key]) == {key: row}


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        assert store.get([Key("a")]) == {} and store.entries() == [] and store.stale() == 0
    assert not (tmp_path / "out").exists()
    with pytest.raises(StoreError, match=r"no result store at .*: name the output folder"):
        Store.read_only(tmp_path / "out")


def test_reading_changes_nothing(filled: Path) -> None:
    before = (filled / FILE_NAME).read_bytes()
    with Store.read_only(filled) as store:
        assert len(store.entries()) == 3
    assert (filled / FILE_NAME).read_bytes() == before


def first_schema(folder: Path, rows: dict[str, str]) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        connection.execute("CREATE TABLE results (key TEXT PRIMARY KEY, row TEXT NOT NULL)")
        connection.executemany("INSERT INTO results VALUES (?, ?)", rows.items())
        connection.execute("PRAGMA user_version=1")


def test_the_first_schema_is_brought_up_to_date(row: Result, tmp_path: Path) -> None:
    raw = row.to_json()
    for name in ("peak_memory_mib", "best_possible", "attacker_prior"):
        raw.pop(name, None)
    lost = replace(row, status=Status.FAILED, error="gone", successes=None).to_json()
    first_schema(tmp_path / "out", {"a": json.dumps(raw), "b": json.dumps(lost)})
    with Store.read_only(tmp_path / "out") as store:
        old = store.entries()
    with Store(tmp_path / "out") as store:
        assert store.entries() == old and len(old) == 2 and store.stale() == 2
        assert old[0].row == replace(row, peak_memory_mib=None)
        assert {each.key.origin.freshness for each in old} == {Freshness.STALE}
        store.put(Key("b"), row)
        store.put(Key("a"), replace(row, successes=0))
        assert store.get([Key("a"), Key("b")]) == {Key("a"): old[0].row, Key("b"): row}


def test_an_old_store_that_cannot_be_brought_up_to_date_stays(tmp_path: Path) -> None:
    first_schema(tmp_path / "out", {"a": "{broken"})
    with pytest.raises(StoreError, match="cannot open a result store"):
        Store(tmp_path / "out")
    with closing(sqlite3.connect(tmp_path / "out" / FILE_NAME)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT * FROM results").fetchall() == [("a", "{broken")]


@pytest.mark.parametrize("version", [0, 4, 99])
def test_other_schemas_are_refused(filled: Path, version: int) -> None:
    with closing(sqlite3.connect(filled / FILE_NAME)) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    before = (filled / FILE_NAME).read_bytes()
    for way in (Store, Store.read_only):
        with pytest.raises(StoreError, match=f"has schema {version}, this version reads 1 to 3; "):
            way(filled)
    assert (filled / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_truncated_stores_are_refused_and_left_alone(
    row: Result, tmp_path: Path, share: float
) -> None:
    with Store(tmp_path) as store:
        store.add(Entry(Key(f"{place:064}"), row) for place in range(200))
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    cut = path.read_bytes()
    with (
        pytest.raises(StoreError, match="the file is damaged: restore it from a copy"),
        Store(tmp_path) as store,
    ):
        run([Unit(GAME, (PRIOR,))], store)
    assert path.read_bytes() == cut


def test_bytes_that_are_no_text_are_damage(filled: Path) -> None:
    path = filled / FILE_NAME
    key = row_key(GAME, PRIOR).text.encode()
    path.write_bytes(path.read_bytes().replace(key, b"\xff" + key[1:]))
    for way in (Store, Store.read_only):
        with way(filled) as store, pytest.raises(StoreError, match="the file is damaged"):
            store.entries()


@pytest.mark.parametrize(
    "change",
    [
        "row = replace(row, '\"rep\": 1', '\"rep\": 7')",
        "row = '{\"dataset\": 1}', seal = ''",
        "row = '{half', seal = ''",
        "row = x'00ff', seal = ''",
        "row = '[]'",
    ],
)
def test_rows_changed_by_hand_are_refused(filled: Path, change: str) -> None:
    with closing(sqlite3.connect(filled / FILE_NAME)) as connection, connection:
        connection.execute(f"UPDATE results SET {change} WHERE rowid = 2")
    with (
        Store(filled) as store,
        pytest.raises(StoreError, match=r"holds a row that cannot be read: .*DELETE FROM results"),
    ):
        store.entries()


def test_folders_that_cannot_be_written_to(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "in"):
        with pytest.raises(StoreError, match="cannot open a result store"), Store(folder) as store:
            store.create()
    if os.geteuid():
        filled.chmod(0o500)
        (filled / FILE_NAME).chmod(0o400)
        with pytest.raises(StoreError, match="an output folder that you may write to"):
            Store(filled)
        with Store.read_only(filled) as store:
            assert len(store.entries()) == 3
        filled.chmod(0o700)


@pytest.fixture
def small(filled: Path) -> Iterator[Store]:
    """A store on a disk that has room for a few rows more."""
    with Store(filled) as store:
        connection = store._open
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + 4}")
        yield store


def test_a_full_disk_loses_nothing(small: Store, row: Result) -> None:
    stored = 3
    with pytest.raises(StoreWriteError, match="full; all rows stored before are kept: free some"):
        for place in range(100):
            small.put(f"{place}", row)
            stored += 1
    assert 3 < stored < 50
    with Store(small.path.parent) as again:
        assert len(again.entries()) == stored
        again.put("more", row)
        assert len(again.entries()) == stored + 1


def test_adding_many_is_all_or_nothing(small: Store, row: Result) -> None:
    with pytest.raises(StoreWriteError, match="full"):
        small.add(Entry(Key(f"{place}"), row) for place in range(100))
    assert len(small.entries()) == 3


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.store.store import Key, Store
import json
row = Result.from_json(json.loads(sys.argv[2]))
with Store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for place in range(300):
        store.put(Key(str(place)), replace(row, rep=place, seconds=float(sys.argv[3])))
"""


def test_two_processes_share_a_store(row: Result, tmp_path: Path) -> None:
    text = json.dumps(row.to_json())
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "out"), text, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in (1, 2)
    ]
    for each in writers:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    for each in writers:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    for each in writers:
        each.communicate(timeout=60)
        assert each.returncode == 0
    with Store.read_only(tmp_path / "out") as store:
        rows = [entry.row for entry in store.entries()]
    assert sorted(each.rep for each in rows) == list(range(300))
    assert {each.seconds for each in rows} <= {1.0, 2.0}
    assert all(not each.differences(replace(row, rep=each.rep)) for each in rows)


def test_a_writer_waits_for_another(
    filled: Path, row: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PATIENCE", 0.2)
    with Store(filled) as store, closing(sqlite3.connect(filled / FILE_NAME)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreWriteError, match=r"locked; .*another process holds it"):
            store.put("a", row)
        other.execute("ROLLBACK")
        store.put("a", row)


PLUGIN = """
from reconbench.attacks.baselines import PriorGuess

class Mine(PriorGuess):
    name = "mine"
"""


def test_rows_made_by_other_code_are_stale(row: Result, tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    spec = AttackSpec(f"{plugin}:Mine")
    before = row_key(GAME, spec)
    with Store(tmp_path / "out") as store:
        store.put(before, row)
        assert store.stale() == 0
        plugin.write_text(PLUGIN + "    steps = 3\n")
        assert store.stale() == 1
        after = row_key(GAME, spec)
        assert after != before and after.config == before.config
        assert store.get([after]) == {}
        store.put(after, row)
        assert store.stale() == 1 and len(store.entries()) == 2
        plugin.unlink()
        assert store.stale() == 0
        assert {each.key.origin.freshness for each in store.entries()} == {Freshness.UNKNOWN}


def test_keys_do_not_depend_on_where_a_plugin_is(tmp_path: Path) -> None:
    found = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(PLUGIN)
        found.add(row_key(GAME, AttackSpec(f"{tmp_path / folder / 'mine.py'}:Mine")).text)
    assert len(found) == 1


def test_equal_games_have_one_key() -> None:
    hashed = Keys()
    assert hashed.of(replace(GAME, epsilon=3), PRIOR) == hashed.of(GAME, PRIOR)
    assert hashed.of(GAME.repeat(1), PRIOR) != hashed.of(GAME, PRIOR)


def modules(name: str) -> set[str]:
    closure = source_code.find_closure(source_code.find_modules([name]))
    return {module.removeprefix("reconbench.") for module, _ in closure}


def test_the_code_of_an_attack_is_what_it_imports() -> None:
    rap, guess = modules("reconbench.attacks.rap.rap"), modules("reconbench.attacks.baselines")
    assert {"attacks.rap.rap", "attacks.rap.descent", "attacks.base", "datasets.table"} <= rap
    assert "attacks.posterior.posterior" not in rap | guess and "attacks.rap.rap" not in guess
    versions = {provenance.code_version(name, "gaussian-marginals") for name in ("rap", "prior")}
    assert len(versions) == 2


def test_only_code_counts(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text)
        return source_code.read_code(path)

    plain = digest('def f(x):\n    return "# no comment"\n')
    assert plain == digest(
        '"""Doc."""\n\ndef f(x):  # why\n    """More."""\n    return "# no comment"\n'
    )
    assert plain != digest('def f(x):\n    return "# a comment"\n')
    assert plain != digest('def f(x):\n  return "# no comment"\n\ndef g(): ...\n')


def test_many_make_one_store_at_once(row: Result, tmp_path: Path) -> None:
    def make(number: int, folder: Path) -> None:
        with Store(folder) as store:
            store.put(Key(f"{number}"), row)

    with ThreadPoolExecutor(4) as makers:
        for place in range(20):
            folder = tmp_path / str(place)
            list(makers.map(make, range(4), [folder] * 4))
            with Store.read_only(folder) as store:
                assert len(store.entries()) == 4


def test_names_of_shipped_attacks_are_read_without_importing_them() -> None:
    names = plugins.get_entries("attack")
    ours = [name for name, point in names.items() if point.value.startswith("reconbench.")]
    assert {"prior", "rap", "posterior", "rap-map"} <= set(ours)
    for name in ours:
        assert provenance.shipped_name(name) == AttackSpec(name).build().name
    assert provenance.shipped_name("nobody") is None
    assert provenance.shipped_name("folder/file.py:Attack") is None


def test_methods_of_shipped_attacks_are_read_without_importing_them() -> None:
    """What the source tells is so; attacks without options can be built, as plans take it."""
    told = 0
    for name, point in plugins.get_entries("attack").items():
        if point.value.startswith("reconbench."):
            found = provenance.shipped_method(name, "reconstruct_many")
            has = callable(getattr(AttackSpec(name).build(), "reconstruct_many", None))
            assert found in (has, None)
            told += found is not None
    assert told > 5 and provenance.shipped_method("rap", "reconstruct_many")
    assert provenance.shipped_method("folder/file.py:Attack", "reconstruct_many") is None


def test_a_run_loads_no_large_library_in_its_own_process(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom reconbench.benchmarks.run.runner import group_units, plan\n"
        "from reconbench.benchmarks.store.store import Store\n"
        "from reconbench.benchmarks.suites.suite import find_suite\nfrom pathlib import Path\n"
        "with Store(Path(sys.argv[1])) as store:\n"
        "    todo = plan(find_suite('smoke').units(), store)\n"
        "[group.turns() for group, _ in group_units(todo.units, 2)]\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert done.returncode == 0


def test_a_name_that_the_source_does_not_state_is_asked_for() -> None:
    text = 'class A:\n    name: str\nclass B:\n    name: str = "b"\nclass C:\n    name: int = 3\n'
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    assert [provenance.declared_name(node) for node in found] == [None, "b", None]


def test_looking_at_rows_without_reading_them(filled: Path, row: Result) -> None:
    keys = [row_key(replace(GAME, rep=rep), PRIOR) for rep in range(4)]
    with Store(filled) as store:
        found = store.read_headers(keys)
        assert list(found) == keys[:3] and len({each.seal for each in found.values()}) == 3
        assert {each.status for each in found.values()} == {Status.OK}
        store.put(keys[3], replace(row, rep=3, status=Status.FAILED))
        failed = store.read_headers(keys)[keys[3]]
        store.put(keys[3], replace(row, rep=3))
        now = store.read_headers(keys)[keys[3]]
        assert (failed.status, now.status) == (Status.FAILED, Status.OK)
        assert failed.seal != now.seal
    assert Store(filled / "none").read_headers(keys) == {}


def test_a_changed_row_is_not_taken_for_held(filled: Path) -> None:
    keys = [row_key(replace(GAME, rep=rep), PRIOR) for rep in range(3)]
    with closing(sqlite3.connect(filled / FILE_NAME)) as connection:
        connection.execute("UPDATE results SET row = replace(row, '\"n\": 10', '\"n\": 11')")
        connection.commit()
    with Store(filled) as store, pytest.raises(StoreError, match="changed after it was written"):
        store.read_headers(keys)
