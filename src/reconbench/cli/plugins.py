"""`reconbench list`, `new` and `check`: the five kinds of plugins."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer

from reconbench.cli._options import Json, parse_options
from reconbench.cli.terminal.tables import print_pairs, print_table

LIST_HELP = """List the available attacks, mechanisms, data sets, bounds or metrics.

Without a kind, all five are listed. Plugins of other installed packages are included. Data sets are
listed with their number of columns, licence and source.

\b
Examples:
  reconbench list
  reconbench list attack
  reconbench list datasets
  reconbench list bound --json
"""

NEW_HELP = """Write a working plugin to start from, and its test.

KIND is attack, mechanism, dataset, bound or metric. Existing files are never overwritten.

\b
Examples:
  reconbench new attack my-attack
  reconbench new bound my-bound --out plugins
  reconbench check attack my_attack.py:MyAttack
"""

CHECK_HELP = """Run a plugin and check that it meets the contract of its kind.

KIND is attack, mechanism, dataset, bound or metric. An attack plays games: its guesses must be
valid, depend only on the seed and the view, and gain no more than the ceilings allow. A mechanism
must have the noise that it declares, a data set must sample from the distribution that it
describes, and a metric or a bound must follow its definition. docs/plugins.md lists the checks. The
exit code is 1 if a check fails.

\b
Examples:
  reconbench check attack my_attack.py:MyAttack
  reconbench check attack agia-prior --mechanism gradient --timeout 300
  reconbench check mechanism my_release.py:Padded --option factor=2
  reconbench check dataset my_data.py:my_data
  reconbench check metric l1:2 --json
"""

TEMPLATES = files("reconbench.benchmarks") / "plugins" / "templates"
SUITES = ("suite", "suites")
SECONDS = 60.0

KindName = Annotated[str, typer.Argument(help="attack, mechanism, dataset, bound or metric.")]


def list_(
    kind: Annotated[
        str | None, typer.Argument(help="attack, mechanism, dataset, bound, metric or suite.")
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks import plugins

    listed: dict[str, Any]
    if kind in SUITES:
        from reconbench.benchmarks.suites.suite import shipped

        listed = {name: suite.description for name, suite in shipped().items()}
    elif kind is not None:
        listed = _list_kind(plugins.find_kind(kind).name)
    else:
        every = {entry.name: _list_kind(entry.name) for entry in plugins.KINDS.values()}
        if as_json:
            typer.echo(json.dumps(every, ensure_ascii=False, indent=1))
            return
        for name, entries in every.items():
            typer.echo(f"{name}:")
            _print_listed(name, entries)
        return
    if as_json:
        typer.echo(json.dumps(listed, ensure_ascii=False, indent=1))
    else:
        _print_listed(kind, listed)


def _print_listed(kind: str, listed: dict[str, Any]) -> None:
    if kind.removesuffix("s") != "dataset":
        print_pairs(listed)
        return
    keys = ("title", "columns", "licence", "source")
    rows = [[name, *(card.get(key, "") for key in keys)] for name, card in listed.items()]
    print_table("", ["dataset", *keys], rows, texts_in=("title", "licence", "source"))


def _list_kind(kind: str) -> dict[str, Any]:
    """The entries of a kind by name: the card of a data set, what any other is in one line."""
    from reconbench.benchmarks import plugins

    if kind == "dataset":
        return plugins.list_cards()

    if kind == "bound":
        from reconbench.benchmarks.plugins.bounds import describe_bounds

        return describe_bounds()
    return {name: plugins.describe_entry(kind, name) for name in plugins.get_entries(kind)}


def new(
    kind: KindName,
    name: Annotated[str, typer.Argument(help="Lower case, words joined by hyphens.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write to; created if missing.")
    ] = Path(),
) -> None:
    from reconbench.benchmarks import plugins
    from reconbench.datasets.atomic_files import write_atomic

    chosen = plugins.find_kind(kind)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"name must be lower-case words joined by hyphens, got {name!r}")
    stem = name.replace("-", "_")
    words = {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "class_name": "".join(word.capitalize() for word in name.split("-")),
        "file_name": f"{stem}.py",
        "file_stem": stem,
    }
    texts = {
        out / f"{stem}.py": f"{chosen.name}.py.txt",
        out / f"test_{stem}.py": f"test_{chosen.name}.py.txt",
    }
    for path in texts:
        if path.exists():
            raise ValueError(f"{path} already exists; choose another name or another --out folder")
    out.mkdir(parents=True, exist_ok=True)
    for path, template in texts.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        write_atomic(path, Template(text).substitute(words))
        typer.echo(str(path))
    entry = words["class_name"] if chosen.members else stem
    typer.echo(f"next: reconbench check {chosen.name} {out / f'{stem}.py'}:{entry}")


def check(
    kind: KindName,
    spec: Annotated[str, typer.Argument(help="A name (see `list KIND`) or file.py:Class.")],
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the attack or mechanism, as key=value; repeatable."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(help="For attacks: the mechanism to attack. Default: gaussian-marginals."),
    ] = None,
    adversary: Annotated[
        str | None, typer.Option(help="For attacks: `realistic` (the default) or `informed`.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.0, help="For attacks: seconds per answer; 0 for no limit. Default 60."),
    ] = None,
    as_json: Json = False,
) -> None:
    from reconbench.benchmarks import plugins

    name = plugins.find_kind(kind).name
    arguments: dict[str, Any] = {}
    if option:
        if name not in ("attack", "mechanism"):
            raise ValueError(f"--option is for attacks and mechanisms, not for a {name}")
        arguments["options"] = parse_options(option, "--option")
    if name == "attack":
        from reconbench.benchmarks.run.worker_process import Limits

        seconds = SECONDS if timeout is None else timeout
        arguments["limits"] = Limits.of(seconds, memory_limit=0)
        if mechanism is not None:
            arguments["mechanism"] = plugins.make_absolute(mechanism)
        if adversary is not None:
            arguments["adversary"] = adversary
    elif (mechanism, adversary, timeout) != (None, None, None):
        raise ValueError(
            f"--mechanism, --adversary and --timeout are for attacks, not for a {name}"
        )
    kit = import_module(f"reconbench.benchmarks.plugins.check_{name}")
    checks = getattr(kit, f"check_{name}")(plugins.make_absolute(spec), **arguments)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    else:
        words = {True: "ok", False: "FAILED", None: "note"}
        rows = [[check.name, words[check.passed], check.detail] for check in checks]
        print_table(spec, ["check", "", "observed"], rows)
    if any(check.passed is False for check in checks):
        raise typer.Exit(1)
