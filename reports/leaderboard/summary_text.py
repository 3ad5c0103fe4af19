"""The sentences at the top of a leaderboard page: what was found, and whether to trust it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.reports.leaderboard.flags import MEANINGS, Weight
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.text.number_format import brief, budget, listed, number
from reconbench.reports.text.templates import printable

MOST_NAMES = 6


def write_summary(leaderboard: Leaderboard) -> list[Markup]:
    """What was played, what was reconstructed, and where most: three sentences at most."""
    played = [row for row in leaderboard.summaries if not row.computed]
    if not any(row.expected_success is not None for row in played):
        return []
    first = leaderboard.ranking[0]
    group = (first.adversary, first.attacker_prior)
    rows = [row for row in played if (row.adversary, row.attacker_prior) == group]
    # without a ceiling on the mean nothing is ranked
    leading = first.attack if first.share is not None else label_attack(max(rows, key=_share))
    return [_say_what_played(rows), *_say_what_leaked(rows, leading)]


def write_computed(leaderboard: Leaderboard) -> list[Markup]:
    """What was computed, where no attack played."""
    rows = [row for row in leaderboard.summaries if row.computed]
    bounds = dict.fromkeys(name for row in rows for name in row.ceilings)
    metrics = dict.fromkeys(row.metric for row in rows)
    return [
        Markup(
            "No attack was played. {} computed: bounds on one target, from the guarantee."
        ).format(f"{_count(len(rows), 'row')} {'was' if len(rows) == 1 else 'were'}"),
        Markup("The values are {}, by {}: {}.").format(
            _list_names(list(metrics)), _count(len(bounds), "bound"), _list_names(list(bounds))
        ),
    ]


def write_plain(leaderboard: Leaderboard) -> list[str]:
    """All of the above as plain text: what was played or computed, and whether to trust it."""
    computed = all(row.computed for row in leaderboard.summaries)
    sentences = write_computed(leaderboard) if computed else write_summary(leaderboard)
    trust = [] if computed or not sentences else [write_trust(leaderboard)]
    return [*(sentence.striptags() for sentence in sentences), *trust]


def _share(row: Summary) -> float:
    return (row.expected_success or 0.0) / row.scored


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
    mine = [row for row in rows if label_attack(row) == leading and _is_scored(row)]
    if not mine:
        return []
    sentences = [
        Markup(
            "Of 100 records, guessing from the prior alone gets {} right, and the leading attack "
            "({}) expects {}{}."
        ).format(
            _per_hundred([(row.baseline_expected, row.scored) for row in mine]),
            _mark_name(leading),
            _per_hundred([(row.expected_success or 0.0, row.scored) for row in mine]),
            _say_limits(mine),
        )
    ]
    top = max(mine, key=lambda row: _gain(row) / row.scored)
    if _gain(top) > 0:
        sentences.append(
            Markup("It gains most on {} of {} at ε = {}: {} of {} records instead of {}{}.").format(
                _mark_name(top.column),
                _mark_name(top.dataset),
                budget(top.epsilon),
                number(top.expected_success),
                f"{top.scored:,}",
                number(top.baseline_expected),
                _say_most(top),
            )
        )
    return sentences


def _is_scored(row: Summary) -> bool:
    return row.expected_success is not None


def _gain(row: Summary) -> float:
    return (row.expected_success or 0.0) - row.baseline_expected


def _say_limits(rows: Sequence[Summary]) -> str:
    best = [(row.best_possible, row.scored) for row in rows if row.best_possible is not None]
    most = [
        (ceiling, row.scored)
        for row in rows
        if (ceiling := tightest_mean(row.ceilings)) is not None
    ]
    score = number(100 * fmean(_share(row) for row in rows))
    parts = []
    if len(best) == len(rows):
        limit = _per_hundred(best)
        parts.append(f"the best possible is {limit}{_explain_excess(score, limit)}")
    if len(most) == len(rows):
        limit = _per_hundred(most)
        excess = _explain_excess(score, limit, ", unless an alarm says otherwise")
        parts.append(f"no attack expects more than {limit}{excess}")
    return f"; {', and '.join(parts)}" if parts else ""


def _explain_excess(score: str, limit: str, but: str = "") -> str:
    """Why a score as printed is above a limit as printed."""
    return f" (the score is above it by chance{but})" if float(score) > float(limit) else ""


def _say_most(row: Summary) -> str:
    """The ceiling on the mean, and why the score beside it may be larger."""
    most = tightest_mean(row.ceilings)
    if most is None:
        return ""
    text = f"; no attack expects more than {number(most)}"
    if (row.expected_success or 0.0) <= most:
        return text
    low, high = row.expected_success_low, row.expected_success_high
    if low is None or high is None:
        return f"{text}, and the excess is the chance of {_count(row.repetitions, 'repetition')}"
    if low <= most:
        return (
            f"{text}, and the excess is chance: the 95 % interval is {number(low)} to "
            f"{number(high)}"
        )
    return f"{text}, and the whole 95 % interval is above it, which needs an explanation"


def write_trust(leaderboard: Leaderboard) -> str:
    """Whether an alarm was raised, and whether the order of the attacks may be chance."""
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
    check = leaderboard.self_check
    return text if check is None else f"{text} Check of the scores: {check.describe()}."


def _per_hundred(counts: Sequence[tuple[float, int]]) -> str:
    return number(100 * fmean(count / n for count, n in counts))


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _list_names(names: Sequence[str]) -> Markup:
    shown: list[str] = [_mark_name(name) for name in names[:MOST_NAMES]]
    left = len(names) - len(shown)
    return Markup(listed([*shown, *([f"{left} more"] if left else [])]))


def _mark_name(text: str) -> Markup:
    return Markup("<bdi>{}</bdi>").format(printable(brief(text)))
