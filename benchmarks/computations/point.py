"""A point of a computation: what is asked for, its key, and the row that answers."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from reconbench.benchmarks.game.play import told
from reconbench.benchmarks.game.result import SCHEMA_VERSION, Result, Status
from reconbench.benchmarks.store.provenance import NO_ATTACK, code_version, computation_versions
from reconbench.benchmarks.store.store import Key, Origin
from reconbench.benchmarks.suites.game_block import listed
from reconbench.bounds import Guarantee

MEAN = "mean"

Positive = Annotated[float, Field(gt=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Positives = Annotated[list[Positive], BeforeValidator(listed), Field(min_length=1)]
Shares = Annotated[list[Share], BeforeValidator(listed), Field(min_length=1)]


class ComputationError(ValueError):
    """A computation that cannot be done as asked."""


@dataclass(frozen=True)
class Promise:
    """A guarantee with its ε and δ, and the numbers that it was asked for with."""

    label: str
    epsilon: float
    delta: float
    guarantee: Guarantee
    asked: Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """One row to be: a promise, a baseline, and how the bounds' values come about.

    ``asked`` is what these depend on beside the promise and the mechanism, as JSON.
    """

    suite: str
    kind: str
    mechanism: str
    promise: Promise
    label: str
    metric: str
    baseline: float
    asked: Mapping[str, Any]
    values: Callable[[], Mapping[str, float]]

    @property
    def key(self) -> Key:
        """From what is asked for, and from the code of this kind of computation."""
        question = [self.suite, self.kind, self.mechanism, self.promise.asked, self.asked]
        text = json.dumps(["computation", *question, SCHEMA_VERSION], sort_keys=True)
        config = hashlib.sha256(text.encode()).hexdigest()
        origin = Origin(NO_ATTACK, self.kind, code_version(NO_ATTACK, self.kind))
        name = hashlib.sha256(f"{config} {origin.code}".encode()).hexdigest()
        return Key(name, config, origin)

    def row(self) -> Result:
        """Compute it; bounds that do not cover the point are left out."""
        started = time.perf_counter()
        found = self.values()
        seconds = time.perf_counter() - started
        said = {name: value for name, value in found.items() if not math.isnan(value)}
        if not said:
            raise ComputationError(
                f"suite {self.suite}: none of the bounds {', '.join(found)} covers "
                f"{self.promise.guarantee.describe()} at a baseline of {self.baseline:g}; choose "
                "others (reconbench compare-bounds shows which apply)"
            )
        ceilings = {name: {MEAN: value} for name, value in said.items()}
        return replace(self._blank(), ceilings=ceilings, seconds=seconds)

    def attempt(self) -> Result:
        """The row, or one that says why it could not be computed."""
        try:
            return self.row()
        except Exception as error:  # whatever it is, other points may do
            return replace(self._blank(), status=Status.FAILED, error=told(error))

    def _blank(self) -> Result:
        """What is known before anything is computed."""
        guarantee = self.promise.guarantee
        return Result(
            dataset=self.suite,
            data_hash="",
            targets=(self.label,),
            known=(),
            n=1,
            epsilon=self.promise.epsilon,
            delta=self.promise.delta,
            mechanism=self.mechanism,
            guarantee=guarantee.describe(),
            relation=guarantee.relation.value,
            unit=guarantee.unit,
            metric=self.metric,
            adversary=NO_ATTACK,
            attack=NO_ATTACK,
            attack_options={"baseline": self.baseline},
            seed=0,
            rep=0,
            table_hash="",
            baseline_successes=0,
            baseline_expected=self.baseline,
            versions=computation_versions(self.kind),
        )
