"""Options and arguments that several commands share."""

from __future__ import annotations

import inspect
import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from reconbench.benchmarks.game.setting import AXES

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Sealed = Annotated[
    bool,
    typer.Option(
        "--seal",
        help="Draw tables and noise from a secret seed, committed to before play and revealed "
        "afterwards.",
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same numbers.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes; does not change the results.")]
BoundFiles = Annotated[
    list[str] | None,
    typer.Option("--bound", help="Add a bound, as file.py:Class; installed ones are always used."),
]
Timeout = Annotated[
    float,
    typer.Option(min=0.0, help="Seconds that an attack may take per repetition; 0 for no limit."),
]
MemoryLimit = Annotated[
    float,
    typer.Option(min=0.0, help="GiB that each worker process may use, at least 1; 0 for no limit."),
]
SuiteName = Annotated[str, typer.Argument(help="A suite (see `suite list`) or a .toml file.")]
SuiteReps = Annotated[
    int | None, typer.Option(min=1, help="Repetitions; default: those of the suite.")
]
MaxRows = Annotated[
    int | None,
    typer.Option(min=1, help="Refuse a suite with more rows than this. Default: 1,000,000."),
]
SuiteJobs = Annotated[int | None, typer.Option(min=1, help="Worker processes; default: all cores.")]

Separator = Annotated[
    str | None,
    typer.Option(help="What separates the cells of a CSV: comma, semicolon, tab or pipe."),
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of a CSV, such as utf-8, latin-1 or utf-16.")
]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal sign of a CSV's numbers: point or comma.")
]


def name_flag(argument: str) -> str:
    """The option of an argument."""
    return f"--{argument.replace('_', '-')}"


@contextmanager
def explain_stop(folder: Path, what: str = "rows") -> Iterator[None]:
    """After Ctrl-C or SIGTERM, end with a line that says what is kept and how to go on."""
    try:
        yield
        return
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except SystemExit as stop:
        if stop.code != 128 + signal.SIGTERM:
            raise
        code = 128 + signal.SIGTERM
    command = shlex.join(["reconbench", *sys.argv[1:]])
    typer.echo(f"stopped; finished {what} are kept in {folder}; go on with: {command}", err=True)
    raise typer.Exit(code)


def split_columns(texts: Sequence[str]) -> tuple[str, ...]:
    """The names in comma-separated texts."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def parse_options(texts: Sequence[str], flag: str) -> dict[str, Any]:
    """Parse key=value pairs; a value that is not JSON is taken as text."""
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"{flag} must be key=value, got {text!r}")
        try:
            options[key] = json.loads(value)
        except json.JSONDecodeError:
            options[key] = value
    return options


# A suite has a seed of its own, options go with a mechanism, and the prior is hashed when played.
_ELSEWHERE = ("mechanism_options", "seed", "data_hash")
_FORMS: Mapping[str, str] = {
    "dataset": "a name (see `list dataset`), `each`, a .bif file or file.py:function; repeatable",
    "targets": "columns guessed at once, comma-separated, or `each`, `top-entropy:N`, `visit:A-B`; "
    "repeated, another game",
    "known": "columns, comma-separated, or `last:N`; an empty text for all that are no targets",
    "epsilon": "numbers, comma-separated, or `inf`; repeatable",
    "n": "whole numbers, comma-separated; repeatable",
}

Given = dict[str, list[str]]


def with_axes(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every axis; it gets those that were given as ``axes``."""
    signature = inspect.signature(command, eval_str=True)
    names = [*(name for name in AXES if name not in _ELSEWHERE), "k"]
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None, typer.Option(help=_describe(name))],
        )
        for name in names
    ]

    @wraps(command)
    def call(*args: Any, **given: Any) -> None:
        axes: Given = {name: texts for name in names if (texts := given.pop(name)) is not None}
        command(*args, axes=axes, **given)

    own = [each for name, each in signature.parameters.items() if name != "axes"]
    described: Any = call
    described.__signature__ = signature.replace(parameters=[*own, *options])
    described.__annotations__ = {each.name: each.annotation for each in (*own, *options)}
    del described.__wrapped__
    return call


def _describe(name: str) -> str:
    title = AXES[name].title if name in AXES else "columns per marginal"
    form = _FORMS.get(name)
    return f"Instead of the suite's {title}" + (f": {form}." if form else "; repeatable.")
