"""`run`: the games and computations of a suite, also on other data or in another setting."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reconbench.benchmarks.plugins.in_memory import holding
from reconbench.benchmarks.run.runner import Replay
from reconbench.benchmarks.suites.replaced_axes import replace_values
from reconbench.benchmarks.suites.suite import Suite, find_suite
from reconbench.front.arguments import (
    Names,
    Numbers,
    checked,
    read_flag,
    read_optional,
    read_path,
    read_seed,
    read_whole,
    refuse,
)
from reconbench.front.games.axes import read_axes
from reconbench.front.games.handover import Handover, read_bounds
from reconbench.front.games.playing import Workers, choose_progress, play_stored
from reconbench.front.games.results import PlayResult
from reconbench.front.games.suite_runs import SuiteRun

SUITES = "the name of a suite (see `reconbench suite list`), a .toml file, or a Suite"


@checked
def run(
    suite: str | os.PathLike[str] | Suite,
    *,
    dataset: Any = None,
    targets: str | Sequence[str | Sequence[str]] | None = None,
    known: Names | None = None,
    epsilon: Numbers | None = None,
    delta: Numbers | None = None,
    n: Numbers | None = None,
    k: Numbers | None = None,
    mechanism: Any = None,
    metric: Any = None,
    adversary: Names | None = None,
    attacker_prior: Names | None = None,
    attack: Any = None,
    bound: Names = (),
    reps: int | None = None,
    seed: Any = None,
    jobs: int = 1,
    timeout: float | None = None,
    memory_limit: float | None = None,
    retry_failed: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> PlayResult:
    """Run a suite, and write its leaderboard: what `reconbench run` does.

    Rows go to a folder one by one, and those that it holds already are not played again. A row
    whose attack fails says so, and all others are played.

    Args:
        suite: The name of a suite, or a ``.toml`` file.
        dataset: Data to play on instead of the suite's, as in `play`.
        targets: Hidden columns instead of the suite's, as in `play`.
        known: Known columns instead of the suite's.
        epsilon: Budgets instead of the suite's.
        delta: Values of δ instead of the suite's.
        n: Numbers of records instead of the suite's.
        k: Columns per marginal instead of the suite's.
        mechanism: Mechanisms instead of the suite's.
        metric: Metrics instead of the suite's.
        adversary: Adversaries instead of the suite's.
        attacker_prior: Priors that the attacker believes instead of the suite's.
        attack: Attacks to add, as in `play`.
        bound: Bounds in files to add.
        reps: Repetitions; by default those of the suite.
        seed: The seed; by default that of the suite.
        jobs: Worker processes; results do not depend on it.
        timeout: Seconds that an attack may take per repetition. A limit needs worker processes.
        memory_limit: GiB that a worker process may use.
        retry_failed: Play failed rows again.
        out: The folder of the run; by default ``results/SUITE``.
        progress: Whether to show progress; by default on a terminal and in a notebook.

    Returns:
        A `PlayResult`; its ``folder`` has the store and the leaderboard.

    Raises:
        ValueError: An argument is wrong.
        Interrupted: Ctrl-C; finished rows are in the folder, and the same call goes on there.

    Example:
        >>> import tempfile
        >>> import reconbench as rb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rb.run("kulynych-fig4", out=folder)
        PlayResult(computations, 8 rows)
    """
    chosen = _find_suite(suite)
    handed = Handover(read_optional(read_path, "out", out))
    given = {
        "dataset": dataset, "targets": targets, "known": known, "epsilon": epsilon, "delta": delta,
        "n": n, "k": k, "mechanism": mechanism, "metric": metric, "adversary": adversary,
        "attacker_prior": attacker_prior,
    }  # fmt: skip
    more = () if attack is None else handed.read_attacks(attack)
    workers, show = Workers.of(jobs, timeout, memory_limit), choose_progress(progress)
    replay = Replay.FAILED if read_flag("retry_failed", retry_failed) else Replay.MISSING
    repetitions = read_optional(read_whole, "reps", reps, least=1)
    values = read_axes(given, handed)
    with holding(handed.held):
        chosen = replace_values(chosen, values).suite if values else chosen
        units = chosen.units(
            seed=read_optional(read_seed, "seed", seed),
            repetitions=repetitions,
            more_attacks=more,
            more_bounds=read_bounds(bound),
        )
        workers.check(units)
        planned = SuiteRun(
            chosen.name,
            chosen.description,
            handed.folder or Path("results") / chosen.name,
            units,
            chosen.points(),
            workers.jobs,
            workers.limits,
            replay,
        )
        return play_stored(planned, show, handed.held)[0]


def _find_suite(suite: object) -> Suite:
    if isinstance(suite, Suite):
        return suite
    if not isinstance(suite, str | os.PathLike):
        raise refuse("suite", suite, SUITES)
    return find_suite(os.fspath(suite))
