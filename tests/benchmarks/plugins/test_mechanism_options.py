"""Options of mechanisms as an axis of games, and plugins that mean the same wherever they lie."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.options import Options, OptionsError
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, check, play
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.setting import Seeds
from reconbench.benchmarks.run.runner import run
from reconbench.benchmarks.store.store import Store, row_key
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import SuiteError, read_suite
from reconbench.mechanisms import MarginalsRelease

SEX = Game("acs", ("SEX",), 1.0, n=30, mechanism_options=Options({"k": 2}))
WHOLE = replace(SEX, mechanism_options=Options({"k": 2, "workload": "all"}))

PADDED = '''
from dataclasses import dataclass
from functools import cached_property

from reconbench.bounds import GaussianDP, Relation, gaussian_mu
from reconbench.mechanisms import GaussianMarginals


@dataclass(frozen=True)
class Padded(GaussianMarginals):
    """Marginals with more noise than the budget asks for, by a factor."""

    name = "padded"
    factor: float = 1.0

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k, factor=1.0):
        if not factor >= 1:
            raise ValueError(f"factor must be 1 or more, got {factor!r}")
        return cls(domain, tuple(hidden), epsilon, delta, k, factor=factor)

    @cached_property
    def guarantee(self):
        return GaussianDP(gaussian_mu(self.epsilon, self.delta) / self.factor, Relation.REPLACE_ONE)


class Needy(Padded):
    name = "needy"

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k, clip):
        raise KeyError(clip)


class Open(Padded):
    name = "open"

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k, **options):
        return Padded.for_budget(domain, hidden, epsilon, delta, k=k, factor=1 + len(options))


class Nameless:
    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k):
        return None
'''

SUITE = """
name = "mine"
description = "a test"
repetitions = 2
attacks = ["prior", "averaging"]
[[games]]
dataset = "acs"
targets = ["SEX"]
n = 20
k = 2
epsilon = 1
mechanism = {mechanism}
"""


@pytest.fixture
def padded(tmp_path: Path) -> str:
    path = tmp_path / "padded.py"
    path.write_text(PADDED)
    return f"{path}:Padded"


def games(folder: Path, mechanism: str, more: str = "") -> list[Game]:
    path = folder / "mine.toml"
    path.write_text(SUITE.replace("{mechanism}", mechanism) + more)
    return [unit.game for unit in read_suite(path).units(repetitions=1)]


def said(folder: Path, mechanism: str) -> str:
    with pytest.raises(SuiteError) as caught:
        games(folder, mechanism)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_options_are_written_in_one_way() -> None:
    assert Options({"b": 1, "a": "x"}) == Options({"a": "x", "b": 1})
    assert Options('{ "b":1,"a":"x" }').text == '{"a": "x", "b": 1}'
    different = {Options({"a": value}) for value in (1, 1.0, True, "1")}
    assert len(different) == 4
    texts = sorted(each.text for each in different)
    assert [Options(text)["a"] for text in texts] == ["1", 1, 1.0, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"a": float("inf")}, "mechanism option 'a' must be a text, a finite number"),
        ({"a": [1]}, r"option 'a' .* got \[1\]"),
        ({"a b": 1}, "must be named by an identifier, got 'a b'"),
    ],
)
def test_options_that_cannot_be_an_axis(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        Options(options)


@pytest.mark.parametrize("text", ["[]", "workload=all", '"all"', ""])
def test_games_take_a_json_object_only(text: str) -> None:
    with pytest.raises(OptionsError, match="mechanism_options must be a JSON object such as"):
        replace(SEX, mechanism_options=text)  # type: ignore[arg-type]


def test_without_options_streams_are_what_they_were() -> None:
    """Their axes, spelled out: whatever is added must leave these alone."""
    prior = plugins.load_prior("acs")
    axes = {"n": 30, "targets": ["SEX"], "known": [], "k": 2, "epsilon": 1.0, "delta": 1e-5}
    axes |= {"mechanism": "gaussian-marginals", "prior": prior.sha256(), "seed": 0, "rep": 0}
    spelled = make_stream("release", axes).integers(2**62)
    assert SEX.make_stream("release", prior, Seeds.RELEASE).integers(2**62) == spelled
    same = replace(SEX, mechanism_options=' {"k":2} ')  # type: ignore[arg-type]
    assert same == SEX and hash(same) == hash(SEX)
    other = WHOLE.make_stream("release", prior, Seeds.RELEASE).integers(2**62)
    assert other != spelled
    assert Round.draw(WHOLE).table_hash == Round.draw(SEX).table_hash


def test_the_whole_workload_from_game_to_summary(tmp_path: Path) -> None:
    """15 of 120 two-way marginals touch SEX: the same guarantee, √8 times the noise."""
    rows = [play(Round.draw(game), AttackSpec("averaging")) for game in (SEX, WHOLE)]
    some, all_ = rows
    assert dict(some.mechanism_options) == {"k": 2}
    assert dict(all_.mechanism_options) == {"k": 2, "workload": "all"}
    noise = "mechanism.noise_sd"
    assert all_.facts[noise] == pytest.approx(some.facts[noise] * sqrt(120 / 15))
    assert (all_.guarantee, all_.ceilings) == (some.guarantee, some.ceilings)
    assert some.setting != all_.setting and some.cell != all_.cell
    assert "k=2 workload=all" in all_.describe()
    assert len(summarise(rows)) == 2
    release = Round.draw(WHOLE).view.release
    assert isinstance(release, MarginalsRelease) and len(release.workload) == 120
    spec = AttackSpec("averaging")
    assert row_key(SEX, spec).config != row_key(WHOLE, spec).config
    with Store(tmp_path) as store:
        keys = [row_key(game, spec) for game in (SEX, WHOLE)]
        for key, row in zip(keys, rows, strict=True):
            store.put(key, row)
        assert [store.get(keys)[key] for key in keys] == rows


def test_rows_of_before_there_were_options() -> None:
    row = play(Round.draw(SEX), AttackSpec("prior"))
    raw = json.loads(json.dumps(row.to_json()))
    del raw["mechanism_options"], raw["facts"]
    raw |= {
        "k": 2,
        **{name: row.facts[f"mechanism.{name}"] for name in ("sigma", "mu", "noise_sd")},
    }
    for read in (Result.from_json(raw), Result.from_trusted_json(raw)):
        assert (read.setting, read.cell) == (row.setting, row.cell)
        assert read.facts.items() <= row.facts.items() and read.facts["mechanism.k"] == 2


def test_suites_take_names_and_tables(tmp_path: Path) -> None:
    both = '["gaussian-marginals", {mechanism = "gaussian-marginals", options = {workload="all"}}]'
    assert [game.mechanism_options for game in games(tmp_path, both)] == [
        Options({"k": 2}),
        Options({"k": 2, "workload": "all"}),
    ]
    alone = '{mechanism = "gaussian-marginals"}'
    assert [game.mechanism_options for game in games(tmp_path, alone)] == [Options({"k": 2})]
    (plain,) = games(tmp_path, '"gaussian-marginals"')
    assert [plain] == games(tmp_path, alone)


@pytest.mark.parametrize(
    ("excluded", "left"),
    [
        ('"gaussian-marginals"', []),
        ('{mechanism = "gaussian-marginals", options = {workload = "all"}}', ['{"k": 2}']),
        ('{mechanism = "gaussian-marginals"}', ['{"k": 2, "workload": "all"}']),
    ],
)
def test_games_to_leave_out(tmp_path: Path, excluded: str, left: list[str]) -> None:
    """A name alone stands for all options, a table for just its own."""
    both = '["gaussian-marginals", {mechanism = "gaussian-marginals", options = {workload="all"}}]'
    more = f"exclude = [{{mechanism = [{excluded}]}}]\ninclude = [{{epsilon = 3}}]\n"
    if left:
        found = games(tmp_path, both, more)
        assert [game.mechanism_options.text for game in found] == left * 2
    else:
        with pytest.raises(SuiteError, match="no game is left"):
            games(tmp_path, both, more)


def test_a_file_is_left_out_by_its_path_as_given(
    tmp_path: Path, padded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    both = '["gaussian-marginals", "padded.py:Padded"]'
    (left,) = games(tmp_path, both, 'exclude = [{mechanism = "padded.py:Padded"}]\n')
    assert left.mechanism == "gaussian-marginals"


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (
            '{mechanism = "gaussian-marginals", options = {wrkload = "all"}}',
            "mechanism: mechanism 'gaussian-marginals' has no option 'wrkload'; "
            "its options: k, workload",
        ),
        (
            '{mechanism = "gaussian-marginals", options = {k = 2}}',
            "mechanism: k is given for the block and as an option; keep one of them",
        ),
        (
            '{mechanism = "gaussian-marginals", options = {epsilon = 2}}',
            "'epsilon' of mechanism 'gaussian-marginals' is set by the game, not by an option; "
            "its options: k, workload",
        ),
        ('"grr"', "mechanism: mechanism 'grr' has no option 'k'; its options: "),
        (
            '{mechanism = "gaussian-marginals", options = {workload = "some"}}',
            "mechanism 'gaussian-marginals' with workload=some k=2 cannot be built: "
            "gaussian-marginals: workload must be 'touching' or 'all', got 'some'; "
            "its options: k, workload",
        ),
        ('{mechanism = "gaussian-marginals", option = {}}', "games.0.mechanism.0.option"),
        ('{mechanism = "magic", options = {a = 1}}', "unknown mechanism 'magic'"),
        ("[]", "games.0.mechanism"),
    ],
)
def test_bad_options_are_told_in_one_line(tmp_path: Path, mechanism: str, message: str) -> None:
    assert message in said(tmp_path, mechanism)


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (
            "Padded",
            "{factor = 0.5}",
            "with factor=0.5 k=2 cannot be built: factor must be 1 or more",
        ),
        ("Padded", '{factor = "big"}', "cannot be built: TypeError: '>=' not supported"),
        ("Padded", "{size = 1}", "has no option 'size'; its options: k, factor"),
        ("Needy", "{}", "needs the option 'clip'; its options: k, clip"),
        (
            "Needy",
            "{clip = 2}",
            "with clip=2 k=2 cannot be built: KeyError: 2 (padded.py, line",
        ),
        ("Open", "{epsilon = 2}", "set by the game, not by an option; its options: k, others"),
        ("Nameless", "{}", "needs a class attribute `name`, a short text"),
    ],
)
def test_bad_options_of_a_plugin(
    tmp_path: Path, padded: str, cls: str, options: str, message: str
) -> None:
    spec = padded.replace(":Padded", f":{cls}")
    assert message in said(tmp_path, f'{{mechanism = "{spec}", options = {options}}}')


def test_options_reach_a_plugin(tmp_path: Path, padded: str) -> None:
    entries = [(padded, "{factor = 2.0}"), (padded.replace(":Padded", ":Open"), "{a = 1, b = 2}")]
    for spec, options in entries:
        (game,) = games(tmp_path, f'{{mechanism = "{spec}", options = {options}}}')
        built = check(game)[3]
        plain = check(
            replace(game, mechanism="gaussian-marginals", mechanism_options=Options({"k": 2}))
        )[3]
        factor = 2 if "factor" in options else 3
        assert built.facts()["noise_sd"] == pytest.approx(factor * plain.facts()["noise_sd"])


def played(folder: Path, mechanism: str, jobs: int = 1) -> list[Result]:
    games(folder, mechanism)
    with Store(folder / "out") as store:
        rows = run(read_suite(folder / "mine.toml").units(), store, jobs=jobs)
    return [replace(row, seconds=0.0, peak_memory_mib=None) for row in rows]


def test_a_suite_with_a_plugin_and_its_options(tmp_path: Path, padded: str) -> None:
    factors = [
        f'{{mechanism = "{padded}", options = {{factor = {f}}}}}' for f in ("1.0", "1.5", "2.5")
    ]
    rows = played(tmp_path, f'["{padded}", {", ".join(factors)}]')
    assert len(rows) == 3 * 2 * 2 and all(row.error is None for row in rows)
    assert [row.mechanism_options for row in rows[::4]] == [
        Options({"k": 2, **more}) for more in ({}, {"factor": 1.5}, {"factor": 2.5})
    ]
    quiet, more, most = (row.facts["mechanism.noise_sd"] for row in rows[::4])
    assert more == pytest.approx(1.5 * quiet) and most == pytest.approx(2.5 * quiet)
    assert {row.mechanism for row in rows} == {"padded"}
    assert len(summarise(rows)) == 6
    assert played(tmp_path, f'["{padded}", {", ".join(factors)}]', jobs=2) == rows


def answers(spec: str) -> Sequence[np.ndarray]:
    release = Round.draw(replace(SEX, mechanism=plugins.make_absolute(spec))).view.release
    assert isinstance(release, MarginalsRelease)
    return release.answers


def test_a_plugin_gives_the_same_numbers_wherever_it_lies(tmp_path: Path, padded: str) -> None:
    """The noise follows the content of the file and the class, not the folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy = f"{shutil.copy(tmp_path / 'padded.py', elsewhere / 'renamed.py')}:Padded"
    (elsewhere / "edited.py").write_text(PADDED + "\n# another one\n")
    for answer, copied in zip(answers(padded), answers(copy), strict=True):
        assert np.array_equal(answer, copied)
    assert plugins.identify_spec(padded) == plugins.identify_spec(copy)
    others = [f"{elsewhere / 'edited.py'}:Padded", padded.replace(":Padded", ":Open")]
    for other in others:
        assert plugins.identify_spec(other) != plugins.identify_spec(padded)
        assert not np.array_equal(answers(other)[0], answers(padded)[0])
    mine, theirs = (
        play(Round.draw(replace(SEX, mechanism=spec)), AttackSpec("averaging"))
        for spec in (padded, copy)
    )
    assert mine.differences(theirs) == []


def test_identities_of_what_is_no_file() -> None:
    assert plugins.identify_spec("gaussian-marginals") == "gaussian-marginals"
    with pytest.raises(plugins.PluginError, match="no plugin file"):
        plugins.identify_spec("/nowhere/x.py:X")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("acs", "acs"),
        ("/a/b/prior.bif", "prior.bif"),
        ("/a/b/data.py:made", "data.py:made"),
        ("data.py:made", "data.py:made"),
    ],
)
def test_names_without_folders(spec: str, name: str) -> None:
    assert plugins.shorten_spec(spec) == name
