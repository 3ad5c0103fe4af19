"""A leaderboard in a few sentences, for whoever reads nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean

from markupsafe import Markup

from reconbench.benchmarks.store.summary import Summary, tightest_mean
from reconbench.reports.leaderboard.attack_ranking import Standing, label
from reconbench.reports.leaderboard.row_warnings import MEANINGS, Weight
from reconbench.reports.leaderboard.table import Board
from reconbench.reports.text.number_format import budget, listed, number
from reconbench.reports.text.templates import printable

LONGEST = 60
MOST_NAMES = 6


def in_short(board: Board) -> list[Markup]:
    """What was played, what was reconstructed, where most, and whether to believe it."""
    played = [row for row in board.summaries if not row.computed]
    if not any(row.success is not None for row in played):
        return []
    first = board.standings[0]
    league = [row for row in played if _league(row) == (first.adversary, first.attacker_prior)]
    # without a ceiling on the mean nothing is ranked
    leading = first.attack if first.share is not None else label(max(league, key=_success))
    return [_played(league), *_reconstructed(league, leading), _believed(board)]


def _league(row: Summary) -> tuple[str, str]:
    return row.adversary, row.attacker_prior


def _success(row: Summary) -> float:
    return (row.success or 0.0) / row.n


def _played(rows: Sequence[Summary]) -> Markup:
    attacks = list(dict.fromkeys(label(row) for row in rows))
    games = {row.setting for row in rows}
    epsilons = sorted({row.epsilon for row in rows})
    most = max(row.repetitions for row in rows)
    return Markup(
        "{} guessed hidden columns of every record from a noisy release: {} on {}, at ε = {}, {} "
        "each."
    ).format(
        _names(attacks),
        _count(len(games), "game"),
        _names(list(dict.fromkeys(row.dataset for row in rows))),
        listed([budget(each) for each in epsilons])
        if len(epsilons) <= MOST_NAMES
        else f"{budget(epsilons[0])} to {budget(epsilons[-1])}",
        _count(most, "repetition"),
    )


def _reconstructed(rows: Sequence[Summary], leading: str) -> list[Markup]:
    """Means over the games that the leading attack finished, and the one where it gained most."""
    mine = [row for row in rows if label(row) == leading and row.success is not None]
    if not mine:
        return []
    found = [
        Markup(
            "Of all records, guessing from the prior alone gets {} right, the leading attack ({}) "
            "{}{}.{}"
        ).format(
            _percent([(row.baseline, row.n) for row in mine]),
            _name(leading),
            _percent([(row.success or 0.0, row.n) for row in mine]),
            _limits(mine),
            _lucky(mine),
        )
    ]
    top = max(mine, key=lambda row: ((row.success or 0.0) - row.baseline) / row.n)
    gained = (top.success or 0.0) - top.baseline
    if gained > 0:
        most = tightest_mean(top.ceilings)
        found.append(
            Markup("It gains most on {} of {} at ε = {}: {} records of {} instead of {}{}.").format(
                _name(top.column),
                _name(top.dataset),
                budget(top.epsilon),
                number(top.success),
                f"{top.n:,}",
                number(top.baseline),
                "" if most is None else f"; no attack expects more than {number(most)}",
            )
        )
    return found


def _limits(rows: Sequence[Summary]) -> str:
    best = [(row.best_possible, row.n) for row in rows if row.best_possible is not None]
    most = [(each, row.n) for row in rows if (each := tightest_mean(row.ceilings)) is not None]
    said = f"; the best possible is {_percent(best)}" if len(best) == len(rows) else ""
    if len(most) == len(rows):
        said += f"{', and' if said else ';'} no attack gets more than {_percent(most)} on average"
    return said


def _lucky(rows: Sequence[Summary]) -> str:
    most = [tightest_mean(row.ceilings) for row in rows]
    room = sum(
        (each - (row.success or 0.0)) / row.n
        for each, row in zip(most, rows, strict=True)
        if each is not None
    )
    return "" if room >= 0 else " What is above that is luck, unless an alarm says otherwise."


def _believed(board: Board) -> Markup:
    alarms = [
        f"{flag} in {_count(count, 'row')}"
        for flag, count in board.raised().items()
        if MEANINGS[flag].weight is Weight.ALARM
    ]
    said = (
        f"Alarms: {listed(alarms)}. Read below what they mean before you trust the numbers."
        if alarms
        else "No row raised an alarm."
    )
    wide = [each for each in board.standings if each.low is not None and _width(each) > 1]
    if any(each.low is None and each.share is not None for each in board.standings):
        said += " With one repetition the order of the attacks is not to be trusted: play more."
    elif wide:
        said += (
            " The intervals of the ranking are wider than all there is to gain: its order may "
            "be luck. Play more repetitions."
        )
    return Markup("{}").format(said)


def _width(each: Standing) -> float:
    return (each.high or 0.0) - (each.low or 0.0)


def _percent(found: Sequence[tuple[float, int]]) -> str:
    return f"{number(100 * fmean(value / n for value, n in found))} %"


def _count(many: int, noun: str) -> str:
    return f"{many:,} {noun}{'' if many == 1 else 's'}"


def _names(found: Sequence[Hashable]) -> Markup:
    shown = [_name(str(name)) for name in found[:MOST_NAMES]]
    left = len(found) - len(shown)
    return Markup(listed([*shown, *([f"{left} more"] if left else [])]))


def _name(text: str) -> Markup:
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return Markup("<bdi>{}</bdi>").format(printable(short))
