"""Imagined tables: what an attacker learns who plays the mechanism with tables of his own.

The attacker knows the prior and the mechanism. He draws tables of n records, releases each, and
sees how what the synthetic tables say compares with the truth behind them. This depends on the
setting alone (prior, mechanism, columns, n), not on the table under
attack, so it is done once for a setting and kept in the process; all attacks on the setting share
it. Its randomness is seeded by the setting: results depend neither on the order of play nor on the
number of workers. The price is that all repetitions of a setting share the luck of the same
imagined tables: that part of an attack's strength does not average out over repetitions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError, AttackerView
from reconbench.attacks.synthetic.recent import Recent
from reconbench.attacks.synthetic.table_access import require_synthetic
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.synthetic.release import SyntheticRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Made = TypeVar("Made")

# Imagined records that weights are learnt from, in a number of tables between these two.
RECORDS = 1_600
FEWEST, MOST = 8, 16


@dataclass(frozen=True, eq=False)
class ImaginedTables:
    """Tables drawn from the prior of a setting, and what the mechanism released of each."""

    prior: Prior
    mechanism: Mechanism
    known: tuple[str, ...]
    truths: tuple[Table, ...]
    released: tuple[Table, ...]
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.truths)

    @property
    def n(self) -> int:
        return len(self.truths[0])

    @cached_property
    def all_known(self) -> Table:
        """The known columns of all tables, one table after the other."""
        columns = [truth.project(self.known) for truth in self.truths]
        return Table(columns[0].domain, np.concatenate([each.codes for each in columns]))

    @cached_property
    def group(self) -> Codes:
        """The number of the table of each record."""
        return np.repeat(np.arange(len(self)), self.n)

    def list_views(self, view: AttackerView) -> Iterator[AttackerView]:
        """The imagined tables as somebody sees them who attacks each as the real one."""
        for truth, released in zip(self.truths, self.released, strict=True):
            release = SyntheticRelease(truth.domain, released, self.n)
            yield replace(view, release=release, known=truth.project(self.known))

    def column(self, name: str) -> Codes:
        """A column of all tables, one table after the other."""
        return np.concatenate([truth.column(name) for truth in self.truths])

    def chances(self, column: str) -> Floats:
        """P(column | known columns) of all records of all tables."""
        key = ("chances", column)
        return self.recall(key, lambda: self.prior.conditional(self.all_known, [column]))

    def recall(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made from these tables under a key, made at the first call."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made


# A setting with 5,000 synthetic rows and its trained learners holds some 100 MB.
_settings: Recent[ImaginedTables] = Recent(2)


def imagine_tables(view: AttackerView, count: int | None = None) -> ImaginedTables:
    """The ``count`` imagined tables of a view's setting; by default as many as n asks for."""
    count = choose_count(require_synthetic(view).records) if count is None else count
    # The mechanism is kept with its tables, so no other object can have its id meanwhile.
    key = (id(view.mechanism), *_name_setting(view), count)
    return _settings.get(key, lambda: _imagine(view, count))


def forget_settings() -> None:
    """Give back the memory of all imagined tables, and what was learnt from them."""
    _settings.clear()


def choose_count(n: int) -> int:
    return int(np.clip(round(RECORDS / n), FEWEST, MOST))


def check_tables(name: str, tables: int | None) -> None:
    """Refuse a number of imagined tables that nothing can be learnt from."""
    if tables is not None and tables < 2:
        raise AttackError(f"{name}: tables must be at least 2, got {tables}")


def can_imagine(view: AttackerView) -> bool:
    """Whether the mechanism behind a view can be run on other tables.

    It can unless it says otherwise by ``can_run``, as that of a published table does.
    """
    return callable(getattr(view.mechanism, "release", None)) and bool(
        getattr(view.mechanism, "can_run", True)
    )


def _name_setting(view: AttackerView) -> tuple[str, tuple[str, ...], tuple[str, ...], int]:
    records = require_synthetic(view).records
    return view.prior.sha256(), view.known.domain.names, view.targets, records


def _imagine(view: AttackerView, count: int) -> ImaginedTables:
    seen = require_synthetic(view)
    names, seed = seen.domain.names, _make_seed(view)
    truths, released = [], []
    for number in range(count):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        truth = view.prior.sample(seen.records, rng).project(names)
        release = view.mechanism.release(truth, rng)
        if not isinstance(release, SyntheticRelease):
            raise AttackError(
                f"{view.mechanism.name} released a synthetic table once and then a "
                f"{type(release).__name__}"
            )
        truths.append(truth)
        released.append(release.table)
    known = view.known.domain.names
    return ImaginedTables(view.prior, view.mechanism, known, tuple(truths), tuple(released))


def _make_seed(view: AttackerView) -> list[int]:
    """A seed that is the same for equal settings, also in another process."""
    facts = {name: float(value) for name, value in view.mechanism.facts().items()}
    budget = view.mechanism.budget
    described = [
        "imagined tables",
        *_name_setting(view),
        view.mechanism.name,
        [budget.epsilon, budget.delta],
        facts,
    ]
    text = json.dumps(described, sort_keys=True)
    return list(hashlib.sha256(text.encode()).digest())
