"""How a table is written: what a user states of it, and what was found out."""

from __future__ import annotations

from dataclasses import dataclass

from reconbench.datasets.own_table.decimals import COMMA, POINT
from reconbench.datasets.sources._csv import CsvError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_DECIMALS = {"point": POINT, "comma": COMMA}


@dataclass(frozen=True)
class CsvStyle:
    """What is stated of a CSV file; what is None is found out."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        for option, names in (("separator", SEPARATORS), ("decimal", _DECIMALS)):
            value = getattr(self, option)
            if value is not None:
                object.__setattr__(self, option, _read_sign(option, value, names))

    @property
    def stated(self) -> bool:
        """Whether anything is stated at all."""
        return self != CsvStyle()


def _read_sign(option: str, value: str, names: dict[str, str]) -> str:
    sign = {**names, "\\t": "\t"}.get(value.strip().lower() or value, value)
    if sign not in names.values():
        allowed = ", ".join(f"{name} ({names[name]!r})" for name in names)
        raise CsvError(f"--{option} must be one of {allowed}, got {value[:60]!r}")
    return sign


@dataclass(frozen=True)
class TableFormat:
    """How a table turned out to be written; a part that does not apply is None.

    ``decimal`` is None where no number with a fraction was met.
    """

    kind: str
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def describe(self) -> str:
        """One line, such as ``semicolon-separated, Latin-1, decimal comma``."""
        parts = []
        if self.separator is None:
            parts.append(self.kind)
        else:
            parts += [
                f"{name}-separated" for name, sign in SEPARATORS.items() if sign == self.separator
            ]
        if self.encoding is not None:
            parts.append(self.encoding)
        if self.decimal is not None:
            parts.append("decimal comma" if self.decimal == COMMA else "decimal point")
        return ", ".join(parts)
