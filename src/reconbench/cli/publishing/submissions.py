"""`reconbench submit` and `verify`: entries of other people's attacks."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli._options import (
    Json,
    MemoryLimit,
    SuiteJobs,
    SuiteReps,
    Timeout,
    parse_options,
)
from reconbench.cli.terminal.tables import make_printable
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.submissions.entry import Entry
    from reconbench.benchmarks.suites.suite import Suite

SUBMIT_HELP = """Play a suite with your attack and write one file to send: an entry.

The entry holds the source of the attack and its hash, all rows, the versions and the kernels that
computed them, and what you say about it. The attack must be one file; whatever it needs beyond
installed packages must be in that file. It plays in a player process, like every attack in a file.

Whoever receives the entry runs `reconbench verify`: it replays some rows and plays the same games
with a secret seed, so an attack that remembers public tables gains nothing. Check your attack first
with `reconbench check attack`.

\b
Exit codes: 0 written, 2 bad input or an attack that fails; nothing is written then.

\b
Examples:
  reconbench submit my_attack.py:MyAttack --suite quick --out entry.json
  reconbench submit my_attack.py:MyAttack --suite quick --out entry.json --author "A. Author" \\
      --description "Votes of the noisy marginals" --paper "Author 2026, Section 4" --claims-paper
  reconbench submit my_attack.py:MyAttack --suite smoke --reps 5 --option trust=2 --out entry.json
  reconbench submit my_attack.py:MyAttack --suite quick --store results/quick --out entry.json
"""

VERIFY_HELP = """Verify an entry: replay some of its rows, play sealed games, and give a verdict.

The file is untrusted. Its schema, sizes and hashes are checked first; its source runs only in a
player process, under --timeout and --memory-limit. A player is not a sandbox: verify entries of
strangers as another user or in a container.

\b
accepted  replayed rows agree, and public results are not better than sealed ones beyond chance
drifted   the same, but numbers of the referee differ by more than their tolerance: the attack
          decides the same here, on other kernels or versions
refused   a replayed row has other guesses or counts; or public results are better than sealed ones
          (one-sided permutation test of raw successes minus those of the prior's guess, level
          0.001); or the attack fails, hangs, or skips sealed games that it plays in public

The seed of the sealed games is drawn by the system, and revealed in the verdict with its
commitment: `reconbench run SUITE --attack FILE:CLASS --seed SEED` plays them again.

\b
Exit codes: 0 accepted, 1 refused, 2 not a valid entry or bad input, 4 drifted.

\b
Examples:
  reconbench verify entry.json
  reconbench verify entry.json --out verified
  reconbench verify entry.json --timeout 60 --memory-limit 4 --jobs 2 --json
  reconbench verify entry.json --replay 100 --sealed-reps 20 --seal-suite smoke
  reconbench verify entry.json --suite path/to/suite.toml
"""


def submit(
    attack: Annotated[str, typer.Argument(help="Your attack, as file.py:Class.")],
    suite: Annotated[str, typer.Option(help="A suite (see `suite list`) or a .toml file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The entry to write (.json).")],
    description: Annotated[str, typer.Option(help="What the attack does, in a few words.")] = "",
    author: Annotated[str, typer.Option(help="Who stands behind it.")] = "",
    paper: Annotated[str, typer.Option(help="The paper it is from, if any.")] = "",
    claims_paper: Annotated[
        bool,
        typer.Option("--claims-paper", help="State that these are the paper's own results."),
    ] = False,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the attack, as key=value; repeatable.")
    ] = None,
    reps: SuiteReps = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: that of the suite.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep rows in this output folder of `run`, and use those that it has: a stopped "
            "submission then resumes."
        ),
    ] = None,
    jobs: SuiteJobs = None,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
    as_json: Json = False,
) -> None:
    from pydantic import ValidationError

    from reconbench.benchmarks.game.result import Status
    from reconbench.benchmarks.player.referee import limit_players
    from reconbench.benchmarks.run.runner import available_cores, execute, plan, read_rows
    from reconbench.benchmarks.run.worker_process import Limits
    from reconbench.benchmarks.store.store import Store
    from reconbench.benchmarks.submissions.documents import describe_first
    from reconbench.benchmarks.submissions.entry import About
    from reconbench.benchmarks.submissions.submit import Submission
    from reconbench.benchmarks.suites.suite import find_suite

    limits = Limits.of(timeout, memory_limit)
    limit_players(limits.seconds)
    if claims_paper and not paper:
        raise ValueError("--claims-paper needs --paper, the paper whose results these are")
    if out.suffix != ".json":
        raise ValueError(f"--out must end with .json, got {str(out)!r}")
    if not out.parent.is_dir():
        raise ValueError(f"cannot write --out {out}: no folder {out.parent}; create it first")
    try:
        about = About(
            description=description, author=author, paper=paper, claims_paper=claims_paper
        )
    except ValidationError as error:
        raise ValueError(f"--{describe_first(error)}") from None
    submission = Submission.prepare(
        attack,
        find_suite(suite),
        options=parse_options(option or [], "--option"),
        seed=seed,
        repetitions=reps,
    )
    with ExitStack() as stack:
        folder = store or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rows_kept = stack.enter_context(Store(folder))
        todo = plan(submission.units, rows_kept)
        todo.check()
        advance = stack.enter_context(
            show_progress("submit", todo.total, quiet=quiet or as_json, done=todo.held)
        )
        execute(
            todo,
            rows_kept,
            jobs=jobs or available_cores(),
            limits=limits,
            progress=lambda done, row: advance(failed=row.status is Status.FAILED),
        )
        rows = read_rows(todo, rows_kept)
    entry = submission.finish(rows, about)
    entry.write(out)
    if as_json:
        end = {"entry": str(out), "sha256": entry.sha256, "attack": entry.attack.name}
        typer.echo(json.dumps({**end, "suite": entry.suite.name, "rows": len(rows)}))
        return
    typer.echo(
        f"{make_printable(entry.attack.name)} on {entry.suite.name}: {len(rows)} rows; `verify` "
        f"will play {submission.sealed_repetitions} sealed repetitions of each game"
    )
    typer.echo(str(out))


def verify(
    entry: Annotated[Path, typer.Argument(help="An entry of `reconbench submit`.")],
    suite: Annotated[
        str | None,
        typer.Option(help="The suite of the entry, if it is not a shipped one: its .toml file."),
    ] = None,
    seal_suite: Annotated[
        str | None,
        typer.Option(help="Suite to play sealed; default: that of the entry. It must share games."),
    ] = None,
    replay: Annotated[
        int, typer.Option(min=1, help="Public rows to play again, drawn at random.")
    ] = 20,
    sealed_reps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Sealed repetitions of each game; more find smaller cheats. Default: the fewest "
            "that can refuse one.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder of verified entries: the verdict is added unless refused."
        ),
    ] = None,
    jobs: SuiteJobs = None,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.run.runner import available_cores
    from reconbench.benchmarks.run.worker_process import Limits
    from reconbench.benchmarks.submissions.entry import read_entry
    from reconbench.benchmarks.submissions.verdict import Outcome
    from reconbench.benchmarks.submissions.verify import Verification
    from reconbench.benchmarks.suites.suite import find_suite

    limits = Limits.of(timeout, memory_limit)
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is not a folder; choose a folder for verified entries")
    submitted = read_entry(entry)
    verification = Verification.plan(
        submitted,
        _find_suite(submitted, suite),
        None if seal_suite is None else find_suite(seal_suite),
        replay,
        sealed_reps,
    )
    if not (quiet or as_json):
        typer.echo(f"sealed: {verification.seal.commitment}", err=True)
    with show_progress("verify", verification.rows, quiet=quiet or as_json) as advance:
        verdict = verification.run(
            jobs=jobs or available_cores(), limits=limits, advance=lambda: advance()
        )
    path = None
    if out is not None and verdict.outcome is not Outcome.REFUSED:
        path = verdict.write(out)
    if as_json:
        shown = verdict.to_json(rows=False) | {"file": None if path is None else str(path)}
        typer.echo(json.dumps(shown, ensure_ascii=False))
    else:
        for reason in verdict.reasons:
            typer.echo(make_printable(reason))
        typer.echo(f"{verdict.outcome.value}: {make_printable(submitted.attack.name)}")
        if path is not None:
            typer.echo(str(path))
    if verdict.outcome.exit_code:
        raise typer.Exit(verdict.outcome.exit_code)


def _find_suite(entry: Entry, given: str | None) -> Suite:
    """The suite of an entry: a shipped one by name, never a file that the entry names."""
    from reconbench.benchmarks.suites.suite import find_suite, shipped

    if given is None:
        suites = shipped()
        if entry.suite.name not in suites:
            raise ValueError(
                f"the entry is of the suite {entry.suite.name!r}, which is not a shipped one; name "
                "its file with --suite path/to/suite.toml"
            )
        return suites[entry.suite.name]
    suite = find_suite(given)
    if suite.name != entry.suite.name:
        raise ValueError(
            f"--suite {given} is the suite {suite.name!r}, but the entry is of {entry.suite.name!r}"
        )
    return suite
