"""Games that were played before: an assessment that was stopped goes on where it was.

Games on drawn tables are rows of the result store. Those on the owner's table are files of their
own beside it, which only their owner may read: they say of every record what was guessed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from reconbench.benchmarks.assess.accuracy import Accuracy, MarginalsAccuracy, TableAccuracy
from reconbench.benchmarks.assess.exposure import Mean
from reconbench.benchmarks.assess.games import real_games
from reconbench.benchmarks.assess.games.real_games import RealGame, RealPlay
from reconbench.benchmarks.assess.games.tasks import Outcome, Task
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store.source_code import find_modules, hash_modules, hash_text
from reconbench.benchmarks.store.store import Keys, Store
from reconbench.datasets.atomic_files import PRIVATE, write_atomic

FOLDER = "games"
_KINDS: Mapping[str, type[MarginalsAccuracy] | type[TableAccuracy]] = {
    kind.__name__: kind for kind in (MarginalsAccuracy, TableAccuracy)
}


class SavedGames:
    """The games in an output folder; use as ``with SavedGames(folder) as saved``.

    Nothing is made before the first game is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._store = Store(folder)
        self._keys = Keys()
        self._code = hash_modules(find_modules([real_games.__name__]))

    def __enter__(self) -> Self:
        self._store.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._store.__exit__(kind, error, trace)

    def find(self, task: Task) -> Outcome | None:
        """The outcome of a game, if it is here."""
        keys = [self._keys.of(task.game, spec) for spec in task.specs]
        if task.table is not None:
            return _read_game(self._place(task))
        rows: Mapping[Any, Result] = self._store.get(keys) if self._store.path.exists() else {}
        found = [rows[key] for key in keys if key in rows and rows[key].status is Status.OK]
        return found if len(found) == len(keys) else None

    def keep(self, task: Task, outcome: Outcome) -> None:
        """Write the outcome of a game."""
        if isinstance(outcome, RealGame):
            self._folder.mkdir(parents=True, exist_ok=True)
            os.chmod(self._folder, 0o700)
            write_atomic(self._place(task), _dump_game(outcome), PRIVATE)
            return
        for spec, row in zip(task.specs, outcome, strict=True):
            self._store.put(self._keys.of(task.game, spec), row)

    def _place(self, task: Task) -> Path:
        """The file of a game on the owner's table, by all that it depends on."""
        table, others = task.table, task.held_out
        parts = [self._keys.of(task.game, spec).text for spec in task.specs]
        parts += ["" if table is None else table.sha256(), self._code]
        parts += [] if others is None else [others.known.sha256(), others.truth.sha256()]
        return self._folder / f"{hash_text(json.dumps(parts))}.json"


def _dump_game(game: RealGame) -> str:
    plays = [
        {
            "attack": play.attack,
            "guess": play.guess.tolist(),
            "hits": play.hits.astype(int).tolist(),
            "sure": None if play.sure is None else play.sure.tolist(),
            "converged": play.converged,
            "held_out_hits": None
            if play.held_out_hits is None
            else play.held_out_hits.astype(int).tolist(),
        }
        for play in game.plays
    ]
    accuracy = game.accuracy
    measured = None if accuracy is None else [type(accuracy).__name__, asdict(accuracy)]
    return json.dumps({"plays": plays, "accuracy": measured})


def _read_game(path: Path) -> RealGame | None:
    """A game that was kept whole; None for anything else."""
    try:
        raw = json.loads(path.read_bytes())
        plays = tuple(
            RealPlay(
                attack=play["attack"],
                guess=np.array(play["guess"], dtype=np.int64),
                hits=np.array(play["hits"], dtype=bool),
                sure=None if play["sure"] is None else np.array(play["sure"], dtype=np.float64),
                converged=play["converged"],
                held_out_hits=None
                if play["held_out_hits"] is None
                else np.array(play["held_out_hits"], dtype=bool),
            )
            for play in raw["plays"]
        )
        return RealGame(plays, _read_accuracy(raw["accuracy"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _read_accuracy(raw: Any) -> Accuracy | None:
    if raw is None:
        return None
    name, values = raw
    means = {key: Mean(**value) for key, value in values.items() if isinstance(value, dict)}
    return _KINDS[name](**{**values, **means})
