"""A kind of computation, the points that it stands for, and the rows that answer them.

Rows of computations go to the same store as those of games: attack and adversary are ``none``,
there are no successes, ``baseline_expected`` is the baseline, and ``ceilings`` holds each value
under ``mean``. ``metric`` says what the values are, and the row's options say what was asked for:
``axes`` declares how figures draw values by it. The key of a point is known before its values: it
is hashed from what the suite asks for and from the code that answers, so a stored point is not
computed again.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.result import SCHEMA_VERSION, Result, Status
from reconbench.benchmarks.store.provenance import NO_ATTACK, code_version, computation_versions
from reconbench.benchmarks.store.source_code import hash_text
from reconbench.benchmarks.store.store import Key, Origin
from reconbench.benchmarks.suites.column_choices import make_list
from reconbench.benchmarks.suites.game_block import Strict, Whole
from reconbench.bounds import Guarantee

MEAN = "mean"
# The option of a computed row that names its kind.
COMPUTE = "compute"
# The baseline of rows that are about the worst one.
WORST_CASE = "worst-case"

Positive = Annotated[float, Field(gt=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Chance = Annotated[float, Field(gt=0, lt=1, strict=True)]
Positives = Annotated[list[Positive], BeforeValidator(make_list), Field(min_length=1)]
Shares = Annotated[list[Share], BeforeValidator(make_list), Field(min_length=1)]
Chances = Annotated[list[Chance], BeforeValidator(make_list), Field(min_length=1)]
Wholes = Annotated[list[Whole], BeforeValidator(make_list), Field(min_length=1)]


def known_names(noun: str, known: Collection[str]) -> Callable[[Any], Any]:
    """A validator of one or several names, all of them among the known ones."""

    def check(value: Any) -> Any:
        for name in make_list(value):
            if name not in known:
                raise ValueError(f"unknown {noun} {name!r}; use some of {', '.join(known)}")
        return make_list(value)

    return check


class ComputationError(ValueError):
    """A computation that cannot be done as asked."""


@dataclass(frozen=True)
class Promise:
    """A guarantee with its ε and δ, and the numbers that it was asked for with.

    ``curve`` computes the release's own trade-off curve where the guarantee says less: bounds that
    take a curve get it, and those that need what the guarantee states get the guarantee.
    """

    label: str
    epsilon: float
    delta: float
    guarantee: Guarantee
    asked: Mapping[str, Any]
    curve: Callable[[], Guarantee] | None = None

    def settle(self) -> Promise:
        """The promise with the ε and the guarantee that are known only once it is computed."""
        return self


class Computation(Strict):
    """A block of a suite: its fields are the block's keys, ``compute`` is the kind.

    A kind declares what its values are (``metric``), each value's name and meaning, which document
    the leaderboard's columns, and where they come from.
    """

    reference: ClassVar[str]
    metric: ClassVar[str]
    meanings: ClassVar[Mapping[str, str]]

    compute: str

    def points(self, suite: str) -> Iterator[Point]:
        """The rows that the block asks for."""
        raise NotImplementedError

    def evaluate(self, point: Point) -> Mapping[str, float]:
        """The values of a point by name; nan where a bound does not cover it."""
        raise NotImplementedError

    def check_data(self) -> None:
        """Raise if the block needs data that is not on this machine, before anything is run."""


@dataclass(frozen=True)
class Point:
    """One row to compute: a promise, a baseline, and what the values depend on beside these.

    ``asked`` is JSON. ``risk`` is the limit that a point was calibrated to, if it was. A point may
    depend on others, its ``inputs``, which come first; whoever computes it sets ``answers`` to
    their rows, and ``threads`` to how many it may use. None of the three is part of the question.
    """

    suite: str
    computation: Computation
    mechanism: str
    promise: Promise
    label: str
    baseline: float
    asked: Mapping[str, Any]
    metric: str = ""
    risk: float | None = None
    inputs: tuple[Point, ...] = ()
    answers: tuple[Result, ...] = ()
    threads: int = 1

    @property
    def kind(self) -> str:
        return self.computation.compute

    @property
    def key(self) -> Key:
        """From what is asked for, and from the code of this kind of computation."""
        question = [self.suite, self.kind, self.mechanism, self.promise.asked, self.asked]
        text = json.dumps(["computation", *question, SCHEMA_VERSION], sort_keys=True)
        config = hash_text(text)
        origin = Origin(NO_ATTACK, self.kind, code_version(NO_ATTACK, self.kind))
        name = hash_text(f"{config} {origin.code}")
        return Key(name, config, origin)

    @property
    def options(self) -> dict[str, Any]:
        """The kind, and the numbers and names that were asked for: what figures draw values by."""
        asked = {"baseline": self.baseline, **self.promise.asked, **self.asked}
        limit = {} if self.risk is None else {"risk": self.risk}
        plain = {k: v for k, v in asked.items() if isinstance(v, str | int | float)}
        return {COMPUTE: self.kind, **plain, **limit}

    def row(self) -> Result:
        """Compute it; bounds that do not cover the point are left out."""
        started = time.perf_counter()
        values = self.computation.evaluate(self)
        settled = replace(self, promise=self.promise.settle())
        seconds = time.perf_counter() - started
        ceilings = {name: {MEAN: value} for name, value in values.items() if not math.isnan(value)}
        if not ceilings:
            raise ComputationError(
                f"suite {self.suite}: none of the bounds {', '.join(values)} covers "
                f"{self.promise.guarantee.describe()} at a baseline of {self.baseline:g}; choose "
                "others (reconbench compare-bounds shows which apply)"
            )
        return replace(settled._blank_row(), ceilings=ceilings, seconds=seconds)

    def attempt(self) -> Result:
        """The row, or one that says why it could not be computed."""
        try:
            return self.row()
        except Exception as error:  # whatever it is, other points may do
            return replace(self._blank_row(), status=Status.FAILED, error=describe_error(error))

    def _blank_row(self) -> Result:
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
            metric=self.metric or self.computation.metric,
            adversary=NO_ATTACK,
            attack=NO_ATTACK,
            attack_options=self.options,
            seed=0,
            rep=0,
            table_hash="",
            baseline_successes=0,
            baseline_expected=self.baseline,
            versions=computation_versions(self.kind),
        )
