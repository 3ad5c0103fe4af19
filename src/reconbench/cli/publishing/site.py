"""`reconbench site`: one static site of stores, verified entries and assessments."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli._options import Json
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.submissions.verdict import Verdict
    from reconbench.benchmarks.suites.suite import Suite
    from reconbench.reports.website.content import Assessment, ResultFolder

STORE = "results.sqlite"
REPORT = "report.json"
# A suite's name is in the first line of its leaderboard, which is a few kilobytes long.
_MOST_CSV = 1 << 20

HELP = """Make one static site of several runs, verified entries and assessments.

Give output folders of `reconbench run`, folders of `reconbench verify --out` and of `reconbench
assess --out`, or single documents of the latter two. The site has the newest standings per suite, a
page per suite with its leaderboard, a page per attack and per data set, the history by code
version, the verified entries with their sealed results, and a page for every number that says how
to reproduce it: command line, seed, versions and store key.

The pages need no server and no scripts (the interactive leaderboards apart), and link only to each
other. The same input gives the same bytes. The site is built beside --out and then put in its
place; a folder that is not a site of reconbench is never replaced.

An assessment is confidential: a site that holds one says so on every page. --public refuses them.

\b
Exit codes: 0 written, 2 bad input; nothing is written then.

\b
Examples:
  reconbench site results/* --out site
  reconbench site results/quick results/attacks verified --out site --title "Our results" --public
  reconbench site results/quick assessment --out private-site --json
"""


def site(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of `run`, `verify --out` and `assess`.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the site; replaced if it is one.")
    ] = Path("site"),
    title: Annotated[str, typer.Option(help="Title of the site.")] = "reconbench results",
    public: Annotated[
        bool, typer.Option("--public", help="Refuse assessments, which are confidential.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks.suites.suite import shipped
    from reconbench.reports.website.content import SiteContent
    from reconbench.reports.website.folder import check_folder, write_site
    from reconbench.reports.website.pages import plan_pages

    if not title.strip() or len(title) > 200:
        raise ValueError(f"--title must have 1 to 200 characters, got {len(title)}")
    check_folder(out)
    sources = _find_sources(folders, public=public)
    silent = quiet or as_json
    suites = shipped()
    results = list(_read_stores(sources, suites, quiet=silent))
    verdicts = {verdict.entry.sha256: verdict for verdict in sources.verdicts}
    content = SiteContent(
        title=title,
        folders=tuple(results),
        verdicts=tuple(verdicts.values()),
        assessments=tuple(sources.assessments),
        columns=_read_columns(results),
        shipped=frozenset(suites),
    )
    pages = plan_pages(content)
    with show_progress("site", len(pages), quiet=silent) as advance:

        def make() -> Iterator[tuple[str, bytes]]:
            for page in pages:
                yield page.path, page.make()
                advance()

        written = write_site(out, make())
    if content.assessments:
        typer.echo("confidential: the site holds assessments; do not publish it", err=True)
    if as_json:
        end = {"site": str(out), "index": str(out / "index.html"), "files": written}
        end |= {"suites": len(results), "entries": len(verdicts)}
        typer.echo(json.dumps(end | {"assessments": len(content.assessments)}))
        return
    typer.echo(str(out / "index.html"))


@dataclass
class _Sources:
    """What was found at the paths that were given."""

    stores: list[Path] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    assessments: list[Assessment] = field(default_factory=list)


def _find_sources(paths: Sequence[Path], *, public: bool) -> _Sources:
    sources = _Sources()
    reports: list[Path] = []
    for path in dict.fromkeys(paths):
        if path.name == STORE and path.is_file():
            sources.stores.append(path.parent)
        elif path.is_dir() and (path / STORE).is_file():
            sources.stores.append(path)
        elif path.is_dir() and (path / REPORT).is_file():
            reports.append(path / REPORT)
        else:
            _sort_documents(path, sources, reports)
    if public and reports:
        raise ValueError(
            f"{reports[0]} is an assessment of somebody's own records and confidential: leave it "
            "out, or leave out --public and do not publish the site"
        )
    names = _name_apart([path.absolute().parent for path in reports])
    sources.assessments = [_read_assessment(*pair) for pair in zip(reports, names, strict=True)]
    return sources


def _sort_documents(path: Path, sources: _Sources, reports: list[Path]) -> None:
    """Documents by themselves, or a folder of verdicts."""
    from reconbench.benchmarks.assess.report import FORMAT
    from reconbench.benchmarks.submissions.documents import read_json
    from reconbench.benchmarks.submissions.verdict import Outcome, read_verdict

    if not path.exists():
        raise ValueError(f"nothing at {path}: no such file or folder")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise ValueError(
            f"nothing to show in {path}: it must be an output folder of `reconbench run`, "
            "`reconbench verify --out` or `reconbench assess`"
        )
    for file in files:
        if read_json(file, "a verdict or an assessment").get("format") == FORMAT:
            reports.append(file)
            continue
        verdict = read_verdict(file)
        if verdict.outcome is not Outcome.REFUSED:
            sources.verdicts.append(verdict)


def _read_assessment(path: Path, name: str) -> Assessment:
    from reconbench.benchmarks.submissions.documents import read_json
    from reconbench.reports.website.content import Assessment

    return Assessment.from_json(name, read_json(path, "a report of `reconbench assess`"))


def _read_stores(
    sources: _Sources, suites: Mapping[str, Suite], *, quiet: bool
) -> Iterator[ResultFolder]:
    from reconbench.benchmarks.plugins import shorten_spec
    from reconbench.benchmarks.store.export_import import read
    from reconbench.reports.website.content import ResultFolder, StoredRow

    names = _name_apart([path.absolute() for path in sources.stores])
    with show_progress("read", len(names), quiet=quiet or len(names) < 2) as advance:
        for folder, name in zip(sources.stores, names, strict=True):
            rows = tuple(
                StoredRow(
                    entry.key.text,
                    entry.key.origin.code,
                    entry.row,
                    shorten_spec(entry.key.origin.attack),
                    shorten_spec(entry.key.origin.mechanism),
                )
                for entry in read(folder)
            )
            suite = _read_suite_name(folder / "leaderboard.csv") or folder.absolute().name
            found = suites.get(suite)
            yield ResultFolder(name, rows, suite, found.description if found else "")
            advance()


def _read_suite_name(path: Path) -> str:
    """The suite that a leaderboard says it is of; empty if there is none."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = stream.read(_MOST_CSV).splitlines(keepends=True)
        first = next(csv.DictReader(lines), {})
    except (OSError, UnicodeDecodeError, csv.Error):
        return ""
    name = first.get("suite")
    return name[:200] if isinstance(name, str) else ""


def _name_apart(folders: Sequence[Path]) -> list[str]:
    """The names of folders, with as many parents as it takes to keep them apart."""
    names = [folder.name for folder in folders]
    for depth in range(2, 50):
        counts = Counter(names)
        if all(count == 1 for count in counts.values()):
            break
        names = [
            "/".join(folder.parts[-depth:]) if counts[name] > 1 else name
            for folder, name in zip(folders, names, strict=True)
        ]
    return names


def _read_columns(results: Iterable[ResultFolder]) -> Mapping[str, tuple[str, ...]]:
    """The columns of the data sets of reconbench's own that rows were played on, by their hash."""
    from reconbench.benchmarks import plugins
    from reconbench.datasets import DomainError
    from reconbench.datasets.named import load_named

    columns = {}
    for name in {stored.row.dataset for folder in results for stored in folder.rows}:
        if plugins.get_file(name) is not None:
            continue
        with suppress(DomainError):  # of another package, or pgmpy is not installed here
            prior = load_named(name)
            columns[prior.sha256()] = prior.domain.names
    return columns
