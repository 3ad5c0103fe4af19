"""Columns that compare records of the table with records that were not in it."""

from __future__ import annotations

from reconbench.reports.column import Column, Direction, index_columns

RAD_COLUMNS = index_columns(
    [
        Column(
            "rad",
            "reconstruction advantage, from −1 to 1 (Guerra-Balboa 2026, Definition 4.1): the "
            "success rate on records that took part, minus that of the same attack on the same "
            "records when others took their place; mean over repetitions",
            direction=Direction.LEAKED,
        ),
        Column(
            "rad_low",
            "lower end of the 95 % interval of rad (Student's t over repetitions)",
            direction=Direction.LEAKED,
        ),
        Column("rad_high", "upper end of the 95 % interval of rad", direction=Direction.LEAKED),
        Column(
            "ceiling_rad",
            "no attack has a larger advantage in expectation; mean over repetitions",
            direction=Direction.ALLOWED,
        ),
        Column(
            "rad_theorem",
            "the source of ceiling_rad in Guerra-Balboa 2026: Theorem 4.3, from the channel of one "
            "record, or Theorem 4.2, from the total variation of the guarantee",
            "text",
        ),
    ]
)

HELD_OUT_COLUMNS = index_columns(
    [
        Column(
            "held_out_success",
            "share of the records that were not in the table which the same attack is expected to "
            "guess right from the same release, mean over repetitions",
            direction=Direction.LEAKED,
        ),
        Column(
            "memorised",
            "what the attack gains over the prior's guess on records of the table, minus what it "
            "gains on records that were not in it, as shares of records; mean over repetitions. "
            "The rest of its success is what the release says about everybody",
            direction=Direction.LEAKED,
        ),
        Column(
            "memorised_low",
            "lower end of the 95 % interval of memorised (Student's t over repetitions)",
            direction=Direction.LEAKED,
        ),
        Column(
            "memorised_high",
            "upper end of the 95 % interval of memorised",
            direction=Direction.LEAKED,
        ),
    ]
)
