"""Priors on disk: a BIF file for the network and, beside it, a JSON codebook.

BIF knows no spaces in names and no labels worth reading, so the network file speaks in plain
identifiers and the codebook (same name, ``.json``) holds the domain with its public names and
labels, the identifier of every column, the visit order and a provenance card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.atomic_files import write_atomic, write_json_atomic
from reconbench.datasets.domain import Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.elimination import Floats

FORMAT = "reconbench-prior/1"
MAX_BYTES = 256 << 20
MAX_CPT_CELLS = 1 << 26

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"\s*(network|variable|probability)\b([^{}]*)\{")
_STATES = re.compile(r"\s*type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^{}]*)\}\s*;")
_HEAD = re.compile(r"^\(\s*([^\s|,()]+)\s*(?:\|\s*([^()|]*))?\)$")
_ROW = re.compile(r"\s*(?:(table)\b|(default)\b|\(([^()]*)\))([^;]*);")
_PROPERTY = re.compile(r"\s*property\b[^;]*;")


def save_prior(net: BayNet, path: Path, card: Mapping[str, Any] | None = None) -> None:
    """Write ``path`` (BIF) and its codebook; the BIF is exact to the last bit."""
    codebook = codebook_path(path)
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
    """Read a network and its codebook, and check that they belong together."""
    codebook = load_codebook(path)
    domain = Domain.from_json(codebook.get("domain"))
    identifiers, order = codebook.get("identifiers"), codebook.get("visit_order")
    if (
        not isinstance(identifiers, dict)
        or set(identifiers) != set(domain.names)
        or not all(isinstance(identifier, str) for identifier in identifiers.values())
    ):
        raise DomainError(f"{codebook_path(path)}: 'identifiers' must name every column once")
    if not isinstance(order, list) or not all(isinstance(name, str) for name in order):
        raise DomainError(f"{codebook_path(path)}: 'visit_order' must be a list of columns")
    states, blocks = _parse(_read(path), path)
    positions = {identifiers[name]: i for i, name in enumerate(domain.names)}
    if set(states) != set(positions):
        odd = sorted(set(states) ^ set(positions))[0]
        raise DomainError(f"{path} does not match its domain: variable {odd!r} is in only one")
    for identifier, position in positions.items():
        if len(states[identifier]) != domain.sizes[position]:
            raise DomainError(
                f"{path} does not match its domain: {domain.names[position]!r} has "
                f"{len(states[identifier])} states in the network and {domain.sizes[position]} "
                "labels in the codebook"
            )
    parents: list[tuple[int, ...]] = [()] * len(domain)
    cpts: list[Floats] = [np.empty(0)] * len(domain)
    for child, given, body in blocks:
        if child not in positions or any(name not in positions for name in given):
            raise DomainError(f"{path}: probability of {child!r} names an undeclared variable")
        parents[positions[child]] = tuple(positions[name] for name in given)
        cpts[positions[child]] = _read_cpt(path, child, given, body, states)
    absent = set(positions) - {child for child, _, _ in blocks}
    if absent:
        raise DomainError(f"{path}: variable {sorted(absent)[0]!r} has no probability block")
    return BayNet(domain, tuple(parents), tuple(cpts), tuple(order))


def codebook_path(path: Path) -> Path:
    if path.suffix != ".bif":
        raise DomainError(f"a prior's file name must end in .bif, got {path.name!r}")
    return path.with_suffix(".json")


def load_codebook(path: Path) -> dict[str, Any]:
    """Read the codebook beside a BIF file."""
    beside = codebook_path(path)
    try:
        codebook = json.loads(_read(beside))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DomainError(f"{beside} is not valid JSON: {error}") from None
    if not isinstance(codebook, dict) or codebook.get("format") != FORMAT:
        raise DomainError(f"{beside} is not a codebook of format {FORMAT!r}")
    return codebook


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DomainError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DomainError(f"no file {path}; a prior is a .bif file with its .json beside") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DomainError(f"cannot read {path}: {error}") from None


def _identifiers(domain: Domain) -> list[str]:
    identifiers: list[str] = []
    for position, name in enumerate(domain.names):
        slug = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40]
        plain = slug if slug[:1].isalpha() else f"c{position}_{slug}".rstrip("_")
        identifiers.append(plain if plain not in identifiers else f"{plain}_c{position}")
    return identifiers


def _to_bif(net: BayNet, identifiers: list[str]) -> str:
    lines = ["network reconbench {", "}"]
    order = net.domain.positions(net.visit_order)
    for i in order:
        names = ", ".join(f"s{code}" for code in range(net.domain.sizes[i]))
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
            label = ", ".join(f"s{code}" for code in context)
            lines.append(f"  ({label}) {_numbers(cpt[context])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _numbers(row: Floats) -> str:
    return ", ".join(repr(float(value)) for value in row)


Block = tuple[str, tuple[str, ...], str]


def _parse(text: str, path: Path) -> tuple[dict[str, dict[str, int]], list[Block]]:
    """States of every variable, and the probability blocks with their bodies unread."""
    text = _COMMENT.sub(" ", text)
    states: dict[str, dict[str, int]] = {}
    blocks: list[Block] = []
    at = 0
    while match := _BLOCK.match(text, at):
        kind, head = match.group(1), match.group(2).strip()
        if kind == "variable":
            declared = _STATES.match(text, match.end())
            if not declared:
                raise DomainError(f"{path}: variable {head!r} is not of type discrete")
            names = [name.strip() for name in declared.group(2).split(",")]
            if len(names) != int(declared.group(1)) or len(set(names)) != len(names):
                raise DomainError(f"{path}: variable {head!r} does not list its states once each")
            if head in states:
                raise DomainError(f"{path}: variable {head!r} is declared twice")
            states[head] = {name: code for code, name in enumerate(names)}
            end = text.find("}", declared.end())
        else:
            end = text.find("}", match.end())
            if kind == "probability":
                named = _HEAD.match(head)
                if not named:
                    raise DomainError(f"{path}: cannot read 'probability {head[:60]}'")
                given = tuple(x.strip() for x in (named.group(2) or "").split(",") if x.strip())
                if any(child == named.group(1) for child, _, _ in blocks):
                    raise DomainError(f"{path}: two probability blocks for {named.group(1)!r}")
                blocks.append((named.group(1), given, text[match.end() : end]))
        if end < 0:
            raise DomainError(f"{path} ends within a block")
        at = end + 1
    if text[at:].strip():
        raise DomainError(f"{path} is not a BIF file: cannot read {text[at:].strip()[:40]!r}")
    return states, blocks


def _read_cpt(
    path: Path,
    child: str,
    given: tuple[str, ...],
    body: str,
    states: Mapping[str, Mapping[str, int]],
) -> Floats:
    shape = (*(len(states[name]) for name in given), len(states[child]))
    if prod(shape) > MAX_CPT_CELLS:
        raise DomainError(f"{path}: the CPT of {child!r} has more than {MAX_CPT_CELLS:,} cells")
    cpt = np.full(shape, np.nan)
    at = 0
    while match := _ROW.match(body, at):
        at = match.end()
        row = _row(path, child, match.group(4))
        if match.group(1):
            # a whole table: the child varies slowest, then the parents in order
            if row.size != prod(shape):
                raise DomainError(f"{path}: the table of {child!r} needs {prod(shape)} numbers")
            cpt[...] = np.moveaxis(row.reshape(shape[-1], *shape[:-1]), 0, -1)
            continue
        if row.size != shape[-1]:
            raise DomainError(f"{path}: a row of {child!r} needs {shape[-1]} numbers")
        if match.group(2):
            cpt[np.isnan(cpt).all(axis=-1)] = row
            continue
        context = [name.strip() for name in match.group(3).split(",")]
        if len(context) != len(given):
            raise DomainError(f"{path}: a row of {child!r} needs {len(given)} parent states")
        try:
            cpt[tuple(states[p][name] for p, name in zip(given, context, strict=True))] = row
        except KeyError as error:
            raise DomainError(f"{path}: a row of {child!r} names unknown state {error}") from None
    if _PROPERTY.sub("", body[at:]).strip():
        raise DomainError(f"{path}: cannot read {body[at:].strip()[:40]!r} in {child!r}")
    if np.isnan(cpt).any():
        raise DomainError(f"{path}: the CPT of {child!r} leaves out a combination of its parents")
    return cpt


def _row(path: Path, child: str, text: str) -> Floats:
    try:
        return np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError:
        raise DomainError(f"{path}: a row of {child!r} holds something not a number") from None
