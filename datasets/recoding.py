"""How cells of a source become labels: codes of missing values, groups of values, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_CODES = 1_000


class RecodingError(ValueError):
    """A rule for missing values or groups that cannot be followed."""


@dataclass(frozen=True)
class Missing:
    """Cells that stand for a missing value, and the label they get; without one, records go.

    The code ``""`` is an empty cell. In a column of bins, a code that is a number also stands for
    the other ways to write this number.
    """

    codes: tuple[str, ...]
    label: str | None = None

    def __post_init__(self) -> None:
        if not self.codes:
            raise RecodingError("'missing' needs 'codes', a list such as [\"\", \"NA\"]")
        if len(self.codes) > MAX_CODES:
            raise RecodingError(f"'missing' has {len(self.codes)} codes, more than {MAX_CODES}")

    def to_json(self) -> dict[str, Any]:
        outcome = {"drop": True} if self.label is None else {"label": self.label}
        return {"codes": list(self.codes), **outcome}

    @classmethod
    def from_json(cls, raw: object) -> Missing:
        if not isinstance(raw, dict):
            raise RecodingError(
                "'missing' must be an object such as "
                '{"codes": ["", "NA"], "label": "NA"} or {"codes": [""], "drop": true}'
            )
        unknown = sorted(set(raw) - {"codes", "label", "drop"}, key=str)
        if unknown:
            raise RecodingError(
                f"'missing' has the unknown key {str(unknown[0])[:60]!r}; allowed: codes, label, "
                "drop"
            )
        codes, label, drop = raw.get("codes"), raw.get("label"), raw.get("drop", False)
        if not isinstance(codes, list) or not all(_is_code(code) for code in codes):
            raise RecodingError("'codes' of 'missing' must be a list of texts and whole numbers")
        if not isinstance(drop, bool) or not (label is None or isinstance(label, str)):
            raise RecodingError("'missing' takes a 'label' that is text, or \"drop\": true")
        if (label is None) != drop:
            raise RecodingError(
                "'missing' needs either a 'label' for missing values, or \"drop\": true to leave "
                "their records out"
            )
        return cls(tuple(dict.fromkeys(str(code) for code in codes)), label)


@dataclass(frozen=True)
class Recoding:
    """The rules of one column; without rules every cell must be a label or a number in a bin.

    ``groups`` lists other values by the label that holds them; ``other`` is the label of whatever
    is neither a label nor in a group.
    """

    missing: Missing | None = None
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    other: str | None = None

    def __post_init__(self) -> None:
        grouped = [value for _, values in self.groups for value in values]
        if len(set(grouped)) < len(grouped):
            twice = Counter(grouped).most_common(1)[0][0]
            raise RecodingError(f"'groups' has the value {twice[:60]!r} twice")
        both = [value for value in grouped if self.missing and value in self.missing.codes]
        if both:
            raise RecodingError(f"{both[0][:60]!r} is both a missing value and in a group")

    def __bool__(self) -> bool:
        return self != NOTHING

    def check_labels(self, labels: tuple[str, ...], *, binned: bool) -> None:
        """Refuse rules that do not fit the labels of their column."""
        if binned and (self.groups or self.other is not None):
            raise RecodingError("bins have no 'groups' and no 'other'; choose other edges")
        known = set(labels)
        for label, values in self.groups:
            if label not in known:
                raise RecodingError(f"'groups' has {label[:60]!r}, which is not a label")
            stray = [value for value in values if value in known and value != label]
            if stray:
                raise RecodingError(f"{stray[0][:60]!r} is both a label and in a group")
        for role, name in (("other", self.other), ("label", self._missing_label)):
            if name is not None and name not in known:
                raise RecodingError(f"{role!r} names {name[:60]!r}, which is not a label")
        codes = self.missing.codes if self.missing else ()
        clash = [code for code in codes if code in known and code != self._missing_label]
        if clash:
            raise RecodingError(
                f"{clash[0][:60]!r} is both a label and a code for missing values; give the "
                "column a 'missing' of its own, or false for none"
            )

    @property
    def _missing_label(self) -> str | None:
        return self.missing.label if self.missing else None

    def to_json(self) -> dict[str, Any]:
        described: dict[str, Any] = {}
        if self.missing is not None:
            described["missing"] = self.missing.to_json()
        if self.groups:
            described["groups"] = {label: list(values) for label, values in self.groups}
        if self.other is not None:
            described["other"] = self.other
        return described

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], default: Missing | None = None) -> Recoding:
        """The rules among an attribute's keys; ``default`` is the file's rule for missing values.

        ``"missing": false`` says that no cell of this column is missing.
        """
        missing = default
        if "missing" in raw:
            missing = None if raw["missing"] is False else Missing.from_json(raw["missing"])
        groups, other = raw.get("groups", {}), raw.get("other")
        if not isinstance(groups, dict) or not all(_is_texts(each) for each in groups.values()):
            raise RecodingError(
                "'groups' must be an object of lists of texts, such as "
                '{"health": ["nurse", "doctor"]}'
            )
        if not (other is None or isinstance(other, str)):
            raise RecodingError("'other' must be the label of all values that are not listed")
        return cls(missing, tuple((label, tuple(each)) for label, each in groups.items()), other)


NOTHING = Recoding()


def _is_code(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
