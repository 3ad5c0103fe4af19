"""The advantage of attacks in the ordinary game: exact where it is known, nil where it must be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reconbench.attacks import AttackError
from reconbench.benchmarks.game.play import (
    Adversary,
    AttackSpec,
    Game,
    GameError,
    Round,
    play,
    play_together,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.worlds.advantage import THEOREM_4_2, THEOREM_4_3, find_ceiling
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.bounds.rad import (
    LaplaceNoise,
    rad_finite,
    rad_grr,
    rad_location,
    success_within,
)
from reconbench.datasets import BayNet, Table
from reconbench.datasets.prior_families import uniform as uniform_prior
from reconbench.datasets.shipped import acs

PLUGIN = """
from reconbench.attacks.rad_optimal import Optimal

class Theirs(Optimal):
    name = "theirs"

class Breaks(Optimal):
    name = "breaks"
    calls = 0
    def reconstruct(self, view, rng):
        Breaks.calls += 1
        if Breaks.calls > 1:
            raise OSError("no luck")
        return super().reconstruct(view, rng)
"""


LADDER = """
from dataclasses import dataclass

import numpy as np
from reconbench.bounds import ApproxDP, PureDP
from reconbench.mechanisms.channels import ChannelRelease, sample_outputs

@dataclass(frozen=True)
class Ladder:
    domain: object
    hidden: tuple
    epsilon: float
    delta: float = 0.0
    name = "ladder"

    @classmethod
    def for_budget(cls, domain, hidden, epsilon, delta, *, k=1):
        return cls(domain, tuple(hidden), epsilon, delta)

    @property
    def table(self):
        codes = np.arange(self.domain[self.hidden[0]].size)
        far = np.abs(np.subtract.outer(codes, codes)) / (len(codes) - 1)
        weights = np.exp(-self.epsilon * far / 2)
        return weights / weights.sum(axis=0)

    @property
    def guarantee(self):
        return PureDP(self.epsilon)

    @property
    def budget(self):
        return ApproxDP(self.epsilon, self.delta)

    def release(self, table, rng):
        outputs = sample_outputs(self.table, table.column(self.hidden[0]), rng)
        return ChannelRelease(self.domain, self.hidden, self.table, outputs)

    def facts(self):
        return {}
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.py"
    path.write_text(PLUGIN, encoding="utf-8")
    return path


def rows(game: Game, attack: AttackSpec, reps: int) -> list[Result]:
    return [play(Round.draw(game.repeat(rep)), attack) for rep in range(reps)]


def measured(game: Game, attack: AttackSpec, reps: int) -> Summary:
    (found,) = summarise(rows(game, attack, reps))
    return found


def exact_rad(epsilon: float, target: str) -> float:
    """E over the known columns of Theorem 4.3 for GRR on one hidden column, by a sample of them.

    A report θ gains max_u π(u | x)(1[u = θ] − π(θ)) (p − q) for known columns x.
    """
    net = acs()
    size = net.domain[target].size
    every = Table(net.domain.project([target]), np.arange(size)[:, None])
    marginal = np.exp(net.log_evidence(every))
    sample = net.sample(4000, np.random.default_rng(0))
    known = sample.project([name for name in net.domain.names if name != target])
    given = net.conditional(known, [target])
    gap = (np.exp(epsilon) - 1) / (np.exp(epsilon) + size - 1)
    total = 0.0
    for theta in range(size):
        gains = given * ((np.arange(size) == theta) - marginal[theta])
        total += float(gains.max(axis=1).mean())
    return float(gap * total)


def test_optimal_attack_on_local_reports() -> None:
    """All records at once; 5 standard errors: a false alarm in a million."""
    game = Game("acs", ("MAR",), 2.0, n=500, mechanism="grr", advantage=500)
    found = measured(game, AttackSpec("optimal"), 8)
    exact = exact_rad(2.0, "MAR")
    assert exact > 0.02 and found.rad is not None
    # Over 4,000 attacked records the difference of two proportions has an sd of at most 1/√4000.
    assert abs(found.rad - exact) <= 5 / np.sqrt(8 * 500)
    assert found.rad_low is not None and found.rad_high is not None
    assert -1 <= found.rad_low < found.rad < found.rad_high <= 1
    assert found.rad_theorem == THEOREM_4_3
    # the bound given the known columns of 4,000 records, against that of another sample
    assert found.ceiling_rad == pytest.approx(exact, rel=0.05)


def test_one_at_a_time_is_all_at_once_for_local_reports(plugin: Path) -> None:
    """A plugin is not believed to read each report by itself: its records go one by one."""
    game = Game("acs", ("SEX",), 3.0, n=40, mechanism="grr", advantage=40)
    ours = rows(game, AttackSpec("optimal"), 4)
    theirs = rows(game, AttackSpec(f"{plugin}:Theirs"), 4)
    assert [row.rad_successes for row in ours] == [row.successes for row in ours]
    gap = np.mean([row.rad or 0 for row in ours]) - np.mean([row.rad or 0 for row in theirs])
    assert abs(gap) <= 5 / np.sqrt(4 * 40)


def test_it_is_off_by_default_and_changes_nothing_else() -> None:
    """The table, the noise and the attack's stream are those of the same game without it."""
    for attack, adversary in (("rap", Adversary.REALISTIC), ("informed", Adversary.INFORMED)):
        game = Game("acs", ("SEX",), 3.0, n=8, adversary=adversary)
        plain = play(Round.draw(game), AttackSpec(attack))
        both = play(Round.draw(replace(game, advantage=2)), AttackSpec(attack))
        assert plain.rad is None and plain.rad_ceiling is None and plain.advantage == 0
        assert set(plain.differences(both)) == {
            "advantage", "rad_successes", "rad_replaced", "rad_ceiling", "rad_theorem",
        }  # fmt: skip
        assert both.rad is not None and -1 <= both.rad <= 1
        assert plain.cell != both.cell
        assert Result.from_json(both.to_json()) == both


def test_repetitions_played_together_have_the_same_advantage() -> None:
    game = Game("acs", ("SEX",), 5.0, n=20, advantage=3)
    rounds = [Round.draw(game.repeat(rep)) for rep in range(2)]
    for one, together in zip(
        [play(each, AttackSpec("rap")) for each in rounds],
        play_together(rounds, AttackSpec("rap")),
        strict=True,
    ):
        assert one.differences(together) == []


@pytest.mark.parametrize("adversary", [Adversary.REALISTIC, Adversary.INFORMED])
@pytest.mark.parametrize("attack", ["imputation", "prior", "random"])
def test_attacks_that_ignore_the_release_have_none(attack: str, adversary: Adversary) -> None:
    """Exactly 0: both worlds share the attack's own stream."""
    game = Game("acs", ("MAR",), 10.0, n=30, adversary=adversary, advantage=3)
    options = {"records": 500} if attack == "imputation" else {}
    if attack == "imputation" and adversary is Adversary.INFORMED:
        assert measured(game, AttackSpec(attack, options), 1).skipped == 1
        return
    found = measured(game, AttackSpec(attack, options), 2)
    assert (found.rad, found.rad_low, found.rad_high) == (0, 0, 0)
    assert attack == "random" or (found.success or 0) > 0
    assert found.rad_theorem == THEOREM_4_2 and 0 < (found.ceiling_rad or 0) < 1


@pytest.mark.slow
def test_informed_adversary_on_a_noisy_sum() -> None:
    """The optimal attack reaches Theorem 4.3, within 5 standard errors: a false alarm in 10^5.

    Records of a table share its noise, so that a table is one trial.
    """
    game = Game(
        "hours:extreme", ("hours",), 3.0, delta=0.0, n=4, mechanism="laplace-sum", metric="l1:40",
        adversary=Adversary.INFORMED, advantage=4,
    )  # fmt: skip
    values = np.arange(101.0)
    near = success_within(np.abs(np.subtract.outer(values, values)), 40)
    prior = np.r_[0.5, np.zeros(99), 0.5]
    exact = rad_location(LaplaceNoise(100 / 3), values, prior, success=near).high
    # two values at equal odds: half the total variation, 1 − e^(−ε/2)
    assert exact == pytest.approx((1 - np.exp(-1.5)) / 2, abs=1e-6)
    played = rows(game, AttackSpec("optimal"), 80)
    assert {row.rad_theorem for row in played} == {THEOREM_4_3}
    assert played[0].rad_ceiling == pytest.approx(exact, abs=1e-3)
    found = np.array([row.rad for row in played])
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - exact) <= 5 * error < exact
    # the negative control: hardly any information, hardly any advantage
    blurred = rows(replace(game, epsilon=0.01), AttackSpec("optimal"), 30)
    noise = np.array([row.rad for row in blurred])
    assert noise.mean() < exact - error and abs(noise.mean()) <= 5 * noise.std(ddof=1) / np.sqrt(30)


def test_ceilings() -> None:
    uniform = Round.draw(Game("uniform:50", ("value",), 2.0, delta=0.0, n=5, mechanism="grr"))
    found = find_ceiling(uniform)
    assert found is not None and found.theorem == THEOREM_4_3
    assert found.value == pytest.approx(rad_grr(2.0, 50), rel=1e-12)
    # the data's prior counts, not what the attacker believes
    wrong = replace(uniform, view=replace(uniform.view, prior=skewed(50)))
    again = find_ceiling(wrong)
    assert again is not None and again.value == pytest.approx(found.value, rel=1e-12)
    marginals = Round.draw(Game("acs", ("MAR",), 3.0, n=5))
    black_box = find_ceiling(marginals)
    assert black_box is not None and black_box.theorem == THEOREM_4_2
    assert black_box.value == marginals.mechanism.guarantee.total_variation()
    # known columns that say something of the summed one: the whole of Theorem 4.3 is not known
    # also in a table of one record, where they are the same for all
    for n in (1, 5):
        known = Game("acs", ("AGEP",), 3.0, delta=0.0, n=n, mechanism="laplace-sum")
        limit = find_ceiling(Round.draw(known))
        assert limit is not None and limit.theorem == THEOREM_4_2


def skewed(size: int) -> BayNet:
    net = uniform_prior(size)
    chances = np.arange(1.0, size + 1)
    return replace(net, cpts=(chances / chances.sum(), *net.cpts[1:]))


@pytest.mark.parametrize(("metric", "eta"), [("exact", 0), ("l1:2", 2)])
def test_a_mechanism_of_ones_own_with_a_listed_channel(
    tmp_path: Path, metric: str, eta: int
) -> None:
    """The exponential mechanism on an ordered secret; 5 standard errors on 6,000 records."""
    path = tmp_path / "ladder.py"
    path.write_text(LADDER, encoding="utf-8")
    game = Game(
        "hours:peaked", ("hours",), 6.0, delta=0.0, n=2000, mechanism=f"{path}:Ladder",
        metric=metric, advantage=2000,
    )  # fmt: skip
    found = measured(game, AttackSpec("optimal"), 3)
    codes = np.arange(101)
    far = np.abs(np.subtract.outer(codes, codes))
    weights = np.exp(-3.0 * far / 100)
    prior = np.exp(-np.abs(codes - 40) / 10)
    prior[40] = 0
    prior = prior / prior.sum() / 2
    prior[40] = 0.5
    exact = rad_finite(weights / weights.sum(axis=0), prior, success=success_within(far, eta))
    assert exact > 0.01 and found.rad_theorem == THEOREM_4_3
    assert found.ceiling_rad == pytest.approx(exact, rel=1e-9)
    assert found.rad is not None and abs(found.rad - exact) <= 5 / np.sqrt(6000)


def test_refusals(plugin: Path) -> None:
    for bad in (-1, 11):
        with pytest.raises(GameError, match=f"between 0 .* and the 10 records, got {bad}"):
            Game("acs", ("MAR",), 1.0, n=10, advantage=bad)
    game = Game("acs", ("MAR",), 1.0, n=10, mechanism="grr", advantage=3)
    with pytest.raises(AttackError, match="attack 'breaks' failed: OSError: no luck"):
        play(Round.draw(game), AttackSpec(f"{plugin}:Breaks"))


def test_one_repetition_has_no_interval() -> None:
    game = Game("acs", ("MAR",), 1.0, n=10, advantage=3)
    found = measured(game, AttackSpec("prior"), 1)
    assert found.rad == 0 and found.rad_low is None and found.rad_high is None
