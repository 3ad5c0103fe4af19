"""Priors on disk: a BIF file for the network and, beside it, a JSON codebook.

BIF says nothing of order, bin edges or where numbers come from. Priors written here therefore speak
in plain identifiers, and the codebook (same name, ``.json``) holds the domain with its public names
and labels, the identifier of every column, the visit order and a provenance card.

Any other discrete BIF file, also packed (``.bif.gz``), is read without a codebook: its variables
and states are columns and labels, none of them ordinal, visited in a topological order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.atomic_files import write_atomic, write_json_atomic
from reconbench.datasets.bounded_files import read_text
from reconbench.datasets.domain import Attribute, Domain, DomainError, quote
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif_reader import BifNetwork, read_bif
from reconbench.datasets.network.elimination import Floats

FORMAT = "reconbench-prior/1"
ENDINGS = (".bif", ".bif.gz")
# How far the rows of a file without a codebook may be from 1: numbers rounded to two digits, and
# what pgmpy accepts. They are divided by their sums.
ROUNDING = 0.01
EXACT = 1e-12

_OURS = "reconbench"


def save_prior(net: BayNet, path: Path, card: Mapping[str, Any] | None = None) -> None:
    """Write ``path`` (BIF) and its codebook; the BIF is exact to the last bit."""
    codebook = codebook_path(path)
    if path.suffix != ".bif":
        raise DomainError(f"a prior is written to a file that ends in .bif, got {path.name!r}")
    identifiers = _identifiers(net.domain)
    described = {
        "format": FORMAT,
        "domain": net.domain.to_json(),
        "identifiers": dict(zip(net.domain.names, identifiers, strict=True)),
        "visit_order": list(net.visit_order),
        "card": dict(card or {}),
    }
    write_json_atomic(codebook, described)  # first: a card that is not JSON leaves no file
    write_atomic(path, _to_bif(net, identifiers))


def load_prior(path: Path) -> BayNet:
    """Read a network, with the codebook beside it if there is one.

    Without a codebook, names and labels are those of the file, and rows that sum to 1 within
    ``ROUNDING`` are divided by their sums.
    """
    return _load(path)[0]


def load_card(path: Path) -> dict[str, Any]:
    """The card of a BIF file: that of its codebook, or what can be told from the file alone."""
    if codebook_path(path).exists():
        return dict(load_codebook(path).get("card") or {})
    network = _load(path)[1]
    return describe_network(network) | {"title": network.name or path.name}


def describe_network(network: BifNetwork) -> dict[str, Any]:
    """What a card says of a file without a codebook: its sizes and how its rows are rounded."""
    gap = _find_largest_gap(network)
    return {
        "columns": len(network.variables),
        "labels": sum(network.sizes),
        "cells": sum(cpt.size for cpt in network.cpts),
        "rounding": f"rows sum to 1 within {gap:.2g}; they were divided by their sums"
        if gap > EXACT
        else "rows sum to 1",
    }


def as_baynet(network: BifNetwork) -> BayNet:
    """A network as its BIF file has it, without a codebook."""
    _find_largest_gap(network)
    cpts = tuple(map(_normalise, network.cpts))
    pairs = zip(network.variables, network.states, strict=True)
    domain = Domain(tuple(Attribute(name, states) for name, states in pairs))
    order = sort_topologically(network.variables, network.parents)
    return BayNet(domain, network.parents, cpts, tuple(domain.names[i] for i in order))


def sort_topologically(names: Sequence[str], parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Positions such that parents come first, otherwise in their own order; refuses a cycle."""
    children: list[list[int]] = [[] for _ in names]
    for child, given in enumerate(parents):
        for parent in given:
            children[parent].append(child)
    left = [len(given) for given in parents]
    ready = [position for position, count in enumerate(left) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        order.append(position := heappop(ready))
        for child in children[position]:
            left[child] -= 1
            if not left[child]:
                heappush(ready, child)
    if len(order) < len(names):
        raise DomainError(f"the network is cyclic: {_find_cycle(names, parents, set(order))}")
    return tuple(order)


def _find_cycle(
    names: Sequence[str], parents: Sequence[Sequence[int]], sorted_out: set[int]
) -> str:
    """A cycle in words; every position that is not sorted has a parent that is not either."""
    at = next(i for i in range(len(names)) if i not in sorted_out)
    path: dict[int, None] = {}
    while at not in path:
        path[at] = None
        at = next(parent for parent in parents[at] if parent not in sorted_out)
    walked = list(path)
    cycle = [*walked[walked.index(at) :], at][::-1]
    shown = [quote(names[i], 30) for i in cycle]
    return " -> ".join(shown if len(shown) <= 6 else [*shown[:3], "...", *shown[-2:]])


def _find_largest_gap(network: BifNetwork) -> float:
    """How far a row is from summing to 1; refuses what is not a probability, or too far."""
    largest = 0.0
    for name, cpt in zip(network.variables, network.cpts, strict=True):
        if not np.isfinite(cpt).all() or (cpt < 0).any():
            raise DomainError(f"the CPT of {quote(name)} has a value that is not a probability")
        gap = float(np.abs(cpt.sum(axis=-1) - 1).max())
        if gap > ROUNDING + 1e-9:
            raise DomainError(
                f"the CPT of {quote(name)} does not sum to 1: a row is off by {gap:.3g}, at most "
                f"{ROUNDING:g} is allowed (where a whole `table` is given, the variable itself "
                "varies slowest, then its parents in order)"
            )
        largest = max(largest, gap)
    return largest


def _normalise(cpt: Floats) -> Floats:
    """Rows divided by their sums; a table that is exact to the last digits stays as it is."""
    totals = cpt.sum(axis=-1, keepdims=True)
    return cpt / totals if np.abs(totals - 1).max() > EXACT else cpt


def _load(path: Path) -> tuple[BayNet, BifNetwork]:
    beside = codebook_path(path)
    codebook = load_codebook(path) if beside.exists() else None
    text = read_text(path)
    try:
        network = read_bif(text)
        if codebook is not None:
            return _join(network, codebook, path, beside), network
        if network.name == _OURS:
            raise DomainError(
                f"it was written with a codebook, {beside.name}, which is not beside it"
            )
        return as_baynet(network), network
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None


def _join(network: BifNetwork, codebook: Mapping[str, Any], path: Path, beside: Path) -> BayNet:
    """A network over the domain of its codebook; refuses two that do not belong together."""
    domain = Domain.from_json(codebook.get("domain"))
    identifiers, order = codebook.get("identifiers"), codebook.get("visit_order")
    if (
        not isinstance(identifiers, dict)
        or set(identifiers) != set(domain.names)
        or not all(isinstance(identifier, str) for identifier in identifiers.values())
    ):
        raise DomainError(f"{beside.name}: 'identifiers' must name every column once")
    if not isinstance(order, list) or not all(isinstance(name, str) for name in order):
        raise DomainError(f"{beside.name}: 'visit_order' must be a list of columns")
    positions = {identifiers[name]: i for i, name in enumerate(domain.names)}
    if set(network.variables) != set(positions):
        odd = sorted(set(network.variables) ^ set(positions))[0]
        raise DomainError(
            f"it does not match its domain: variable {quote(odd)} is in only one of it and "
            f"{beside.name}"
        )
    parents: list[tuple[int, ...]] = [()] * len(domain)
    cpts: list[Floats] = [np.empty(0)] * len(domain)
    places = [positions[name] for name in network.variables]
    for index, position in enumerate(places):
        _match_labels(network.states[index], domain.attributes[position], beside)
        parents[position] = tuple(places[parent] for parent in network.parents[index])
        cpts[position] = network.cpts[index]
    return BayNet(domain, tuple(parents), tuple(cpts), tuple(order))


def _match_labels(states: Sequence[str], attribute: Attribute, beside: Path) -> None:
    if len(states) != attribute.size:
        raise DomainError(
            f"it does not match its domain: {attribute.name!r} has {len(states)} states in the "
            f"network and {attribute.size} labels in {beside.name}"
        )
    ours = [_state(code) for code in range(attribute.size)]
    if (
        list(states) != ours
        and set(states) == set(attribute.labels)
        and tuple(states) != attribute.labels
    ):
        raise DomainError(
            f"it does not match its domain: the labels of {attribute.name!r} in {beside.name} are "
            "the states of the network in another order; list them in the order of the network"
        )


def codebook_path(path: Path) -> Path:
    """Where the codebook of a BIF file is, if it has one."""
    for ending in reversed(ENDINGS):
        if path.name.endswith(ending) and path.name != ending:
            return path.with_name(path.name.removesuffix(ending) + ".json")
    raise DomainError(f"a prior's file name must end in .bif or .bif.gz, got {path.name!r}")


def load_codebook(path: Path) -> dict[str, Any]:
    """Read the codebook beside a BIF file."""
    beside = codebook_path(path)
    try:
        codebook = json.loads(read_text(beside))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DomainError(f"{beside} is not valid JSON: {error}") from None
    if not isinstance(codebook, dict) or codebook.get("format") != FORMAT:
        raise DomainError(f"{beside} is not a codebook of format {FORMAT!r}; move it elsewhere")
    if not isinstance(codebook.get("card", {}), dict):
        raise DomainError(f"{beside}: 'card' must be an object")
    return codebook


def _state(code: int) -> str:
    return f"s{code}"


def _identifiers(domain: Domain) -> list[str]:
    identifiers: list[str] = []
    for position, name in enumerate(domain.names):
        slug = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40]
        plain = slug if slug[:1].isalpha() else f"c{position}_{slug}".rstrip("_")
        identifiers.append(plain if plain not in identifiers else f"{plain}_c{position}")
    return identifiers


def _to_bif(net: BayNet, identifiers: list[str]) -> str:
    lines = [f"network {_OURS} {{", "}"]
    order = net.domain.positions(net.visit_order)
    for i in order:
        names = ", ".join(map(_state, range(net.domain.sizes[i])))
        lines += [
            f"variable {identifiers[i]} {{",
            f"  type discrete [ {net.domain.sizes[i]} ] {{ {names} }};",
            "}",
        ]
    for i in order:
        parents, cpt = net.parents[i], net.cpts[i]
        if not parents:
            lines += [f"probability ( {identifiers[i]} ) {{", f"  table {_numbers(cpt)};", "}"]
            continue
        given = ", ".join(identifiers[p] for p in parents)
        lines.append(f"probability ( {identifiers[i]} | {given} ) {{")
        for context in np.ndindex(*cpt.shape[:-1]):
            label = ", ".join(map(_state, context))
            lines.append(f"  ({label}) {_numbers(cpt[context])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _numbers(row: Floats) -> str:
    return ", ".join(repr(float(value)) for value in row)
