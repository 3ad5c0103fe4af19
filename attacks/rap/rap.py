"""The relaxed adaptive projection attack on marginals (Swanberg 2025, section 6.1).

Hidden columns are relaxed to distributions, started at the conditional prior, and moved by Adam
until their marginals fit the released ones; known columns stay frozen; then each record is rounded
to the guess that the run's metric likes best.

Fitted to the end, noisy marginals are fitted together with their noise, and at small ε the result
falls below the prior it started from. When to stop depends on the noise, which the attacker knows:
by default the attacker plays the game against itself. It draws tables from the prior given what it
knows, releases them with the very same mechanism, runs the same descent on them, and stops where
its own success on these simulated tables is largest. No truth is looked at and nothing is tuned by
hand. Without noise it starts from what the exact counts leave possible, and descends to the end.
``stopping="steps"`` runs a fixed number of steps from the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    Reconstruction,
)
from reconbench.attacks.candidates.solution import ExactTables, find_exact_tables
from reconbench.attacks.marginals.measured import read_measurements
from reconbench.attacks.marginals.release_parts import skip_unless_marginals
from reconbench.attacks.rap.descent import Objective, Paths, batches
from reconbench.attacks.rap.problem import build_problem, require_marginals
from reconbench.datasets import Table, draw_targets

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SIMULATED_RECORDS = 1_600
PATIENCE = 8
SHORTEST = 20


class RapConverged:
    """The naive setting of Swanberg 2025, section 6.1: a fixed number of steps, to convergence.

    Minimises ‖Q(P) − answers‖² from the conditional prior. The prior enters through the start
    alone; with noise on the answers the noise is fitted too.
    """

    name: ClassVar[str] = "rap-converged"
    requires: ClassVar[tuple[str, ...]] = ("torch",)

    def __init__(self, steps: int = 1_000, learning_rate: float = 0.05, restarts: int = 1) -> None:
        check_descent_options(self.name, steps, learning_rate)
        if restarts < 1:
            raise AttackError(f"{self.name}: restarts must be at least 1, got {restarts}")
        self.steps = steps
        self.learning_rate = learning_rate
        self.restarts = restarts

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_marginals(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        return self.reconstruct_many([view], [rng])[0]

    def reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        """Attack repetitions of one game at once; each result is what `reconstruct` returns."""
        noise_sd = check_views(self.name, views, rngs)
        return self._reconstruct(views, rngs, noise_sd)

    def _reconstruct(
        self,
        views: Sequence[AttackerView],
        rngs: Sequence[np.random.Generator],
        noise_sd: float,
        tables: Sequence[ExactTables | None] | None = None,
    ) -> list[Reconstruction]:
        """Run a fixed number of steps on every view; the start of smallest loss wins."""
        problems = [
            build_problem(view, rng, self.restarts, tables=start)
            for view, rng, start in zip(views, rngs, tables or [None] * len(views), strict=True)
        ]
        reconstructions: list[Reconstruction] = []
        for chosen, paths in batches(problems, self._objective(noise_sd), self.learning_rate):
            for _ in range(self.steps):
                paths.step()
            columns, losses = best_starts(paths)
            for row, i in enumerate(chosen):
                relaxed = [column[row, 0] for column in columns]
                info = {"steps": self.steps, "loss": float(losses[row, 0])}
                guess = views[i].metric.decide(relaxed)
                reconstructions.append(views[i].reconstruction(guess, _confidence(relaxed), info))
        return reconstructions

    def _objective(self, noise_sd: float) -> Objective:
        return Objective()


class RapMap(RapConverged):
    """The prior in the loss, with the weight that the noise gives it.

    Minimises, with π_ic the conditional prior of hidden column c of record i,

        ‖Q(P) − answers‖² / (2 noise_sd²) − Σ_ic ⟨P_ic, log π_ic⟩ + Σ_ic ⟨P_ic, log P_ic⟩,

    that is, the negative log-likelihood of the mean table plus Σ_ic KL(P_ic ‖ π_ic). It is the
    mean-field variational free energy but for the variance of Q(X) under P, a sum of
    p(1 − p)-terms of single records. With one hidden column the loss is convex, so its minimum does
    not depend on the start. ``entropy=False`` leaves the last term out. Several hidden columns each
    have their own prior given the known ones: what they say about each other enters through the
    marginals alone.

    Without noise the squared error alone is minimised.
    """

    name: ClassVar[str] = "rap-map"

    def __init__(
        self,
        steps: int = 1_000,
        learning_rate: float = 0.05,
        restarts: int = 1,
        entropy: bool = True,
    ) -> None:
        super().__init__(steps, learning_rate, restarts)
        self.entropy = entropy

    def _objective(self, noise_sd: float) -> Objective:
        return weigh_by_noise(noise_sd, self.entropy)


class Rap(RapConverged):
    """Adam on softmax logits of the hidden columns, stopped by simulation or after fixed steps."""

    name: ClassVar[str] = "rap"

    def __init__(
        self,
        steps: int = 1_000,
        learning_rate: float = 0.05,
        stopping: str = "simulated",
        worlds: int | None = None,
        restarts: int = 1,
    ) -> None:
        super().__init__(steps, learning_rate, restarts)
        if stopping not in ("simulated", "steps"):
            raise AttackError(f"rap: stopping must be 'simulated' or 'steps', got {stopping!r}")
        if worlds is not None and worlds < 1:
            raise AttackError(f"rap: worlds must be at least 1, got {worlds}")
        self.simulate = stopping == "simulated"
        self.worlds = worlds

    def _reconstruct(
        self,
        views: Sequence[AttackerView],
        rngs: Sequence[np.random.Generator],
        noise_sd: float,
        tables: Sequence[ExactTables | None] | None = None,
    ) -> list[Reconstruction]:
        if not self.simulate:
            return super()._reconstruct(views, rngs, noise_sd)
        found = [find_exact_tables(view, read_measurements(view)) for view in views]
        if None not in found:
            # Without noise there is none to be fitted by mistake, and no reason to stop early.
            return super()._reconstruct(views, rngs, noise_sd, found)
        imagined = [self._imagine(view, rng) for view, rng in zip(views, rngs, strict=True)]
        problems = [
            build_problem(view, rng, self.restarts, truths)
            for view, rng, truths in zip(views, rngs, imagined, strict=True)
        ]
        reconstructions: list[Reconstruction] = []
        for chosen, paths in batches(problems, Objective(), self.learning_rate):
            truths = np.stack([imagined[i] for i in chosen])
            reconstructions += stop_where_best(
                [views[i] for i in chosen], truths, paths, self.steps
            )
        return reconstructions

    def _imagine(self, view: AttackerView, rng: np.random.Generator) -> Codes:
        """Draw tables as likely as the real one, for all the attacker knows: (worlds, n, d′)."""
        worlds = self.worlds or ceil(SIMULATED_RECORDS / max(view.n, 100))
        return draw_targets(view.prior, view.known, view.targets, worlds, rng)


def best_starts(paths: Paths, several: bool = True) -> tuple[list[Floats], Floats]:
    """Pick the columns, (views, tables, n, V), of the start of smallest loss, and that loss.

    Where there are not several starts nothing needs comparing, and no loss is returned.
    """
    columns = paths.relaxed()
    if not several:
        return [column[:, :, 0] for column in columns], np.empty(0)
    losses = paths.losses()
    best = losses.argmin(axis=2)[:, :, None]
    picked = [
        np.take_along_axis(column, best[..., None, None], axis=2)[:, :, 0] for column in columns
    ]
    return picked, np.take_along_axis(losses, best, axis=2)[:, :, 0]


def stop_where_best(
    views: Sequence[AttackerView], truths: Codes, paths: Paths, steps: int
) -> list[Reconstruction]:
    """Stop each view where the attack does best on its simulated tables, (views, worlds, n, d′).

    It starts from the success of the prior's own best guess, looks at step counts in geometric
    progression, and gives up once ``PATIENCE`` looks in a row, a factor of about four in steps,
    brought nothing better.
    """
    metric = views[0].metric
    starts = [metric.best_guess(view.prior, view.known, view.targets) for view in views]
    domain = views[0].target_domain

    def count_successes(true: Codes, guess: Codes) -> Codes:
        """Count the successes of every view on all its simulated tables together."""
        width = len(domain)
        whole = Table(domain, true.reshape(-1, width)), Table(domain, guess.reshape(-1, width))
        return np.asarray(metric.score(*whole).reshape(len(true), -1).sum(axis=1))

    guesses: list[Codes] = [np.asarray(guess.codes, dtype=np.int64) for guess, _ in starts]
    scores: list[Floats] = [success for _, success in starts]
    first = np.stack(guesses)[:, None]
    best = count_successes(truths, np.broadcast_to(first, truths.shape))
    best_step, tried = np.zeros(len(views), dtype=int), np.zeros(len(views), dtype=int)
    losses = paths.losses(tables=1)[:, 0].min(axis=1)
    since = np.zeros(len(views), dtype=int)
    active = np.arange(len(views))
    several = paths.relaxed()[0].shape[2] > 1
    looks = {steps, *(round(1.2**j) for j in range(200) if 1.2**j < steps)}
    for step in range(1, steps + 1):
        paths.step()
        if step in looks:
            columns, current = best_starts(paths, several)
            guessed = metric.decide([column[:, 1:] for column in columns])
            successes = count_successes(truths[active], guessed)
            better = successes > best[active]
            since[active] = np.where(better, 0, since[active] + 1)
            if better.any() and not several:
                current = paths.losses(tables=1)[:, :, 0]
            for row in np.flatnonzero(better):
                i = active[row]
                relaxed = [column[row, 0] for column in columns]
                guesses[i], scores[i] = metric.decide(relaxed), _confidence(relaxed)
                best[i], best_step[i], losses[i] = successes[row], step, current[row, 0]
        elif step != SHORTEST:
            continue
        tried[active] = step
        if step < SHORTEST:
            continue
        going = np.flatnonzero(since[active] < PATIENCE)
        if len(going) == 0:
            break
        if len(going) < len(active):
            paths.keep(going.tolist())
            active = active[going]
    return [
        view.reconstruction(
            guess,
            score,
            {"steps": float(at), "steps_tried": float(last), "loss": float(loss)},
        )
        for view, guess, score, at, last, loss in zip(
            views, guesses, scores, best_step, tried, losses, strict=True
        )
    ]


def _confidence(columns: Sequence[Floats]) -> Floats:
    """Multiply the largest weight of every column."""
    weights: Floats = np.prod([column.max(axis=1) for column in columns], axis=0, dtype=np.float64)
    return weights


def weigh_by_noise(noise_sd: float, entropy: bool) -> Objective:
    """Weigh the squared error against the prior as the noise does; without noise, error alone."""
    if noise_sd == 0:
        return Objective()
    return Objective(1 / (2 * noise_sd**2), 1.0, 1.0 if entropy else 0.0)


def check_descent_options(name: str, steps: int, learning_rate: float) -> None:
    if steps < 1:
        raise AttackError(f"{name}: steps must be at least 1, got {steps}")
    if not 0 < learning_rate < float("inf"):
        raise AttackError(f"{name}: learning_rate must be positive, got {learning_rate}")


def check_views(
    name: str, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
) -> float:
    """Check that views attacked together are repetitions of one game; return their noise sd."""
    if len(views) != len(rngs):
        raise AttackError(
            f"{name} needs one generator per view, got {len(views)} views and {len(rngs)} "
            "generators"
        )
    if not views:
        raise AttackError(f"{name}: at least one view is needed, got none")
    for view in views:
        reason = skip_unless_marginals(name, view)
        if reason is not None:
            raise AttackError(reason)
    noises = {require_marginals(view.release).noise_sd for view in views}
    games = {(view.n, view.targets, view.metric.name, view.known.domain.names) for view in views}
    if len(games) * len(noises) > 1:
        raise AttackError(
            f"{name}: views attacked together must be repetitions of one game, got "
            f"{len(games) * len(noises)} different ones; attack each game by itself"
        )
    return noises.pop()
