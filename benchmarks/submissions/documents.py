"""JSON files that anybody may have written: size, depth and numbers are checked before use."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from reconbench.benchmarks.nesting import measure_depth

# The rows of the largest shipped suite take 20 MiB.
MOST_BYTES = 64 << 20
DEEPEST = 12


class DocumentError(ValueError):
    """A file that is not the document it should be."""


class Part(BaseModel):
    """A part of a document: no unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


def read_json(path: Path, kind: str) -> dict[str, Any]:
    """Read a JSON object; ``kind`` is what the file should be, for the message if it is not."""
    try:
        if not path.is_file():
            raise DocumentError(f"no {kind} at {path}: no such file")
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise DocumentError(f"{path} is not {kind}: it has more than {MOST_BYTES >> 20} MiB")
    try:
        raw = json.loads(content.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise DocumentError(f"{path} is not {kind}: it is not UTF-8 text") from None
    except RecursionError:
        raise _too_deep(path, kind) from None
    except ValueError as error:
        raise DocumentError(f"{path} is not {kind}: it is not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise DocumentError(f"{path} is not {kind}: it must be a JSON object")
    if measure_depth(raw) > DEEPEST:
        raise _too_deep(path, kind)
    return raw


def hash_json(content: object) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys; 1 and 1.0 are one number."""
    plain = _unify_numbers(content)
    try:
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise DocumentError("it has a number that is too large") from None
    return hashlib.sha256(text.encode()).hexdigest()


def _unify_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _unify_numbers(item) for key, item in value.items()}
    return [_unify_numbers(item) for item in value] if isinstance(value, list) else value


def check_format(raw: dict[str, Any], wanted: str, kind: str) -> None:
    """Raise unless the document says that it has this format."""
    found = raw.get("format")
    if found != wanted:
        raise DocumentError(
            f"it is not {kind} that this version reads: format must be {wanted!r}, got "
            f"{_show(found)}"
        )


def describe_first(error: ValidationError) -> str:
    """The first thing that is wrong, in one line that names the field."""
    first = min(error.errors(), key=lambda details: details["type"] != "extra_forbidden")
    name = ".".join(map(str, first["loc"])) or "the document"
    text = first["msg"].removeprefix("Value error, ")
    if first["type"] in ("missing", "extra_forbidden", "value_error"):
        return f"{name}: {text}"
    return f"{name}: {text}, got {_show(first['input'])}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _too_deep(path: Path, kind: str) -> DocumentError:
    return DocumentError(f"{path} is not {kind}: it is nested more than {DEEPEST} deep")


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
