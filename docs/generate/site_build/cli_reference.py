"""The page of the command line: every command with its help, arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

import typer

from reconbench.cli import app

NAME = "reconbench"
INTRODUCTION = f"""# The command line

Every command of `{NAME}` with its options, as `{NAME} COMMAND --help` prints them. An error is one
line on standard error, with exit code 2, or 3 if the disk is full; the help of a command names its
other exit codes. `make setup` puts the program in `.venv/bin`."""


def write_cli_page() -> str:
    """The whole page in Markdown."""
    commands = list(_walk(typer.main.get_command(app), (NAME,)))
    rows = [
        f"| [`{' '.join(path)}`](#{'-'.join(path)}) | {_first_sentence(command)} |"
        for path, command in commands
        if not hasattr(command, "commands")
    ]
    summary = "\n".join(["| command | what it does |", "|---|---|", *rows])
    sections = [_write_command(path, command) for path, command in commands[1:]]
    return "\n\n".join([INTRODUCTION, summary, *sections]) + "\n"


# Commands are typer's classes or click's, by the version of typer.
def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _walk(inner, (*path, name))


def _write_command(path: tuple[str, ...], command: Any) -> str:
    parts = [f"{'#' * min(len(path), 4)} {' '.join(path)}", *_write_help(command)]
    context = typer.Context(command, info_name=" ".join(path))
    if not hasattr(command, "commands"):
        parts.append(f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```")
    for kind, title in (("argument", "argument"), ("option", "option")):
        records = [
            record
            for parameter in command.params
            if parameter.param_type_name == kind
            and (record := parameter.get_help_record(context)) is not None
        ]
        if records:
            rows = [f"| `{_cell(usage)}` | {_text(_cell(about))} |" for usage, about in records]
            parts.append("\n".join([f"| {title} | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _write_help(command: Any) -> Iterator[str]:
    """The paragraphs of the help; those that are to stay as they are become code."""
    for paragraph in (command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            title, _, lines = paragraph.removeprefix("\b\n").partition("\n")
            code = "\n".join(line.removeprefix("  ") for line in lines.splitlines())
            yield f"{_text(title)}\n\n```console\n{code}\n```"
        else:
            yield _text(" ".join(paragraph.split()))


def _first_sentence(command: Any) -> str:
    return _text(_cell((command.help or "").partition("\n\n")[0]))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text(text: str) -> str:
    """Plain text as Markdown: pages become links, and nothing becomes a tag or stress."""
    pieces = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(pieces), 2):
        safe = re.sub(r"([*_\[\]])", r"\\\1", escape(pieces[index], quote=False))
        pieces[index] = re.sub(r"docs/([\w-]+\.md)(#[\w-]+)?", r"[docs/\1](../\1\2)", safe)
    return "".join(pieces)
