"""reconbench: how much of a table can be reconstructed from a differentially private release,
and how much could any attacker?

- Play: ``Game`` is what to play, ``Round`` a game with its table drawn and released, ``AttackSpec``
  an attack by name or file with its options, and ``play`` returns the result row.
- Data: ``Table`` has records over a ``Domain`` of ``Attribute`` columns. ``Prior`` is where records
  come from, ``BayNet`` a Bayesian network; ``load_prior`` and ``save_prior`` read and write one.
- Release: a ``Mechanism`` makes a ``Release`` of a table, such as ``GaussianMarginals`` with noise
  or ``ExactMarginals`` without.
- Attack: an ``Attack`` turns an ``AttackerView`` into a ``Reconstruction``; a ``Metric`` says what
  counts as success: ``ExactMatch``, ``ColumnsRight``, or ``WithinL1`` for ordinal columns.
- Bound: a ``Guarantee`` is ``PureDP``, ``ApproxDP`` or ``GaussianDP``, or what ``parse_guarantee``
  reads from a text such as ``laplace:scale=5,queries=15``. ``theorem_3_2``, ``theorem_3_5`` and
  ``corollary_3_4`` of Swanberg 2025 give ceilings on reconstruction.

These names are loaded when first used, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reconbench.attacks import (
        Attack,
        AttackerView,
        ColumnsRight,
        ExactMatch,
        Metric,
        Reconstruction,
        WithinL1,
    )
    from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
    from reconbench.bounds import (
        ApproxDP,
        GaussianDP,
        Guarantee,
        PureDP,
        corollary_3_4,
        parse_guarantee,
        theorem_3_2,
        theorem_3_5,
    )
    from reconbench.datasets import (
        Attribute,
        BayNet,
        Domain,
        Prior,
        Table,
        load_prior,
        save_prior,
    )
    from reconbench.mechanisms import ExactMarginals, GaussianMarginals, Mechanism, Release

_HOMES = {
    "reconbench.attacks": (
        "Attack AttackerView ColumnsRight ExactMatch Metric Reconstruction WithinL1"
    ),
    "reconbench.benchmarks.game.play": "AttackSpec Game Round play",
    "reconbench.bounds": (
        "ApproxDP GaussianDP Guarantee PureDP corollary_3_4 parse_guarantee theorem_3_2 theorem_3_5"
    ),
    "reconbench.datasets": "Attribute BayNet Domain Prior Table load_prior save_prior",
    "reconbench.mechanisms": "ExactMarginals GaussianMarginals Mechanism Release",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "ApproxDP",
    "Attack",
    "AttackSpec",
    "AttackerView",
    "Attribute",
    "BayNet",
    "ColumnsRight",
    "Domain",
    "ExactMarginals",
    "ExactMatch",
    "Game",
    "GaussianDP",
    "GaussianMarginals",
    "Guarantee",
    "Mechanism",
    "Metric",
    "Prior",
    "PureDP",
    "Reconstruction",
    "Release",
    "Round",
    "Table",
    "WithinL1",
    "corollary_3_4",
    "load_prior",
    "parse_guarantee",
    "play",
    "save_prior",
    "theorem_3_2",
    "theorem_3_5",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("reconbench")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'reconbench' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
