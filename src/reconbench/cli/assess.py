"""`reconbench assess`: what a release of your own table would reveal, and what safety costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli.terminal.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.assessment import Assessment, Question
    from reconbench.benchmarks.assess.report import AssessmentReport
    from reconbench.datasets import Domain, Table
    from reconbench.mechanisms import MarginalsRelease
    from reconbench.mechanisms.marginals import PublishedMarginals
    from reconbench.mechanisms.marginals_csv import ReleaseFile

HELP = """Assess what a release of your own table would reveal, and what safety would cost.

Give a CSV file, the domain file that declares its columns (`reconbench data fit --suggest-domain`
drafts one), the columns that an attacker wants, and the columns that an attacker already knows. A
prior is fitted to the table (or read with --prior), k-way marginals with Gaussian noise are
released at several budgets around --epsilon, and the best possible attack plays against each: on
your table, with fresh noise every time, and on tables drawn from the prior.

The report says in plain words what an attacker learns at each budget, beside what can be guessed
without any release and beside the ceiling that no attack exceeds; which kinds of record are most
exposed (kinds of fewer than --threshold records are not shown); how accurate the marginals remain;
and, with --max-risk, the largest epsilon that keeps the risk within it: proved by bounds, and
measured.

With --release, nothing is released. Instead, a file of marginals that were already published is
attacked and the guesses are counted against --truth. Its lines are marginal,cell,value, with names
and labels joined by |. State the noise with --epsilon and --delta (Gaussian noise that uses this
budget), or with --noise-sd, from which no ceiling follows.

The report is about your own records. It is confidential: do not publish it.

\b
Exit codes: 0 done, 2 bad input.

\b
Examples:
  reconbench assess people.csv --domain domain.json --targets income --epsilon 1
  reconbench assess people.csv --domain domain.json --targets income --known age,sex --epsilon 1 \\
      --max-risk 0.05
  reconbench assess people.csv --prior prior.bif --targets income --epsilon 1 --jobs 2 --json
  reconbench assess --release marginals.csv --truth people.csv --domain domain.json \\
      --targets income --known age,sex --epsilon 1
"""


def assess(
    table: Annotated[Path | None, typer.Argument(help="Your table: CSV with a header.")] = None,
    targets: Annotated[
        list[str] | None, typer.Option(help="Columns an attacker wants, comma-separated.")
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(help="Columns an attacker knows of every record; default: all others."),
    ] = None,
    domain: Annotated[Path | None, typer.Option(help="Domain file (JSON).")] = None,
    prior: Annotated[
        Path | None, typer.Option(help="Prior to use instead of fitting one: a .bif file.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The budget you have in mind.")] = None,
    epsilons: Annotated[
        list[str] | None,
        typer.Option(help="Budgets to play, comma-separated; default: epsilon/10 to 10x."),
    ] = None,
    delta: Annotated[float, typer.Option(help="Delta of the privacy budget.")] = 1e-5,
    k: Annotated[int, typer.Option(help="Columns in a marginal.")] = 3,
    metric: Annotated[
        str, typer.Option(help="`exact`, `columns:M`, or `l1:E` on ordinal columns.")
    ] = "exact",
    max_risk: Annotated[
        float | None, typer.Option(help="Largest risk to allow, between 0 and 1.")
    ] = None,
    measure: Annotated[
        str,
        typer.Option(help="What --max-risk limits: `advantage` over guessing, or total `share`."),
    ] = "advantage",
    attack: Annotated[
        list[str] | None, typer.Option(help="A further attack by name, such as rap; repeatable.")
    ] = None,
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of the noise.")] = 5,
    threshold: Annotated[
        int, typer.Option(min=1, help="Kinds of fewer records are not shown.")
    ] = 10,
    release: Annotated[
        Path | None, typer.Option(help="Attack these published marginals instead (CSV).")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The table that --release was made from.")
    ] = None,
    noise_sd: Annotated[
        float | None, typer.Option(help="Noise sd of a published count; states no budget.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, help="Worker processes; results do not depend on it.")
    ] = 1,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for report.html, .md, .json and the prior.")
    ] = Path("assessment"),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Also print the JSON document.")] = False,
) -> None:
    from reconbench.benchmarks.assess.assess import assess
    from reconbench.benchmarks.assess.assessment import (
        OPTIMAL,
        PRIOR,
        Question,
        check_question,
        check_table,
    )
    from reconbench.benchmarks.assess.max_epsilon import Measure
    from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
    from reconbench.mechanisms.marginals_csv import read_release

    if measure not in list(Measure):
        raise ValueError(f"--measure must be {' or '.join(Measure)}, got {measure!r}")
    if release is None:
        source, budget = _check_planned(table, truth, epsilon, noise_sd)
    elif epsilons or max_risk is not None:
        raise ValueError(
            "--epsilons and --max-risk are for future releases: do not combine them with --release"
        )
    else:
        source, budget = _check_published(table, truth, epsilon, noise_sd)
    records = _read_table(source, domain, prior)
    published = None if release is None else read_release(release, records.domain)
    path = prior or out / "prior.bif"
    question = Question(
        dataset=str(path.resolve()),
        targets=_names(targets),
        known=_names(known),
        epsilon=budget,
        epsilons=_numbers(epsilons) or ((budget,) if published else ()),
        delta=delta,
        k=published.k if published else k,
        metric=metric,
        attacks=tuple(dict.fromkeys((PRIOR, OPTIMAL, *(attack or [])))),
        reps=reps,
        seed=seed,
        threshold=threshold,
        max_risk=max_risk,
        measure=Measure(measure),
    )
    check_table(question, records)
    seen = (
        None if published is None else _view_release(question, published, records.domain, noise_sd)
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None
    if prior is None:
        _fit_prior(records, path, source.name, quiet=quiet)
    check_question(question, records)
    if seen is not None:
        found = seen.attack(question, records)
    else:
        games = 2 * reps * len(question.budgets)
        with show_progress("assess", games, quiet=quiet) as advance:
            found = assess(question, records, jobs=jobs, advance=advance)
    played = (*found.known, *question.targets)
    table_source = TableSource(
        table=source.name,
        records=len(records),
        prior=path.name,
        fitted=prior is None,
        left_out=tuple(name for name in records.domain.names if name not in played),
        release=None if release is None else release.name,
    )
    _write_report(AssessmentReport(question, found, table_source), out, as_json=as_json)


def _check_planned(
    table: Path | None, truth: Path | None, epsilon: float | None, noise_sd: float | None
) -> tuple[Path, float]:
    """The table and the budget of a release that is still planned."""
    if table is None:
        raise ValueError("assess needs a table: a CSV file (or --release with --truth)")
    if truth is not None or noise_sd is not None:
        raise ValueError("--truth and --noise-sd need --release, the file that was published")
    if epsilon is None:
        raise ValueError("assess needs --epsilon: the budget you have in mind")
    return table, epsilon


def _check_published(
    table: Path | None, truth: Path | None, epsilon: float | None, noise_sd: float | None
) -> tuple[Path, float]:
    """The table and the budget of a release that exists; inf where no budget is stated."""
    if truth is None or table is not None:
        raise ValueError("--release needs --truth, the table it was made from, and no other table")
    if (epsilon is None) == (noise_sd is None):
        raise ValueError(
            "--release needs exactly one of --epsilon (Gaussian noise that uses this budget) and "
            "--noise-sd"
        )
    return truth, inf if epsilon is None else epsilon


def _read_table(source: Path, domain: Path | None, prior: Path | None) -> Table:
    from reconbench.benchmarks import plugins
    from reconbench.datasets import own_table

    if domain is None and prior is None:
        raise ValueError(
            "assess needs --domain FILE, which declares the columns and labels "
            "(`reconbench data fit TABLE --suggest-domain FILE` drafts one), or --prior FILE.bif"
        )
    if prior is not None and prior.suffix != ".bif":
        raise ValueError(f"--prior must be a .bif file, got {str(prior)!r}")
    if domain is None:
        return own_table.read_table(source, plugins.load_prior(str(prior)).domain)
    return own_table.read_table(source, own_table.read_domain(domain))


@dataclass(frozen=True)
class _Seen:
    """A published release as the attacker has it."""

    release: MarginalsRelease
    mechanism: PublishedMarginals

    def attack(self, question: Question, truth: Table) -> Assessment:
        from reconbench.benchmarks.assess.assess import assess_release

        return assess_release(question, truth, self.release, self.mechanism)


def _view_release(
    question: Question, published: ReleaseFile, domain: Domain, noise_sd: float | None
) -> _Seen:
    from reconbench.bounds import ApproxDP
    from reconbench.mechanisms.marginals import PublishedMarginals

    targets = question.targets
    known = question.known or tuple(name for name in domain.names if name not in targets)
    played = domain.project(name for name in domain.names if name in (*known, *targets))
    if noise_sd is None:
        budget = ApproxDP(question.epsilon, question.delta)
        mechanism = PublishedMarginals.of_budget(
            played, targets, published.k, budget, len(published.answers)
        )
    else:
        mechanism = PublishedMarginals(played, targets, published.k, noise_sd)
    return _Seen(published.seen(known, targets, mechanism.noise_sd), mechanism)


def _fit_prior(records: Table, path: Path, title: str, *, quiet: bool) -> None:
    from reconbench.datasets import save_prior
    from reconbench.datasets.network.fit import GreedyMutualInformation, fit

    if not quiet:
        typer.echo("fitting a prior to the table", err=True)
    search = GreedyMutualInformation()
    card = {"title": title, "records": len(records), "fitting": {"structure": repr(search)}}
    save_prior(fit(records, search), path, card)


def _write_report(report: AssessmentReport, out: Path, *, as_json: bool) -> None:
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.assess.report import assess_html, assess_markdown, summarise_assessment

    text = json.dumps(report.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    contents = {
        "report.json": text,
        "report.md": assess_markdown(report),
        "report.html": assess_html(report),
    }
    for name, content in contents.items():
        write_atomic(out / name, content)
    if as_json:
        typer.echo(text, nl=False)
        return
    for line in (*summarise_assessment(report), *(str(out / name) for name in contents)):
        typer.echo(line)


def _names(texts: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def _numbers(texts: Sequence[str] | None) -> tuple[float, ...]:
    try:
        return tuple(float(text) for text in _names(texts))
    except ValueError:
        raise ValueError(f"--epsilons takes comma-separated numbers, got {texts!r}") from None
