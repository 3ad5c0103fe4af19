"""Every shipped prior is played end to end: each attack against a release, scored and bounded."""

from __future__ import annotations

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Status

SENSITIVE = {
    "nist": "PINCP_DECILE",
    "adult": "income",
    "german": "credit_risk",
    "contraceptive": "contraceptive_method",
    "credit": "default",
    "nhanes": "diabetes",
    "fars": "ALCOHOL_RESULT",
}


@pytest.mark.parametrize(("name", "target"), SENSITIVE.items())
def test_attacks_play(name: str, target: str) -> None:
    round_ = Round.draw(Game(name, (target,), epsilon=3.0, n=40))
    worth = {}
    for attack in ("prior", "rap", "posterior"):
        result = play(round_, AttackSpec(attack))
        assert result.status is Status.OK, result.error
        assert result.successes is not None and 0 <= result.successes <= 40
        assert result.expected_successes is not None
        worth[attack] = result.expected_successes
    # Given this release nobody expects more than the posterior, up to the noise of its chains.
    assert worth["posterior"] >= worth["rap"] - 0.3
