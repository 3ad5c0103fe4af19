"""`assess`: a table of one's own, played through a release that is planned."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.benchmarks.assess.max_epsilon import Measure
from reconbench.benchmarks.assess.question import Question, check_table
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.setting import Access
from reconbench.benchmarks.plugins.in_memory import holding, is_held
from reconbench.datasets import BayNet, Domain, Table
from reconbench.datasets.network.bif import ENDINGS
from reconbench.front.arguments import (
    ArgumentError,
    Names,
    Numbers,
    checked,
    read_choice,
    read_names,
    read_number,
    read_numbers,
    read_optional,
    read_path,
    read_seed,
    read_whole,
    refuse,
)
from reconbench.front.assessing.planned import count_games, play_plan
from reconbench.front.assessing.report_files import check_folder
from reconbench.front.assessing.result import AssessResult
from reconbench.front.assessing.sources import Records, find_prior
from reconbench.front.games.axes import read_known
from reconbench.front.games.handover import Handover, make_folder, read_metrics, write_prior
from reconbench.front.games.playing import choose_progress
from reconbench.front.priors import load_prior, read_table

if TYPE_CHECKING:
    import pandas as pd


@checked
def assess(
    table: pd.DataFrame | Table | str | os.PathLike[str],
    targets: Names,
    *,
    epsilon: float | str,
    known: Names | None = None,
    domain: Domain | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    prior: Any = None,
    epsilons: Numbers | None = None,
    delta: float = 1e-5,
    mechanism: Any = "gaussian-marginals",
    k: int | None = None,
    access: str = "table",
    metric: Any = "exact",
    max_risk: float | None = None,
    measure: str = "advantage",
    attack: Names | None = None,
    reps: int = 5,
    threshold: int = 10,
    held_out: pd.DataFrame | Table | str | os.PathLike[str] | None = None,
    seed: Any = None,
    jobs: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> AssessResult:
    """Assess what a release of your own table would reveal, and what safety would cost.

    The table is released at several budgets around ``epsilon``, and the best attack there is plays
    against each: on the table, with fresh noise every time, and on tables drawn from the prior.

    Args:
        table: The records: a DataFrame, a `Table`, or the path of a CSV or Parquet file.
        targets: The columns that an attacker wants, all at once.
        epsilon: The budget that you have in mind.
        known: The columns that an attacker knows of every record; by default all others.
        domain: The columns with their labels or bins, which must be public, as in `fit`.
        prior: A prior to use instead of one that is fitted to the table.
        epsilons: The budgets to play; by default five from ε/10 to 10 ε.
        delta: The δ of the budget.
        mechanism: What releases the table: a name, a class, or ``(name, options)``.
        k: Columns per marginal, an option of the mechanism.
        access: ``table``, or ``measurements``: also what a generator was fitted to.
        metric: What counts as a success: ``exact``, ``columns:M`` or ``l1:E``.
        max_risk: The largest risk to allow; the result says which budgets keep it.
        measure: What that limits: ``advantage`` over guessing, or the ``share`` guessed right.
        attack: Further attacks by name, or ``all`` that can play.
        reps: Repetitions of the noise.
        threshold: Kinds of fewer records are not shown.
        held_out: Records that are not in the table, to be attacked as well.
        seed: The same seed gives the same numbers; a generator draws one.
        jobs: Worker processes; results do not depend on it.
        out: A folder for the report, which is confidential.
        progress: Whether to show progress; by default on a terminal and in a notebook.

    Returns:
        An `AssessResult`, with ``frame``, ``exposed``, ``summary()``, ``plot()`` and
        ``save(folder)``.

    Example:
        >>> import numpy as np
        >>> import reconbench as rb
        >>> people = rb.load_prior("acs").sample(60, np.random.default_rng(0)).to_pandas()
        >>> result = rb.assess(
        ...     people[["SEX", "MAR", "MIL"]], "MAR", epsilon=3, epsilons=[3], k=2, reps=1
        ... )
        >>> print(result.summary().splitlines()[0][:54])
        Without any release, an attacker who knows SEX and MIL
    """
    folder = read_optional(read_path, "out", out)
    handed = Handover()
    entries = handed.read_mechanisms(mechanism)
    metrics = read_metrics(metric)
    for name, value, several in (("mechanism", mechanism, entries), ("metric", metric, metrics)):
        if len(several) > 1:
            raise refuse(name, value, "a single one for an assessment")
    workers = read_whole("jobs", jobs, 1)
    if is_held(entries[0].mechanism) and workers > 1:
        raise ArgumentError("jobs must be 1 for a mechanism that exists in this process only")
    options = dict(entries[0].options)
    if k is not None:
        options["k"] = read_whole("k", k, 1)
    given = _find_file(prior)
    declared = domain if domain is not None or given is None else load_prior(given).domain
    own = read_table("table", table, declared)
    records = Records(_name(table), own.table, own.format.describe(), own.dropped)
    others = None
    if held_out is not None:
        outside = read_table("held_out", held_out, own.table.domain)
        others = Records(_name(held_out), outside.table, outside.format.describe(), outside.dropped)
    if folder is not None:
        check_folder(folder)
    wanted = read_known("known", known)
    if isinstance(wanted, str):
        raise refuse("known", known, "names of columns")
    with holding(handed.held):
        question = Question(
            "",
            read_names("targets", targets),
            known=tuple(wanted),
            metric=metrics[0],
            attacks=() if attack is None else read_names("attack", attack, "attack"),
            seed=read_seed("seed", seed),
            threshold=read_whole("threshold", threshold, 1),
            epsilon=read_number("epsilon", epsilon, above=0),
            epsilons=() if epsilons is None else tuple(read_numbers("epsilons", epsilons, above=0)),
            delta=read_number("delta", delta, least=0, below=1),
            mechanism=entries[0].mechanism,
            mechanism_options=Options(options),
            access=Access(read_choice("access", access, list(Access))),
            reps=read_whole("reps", reps, 1),
            max_risk=read_optional(read_number, "max_risk", max_risk, above=0, below=1),
            measure=Measure(read_choice("measure", measure, list(Measure))),
        )
        check_table(question, records.table)
        show = choose_progress(progress)
        with (
            find_prior(given, records, lambda text: None) as file,
            show("assess", count_games(question), 0) as advance,
        ):
            report = play_plan(question, records, file, others, jobs=workers, advance=advance)
    result = AssessResult(report, file)
    if folder is not None:
        result.save(folder)
    return result


def _find_file(prior: object) -> Path | None:
    """The file of a prior that was given; one in memory is written to a temporary one."""
    if prior is None:
        return None
    if isinstance(prior, str | os.PathLike) and os.fspath(prior).endswith(ENDINGS):
        return Path(prior)
    net = load_prior(prior)
    if not isinstance(net, BayNet):
        raise refuse("prior", prior, "a Bayesian network for an assessment")
    return write_prior(net, make_folder(), "prior")


def _name(table: object) -> str:
    """What a report calls a table."""
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return "the table" if isinstance(table, Table) else "the DataFrame"
