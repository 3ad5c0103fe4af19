"""The JSON file that declares the columns of a table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeGuard

from reconbench.datasets.domain import MAX_LABELS, Domain, DomainError, quote
from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.sources._csv import MAX_CELL

MAX_BYTES = 16 << 20
KEYS = ("attributes", "missing", "leave_out", "notes")


def read_domain(path: str | os.PathLike[str]) -> Domain:
    """Read the domain that a JSON file declares; refuse a draft until it has been edited.

    The file is ``{"attributes": [{"name": ..., "labels": [...]}, ...]}``, or maps names to numbers
    of values, as for AIM and MST, or to lists of labels: ``{"age": 32, "sex": ["F", "M"]}``.
    """
    source = Path(path)
    try:
        with source.open("rb") as handle:
            content = handle.read(MAX_BYTES + 1)
    except OSError as error:
        raise DomainError(f"cannot read {source}: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise DomainError(f"{source} is larger than {MAX_BYTES >> 20} MiB: not a domain file")
    try:
        raw = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_distinct_keys)
        return parse_domain(raw)
    except json.JSONDecodeError as error:
        raise DomainError(
            f"{source} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except UnicodeDecodeError:
        raise DomainError(f"{source} is not UTF-8 text; save it as UTF-8") from None
    except RecursionError:
        raise DomainError(f"{source} is nested too deeply to be a domain file") from None
    except (ValueError, OverflowError) as error:
        raise DomainError(f"{source}: {error}") from None


def parse_domain(raw: object) -> Domain:
    """The domain that the content of such a file declares."""
    if _is_size_map(raw):
        raw = {"attributes": [_expand(name, values) for name, values in raw.items()]}
    _check_top_level(raw)
    domain = Domain.from_json(raw)
    _check_texts(domain)
    return domain


def _is_size_map(raw: object) -> TypeGuard[dict[str, Any]]:
    """Whether this maps columns to numbers of values, or to lists of them."""
    return (
        isinstance(raw, dict)
        and not set(raw) <= {"draft", *KEYS}
        and all(_is_size(values) or _is_labels(values) for values in raw.values())
    )


def _is_size(values: object) -> bool:
    return isinstance(values, int) and not isinstance(values, bool)


def _is_labels(values: object) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, str | int) and not isinstance(value, bool) for value in values
    )


def _expand(name: str, values: int | list[str | int]) -> dict[str, Any]:
    """The attribute of a column of codes 0 to ``values`` - 1, or of the listed labels."""
    if isinstance(values, int) and not 1 <= values <= MAX_LABELS:
        raise DomainError(
            f"attribute {quote(name)} has {values} values; allowed: 1 to {MAX_LABELS}"
        )
    listed = range(values) if isinstance(values, int) else values
    return {"name": name, "labels": [str(value) for value in listed]}


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    distinct: dict[str, Any] = {}
    for key, value in pairs:
        if key in distinct:
            raise DomainError(f"key {quote(key)} is given twice in one object")
        distinct[key] = value
    return distinct


def _check_top_level(raw: object) -> None:
    if not isinstance(raw, dict) or "attributes" not in raw:
        raise DomainError(
            'a domain file must be {"attributes": [{"name": ...}, ...]}, or map names to numbers '
            'of values, {"age": 32, "sex": 2}'
        )
    unknown = sorted(set(raw) - {"draft", *KEYS})
    if unknown:
        near = suggest_name(unknown[0], KEYS)
        raise DomainError(f"unknown key {quote(unknown[0])}; allowed: {', '.join(KEYS)}{near}")
    if raw.get("draft", False) is not False:
        raise DomainError(
            "this is a draft; replace labels and edges by publicly known ones, then delete "
            'its "draft" line'
        )


def _check_texts(domain: Domain) -> None:
    for attribute in domain:
        for text in (attribute.name, *attribute.labels):
            if not text or len(text) > MAX_CELL or not text.isprintable():
                raise DomainError(
                    f"attribute {quote(attribute.name)}: {quote(text)} is not usable as a name "
                    f"or label; allowed: 1 to {MAX_CELL} printable characters"
                )
