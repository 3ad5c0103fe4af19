"""Alarms in words: rows that cannot be if attack, mechanism, prior and bounds are as claimed."""

from __future__ import annotations

from collections.abc import Sequence

from reconbench.benchmarks.game.setting import describe_setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import TOP, tightest, tightest_mean
from reconbench.reports.leaderboard.checks.ahead_of_best import find_attacks_ahead
from reconbench.reports.leaderboard.checks.self_check import check_scores
from reconbench.reports.leaderboard.flags import Flag, find_flags
from reconbench.reports.leaderboard.labels import label_attack

CAUSES = "the attack saw too much, or mechanism, prior or bound are not what they claim to be"


def list_alarms(summaries: Sequence[Summary]) -> list[str]:
    """A sentence for every row above its ceilings, for every attack above the best possible, and
    one if the scores contradict themselves."""
    alarms = [text for row in summaries if (text := _describe_alarm(row)) is not None]
    alarms += [attack.describe() for attack in find_attacks_ahead(summaries)]
    check = check_scores(summaries)
    return alarms if check is None or check.passed else [*alarms, check.describe()]


def _describe_alarm(row: Summary) -> str | None:
    flags = find_flags(row, in_paper=False)
    if Flag.ABOVE in flags:
        top, most = tightest(row.ceilings).get(TOP), max(got for got, _ in row.outcomes.values())
        what = f"up to {most:,} of {row.scored:,} records, above the 95 % ceiling of {top:,.0f}"
    elif Flag.ABOVE_MEAN in flags:
        ceiling = tightest_mean(row.ceilings)
        what = f"{row.expected_success:,.1f} of {row.scored:,} records on average, where no attack "
        what += f"expects more than {ceiling:,.1f}"
    else:
        return None
    return f"{label_attack(row)} on {describe_setting(row)}: {what}: {CAUSES}"
