"""A suite's games on other data, or in another setting: axes replaced in every block of games.

A value that is given replaces that axis in each ``[[games]]`` block of the suite and of those that
it includes, also in their ``include``. Words such as ``each`` are read on the new data set, and
counts such as ``visit:1-13`` or ``last:3`` end at its last column. A block that names columns is
about one table: where the columns of some blocks exist and those of others do not, the others are
left out; where those of none exist, that is an error. An ``exclude`` that no game matches any more
is dropped. Games that become equal are played once, as in any suite. Computations have no data set
and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.suites.axis_values import (
    REPLACEABLE,
    describe_values,
    name_axis,
    name_suite,
    parse_axis,
)
from reconbench.benchmarks.suites.column_choices import (
    list_named_columns,
    parse_range,
)
from reconbench.benchmarks.suites.game_block import AxesError, GameBlock
from reconbench.benchmarks.suites.suite import MOST_ROWS, Suite, SuiteError
from reconbench.datasets import Prior


@dataclass(frozen=True)
class ReplacedSuite:
    """A suite with replaced axes; ``games`` are counted once each, ``left_out`` says what is not.

    ``games`` is None where there are too many to list.
    """

    suite: Suite
    replaced: str
    games: int | None
    left_out: tuple[str, ...]

    def describe(self) -> str:
        """What was replaced and what remains, in one line."""
        remain = "" if self.games is None else f"{self.games:,} games remain"
        if self.games == 1:
            remain = "1 game remains"
        return "; ".join(filter(None, [f"replaced: {self.replaced}", remain, *self.left_out]))


@dataclass(frozen=True)
class _Pair:
    """A block on one data set, and the columns that it names and the data set has not."""

    part: Suite
    index: int
    block: GameBlock
    dataset: str
    prior: Prior
    named: list[str]

    @property
    def missing(self) -> list[str]:
        return [name for name in self.named if name not in self.prior.domain.names]

    @property
    def where(self) -> str:
        return f"suite {self.part.name}, games.{self.index}"


def replace_axes(
    suite: Suite, given: Mapping[str, Sequence[str]], most_games: int = MOST_ROWS
) -> ReplacedSuite:
    """The suite with these axes replaced; ``given`` has the texts of the command line by axis."""
    values = {name: parse_axis(name, texts) for name, texts in given.items()}
    return replace_values(suite, values, most_games)


def replace_values(
    suite: Suite, values: Mapping[str, Any], most_games: int = MOST_ROWS
) -> ReplacedSuite:
    """The same with values as ``axis_values.read_axis`` returns them."""
    if not any(part.games for part in suite.parts):
        title = name_axis(next(iter(values)))
        raise SuiteError(
            f"suite {suite.name} has computations only, which have no {title} to replace; choose a "
            "suite with games"
        )
    pairs = [pair for part in suite.parts for pair in _list_pairs(part, values)]
    kept, left_out = _choose_pairs(pairs, values)
    small = sum(map(_count, kept)) <= most_games
    parts: dict[str, list[GameBlock]] = {}
    games: set[Game] = set()
    for pair in kept:
        blocks = parts.setdefault(pair.part.name, [])
        if not small:
            blocks.append(pair.block)
            continue
        with pair.part.prefix_errors(pair.index), _suggest_option(values):
            block, played = _drop_idle_excludes(pair.block, pair.part.seed)
        if played:
            blocks.append(block)
            games.update(played)
    if small and not games:
        raise SuiteError(f"suite {suite.name}: every game is excluded; replace other axes")
    described = describe_values(values)
    notes = [_describe_missing(pairs_left) for pairs_left in (left_out,) if pairs_left]
    computations = len(suite.computations())
    if computations:
        plural = "s, which have" if computations > 1 else ", which has"
        notes.append(f"left out: {computations} computation{plural} no data set")
    clipped = sorted({note for pair in kept if (note := _describe_clipping(pair))})
    return ReplacedSuite(
        _join_parts(suite, parts, name_suite(suite.name, values), described),
        described,
        len(games) if small else None,
        (*clipped, *notes),
    )


@contextmanager
def _suggest_option(values: Mapping[str, Any]) -> Iterator[None]:
    """Where an axis of the suite does not fit what was replaced, say how to replace it too."""
    try:
        yield
    except AxesError as error:
        axis = str(error).partition(":")[0]
        if axis not in REPLACEABLE or axis in values:
            raise
        flag = axis.replace("_", "-")
        raise AxesError(f"{error}; --{flag} replaces the {name_axis(axis)} of the suite") from None


def _list_pairs(part: Suite, values: Mapping[str, Any]) -> list[_Pair]:
    """The blocks of a suite with replaced values, one per data set."""
    pairs = []
    for index, axes in enumerate(part.games or ()):
        for block in axes.list_blocks():
            replaced = block.model_copy(update=dict(values))
            with part.prefix_errors(index):
                datasets = replaced.list_datasets()
                priors = [plugins.load_prior(dataset) for dataset in datasets]
            named = list_named_columns(replaced.targets, replaced.known)
            for dataset, prior in zip(datasets, priors, strict=True):
                one = replaced.model_copy(update={"dataset": [dataset]})
                if "dataset" in values:
                    one = _clip_counts(one, prior, values)
                pairs.append(_Pair(part, index, one, dataset, prior, named))
    return pairs


def _clip_counts(block: GameBlock, prior: Prior, values: Mapping[str, Any]) -> GameBlock:
    """``last:N`` and ``visit:A-B`` of the suite's own, ended at the last column of a data set."""
    known, targets = block.known, block.targets
    if isinstance(known, str) and "known" not in values:
        (count,) = parse_range(known, "last") or (1,)
        known = f"last:{min(count, len(prior.domain) - 1)}"
    counts = parse_range(targets, "visit") if isinstance(targets, str) else None
    if counts and "targets" not in values:
        last = parse_range(known, "last") if isinstance(known, str) else None
        most = len(prior.domain) - (last[0] if last else max(len(known), 1))
        if counts[-1] > most >= counts[0]:
            targets = f"visit:{counts[0]}-{most}"
    return block.model_copy(update={"known": known, "targets": targets})


def _choose_pairs(
    pairs: Sequence[_Pair], values: Mapping[str, Any]
) -> tuple[list[_Pair], list[_Pair]]:
    """The pairs whose columns exist, and those that are left out because others' do.

    Columns and data sets that were both asked for must fit. Else one side is the suite's own: of
    the blocks that name columns, some must fit, on every data set that was asked for.
    """
    given = list_named_columns(values.get("targets", "each"), values.get("known"))
    kept, left_out = [], []
    for pair in pairs:
        if not pair.missing:
            kept.append(pair)
            continue
        peers = [
            other
            for other in pairs
            if other.named and ("dataset" not in values or other.dataset == pair.dataset)
        ]
        asked = "dataset" in values and any(name in given for name in pair.missing)
        if asked or all(other.missing for other in peers):
            _refuse(pair, given)
        left_out.append(pair)
    return kept, left_out


def _refuse(pair: _Pair, given: Sequence[str]) -> None:
    column, dataset = pair.missing[0], plugins.shorten_spec(pair.dataset)
    axis = "known" if column in pair.block.known else "targets"
    if column in given:
        raise SuiteError(
            f"--{axis}: {dataset} has no column {column!r}; it has {_list_some(pair.prior)}"
        )
    raise SuiteError(
        f"{pair.where}.{axis}: {dataset} has no column {column!r}; name some of its own with "
        f"--{axis} ({_list_some(pair.prior)})"
    )


def _count(pair: _Pair) -> int:
    with pair.part.prefix_errors(pair.index):
        return pair.block.count()


def _list_some(prior: Prior, most: int = 8) -> str:
    names = prior.domain.names
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _drop_idle_excludes(block: GameBlock, seed: int) -> tuple[GameBlock, list[Game]]:
    """The block without the exclusions that no game matches, and its games."""
    games = block.model_copy(update={"exclude": []}).expand(seed)
    entries = []
    for entry in block.exclude:
        rest = [game for game in games if not entry.covers(game)]
        if len(rest) < len(games):
            entries.append(entry)
        games = rest
    return block.model_copy(update={"exclude": entries}), games


def _join_parts(
    suite: Suite, parts: Mapping[str, list[GameBlock]], name: str, replaced: str
) -> Suite:
    """The suite and its parts with these blocks, and without computations."""
    copies = []
    for part in suite.parts:
        blocks = parts.get(part.name) or None
        copy = part.model_copy(update={"games": blocks, "curves": None, "include": None})
        copy._parts = ()
        copies.append(copy)
    top, *others = copies
    top = top.model_copy(
        update={"name": name, "description": f"the games of suite {suite.name}, with {replaced}"}
    )
    top._parts = tuple(others)
    return top


def _describe_missing(pairs: Sequence[_Pair]) -> str:
    """What is left out: how many blocks, and the columns that data sets have not."""
    columns = dict.fromkeys(pair.missing[0] for pair in pairs)
    datasets = dict.fromkeys(plugins.shorten_spec(pair.dataset) for pair in pairs)
    count = len({(pair.part.name, pair.index) for pair in pairs})
    return (
        f"left out: {count} block{'s' * (count != 1)} of games on columns that "
        f"{', '.join(datasets)} lack{'s' * (len(datasets) == 1)} ({', '.join(columns)})"
    )


def _describe_clipping(pair: _Pair) -> str:
    """A count of the suite that ends at the last column of the data set."""
    own = pair.part.games or ()
    before = [
        text
        for block in own[pair.index].list_blocks()
        for text in (block.targets, block.known)
        if isinstance(text, str)
    ]
    now = [text for text in (pair.block.targets, pair.block.known) if isinstance(text, str)]
    kinds = ("visit", "last")
    for text in now:
        kind = text.partition(":")[0]
        if kind in kinds and text not in before and any(old.startswith(kind) for old in before):
            return f"{text} on {plugins.shorten_spec(pair.dataset)}, which has no more columns"
    return ""
