"""One-run bounds say nothing about the informed adversary; bounds on the mean hold for him.

The counterexample is the parity of n fair bits, released by randomised response: pure ε-DP under
replace-one. Whoever knows all other bits reads each one off the report, so all n guesses are right,
with probability q = e^ε/(1 + e^ε), or none is. Everything is enumerated: no false alarms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import exp

import numpy as np
import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
from reconbench.benchmarks.plugins.bounds import shipped_bounds
from reconbench.benchmarks.plugins.check_bound import Candidate, SmallSetting, check_class
from reconbench.benchmarks.store.summary import summarise
from reconbench.bounds import Kind, PureDP, Targets, Theorem35, WholePriors
from reconbench.bounds.ceilings.misfit import MisfitTheorem35
from reconbench.reports.leaderboard.flags import binomial_tail

EPSILON = 1.0
REPETITIONS = 40
ONE_RUN = ("thm32", "thm35", "profile", "profile-recursion", "fdp-recursion")


def enumerate_parity(n: int, epsilon: float) -> np.ndarray:
    """P[L = v], v = 0, …, n, of the informed attack, over all tables and both reports."""
    chances = np.zeros(n + 1)
    for bits in product((0, 1), repeat=n):
        for flipped in (0, 1):
            report = (sum(bits) + flipped) % 2
            guesses = [(report - sum(bits) + bit) % 2 for bit in bits]  # from the others alone
            right = sum(guess == bit for guess, bit in zip(guesses, bits, strict=True))
            chances[right] += 2.0**-n * exp(-epsilon * flipped) / (1 + exp(-epsilon))
    return chances


@pytest.mark.parametrize("n", [2, 5, 8])
def test_parity_attains_markovs_inequality(n: int) -> None:
    chances = enumerate_parity(n, EPSILON)
    q = 1 / (1 + exp(-EPSILON))
    np.testing.assert_allclose(chances, [1 - q, *[0] * (n - 1), q], atol=1e-12)
    mean = float(chances @ np.arange(n + 1))
    # P[L ≥ n] = E[L]/n: no one-run bound from the mean alone is lower.
    assert chances[n] == pytest.approx(mean / n, rel=1e-12)


def test_parity_exceeds_the_one_run_ceilings_and_keeps_the_mean_ones() -> None:
    """Negative control: taken at their word, the one-run ceilings fail here."""
    n = 8
    chances = enumerate_parity(n, EPSILON)
    half = np.full(n, 0.5)
    whole = WholePriors(np.full((n, 2), 0.5))
    guarantee = PureDP(EPSILON)
    targets = Targets(half, guarantee, guess_success=half, read_whole_priors=lambda: whole)
    exceeded = set()
    for name in ONE_RUN:
        ceilings = shipped_bounds()[name].ceilings(targets, guarantee)
        for level, value in ceilings.items():
            if chances[int(value) + 1 :].sum() > 1 - float(level) + 1e-9:
                exceeded.add((name, level))
    assert {name for name, level in exceeded if level == "0.5"} == set(ONE_RUN)
    for name in ("mean", "prior-exact"):
        ceiling = shipped_bounds()[name].ceilings(targets, guarantee)["mean"]
        assert float(chances @ np.arange(n + 1)) <= ceiling + 1e-9


def test_one_run_bounds_refuse_the_informed_adversary_and_mean_bounds_do_not() -> None:
    for bound in shipped_bounds().values():
        prior = "independent" if bound is MisfitTheorem35 else "same"
        informed = SmallSetting(adversary="informed", attacker_prior=prior)
        reason = bound.holds_for(informed, informed)
        assert (reason is not None) == (bound.kind is Kind.ONE_RUN), bound.name
        for held in (replace(informed, n=1), replace(informed, adversary="realistic")):
            assert bound.holds_for(held, held) is None, bound.name


def test_the_kit_fails_a_one_run_bound_that_claims_the_informed_adversary() -> None:
    @dataclass(frozen=True, eq=False)
    class Bold(Theorem35):
        name = "bold"

        @classmethod
        def holds_for(cls, setting, metric):  # type: ignore[no-untyped-def]
            return None

    by_name = {check.name: check for check in check_class(Bold)}
    failed = [name for name, check in by_name.items() if check.passed is False]
    assert failed == ["covers the informed attack"]
    assert "exceeds" in by_name[failed[0]].detail
    assert not Candidate(Theorem35).holds_for_informed(20)


def play_informed(repetitions: int) -> list[Result]:
    game = Game(
        dataset="acs",
        targets=("SEX",),
        known=("AGEP",),
        epsilon=3.0,
        mechanism_options=Options({"k": 1}),
        adversary=Adversary.INFORMED,
        seed=77123,
    )
    rounds = (Round.draw(replace(game, rep=rep)) for rep in range(repetitions))
    return add_repetition_ceilings([play(round_, AttackSpec("informed")) for round_ in rounds])


@pytest.mark.slow
def test_no_ceiling_on_informed_rows_is_exceeded_more_often_than_allowed() -> None:
    """False alarms: 1e-3 per ceiling. The one-run ceilings for a realistic attacker fail: the 95 %
    ceiling of ``fdp-recursion`` is exceeded in 10 of these 40 runs."""
    rows = play_informed(REPETITIONS)
    successes = np.array([row.successes or 0 for row in rows], dtype=float)
    for name, levels in rows[0].ceilings.items():
        for level in levels:
            values = np.array([row.ceilings[name][level] for row in rows])
            if level == "mean":
                gaps = successes - values
                error = gaps.std(ddof=1) / np.sqrt(len(gaps))
                assert gaps.mean() <= 3.5 * error, name
            else:
                above = int((successes > values).sum())
                assert binomial_tail(above, len(values), 1 - float(level)) > 1e-3, (name, level)
    assert rows[0].ceilings.keys() >= {"mean", "prior-exact"}


def test_summaries_drop_one_run_ceilings_that_older_rows_have() -> None:
    false = {"thm35": {"0.05": 40, "0.5": 45, "0.95": 50}, "fdp-recursion": {"0.95": 48}}
    old = [replace(row, ceilings={**row.ceilings, **false}) for row in play_informed(2)]
    (summary,) = summarise(old)
    assert summary.ceilings.keys() == {"mean", "prior-exact"}
    assert summary.above_ceiling is None
    assert summary.above_proved is None
    realistic = [replace(row, adversary="realistic") for row in old]
    assert summarise(realistic)[0].ceilings.keys() >= {"thm35", "fdp-recursion"}
