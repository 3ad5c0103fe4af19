"""`reconbench assess`: what a release of your own table would reveal, and what safety costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from reconbench.cli._options import (
    Decimal,
    Encoding,
    Separator,
    explain_stop,
    name_flag,
    parse_options,
    split_columns,
)
from reconbench.cli.assessing.inputs import Attacker, refuse

HELP = """Assess what a release of your own table would reveal, and what safety would cost.

Give a CSV or Parquet file, the domain file that declares its columns (`reconbench data fit
--suggest-domain` drafts one), the columns that an attacker wants, and the columns that an attacker
already knows. How a CSV is written is found out and said; where that cannot be told, the error
names the option that decides. A prior is fitted to the table (or read with --prior), and the table
is released at several budgets around --epsilon: k-way marginals with Gaussian noise, or with
--mechanism a synthetic table or anything else that `reconbench list mechanism` knows. The best
attack there is on such a release plays against each: on your table, with fresh noise every time,
and on tables drawn from the prior.

The report says in plain words what an attacker learns at each budget, beside what can be guessed
without any release, beside what the best attack possible would learn, where that is known, and
beside the ceiling that no attack exceeds; which kinds of record are most exposed (kinds of fewer
than --threshold records are not shown); how accurate the release remains; and, with --max-risk, the
largest epsilon that keeps the risk within it: proved by bounds, and measured. --held-out names a
table of records that are not in yours: the same attack on them shows what is owed to the
population, and what to taking part.

Budgets may be stated as rho of zero-concentrated DP (--rho). A prior that is fitted to the table
itself understates what a release adds: --prior-from fits it to other records, --prior-split to a
random part of these. --weight-column says how many people each record stands for: the prior and all
shares are then those of the population. --group-column names records that belong together, such as
households, and the report says what a whole group is promised. --per-record writes a line for every
record, which only its owner may read.

What was played is kept in the output folder: an assessment that was stopped goes on with the same
command.

With --release, nothing is released. Instead, a file of marginals that were already published is
attacked and the guesses are counted against --truth. Its lines are marginal,cell,value, with names
and labels joined by |. State the noise with --epsilon and --delta (Gaussian noise that uses this
budget), or with --noise-sd, from which no ceiling follows.

With --synthetic, a synthetic table that is already out is judged; its generator need not be known.
With --truth, every attack that can play it does, and their guesses are counted on the real records.
With --epsilon (and --delta and --relation) there are ceilings. Without them the report says what
cannot be said.

The report is about your own records. It is confidential: do not publish it.

\b
Exit codes: 0 done, 2 bad input, 130 and 143 stopped by Ctrl-C or SIGTERM.

\b
Examples:
  reconbench assess people.csv --domain domain.json --targets income --epsilon 1
  reconbench assess people.csv --domain domain.json --targets income --known age,sex --epsilon 1 \\
      --max-risk 0.05
  reconbench assess people.csv --prior prior.bif --targets income --epsilon 1 --jobs 2 --json
  reconbench assess people.csv --domain domain.json --targets income --rho 0.1 \\
      --weight-column WEIGHT --group-column HOUSEHOLD --prior-split 0.5
  reconbench assess people.csv --domain domain.json --targets income --epsilon 1 \\
      --mechanism pgm --mechanism-option structure=star --mechanism-option rows=50n
  reconbench assess people.csv --domain domain.json --targets income --epsilon 1 \\
      --mechanism pgm --access measurements --held-out others.csv
  reconbench assess --release marginals.csv --truth people.csv --domain domain.json \\
      --targets income --known age,sex --epsilon 1
  reconbench assess --synthetic released.csv --truth people.csv --domain domain.json \\
      --targets income --known age,sex --epsilon 1 --relation add-remove
  reconbench assess --synthetic released.csv --domain domain.json --targets income
"""

PLANNED_ONLY = "is for a release that is still planned: do not combine it with"
BESIDE = "is named by --truth where it stands beside"


def assess(
    table: Annotated[Path | None, typer.Argument(help="Your table: CSV or .parquet.")] = None,
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
    prior_from: Annotated[
        Path | None, typer.Option(help="Fit the prior to these records instead of the table (CSV).")
    ] = None,
    prior_split: Annotated[
        float | None,
        typer.Option(help="Fit the prior to a random share of the table, and assess the rest."),
    ] = None,
    weight_column: Annotated[
        str | None, typer.Option(help="A column that says how many people a record stands for.")
    ] = None,
    group_column: Annotated[
        str | None,
        typer.Option(help="A column that is equal for records that belong together."),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The budget you have in mind.")] = None,
    epsilons: Annotated[
        list[str] | None,
        typer.Option(help="Budgets to play, comma-separated; default: epsilon/10 to 10x."),
    ] = None,
    rho: Annotated[
        float | None, typer.Option(help="The budget as rho of zero-concentrated DP, at --delta.")
    ] = None,
    rhos: Annotated[
        list[str] | None, typer.Option(help="Budgets to play as rho, comma-separated.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Delta of the privacy budget. Default 1e-05.")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(help="Columns in a marginal; short for `--mechanism-option k=K`. Default 3."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="What releases the table: a name (see `list mechanism`) or file.py:Class. "
            "Default: gaussian-marginals."
        ),
    ] = None,
    mechanism_option: Annotated[
        list[str] | None, typer.Option(help="An option of the mechanism, as key=value; repeatable.")
    ] = None,
    access: Annotated[
        str | None,
        typer.Option(
            help="What the attacker sees of a synthetic release: the `table` (default), or "
            "`measurements`: also what the generator was fitted to."
        ),
    ] = None,
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
        list[str] | None,
        typer.Option(help="A further attack by name, or `all` that can play; repeatable."),
    ] = None,
    reps: Annotated[
        int | None, typer.Option(min=1, help="Repetitions of the noise. Default 5.")
    ] = None,
    threshold: Annotated[
        int, typer.Option(min=1, help="Kinds of fewer records are not shown.")
    ] = 10,
    held_out: Annotated[
        Path | None,
        typer.Option(help="Records that are not in the table, to be attacked as well (CSV)."),
    ] = None,
    release: Annotated[
        Path | None, typer.Option(help="Attack these published marginals instead (CSV).")
    ] = None,
    synthetic: Annotated[
        Path | None, typer.Option(help="Judge this published synthetic table instead (CSV).")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The table that --release or --synthetic was made from.")
    ] = None,
    noise_sd: Annotated[
        float | None, typer.Option(help="Noise sd of a published count; states no budget.")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            help="Neighbouring tables of the budget of --synthetic: replace-one (default) or "
            "add-remove."
        ),
    ] = None,
    per_record: Annotated[
        Path | None,
        typer.Option(help="Also write the risk of every record (CSV): confidential, mode 0600."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, help="Worker processes; results do not depend on it.")
    ] = 1,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for report.html, .md, .json and the prior.")
    ] = Path("assessment"),
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Also print the JSON document.")] = False,
) -> None:
    from reconbench.benchmarks.assess.max_epsilon import Measure
    from reconbench.datasets.own_table import CsvStyle

    if measure not in list(Measure):
        raise ValueError(f"--measure must be {' or '.join(Measure)}, got {measure!r}")
    attacker = Attacker(
        targets=split_columns(targets or []),
        known=split_columns(known or []),
        metric=metric,
        attacks=tuple(attack or []),
        threshold=threshold,
        seed=seed,
        domain=domain,
        prior=prior,
        out=out,
        quiet=quiet,
        as_json=as_json,
        style=CsvStyle(separator, encoding, decimal),
        prior_from=prior_from,
        weight_column=weight_column,
        group_column=group_column,
    )
    if sum(each is not None for each in (prior, prior_from, prior_split)) > 1:
        raise ValueError("give at most one of --prior, --prior-from and --prior-split")
    for_plans = {
        "--epsilons": epsilons,
        "--max-risk": max_risk,
        "--mechanism": mechanism,
        "--mechanism-option": mechanism_option,
        "--access": access,
        "--k": k,
        "--reps": reps,
        "--rho": rho,
        "--rhos": rhos,
        "--prior-split": prior_split,
        "--weight-column": weight_column,
        "--group-column": group_column,
        "--per-record": per_record,
    }
    if synthetic is not None:
        from reconbench.cli.assessing.published_table import assess_table, state_budget

        refuse(for_plans, f"{PLANNED_ONLY} --synthetic")
        about_marginals = {"--release": release, "--noise-sd": noise_sd}
        refuse(about_marginals, "is about marginals: do not combine it with --synthetic")
        refuse({"a table of your own": table}, f"{BESIDE} --synthetic")
        stated = state_budget(epsilon, delta, relation)
        assess_table(attacker, synthetic, truth, held_out, stated)
        return
    if release is not None:
        from reconbench.cli.assessing.published_marginals import assess_marginals

        refuse(for_plans, f"{PLANNED_ONLY} --release")
        refuse({"--relation": relation, "--held-out": held_out}, "does not go with --release")
        refuse({"a table of your own": table}, f"{BESIDE} --release")
        assess_marginals(attacker, release, truth, epsilon, _or(delta, 1e-5), noise_sd)
        return
    from reconbench.benchmarks.assess.zcdp_budgets import state_budgets
    from reconbench.cli.assessing.planned import Plan, assess_plan

    refuse({"--truth": truth}, "needs --release or --synthetic, the file that was published")
    refuse({"--noise-sd": noise_sd}, "needs --release, the file that was published")
    refuse({"--relation": relation}, "needs --synthetic and --epsilon, the budget that is stated")
    options = parse_options(mechanism_option or [], "--mechanism-option")
    plan = Plan(
        budgets=state_budgets(
            epsilon,
            _numbers("--epsilons", epsilons),
            rho,
            _numbers("--rhos", rhos),
            _or(delta, 1e-5),
            called=name_flag,
        ),
        mechanism=mechanism or "gaussian-marginals",
        mechanism_options=options if k is None else {**options, "k": k},
        access=access or "table",
        max_risk=max_risk,
        measure=Measure(measure),
        reps=reps or 5,
        jobs=jobs,
        held_out=held_out,
        prior_split=prior_split,
        per_record=per_record,
    )
    with explain_stop(out, "games"):
        assess_plan(attacker, plan, table)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _numbers(flag: str, texts: Sequence[str] | None) -> tuple[float, ...]:
    try:
        return tuple(float(text) for text in split_columns(texts or []))
    except ValueError:
        raise ValueError(f"{flag} takes comma-separated numbers, got {texts!r}") from None
