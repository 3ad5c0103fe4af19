"""The command lines that give a number again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from reconbench.benchmarks.submissions.verdict import SubmittedAttack
from reconbench.reports.website.content import Assessed, StoredRow

_USUAL_DELTA = 1e-5
_USUAL_MECHANISM = "gaussian-marginals"


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
    return ".py:" in spec or spec.endswith(".bif")


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
    arguments: list[tuple[str, object]] = []
    if source.release is not None:
        arguments += [("--release", source.release), ("--truth", source.table)]
    if source.fitted:
        arguments.append(("--domain", "domain.json"))
    else:
        arguments.append(("--prior", source.prior))
    arguments += [
        ("--targets", ",".join(document.targets)),
        ("--known", ",".join(document.known)),
        ("--epsilon", question.epsilon),
        ("--delta", question.delta),
        ("--k", question.k),
        ("--metric", question.metric),
        ("--reps", question.reps),
        ("--seed", question.seed),
        ("--threshold", question.threshold),
    ]
    if question.max_risk is not None:
        arguments += [("--max-risk", question.max_risk), ("--measure", question.measure)]
    table = [] if source.release is not None else [source.table]
    parts = [str(part) for pair in arguments for part in pair]
    return shlex.join(["reconbench", "assess", *table, *parts])


def _write_options(flag: str, options: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(flag, f"{name}={json.dumps(value, default=str)}") for name, value in options.items()]
