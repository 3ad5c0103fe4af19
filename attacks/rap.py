"""The relaxed adaptive projection attack on marginals (Swanberg 2025, section 6.1).

Hidden columns are relaxed to distributions, started at the conditional prior, and moved by Adam
until their marginals fit the released ones; known columns stay frozen; then each record is rounded
to the guess that the run's metric likes best.

Fitted to the end, noisy marginals are fitted together with their noise, and at small ε the result
falls below the prior it started from. When to stop depends on the noise, which the attacker knows:
by default the attacker plays the game against itself. It draws tables from the prior given what it
knows, releases them with the very same mechanism, runs the same descent on them, and stops where
its own success on these simulated tables is largest. No truth is looked at and nothing is tuned by
hand. ``stopping="steps"`` runs a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import torch

from reconbench.attacks._api import AttackError, AttackerView, Reconstruction
from reconbench.attacks.marginal_fit import DTYPE, MarginalFit, marginal_fit
from reconbench.attacks.metrics import Metric
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]

SMALLEST_PRIOR = 1e-9
SIMULATED_RECORDS = 1_600
PATIENCE = 8
SHORTEST = 20


class Rap:
    """Adam on softmax logits of the hidden columns, stopped by simulation or after fixed steps."""

    name: ClassVar[str] = "rap"

    def __init__(
        self,
        steps: int = 1_000,
        learning_rate: float = 0.05,
        stopping: str = "simulated",
        worlds: int | None = None,
    ) -> None:
        if steps < 1:
            raise AttackError(f"rap: steps must be at least 1, got {steps}")
        if not 0 < learning_rate < float("inf"):
            raise AttackError(f"rap: learning_rate must be positive, got {learning_rate}")
        if stopping not in ("simulated", "steps"):
            raise AttackError(f"rap: stopping must be 'simulated' or 'steps', got {stopping!r}")
        if worlds is not None and worlds < 1:
            raise AttackError(f"rap: worlds must be at least 1, got {worlds}")
        self.steps = steps
        self.learning_rate = learning_rate
        self.simulate = stopping == "simulated"
        self.worlds = worlds

    def skip(self, view: AttackerView) -> str | None:
        if view.others is not None:
            return "rap plays the realistic adversary only"
        if not isinstance(view.release, MarginalsRelease):
            return "rap attacks marginals only"
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        if not isinstance(view.release, MarginalsRelease):
            raise AttackError("rap attacks marginals only")
        start, success = view.metric.best_guess(view.prior, view.known, view.targets)
        truths = self._imagine(view, rng) if self.simulate else []
        releases = [view.release, *(_play(view, truth, rng) for truth in truths)]
        fit = marginal_fit(releases, view.known, view.targets)
        path = Descent(_conditional_priors(view), len(releases), self.learning_rate)
        rule: StoppingRule = (
            BestSimulated(view.metric, truths, start, self.steps)
            if self.simulate
            else Last(self.steps)
        )
        guess, scores, best_step, step = start.codes, success, 0, 0
        while not rule.done(step):
            loss = path.step(fit)
            step += 1
            if rule.due(step):
                columns = [column.numpy() for column in path.relaxed()]
                if rule.improved(step, columns):
                    mine = [column[0] for column in columns]
                    guess, best_step = view.metric.decide(mine), step
                    scores = np.prod([column.max(axis=1) for column in mine], axis=0)
        info = {"steps": best_step, "steps_tried": step, "loss": float(loss[0])}
        return view.reconstruction(guess, scores, info)

    def _imagine(self, view: AttackerView, rng: np.random.Generator) -> list[Table]:
        """Tables as likely as the real one, for all the attacker knows."""
        worlds = self.worlds or ceil(SIMULATED_RECORDS / max(view.n, 100))
        return [draw_hidden(view.prior, view.known, view.targets, rng) for _ in range(worlds)]


class Descent:
    """Adam (Kingma and Ba 2015) on the logits of every world at once; worlds do not mix.

    Written out: `torch.optim` takes a second to import and twice as long a step on small tables.
    """

    BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, priors: Sequence[torch.Tensor], worlds: int, learning_rate: float) -> None:
        starts = [prior.clamp_min(SMALLEST_PRIOR).log() for prior in priors]
        self._logits = [start.expand(worlds, *start.shape).clone() for start in starts]
        self._first = [torch.zeros_like(logits) for logits in self._logits]
        self._second = [torch.zeros_like(logits) for logits in self._logits]
        self._learning_rate = learning_rate
        self._steps = 0

    def relaxed(self) -> list[torch.Tensor]:
        return [logits.softmax(dim=-1) for logits in self._logits]

    def step(self, fit: MarginalFit) -> torch.Tensor:
        """One step; returns the loss before it."""
        columns = self.relaxed()
        loss, slopes = fit.loss_and_gradient(columns)
        self._steps += 1
        rate = self._learning_rate / (1 - self.BETA1**self._steps)
        spread = sqrt(1 - self.BETA2**self._steps)
        for i, (column, slope) in enumerate(zip(columns, slopes, strict=True)):
            # derivative through the softmax: P ∘ (s − ⟨P, s⟩)
            gradient = column * (slope - (column * slope).sum(dim=-1, keepdim=True))
            first = self._first[i].lerp_(gradient, 1 - self.BETA1)
            second = self._second[i].mul_(self.BETA2)
            second.addcmul_(gradient, gradient, value=1 - self.BETA2)
            scale = second.sqrt().div_(spread).add_(self.EPSILON)
            self._logits[i].addcdiv_(first, scale, value=-rate)
        return loss


class StoppingRule(Protocol):
    def done(self, step: int) -> bool:
        """Whether to stop after this many steps."""
        ...

    def due(self, step: int) -> bool:
        """Whether to look at the relaxed columns after this many steps."""
        ...

    def improved(self, step: int, columns: Sequence[npt.NDArray[np.float64]]) -> bool:
        """Whether the columns, of shape (worlds, n, V), are the best so far."""
        ...


@dataclass(frozen=True)
class Last:
    """Run a fixed number of steps and take what is there."""

    steps: int

    def done(self, step: int) -> bool:
        return step == self.steps

    def due(self, step: int) -> bool:
        return step == self.steps

    def improved(self, step: int, columns: Sequence[npt.NDArray[np.float64]]) -> bool:
        return True


class BestSimulated:
    """Stop where the attack does best on the simulated worlds (all but the first).

    It starts from the success of the prior's own best guess, looks at step counts in geometric
    progression, and gives up once ``PATIENCE`` looks in a row, a factor of about four in steps,
    brought nothing better.
    """

    def __init__(self, metric: Metric, truths: Sequence[Table], start: Table, steps: int) -> None:
        self._metric = metric
        self._truths = truths
        self._looks = sorted({steps, *(round(1.2**j) for j in range(200) if 1.2**j < steps)})
        self._best = sum(int(metric.score(truth, start).sum()) for truth in truths)
        self._since = 0

    def due(self, step: int) -> bool:
        return step in self._looks

    def improved(self, step: int, columns: Sequence[npt.NDArray[np.float64]]) -> bool:
        guesses = self._metric.decide([column[1:] for column in columns])
        right = sum(
            int(self._metric.score(truth, Table(truth.domain, guess)).sum())
            for truth, guess in zip(self._truths, guesses, strict=True)
        )
        self._since += 1
        if right <= self._best:
            return False
        self._best, self._since = right, 0
        return True

    def done(self, step: int) -> bool:
        return step >= self._looks[-1] or (self._since >= PATIENCE and step >= SHORTEST)


def _conditional_priors(view: AttackerView) -> list[torch.Tensor]:
    """Each hidden column's own conditional prior, (n, V)."""
    return [
        torch.from_numpy(view.prior.conditional(view.known, [target])).to(DTYPE)
        for target in view.targets
    ]


def draw_hidden(
    prior: Prior, known: Table, targets: Sequence[str], rng: np.random.Generator
) -> Table:
    """Hidden columns drawn from the prior given the known ones, one column after the other."""
    seen = known
    for target in targets:
        chances = prior.conditional(seen, [target]).cumsum(axis=1)
        pick = (chances / chances[:, -1:] <= rng.random((len(known), 1))).sum(axis=1)
        seen = seen.join(Table(prior.domain.project([target]), pick[:, None]))
    return seen.project(targets)


def _play(view: AttackerView, hidden: Table, rng: np.random.Generator) -> MarginalsRelease:
    """A release of an imagined table by the real mechanism."""
    table = view.known.join(hidden).project(view.release.domain.names)
    release = view.mechanism.release(table, rng)
    if not isinstance(release, MarginalsRelease):
        raise AttackError("rap attacks marginals only")
    return release
