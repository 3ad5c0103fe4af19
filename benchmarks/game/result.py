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
from reconbench.benchmarks.game.setting import Setting, describe_setting
from reconbench.bounds import CompactTail

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
    Carlo error, as stated by the attack of this row: ``store.summary`` says which to trust.
    ``peak_memory_mib`` is the largest resident size of the process that played, up to the end of
    this attack. Older rows read as None there.

    ``advantage`` records were attacked in two worlds: ``rad_successes`` of them were reconstructed
    when they took part, ``rad_replaced`` when others did in their place. No attack's advantage
    exceeds ``rad_ceiling`` in expectation, by ``rad_theorem`` of Guerra-Balboa 2026.

    ``facts`` are what the mechanism says of itself, as ``mechanism.NAME``; ``info`` is what the
    attack says. ``calibration`` counts records by how sure the attack was, see
    ``game.reliability``; empty without scores.

    ``bounds`` has what each bound of another package declares, by name, and its ``error`` if it
    failed on this row; the bounds of this package are in the registry.
    """

    rep: int
    guarantee: str
    relation: str
    unit: str
    attack: str
    attack_options: Mapping[str, Any]
    table_hash: str
    baseline_successes: int
    baseline_expected: float
    versions: Mapping[str, str]
    successes: int | None = None
    expected_from_prior: float | None = None
    ceilings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    run_tail: Mapping[str, Any] | None = None
    info: Mapping[str, float] = field(default_factory=dict)
    status: Status = Status.OK
    error: str | None = None
    seconds: float = 0.0
    best_possible: float | None = None
    best_possible_se: float | None = None
    best_possible_converged: bool | None = None
    peak_memory_mib: float | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    rad_successes: int | None = None
    rad_replaced: int | None = None
    rad_ceiling: float | None = None
    rad_theorem: str | None = None
    calibration: Mapping[str, list[float]] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

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

    def differences(self, other: Result) -> list[str]:
        """The fields in which two rows differ, apart from the volatile ones."""
        mine, theirs = self.to_json(), other.to_json()
        return [name for name in FIELDS if name not in VOLATILE and mine[name] != theirs[name]]

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
            if row.run_tail is not None:
                CompactTail.from_json(row.run_tail)
        except (KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ResultError(f"a result row does not fit the schema: {reason}") from None
        return row

    @classmethod
    def from_trusted_json(cls, raw: dict[str, Any]) -> Result:
        """Read what ``to_json`` wrote and nobody changed since: without checks, so fast."""
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
        return cls(**values)


_TYPES = {declared.name: str(declared.type) for declared in fields(Result)}
FIELDS = tuple(_TYPES)
# Fields about the machine and the moment rather than about the attack.
VOLATILE = ("seconds", "peak_memory_mib")
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
