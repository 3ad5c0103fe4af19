"""Reconstruction ranked by confidence (Dick et al. 2023).

"Confidence-ranked reconstruction of census microdata from published statistics": many relaxed
models are fitted to one release from random starts, and each is rounded to a candidate table by
drawing every hidden cell from its relaxed distribution. What the release pins down comes out the
same in most candidates; what it leaves open does not. So the share of models that agree on a record
ranks the records by how sure their reconstruction is: an attacker who publishes the m records of
largest share only is right more often than on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    Reconstruction,
)
from reconbench.attacks.marginals.release_parts import skip_unless_marginals
from reconbench.attacks.rap.descent import Objective, batches
from reconbench.attacks.rap.problem import build_problem
from reconbench.attacks.rap.rap import check_descent_options, check_views, weigh_by_noise
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class ConfidenceRanked:
    """The value on which most models agree; the score is the share of models that do.

    With one hidden column the guess is what the metric likes best under the models' frequencies;
    with several it is the most frequent joint value, the smaller codes where two are as frequent.
    ``spread`` is the standard deviation of the noise on the logits of the random starts.

    The paper fits exact statistics. For noisy ones the models minimise the loss of `rap-map`, which
    is the squared error alone where there is no noise; ``weigh=False`` is the squared error always.
    """

    name: ClassVar[str] = "confidence-ranked"
    requires: ClassVar[tuple[str, ...]] = ("torch",)

    def __init__(
        self,
        models: int = 30,
        steps: int = 300,
        learning_rate: float = 0.05,
        spread: float = 1.0,
        weigh: bool = True,
    ) -> None:
        check_descent_options(self.name, steps, learning_rate)
        if models < 2:
            raise AttackError(f"{self.name}: models must be at least 2, got {models}")
        if not 0 <= spread < float("inf"):
            raise AttackError(f"{self.name}: spread must be 0 or more, got {spread}")
        self.models = models
        self.steps = steps
        self.learning_rate = learning_rate
        self.spread = spread
        self.weigh = weigh

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_marginals(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        noise_sd = check_views(self.name, [view], [rng])
        objective = weigh_by_noise(noise_sd, entropy=True) if self.weigh else Objective()
        problem = build_problem(view, rng, self.models, start_spread=self.spread)
        ((_, paths),) = batches([problem], objective, self.learning_rate)
        for _ in range(self.steps):
            paths.step()
        candidates = draw_candidates([column[0, 0] for column in paths.relaxed()], rng)
        guess = guess_by_votes(view, candidates)
        share = measure_agreement(view, candidates, guess)
        info = {
            "models": float(self.models),
            "mean_agreement": float(share.mean()),
            "unanimous": float((share == 1).mean()),
            "loss": float(paths.losses().min()),
        }
        return view.reconstruction(guess, share, info)


def draw_candidates(columns: Sequence[Floats], rng: np.random.Generator) -> Codes:
    """Draw candidate tables, (models, n, d′), each cell from its relaxed distribution."""
    drawn = []
    for column in columns:
        total = column.cumsum(axis=-1)
        below = total / total[..., -1:] <= rng.random((*column.shape[:-1], 1))
        drawn.append(below.sum(axis=-1))
    return np.stack(drawn, axis=-1)


def guess_by_votes(view: AttackerView, candidates: Codes) -> Codes:
    """Guess what most models vote for, (n, d′)."""
    if len(view.targets) == 1:
        (size,) = view.target_domain.sizes
        votes: Floats = (candidates == np.arange(size)).mean(axis=0)
        return view.metric.decide([votes])
    guess = np.empty(candidates.shape[1:], dtype=np.int64)
    for i in range(view.n):
        values, counts = np.unique(candidates[:, i], axis=0, return_counts=True)
        guess[i] = values[counts.argmax()]
    return guess


def measure_agreement(view: AttackerView, candidates: Codes, guess: Codes) -> Floats:
    """Compute the share of models in whose candidate table the guess counts as a success."""
    table = Table(view.target_domain, guess)
    hits = [view.metric.score(Table(view.target_domain, codes), table) for codes in candidates]
    share: Floats = np.mean(hits, axis=0, dtype=np.float64)
    return share
