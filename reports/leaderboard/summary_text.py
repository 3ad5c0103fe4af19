"""The summary at the top of a leaderboard page, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from reconbench.benchmarks.store.summary import Summary, tightest_mean
from reconbench.reports.leaderboard.flags import MEANINGS, Weight
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.text.number_format import brief, budget, listed, number
from reconbench.reports.text.templates import printable

MOST_NAMES = 6


def write_summary(leaderboard: Leaderboard) -> list[Markup]:
    """What was played, what was reconstructed, where most, and whether to trust it."""
    played = [row for row in leaderboard.summaries if not row.computed]
    if not any(row.success is not None for row in played):
        return []
    first = leaderboard.ranking[0]
    group = (first.adversary, first.attacker_prior)
    rows = [row for row in played if (row.adversary, row.attacker_prior) == group]
    # without a ceiling on the mean nothing is ranked
    leading = first.attack if first.share is not None else label_attack(max(rows, key=_share))
    return [_say_what_played(rows), *_say_what_leaked(rows, leading), _say_trust(leaderboard)]


def _share(row: Summary) -> float:
    return (row.success or 0.0) / row.n


def _say_what_played(rows: Sequence[Summary]) -> Markup:
    attacks = list(dict.fromkeys(label_attack(row) for row in rows))
    games = {row.setting for row in rows}
    epsilons = sorted({row.epsilon for row in rows})
    most = max(row.repetitions for row in rows)
    return Markup(
        "{} guessed hidden columns of every record from a noisy release: {} on {}, at ε = {}, {} "
        "each."
    ).format(
        _list_names(attacks),
        _count(len(games), "game"),
        _list_names(list(dict.fromkeys(row.dataset for row in rows))),
        listed([budget(epsilon) for epsilon in epsilons])
        if len(epsilons) <= MOST_NAMES
        else f"{budget(epsilons[0])} to {budget(epsilons[-1])}",
        _count(most, "repetition"),
    )


def _say_what_leaked(rows: Sequence[Summary], leading: str) -> list[Markup]:
    """Means over the games that the leading attack finished, and the one where it gained most."""
    mine = [row for row in rows if label_attack(row) == leading and row.success is not None]
    if not mine:
        return []
    sentences = [
        Markup(
            "Of all records, guessing from the prior alone gets {} right, the leading attack ({}) "
            "{}{}.{}"
        ).format(
            _percent([(row.baseline, row.n) for row in mine]),
            _mark_name(leading),
            _percent([(row.success or 0.0, row.n) for row in mine]),
            _say_limits(mine),
            _say_excess(mine),
        )
    ]
    top = max(mine, key=lambda row: ((row.success or 0.0) - row.baseline) / row.n)
    gained = (top.success or 0.0) - top.baseline
    if gained > 0:
        most = tightest_mean(top.ceilings)
        sentences.append(
            Markup("It gains most on {} of {} at ε = {}: {} records of {} instead of {}{}.").format(
                _mark_name(top.column),
                _mark_name(top.dataset),
                budget(top.epsilon),
                number(top.success),
                f"{top.n:,}",
                number(top.baseline),
                "" if most is None else f"; no attack expects more than {number(most)}",
            )
        )
    return sentences


def _say_limits(rows: Sequence[Summary]) -> str:
    best = [(row.best_possible, row.n) for row in rows if row.best_possible is not None]
    most = [
        (ceiling, row.n) for row in rows if (ceiling := tightest_mean(row.ceilings)) is not None
    ]
    text = f"; the best possible is {_percent(best)}" if len(best) == len(rows) else ""
    if len(most) == len(rows):
        text += f"{', and' if text else ';'} no attack gets more than {_percent(most)} on average"
    return text


def _say_excess(rows: Sequence[Summary]) -> str:
    room = sum(
        (ceiling - (row.success or 0.0)) / row.n
        for row in rows
        if (ceiling := tightest_mean(row.ceilings)) is not None
    )
    return "" if room >= 0 else " Anything above that is chance, unless an alarm says otherwise."


def _say_trust(leaderboard: Leaderboard) -> Markup:
    alarms = [
        f"{flag} in {_count(count, 'row')}"
        for flag, count in leaderboard.count_flags().items()
        if MEANINGS[flag].weight is Weight.ALARM
    ]
    text = (
        f"Alarms: {listed(alarms)}. Read below what they mean before trusting the numbers."
        if alarms
        else "No row raised an alarm."
    )
    ranked = [attack for attack in leaderboard.ranking if attack.share is not None]
    if any(attack.low is None for attack in ranked):
        text += " One repetition is too few to trust the order of the attacks: play more."
    elif any((attack.high or 0.0) - (attack.low or 0.0) > 1 for attack in ranked):
        text += (
            " Some intervals are wider than the whole gap, so the order of the attacks may be "
            "chance. Play more repetitions."
        )
    return Markup("{}").format(text)


def _percent(counts: Sequence[tuple[float, int]]) -> str:
    return f"{number(100 * fmean(count / n for count, n in counts))} %"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _list_names(names: Sequence[str]) -> Markup:
    shown: list[str] = [_mark_name(name) for name in names[:MOST_NAMES]]
    left = len(names) - len(shown)
    return Markup(listed([*shown, *([f"{left} more"] if left else [])]))


def _mark_name(text: str) -> Markup:
    return Markup("<bdi>{}</bdi>").format(printable(brief(text)))
