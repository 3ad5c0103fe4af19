from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackError
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import (
    Adversary,
    AttackSpec,
    Game,
    GameError,
    Round,
    check,
    play,
)
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.game.result import Result, ResultError, Status
from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
from reconbench.benchmarks.run.runner import Unit, play_units
from reconbench.benchmarks.store.summary import summarise
from reconbench.bounds import ApproxDP, CompactTail, theorem_3_5
from reconbench.mechanisms import MarginalsRelease

SEX = Game("acs", ("SEX",), 1.0)


def rows(game: Game, attack: str, reps: int) -> list[Result]:
    return [play(Round.draw(replace(game, rep=rep)), AttackSpec(attack)) for rep in range(reps)]


def test_streams_are_named() -> None:
    draws = {
        make_stream(purpose, axes).integers(2**62)
        for purpose in ("table", "release")
        for axes in ({"n": 1}, {"n": 2}, {"n": 1, "k": 3})
    }
    assert len(draws) == 6
    same = [make_stream("table", {"a": 1, "b": 2}), make_stream("table", {"b": 2, "a": 1})]
    assert same[0].integers(2**62) == same[1].integers(2**62)


def released(round_: Round) -> Sequence[npt.NDArray[np.float64]]:
    assert isinstance(round_.view.release, MarginalsRelease)
    return round_.view.release.answers


def test_attacks_meet_the_same_table_and_noise() -> None:
    one, other = Round.draw(SEX), Round.draw(SEX)
    assert one.truth == other.truth and one.table_hash == other.table_hash
    for first, second in zip(released(one), released(other), strict=True):
        assert np.array_equal(first, second)
    assert Round.draw(replace(SEX, epsilon=2.0)).table_hash == one.table_hash
    assert Round.draw(replace(SEX, rep=1)).table_hash != one.table_hash
    assert Round.draw(replace(SEX, seed=1)).table_hash != one.table_hash


def test_attacks_cannot_change_what_they_share() -> None:
    round_ = Round.draw(SEX)
    with pytest.raises(ValueError, match="read-only"):
        released(round_)[0][:] = 0
    with pytest.raises(ValueError, match="read-only"):
        round_.view.known.codes[:] = 0


def test_view_holds_no_hidden_cell() -> None:
    round_ = Round.draw(SEX)
    assert "SEX" not in round_.view.known.domain
    assert round_.view.known.domain.names == tuple(
        n for n in round_.prior.domain.names if n != "SEX"
    )


def test_row_of_the_prior() -> None:
    (row,) = rows(SEX, "prior", 1)
    assert row.successes == row.baseline_successes
    assert row.expected_from_prior == pytest.approx(row.baseline_expected)
    assert row.facts["mechanism.sigma"] == pytest.approx(38.228, abs=1e-3)
    assert row.facts["mechanism.mu"] == pytest.approx(0.268051, abs=1e-6)
    assert row.relation == "replace-one" and row.unit == "one record"
    assert set(row.versions) == {
        *("reconbench", "numba", "numpy", "scikit-learn", "scipy", "torch")
    }
    expected = theorem_3_5(Round.draw(SEX).baseline[1], ApproxDP(1.0, 1e-5))
    assert row.ceilings["thm35"] == {f"{c:g}": v for c, v in expected.items()}


def test_ceilings_move_with_the_metric() -> None:
    exact, close, all_ = (
        rows(Game("acs", ("AGEP",), 1.0, metric=metric), "prior", 1)[0]
        for metric in ("exact", "l1:1", "l1:9")
    )
    assert exact.baseline_expected < close.baseline_expected < all_.baseline_expected
    assert exact.ceilings["thm35"]["0.5"] < close.ceilings["thm35"]["0.5"]
    assert all_.successes == all_.n and all_.baseline_expected == pytest.approx(100)


def test_corollary_needs_all_repetitions() -> None:
    played = rows(SEX, "random", 4)
    assert all("cor34" not in row.ceilings for row in played)
    bounded = add_repetition_ceilings(played)
    assert len({json.dumps(row.ceilings["cor34"]) for row in bounded}) == 1
    # for a weak attack the corollary is tighter than the theorem that holds for all attacks
    assert bounded[0].ceilings["cor34"]["0.95"] < bounded[0].ceilings["thm35"]["0.95"]


def test_infinite_epsilon() -> None:
    (row,) = rows(Game("fire", ("ALS Unit",), inf), "prior", 1)
    assert (
        row.facts["mechanism.sigma"] == 0
        and row.facts["mechanism.mu"] == inf
        and row.ceilings["thm35"]["0.05"] == 100
    )
    assert row.to_json()["epsilon"] == "inf"
    assert Result.from_json(json.loads(json.dumps(row.to_json(), allow_nan=False))) == row


def test_known_columns_may_be_few() -> None:
    game = Game("acs", ("SEX",), 1.0, known=("MAR", "AGEP"), mechanism_options=Options({"k": 2}))
    (row,) = rows(game, "rap", 1)
    assert row.known == ("AGEP", "MAR")
    assert row.facts["mechanism.sigma"] == pytest.approx(2**0.5 / row.facts["mechanism.mu"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": ("NOPE",)}, "unknown column 'NOPE'; this domain has AGEP"),
        ({"targets": ()}, "at least one target"),
        ({"targets": ("SEX", "SEX")}, "named twice"),
        ({"known": ("SEX",)}, "both known and a target"),
        ({"known": ("NOPE",)}, "unknown column 'NOPE'"),
        ({"n": 0}, "n must be at least 1"),
        ({"mechanism_options": Options({"k": 17})}, "k must be between 1 and the 16 columns"),
        ({"epsilon": 0.0}, "epsilon must be > 0"),
        ({"epsilon": -2.0}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "epsilon must be > 0"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\)"),
        ({"delta": -0.5}, r"delta must be in \[0, 1\)"),
        ({"metric": "l1:1"}, "not ordinal"),
        ({"metric": "l3"}, "unknown metric"),
        ({"mechanism": "magic"}, "unknown mechanism 'magic'; available: aim, exact-marginals"),
        ({"dataset": "census"}, "unknown dataset 'census'; available: acs, adult, "),
        ({"dataset": "none.bif"}, "no file"),
        ({"mechanism_options": "workload=all"}, "mechanism_options must be a JSON object"),
        ({"attacker_prior": "records:0"}, "unknown attacker_prior 'records:0'; use 'same'"),
    ],
)
def test_bad_games(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(replace(SEX, **change))


def test_no_known_column() -> None:
    names = Round.draw(SEX).prior.domain.names
    with pytest.raises(GameError, match="no known column"):
        check(Game("acs", names, 1.0))


BAD_PLUGIN = """
import numpy as np
class Shape:
    name = "shape"
    def reconstruct(self, view, rng):
        return view.reconstruction(np.zeros((3, 3), dtype=int))
class Codes:
    name = "codes"
    def reconstruct(self, view, rng):
        return view.reconstruction(np.full(view.n, 99))
class Nothing:
    name = "nothing"
    def reconstruct(self, view, rng):
        return None
class Raises:
    name = "raises"
    def reconstruct(self, view, rng):
        raise KeyError("of my own")
class Scores:
    name = "scores"
    def reconstruct(self, view, rng):
        return view.reconstruction(np.zeros(view.n, dtype=int), scores=[np.nan] * view.n)
class Info:
    name = "info"
    def reconstruct(self, view, rng):
        return view.reconstruction(np.zeros(view.n, dtype=int), info={"why": "because"})
class SkipRaises(Info):
    name = "skip-raises"
    def skip(self, view):
        raise OSError("asleep")
class Unbuilt:
    name = "unbuilt"
    def __init__(self):
        raise KeyError("parts")
    def reconstruct(self, view, rng): ...
class Quits:
    name = "quits"
    def reconstruct(self, view, rng):
        raise SystemExit(3)
class Hungry:
    name = "hungry"
    def reconstruct(self, view, rng):
        raise MemoryError
class Nameless:
    def reconstruct(self, view, rng):
        return None
class Shy:
    name = "shy"
    def skip(self, view):
        return "not today"
    def reconstruct(self, view, rng):
        raise RuntimeError
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Shape", r"guesses must have shape \(100, 1\)"),
        ("Codes", "code 99 is outside the domain"),
        ("Nothing", "must return a Reconstruction, got NoneType"),
        ("Raises", "attack 'raises' failed: KeyError: 'of my own'"),
        ("Scores", "scores must be 100 finite numbers"),
        ("Info", "attack 'info' failed: info must map names to numbers"),
        ("SkipRaises", "attack 'skip-raises' failed: OSError: asleep"),
        ("Unbuilt", "cannot be built: KeyError: 'parts'"),
        ("Quits", "attack 'quits' failed: SystemExit: 3"),
        ("Hungry", "attack 'hungry' ran out of memory"),
        ("Nameless", "needs a class attribute `name`"),
        ("Absent", "has no class or function 'Absent'"),
    ],
)
def test_bad_plugins(tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(BAD_PLUGIN)
    with pytest.raises(ValueError, match=message):
        play(Round.draw(SEX), AttackSpec(f"{path}:{name}"))


def test_plugins_that_do_not_import(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import nothing_like_this")
    with pytest.raises(ValueError, match="does not import: ModuleNotFoundError"):
        AttackSpec(f"{path}:X").build()
    with pytest.raises(ValueError, match="no plugin file"):
        AttackSpec(f"{tmp_path}/none.py:X").build()
    with pytest.raises(
        ValueError,
        match=r"unknown attack 'magic'; available: .*informed, .*posterior, prior, .*random, .*rap",
    ):
        AttackSpec("magic").build()
    with pytest.raises(ValueError, match=r"cannot be built.*its options: steps"):
        AttackSpec("rap", {"speed": 9}).build()
    with pytest.raises(AttackError, match="steps must be at least 1"):
        AttackSpec("rap", {"steps": 0}).build()


def test_failures_and_skips_become_rows(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(BAD_PLUGIN)
    specs = tuple(AttackSpec(f"{path}:{name}") for name in ("Raises", "Shy"))
    unit = Unit(SEX, (AttackSpec("prior"), *specs))
    played = [row for _, _, row in play_units([unit])]
    assert [row.status for row in played] == [Status.OK, Status.FAILED, Status.SKIPPED]
    assert "of my own" in (played[1].error or "") and played[2].error == "not today"
    summaries = summarise(played)
    assert [s.attack for s in summaries] == ["prior", "raises", "shy"]
    assert summaries[1].failures == 1 and summaries[1].success is None


def test_facts_that_break_after_the_release_become_a_row(tmp_path: Path) -> None:
    """What a mechanism says of itself is read again once it has released: one line, one row."""
    path = tmp_path / "moody.py"
    path.write_text(
        "from reconbench.mechanisms import GaussianMarginals\n"
        "class Moody(GaussianMarginals):\n"
        "    name, mood = 'moody', 0.5\n"
        "    def release(self, table, rng):\n"
        "        type(self).mood = 'sad'\n"
        "        return super().release(table, rng)\n"
        "    def facts(self):\n"
        "        return {'mood': self.mood}\n"
    )
    game = replace(SEX, n=5, mechanism=f"{path}:Moody")
    ((_, _, row),) = play_units([Unit(game, (AttackSpec("prior"),))])
    assert row.status is Status.FAILED and row.error is not None
    assert row.error.startswith("setting up the game failed: mechanism ")
    assert row.error.endswith(
        "facts() must return a mapping of names to numbers, got dict {'mood': 'sad'}"
    )


def test_a_best_possible_that_has_not_converged_is_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reconbench.attacks.posterior.posterior.RHAT_LIMIT", 0.0)
    row = play(Round.draw(SEX), AttackSpec("posterior", {"rounds": 1}))
    assert row.successes is not None and row.best_possible_converged is False
    assert row.best_possible is None and row.best_possible_se is None
    assert row.best_successes is None


def test_the_distribution_of_the_best_attack_reaches_the_row() -> None:
    row = play(Round.draw(SEX), AttackSpec("posterior"))
    tail = CompactTail.from_json(row.best_successes or {})
    # Σ_{v ≥ 1} P[S ≥ v] = E[S]; 800 tables, so within a few hundredths of a standard deviation
    assert tail.tail(np.arange(1, row.n + 1)).sum() == pytest.approx(row.best_possible, rel=0.05)
    reports = Game("uniform:4", ("value",), 1.0, delta=0.0, n=20, mechanism="grr")
    exact = play(Round.draw(reports), AttackSpec("optimal"))
    tail = CompactTail.from_json(exact.best_successes or {})
    assert tail.tail(np.arange(1, 21)).sum() == pytest.approx(exact.best_possible, rel=1e-6)
    informed = replace(SEX, adversary=Adversary.INFORMED)
    assert play(Round.draw(informed), AttackSpec("informed")).best_successes is None


def test_the_best_possible_success_reaches_the_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the records that the informed adversary attacks one by one, errors add in squares.

    A plugin is not believed: only the judge and attacks of this package state what is possible.
    """
    path = tmp_path / "sure.py"
    path.write_text(
        "from reconbench.attacks import BestPossible\n"
        "class Sure:\n"
        "    name = 'sure'\n"
        "    def reconstruct(self, view, rng):\n"
        "        best = BestPossible(0.5 * view.n, error=0.1)\n"
        "        return view.reconstruction([0] * view.n, best_possible=best)\n"
    )
    round_ = Round.draw(SEX)
    assert round_.best_possible is not None
    for attack in (f"{path}:Sure", "posterior", "prior"):
        assert play(round_, AttackSpec(attack)).best_possible == round_.best_possible.expected
    monkeypatch.setattr(Round, "judges", ())
    assert play(Round.draw(SEX), AttackSpec(f"{path}:Sure")).best_possible is None
    assert play(Round.draw(SEX), AttackSpec("posterior")).best_possible is not None
    monkeypatch.setattr("reconbench.benchmarks.game.play._is_shipped", lambda player: True)
    for adversary, expected, error in (("realistic", 2.0, 0.1), ("informed", 2.0, 0.2)):
        game = replace(SEX, n=4, adversary=Adversary(adversary))
        row = play(Round.draw(game), AttackSpec(f"{path}:Sure"))
        assert row.best_possible == expected and row.best_possible_converged is True
        assert row.best_possible_se == pytest.approx(error)
    (silent,) = rows(SEX, "prior", 1)
    assert silent.best_possible is None and silent.best_possible_converged is None


def test_rows_report_the_memory_in_use() -> None:
    (row,) = rows(SEX, "prior", 1)
    assert row.peak_memory_mib is not None and 20 < row.peak_memory_mib < 1e6


def test_rows_from_outside_are_checked() -> None:
    (row,) = rows(SEX, "prior", 1)
    good = row.to_json()
    bad_rows: list[object] = [
        [],
        {**good, "spam": 1},
        {**good, "status": "fine"},
        {"dataset": "acs"},
        {**good, "n": "<script>"},
        {**good, "ceilings": {"thm35": {"0.95": "many"}}},
        {**good, "run_tail": {"n": 3}},
    ]
    for bad in bad_rows:
        with pytest.raises(ResultError):
            Result.from_json(bad)


def test_summary_interval() -> None:
    played = [replace(row, successes=50 + row.rep) for row in rows(SEX, "prior", 3)]
    (summary,) = summarise(played)
    assert summary.success == 51
    # Student: 51 ± 4.3027 · 1/√3
    assert summary.success_low == pytest.approx(51 - 4.302653 / 3**0.5, abs=1e-4)
    assert summary.success_high == pytest.approx(51 + 4.302653 / 3**0.5, abs=1e-4)
    (single,) = summarise(played[:1])
    assert single.success_low is None and single.repetitions == 1


def test_an_adversary_given_as_text_is_the_adversary() -> None:
    text = Game("acs", ("SEX",), epsilon=1.0, n=3, adversary="informed")
    assert text == Game("acs", ("SEX",), epsilon=1.0, n=3, adversary=Adversary.INFORMED)
    assert text.repeat(1).adversary is Adversary.INFORMED
    assert len(list(Round.draw(text).views())) == 3
