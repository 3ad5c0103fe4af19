"""What a leaderboard adds to rows: shares, gaps, paired tests, flags, printed values, ranking."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.reports import Leaderboard
from reconbench.reports.leaderboard.comparisons import compare_attacks
from reconbench.reports.leaderboard.flags import MEANINGS, Flag, binomial_tail, find_flags
from reconbench.reports.leaderboard.paired_differences import compare_to_attack, compare_to_prior
from reconbench.reports.leaderboard.printed_values import (
    FILE,
    PrintedValues,
    find_printed_values,
    load_printed_values,
)
from reconbench.reports.leaderboard.ranking import RankedAttack, rank_attacks
from reconbench.reports.statistics import EXACT_STEPS, sign_flip


def played(
    row: Summary, successes: tuple[int, ...], priors: tuple[int, ...] | None = None
) -> Summary:
    """The row with these repetitions, scored by what was drawn; the prior's guess gets 48 in each
    unless it is given."""
    priors = priors or (48,) * len(successes)
    base = row.baseline_expected
    gains = [got - prior for got, prior in zip(successes, priors, strict=True)]
    return replace(
        row,
        scores={rep: (base + gain, base) for rep, gain in enumerate(gains)},
        expected_success=base + fmean(gains),
        outcomes=dict(enumerate(zip(successes, priors, strict=True))),
        repetitions=len(successes),
        success=fmean(successes),
        baseline=fmean(priors),
        success_low=None,
        success_high=None,
    )


def rank(rows: Sequence[Summary]) -> list[RankedAttack]:
    return rank_attacks(rows, compare_attacks(rows))


def raised(row: Summary) -> set[Flag]:
    return set(find_flags(row, in_paper=False))


def test_shares_and_gaps_are_their_formulas(bounded: Summary) -> None:
    row = replace(played(bounded, (52, 54)), best_possible=56.0, best_possible_converged=True)
    assert (row.expected_success, row.baseline_expected) == (53.25, 48.25)
    other = replace(row, adversary="informed", attack="informed", best_possible=60.0)
    first, second = Leaderboard.from_summaries([row, other]).rows
    assert first["normalised_advantage"] == pytest.approx((53.25 - 48.25) / (100 - 48.25))
    assert first["gap_closed"] == pytest.approx((53.25 - 48.25) / (63.15 - 48.25))
    assert first["gap_attack"] == pytest.approx(56 - 53.25)
    assert first["gap_threat"] == pytest.approx(60 - 56)
    assert first["gap_bound"] == pytest.approx(63.15 - 60)
    assert first["gap_open"] is None
    parts = ("gap_attack", "gap_threat", "gap_bound")
    assert sum(float(first[each] or 0) for each in parts) == pytest.approx(63.15 - 53.25)
    assert second["gap_open"] == pytest.approx(63.15 - 60)
    assert second["gap_threat"] is second["gap_bound"] is None


def test_a_share_of_nothing_is_empty(bounded: Summary) -> None:
    certain = replace(bounded, baseline=100.0, baseline_expected=100.0, success=100.0)
    (row,) = Leaderboard.from_summaries([certain]).rows
    assert row["normalised_advantage"] is row["gap_closed"] is None


def test_the_tightest_ceilings_are_the_smallest_proved_ones(bounded: Summary) -> None:
    (row,) = Leaderboard.from_summaries([bounded]).rows
    found = [row[f"tightest_{level}"] for level in ("0.05", "0.5", "0.95", "mean")]
    assert found == [64.0, 67.0, 77.0, 63.15]


@pytest.mark.parametrize(
    ("metric", "within"), [("exact", 0), ("l1:0", 0), ("l1:12", 12), ("any", None), ("l1:x", None)]
)
def test_the_allowed_error_is_read_from_the_metric(
    summary: Summary, metric: str, within: int | None
) -> None:
    assert Leaderboard.from_summaries([replace(summary, metric=metric)]).rows[0]["within"] == within


def test_paired_differences_have_students_interval(summary: Summary) -> None:
    rap = played(summary, (50, 52, 47, 49, 55))
    one = replace(played(summary, (55, 58, 51, 50, 60)), attack="one")
    to_rap = compare_to_attack([rap, one])
    assert to_rap[0] is None and to_rap[1] is not None
    gaps = (5, 6, 4, 1, 5)
    half = student.ppf(0.975, 4) * np.std(gaps, ddof=1) / 5**0.5
    found = to_rap[1]
    assert (found.mean, found.low, found.high) == pytest.approx((4.2, 4.2 - half, 4.2 + half))
    to_prior = compare_to_prior([rap, one])
    assert to_prior[1] is not None and to_prior[1].mean == pytest.approx(34 / 5)
    (single,) = compare_to_prior([played(summary, (50,))])
    assert single is not None and single.low is single.high is None


def test_only_repetitions_that_both_finished_are_compared(summary: Summary) -> None:
    rap = played(summary, (50, 52, 47))
    other = replace(played(summary, (51, 53, 99)), attack="other")
    other = replace(other, scores={rep: other.scores[rep] for rep in (0, 1)})
    found = compare_to_attack([other, rap])[0]
    assert found is not None
    assert (found.repetitions, found.mean) == (2, 1.0)


def test_games_are_not_compared_with_other_games(summary: Summary) -> None:
    rap = played(summary, (50, 52))
    other = replace(rap, attack="other", epsilon=2.0)
    assert compare_to_attack([rap, other]) == [None, None]


def test_a_sign_flip_test_that_is_too_large_is_sampled() -> None:
    size = EXACT_STEPS // 10
    assert sign_flip([size] * 12) == pytest.approx(1 / 10_000, abs=9 / 10_000)
    rng = np.random.default_rng(5)
    small = rng.integers(-30, 40, 15)
    # a seeded sample of 9,999 patterns: five standard errors, false alarm below 1e-6
    exact = sign_flip(small)
    sampled = sign_flip(small * size)
    assert abs(sampled - exact) < 5 * (exact * (1 - exact) / 9_999) ** 0.5 + 1e-4


def test_the_rank_is_by_the_pooled_share_with_repetitions_as_blocks(bounded: Summary) -> None:
    small = replace(bounded, targets=("B",), ceilings={"prior-exact": {"mean": 50.25}})
    rows = [played(bounded, (52, 55, 51)), played(small, (50, 47, 49))]
    (found,) = rank(rows)
    gaps = [63.15 - 48.25, 50.25 - 48.25]
    gained = [(52 + 55 + 51) / 3 - 48, (50 + 47 + 49) / 3 - 48]
    assert found.share == pytest.approx(sum(gained) / sum(gaps))
    # the same as the mean of the cells' shares with the gaps as weights
    shares = [a / b for a, b in zip(gained, gaps, strict=True)]
    assert found.share == pytest.approx(np.average(shares, weights=gaps))
    assert found.plain_mean == pytest.approx(fmean(shares))
    blocks = [(52 + 50 - 96) / sum(gaps), (55 + 47 - 96) / sum(gaps), (51 + 49 - 96) / sum(gaps)]
    assert found.share is not None
    half = student.ppf(0.975, 2) * np.std(blocks, ddof=1) / 3**0.5
    assert (found.low, found.high) == pytest.approx((found.share - half, found.share + half))


def test_the_prior_closes_nothing(bounded: Summary) -> None:
    prior = replace(played(bounded, (45, 52, 47), (45, 52, 47)), attack="prior")
    (found,) = rank([prior])
    assert (found.share, found.low, found.high) == (0.0, 0.0, 0.0)


def test_attacks_that_cannot_be_told_apart_tie(bounded: Summary) -> None:
    scores: Mapping[str, tuple[int, ...]] = {
        "sharp": (58, 58, 59, 58, 60, 57, 58, 59),
        "close": (55, 60, 57, 61, 59, 58, 56, 60),
        "weak": (49, 49, 48, 49, 50, 48, 49, 49),
    }
    rows = [replace(played(bounded, got), attack=name) for name, got in scores.items()]
    assert {each.attack: each.rank for each in rank(rows)} == {"sharp": 1, "close": 1, "weak": 3}
    assert {row["attack"]: row["suite_rank"] for row in Leaderboard.from_summaries(rows).rows}[
        "weak"
    ] == 3


def test_an_unfinished_cell_counts_as_the_priors_guess(bounded: Summary, failed: Summary) -> None:
    whole = [played(replace(bounded, targets=(name,)), (55, 56)) for name in ("A", "B")]
    lost = replace(failed, targets=("B",), attack="other")
    half = [replace(whole[0], attack="other"), lost]
    found = {each.attack: each for each in rank([*whole, *half])}
    assert found["other"].share == pytest.approx((found["rap"].share or 0) / 2)
    assert (found["other"].finished, found["other"].cells) == (1, 2)
    assert found["other"].flag_counts[Flag.FAILED] == 1


def test_the_interval_of_an_unfinished_suite_shrinks_with_its_share(
    bounded: Summary, failed: Summary
) -> None:
    """Cells that count as the prior's guess have no spread."""
    one = played(replace(bounded, targets=("A",)), (55, 58, 52))
    rest = replace(failed, targets=("B",), attack="rap")
    gap = replace(one, targets=("B",), attack="other")
    found = {each.attack: each for each in rank([one, rest, gap])}["rap"]
    (alone,) = rank([one])
    assert found.share == pytest.approx((alone.share or 0) / 2)
    assert (found.high or 0) - (found.low or 0) == pytest.approx(
        ((alone.high or 0) - (alone.low or 0)) / 2
    )


def test_one_repetition_ranks_without_an_interval(bounded: Summary) -> None:
    rows = [replace(played(bounded, (got,)), attack=name) for name, got in (("a", 50), ("b", 52))]
    found = rank(rows)
    assert [(each.attack, each.rank, each.low) for each in found] == [
        ("b", 1, None),
        ("a", 1, None),
    ]


def test_adversaries_are_ranked_apart(bounded: Summary) -> None:
    rows = [played(bounded, (55, 56)), replace(played(bounded, (60, 61)), adversary="informed")]
    assert [each.rank for each in rank(rows)] == [1, 1]


@pytest.mark.parametrize(
    ("count", "trials", "chance"), [(0, 5, 0.05), (2, 5, 0.05), (60, 500, 0.1)]
)
def test_the_binomial_tail(count: int, trials: int, chance: float) -> None:
    assert binomial_tail(count, trials, chance) == pytest.approx(
        binom.sf(count - 1, trials, chance)
    )


def test_flags_of_a_sound_row(bounded: Summary) -> None:
    row = replace(played(bounded, (55, 49, 57)), best_possible=55.0, best_possible_converged=True)
    assert raised(row) == set()


def test_each_flag_is_raised_by_its_reason(bounded: Summary, failed: Summary) -> None:
    sound = replace(played(bounded, (55, 49, 57)), best_possible=55.0, best_possible_converged=True)
    vacuous = {"thm35": {"0.95": 100.0}, "prior-exact": {"mean": 63.15}}
    narrow = {"thm35": {"0.95": 90.0}, "prior-exact": {"mean": 49.0}}
    cases = {
        Flag.ABOVE: replace(sound, above_ceiling=2 / 3),
        Flag.PASSED: replace(sound, repetitions=20, above_ceiling=0.05),
        Flag.ABOVE_MEAN: replace(played(sound, (80, 82, 81, 79)), best_possible=55.0),
        Flag.BY_CHANCE: replace(played(sound, (60, 68, 64)), best_possible=55.0),
        Flag.FAILED: replace(sound, failures=1),
        Flag.BELOW: played(sound, (40, 41, 40)),
        Flag.UNCONVERGED: replace(sound, best_possible=None, best_possible_converged=False),
        Flag.SKIPPED: replace(sound, skipped=1),
        Flag.VACUOUS: replace(sound, ceilings=vacuous),
        Flag.MEAN_ONLY: replace(sound, ceilings={"prior-exact": {"mean": 70.0}}),
        Flag.NO_GAP: replace(played(sound, (48, 48, 48)), ceilings=narrow),
        Flag.SINGLE: played(sound, (55,)),
        Flag.NO_REFERENCE: replace(sound, best_possible=None, best_possible_converged=None),
        Flag.SEALED: replace(sound, sealed=True),
        Flag.COMPUTED: replace(sound, attack="none", adversary="none", success=None),
    }
    for flag, row in cases.items():
        assert raised(row) == {flag}, flag
    assert set(find_flags(sound, in_paper=True)) == {Flag.PAPER}
    noisy = replace(played(sound, (40, 66, 47)), ceilings={**narrow, "prior-exact": {"mean": 52.0}})
    assert Flag.NO_GAP in raised(noisy)
    assert raised(replace(sound, above_ceiling=1 / 3, surprise=1e-4)) == {Flag.ABOVE}
    assert raised(replace(sound, above_ceiling=1 / 3, surprise=1e-2)) == {Flag.PASSED}
    assert {*cases, Flag.PAPER} == set(Flag) == set(MEANINGS)
    assert Flag.FAILED in raised(failed)


def test_passes_of_the_proved_ceiling_count_where_there_is_one(bounded: Summary) -> None:
    sound = replace(played(bounded, (55, 49, 57)), best_possible=55.0, best_possible_converged=True)
    assert raised(replace(sound, above_ceiling=0.0, above_proved=2 / 3)) == {Flag.ABOVE}
    assert raised(replace(sound, repetitions=20, above_ceiling=0.0, above_proved=0.05)) == {
        Flag.PASSED
    }


def test_equal_repetitions_alone_raise_no_alarm(bounded: Summary) -> None:
    """An interval of width 0 a little above the ceiling is luck."""
    row = replace(bounded, baseline_expected=99.0, ceilings={"prior-exact": {"mean": 99.5}})
    assert Flag.ABOVE_MEAN not in raised(played(row, (100, 100, 100), (99, 99, 99)))


def test_every_printed_value_ships_with_its_source() -> None:
    shipped = json.loads(FILE.read_text(encoding="utf-8"))
    assert len(load_printed_values()) == len(shipped)
    sex, age = load_printed_values().values()
    assert (sex.baseline, sex.success, sex.ceilings) == (56, 65, {"0.95": 84})
    assert (age.success, age.ceilings) == (81, {"0.05": 82})
    for each in load_printed_values().values():
        assert "California" in each.note and "Swanberg" in each.paper
    with pytest.raises(ValueError, match="not between 0 and 10"):
        PrintedValues("p", "d", ("A",), 1.0, 10, 3, "exact", "rap", 11, None, {}, "")


def test_a_printed_value_stands_beside_its_game_only(summary: Summary) -> None:
    others = tuple(f"column {index}" for index in range(15))
    row = replace(summary, targets=("SEX",), known=others)
    assert find_printed_values(row) is not None
    assert find_printed_values(replace(row, seed=7, held_out=100)) is not None
    for other in (
        replace(row, targets=("AGEP",)),
        replace(row, epsilon=inf),
        replace(row, n=10),
        replace(row, attack="prior"),
        replace(row, adversary="informed"),
        replace(row, attack_options={"steps": 1}),
        replace(row, known=others[:3]),
        replace(row, delta=1e-9),
        replace(row, mechanism="pgm"),
        replace(row, mechanism_options=Options({"k": 2})),
        replace(row, attacker_prior="independent"),
        replace(row, target_records=10),
        replace(row, access="measurements"),
    ):
        assert find_printed_values(other) is None
    (found,) = Leaderboard.from_summaries([row]).rows
    assert (found["paper_success"], found["paper_ceiling_0.95"]) == (65, 84)
    assert "paper-value" in str(found["flags"])
    assert found["success"] == summary.success


def test_real_rows_carry_their_repetitions() -> None:
    rounds = [Round.draw(Game("acs", ("SEX",), epsilon=1.0, n=10, rep=rep)) for rep in range(3)]
    results = [play(each, AttackSpec("prior")) for each in rounds]
    (row,) = summarise(results)
    assert row.outcomes == {r.rep: (r.successes, r.baseline_successes) for r in results}
    assert row.above_proved == 0.0
    (found,) = Leaderboard.from_summaries([row], "demo").rows
    assert found["suite"] == "demo" and found["scored_by"] == "prior"
    assert found["against_prior"] == pytest.approx(0.0)
