"""Values of axes that replace those of a suite: read from a command line, and named for people."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.setting import AXES, Setting
from reconbench.benchmarks.suites.column_choices import is_word, list_datasets, parse_range
from reconbench.benchmarks.suites.game_block import GameBlock, get_axis_type
from reconbench.datasets import prior_families

# The axes that a block chooses, and the option k of mechanisms, for which it has a key.
REPLACEABLE = (*(name for name in AXES if name in GameBlock.model_fields), "k")
_LONGEST_NAME = 80
_Reader = Callable[[str, Sequence[str]], Any]


class AxisValueError(ValueError):
    """A text that is no value of an axis."""


def parse_axis(name: str, texts: Sequence[str]) -> Any:
    """The value of an axis from texts, as a block of a suite would have it."""
    reader: _Reader = _READERS.get(name, _read_list)
    return read_axis(name, reader(name, texts), f"--{name.replace('_', '-')}")


def read_axis(name: str, value: Any, called: str = "") -> Any:
    """The value of an axis, as a block of a suite would have it; ``called`` is its name in errors.

    Raises an ``AxisValueError`` of one line if a block could not have it.
    """
    flag = called or name
    adapter: TypeAdapter[Any] = TypeAdapter(get_axis_type(name))
    try:
        read = adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        text = first["msg"].removeprefix("Value error, ")
        got = "" if first["type"] == "value_error" else f", got {first['input']!r}"[:120]
        raise AxisValueError(f"{flag}: {text}{got}") from None
    if name == "dataset":
        try:
            for spec in list_datasets(read):
                plugins.load_prior(spec)
        except ValueError as error:
            raise AxisValueError(f"{flag}: {error}") from None
    return read


def _read_list(name: str, texts: Sequence[str]) -> list[Any]:
    """Comma-separated values of the axis's own type."""
    kind = get_type_hints(Setting).get(name, int)
    if kind not in (int, float):
        return _split(texts)
    numbers: list[Any] = []
    for text in _split(texts):
        try:
            numbers.append(kind(text))
        except ValueError:
            wanted = "whole numbers" if kind is int else "numbers (inf is allowed)"
            raise AxisValueError(
                f"--{name.replace('_', '-')} must be {wanted}, comma-separated, got {text!r}"
            ) from None
    return numbers


def split_datasets(texts: Sequence[str]) -> list[str]:
    """Specs, comma-separated; one of a family whose members have commas is not split."""
    with_commas = {key for key, each in prior_families.FAMILIES.items() if "," in each.usage}
    whole = [text.partition(":")[0] in with_commas for text in texts]
    parts = [[text] if one else _split([text]) for text, one in zip(texts, whole, strict=True)]
    return [spec for group in parts for spec in group]


def _read_targets(name: str, texts: Sequence[str]) -> str | list[list[str]]:
    """A word alone, or one set of columns per text."""
    words = [text for text in texts if is_word(text)]
    if words and len(texts) > 1:
        raise AxisValueError(
            f"--targets {words[0]} stands for columns by itself; give nothing else"
        )
    return words[0] if words else [_split([text]) for text in texts]


def _read_known(name: str, texts: Sequence[str]) -> str | list[str]:
    """``last:N``, or the names of columns; none for all the others."""
    columns = _split(texts)
    word = len(columns) == 1 and parse_range(columns[0], "last") is not None
    return columns[0] if word else columns


_READERS: Mapping[str, _Reader] = {
    "dataset": lambda name, texts: split_datasets(texts),
    "targets": _read_targets,
    "known": _read_known,
}


def _split(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def name_suite(suite: str, values: Mapping[str, Any]) -> str:
    """A name for the suite with these values, which is a folder's name too."""
    words = [suite]
    for name, value in values.items():
        texts = [text.removesuffix(".bif") for text in _list_texts(name, value)]
        joined = "-".join(texts) or "none"
        words.append(f"{'on' if name == 'dataset' else name}-{joined}")
    text = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-.")
    if len(text) <= _LONGEST_NAME:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: _LONGEST_NAME - 9].rstrip('-.')}-{digest}"


def describe_values(values: Mapping[str, Any]) -> str:
    """Every replaced axis with its values, for people."""
    return "; ".join(
        f"{name_axis(name)} {', '.join(_list_texts(name, value)) or 'all other columns'}"
        for name, value in values.items()
    )


def _list_texts(name: str, value: Any) -> list[str]:
    """The values of an axis as short texts."""
    if isinstance(value, str):
        return [value]
    if name == "mechanism":
        value = [entry.mechanism for entry in value]
    texts = [_format_value(one) for one in value]
    if name in ("dataset", "mechanism", "metric"):
        texts = [plugins.shorten_spec(text) for text in texts]
    return texts


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return " + ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def name_axis(name: str) -> str:
    """What people call an axis."""
    return AXES[name].title if name in AXES else name
