"""The success and advantage of Algorithm 1 on drawn outputs, against listed channels."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.bounds.rad import FiniteChannel, optimal_sampled, success_within

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4
M = 6
NEAR = success_within(np.abs(np.subtract.outer(np.arange(M), np.arange(M))), 1)


@pytest.mark.parametrize("success", [None, NEAR], ids=["exact", "near"])
@pytest.mark.parametrize("aux", [None, np.arange(M) % 2, np.arange(M)], ids=["none", "part", "all"])
def test_algorithm_1_on_a_listed_channel(
    aux: np.ndarray | None, success: np.ndarray | None
) -> None:
    """Intervals cover; outputs of a sharper channel are told from those of this one."""
    rng = np.random.default_rng(2)
    prior, table = rng.dirichlet(np.full(M, 5.0)), rng.dirichlet(np.full(15, 3.0), M).T
    channel, leaky = (
        FiniteChannel(rows / rows.sum(axis=0), prior, aux, success) for rows in (table, table**2)
    )
    exact = channel.rad(), channel.success_of(channel.optimal())

    def covered(outputs_of: FiniteChannel) -> list[bool]:
        rows = rng.choice(len(outputs_of.table), 20_000, p=outputs_of.outputs)
        found = optimal_sampled(
            outputs_of.table[rows], prior, aux=aux, success=success, confidence=1 - FALSE_ALARM
        )
        return [
            interval.low <= value <= interval.high
            for interval, value in zip((found.rad, found.success), exact, strict=True)
        ]

    assert covered(channel) == [True, True]
    assert covered(leaky)[0] is False


def test_rows_are_up_to_a_factor_and_misses_are_no_success() -> None:
    rows = np.array([[0.2, 0.2, 0.6], [0.5, 0.4, 0.1]])
    found = optimal_sampled(rows * [[7.0], [1e-200]], 3, aux=np.arange(3))
    # Membership: yes where the posterior is above 1/3.
    assert found.rad.estimate == pytest.approx(np.mean([4 / 15, 1 / 6 + 1 / 15]))
    assert found.success.estimate == pytest.approx(np.mean([0.6, 0.9]))
    blind = optimal_sampled(np.ones((5, 3)), [0.5, 0.3, 0.2])
    assert (blind.rad.estimate, blind.rad.low) == (0.0, 0.0)
    assert blind.success.estimate == pytest.approx(0.5)


def test_bad_likelihoods_are_refused() -> None:
    for rows, message in (
        (np.ones((4, 2)), "one row an output and 3 columns, got shape"),
        (np.zeros((4, 3)), "not all 0"),
        (-np.ones((4, 3)), "not negative"),
        (np.full((4, 3), np.inf), "must be finite"),
        (np.ones((1, 3)), "outputs must be at least 2, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            optimal_sampled(rows, 3)
    with pytest.raises(ValueError, match="confidence"):
        optimal_sampled(np.ones((4, 3)), 3, confidence=1.0)
