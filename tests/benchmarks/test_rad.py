"""The advantage of attacks in the ordinary game: exact where it is known, nil where it must be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reconbench.attacks import AttackError
from reconbench.benchmarks.game import Adversary, AttackSpec, Game, GameError
from reconbench.benchmarks.rad import RadEstimate, Worlds, estimate_rad
from reconbench.datasets import Table
from reconbench.datasets.shipped import acs

MECHANISMS = (
    "from reconbench.mechanisms.ldp import GRRReports\n"
    "from reconbench.mechanisms.sums import LaplaceSum\n"
    "from reconbench.attacks.optimal import Optimal\n"
)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "local.py"
    path.write_text(MECHANISMS, encoding="utf-8")
    return path


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
    return gap * total


def test_optimal_attack_on_local_reports(plugin: Path) -> None:
    """All records at once; 5 standard errors: a false alarm in a million."""
    game = Game("acs", ("MAR",), 2.0, n=500, mechanism=f"{plugin}:GRRReports")
    found = estimate_rad(game, AttackSpec(f"{plugin}:Optimal"), 8, records=500, group=500)
    exact = exact_rad(2.0, "MAR")
    assert exact > 0.02
    # Over 4,000 attacked records the difference of two proportions has an sd of at most 1/√4000.
    assert abs(found.rad - exact) <= 5 / np.sqrt(8 * 500)
    low, high = found.interval()
    assert low < found.rad < high < found.total_variation


def test_one_at_a_time_is_all_at_once_for_local_reports(plugin: Path) -> None:
    game = Game("acs", ("SEX",), 3.0, n=40, mechanism=f"{plugin}:GRRReports")
    attack = AttackSpec(f"{plugin}:Optimal")
    single = estimate_rad(game, attack, 4, records=40, group=1)
    together = estimate_rad(game, attack, 4, records=40, group=40)
    assert [w.took_part for w in single.worlds] == [w.took_part for w in together.worlds]
    assert abs(single.rad - together.rad) <= 5 / np.sqrt(4 * 40)


@pytest.mark.parametrize("attack", ["imputation", "prior", "random"])
def test_attacks_that_ignore_the_release_have_none(attack: str) -> None:
    game = Game("acs", ("MAR",), 10.0, n=30)
    options = {"records": 500} if attack == "imputation" else {}
    found = estimate_rad(game, AttackSpec(attack, options), 2, records=3)
    assert found.rad == 0 and found.interval() == (0, 0)
    assert attack == "random" or found.success > 0


def test_informed_adversary_stays_below_the_total_variation(plugin: Path) -> None:
    """Theorem 4.2, on marginals and on a noisy sum; 40 records in each world, 5 deviations."""
    ordinal = next(each.name for each in acs().domain if each.ordinal)
    for mechanism, target, attack in (
        ("gaussian-marginals", "MAR", "informed"),
        (f"{plugin}:LaplaceSum", ordinal, f"{plugin}:Optimal"),
    ):
        game = Game("acs", (target,), 5.0, n=20, adversary=Adversary.INFORMED, mechanism=mechanism)
        found = estimate_rad(game, AttackSpec(attack), 5, records=8)
        assert found.rad <= found.total_variation + 5 / np.sqrt(5 * 8)
        assert found.success > 0


def test_refusals(plugin: Path) -> None:
    game = Game("acs", ("MAR",), 1.0, n=10)
    attack = AttackSpec("prior")
    with pytest.raises(GameError, match="reps must be at least 1"):
        estimate_rad(game, attack, 0)
    with pytest.raises(GameError, match="1 <= group <= records <= n = 10"):
        estimate_rad(game, attack, 1, records=11)
    informed = Game("acs", ("MAR",), 1.0, n=10, adversary=Adversary.INFORMED)
    with pytest.raises(GameError, match="group must be 1 for the informed"):
        estimate_rad(informed, attack, 1, records=4, group=2)
    with pytest.raises(AttackError, match="no finite channel"):
        estimate_rad(game, AttackSpec(f"{plugin}:Optimal"), 1)


def test_one_repetition_has_no_interval() -> None:
    found = RadEstimate("x", (Worlds(10, 6, 2),), 0.5)
    assert found.rad == pytest.approx(0.4) and found.interval() == (-1, 1)
    with pytest.raises(GameError, match="confidence must be"):
        found.interval(1.0)
