"""Cards: what a data set is, where it comes from and under which licence.

A card is a mapping. ``title`` and ``columns`` are in every card of this package; ``source`` and
``licence`` wherever they are known. All other keys depend on the data set: ``records``,
``data_sha256``, ``fitting`` and ``held_out`` of fitted priors, ``citation``, ``cells`` and ``game``
of standard networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reconbench.datasets import prior_families, standard_networks
from reconbench.datasets.domain import Domain, DomainError, quote
from reconbench.datasets.named import list_names, load_named, suggest_dataset
from reconbench.datasets.network.bif import ENDINGS, load_card, load_codebook
from reconbench.datasets.secrets.priors import MADE_UP, SECRETS, describe_secret
from reconbench.datasets.shipped import DATA, list_shipped

NOT_STATED = "not stated"


def read_card(name: str) -> dict[str, Any]:
    """The card of a data set by its name, of a rule such as ``uniform:10`` or of a BIF file."""
    if name.endswith(ENDINGS):
        return _read_file(Path(name))
    if name.startswith(standard_networks.PREFIX):
        return standard_networks.read_card(name.removeprefix(standard_networks.PREFIX))
    if prior_families.is_family(name):
        return describe_rule(name, len(load_named(name).domain), read_card)
    return read_brief_card(name)


def read_brief_card(name: str) -> dict[str, Any]:
    """The card of a named data set as far as it is known without reading large tables."""
    if name in list_shipped():
        return _read_file(DATA / f"{name}.bif")
    if name in SECRETS:
        return {**describe_secret(name), "columns": len(SECRETS[name]().domain)}
    if name.startswith(standard_networks.PREFIX):
        return standard_networks.describe_briefly(name.removeprefix(standard_networks.PREFIX))
    raise DomainError(f"unknown data set {quote(name)}{suggest_dataset(name, list_names())}")


def describe_rules() -> dict[str, dict[str, Any]]:
    """Cards of the families with a parameter, by how they are written; columns depend on it."""
    taken = dict.fromkeys(("source", "licence"), "as of the data set")
    return {
        family.usage: {"title": family.description, **(taken if name == "columns" else MADE_UP)}
        for name, family in prior_families.FAMILIES.items()
        if f"{name}:" != standard_networks.PREFIX
    }


def describe_rule(
    name: str, columns: int, read: Callable[[str], Mapping[str, Any]]
) -> dict[str, Any]:
    """The card of a rule with its parameter; ``read`` gives that of the data set it starts from."""
    kind, _, text = name.partition(":")
    if kind != "columns":
        family = prior_families.FAMILIES[kind]
        return {"title": f"{family.description} ({name})", "columns": columns, **MADE_UP}
    dataset, names = prior_families.split_columns(text)
    whole = read(dataset)
    kept: dict[str, Any] = {
        key: whole[key] for key in ("source", "citation", "licence") if key in whole
    }
    title = f"Columns {', '.join(names)} of {whole['title']}"
    return {"title": title, "columns": columns, **kept}


def _read_file(path: Path) -> dict[str, Any]:
    card = load_card(path)
    if "columns" not in card:
        card["columns"] = len(Domain.from_json(load_codebook(path).get("domain")))
    return {"title": path.name, **card}
