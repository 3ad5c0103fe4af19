"""What every field of a row may be, and how fields depend on each other.

Rows come from files that anybody may have written, so each is checked when it is read: numbers that
cannot be would otherwise fail far away, in a ceiling or a figure. The checks are plain comparisons,
since a run may read 10,000 rows to resume.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from reconbench.benchmarks.game.reliability import FALSE_POSITIVE_RATES, TENTHS
from reconbench.benchmarks.game.scores import ScoredBy
from reconbench.bounds import CompactTail
from reconbench.bounds.ceilings.base import MEAN

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result

# Tables with more records cannot be played; a ceiling for them would fill the memory.
MOST_RECORDS = 10**8
# In place of an attack and an adversary in the rows of computations.
NO_ATTACK = "none"
# Sums of probabilities exceed their exact value by rounding.
_ROUNDING = 1e-6
_HASH = re.compile(r"[0-9a-f]{64}")
_LONGEST_TEXT = 10_000


class RowError(ValueError):
    """A field with a value that no row can have."""


def check_row(row: Result) -> None:
    """Check every field of a row. Raises `RowError`, which names the field, its value and range."""
    _check_integer("n", row.n, 1, MOST_RECORDS)
    _check_integer("rep", row.rep, 0, 2**53)
    _check_integer("seed", row.seed, -(2**63), 2**63 - 1)
    _check_integer("advantage", row.advantage, 0, row.n)
    _check_integer("target_records", row.target_records, 0, row.n)
    _check_integer("held_out", row.held_out, 0, MOST_RECORDS)
    _check_number(row.delta, 0.0, 1.0, "delta")
    _require(row.delta < 1, "delta", row.delta, "in [0, 1)")
    _require(bool(row.targets), "targets", row.targets, "at least one column")
    _check_hash("table_hash", row.table_hash)
    _check_hash("guess_hash", row.guess_hash)
    _check_hash("seal", row.seal)
    _require(len(row.printed) <= _LONGEST_TEXT, "printed", "a text", "10,000 characters at most")
    _check_number(row.seconds, 0.0, inf, "seconds")
    _check_optional("peak_memory_mib", row.peak_memory_mib, inf)
    _check_status(row)
    for name, numbers in (("info", row.info), ("facts", row.facts)):
        for key, value in numbers.items():
            _check_number(value, -inf, inf, name, key)
    if row.attack == NO_ATTACK and row.adversary == NO_ATTACK:
        _check_computation(row)
    else:
        _check_game(row)


def _check_status(row: Result) -> None:
    finished = row.status == "ok"
    if finished:
        _require(row.error is None, "error", row.error, "none where status is ok")
    else:
        _require(isinstance(row.error, str), "error", row.error, "a text unless status is ok")
        _require(len(row.error or "") <= _LONGEST_TEXT, "error", "a text", "10,000 characters")
        _require(row.successes is None, "successes", row.successes, "none unless status is ok")


def _check_computation(row: Result) -> None:
    _check_number(row.epsilon, 0.0, inf, "epsilon")
    _check_number(row.baseline_expected, 0.0, inf, "baseline_expected")
    _require(row.successes is None, "successes", row.successes, "none in a computed row")
    for bound, levels in row.ceilings.items():
        _require(list(levels) == [MEAN], f"ceilings.{bound}", levels, f"one value, {MEAN!r}")
        _check_number(levels[MEAN], -inf, inf, "ceilings", bound)


def _check_game(row: Result) -> None:
    most = row.scored * (1 + _ROUNDING)
    _check_number(row.epsilon, 0.0, inf, "epsilon")
    _require(row.epsilon > 0, "epsilon", row.epsilon, "greater than 0")
    _check_integer("baseline_successes", row.baseline_successes, 0, row.scored)
    _check_number(row.baseline_expected, 0.0, most, "baseline_expected")
    if row.status == "ok":
        _check_integer("successes", row.successes, 0, row.scored)
        _require(bool(row.table_hash), "table_hash", row.table_hash, "the hash of a table")
    _check_optional("expected_from_prior", row.expected_from_prior, most)
    _check_optional("best_possible", row.best_possible, most)
    _check_optional("best_possible_se", row.best_possible_se, inf)
    _check_score(row)
    _check_ceilings(row, most)
    _check_advantage(row)
    _check_held_out(row)
    _check_calibration(row)
    _check_claims(row)
    for name, bits in row.rarity.items():
        _require(name in _RARITY, f"rarity.{name}", name, f"one of {', '.join(_RARITY)}")
        _check_number(bits, 0.0, inf, "rarity", name)
    _check_tail("run_tail", row.run_tail, row.scored)
    _check_tail("best_successes", row.best_successes, row.scored)


def _check_score(row: Result) -> None:
    way, most = row.scored_by, row.scored * (1 + _ROUNDING)
    _require(way in _WAYS, "scored_by", way, f"one of {', '.join(_WAYS[1:])}")
    _require(not way or row.status == "ok", "scored_by", way, "empty unless status is ok")
    given, drawn = row.expected_successes is not None, way in ("", ScoredBy.CONTROL)
    where = "given unless scored by a control variate"
    _require(given != drawn, "expected_successes", row.expected_successes, where)
    judged = row.expected_baseline is not None
    needed = way in (ScoredBy.EXACT, ScoredBy.SAMPLED)
    _require(judged or not needed, "expected_baseline", row.expected_baseline, "given here")
    _require(not (judged and drawn), "expected_baseline", row.expected_baseline, "none here")
    _check_optional("expected_successes", row.expected_successes, most)
    _check_optional("expected_baseline", row.expected_baseline, most)
    _check_optional("expected_successes_se", row.expected_successes_se, inf)


def _check_tail(name: str, raw: Mapping[str, Any] | None, n: int) -> None:
    if raw is None:
        return
    try:
        tail = CompactTail.from_json(raw)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"has no {error}" if isinstance(error, KeyError) else str(error)
        raise RowError(f"{name} must be a tail of a distribution, but {reason}") from None
    if tail.n != n:
        raise RowError(f"{name}.n must be {n}, got {_show(tail.n)}")


def _check_ceilings(row: Result, most: float) -> None:
    for bound, levels in row.ceilings.items():
        # A bound of another package may be loose: above n it says nothing, which is no error.
        limit = inf if bound in row.bounds else most
        for level, value in levels.items():
            _check_number(value, 0.0, limit, "ceilings", bound, level)
            if not _is_level(level):
                raise RowError(
                    f"ceilings.{bound} must have {MEAN!r} or confidences in (0, 1), got "
                    f"{_show(level)}"
                )


@lru_cache(maxsize=1000)
def _is_level(text: str) -> bool:
    try:
        return text == MEAN or 0 < float(text) < 1
    except ValueError:
        return False


def _check_advantage(row: Result) -> None:
    both = (row.rad_successes is None) == (row.rad_replaced is None)
    _require(both, "rad_replaced", row.rad_replaced, "given where rad_successes is, and only there")
    if row.rad_successes is not None:
        _check_integer("rad_successes", row.rad_successes, 0, row.advantage)
        _check_integer("rad_replaced", row.rad_replaced, 0, row.advantage)
    _check_optional("rad_ceiling", row.rad_ceiling, inf)


def _check_held_out(row: Result) -> None:
    most = row.held_out * (1 + _ROUNDING)
    if row.held_out_successes is not None:
        _check_integer("held_out_successes", row.held_out_successes, 0, row.held_out)
    _check_optional("held_out_expected", row.held_out_expected, most)
    _check_optional("held_out_baseline", row.held_out_baseline, most)


def _check_calibration(row: Result) -> None:
    """By tenth of the score: records, the sum of their scores, and how many were right."""
    total = 0.0
    for tenth, counts in row.calibration.items():
        name = f"calibration.{tenth}"
        _require(tenth in _TENTHS, name, tenth, "a tenth, 0 to 9")
        _require(len(counts) == 3, name, counts, "three numbers")
        records, scores, right = counts
        _check_number(records, 1.0, row.scored, name)
        _require(float(records).is_integer(), name, records, "a whole number of records")
        low, high = (records * (int(tenth) + edge) / TENTHS for edge in (0, 1))
        slack = _ROUNDING * records
        _check_number(scores, low - slack, high + slack, name, "sum of scores")
        _check_number(right, 0.0, records, name, "right")
        total += records
    if row.calibration and total != row.scored:
        raise RowError(f"calibration must have {row.scored} records in all, got {_show(total)}")


def _check_claims(row: Result) -> None:
    """By false-positive rate: right guesses claimed, all right ones, and those by chance."""
    for rate, counts in row.claims.items():
        name = f"claims.{rate}"
        _require(rate in FALSE_POSITIVE_RATES, name, rate, "a false-positive rate that is counted")
        _require(len(counts) == 3, name, counts, "three numbers")
        claimed, right, chance = counts
        _check_number(right, 0.0, row.scored, name, "right")
        _check_number(claimed, 0.0, right, name, "claimed")
        _check_number(chance, 0.0, right, name, "by chance")


_RARITY = ("right", "prior", "total", "most")
# Older rows do not say.
_WAYS = ("", *(way.value for way in ScoredBy))
_TENTHS = frozenset(map(str, range(TENTHS)))
_NUMBERS = frozenset((int, float))


def _check_integer(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise RowError(f"{name} must be an integer from {low} to {high}, got {_show(value)}")


def _check_number(value: Any, low: float, high: float, *name: str) -> None:
    """A number in the closed interval, which no nan is; infinite only if the interval is."""
    if type(value) not in _NUMBERS or not low <= value <= high:
        allowed = "a number" if low == -inf else f"a number of at least {low:g}"
        if isfinite(high):
            allowed = f"a number from {low:g} to {high:g}"
        raise RowError(f"{'.'.join(name)} must be {allowed}, got {_show(value)}")


def _check_optional(name: str, value: float | None, high: float) -> None:
    if value is not None:
        _check_number(value, 0.0, high, name)


def _check_hash(name: str, value: Any) -> None:
    if value != "" and not (isinstance(value, str) and _HASH.fullmatch(value)):
        raise RowError(f"{name} must be 64 hexadecimal digits or empty, got {_show(value)}")


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise RowError(f"{name} must be {allowed}, got {_show(value)}")


def _show(value: object) -> str:
    text = repr(dict(value) if isinstance(value, Mapping) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."
