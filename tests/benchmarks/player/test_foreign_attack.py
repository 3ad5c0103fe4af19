"""What crosses the border, and what the referee makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.player.messages import (
    Answer,
    BadMessage,
    decode_answers,
    encode_answers,
    get_state,
    make_generator,
    read_info,
    read_reply,
    read_text,
    write_reply,
)
from reconbench.benchmarks.player.referee import limit_players

TWIN = """
from reconbench.attacks.baselines import RandomGuess

class Twin(RandomGuess):
    pass
"""
SPY = """
class Spy:
    name = "spy"
    seen = []
    def reconstruct(self, view, rng):
        self.seen.append(view)
        return view.reconstruction([0] * view.n, info={"seen": len(self.seen)})
"""
GAME = Game("acs", ("SEX",), 3.0, n=12)


def reader(content: bytes):  # type: ignore[no-untyped-def]
    position = 0

    def read(length: int) -> bytes:
        nonlocal position
        part = content[position : position + length]
        position += length
        return part

    return read


def test_generators_survive_the_way() -> None:
    rng = np.random.default_rng(5)
    rng.integers(0, 10, 3, dtype=np.int32)
    twin = make_generator(get_state(rng))
    assert (twin.random(5) == rng.random(5)).all()


def test_answers_survive_the_way() -> None:
    state = get_state(np.random.default_rng(1))
    answers = [
        Answer(np.arange(6).reshape(3, 2), np.array([0.1, 0.2, 0.3]), {"a": 1.5}, None, state),
        Answer(np.zeros((2, 2), int), None, {}, (1.0, 0.5, True), state),
    ]
    entries, arrays = encode_answers(answers)
    header, body = read_reply(reader(write_reply({"answers": entries}, arrays)), 2, 200)
    found = decode_answers(header["answers"], body, [(3, 2), (2, 2)])
    for one, other in zip(answers, found, strict=True):
        assert (one.codes == other.codes).all() and one.state == other.state
        assert dict(one.info) == dict(other.info) and one.best_possible == other.best_possible
    assert found[0].scores is not None and (found[0].scores == answers[0].scores).all()


@pytest.mark.parametrize(
    ("entry", "body"),
    [
        ({}, b""),
        ({"state": ["1", "2", "3"]}, b"0" * 8),
        ({"state": ["1", "2", "0", "-1"]}, b"0" * 8),
        ({"state": ["1", "2", "2", "0"]}, b"0" * 8),
        ({"state": [str(1 << 128), "2", "0", "0"]}, b"0" * 8),
        ({"state": ["1", "2", "0", "0"]}, b"0" * 16),
        ({"state": ["1", "2", "0", "0"]}, b"0" * 7),
        ({"state": ["1", "2", "0", "0"], "scores": True}, b"0" * 8),
        ({"state": ["1", "2", "0", "0"], "info": {"a": "b"}}, b"0" * 8),
        ({"state": ["1", "2", "0", "0"], "info": [1]}, b"0" * 8),
        ({"state": ["1", "2", "0", "0"], "best_possible": [1.0, 2.0]}, b"0" * 8),
        ({"state": ["1", "2", "0", "0"], "best_possible": [1e400, 2.0, True]}, b"0" * 8),
        ("text", b"0" * 8),
    ],
)
def test_answers_that_do_not_fit_are_refused(entry: object, body: bytes) -> None:
    with pytest.raises(BadMessage):
        decode_answers([entry], body, [(1, 1)])


def test_texts_and_numbers_are_cleaned() -> None:
    assert read_text("a\x1b[31m\nb", "a text") == "a [31m b"
    assert len(read_text("x" * 10**6, "a text")) == 2000
    with pytest.raises(BadMessage):
        read_text(3, "a text")
    with pytest.raises(BadMessage):
        read_info({"x" * 101: 1})
    with pytest.raises(BadMessage):
        read_reply(reader(write_reply({"a": "b"}, [np.zeros(9)])), 0, 64)


@pytest.mark.parametrize("adversary", list(Adversary))
def test_a_copy_of_our_attack_gets_the_rows_of_ours(tmp_path: Path, adversary: Adversary) -> None:
    """Same stream, same guesses, same successes: the border changes nothing.

    Only ours is known never to look at the release, so its expected score is the prior's.
    """
    (tmp_path / "twin.py").write_text(TWIN)
    game = replace(GAME, adversary=adversary, advantage=3)
    round_ = Round.draw(game)
    ours = play(round_, AttackSpec("random"))
    theirs = play(round_, AttackSpec(f"{tmp_path / 'twin.py'}:Twin"))
    scores = {"expected_successes", "expected_successes_se", "scored_by"}
    assert set(ours.differences(theirs)) <= scores
    assert ours.guess_hash == theirs.guess_hash and ours.successes == theirs.successes


def test_informed_views_do_not_outlive_their_game(tmp_path: Path) -> None:
    """Together they hold the whole table, which a later game may play on."""
    (tmp_path / "spy.py").write_text(SPY)
    spy = AttackSpec(f"{tmp_path / 'spy.py'}:Spy")
    plain = Round.draw(GAME)
    assert [play(plain, spy).info["seen"] for _ in range(2)] == [1, 2]
    play(Round.draw(replace(GAME, adversary=Adversary.INFORMED)), spy)
    assert play(plain, spy).info["seen"] == 1


@pytest.mark.parametrize("mechanism", plugins.get_entries("mechanism"))
def test_the_view_of_every_mechanism_crosses_the_border(tmp_path: Path, mechanism: str) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    game = replace(GAME, mechanism=mechanism)
    try:
        round_ = Round.draw(game)
    except ValueError as error:
        pytest.skip(f"no such game: {error}")
    assert play(round_, AttackSpec(f"{tmp_path / 'spy.py'}:Spy")).info["seen"] == 1


def test_relative_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    monkeypatch.chdir(tmp_path)
    assert AttackSpec("spy.py:Spy").build().name == "spy"


def test_players_are_replaced_when_a_folder_is_hidden(tmp_path: Path) -> None:
    """The player of before must not be asked again: it is gone."""
    (tmp_path / "spy.py").write_text(SPY)
    (tmp_path / "secret").mkdir()
    spy = AttackSpec(f"{tmp_path / 'spy.py'}:Spy")
    assert spy.build().name == "spy"
    try:
        limit_players(None, str(tmp_path / "secret"))
        assert spy.build().name == "spy"
    finally:
        limit_players(None)
    assert spy.build().name == "spy"
