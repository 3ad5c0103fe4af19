"""`reconbench results`: look at stored rows, and move them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    from reconbench.benchmarks.store.export_import import Cell

DEFAULT = Path("results")
# As many differences are listed; all are with --json.
LISTED = 20

SHOW_HELP = """Show what stores hold, cell by cell.

A cell is an attack on a game, over its repetitions, or a point of a computation. Stale rows were
made by other code than is here now: they are counted and left out of all numbers, which are means
over finished rows. Without folders, those in results/ are shown.

\b
Examples:
  reconbench results show
  reconbench results show results/quick --json
"""

EXPORT_HELP = """Write rows as a table: CSV, or Parquet with the extra reconbench[parquet].

One line a row. Ceilings have a column each, other nested values are JSON. Stale rows are left out.

\b
Examples:
  reconbench results export results/quick quick.csv
  reconbench results export results/quick quick.parquet --with-stale
"""

IMPORT_HELP = """Merge the rows of other stores into one, all or none.

Rows with one key must be equal but for timings and memory; otherwise nothing is written and the
first one that differs is named, with exit code 2. A finished row takes the place of a failed one.

\b
Examples:
  reconbench results import results/quick from-the-other-machine/quick
"""

DIFF_HELP = """Compare two stores, but for timings and memory.

Exit code 0 when they hold the same rows, 1 when they do not, 2 when one cannot be read.

\b
Examples:
  reconbench results diff results/quick other/quick
  reconbench results diff results/quick other/quick --json
"""

PRUNE_HELP = """Delete stale rows, failed rows, or both, after saying which.

Rows of plugins that are not on this machine are not stale and stay.

\b
Examples:
  reconbench results prune results/quick --stale --dry-run
  reconbench results prune results/quick --stale --failed --yes
"""

app = typer.Typer(
    help="Look at stored results: show, export, import, diff and prune.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Folder = Annotated[Path, typer.Argument(help="An output folder of `reconbench run`.")]


@app.command(help=SHOW_HELP)
def show(
    folders: Annotated[list[Path] | None, typer.Argument(help="Output folders.")] = None,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.store.export_import import cells, folder_of, read
    from reconbench.benchmarks.store.store import FILE_NAME

    chosen = folders or sorted(path.parent for path in DEFAULT.glob(f"*/{FILE_NAME}"))
    if not chosen:
        raise ValueError(f"no result store in {DEFAULT}/: name an output folder")
    found = {str(folder_of(folder)): cells(read(folder)) for folder in chosen}
    if as_json:
        shown = [{"store": name, **each.to_json()} for name, of in found.items() for each in of]
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    for name, of in found.items():
        _show_cells(name, of)


def _show_cells(name: str, found: Sequence[Cell]) -> None:
    from reconbench.benchmarks.game.setting import axis_text, varying_axes

    rows = [each.row for each in found]
    columns: dict[str, list[object]] = {
        "data set": [row.dataset for row in rows],
        "targets": [",".join(row.targets) for row in rows],
        **{
            axis.title: [axis_text(row, axis) for row in rows]
            for axis in varying_axes(rows, "epsilon", "n")
            if axis.name not in ("dataset", "targets")
        },
        "attack": [_show.named(row.attack, row.attack_options) for row in rows],
        "ok": [each.ok for each in found],
        **_if_any("failed", [each.failed for each in found]),
        **_if_any("skipped", [each.skipped for each in found]),
        **_if_any("stale", [each.stale for each in found]),
        "success": [_brief(each.success) for each in found],
        "prior": [_brief(each.baseline) for each in found],
        "seconds": [_brief(each.seconds) for each in found],
        **_if_any("values", [_values(each) for each in found]),
    }
    _show.table(name, list(columns), list(zip(*columns.values(), strict=True)))
    stale, failed = sum(each.stale for each in found), sum(each.failed for each in found)
    unknown = sum(each.unknown for each in found)
    if stale:
        typer.echo(f"{stale} rows are stale: made by other code (results prune --stale)")
    if unknown:
        typer.echo(f"{unknown} rows are of plugins that are not here: nobody knows if stale")
    if failed:
        first = next(each.error for each in found if each.failed)
        typer.echo(f"{failed} rows failed; the first: {_show.plain(first)} (run --retry-failed)")


def _values(cell: Cell) -> str:
    """What a computation says, bound by bound."""
    return ", ".join(f"{bound} {value:.3g}" for bound, value in cell.values.items())


def _if_any(name: str, values: Sequence[object]) -> dict[str, list[object]]:
    return {name: [*values]} if any(values) else {}


def _brief(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


@app.command(help=EXPORT_HELP)
def export(
    folder: Folder,
    to: Annotated[Path, typer.Argument(help="A .csv or .parquet file.")],
    with_stale: Annotated[
        bool, typer.Option("--with-stale", help="Stale rows too; a column says which.")
    ] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import export as write
    from reconbench.benchmarks.store.export_import import read, standings
    from reconbench.benchmarks.store.store import Standing

    entries = read(folder)
    kept = [
        entry
        for entry, standing in zip(entries, standings(entries), strict=True)
        if with_stale or standing is not Standing.STALE
    ]
    write(kept, to)
    stale = len(entries) - len(kept)
    left = f"; {stale} stale rows left out (--with-stale)" if stale else ""
    typer.echo(f"{len(kept)} rows written to {to}{left}")


@app.command("import", help=IMPORT_HELP)
def import_(
    folder: Folder,
    others: Annotated[list[Path], typer.Argument(help="Stores whose rows are added.")],
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.store.export_import import merge

    done = merge(folder, others)
    if as_json:
        counts = {"added": done.added, "replaced": done.replaced, "same": done.same}
        typer.echo(json.dumps(counts))
        return
    replaced = f", {done.replaced} failed ones replaced" if done.replaced else ""
    typer.echo(f"{done.added} rows added{replaced}, {done.same} were there")


@app.command(help=DIFF_HELP)
def diff(
    first: Folder,
    second: Annotated[Path, typer.Argument(help="Another one.")],
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.store.export_import import diff as compare

    found = compare(first, second)
    if as_json:
        shown = {"equal": not found, "differences": [each.to_json() for each in found]}
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    elif not found:
        typer.echo("the same rows, but for timings and memory")
    else:
        typer.echo(f"{len(found)} rows differ")
        for each in found[:LISTED]:
            typer.echo(each.describe())
        if len(found) > LISTED:
            typer.echo(f"... and {len(found) - LISTED} more: all of them with --json")
    if found:
        raise typer.Exit(1)


@app.command(help=PRUNE_HELP)
def prune(
    folder: Folder,
    stale: Annotated[bool, typer.Option("--stale", help="Rows made by other code.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Rows that failed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import prunable, read
    from reconbench.benchmarks.store.export_import import prune as delete

    if not (stale or failed):
        raise ValueError("say which rows to delete: --stale, --failed or both")
    entries = read(folder)
    doomed = prunable(entries, stale=stale, failed=failed)
    by_attack: dict[str, int] = {}
    for entry in doomed:
        by_attack[entry.row.attack] = by_attack.get(entry.row.attack, 0) + 1
    of = ", ".join(f"{count} of {name}" for name, count in by_attack.items())
    kinds = " and ".join([*(["stale"] if stale else []), *(["failed"] if failed else [])])
    typer.echo(f"{len(doomed)} {kinds} rows of {len(entries)}" + (f": {of}" if of else ""))
    if dry_run or not doomed:
        return
    if not yes and sys.stdin.isatty():
        typer.confirm("Delete them?", abort=True)
    delete(folder, doomed)
    typer.echo(f"{len(doomed)} rows deleted, {len(entries) - len(doomed)} left")
