"""The result schema: one row for one attack in one repetition of one game.

Reports read these rows and nothing else. ``to_json`` and ``from_json`` are exact inverses; an
infinite number is the text ``"inf"``, since JSON has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.row_schema.agreement import (
    Comparison,
    find_drift,
    get_tolerance,
    is_volatile,
    may_drift,
    volatile,
)
from reconbench.benchmarks.game.row_schema.checks import check_row
from reconbench.benchmarks.game.setting import Setting, describe_setting

SCHEMA_VERSION = 3


class ResultError(ValueError):
    """A stored row that does not fit the schema."""


class Status(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Result(Setting):
    """What was played, what the attack got, and what no attack could have got.

    ``best_possible`` is what the Bayes-optimal attack expects on this very release, with its Monte
    Carlo error, as stated by the judge of the release, or by the attack of this row where there is
    none: ``store.summary`` says which to trust. Both
    are None where the computation did not converge; older rows have numbers there.
    ``best_successes`` is the distribution of that attack's successes given this release, as
    ``CompactTail.to_json`` writes it; None where it is not known, and in older rows.
    ``peak_memory_mib`` is the largest resident size of the process that played, up to the end of
    this attack. Older rows read as None there.

    ``advantage`` records were attacked in two worlds: ``rad_successes`` of them were reconstructed
    when they took part, ``rad_replaced`` when others did in their place. No attack's advantage
    exceeds ``rad_ceiling`` in expectation, by ``rad_theorem`` of Guerra-Balboa 2026.

    ``facts`` are what the mechanism says of itself, as ``mechanism.NAME``, and of a synthetic table
    its rows per record; ``info`` is what the attack says. ``calibration`` counts records by how
    sure the attack was, see ``game.reliability``; empty without scores. ``claims`` has what it
    could claim at low false-positive rates, see there. ``rarity`` weighs successes by how rare the
    hidden values are, see ``Round.weigh_rarity``; empty in older rows.

    ``held_out`` records that were not in the table were attacked as well: ``held_out_successes`` of
    them were guessed right, ``held_out_expected`` is what those guesses are worth, and
    ``held_out_baseline`` what the prior's best guesses are, see ``game.worlds.memorisation``.

    ``guess_hash`` is the hash of the guesses, empty in older rows. ``kernels`` are the
    processor-specific code of BLAS, numpy and torch that computed the row: its floats may differ in
    the last digits where the kernels do, within the tolerances declared below.

    ``bounds`` has what each bound of another package declares, by name, and its ``error`` if it
    failed on this row; the bounds of this package are in the registry.

    ``expected_successes`` is what the guesses are worth given the release, whatever was drawn, with
    its Monte Carlo error; ``expected_baseline`` is the same for the prior's best guess.
    ``scored_by`` says where the first comes from, see ``game.scores``: it is None for a control
    variate, which is made of the successes, and in older rows. The second is None wherever the
    posterior is not to be had.

    ``printed`` is the beginning of what an attack in a player process printed. ``seal`` is the
    commitment to the seed, if that was secret while the row was played, see ``store.seal``.
    """

    rep: int
    guarantee: str
    relation: str
    unit: str
    attack: str
    attack_options: Mapping[str, Any]
    table_hash: str
    baseline_successes: int
    baseline_expected: float = may_drift(1e-9)
    versions: Mapping[str, str]
    successes: int | None = None
    expected_from_prior: float | None = may_drift(1e-9, default=None)
    ceilings: Mapping[str, Mapping[str, float]] = may_drift(1e-6, default_factory=dict)
    run_tail: Mapping[str, Any] | None = may_drift(1e-9, 2e-9, default=None)
    info: Mapping[str, float] = may_drift(1e-6, default_factory=dict)
    status: Status = Status.OK
    error: str | None = None
    seconds: float = volatile(default=0.0)
    best_possible: float | None = may_drift(1e-6, default=None)
    best_possible_se: float | None = may_drift(1e-4, 1e-9, default=None)
    best_possible_converged: bool | None = None
    peak_memory_mib: float | None = volatile(default=None)
    facts: Mapping[str, float] = may_drift(1e-9, default_factory=dict)
    rad_successes: int | None = None
    rad_replaced: int | None = None
    rad_ceiling: float | None = may_drift(1e-6, default=None)
    rad_theorem: str | None = None
    calibration: Mapping[str, list[float]] = may_drift(1e-4, default_factory=dict)
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    best_successes: Mapping[str, Any] | None = may_drift(1e-6, 2e-9, default=None)
    guess_hash: str = ""
    kernels: Mapping[str, str] = volatile(default_factory=dict)
    printed: str = volatile(default="")
    seal: str = volatile(default="")
    expected_successes: float | None = may_drift(1e-6, default=None)
    expected_successes_se: float | None = may_drift(1e-4, 1e-9, default=None)
    expected_baseline: float | None = may_drift(1e-6, default=None)
    scored_by: str = ""
    claims: Mapping[str, list[float]] = may_drift(1e-4, default_factory=dict)
    rarity: Mapping[str, float] = may_drift(1e-6, default_factory=dict)
    held_out_successes: int | None = None
    held_out_expected: float | None = may_drift(1e-6, default=None)
    held_out_baseline: float | None = may_drift(1e-9, default=None)

    def __repr__(self) -> str:
        got = self.status if self.successes is None else f"{self.successes} of {self.scored}"
        return f"<Result: {self.describe()}: {got}>"

    @property
    def rad(self) -> float | None:
        """The reconstruction advantage measured in this repetition."""
        if self.rad_successes is None or self.rad_replaced is None or not self.advantage:
            return None
        return (self.rad_successes - self.rad_replaced) / self.advantage

    @property
    def cell(self) -> tuple[object, ...]:
        """What the repetitions of one attack on one game have in common."""
        return (self.setting, self.attack, _make_hashable(self.attack_options))

    def to_json(self) -> dict[str, Any]:
        return {name: _make_plain(getattr(self, name)) for name in FIELDS}

    def compare(self, other: Result) -> Comparison:
        """Find the fields in which two rows differ, and those that drift within their tolerance.

        Volatile fields are left out, and ``guess_hash`` where a row is older than that field.
        """
        mine, theirs = self.to_json(), other.to_json()
        different, drift = [], {}
        for name in FIELDS:
            a, b = mine[name], theirs[name]
            if a == b or name in VOLATILE or (name == "guess_hash" and not (a and b)):
                continue
            tolerance = TOLERANCES.get(name)
            found = None if tolerance is None else find_drift(name, tolerance, a, b)
            if found is None:
                different.append(name)
            else:
                drift[name] = found
        return Comparison(tuple(different), drift)

    def differences(self, other: Result) -> list[str]:
        """The fields in which two rows differ by more than their tolerance."""
        return list(self.compare(other).different)

    def describe(self) -> str:
        """Name the row in a few words."""
        attack = " ".join([self.attack, *(f"{k}={v}" for k, v in self.attack_options.items())])
        return f"{attack} on {describe_setting(self)}, repetition {self.rep}"

    @classmethod
    def from_json(cls, raw: object) -> Result:
        if not isinstance(raw, dict):
            raise ResultError("a result row must be a JSON object")
        raw = _upgrade(raw)
        unknown = sorted(set(raw) - set(FIELDS))
        if unknown:
            raise ResultError(f"a result row has the unknown field {unknown[0]!r}")
        try:
            row = _get_schema().validate_python(raw)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ResultError(f"a result row does not fit the schema: {reason}") from None
        return row.check()

    def check(self) -> Result:
        """Return this row, or raise a `ResultError` that names it and the field that is wrong."""
        try:
            check_row(self)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{self.describe()}: {error}"[:500]) from None
        return self

    @classmethod
    def from_trusted_json(cls, raw: dict[str, Any]) -> Result:
        """Read what ``to_json`` wrote: ranges are checked as in ``from_json``, types are not."""
        values = dict(_upgrade(raw))
        for name in _TUPLES:
            values[name] = tuple(values[name])
        for name in _FLOATS:
            if isinstance(values.get(name), str):
                values[name] = float(values[name])
        values["status"] = Status(values["status"])
        values["mechanism_options"] = Options(values["mechanism_options"])
        for numbers in (values["info"], values["facts"], *values["ceilings"].values()):
            for name, number in numbers.items():
                if isinstance(number, str):
                    numbers[name] = float(number)
        return cls(**values).check()


_TYPES = {declared.name: str(declared.type) for declared in fields(Result)}
FIELDS = tuple(_TYPES)
# Fields about the machine and the moment rather than about the attack.
VOLATILE = tuple(declared.name for declared in fields(Result) if is_volatile(declared.metadata))
# How far the floats of a field may drift between machines; all other fields must be equal.
TOLERANCES = {
    declared.name: tolerance
    for declared in fields(Result)
    if (tolerance := get_tolerance(declared.metadata)) is not None
}
_FLOATS = tuple(name for name, kind in _TYPES.items() if kind.startswith("float"))
_TUPLES = tuple(name for name, kind in _TYPES.items() if kind.startswith("tuple"))


@cache
def _get_schema() -> TypeAdapter[Result]:
    return TypeAdapter(Result)


def _make_hashable(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, repr(value)) for key, value in options.items()))


def _upgrade(raw: dict[str, Any]) -> dict[str, Any]:
    """Bring a row of schema 1 or 2 to schema 3: k is an option, and noise levels are facts."""
    if "k" not in raw:
        return raw
    row = {"mechanism_options": {}, **raw}
    k = row.pop("k")
    facts = {name: row.pop(name, 0.0) for name in ("sigma", "mu", "noise_sd")}
    if "marginals" in str(row.get("mechanism")):
        facts["k"] = k
        if k != 3 and isinstance(row["mechanism_options"], dict):
            row["mechanism_options"] = {**row["mechanism_options"], "k": k}
    row["facts"] = {f"mechanism.{name}": value for name, value in facts.items() if value}
    return row


def _make_plain(value: Any) -> Any:
    """Convert to JSON without NaN and infinities."""
    kind = type(value)
    if kind in _PLAIN_TYPES or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict | Mapping):
        return {str(key): _make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value


_PLAIN_TYPES = frozenset((str, int, bool, type(None)))
