"""The result schema: one row for one attack in one repetition of one game.

Reports read these rows and nothing else. ``to_json`` and ``from_json`` are exact inverses; an
infinite number is the text ``"inf"``, since JSON has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

SCHEMA_VERSION = 1


class ResultError(ValueError):
    """A stored row that does not fit the schema."""


class Status(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Result:
    """What was played, what the attack got, and what nothing could have got."""

    dataset: str
    data_hash: str
    targets: tuple[str, ...]
    known: tuple[str, ...]
    n: int
    k: int
    epsilon: float
    delta: float
    mechanism: str
    sigma: float
    mu: float
    noise_sd: float
    guarantee: str
    relation: str
    unit: str
    metric: str
    adversary: str
    attack: str
    attack_options: Mapping[str, Any]
    seed: int
    rep: int
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

    @property
    def cell(self) -> tuple[object, ...]:
        """What repetitions of one row have in common."""
        return (
            *self.game,
            self.attack,
            tuple(sorted((k, repr(v)) for k, v in self.attack_options.items())),
        )

    @property
    def game(self) -> tuple[object, ...]:
        """What all attacks on one row's game have in common, over all repetitions."""
        return (
            self.dataset,
            self.data_hash,
            self.targets,
            self.known,
            self.n,
            self.k,
            self.epsilon,
            self.delta,
            self.mechanism,
            self.metric,
            self.adversary,
            self.seed,
        )

    def with_ceilings(self, more: Mapping[str, Mapping[str, float]]) -> Result:
        return replace(self, ceilings={**self.ceilings, **more})

    def to_json(self) -> dict[str, Any]:
        described: dict[str, Any] = _plain(asdict(self))
        return described

    @classmethod
    def from_json(cls, raw: object) -> Result:
        if not isinstance(raw, dict):
            raise ResultError("a result row must be a JSON object")
        known = {each.name for each in fields(cls)}
        odd = sorted(set(raw) - known)
        if odd:
            raise ResultError(f"a result row has the unknown field {odd[0]!r}")
        try:
            row = {name: _revived(name, value) for name, value in raw.items()}
            return cls(**row)
        except (TypeError, ValueError) as error:
            raise ResultError(f"a result row does not fit the schema: {error}") from None


_NUMBERS = frozenset({"epsilon", "delta", "sigma", "mu", "noise_sd"})


def _revived(name: str, value: Any) -> Any:
    if name in ("targets", "known"):
        return tuple(str(item) for item in value)
    if name == "status":
        return Status(value)
    if name in _NUMBERS:
        return float(value)
    return value


def _plain(value: Any) -> Any:
    """JSON without NaN and infinities."""
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
