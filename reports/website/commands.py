"""The command lines that give a number again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

from reconbench.benchmarks.submissions.verdict import SubmittedAttack
from reconbench.reports.website.content import Assessed, StoredRow

_USUAL_DELTA = 1e-5
_USUAL_MECHANISM = "gaussian-marginals"
# What an assessment calls the generator of a synthetic table that was out already.
_PUBLISHED_TABLE = "published-table"


def write_run_command(suite: str, stored: StoredRow, reps: int) -> str:
    """Run a whole suite again; an attack in a file is added to it."""
    arguments = ["reconbench", "run", suite]
    if stored.row.adversary != "none":
        arguments += ["--seed", str(stored.row.seed), "--reps", str(reps)]
    if is_file(stored.attack):
        arguments += ["--attack", stored.attack]
    return shlex.join(arguments)


def write_submit_command(attack: SubmittedAttack, suite: str, seed: int, reps: int) -> str:
    """Play the rows of an entry again."""
    arguments: list[tuple[str, object]] = [("--suite", suite), ("--seed", seed), ("--reps", reps)]
    arguments += _write_options("--option", attack.options)
    parts = [str(part) for pair in arguments for part in pair]
    own = f"{attack.file}:{attack.cls}"
    return shlex.join(["reconbench", "submit", own, *parts, "--out", "entry.json"])


def is_file(spec: str) -> bool:
    """Whether a spec names a file of its author."""
    return re.search(r"\.(py|bif|bif\.gz)(:|$)", spec) is not None


def write_game_command(
    stored: StoredRow, reps: int, columns: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Play one game again; None if `reconbench game` cannot play it with the same random numbers.

    Random streams are named by the known columns in the order in which they were given, which rows
    do not keep: only a game whose attacker knows all other columns can be told apart.
    """
    row = stored.row
    every = columns.get(row.data_hash)
    computed = row.adversary == "none"
    if every is None or computed or row.attacker_prior != "same":
        return None
    if set(row.known) | set(row.targets) != set(every) or any("," in name for name in row.targets):
        return None
    arguments: list[tuple[str, object]] = [
        ("--dataset", row.dataset),
        ("--targets", ",".join(row.targets)),
        ("--epsilon", f"{row.epsilon:.17g}"),
    ]
    if row.delta != _USUAL_DELTA:
        arguments.append(("--delta", f"{row.delta:.17g}"))
    arguments.append(("--n", row.n))
    if row.mechanism != _USUAL_MECHANISM:
        arguments.append(("--mechanism", stored.mechanism or row.mechanism))
    arguments += _write_options("--mechanism-option", row.mechanism_options)
    if row.metric != "exact":
        arguments.append(("--metric", row.metric))
    if row.adversary != "realistic":
        arguments.append(("--adversary", str(row.adversary)))
    if row.advantage:
        arguments.append(("--advantage", row.advantage))
    if row.target_records:
        arguments.append(("--target-records", row.target_records))
    arguments.append(("--attack", stored.attack or row.attack))
    arguments += _write_options("--option", row.attack_options)
    arguments += [("--seed", row.seed), ("--reps", reps)]
    parts = [str(part) for pair in arguments for part in pair]
    return shlex.join(["reconbench", "game", *parts, "--json"])


def write_assess_command(document: Assessed) -> str:
    """Assess the same table again; the domain file and the table are the owner's."""
    question, source = document.question, document.source
    arguments = _name_release(document)
    if source.fitted:
        arguments.append(("--domain", "domain.json"))
    else:
        arguments.append(("--prior", source.prior))
    arguments += [("--targets", ",".join(document.targets)), ("--known", ",".join(document.known))]
    if source.release is None:
        arguments += _plan_release(document)
    if question.epsilon is not None:
        arguments += [("--epsilon", question.epsilon), ("--delta", question.delta)]
    arguments += [
        ("--metric", question.metric),
        ("--seed", question.seed),
        ("--threshold", question.threshold),
    ]
    if source.held_out is not None:
        arguments.append(("--held-out", source.held_out))
    if question.max_risk is not None:
        arguments += [("--max-risk", question.max_risk), ("--measure", question.measure)]
    table = [] if source.release is not None else [source.table]
    parts = [str(part) for pair in arguments for part in pair]
    return shlex.join(["reconbench", "assess", *table, *parts])


def _name_release(document: Assessed) -> list[tuple[str, object]]:
    """The file that was released, if it was, with what was stated of it."""
    source, mechanism = document.source, document.mechanism
    if source.release is None:
        return []
    stated = document.question.epsilon is not None
    if mechanism.name == _PUBLISHED_TABLE:
        relation = [("--relation", mechanism.relation)] if stated else []
        return [("--synthetic", source.release), ("--truth", source.table), *relation]
    noise_sd = None if stated else document.budgets[0].noise_sd
    noise = [] if noise_sd is None else [("--noise-sd", noise_sd)]
    return [("--release", source.release), ("--truth", source.table), *noise]


def _plan_release(document: Assessed) -> list[tuple[str, object]]:
    """The mechanism of a release that is planned, and how often it is played."""
    mechanism = document.mechanism
    named = [] if mechanism.name == _USUAL_MECHANISM else [("--mechanism", mechanism.name)]
    options = _write_options("--mechanism-option", _list_options(document))
    seen = [] if mechanism.access == "table" else [("--access", mechanism.access)]
    return [*named, *options, *seen, ("--reps", document.question.reps)]


def _list_options(document: Assessed) -> dict[str, object]:
    """The options of the mechanism; documents from before there were any have k alone."""
    options: dict[str, object] = dict(document.mechanism.options)
    if not options and document.question.k not in (None, 3):
        options["k"] = document.question.k
    return options


def _write_options(flag: str, options: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(flag, f"{name}={json.dumps(value, default=str)}") for name, value in options.items()]
