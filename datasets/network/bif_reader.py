"""Read the text of a BIF file: variables, their states, parents and tables.

The grammar is that of the Interchange Format for Bayesian Networks, version 0.15, as it is written
by JavaBayes, bnlearn, pgmpy, aGrUM and others:

- words may be quoted, which allows any character in them; names and states without quotes may hold
  spaces where commas separate them;
- commas and the bar after the child are optional, as in ``probability ( "B" "A" )``;
- ``property`` lines and comments (``//`` and ``/* */``) are skipped;
- the rows of a table are given one by one, by ``default`` for those not given, or all at once by
  ``table``. There the child varies slowest, then the parents in their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from reconbench.datasets.domain import DomainError, quote
from reconbench.datasets.network.elimination import Floats

MAX_VARIABLES = 10_000
MAX_PARENTS = 30
MAX_CELLS = 1 << 25

# Each alternative ends at the end of the line or of the text at the latest, so that a quote or a
# comment that is never closed is found in one pass.
_HIDDEN = re.compile(
    r'"(?:[^"\\\n]++|\\[^\n]?)*+(?:"|(?=\n)|\Z)|//[^\n]*|/\*(?:.*?\*/|.*\Z)', re.DOTALL
)
_BLOCK = re.compile(r"\s*(network|variable|probability)\b([^{}]*)\{")
_STATES = re.compile(r"\s*type\s+discrete\s*\[\s*(\d{1,9})\s*\]\s*\{([^{}]*)\}\s*;?")
_PROPERTIES = re.compile(r"(?:\s*property\b[^;]*;)*")
_ROW = re.compile(r"\s*(?:(table)\b|(default)\b|\(([^;]*)\))([^;()]*);")
_NUMBERS = re.compile(r"[\s,0-9.eE+-]*")
# A quoted word stands in the text as its number between two NULs.
_WORD = re.compile(r"\0\d+\0|[^\s,\0]+")


@dataclass(frozen=True)
class BifNetwork:
    """What a BIF file says, in its order; tables as it has them, not normalised.

    ``parents`` are positions; ``cpts[i]`` has one axis per parent and a last one for the variable.
    """

    name: str
    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    cpts: tuple[Floats, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.states))


def read_bif(text: str) -> BifNetwork:
    """Parse the text of a BIF file.

    Raises:
        DomainError: what is wrong and where, in one line; it does not name the file.
    """
    return _Text(text).read()


def count_variables(text: str) -> int:
    """Count the variables that a BIF file declares, without reading its tables."""
    return len(re.findall(r"^[ \t]*variable\b", text, re.MULTILINE))


@dataclass(frozen=True)
class _Probability:
    """A probability block: what is between its brackets, and its body, both unread."""

    head: str
    body: str


class _Text:
    """A BIF file without comments, and its quoted words kept apart."""

    def __init__(self, text: str) -> None:
        if "\0" in text:
            raise DomainError("it holds a NUL character")
        self._quoted: list[str] = []
        self._text = _HIDDEN.sub(self._hide, text)

    def _hide(self, match: re.Match[str]) -> str:
        found = match.group()
        if found.startswith("//"):
            return " "
        if found.startswith("/*"):
            if len(found) < 4 or not found.endswith("*/"):
                raise DomainError("a comment is not closed")
            return " "
        if len(found) < 2 or not found.endswith('"'):
            raise DomainError(f"a quote is not closed: {quote(found, 40)}")
        self._quoted.append(re.sub(r'\\(["\\])', r"\1", found[1:-1]))
        return f"\0{len(self._quoted) - 1}\0"

    def _show(self, word: str) -> str:
        return self._quoted[int(word[1:-1])] if word.startswith("\0") else word

    def _list_words(self, text: str) -> list[str]:
        """The words of a text, one by one; a quoted one may hold anything."""
        return [self._show(word) for word in _WORD.findall(text)]

    def _list_phrases(self, text: str) -> list[str]:
        """What commas separate; several words in a row are joined by one space."""
        return [" ".join(self._list_words(part)) for part in text.split(",") if part.strip()]

    def _list(self, text: str, count: int) -> list[str]:
        """As many names as are expected, separated by commas or else by spaces."""
        phrases = self._list_phrases(text)
        return phrases if len(phrases) == count else self._list_words(text)

    def read(self) -> BifNetwork:
        name, states, blocks = self._read_blocks()
        if not states:
            raise DomainError("it declares no variable")
        if len(states) > MAX_VARIABLES:
            raise DomainError(
                f"it has {len(states):,} variables, more than the {MAX_VARIABLES:,} that are read"
            )
        tables: dict[str, _Table] = {}
        cells = 0
        for block in blocks:
            child, given = self._read_head(block.head, states)
            if child in tables:
                raise DomainError(f"two probability blocks for {quote(child)}")
            tables[child] = table = _Table(child, given, {x: states[x] for x in (*given, child)})
            cells += prod(table.shape)
            if cells > MAX_CELLS:
                raise DomainError(
                    f"its tables have more than {MAX_CELLS:,} cells, counted up to {quote(child)}"
                )
        for child in states:
            if child not in tables:
                raise DomainError(f"variable {quote(child)} has no probability block")
        by_child = dict(zip(tables, blocks, strict=True))
        positions = {variable: position for position, variable in enumerate(states)}
        return BifNetwork(
            name,
            tuple(states),
            tuple(tuple(codes) for codes in states.values()),
            tuple(tuple(positions[parent] for parent in tables[child].given) for child in states),
            tuple(self._read_table(tables[child], by_child[child].body) for child in states),
        )

    def _read_blocks(self) -> tuple[str, dict[str, dict[str, int]], list[_Probability]]:
        """The network's name, the codes of every variable's states, and the probability blocks."""
        text, name, at = self._text, "", 0
        states: dict[str, dict[str, int]] = {}
        blocks: list[_Probability] = []
        while match := _BLOCK.match(text, at):
            kind, head, at = match.group(1), match.group(2).strip(), match.end()
            if kind == "variable":
                variable = " ".join(self._list_words(head))
                if variable in states:
                    raise DomainError(f"variable {quote(variable)} is declared twice")
                states[variable], at = self._read_states(variable, at)
            end = text.find("}", at)
            if end < 0:
                raise DomainError("it ends within a block")
            if kind == "probability":
                blocks.append(_Probability(head, text[at:end]))
            elif _PROPERTIES.sub("", text[at:end], count=1).strip():
                raise DomainError(f"cannot read {self._preview(text[at:end])} in {kind} {head!r}")
            if kind == "network":
                name = " ".join(self._list_words(head))
            at = end + 1
        if text[at:].strip():
            raise DomainError(f"it is not a BIF file: cannot read {self._preview(text[at:])}")
        return name, states, blocks

    def _read_states(self, variable: str, at: int) -> tuple[dict[str, int], int]:
        skipped = _PROPERTIES.match(self._text, at)
        declared = _STATES.match(self._text, skipped.end() if skipped else at)
        if not declared:
            raise DomainError(f"variable {quote(variable)} is not of type discrete")
        count = int(declared.group(1))
        names = self._list(declared.group(2), count)
        if not names or len(names) != count or len(set(names)) != count:
            raise DomainError(
                f"variable {quote(variable)} does not list its states once each: {count} are "
                f"announced, {len(names)} given, {len(set(names))} of them different"
            )
        return {name: code for code, name in enumerate(names)}, declared.end()

    def _read_head(self, head: str, known: Collection[str]) -> tuple[str, tuple[str, ...]]:
        """The child and its parents; names may hold spaces if that is how they are declared."""
        if not (head.startswith("(") and head.endswith(")")):
            raise DomainError(f"cannot read 'probability {self._preview(head)}'")
        left, bar, right = head[1:-1].partition("|")
        first = self._list_known(left, known)
        if not first or (bar and len(first) > 1):
            raise DomainError(f"cannot read 'probability {self._preview(head)}'")
        child, given = (
            first[0],
            tuple(first[1:]) if not bar else tuple(self._list_known(right, known)),
        )
        for name in (child, *given):
            if name not in known:
                raise DomainError(
                    f"probability of {quote(child)} names an undeclared variable, {quote(name)}"
                )
        if len(set(given)) != len(given):
            twice = next(name for name in given if given.count(name) > 1)
            raise DomainError(f"{quote(child)} has the parent {quote(twice)} twice")
        if len(given) > MAX_PARENTS:
            raise DomainError(
                f"{quote(child)} has {len(given)} parents, more than the {MAX_PARENTS} allowed"
            )
        return child, given

    def _list_known(self, text: str, known: Collection[str]) -> list[str]:
        phrases = self._list_phrases(text)
        return phrases if all(name in known for name in phrases) else self._list_words(text)

    def _read_table(self, table: _Table, body: str) -> Floats:
        at = _skip_properties(body, 0)
        while match := _ROW.match(body, at):
            whole, default, context, numbers = match.groups()
            row = table.read_numbers(numbers)
            if whole:
                table.fill(row)
            elif default:
                table.set_default(row)
            else:
                table.set_row(self._list(context, len(table.given)), row)
            at = _skip_properties(body, match.end())
        if body[at:].strip():
            raise DomainError(f"cannot read {self._preview(body[at:])} in {quote(table.child)}")
        return table.finish()

    def _preview(self, text: str) -> str:
        shown = re.sub(r"\0\d+\0", lambda word: f'"{self._show(word.group())}"', text.strip()[:60])
        return quote(" ".join(shown.replace("\0", "").split()), 40)


def _skip_properties(body: str, at: int) -> int:
    match = _PROPERTIES.match(body, at)
    return match.end() if match else at


class _Table:
    """The table of one variable while its rows come in."""

    def __init__(
        self, child: str, given: tuple[str, ...], states: Mapping[str, Mapping[str, int]]
    ) -> None:
        self.child, self.given = child, given
        self._codes = [states[parent] for parent in given]
        self.shape = (*(len(states[parent]) for parent in given), len(states[child]))

    @cached_property
    def _cpt(self) -> Floats:
        return np.full(self.shape, np.nan)

    _default: Floats | None = None

    def read_numbers(self, text: str) -> Floats:
        try:
            if not _NUMBERS.fullmatch(text):
                raise ValueError
            return np.array([float(number) for number in text.replace(",", " ").split()])
        except ValueError:
            shown = quote(" ".join(text.split()), 40)
            raise DomainError(
                f"a row of {quote(self.child)} holds something not a number: {shown}"
            ) from None

    def fill(self, numbers: Floats) -> None:
        """A whole table: the child varies slowest, then the parents in order."""
        if numbers.size != prod(self.shape):
            raise DomainError(
                f"the table of {quote(self.child)} needs {prod(self.shape)} numbers, got "
                f"{numbers.size}"
            )
        self._refuse_second(not np.isnan(self._cpt).all(), "a table")
        turned = numbers.reshape(self.shape[-1], *self.shape[:-1])
        self._cpt[...] = np.moveaxis(turned, 0, -1)

    def set_default(self, row: Floats) -> None:
        self._check_length(row)
        self._refuse_second(self._default is not None, "a default")
        self._default = row

    def set_row(self, context: Sequence[str], row: Floats) -> None:
        self._check_length(row)
        if len(context) != len(self.given):
            raise DomainError(
                f"a row of {quote(self.child)} needs {len(self.given)} parent states, got "
                f"{len(context)}"
            )
        try:
            at = tuple(codes[state] for codes, state in zip(self._codes, context, strict=True))
        except KeyError as error:
            raise DomainError(
                f"a row of {quote(self.child)} names unknown state {quote(error.args[0])}"
            ) from None
        here = self._cpt[at]
        self._refuse_second(here[0] == here[0], f"the row ({', '.join(context)})")
        here[...] = row

    def _check_length(self, row: Floats) -> None:
        if row.size != self.shape[-1]:
            raise DomainError(
                f"a row of {quote(self.child)} needs {self.shape[-1]} numbers, got {row.size}"
            )

    def _refuse_second(self, there: bool, what: str) -> None:
        if there:
            raise DomainError(f"{quote(self.child)} is given {what} twice")

    def finish(self) -> Floats:
        """The table with its default; every row must be there."""
        absent = np.isnan(self._cpt[..., 0])
        if self._default is not None:
            self._cpt[absent] = self._default
        elif absent.any():
            raise DomainError(
                f"the CPT of {quote(self.child)} leaves out a combination of its parents: "
                f"{int(absent.sum()):,} of {absent.size:,}"
            )
        return self._cpt
