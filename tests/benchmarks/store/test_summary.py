"""The best possible success of a game, beside every attack that played it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, ResultError, Status
from reconbench.benchmarks.game.scores import ScoredBy
from reconbench.benchmarks.store.optimum import REFERENCES
from reconbench.benchmarks.store.summary import summarise
from reconbench.bounds.ceilings.compact_tail import CompactTail, mixture_quantile


@pytest.fixture(scope="module")
def rows(drop_scores: Callable[[Result], Result]) -> list[Result]:
    rounds = [Round.draw(Game("acs", ("SEX",), epsilon=1.0, n=5, rep=rep)) for rep in range(3)]
    return [drop_scores(play(each, AttackSpec("prior"))) for each in rounds]


def stating(rows: list[Result], attack: str = "posterior", **more: Any) -> list[Result]:
    values = zip((3.0, 4.0, 4.5), (0.3, 0.0, 0.4), strict=True)
    found = [
        replace(
            row,
            attack=attack,
            best_possible=best,
            best_possible_se=error,
            best_possible_converged=True,
        )
        for row, (best, error) in zip(rows, values, strict=True)
    ]
    return [replace(row, **more) for row in found]


def test_every_attack_of_the_game_carries_the_mean(rows: list[Result]) -> None:
    for found in summarise([*rows, *stating(rows)]):
        assert found.best_possible == pytest.approx(11.5 / 3)
        assert found.best_possible_se == pytest.approx(0.5 / 3)
        assert found.best_possible_converged is True


def test_none_if_the_reference_did_not_play(rows: list[Result]) -> None:
    (found,) = summarise(rows)
    assert found.best_possible is found.best_possible_se is found.best_possible_converged is None


def test_a_claim_of_another_attack_does_not_count(rows: list[Result]) -> None:
    for attack in ("mine", "informed"):
        assert all(each.best_possible is None for each in summarise(stating(rows, attack)))
    informed = stating(rows, "informed", adversary="informed")
    assert summarise(informed)[0].best_possible is not None
    assert set(REFERENCES) == {each.value for each in Adversary}


def test_a_cut_search_bounds_the_best_possible(rows: list[Result]) -> None:
    stated = stating(rows)
    stated[0] = replace(stated[0], scored_by=ScoredBy.EXACT)
    stated[1] = replace(stated[1], info={"best_possible_at_most": 4.25})
    stated[2] = replace(
        stated[2],
        info={"best_possible_at_most": 4.75},
        best_possible=None,
        best_possible_se=None,
        best_possible_converged=False,
    )
    for found in summarise([*rows, *stated]):
        assert found.best_possible is None
        assert found.best_possible_at_most == pytest.approx((3.0 + 4.25 + 4.75) / 3)
    weaker = [replace(row, info={"best_possible_at_most": 5.0}) for row in stated]
    assert summarise([*weaker, *stated])[0].best_possible_at_most == pytest.approx(12 / 3)
    foreign = replace(stated[2], attack="mine")
    assert summarise([*stated[:2], foreign])[0].best_possible_at_most == pytest.approx(7.25 / 2)
    stated[1] = replace(stated[1], info={})
    assert summarise(stated)[0].best_possible_at_most is None


@pytest.mark.parametrize("attack", ["agia-prior", "extraction-prior", "optimal"])
@pytest.mark.parametrize("adversary", list(Adversary))
def test_attacks_of_this_package_are_believed(
    rows: list[Result], attack: str, adversary: Adversary
) -> None:
    """Whatever the mechanism: other families have references of their own."""
    found = summarise(stating(rows, attack, adversary=adversary.value))
    assert found[0].best_possible == pytest.approx(11.5 / 3)


def test_a_failed_row_says_nothing(rows: list[Result]) -> None:
    assert summarise(stating(rows, status=Status.FAILED))[0].best_possible is None


def test_one_repetition_that_did_not_converge_is_told(rows: list[Result]) -> None:
    stated = stating(rows)
    for doubt in (False, None):
        stated[1] = replace(stated[1], best_possible_converged=doubt)
        for each in summarise([*rows, *stated]):
            assert each.best_possible_converged is False
            assert each.best_possible is None and each.best_possible_se is None
    stated[1] = replace(stated[1], best_possible=None, best_possible_converged=False)
    assert summarise(stated)[0].best_possible_converged is False


def test_other_games_keep_their_own(rows: list[Result]) -> None:
    others = [replace(row, epsilon=2.0) for row in rows]
    first, second, _ = summarise([*rows, *others, *stating(others)])
    assert first.best_possible is None
    assert second.best_possible is not None


def test_of_variants_the_surest_counts(rows: list[Result]) -> None:
    variant = [
        replace(row, attack_options={"sweeps": 9}, best_possible=1.0, best_possible_converged=False)
        for row in stating(rows)
    ]
    for order in ([*variant, *stating(rows)], [*stating(rows), *variant]):
        assert summarise(order)[0].best_possible == pytest.approx(11.5 / 3)


def test_rows_of_before_still_load_and_new_ones_come_back(rows: list[Result]) -> None:
    raw = rows[0].to_json()
    for name in ("best_possible", "best_possible_se", "best_possible_converged"):
        del raw[name]
    assert Result.from_json(raw) == rows[0]
    (stated, *_) = stating(rows)
    assert Result.from_json(stated.to_json()) == stated
    with pytest.raises(ResultError, match="unknown field"):
        Result.from_json({**raw, "best": 1.0})


def test_the_quantile_of_the_best_attack_needs_every_repetition(rows: list[Result]) -> None:
    n = rows[0].n
    tails = [CompactTail.of_draws(n, [rep, rep + 1]) for rep in range(len(rows))]
    stated = [
        replace(row, best_successes=tail.to_json())
        for row, tail in zip(stating(rows), tails, strict=True)
    ]
    assert Result.from_json(stated[0].to_json()) == stated[0]
    for each in summarise([*rows, *stated]):
        assert each.best_attack_95 == mixture_quantile(tails, 0.95)
    older = [replace(stated[0], best_successes=None), *stated[1:]]
    doubtful = [replace(stated[0], best_possible_converged=False), *stated[1:]]
    for partial in (older, doubtful):
        assert summarise(partial)[0].best_attack_95 is None
    with pytest.raises(ResultError, match="best_successes must be a tail of a dist"):
        Result.from_json({**stated[0].to_json(), "best_successes": {"n": 0}})
