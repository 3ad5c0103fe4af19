"""Result rows without a score: of rounds yet to be played, and of what failed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from reconbench.attacks import Metric
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.game.game import Game, choose_columns
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.round import Round
from reconbench.benchmarks.game.setting import get_axis_values
from reconbench.datasets import Prior
from reconbench.mechanisms import Release
from reconbench.mechanisms.synthetic.release import SyntheticRelease

# The fact of a synthetic release by which games of one generator are compared.
ROWS_PER_RECORD = "release.rows_per_record"


def blank_row(round_: Round) -> Result:
    """The row of a round before any attack."""
    mechanism, known = round_.mechanism, round_.view.known.domain.names
    facts = plugins.read_facts(round_.game.mechanism, mechanism)
    guess, expected = round_.baseline
    return replace(
        _empty_row(round_.game, round_.prior, known, round_.metric),
        facts={f"mechanism.{name}": value for name, value in facts.items()}
        | _describe_release(round_.released),
        guarantee=mechanism.guarantee.describe(),
        relation=mechanism.guarantee.relation.value,
        unit=mechanism.guarantee.unit,
        table_hash=round_.table_hash,
        baseline_successes=round_.successes(guess),
        baseline_expected=float(expected.sum()),
    )


def _describe_release(release: Release) -> dict[str, float]:
    """Facts that depend on the table: how many synthetic rows stand for a record."""
    if not isinstance(release, SyntheticRelease):
        return {}
    return {ROWS_PER_RECORD: len(release.table) / release.records}


def failed_row(row: Result, attack: AttackSpec, error: str) -> Result:
    """A blank row as that of an attack that did not finish."""
    try:
        name = attack.build().name
    except ValueError:
        name = attack.spec
    options = dict(attack.options)
    return replace(row, attack=name, attack_options=options, status=Status.FAILED, error=error)


def unplayed_row(game: Game, attack: AttackSpec, error: str) -> Result:
    """The row of a game that could not be set up: there is no table and no release."""
    prior = plugins.load_prior(game.dataset)
    _, known = choose_columns(game, prior.domain)
    row = _empty_row(game, prior, known, plugins.build_metric(game.metric))
    return failed_row(row, attack, error)


@cache
def read_versions() -> dict[str, str]:
    """The version of every package that a number may depend on, if it is installed.

    Rows that were skipped for want of a package are thus of another code version where it is there.
    """
    found = {}
    for name in ("reconbench", "numba", "numpy", "scikit-learn", "scipy", "torch"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _empty_row(game: Game, prior: Prior, known: tuple[str, ...], metric: Metric) -> Result:
    """The axes as a row has them: names in place of specs, known columns listed."""
    axes = get_axis_values(game) | {
        "dataset": plugins.shorten_spec(game.dataset),
        "data_hash": prior.sha256(),
        "known": known,
        "mechanism": plugins.load_mechanism(game.mechanism).name,
        "metric": metric.name,
    }
    return Result(
        **axes,
        rep=game.rep,
        guarantee="",
        relation="",
        unit="",
        attack="",
        attack_options={},
        table_hash="",
        baseline_successes=0,
        baseline_expected=0.0,
        versions=read_versions(),
    )
