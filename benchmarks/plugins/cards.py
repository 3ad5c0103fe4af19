"""The cards of all data sets, those of plugins included."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from reconbench.benchmarks.plugins.build import load_prior
from reconbench.benchmarks.plugins.registry import get_entries, is_foreign, load_entry
from reconbench.benchmarks.plugins.specs import PluginError, get_file, locate_file
from reconbench.datasets import cards, prior_families
from reconbench.datasets.named import list_names
from reconbench.datasets.network.bif import ENDINGS
from reconbench.datasets.standard_networks import PREFIX

MAX_CARD = 1 << 16


def read_card(spec: str) -> dict[str, Any]:
    """The card of a data set; its prior is loaded where the card does not give the columns."""
    if get_file(spec) == spec and spec.endswith(ENDINGS):
        return cards.read_card(str(locate_file(spec)[1]))
    if spec.startswith(PREFIX) or _is_ours(spec):
        return cards.read_card(spec)
    if prior_families.is_family(spec):
        return cards.describe_rule(spec, len(load_prior(spec).domain), read_card)
    card = _read_attribute(spec)
    return card if "columns" in card else {**card, "columns": len(load_prior(spec).domain)}


def list_cards() -> dict[str, dict[str, Any]]:
    """The cards of all data sets by name, as far as they are known without loading priors."""
    installed = {name: _read_listed(name) for name in get_entries("dataset")}
    standard = {name: cards.read_brief_card(name) for name in list_names() if name not in installed}
    return {**installed, **standard, **cards.describe_rules()}


def _is_ours(spec: str) -> bool:
    """Whether a spec names a data set of this package whose card is known."""
    return spec in list_names() and not is_foreign("dataset", spec)


def _read_listed(name: str) -> dict[str, Any]:
    if _is_ours(name):
        return cards.read_brief_card(name)
    try:
        return _read_attribute(name)
    except PluginError as error:
        return {"title": str(error)}


def _read_attribute(spec: str) -> dict[str, Any]:
    """The card that a function declares as its attribute ``card``; the title may be its doc."""
    function = load_entry("dataset", spec)
    declared = getattr(function, "card", {})
    try:
        if not isinstance(declared, Mapping) or not all(isinstance(key, str) for key in declared):
            raise TypeError
        text = json.dumps(dict(declared), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise PluginError(
            f"dataset {spec!r}: card must be a mapping of texts to JSON values, such as "
            "{'title': ..., 'source': ..., 'licence': ...}"
        ) from None
    if len(text) > MAX_CARD:
        raise PluginError(f"dataset {spec!r}: card must have at most {MAX_CARD:,} characters")
    first_line = (inspect.getdoc(function) or "").partition("\n")[0]
    card: dict[str, Any] = {"title": first_line or spec, **json.loads(text)}
    return card
