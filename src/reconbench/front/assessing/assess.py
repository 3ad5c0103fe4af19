"""`assess`: a table of one's own, played through a release that is planned."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.benchmarks.assess.max_epsilon import Measure
from reconbench.benchmarks.assess.question import Question, check_table
from reconbench.benchmarks.assess.zcdp_budgets import state_budgets
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.setting import Access
from reconbench.benchmarks.plugins.in_memory import holding, is_held
from reconbench.datasets import Domain, Table
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
    read_text,
    read_whole,
    refuse,
)
from reconbench.front.assessing.planned import play_plan
from reconbench.front.assessing.report_files import check_folder, write_record_table
from reconbench.front.assessing.result import AssessResult
from reconbench.front.assessing.sources import find_prior, split_records
from reconbench.front.assessing.tables import TableReader, find_prior_file
from reconbench.front.games.axes import read_known
from reconbench.front.games.handover import Handover, read_metrics
from reconbench.front.games.playing import Interrupted, choose_progress

if TYPE_CHECKING:
    import pandas as pd


@checked
def assess(
    table: pd.DataFrame | Table | str | os.PathLike[str],
    targets: Names,
    *,
    epsilon: float | str | None = None,
    known: Names | None = None,
    domain: Domain | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    prior: Any = None,
    prior_from: pd.DataFrame | Table | str | os.PathLike[str] | None = None,
    prior_split: float | None = None,
    weight_column: str | None = None,
    group_column: str | None = None,
    epsilons: Numbers | None = None,
    rho: float | None = None,
    rhos: Numbers | None = None,
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
    per_record: str | os.PathLike[str] | None = None,
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
        prior_from: Other records to fit the prior to: one that is fitted to the table itself
            understates what the release adds.
        prior_split: The share of the table, drawn at random, that the prior is fitted to; the rest
            is assessed.
        weight_column: A column that says how many people each record stands for. The prior and all
            shares are then those of the people; the release and its guarantee count records.
        group_column: A column that is equal for records that belong together, such as those of a
            household; the result has what the largest group as a whole is promised.
        epsilons: The budgets to play; by default five from ε/10 to 10 ε.
        rho: The budget as ρ of zero-concentrated DP instead of ``epsilon``.
        rhos: The budgets to play as ρ; by default five from ρ/100 to 100 ρ.
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
        per_record: A CSV file for the risk of every record. Only its owner may read it.
        seed: The same seed gives the same numbers; a generator draws one.
        jobs: Worker processes; results do not depend on it.
        out: A folder for the report, which is confidential. Games are kept there: after an
            interrupt, the same call goes on where it was.
        progress: Whether to show progress; by default on a terminal and in a notebook.

    Returns:
        An `AssessResult`, with ``frame``, ``exposed``, ``summary()``, ``plot()`` and
        ``save(folder)``.

    Raises:
        ValueError: An argument is wrong.
        Interrupted: Ctrl-C.

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
    own_file = read_optional(read_path, "per_record", per_record)
    for place in (folder, None if own_file is None else own_file.parent):
        if place is not None:
            check_folder(place)
    if sum(each is not None for each in (prior, prior_from, prior_split)) > 1:
        raise ArgumentError("give at most one of prior, prior_from and prior_split")
    handed = Handover()
    released, options = _read_mechanism(mechanism, k, handed)
    workers = read_whole("jobs", jobs, 1)
    if is_held(released) and workers > 1:
        raise ArgumentError("jobs must be 1 for a mechanism that exists in this process only")
    wanted, names = read_known("known", known), read_names("targets", targets)
    if isinstance(wanted, str):
        raise refuse("known", known, "names of columns")
    budgets = state_budgets(
        read_optional(read_number, "epsilon", epsilon, above=0),
        [] if epsilons is None else read_numbers("epsilons", epsilons, above=0),
        read_optional(read_number, "rho", rho, above=0),
        [] if rhos is None else read_numbers("rhos", rhos, above=0),
        read_number("delta", delta, least=0, below=1),
    )
    tables = TableReader(
        find_prior_file(prior),
        domain,
        (*names, *wanted),
        read_optional(read_text, "weight_column", weight_column),
        read_optional(read_text, "group_column", group_column),
    )
    start = read_seed("seed", seed)
    records, source = tables.read("table", table), None
    if prior_from is not None:
        source = tables.read("prior_from", prior_from, groups=False)
    elif prior_split is not None:
        share = read_number("prior_split", prior_split, above=0, below=1)
        source, records = split_records(records, share, start)
    others = None if held_out is None else tables.read_plain("held_out", held_out)
    with holding(handed.held):
        question = Question(
            "",
            names,
            known=tuple(wanted),
            metric=_read_metric(metric),
            attacks=() if attack is None else read_names("attack", attack, "attack"),
            seed=start,
            threshold=read_whole("threshold", threshold, 1),
            epsilon=budgets.epsilon,
            epsilons=budgets.epsilons,
            delta=budgets.delta,
            in_rho=budgets.in_rho,
            mechanism=released,
            mechanism_options=options,
            access=Access(read_choice("access", access, list(Access))),
            reps=read_whole("reps", reps, 1),
            max_risk=read_optional(read_number, "max_risk", max_risk, above=0, below=1),
            measure=Measure(read_choice("measure", measure, list(Measure))),
        )
        check_table(question, records.table)
        show = choose_progress(progress)
        with (
            find_prior(tables.prior, records, lambda text: None, source) as file,
            _explain_interrupt(folder),
        ):
            report = play_plan(
                question,
                records,
                file,
                others,
                show=lambda total, done: show("assess", total, done),
                jobs=workers,
                per_record=own_file is not None,
                out=folder,
            )
    result = AssessResult(report, file)
    if folder is not None:
        result.save(folder)
    if own_file is not None:
        write_record_table(own_file, report, records)
    return result


@contextmanager
def _explain_interrupt(folder: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        kept = f"finished games are kept in {folder}, and the same call goes on there"
        raise Interrupted("stopped" if folder is None else f"stopped; {kept}") from None


def _read_mechanism(value: object, k: object, handed: Handover) -> tuple[str, Options]:
    """The one mechanism of an assessment, with its options."""
    entries = handed.read_mechanisms(value)
    if len(entries) > 1:
        raise refuse("mechanism", value, "a single one for an assessment")
    options = dict(entries[0].options)
    if k is not None:
        options["k"] = read_whole("k", k, 1)
    return entries[0].mechanism, Options(options)


def _read_metric(value: object) -> str:
    metrics = read_metrics(value)
    if len(metrics) > 1:
        raise refuse("metric", value, "a single one for an assessment")
    return metrics[0]
