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
from math import ceil
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch

from reconbench.attacks.base import AttackError, AttackerView, Reconstruction
from reconbench.attacks.marginals.release_parts import ReleaseParts, shared_parts
from reconbench.attacks.rap.descent import (
    Gram,
    Objective,
    Paths,
    Problem,
    batches,
    in_gram_form,
    log_prior,
)
from reconbench.datasets import Table, draw_targets
from reconbench.mechanisms import ExactMarginals, GaussianMarginals, MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SIMULATED_RECORDS = 1_600
PATIENCE = 8
SHORTEST = 20
# Standard deviation of the noise on the logits of every start but the first.
START_SPREAD = 1.0


class Rap:
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
        check_options(self.name, steps, learning_rate, restarts)
        if stopping not in ("simulated", "steps"):
            raise AttackError(f"rap: stopping must be 'simulated' or 'steps', got {stopping!r}")
        if worlds is not None and worlds < 1:
            raise AttackError(f"rap: worlds must be at least 1, got {worlds}")
        self.steps = steps
        self.learning_rate = learning_rate
        self.simulate = stopping == "simulated"
        self.worlds = worlds
        self.restarts = restarts

    def skip(self, view: AttackerView) -> str | None:
        return cannot_attack(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        return self.reconstruct_many([view], [rng])[0]

    def reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        """Repetitions of one game at once; each result is what `reconstruct` returns alone."""
        check_views(self.name, views, rngs)
        if not self.simulate:
            return descend(views, rngs, Objective(), self.steps, self.learning_rate, self.restarts)
        imagined = [self._imagine(view, rng) for view, rng in zip(views, rngs, strict=True)]
        problems = [
            problem_of(view, rng, self.restarts, truths)
            for view, rng, truths in zip(views, rngs, imagined, strict=True)
        ]
        found: list[Reconstruction] = []
        for chosen, paths in batches(problems, Objective(), self.learning_rate):
            some = [views[i] for i in chosen]
            truths = np.stack([imagined[i] for i in chosen])
            found += stop_where_best(some, truths, paths, self.steps)
        return found

    def _imagine(self, view: AttackerView, rng: np.random.Generator) -> Codes:
        """Tables as likely as the real one, for all the attacker knows: (worlds, n, d′)."""
        worlds = self.worlds or ceil(SIMULATED_RECORDS / max(view.n, 100))
        return draw_targets(view.prior, view.known, view.targets, worlds, rng)


def descend(
    views: Sequence[AttackerView],
    rngs: Sequence[np.random.Generator],
    objective: Objective,
    steps: int,
    learning_rate: float,
    restarts: int,
) -> list[Reconstruction]:
    """A fixed number of steps on every view; of its starts the one of smallest loss wins."""
    problems = [problem_of(view, rng, restarts) for view, rng in zip(views, rngs, strict=True)]
    found: list[Reconstruction] = []
    for chosen, paths in batches(problems, objective, learning_rate):
        for _ in range(steps):
            paths.step()
        columns, losses = best_starts(paths)
        for row, i in enumerate(chosen):
            mine = [column[row, 0] for column in columns]
            info = {"steps": steps, "loss": float(losses[row, 0])}
            guess = views[i].metric.decide(mine)
            found.append(views[i].reconstruction(guess, _sureness(mine), info))
    return found


def best_starts(paths: Paths, several: bool = True) -> tuple[list[Floats], Floats]:
    """The columns, (views, tables, n, V), of the start of smallest loss, and that loss.

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

    def right(true: Codes, guess: Codes) -> Codes:
        """Successes of every view on all its simulated tables together."""
        width = len(domain)
        whole = Table(domain, true.reshape(-1, width)), Table(domain, guess.reshape(-1, width))
        return np.asarray(metric.score(*whole).reshape(len(true), -1).sum(axis=1))

    guesses: list[Codes] = [np.asarray(guess.codes, dtype=np.int64) for guess, _ in starts]
    scores: list[Floats] = [success for _, success in starts]
    first = np.stack(guesses)[:, None]
    best = right(truths, np.broadcast_to(first, truths.shape))
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
            found = right(truths[active], metric.decide([column[:, 1:] for column in columns]))
            better = found > best[active]
            since[active] = np.where(better, 0, since[active] + 1)
            if better.any() and not several:
                current = paths.losses(tables=1)[:, :, 0]
            for row in np.flatnonzero(better):
                i = active[row]
                mine = [column[row, 0] for column in columns]
                guesses[i], scores[i] = metric.decide(mine), _sureness(mine)
                best[i], best_step[i], losses[i] = found[row], step, current[row, 0]
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


def _sureness(columns: Sequence[Floats]) -> Floats:
    """The product over columns of the largest weight."""
    weights: Floats = np.prod([column.max(axis=1) for column in columns], axis=0, dtype=np.float64)
    return weights


def problem_of(
    view: AttackerView,
    rng: np.random.Generator,
    restarts: int,
    truths: Codes | None = None,
    start_spread: float = START_SPREAD,
) -> Problem:
    """The real table, simulated ones with the given hidden cells, (worlds, n, d′), and the starts.

    Draws from the view's own generator: first what simulated releases need, then the starts.
    """
    log_priors = tuple(
        log_prior(view.prior.conditional(view.known, [target])) for target in view.targets
    )
    release = _release(view)
    tables = (
        _gram(view, release, truths, rng)
        if in_gram_form(view.n, len(view.targets))
        else (release, *_simulated(view, truths, rng))
    )
    starts = tuple(
        np.concatenate(
            [each[None], each + start_spread * rng.standard_normal((restarts - 1, *each.shape))]
        )
        for each in log_priors
    )
    return Problem(view.known, view.targets, log_priors, starts, tables)


def _gram(
    view: AttackerView, release: MarginalsRelease, truths: Codes | None, rng: np.random.Generator
) -> Gram:
    """The squared errors in Gram form.

    Simulated tables need no marginals where the noise is Gaussian. B_iv = Σ_K answer_K[x_iK, v]
    adds up one noisy cell for each known part K, and records i and j share G_ij of these cells. So
    for true hidden values with indicators X, B is Gaussian with mean G X and covariance
    noise_sd² G between records, independent between values v.
    """
    parts = ReleaseParts([release], view.known, view.targets)
    matrix = shared_parts(view.known, parts.k - 1)
    (hidden,) = parts.order
    (size,) = view.target_domain.sizes
    real = np.zeros((1, view.n, size)) + parts.gathered((hidden,))
    constant = float(parts.sums_of_squares()[0])
    if truths is None:
        return Gram(matrix, real, constant)
    if type(view.mechanism) in (GaussianMarginals, ExactMarginals):
        means = torch.from_numpy(matrix @ np.eye(size)[truths[:, :, 0]])
        draws = torch.from_numpy(rng.standard_normal((len(truths), view.n, size)))
        noise = _root(torch.from_numpy(matrix)) @ draws
        simulated = (means + release.noise_sd * noise).numpy()
    else:
        played = ReleaseParts(_simulated(view, truths, rng), view.known, view.targets)
        simulated = np.broadcast_to(played.gathered((hidden,)), (len(truths), view.n, size))
    return Gram(matrix, np.concatenate([real, simulated]), constant)


def _root(matrix: torch.Tensor) -> torch.Tensor:
    """L with L Lᵀ = the matrix; it may be singular, so its diagonal is raised by a part in 1e8."""
    raised = matrix + torch.diag(1e-8 * matrix.diagonal() + 1e-300)
    root: torch.Tensor = torch.linalg.cholesky(raised)
    return root


def _simulated(
    view: AttackerView, truths: Codes | None, rng: np.random.Generator
) -> tuple[MarginalsRelease, ...]:
    hidden = view.target_domain
    return tuple(
        _play(view, Table(hidden, each), rng) for each in (() if truths is None else truths)
    )


def _play(view: AttackerView, hidden: Table, rng: np.random.Generator) -> MarginalsRelease:
    """A release of an imagined table by the real mechanism."""
    table = view.known.join(hidden).project(view.release.domain.names)
    release = view.mechanism.release(table, rng)
    if not isinstance(release, MarginalsRelease):
        raise AttackError("rap attacks marginals only")
    return release


def _release(view: AttackerView) -> MarginalsRelease:
    if not isinstance(view.release, MarginalsRelease):
        raise AttackError("rap attacks marginals only")
    return view.release


def cannot_attack(name: str, view: AttackerView) -> str | None:
    """Why a relaxation of all records at once does not fit the view, if so."""
    if view.others is not None:
        return f"{name} plays the realistic adversary only"
    if not isinstance(view.release, MarginalsRelease):
        return f"{name} attacks marginals only"
    return None


def check_options(name: str, steps: int, learning_rate: float, restarts: int) -> None:
    if steps < 1:
        raise AttackError(f"{name}: steps must be at least 1, got {steps}")
    if not 0 < learning_rate < float("inf"):
        raise AttackError(f"{name}: learning_rate must be positive, got {learning_rate}")
    if restarts < 1:
        raise AttackError(f"{name}: restarts must be at least 1, got {restarts}")


def check_views(
    name: str, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
) -> set[float]:
    """Views attacked together must be repetitions of one game; returns the one noise they have."""
    if len(views) != len(rngs):
        raise AttackError(
            f"{name}: one generator a view is needed, got {len(views)} views and {len(rngs)} "
            "generators"
        )
    if not views:
        raise AttackError(f"{name}: at least one view is needed, got none")
    for view in views:
        reason = cannot_attack(name, view)
        if reason is not None:
            raise AttackError(reason)
    noises = {_release(view).noise_sd for view in views}
    games = {(view.n, view.targets, view.metric.name, view.known.domain.names) for view in views}
    if len(games) * len(noises) > 1:
        raise AttackError(
            f"{name}: views attacked together must be repetitions of one game, got "
            f"{len(games) * len(noises)} different ones; attack each game by itself"
        )
    return noises
