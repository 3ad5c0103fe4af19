"""Attackers with another prior, and the ceiling for whoever has only theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from reconbench.attacks import ExactMatch
from reconbench.benchmarks.game import attacker_prior
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.bounds import CONFIDENCES, ApproxDP, MisfitTheorem35, Targets, Theorem35
from reconbench.datasets import Attribute, BayNet, Domain, Table
from reconbench.mechanisms import MarginalsRelease

SEX = Game("acs", ("SEX",), 1.0)
LEVELS = tuple(f"{level:g}" for level in CONFIDENCES)


def test_an_attacker_with_another_prior() -> None:
    """Same table, release and ceilings; only what the attacker believes is another."""
    game = replace(SEX, n=40, epsilon=3.0)
    same = Round.draw(game)
    other = Round.draw(replace(game, attacker_prior="records:50"))
    assert other.table_hash == same.table_hash and other.truth == same.truth
    answers = []
    for round_ in (same, other):
        assert isinstance(round_.view.release, MarginalsRelease)
        answers.append(np.concatenate([answer.ravel() for answer in round_.view.release.answers]))
    assert np.array_equal(answers[0], answers[1])
    assert same.view.prior is same.prior and other.prior is same.prior
    assert other.view.prior.sha256() != same.prior.sha256()
    assert Round.draw(other.game).view.prior is other.view.prior
    own, theirs = (play(round_, AttackSpec("posterior")) for round_ in (same, other))
    assert theirs.attacker_prior == "records:50" and own.attacker_prior == "same"
    assert theirs.setting != own.setting
    assert theirs.baseline_expected == own.baseline_expected
    assert own.best_possible is not None and theirs.best_possible is None
    assert not [name for name in own.info if name.startswith("misfit_")]
    assert [name for name in theirs.info if name.startswith("misfit_")] == ["misfit_believed"]


def test_the_corrected_ceiling_stands_among_the_others() -> None:
    game = replace(SEX, n=40, epsilon=3.0, attacker_prior="records:50")
    own, theirs = (
        play(Round.draw(each), AttackSpec("prior"))
        for each in (replace(game, attacker_prior="same"), game)
    )
    corrected = theirs.ceilings[MisfitTheorem35.name]
    assert {**own.ceilings, MisfitTheorem35.name: corrected} == theirs.ceilings
    assert MisfitTheorem35.name not in own.ceilings and tuple(corrected) == LEVELS
    assert all(corrected[level] >= own.ceilings["thm35"][level] for level in LEVELS)


def test_too_many_values_leave_the_ceiling_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacker_prior, "MOST_GUESSES", 1)
    row = play(Round.draw(replace(SEX, n=20, attacker_prior="records:50")), AttackSpec("prior"))
    assert MisfitTheorem35.name not in row.ceilings and "thm35" in row.ceilings


@pytest.mark.parametrize("metric", ["exact", "l1:1"])
def test_the_corrected_prior_success_covers_every_guess(metric: str) -> None:
    """p(z) ≤ max q + γ for all z, by listing both; with equal priors it is the best guess's."""
    game = Game("acs", ("AGEP",), 1.0, n=30, metric=metric, attacker_prior="records:50")
    round_ = Round.draw(game)
    parts = (round_.metric, round_.view.known, game.targets)
    bound = attacker_prior.bound_misfit_success(round_.prior, round_.view.prior, *parts)
    assert bound is not None and (bound >= round_.baseline[1] - 1e-12).all() and bound.max() <= 1
    exact = attacker_prior.bound_misfit_success(round_.prior, round_.prior, *parts)
    assert exact is not None and exact == pytest.approx(round_.baseline[1])
    many = ("SCHL", "AGEP", "RELP")
    known = round_.view.known.project(["MAR"])
    assert (
        attacker_prior.bound_misfit_success(
            round_.prior, round_.view.prior, round_.metric, known, many
        )
        is None
    )


def net(chances: Sequence[float]) -> BayNet:
    """A public column of one value, and a hidden one with the given chances."""
    columns = (Attribute("a", ("-", "+")), Attribute("c", ("0", "1", "2")))
    domain = Domain(columns)
    cpts = (np.array([1.0, 0.0]), np.array(chances, dtype=np.float64))
    return BayNet(domain, ((), ()), cpts, domain.names)


def corrected(p: BayNet, q: BayNet, n: int) -> npt.NDArray[np.float64]:
    known = Table(p.domain.project(["a"]), np.zeros((n, 1), dtype=np.int64))
    found = attacker_prior.bound_misfit_success(p, q, ExactMatch(), known, ("c",))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ((0.5, 0.5, 0.0), (1 / 3, 1 / 3, 1 / 3), 0.5),  # 1/3 + (1/2 − 1/3)
        ((0.7, 0.2, 0.1), (0.2, 0.7, 0.1), 1.0),  # 0.7 + 0.5, at most 1
        ((0.4, 0.3, 0.3), (0.6, 0.2, 0.2), 0.7),  # 0.6 + 0.1: p is never above 0.4
        ((0.6, 0.3, 0.1), (0.6, 0.3, 0.1), 0.6),
    ],
)
def test_closed_forms(p: Sequence[float], q: Sequence[float], expected: float) -> None:
    assert corrected(net(p), net(q), 3) == pytest.approx([expected] * 3)


def test_a_tight_attack_with_the_wrong_prior_does_not_pass_the_corrected_ceiling() -> None:
    """Randomised response, where Theorem 3.5 is tight, against an attacker who believes in q.

    Values 0 and 1 are equally likely and 2 never occurs; the attacker takes all three for equally
    likely, so P = 1/3 + (1/2 − 1/3) = 1/2. A record with 0 or 1 is reported as it is with chance
    e^ε/(1 + e^ε), else as the other; one with 2 as either: ε-DP. The attacker's best guess under q
    is the report. False alarms of each comparison: below 1e-6 (a normal deviation of 5).

    Negative control: at max q alone, without the gap, nearly every run passes.
    """
    n, epsilon, runs = 60, 1.0, 40_000
    rng = np.random.default_rng(5)
    p, q = net((0.5, 0.5, 0.0)), net((1 / 3, 1 / 3, 1 / 3))
    truth = rng.choice(3, p=(0.5, 0.5, 0.0), size=(runs, n))
    honest = exp(epsilon) / (1 + exp(epsilon))
    chances = np.array([[honest, 1 - honest], [1 - honest, honest], [0.5, 0.5]])
    report = (rng.random((runs, n)) >= chances[truth, 0]).astype(int)
    believed = np.full((3, 1), 1 / 3) * chances
    successes = (believed.argmax(axis=0)[report] == truth).sum(axis=1)
    budget = ApproxDP(epsilon, 0.0)
    targets = Targets(np.zeros(n), budget, read_misfit_success=lambda: corrected(p, q, n))
    ceilings = MisfitTheorem35.ceilings(targets, budget)
    naive = Theorem35(np.full(n, 1 / 3), budget)
    for level in CONFIDENCES:
        ceiling, allowed = ceilings[f"{level:g}"], 1 - level
        error = 5 * (allowed * level / runs) ** 0.5
        assert (successes > ceiling).mean() <= allowed + error
        # one less would be passed too often: the correction costs nothing here
        assert binom.sf(ceiling - 1, n, honest) > allowed
        assert (successes > naive.ceiling(level)).mean() > allowed + 0.04


TWINS = """
import numpy as np
from reconbench.datasets import Attribute, BayNet, Domain

def twins():
    columns = (Attribute("a", ("0", "1")), Attribute("b", ("0", "1")))
    domain = Domain(columns)
    likely = np.array([[0.95, 0.05], [0.05, 0.95]])
    return BayNet(domain, ((), (0,)), (np.array([0.5, 0.5]), likely), domain.names)
"""


@pytest.mark.slow
def test_the_ceiling_in_games_of_an_attacker_who_takes_columns_for_independent(
    tmp_path: Path,
) -> None:
    """b equals a with chance 0.95, the attacker thinks it is a coin: P is near 0.95.

    Of 60 runs more than 60·0.05 + 8 pass the 95 % ceiling with a probability below 1e-4 (binomial
    tail at the nominal level). Negative control: the ceiling of the attacker's prior alone.
    """
    path = tmp_path / "twins.py"
    path.write_text(TWINS)
    game = Game(
        f"{path}:twins",
        ("b",),
        0.5,
        n=150,
        mechanism_options=Options({"k": 2}),
        attacker_prior="independent",
        seed=3,
    )
    runs, above, naive_above = 60, 0, 0
    for rep in range(runs):
        round_ = Round.draw(game.repeat(rep))
        row = play(round_, AttackSpec("posterior", {"sweeps": 40, "burn_in": 20, "rounds": 1}))
        believed = round_.metric.best_guess(round_.view.prior, round_.view.known, ("b",))[1]
        naive = Theorem35(believed, round_.mechanism.budget).ceiling(0.95)
        assert row.successes is not None
        above += row.successes > row.ceilings[MisfitTheorem35.name]["0.95"]
        naive_above += row.successes > naive
        assert row.dataset == "twins.py:twins"
    assert binom.sf(11, runs, 0.05) < 1e-4
    assert above <= 11
    assert naive_above > 30
