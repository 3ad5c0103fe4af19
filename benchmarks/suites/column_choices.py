"""What the words of a block stand for on a data set: data sets, known columns, sets of targets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from reconbench.benchmarks import plugins
from reconbench.datasets import Prior, Table
from reconbench.datasets.prior import PriorKey

EACH = "each"
KNOWN_FORMS = 'a list of columns or "last:N"'
TARGETS_FORMS = '"each", "top-entropy:N", "visit:A-B" or a list of columns, at least one'

# "each" leaves out data sets of other numbers of columns. Releases have marginals of three columns:
# there must be three, and of more than a hundred they would be too many.
LEAST_COLUMNS, MOST_COLUMNS = 3, 100
# "top-entropy" passes over columns of more values: identifiers, and slow to attack.
MOST_VALUES = 64
# Entropies that agree to so many decimals are equal: the last digits are of floating point.
DECIMALS = 9


class ChoiceError(ValueError):
    """Words that stand for nothing on a data set."""


def make_list(value: Any) -> Any:
    """An axis takes one value or a list."""
    return value if isinstance(value, list) else [value]


def parse_range(text: str, prefix: str) -> range | None:
    """The whole numbers of ``prefix:A-B`` or ``prefix:A``; None if the text is something else."""
    kind, _, numbers = text.partition(":")
    low, _, high = numbers.partition("-")
    if kind != prefix or not low.isdecimal() or not (high or low).isdecimal():
        return None
    return range(int(low), int(high or low) + 1)


def list_datasets(specs: Sequence[str]) -> list[str]:
    """The data sets of an axis; ``each`` stands for all that are installed and can be played."""
    listed = [spec for one in specs for spec in (list_playable() if one == EACH else [one])]
    return list(dict.fromkeys(plugins.make_absolute(spec) for spec in listed))


def list_playable() -> list[str]:
    """The installed data sets with 3 to 100 columns of more than one value, by name.

    A secret behind a constant is no table. A data set of another package that cannot be loaded is
    left out.
    """
    return [name for name in plugins.list_dataset_names() if _is_playable(name)]


def _is_playable(name: str) -> bool:
    try:
        prior = plugins.load_prior(name)
    except plugins.PluginError:
        if plugins.is_foreign("dataset", name):
            return False
        raise
    columns = sum(size > 1 for size in prior.domain.sizes)
    return columns >= LEAST_COLUMNS and len(prior.domain) <= MOST_COLUMNS


def choose_known(known: Any, prior: Prior) -> tuple[str, ...]:
    """The known columns that a block gives or ``last:N`` stands for; none are all the others."""
    if isinstance(known, str):
        (count,) = parse_range(known, "last") or (0,)
        if not 1 <= count < len(prior.domain):
            raise ChoiceError(f"{known!r} is not between 1 and {len(prior.domain) - 1} columns")
        return prior.visit_order[-count:]
    prior.domain.positions(known)
    return tuple(known)


def is_word(targets: object) -> bool:
    """Whether targets are a word that stands for columns, on any data set."""
    return isinstance(targets, str) and (
        targets == EACH or any(parse_range(targets, word) for word in ("top-entropy", "visit"))
    )


def list_named_columns(targets: Any, known: Any) -> list[str]:
    """The columns that targets and known columns name, each once."""
    sets = [] if is_word(targets) else [make_list(entry) for entry in make_list(targets)]
    named = [name for columns in sets for name in columns]
    return list(dict.fromkeys([*named, *(known if isinstance(known, list) else [])]))


def choose_targets(targets: Any, prior: Prior, known: Sequence[str]) -> list[tuple[str, ...]]:
    """The sets of target columns that a block lists or a word stands for."""
    if isinstance(targets, str):
        return _read_word(targets, prior, known)
    sets = [tuple(make_list(entry)) for entry in targets]
    for columns in sets:
        prior.domain.positions(columns)
    return sets


def _read_word(word: str, prior: Prior, known: Sequence[str]) -> list[tuple[str, ...]]:
    if word == EACH:
        return [(name,) for name in prior.domain.names if name not in known]
    count = parse_range(word, "top-entropy")
    if count is not None:
        if len(count) != 1 or count[0] < 1:
            raise ChoiceError(f"{word!r} must be top-entropy:N with N at least 1 column")
        names = rank_by_entropy(prior, known)
        if not names:
            raise ChoiceError(
                f"{word!r}: no column that is not known has 2 to {MOST_VALUES} values"
            )
        return [(name,) for name in names[: count[0]]]
    counts = parse_range(word, "visit")
    if counts is None:
        prior.domain.positions([word])
        return [(word,)]
    most = len(prior.domain) - max(len(known), 1)  # one column at least stays known
    if not counts or counts[0] < 1 or counts[-1] > most:
        raise ChoiceError(f"{word!r} must count from 1 to at most {most} columns")
    return [prior.visit_order[:count] for count in counts]


def rank_by_entropy(prior: Prior, known: Sequence[str] = ()) -> list[str]:
    """Columns by the entropy of their marginal under the prior, largest first.

    Exact, in bits: H = −Σ p log₂ p over the values. Columns of equal entropy keep their order;
    those of one value, of more than ``MOST_VALUES``, or known are left out.
    """
    entropies = _compute_entropies(PriorKey(prior.sha256(), prior))
    names = [name for name in entropies if name not in known]
    return sorted(names, key=lambda name: -round(entropies[name], DECIMALS))


@lru_cache(maxsize=256)
def _compute_entropies(keyed: PriorKey) -> dict[str, float]:
    """The entropies of the columns that may be ranked, in their order."""
    return {
        attribute.name: compute_entropy(keyed.prior, attribute.name)
        for attribute in keyed.prior.domain.attributes
        if 1 < attribute.size <= MOST_VALUES
    }


def compute_entropy(prior: Prior, column: str) -> float:
    """The entropy of one column under the prior, in bits."""
    values = Table.of_all_values(prior.domain.project([column]))
    logs = prior.log_evidence(values)
    chances = np.exp(logs)
    present = chances > 0
    return float(-(chances[present] * logs[present]).sum() / np.log(2))
