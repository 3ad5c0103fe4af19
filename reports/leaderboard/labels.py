"""Attacks and options as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reconbench.benchmarks.store.summary import Summary


def label_attack(row: Summary) -> str:
    """An attack with its options: other options make another attack."""
    return f"{row.attack} {format_json(row.attack_options)}" if row.attack_options else row.attack


def format_json(options: Mapping[str, Any]) -> str:
    """Options or facts as JSON, sorted by name."""
    if not options:
        return "{}"
    return json.dumps(dict(options), sort_keys=True, ensure_ascii=False, default=str)
