"""`play`: games on one data set or several, in every combination of the settings that are given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from reconbench.benchmarks.plugins.in_memory import holding
from reconbench.benchmarks.run.runner import Replay, Unit
from reconbench.benchmarks.suites.game_block import GameBlock
from reconbench.benchmarks.suites.suite import MOST_ROWS
from reconbench.front.arguments import (
    ArgumentError,
    Names,
    Numbers,
    checked,
    read_optional,
    read_path,
    read_seed,
    read_whole,
)
from reconbench.front.games.axes import read_axes
from reconbench.front.games.handover import Handover, read_bounds
from reconbench.front.games.playing import NAME, Workers, choose_progress, play_here, play_stored
from reconbench.front.games.results import PlayResult, count_things
from reconbench.front.games.suite_runs import SuiteRun


@checked
def play(
    dataset: Any,
    targets: str | Sequence[str | Sequence[str]],
    *,
    epsilon: Numbers,
    attack: Any = "rap",
    known: Names | None = None,
    mechanism: Any = "gaussian-marginals",
    metric: Any = "exact",
    delta: Numbers = 1e-5,
    n: Numbers = 100,
    k: Numbers | None = None,
    adversary: Names = "realistic",
    attacker_prior: Names = "same",
    advantage: Numbers = 0,
    target_records: Numbers = 0,
    access: Names = "table",
    held_out: Numbers = 0,
    bound: Names = (),
    reps: int = 5,
    seed: Any = None,
    jobs: int = 1,
    timeout: float | None = None,
    memory_limit: float | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> PlayResult:
    """Play games: sample tables, release them, attack the releases and score the guesses.

    Every repetition samples a fresh table from the prior, releases it with fresh noise and lets
    each attack guess the hidden columns. Several values of a setting are several games, one for
    every combination. All attacks meet the same tables and the same noise.

    Args:
        dataset: The name of a data set, a ``.bif`` file, a prior, a pgmpy network, or a table
            (DataFrame or `Table`), to which a prior is fitted; a list for several.
        targets: The hidden columns: a name; ``"A,B"`` or ``("A", "B")`` for columns that are hidden
            at once; a list of these for a game each; or ``"each"``.
        epsilon: The privacy budget; ``inf`` for no noise.
        attack: Names, ``file.py:Class``, classes, objects, ``(name, options)``, or a list of them.
            Classes and objects play in this process, without isolation.
        known: The columns that the attacker knows of every record; by default all others.
        mechanism: What releases the tables: a name, a class, or ``(name, options)``.
        metric: What counts as a success: ``exact``, ``columns:M``, ``l1:E``, ``any:METRIC``.
        delta: The parameter δ of the budget.
        n: Records in a table.
        k: Columns per marginal, an option of the mechanism.
        adversary: ``realistic``, or ``informed``, who knows all other records in full.
        attacker_prior: The prior that the attacker believes; ``same`` as the data's.
        advantage: Records of each table that are attacked once more without taking part.
        target_records: Records of each table that are scored; 0 for all.
        access: ``table``, or ``measurements``: also what a generator was fitted to.
        held_out: Records outside the table that are attacked as well.
        bound: Bounds in files, ``file.py:Class``; installed ones are always computed.
        reps: Repetitions of every game.
        seed: The same seed gives the same numbers; a generator draws one.
        jobs: Worker processes; results do not depend on it.
        timeout: Seconds that an attack may take per repetition. A limit needs worker processes.
        memory_limit: GiB that a worker process may use.
        out: A folder for the rows and the leaderboard. Rows that it holds are not played again.
        progress: Whether to show progress; by default on a terminal and in a notebook.

    Returns:
        A `PlayResult`, with ``frame``, ``rows``, ``summary()``, ``plot()`` and ``save(folder)``.

    Raises:
        ValueError: An argument is wrong, or an attack failed.
        Interrupted: Ctrl-C; its ``result`` has the rows that were finished, and with ``out`` the
            folder keeps them.

    Example:
        >>> import reconbench as rb
        >>> result = rb.play("acs", "SEX", epsilon=[1, 10], attack=["prior", "averaging"], reps=2)
        >>> result
        PlayResult(2 games, prior, averaging, 8 rows)
        >>> result.frame.groupby("epsilon").repetitions.sum().to_dict()
        {1.0: 4, 10.0: 4}
    """
    folder = read_optional(read_path, "out", out)
    handed = Handover(folder)
    attacks = handed.read_attacks(attack)
    given = {
        "dataset": dataset, "targets": targets, "known": known, "epsilon": epsilon, "delta": delta,
        "n": n, "k": k, "mechanism": mechanism, "metric": metric, "adversary": adversary,
        "attacker_prior": attacker_prior, "advantage": advantage, "target_records": target_records,
        "access": access, "held_out": held_out,
    }  # fmt: skip
    repetitions, start = read_whole("reps", reps, 1), read_seed("seed", seed)
    workers = Workers.of(jobs, timeout, memory_limit)
    show = choose_progress(progress)
    axes = read_axes(given, handed)
    with holding(handed.held):
        block = GameBlock.model_validate(axes)
        rows = block.count() * repetitions * len(attacks)
        if rows > MOST_ROWS:
            raise ArgumentError(f"these are {rows:,} rows, more than {MOST_ROWS:,}; give less")
        bounds, games = read_bounds(bound), block.expand(start)
        units = [
            Unit(game.repeat(rep), attacks, bounds) for game in games for rep in range(repetitions)
        ]
        workers.check(units)
        for spec in attacks:
            spec.build()
        if folder is None:
            return play_here(units, workers, show, handed.held)
        described = count_things(len(games), "game")
        run = SuiteRun(
            NAME, described, folder, units, (), workers.jobs, workers.limits, Replay.FAILED
        )
        result, error = play_stored(run, show, handed.held)
        if error is not None:
            raise ValueError(f"{error}; the rows that are finished are kept in {folder}")
        return result
