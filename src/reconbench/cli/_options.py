"""Options and arguments that several commands share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

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
