"""reconbench: how much of a table can be reconstructed from a differentially private release,
and how much could any attacker?

In one call each; what they return has a table (``frame``), sentences (``summary()``), a figure
(``plot()``) and files (``save(folder)``):

- ``play`` plays games on any data, and ``run`` a suite. Both return a ``PlayResult``, and raise
  ``Interrupted`` after Ctrl-C.
- ``assess`` says what a release of your own table would reveal, as an ``AssessResult``.
- ``ceiling``, ``risk`` and ``calibrate`` say what follows from a guarantee, and ``audit`` what a
  guarantee must be, each as an ``Answer``. A ``Figure`` shows itself in a notebook.
- ``load_prior`` loads the distribution of one record, ``fit`` fits one to a table, with a
  ``DraftedDomainWarning`` where labels come from the records, and ``save_prior`` writes one.

And piece by piece:

- Play: ``Game`` is what to play, ``Round`` a game with its table drawn and released, ``AttackSpec``
  an attack by name or file with its options; ``reconbench.benchmarks.game.play.play`` returns the
  row of one attack on one round.
- Data: ``Table`` has records over a ``Domain`` of ``Attribute`` columns. ``Prior`` is where records
  come from, ``BayNet`` a Bayesian network.
- Release: a ``Mechanism`` makes a ``Release`` of a table, such as ``GaussianMarginals`` with noise
  or ``ExactMarginals`` without.
- Attack: an ``Attack`` turns an ``AttackerView`` into a ``Reconstruction``; a ``Metric`` says what
  counts as success: ``ExactMatch``, ``ColumnsRight``, or ``WithinL1`` for ordinal columns.
- Bound: a ``Guarantee`` is ``PureDP``, ``ApproxDP`` or ``GaussianDP``, or what ``parse_guarantee``
  reads from a text such as ``laplace:scale=5,queries=15``. ``theorem_3_2``, ``theorem_3_5`` and
  ``corollary_3_4`` of Swanberg 2025 give ceilings on reconstruction.

These names are what is supported, see docs/python.md. They are loaded when first used, so that
importing the package is quick.
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
    from reconbench.benchmarks.game.play import AttackSpec, Game, Round
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
    from reconbench.datasets import Attribute, BayNet, Domain, Prior, Table
    from reconbench.front.answers import Answer
    from reconbench.front.assessing.assess import assess
    from reconbench.front.assessing.result import AssessResult
    from reconbench.front.audits import audit
    from reconbench.front.bounds import calibrate, ceiling, risk
    from reconbench.front.figure import Figure
    from reconbench.front.games.play import play
    from reconbench.front.games.playing import Interrupted
    from reconbench.front.games.results import PlayResult
    from reconbench.front.games.run import run
    from reconbench.front.priors import DraftedDomainWarning, fit, load_prior, save_prior
    from reconbench.mechanisms import ExactMarginals, GaussianMarginals, Mechanism, Release

_HOMES = {
    "reconbench.attacks": (
        "Attack AttackerView ColumnsRight ExactMatch Metric Reconstruction WithinL1"
    ),
    "reconbench.benchmarks.game.play": "AttackSpec Game Round",
    "reconbench.bounds": (
        "ApproxDP GaussianDP Guarantee PureDP corollary_3_4 parse_guarantee theorem_3_2 theorem_3_5"
    ),
    "reconbench.datasets": "Attribute BayNet Domain Prior Table",
    "reconbench.front.answers": "Answer",
    "reconbench.front.assessing.assess": "assess",
    "reconbench.front.assessing.result": "AssessResult",
    "reconbench.front.audits": "audit",
    "reconbench.front.bounds": "calibrate ceiling risk",
    "reconbench.front.figure": "Figure",
    "reconbench.front.games.play": "play",
    "reconbench.front.games.playing": "Interrupted",
    "reconbench.front.priors": "DraftedDomainWarning fit load_prior save_prior",
    "reconbench.front.games.results": "PlayResult",
    "reconbench.front.games.run": "run",
    "reconbench.mechanisms": "ExactMarginals GaussianMarginals Mechanism Release",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "ApproxDP",
    "AssessResult",
    "Attack",
    "AttackSpec",
    "AttackerView",
    "Attribute",
    "BayNet",
    "ColumnsRight",
    "Domain",
    "DraftedDomainWarning",
    "ExactMarginals",
    "ExactMatch",
    "Figure",
    "Game",
    "GaussianDP",
    "GaussianMarginals",
    "Guarantee",
    "Interrupted",
    "Mechanism",
    "Metric",
    "PlayResult",
    "Prior",
    "PureDP",
    "Reconstruction",
    "Release",
    "Round",
    "Table",
    "WithinL1",
    "assess",
    "audit",
    "calibrate",
    "ceiling",
    "corollary_3_4",
    "fit",
    "load_prior",
    "parse_guarantee",
    "play",
    "risk",
    "run",
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
