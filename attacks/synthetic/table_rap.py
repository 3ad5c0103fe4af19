"""RAP on the marginals of a synthetic table: `table-rap`.

`rap` descends from the prior towards the released marginals, and stops where the same descent does
best on simulated releases of the very same mechanism. The counts of a synthetic table are fitted in
the same way. When to stop is learnt from the imagined tables of the setting: the descent is run on
all of them at once, and the number of steps with the largest success is taken, none at all (the
prior's guess) if no success exceeds the prior's by more than its standard error.

Where the mechanism cannot be run, or with ``stopping="steps"``, a fixed number of steps is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackError, AttackerView, Reconstruction
from reconbench.attacks.rap.descent import Objective, batches
from reconbench.attacks.rap.problem import build_problem
from reconbench.attacks.rap.rap import RapConverged, best_starts
from reconbench.attacks.synthetic.imagined import (
    ImaginedTables,
    can_imagine,
    check_tables,
    imagine_tables,
)
from reconbench.attacks.synthetic.table_access import require_synthetic
from reconbench.attacks.synthetic.table_marginals import check_k, lay_out, skip_unless_counted

# Steps of the descent at which its success on imagined tables is looked at.
LOOKS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640, 1000)
# Looks in a row that bring nothing better before the descent is given up.
PATIENCE = 5


class TableRap:
    """`rap` on the k-way counts of the synthetic table, stopped where imagined tables say."""

    name: ClassVar[str] = "table-rap"
    reference: ClassVar[str] = "Swanberg et al. 2025, section 6.1"
    requires: ClassVar[tuple[str, ...]] = ("torch",)

    def __init__(
        self,
        k: int = 3,
        steps: int = 1_000,
        learning_rate: float = 0.05,
        stopping: str = "simulated",
        tables: int | None = None,
    ) -> None:
        check_k(self.name, k)
        check_tables(self.name, tables)
        if stopping not in ("simulated", "steps"):
            raise AttackError(
                f"table-rap: stopping must be 'simulated' or 'steps', got {stopping!r}"
            )
        self.k = k
        self.simulate = stopping == "simulated"
        self.tables = tables
        self._longest = RapConverged(steps, learning_rate)

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_counted(self.name, view, self.k)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        return self.reconstruct_many([view], [rng])[0]

    def reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        """Attack repetitions of one game at once; each result is what `reconstruct` returns."""
        steps = {self.choose_steps(view) for view in views}
        if len(steps) > 1:
            return [self.reconstruct(view, rng) for view, rng in zip(views, rngs, strict=True)]
        for count in steps:
            if count == 0:
                return [_guess_from_prior(view) for view in views]
            laid_out = [lay_out(view, require_synthetic(view), self.k) for view in views]
            rap = RapConverged(count, self._longest.learning_rate)
            return rap.reconstruct_many(laid_out, rngs)
        return []

    def choose_steps(self, view: AttackerView) -> int:
        """How long to descend in the setting of a view."""
        if not (self.simulate and can_imagine(view)):
            return self._longest.steps
        imagined = imagine_tables(view, self.tables)
        key = (
            self.name,
            view.metric.name,
            self.k,
            self._longest.steps,
            self._longest.learning_rate,
        )
        return imagined.recall(key, lambda: self._try_steps(view, imagined))

    def _try_steps(self, view: AttackerView, imagined: ImaginedTables) -> int:
        """The number of steps of largest success on the imagined tables."""
        views = list(imagined.list_views(view))
        truths = [truth.project(view.targets) for truth in imagined.truths]
        prior = [each.metric.best_guess(each.prior, each.known, each.targets)[0] for each in views]
        base = np.array(
            [view.metric.score(*pair).sum() for pair in zip(truths, prior, strict=True)]
        )
        rng = np.random.default_rng(0)  # a single start uses no random number
        problems = [
            build_problem(lay_out(each, require_synthetic(each), self.k), rng, restarts=1)
            for each in views
        ]
        descents = list(batches(problems, Objective(), self._longest.learning_rate))
        best, best_gain, since, done = 0, 0.0, 0, 0
        for look in [look for look in LOOKS if look <= self._longest.steps]:
            successes = np.zeros(len(views))
            for chosen, paths in descents:
                for _ in range(look - done):
                    paths.step()
                columns, _ = best_starts(paths, several=False)
                guesses = view.metric.decide([column[:, 0] for column in columns])
                for codes, i in zip(guesses, chosen, strict=True):
                    guess = views[i].reconstruction(codes).guess
                    successes[i] = view.metric.score(truths[i], guess).sum()
            gains = successes - base
            gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))
            since, done = since + 1, look
            if gain > max(best_gain, error):
                best, best_gain, since = look, gain, 0
            if since == PATIENCE:
                break
        return best


def _guess_from_prior(view: AttackerView) -> Reconstruction:
    guess, success = view.metric.best_guess(view.prior, view.known, view.targets)
    return Reconstruction(guess, success, {"steps": 0.0})
