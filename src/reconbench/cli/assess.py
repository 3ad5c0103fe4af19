"""`reconbench assess`: the question of whoever owns a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.assessment import Assessment, Question
    from reconbench.datasets import Domain, Table
    from reconbench.mechanisms import MarginalsRelease
    from reconbench.mechanisms.marginals import PublishedMarginals
    from reconbench.mechanisms.release_csv import ReleaseFile

HELP = """What would a release of your own table tell an attacker, and what would safety cost?

Give a CSV file, the domain file that declares its columns (`reconbench data fit --suggest-domain`
drafts one), the columns that an attacker wants and those that an attacker knows already. A prior is
fitted to the table (or read with --prior), k-way marginals with Gaussian noise are released at a
ladder of budgets around --epsilon, and the best possible attack plays against each: on your table,
with fresh noise every time, and on tables drawn from the prior. The report says in plain words what
is learned at each budget, beside what is guessed without any release and beside the ceiling that
no attack passes; which kinds of record are most exposed (kinds of fewer than --threshold records
are not shown); how accurate the marginals remain; and, with --max-risk, the largest epsilon that
keeps the risk: proved by bounds, and measured.

With --release, nothing is released: a file of marginals that were published already is attacked
and the guesses are counted against --truth. Its lines are marginal,cell,value, with names and
labels joined by |. Say what the noise was: --epsilon and --delta (Gaussian noise that uses this
budget), or --noise-sd; from the latter no ceiling follows.

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
        list[str] | None, typer.Option(help="Columns an attacker wants, separated by commas.")
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(help="Columns an attacker knows of every record; default: all others."),
    ] = None,
    domain: Annotated[Path | None, typer.Option(help="The domain file (JSON).")] = None,
    prior: Annotated[
        Path | None, typer.Option(help="A .bif file to use instead of fitting a prior.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The budget you have in mind.")] = None,
    epsilons: Annotated[
        list[str] | None,
        typer.Option(help="All budgets to play, separated by commas; default: epsilon/10 to 10x."),
    ] = None,
    delta: Annotated[float, typer.Option(help="Privacy budget.")] = 1e-5,
    k: Annotated[int, typer.Option(help="Columns in a marginal.")] = 3,
    metric: Annotated[str, typer.Option(help="`exact`, or `l1:E` on an ordinal column.")] = "exact",
    max_risk: Annotated[
        float | None, typer.Option(help="The most risk to allow, between 0 and 1.")
    ] = None,
    measure: Annotated[
        str,
        typer.Option(help="What --max-risk limits: `advantage` over guessing, or `share` in all."),
    ] = "advantage",
    attack: Annotated[
        list[str] | None, typer.Option(help="One more attack by name, such as rap; repeatable.")
    ] = None,
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of the noise.")] = 5,
    threshold: Annotated[
        int, typer.Option(min=1, help="Kinds of fewer records than this are not shown.")
    ] = 10,
    release: Annotated[
        Path | None, typer.Option(help="Attack these published marginals instead (CSV).")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The table that --release was made from.")
    ] = None,
    noise_sd: Annotated[
        float | None, typer.Option(help="Noise on a published count; says nothing of a budget.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, help="Worker processes; numbers do not depend on it.")
    ] = 1,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for report.html, .md, .json and the prior.")
    ] = Path("assessment"),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the JSON document, too.")] = False,
) -> None:
    from reconbench.benchmarks.assess.assessment import (
        OPTIMAL,
        PRIOR,
        Question,
        check_question,
        check_table,
    )
    from reconbench.benchmarks.assess.document import Provenance, document
    from reconbench.benchmarks.assess.max_epsilon import Measure
    from reconbench.benchmarks.assess.measure import assess

    if measure not in list(Measure):
        raise ValueError(f"--measure must be {' or '.join(Measure)}, got {measure!r}")
    if release is None:
        source, budget = _planned(table, truth, epsilon, noise_sd)
    elif epsilons or max_risk is not None:
        raise ValueError("--epsilons and --max-risk are about releases to come: not with --release")
    else:
        source, budget = _published(table, truth, epsilon, noise_sd)
    records = _read(source, domain, prior)
    published = None if release is None else _open(release, records.domain)
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
    seen = None if published is None else _seen(question, published, records.domain, noise_sd)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None
    if prior is None:
        _fit(records, path, source.name, quiet=quiet)
    check_question(question, records)
    if seen is not None:
        found = seen.attacked(question, records)
    else:
        games = 2 * reps * len(question.budgets)
        with _show.progress("assess", games, quiet=quiet) as advance:
            found = assess(question, records, jobs=jobs, advance=advance)
    played = (*found.known, *question.targets)
    described = Provenance(
        table=source.name,
        records=len(records),
        prior=path.name,
        fitted=prior is None,
        left_out=tuple(name for name in records.domain.names if name not in played),
        release=None if release is None else release.name,
    )
    _write(document(question, found, described), out, as_json=as_json)


def _planned(
    table: Path | None, truth: Path | None, epsilon: float | None, noise_sd: float | None
) -> tuple[Path, float]:
    """The table and the budget of a release that is still to come."""
    if table is None:
        raise ValueError("assess needs a table: a CSV file (or --release with --truth)")
    if truth is not None or noise_sd is not None:
        raise ValueError("--truth and --noise-sd go with --release, the file that was published")
    if epsilon is None:
        raise ValueError("assess needs --epsilon: the budget you have in mind")
    return table, epsilon


def _published(
    table: Path | None, truth: Path | None, epsilon: float | None, noise_sd: float | None
) -> tuple[Path, float]:
    """The table and the budget of a release that exists; inf where no budget is stated."""
    if truth is None or table is not None:
        raise ValueError("--release needs --truth, the table it was made from, and no other table")
    if (epsilon is None) == (noise_sd is None):
        raise ValueError(
            "--release needs --epsilon (Gaussian noise that uses this budget) or --noise-sd, one "
            "of them"
        )
    return truth, inf if epsilon is None else epsilon


def _read(source: Path, domain: Path | None, prior: Path | None) -> Table:
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


def _open(release: Path, domain: Domain) -> ReleaseFile:
    from reconbench.mechanisms.release_csv import read_release

    return read_release(release, domain)


@dataclass(frozen=True)
class _Seen:
    """A published release as the attacker has it."""

    release: MarginalsRelease
    mechanism: PublishedMarginals

    def attacked(self, question: Question, truth: Table) -> Assessment:
        from reconbench.benchmarks.assess.measure import assess_release

        return assess_release(question, truth, self.release, self.mechanism)


def _seen(
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


def _fit(records: Table, path: Path, title: str, *, quiet: bool) -> None:
    from reconbench.datasets import save_prior
    from reconbench.datasets.network.fit import GreedyMutualInformation, fit

    if not quiet:
        typer.echo("fitting a prior to the table", err=True)
    search = GreedyMutualInformation()
    card = {"title": title, "records": len(records), "fitting": {"structure": repr(search)}}
    save_prior(fit(records, search), path, card)


def _write(shown: dict[str, Any], out: Path, *, as_json: bool) -> None:
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.assess.page import assess_html, assess_markdown, headlines

    text = json.dumps(shown, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    written = {"report.json": text, "report.md": assess_markdown(shown)}
    written["report.html"] = assess_html(shown)
    for name, content in written.items():
        write_atomic(out / name, content)
    if as_json:
        typer.echo(text, nl=False)
        return
    for line in headlines(shown):
        typer.echo(line)
    for name in written:
        typer.echo(str(out / name))


def _names(texts: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def _numbers(texts: Sequence[str] | None) -> tuple[float, ...]:
    try:
        return tuple(float(text) for text in _names(texts))
    except ValueError:
        raise ValueError(f"--epsilons takes numbers separated by commas, got {texts!r}") from None
