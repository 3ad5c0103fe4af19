"""A comparison of two result stores as a page, as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from reconbench.reports.compare.compare import Change, Compared, Shift, Verdict
from reconbench.reports.leaderboard.table import as_csv
from reconbench.reports.text import number_format
from reconbench.reports.text.document import Grid, Section, markdown
from reconbench.reports.text.templates import printable, template

Say = Callable[[str], str]

LONGEST = 160
LISTED = 50
HEADER = (
    "attack",
    "game",
    "pairs",
    "before",
    "after",
    "change",
    "95 % CI",
    "p (Holm)",
    "verdict",
    "time",
)
CSV_HEADER = (
    "attack",
    "game",
    "games",
    "before",
    "after",
    "difference",
    "low",
    "high",
    "p",
    "adjusted",
    "verdict",
    "seconds_ratio",
)
_ORDER = (Verdict.WORSE, Verdict.BETTER, Verdict.NOISE, Verdict.SAME)


def line(change: Change, say: Say = str, shared: str = "") -> tuple[str, ...]:
    """A change as the texts of ``HEADER``; its game without what is ``shared``."""
    low, high = change.low, change.high
    return (
        say(_brief(change.attack)),
        say(_brief(change.game.removesuffix(shared))),
        f"{change.games}",
        number_format.number(change.before),
        number_format.number(change.after),
        number_format.signed(change.difference),
        "–"
        if low is None or high is None
        else f"{number_format.signed(low)} to {number_format.signed(high)}",
        number_format.p_value(change.adjusted),
        change.verdict.value,
        "–" if change.seconds_ratio is None else f"{change.seconds_ratio:.2g} ×",
    )


def shared(found: Compared) -> str:
    """What all games end with, such as their k, n and metric: said once, not in every line."""
    games = [game.split(", ") for game in {each.game for each in found.cells}]
    if len(games) < 2:
        return ""
    alike = takewhile(lambda parts: len(set(parts)) == 1, zip(*map(reversed, games), strict=False))
    return "".join(f", {parts[0]}" for parts in reversed(list(alike)))


def ordered(changes: Sequence[Change]) -> list[Change]:
    """Worse first, then better, then the rest; the largest change first."""
    return sorted(changes, key=lambda c: (_ORDER.index(c.verdict), -abs(c.difference)))


def summary(found: Compared) -> list[str]:
    """The comparison in a few sentences."""
    counts = [
        f"{sum(each.verdict is verdict for each in found.cells)} {verdict.value}"
        for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NOISE, Verdict.SAME)
    ]
    said = [f"Of {len(found.cells)} cells that both have: {', '.join(counts)}."]
    if same := shared(found).removeprefix(", "):
        said.append(f"All games: {_brief(same)}.")
    if found.cells and not found.can_tell:
        said.append(
            "There are too few repetitions for any cell to come out better or worse at the level "
            f"{found.level:g}: an exact p-value from m pairs is at least 2^(1 − m)."
        )
    if found.appeared or found.vanished:
        said.append(
            f"Failures that appeared: {len(found.appeared)}; that vanished: {len(found.vanished)}."
        )
    if found.only_before or found.only_after:
        said.append(
            f"Rows only before: {len(found.only_before)}; only after: {len(found.only_after)}."
        )
    if found.elsewhere:
        said.append(f"Pairs that met different tables, and are left out: {found.elsewhere}.")
    return said


def compare_html(found: Compared, before: str, after: str) -> str:
    return template("compare.html").render(
        title=f"{_brief(before)} → {_brief(after)}",
        summary=summary(found),
        sections=_sections(found, str),
    )


def compare_markdown(found: Compared, before: str, after: str) -> str:
    lines = [f"# {_safe(_brief(before))} → {_safe(_brief(after))}", ""]
    lines += [number_format.prose(f"- {_safe(text)}", "  ") for text in summary(found)]
    for section in _sections(found, _safe):
        lines += ["", *markdown(section)]
    return "\n".join(lines) + "\n"


def compare_csv(found: Compared) -> str:
    """One line a cell, then one an attack."""
    rows = [[getattr(each, name) for name in CSV_HEADER] for each in (*found.cells, *found.overall)]
    for row in rows:
        row[CSV_HEADER.index("verdict")] = str(row[CSV_HEADER.index("verdict")])
    return as_csv([CSV_HEADER, *rows])


def _sections(found: Compared, say: Say) -> list[Section]:
    same = shared(found)
    cells = tuple(line(each, say, same) for each in ordered(found.cells))
    overall = tuple(line(each, say) for each in ordered(found.overall))
    return [
        Section(
            "Attack by attack, over all games",
            ("Change in records reconstructed, a game. A repetition counts as one block.",),
            grids=(Grid(HEADER, overall, left=2),),
        ),
        Section(
            "Cell by cell",
            (
                "A cell is an attack on a game. p-values are exact, from flipped signs of paired "
                f"differences, adjusted by Holm's method; better and worse mean p ≤ "
                f"{found.level:g}. Time is the ratio of seconds, after to before: rows of other "
                "machines or loads do not compare.",
            ),
            grids=(Grid(HEADER, cells, left=2),),
        ),
        *_shifts("Failures that appeared", found.appeared, say),
        *_shifts("Failures that vanished", found.vanished, say),
        *_rows("Rows only before", found.only_before, say),
        *_rows("Rows only after", found.only_after, say),
    ]


def _shifts(title: str, found: Sequence[Shift], say: Say) -> list[Section]:
    return _rows(title, [f"{each.row}: {each.error}" for each in found], say)


def _rows(title: str, found: Sequence[str], say: Say) -> list[Section]:
    if not found:
        return []
    left = len(found) - LISTED
    points = [say(_brief(text)) for text in found[:LISTED]]
    points += [f"... and {left} more: all of them in the JSON"] if left > 0 else []
    return [Section(title, points=tuple(points))]


def _safe(text: str) -> str:
    return number_format.name(printable(text))


def _brief(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
