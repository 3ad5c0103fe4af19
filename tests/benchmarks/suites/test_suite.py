from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Round, play
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.run.cost_estimates import estimate
from reconbench.benchmarks.store.store import Entry, Key, row_key
from reconbench.benchmarks.suites.suite import SUITES, SuiteError, find_suite, read_suite, shipped

PRIOR = AttackSpec("prior")
SUITE = """
name = "mine"
description = "a test"
repetitions = 2
attacks = ["prior", {attack = "rap", options = {steps = 5}}]
[[games]]
dataset = "acs"
targets = ["SEX", ["SEX", "MAR"]]
epsilon = [1, inf]
k = [2, 3]
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def games(path: Path) -> set[tuple[object, ...]]:
    return {
        (u.game.targets, u.game.mechanism_options.get("k", 3), u.game.epsilon, u.game.metric)
        for u in read_suite(path).units()
    }


def test_every_shipped_suite_has_its_name_and_something_to_do() -> None:
    found = shipped()
    papers = {f"swanberg-fig{i}" for i in (1, 4, 5, 6, 7)} | {
        f"kulynych-fig{i}" for i in (1, 2, 3, 4, 5, 6, 7, 9)
    }
    papers |= {f"rad-{name}" for name in ("bounds", "fig3", "fig5", "imputation", "laplace", "ldp")}
    papers |= {f"riess-fig{i}" for i in (1, 2, 3, 4, 5)}
    assert papers | {"swanberg", "kulynych", "rad", "k-sweep", "n-sweep", "adversary"} <= set(found)
    for name, suite in found.items():
        assert suite.name == name and suite.description
        kinds = bool(suite.units()) + bool(suite.points())
        assert kinds == (2 if name == "rad" else 1)


def test_computations_and_games_go_together(tmp_path: Path) -> None:
    path = written(tmp_path, SUITE)
    whole = tmp_path / "whole.toml"
    whole.write_text(
        'name = "whole"\ndescription = ""\n'
        f'include = ["kulynych-fig4", "{path.name}", "kulynych-fig3"]\n'
    )
    found = read_suite(whole)
    assert found.units() == read_suite(path).units()
    assert [point.suite for point in found.points()] == ["kulynych-fig4"] * 8 + [
        "kulynych-fig3"
    ] * 36
    assert len({point.key for point in found.points()}) == 44
    with pytest.raises(SuiteError, match="computations only, nothing that attack 'rap'"):
        find_suite("kulynych").units(more_attacks=["rap"])


def test_the_papers_games() -> None:
    found = shipped()
    fig4 = found["swanberg-fig4"].units(repetitions=1)
    assert len(fig4) == 26 and {unit.game.epsilon for unit in fig4} == {1.0}
    fig6 = found["swanberg-fig6"].units(repetitions=1)
    for dataset, most in (("acs", 13), ("fire", 7)):
        order = plugins.load_prior(dataset).visit_order
        mine = [unit.game for unit in fig6 if unit.game.dataset == dataset]
        assert [game.targets for game in mine] == [order[:h] for h in range(1, most + 1)]
        assert {game.known for game in mine} == {order[-3:]}
    fig7 = found["swanberg-fig7"].units(repetitions=1)
    assert [unit.game.metric for unit in fig7 if unit.game.dataset == "acs"] == [
        f"l1:{error}" for error in range(10)
    ]


def test_included_suites_share_their_games() -> None:
    whole = find_suite("swanberg").units()
    parts = [find_suite(f"swanberg-fig{i}").units() for i in (4, 5, 6, 7)]
    every = {unit.game for units in parts for unit in units}
    assert {unit.game for unit in whole} == every and len(whole) == len(every)
    assert len(whole) < sum(len(units) for units in parts)  # SCHL and ALS Unit at epsilon 1


def test_repetitions_stand_together_and_blocks_may_have_their_own(tmp_path: Path) -> None:
    more = '\n[[games]]\ndataset = "fire"\ntargets = "ALS Unit"\nepsilon = 1\nrepetitions = 3\n'
    found = read_suite(written(tmp_path, SUITE + more + 'attacks = "random"\n')).units()
    assert [unit.game.rep for unit in found[:4]] == [0, 1, 0, 1]
    last = found[-3:]
    assert [unit.game.rep for unit in last] == [0, 1, 2]
    assert {spec.spec for unit in last for spec in unit.attacks} == {"random"}


def test_include_and_exclude_in_a_block(tmp_path: Path) -> None:
    text = SUITE.replace('["SEX", ["SEX", "MAR"]]', '["SEX"]')
    more = "include = [{epsilon = 5, k = 1}]\nexclude = [{epsilon = inf, k = [3]}]\n"
    assert games(written(tmp_path, text + more)) == {
        (("SEX",), 2, 1.0, "exact"),
        (("SEX",), 3, 1.0, "exact"),
        (("SEX",), 2, float("inf"), "exact"),
        (("SEX",), 1, 5.0, "exact"),
    }


def test_a_suite_of_suites_in_files(tmp_path: Path) -> None:
    written(tmp_path, SUITE)
    path = written(
        tmp_path, 'name = "all"\ndescription = ""\ninclude = ["mine.toml", "smoke"]', "all.toml"
    )
    found = read_suite(path)
    assert [part.name for part in found.parts] == ["all", "mine", "smoke"]
    units = found.units()
    shared = [unit for unit in units if len(unit.attacks) == 4]
    assert len(units) == 8 * 2 + 4 - 2 and [unit.game.rep for unit in shared] == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k = [2", "kk = [2", r"games.0.kk: Extra inputs are not permitted; did you mean 'k'"),
        ("k = [2, 3]", "k = 2.5", r"games.0.k.0: .*valid integer, got 2.5"),
        ("[1, inf]", '"1"', r"games.0.epsilon.0: .*valid number, got '1'"),
        ("[1, inf]", "0", r"games.0.epsilon.0: .*greater than 0, got 0"),
        ("[1, inf]", "[]", r"games.0.epsilon: .*at least 1 item.*give a value or leave"),
        (
            "[2, 3]",
            "17",
            r"games.0.the game on SEX: .* with k=17 .* k must be between 1 and the 16 columns",
        ),
        ('"SEX", [', '"SXE", [', r"games.0.targets: unknown column 'SXE'; this domain has AGEP"),
        ('["SEX", ["SEX", "MAR"]]', '"visit:1-16"', r"targets: 'visit:1-16' must count from 1 to"),
        ('["SEX", ["SEX", "MAR"]]', "[]", r"games.0.targets: give \"each\", \"top-entropy:N\", "),
        ('["SEX", ["SEX", "MAR"]]', "[3]", r"games.0.targets: a column must be a text"),
        ("k = [2, 3]", 'known = "all"', r"games.0.known: give a list of columns or \"last:N\""),
        ("k = [2, 3]", 'known = ["X"]', r"games.0.known: unknown column 'X'"),
        ("k = [2, 3]", 'metric = "l1:0-3"', r"games.0.metric: column 'SEX' is not ordinal"),
        ("k = [2, 3]", 'adversary = "weak"', r"games.0.adversary: use realistic or informed"),
        ("k = [2, 3]", 'attacker_prior = "x"', r"games.0.attacker_prior: unknown attacker_prior"),
        ("k = [2, 3]", 'mechanism = "x"', r"games.0.mechanism: unknown mechanism 'x'"),
        ("k = [2, 3]", "exclude = [{n = 7}]", r"games.0.exclude.0: no game has these values"),
        ("k = [2, 3]", "include = [{epsilom = 7}]", r"games.0: include.0.epsilom: Extra inputs"),
        ('"acs"', '"census"', r"games.0.dataset: unknown dataset 'census'; available: acs"),
        ('"prior"', '"pior"', r"suite mine.attacks: unknown attack 'pior'; available: .*posterior"),
        ("options =", "option =", r"attacks.1.option: Extra inputs.*did you mean 'options'"),
        ("repetitions = 2", "repetitions = 0", r"repetitions: .*greater than or equal to 1, got 0"),
        ('name = "mine"', 'name = "mine"\ninclude = ["nope"]', r"include: unknown suite 'nope'"),
        ('name = "mine"', 'name = "mine"\ninclude = ["no.toml"]', r"include: cannot read suite"),
        ('name = "mine"', 'name = "mine"\ninclude = ["mine.toml"]', r"mine -> mine"),
    ],
)
def test_bad_suites_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    path = written(tmp_path, SUITE.replace(old, new, 1))
    with pytest.raises(SuiteError, match=message) as caught:
        read_suite(path).units()
    assert "\n" not in str(caught.value)


def test_suites_without_attacks_or_content(tmp_path: Path) -> None:
    text = "\n".join(line for line in SUITE.splitlines() if not line.startswith("attacks"))
    with pytest.raises(SuiteError, match=r"attacks: games.0 has none"):
        read_suite(written(tmp_path, text))
    with pytest.raises(SuiteError, match="nothing to run"):
        read_suite(written(tmp_path, 'name = "x"\ndescription = ""'))


def test_cycles_over_several_files(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "b")):
        text = f'name = "{name}"\ndescription = ""\ninclude = ["{other}.toml"]'
        written(tmp_path, text, f"{name}.toml")
    with pytest.raises(SuiteError, match="include each other: b -> c -> b"):
        read_suite(tmp_path / "a.toml")


def test_suites_are_data() -> None:
    for path in sorted(Path(str(SUITES)).glob("*.toml")):
        assert tomllib.loads(path.read_text(encoding="utf-8"))["name"] == path.stem


def test_estimates_without_and_with_stored_rows() -> None:
    units = find_suite("smoke").units()
    rough = estimate(units)
    assert (rough.rows, rough.stored) == (12, 0) and "rough costs" in rough.source
    assert {each.game.targets: each.released for each in rough.games} == {
        ("SEX",): 9_884,
        ("ALS Unit",): 20_816,
    }
    entry = Entry(row_key(units[0].game, PRIOR), play(Round.draw(units[0].game), PRIOR))
    one = estimate(units, [entry])
    assert one.stored == 1 and one.source.startswith("stored timings for")
    wide = estimate(find_suite("swanberg-fig6").units())
    assert wide.seconds > rough.seconds and wide.memory_mib > rough.memory_mib + 200


def test_rows_of_other_code_tell_seconds_but_are_not_done() -> None:
    units = find_suite("smoke").units()
    key, row = row_key(units[0].game, PRIOR), play(Round.draw(units[0].game), PRIOR)
    old = Key("old", key.config, replace(key.origin, code="old"))
    slow = estimate(units, [Entry(old, replace(row, seconds=1000.0, peak_memory_mib=9999.0))])
    assert slow.stored == 0 and slow.source.startswith("stored timings for")
    assert slow.seconds > 1000 and slow.memory_mib == 9999.0 > estimate(units).memory_mib
    lost = Entry(key, replace(row, status=Status.FAILED, seconds=1000.0))
    # A run does not try a failed row again unasked, and its time says nothing.
    assert estimate(units, [lost]).stored == 1 and estimate(units, [lost]).seconds < 1000


def test_estimates_know_the_rows_of_plugins_in_files(tmp_path: Path) -> None:
    """By their keys: neither the file's place nor the class's name is in a row."""
    (tmp_path / "mine.py").write_text(
        "from reconbench.attacks.baselines import PriorGuess\n"
        "class Mine(PriorGuess):\n    name = 'my own'\n"
    )
    path = written(tmp_path, SUITE.replace('"prior"', '"mine.py:Mine"', 1))
    units = read_suite(path).units()
    spec = units[0].attacks[0]
    entry = Entry(row_key(units[0].game, spec), play(Round.draw(units[0].game), spec))
    assert estimate(units, [entry]).stored == 1 and entry.row.attack == "my own"
    assert Path(spec.spec.rpartition(":")[0]) == tmp_path / "mine.py"


def test_files_beside_a_suite_are_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in the working directory too; an option is nobody's path."""
    own, here = tmp_path / "own", tmp_path / "here"
    for folder in (own, here):
        folder.mkdir()
    (own / "a.py").write_text("")
    (here / "b.py").write_text("")
    attacks = '["a.py:A", "b.py:B", { attack = "a.py:A", options = { file = "a.py:A" } }]'
    path = own / "suite.toml"
    path.write_text(
        f'name = "s"\ndescription = ""\nattacks = {attacks}\n'
        '[[games]]\ndataset = "acs"\ntargets = ["SEX"]\nepsilon = 1\n'
    )
    monkeypatch.chdir(here)
    specs = read_suite(path).units()[0].attacks
    assert [each.spec for each in specs] == [f"{own}/a.py:A", f"{here}/b.py:B", f"{own}/a.py:A"]
    assert specs[2].options == {"file": "a.py:A"}
