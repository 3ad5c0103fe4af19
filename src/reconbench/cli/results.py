"""`reconbench results`: show, export, import, compare and delete stored rows."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli._options import Json
from reconbench.cli.terminal.tables import make_printable, print_table

if TYPE_CHECKING:
    from reconbench.benchmarks.store.export_import import Cell

DEFAULT = Path("results")
# How many differences are listed; --json lists all.
LISTED = 20

SHOW_HELP = """Show what stores hold, cell by cell.

A cell is one attack on one game, over its repetitions, or one point of a computation. Stale rows
were made by a different version of the code: they are counted but left out of all numbers. Numbers
are means over finished rows. Without folders, all stores in results/ are shown.

\b
Examples:
  reconbench results show
  reconbench results show results/quick --json
"""

EXPORT_HELP = """Write rows as a table: CSV, or Parquet with the extra reconbench[parquet].

One line per row. Each ceiling has its own column; other nested values are JSON. Stale rows are left
out.

\b
Examples:
  reconbench results export results/quick quick.csv
  reconbench results export results/quick quick.parquet --with-stale
"""

IMPORT_HELP = """Merge the rows of other stores into one, all or none.

Every row is checked first. Rows with the same key must agree: what decides is equal, and floats are
within the tolerance of their field, since processors differ in the last digits. Such drift is
reported, and the row that was there stays. Otherwise nothing is written, the first row that differs
is named, and the exit code is 2. A finished row replaces a failed one.

\b
Examples:
  reconbench results import results/quick from-the-other-machine/quick
"""

DIFF_HELP = """Compare two stores, ignoring timings, memory and processor kernels.

Numerical drift within the tolerances of the fields is reported, but is no difference. The exit code
is 0 if the stores hold the same rows, 1 if they do not, and 2 if one cannot be read.

\b
Examples:
  reconbench results diff results/quick other/quick
  reconbench results diff results/quick other/quick --json
"""

PRUNE_HELP = """List and delete stale rows, failed rows, or both.

Rows of plugins that are not installed on this machine are kept: they may be current.

\b
Examples:
  reconbench results prune results/quick --stale --dry-run
  reconbench results prune results/quick --stale --failed --yes
"""

app = typer.Typer(
    help="Show, export, import, compare and delete stored rows.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(help="An output folder of `reconbench run`.")]


@app.command(help=SHOW_HELP)
def show(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Output folders of `reconbench run`.")
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.store.export_import import group_cells, output_folder, read
    from reconbench.benchmarks.store.store import FILE_NAME

    chosen = folders or sorted(path.parent for path in DEFAULT.glob(f"*/{FILE_NAME}"))
    if not chosen:
        raise ValueError(f"no result store in {DEFAULT}/: name an output folder")
    stores = {str(output_folder(folder)): group_cells(read(folder)) for folder in chosen}
    if as_json:
        shown = [{"store": name, **cell.to_json()} for name in stores for cell in stores[name]]
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    for name, cells in stores.items():
        _show_cells(name, cells)


def _show_cells(name: str, cells: Sequence[Cell]) -> None:
    from reconbench.benchmarks.game.setting import find_varying_axes, format_axis
    from reconbench.reports.leaderboard.text_tables import format_name

    rows = [cell.row for cell in cells]
    columns: dict[str, list[object]] = {
        "data set": [row.dataset for row in rows],
        "targets": [",".join(row.targets) for row in rows],
        **{
            axis.title: [format_axis(row, axis) for row in rows]
            for axis in find_varying_axes(rows, "epsilon", "n")
            if axis.name not in ("dataset", "targets")
        },
        "attack": [format_name(row.attack, row.attack_options) for row in rows],
        "ok": [cell.ok for cell in cells],
        **_keep_if_any("failed", [cell.failed for cell in cells]),
        **_keep_if_any("skipped", [cell.skipped for cell in cells]),
        **_keep_if_any("stale", [cell.stale for cell in cells]),
        "success": [_format_number(cell.success) for cell in cells],
        "prior": [_format_number(cell.baseline) for cell in cells],
        "seconds": [_format_number(cell.seconds) for cell in cells],
        **_keep_if_any("values", [_format_values(cell) for cell in cells]),
    }
    print_table(name, list(columns), list(zip(*columns.values(), strict=True)))
    stale, failed = sum(cell.stale for cell in cells), sum(cell.failed for cell in cells)
    unknown = sum(cell.unknown for cell in cells)
    if stale:
        typer.echo(
            f"{stale} stale rows were made by another code version (delete them with results prune "
            "--stale)"
        )
    if unknown:
        typer.echo(
            f"{unknown} rows belong to plugins that are not installed here; cannot tell whether "
            "they are stale"
        )
    if failed:
        first = next(cell.error for cell in cells if cell.failed)
        typer.echo(f"{failed} rows failed; the first: {make_printable(first)} (run --retry-failed)")


def _format_values(cell: Cell) -> str:
    """The values of a computation, by bound."""
    return ", ".join(f"{bound} {value:.3g}" for bound, value in cell.values.items())


def _keep_if_any(name: str, values: Sequence[object]) -> dict[str, list[object]]:
    return {name: [*values]} if any(values) else {}


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


@app.command(help=EXPORT_HELP)
def export(
    folder: Folder,
    to: Annotated[Path, typer.Argument(help="A .csv or .parquet file.")],
    with_stale: Annotated[
        bool, typer.Option("--with-stale", help="Include stale rows; a column marks them.")
    ] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import drop_stale, read
    from reconbench.benchmarks.store.export_import import export as write

    entries = read(folder)
    kept = entries if with_stale else drop_stale(entries)
    write(kept, to)
    stale = len(entries) - len(kept)
    left = f"; {stale} stale rows left out (--with-stale includes them)" if stale else ""
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
        typer.echo(json.dumps(done.to_json()))
        return
    replaced = f", {done.replaced} failed ones replaced" if done.replaced else ""
    typer.echo(f"{done.added} rows added{replaced}, {done.same} were already there")
    if done.drift.rows:
        typer.echo(done.drift.describe())


@app.command(help=DIFF_HELP)
def diff(
    first: Folder,
    second: Annotated[Path, typer.Argument(help="Another output folder.")],
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.store.export_import import compare_stores

    differences, drift = compare_stores(first, second)
    if as_json:
        listed = [difference.to_json() for difference in differences]
        shown = {"equal": not differences, "differences": listed, "drift": drift.to_json()}
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    elif not differences:
        typer.echo("the same rows, apart from timings, memory and kernels")
    else:
        typer.echo(f"{len(differences)} rows differ")
        for difference in differences[:LISTED]:
            typer.echo(difference.describe())
        if len(differences) > LISTED:
            typer.echo(f"... and {len(differences) - LISTED} more: --json lists all")
    if drift.rows and not as_json:
        typer.echo(drift.describe())
    if differences:
        raise typer.Exit(1)


@app.command(help=PRUNE_HELP)
def prune(
    folder: Folder,
    stale: Annotated[
        bool, typer.Option("--stale", help="Delete rows made by another code version.")
    ] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Delete rows that failed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the rows without deleting them.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import find_prunable, read
    from reconbench.benchmarks.store.export_import import prune as delete

    if not (stale or failed):
        raise ValueError("say which rows to delete: --stale, --failed or both")
    entries = read(folder)
    prunable = find_prunable(entries, stale=stale, failed=failed)
    by_attack = Counter(entry.row.attack for entry in prunable)
    counts = ", ".join(f"{count} of {name}" for name, count in by_attack.items())
    kinds = " and ".join(["stale"] * stale + ["failed"] * failed)
    typer.echo(
        f"{len(prunable)} {kinds} rows of {len(entries)}" + (f": {counts}" if counts else "")
    )
    if dry_run or not prunable:
        return
    if not yes and sys.stdin.isatty():
        typer.confirm("Delete them?", abort=True)
    delete(folder, prunable)
    typer.echo(f"{len(prunable)} rows deleted, {len(entries) - len(prunable)} left")
