"""`reconbench check-attack` and `new-attack`: for authors of attacks."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from reconbench.cli import _show

TEMPLATES = files("reconbench.benchmarks") / "plugins" / "templates"

CHECK_HELP = """Check that an attack keeps the contract, by playing it.

Valid guesses, the same guesses for the same seed and, with reconstruct_many, for several games at
once; nothing used beyond the view, no gain without a release, no more success than the ceilings
allow. An attack that hangs or takes its process down is reported as such. Exit code 1 when a check
fails.

\b
Examples:
  reconbench check-attack my_attack.py:MyAttack
  reconbench check-attack my_attack.py:MyAttack --timeout 300
  reconbench check-attack agia-prior --mechanism gradient
  reconbench check-attack rap --json
"""

NEW_HELP = """Write a working attack in one file, and its test, to start from.

\b
Example:
  reconbench new-attack my-attack
  reconbench check-attack my_attack.py:MyAttack
"""


def check_attack(
    attack: Annotated[str, typer.Argument(help="A name or file.py:Class.")],
    mechanism: Annotated[
        str, typer.Option(help="What it attacks: a name (see `list mechanisms`) or file.py:Class.")
    ] = "gaussian-marginals",
    timeout: Annotated[
        float, typer.Option(min=0.0, help="Seconds for one answer of the attack; 0 for no limit.")
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.plugins import check_attack
    from reconbench.benchmarks.run.worker_process import Limits

    limits = Limits.of(timeout, memory_limit=0)
    attacked = plugins.make_absolute(mechanism)
    found = check_attack.check_attack(
        plugins.make_absolute(attack), mechanism=attacked, limits=limits
    )
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in found], ensure_ascii=False))
    else:
        words = {True: "ok", False: "FAILED", None: "note"}
        rows = [[check.name, words[check.passed], check.detail] for check in found]
        _show.table(attack, ["check", "", "what was seen"], rows)
    if any(check.passed is False for check in found):
        raise typer.Exit(1)


def new_attack(
    name: Annotated[str, typer.Argument(help="Lower case, words joined by hyphens.")],
    folder: Annotated[Path, typer.Option(help="Where to write.")] = Path(),
) -> None:
    from reconbench.datasets.atomic_files import write_atomic

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"an attack's name is lower-case words joined by hyphens, got {name!r}")
    stem = name.replace("-", "_")
    class_name = "".join(word.capitalize() for word in name.split("-"))
    words = {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "class_name": class_name,
        "file_name": f"{stem}.py",
        "file_stem": stem,
    }
    written = {folder / f"{stem}.py": "attack", folder / f"test_{stem}.py": "test_attack"}
    for path in written:
        if path.exists():
            raise ValueError(f"{path} exists already; choose another name or folder")
    for path, kind in written.items():
        text = (TEMPLATES / f"{kind}.py.txt").read_text(encoding="utf-8")
        write_atomic(path, Template(text).substitute(words))
        typer.echo(str(path))
    typer.echo(f"next: reconbench check-attack {folder / f'{stem}.py'}:{class_name}")
