"""The result schema: one row for one attack in one repetition of one game.

Reports read these rows and nothing else. ``to_json`` and ``from_json`` are exact inverses; an
infinite number is the text ``"inf"``, since JSON has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
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
    """What was played, what the attack got, and what nothing could have got.

    ``best_possible`` is what the Bayes-optimal attack expects on this very release, with its Monte
    Carlo error, as stated by the attack in this row: ``store.summary`` says whom to trust.
    ``peak_memory_mib`` is the largest resident size of the process that played, up to the end of
    this attack. Older rows read as None there.

    ``advantage`` records were attacked in two worlds: ``rad_successes`` of them were reconstructed
    when they took part, ``rad_replaced`` when others did in their place. No attack's advantage
    exceeds ``rad_ceiling`` in expectation, by ``rad_theorem`` of Guerra-Balboa 2026.

    ``facts`` are what the mechanism says of itself, as ``mechanism.NAME``; ``info`` is what the
    attack says. ``calibration`` counts records by how sure the attack was of them, see
    ``game.reliability``; empty where it did not say.

    ``bounds`` has what each bound of another package declares, by name, and under ``error`` why it
    failed on this row; those of this package are in its registry.
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
        """What repetitions of one row have in common."""
        return (self.setting, self.attack, _hashable(self.attack_options))

    def with_ceilings(self, more: Mapping[str, Mapping[str, float]]) -> Result:
        return replace(self, ceilings={**self.ceilings, **more})

    def to_json(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in FIELDS}

    def differences(self, other: Result) -> list[str]:
        """The fields in which two rows differ, but for what no two runs have in common."""
        mine, theirs = self.to_json(), other.to_json()
        return [name for name in FIELDS if name not in VOLATILE and mine[name] != theirs[name]]

    def describe(self) -> str:
        """Which row this is, in a few words."""
        attack = " ".join([self.attack, *(f"{k}={v}" for k, v in self.attack_options.items())])
        return f"{attack} on {describe_setting(self)}, repetition {self.rep}"

    @classmethod
    def from_json(cls, raw: object) -> Result:
        if not isinstance(raw, dict):
            raise ResultError("a result row must be a JSON object")
        raw = _upgrade(raw)
        odd = sorted(set(raw) - set(FIELDS))
        if odd:
            raise ResultError(f"a result row has the unknown field {odd[0]!r}")
        try:
            row = _schema().validate_python(raw)
            if row.run_tail is not None:
                CompactTail.from_json(row.run_tail)
        except (KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ResultError(f"a result row does not fit the schema: {reason}") from None
        return row

    @classmethod
    def rebuilt(cls, raw: dict[str, Any]) -> Result:
        """What ``to_json`` wrote and nobody changed since: nothing is checked, which is fast."""
        found = dict(_upgrade(raw))
        for name in _TUPLES:
            found[name] = tuple(found[name])
        for name in _FLOATS:
            if isinstance(found.get(name), str):
                found[name] = float(found[name])
        found["status"] = Status(found["status"])
        found["mechanism_options"] = Options(found["mechanism_options"])
        for values in (found["info"], found["facts"], *found["ceilings"].values()):
            for name, value in values.items():
                if isinstance(value, str):
                    values[name] = float(value)
        return cls(**found)


FIELDS = tuple(each.name for each in fields(Result))
# What a row says of the machine and the moment rather than of the attack.
VOLATILE = ("seconds", "peak_memory_mib")
_FLOATS = tuple(each.name for each in fields(Result) if str(each.type).startswith("float"))
_TUPLES = tuple(each.name for each in fields(Result) if str(each.type).startswith("tuple"))


@cache
def _schema() -> TypeAdapter[Result]:
    return TypeAdapter(Result)


def _hashable(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, repr(value)) for key, value in options.items()))


def _upgrade(raw: dict[str, Any]) -> dict[str, Any]:
    """A row of schema 1 or 2 as one of schema 3: k is an option, and noise levels are facts."""
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


def _plain(value: Any) -> Any:
    """JSON without NaN and infinities."""
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict | Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


_AS_THEY_ARE = frozenset((str, int, bool, type(None)))
