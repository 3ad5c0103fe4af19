"""The descent that a view asks for: its own table, simulated ones, and where they start."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError, AttackerView
from reconbench.attacks.candidates.solution import ExactTables
from reconbench.attacks.marginals.release_parts import ReleaseParts, shared_parts
from reconbench.attacks.rap.descent import Gram, Problem, has_gram_form, log_prior
from reconbench.datasets import Table
from reconbench.mechanisms import ExactMarginals, GaussianMarginals, MarginalsRelease, Release
from reconbench.missing_package import needed_by

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Standard deviation of the noise on the logits of every start but the first.
START_SPREAD = 1.0


def build_problem(
    view: AttackerView,
    rng: np.random.Generator,
    restarts: int,
    truths: Codes | None = None,
    start_spread: float = START_SPREAD,
    tables: ExactTables | None = None,
) -> Problem:
    """Build the descent of a view: the real table, simulated ones, and the starts.

    ``truths``, (worlds, n, d′), are the hidden cells of the simulated tables. Draws from the view's
    own generator: first what simulated releases need, then the starts. These are spread around the
    prior, or around what ``tables`` leave possible.
    """
    log_priors = tuple(
        log_prior(view.prior.conditional(view.known, [target])) for target in view.targets
    )
    release = require_marginals(view.release)
    played = (
        _build_gram(view, release, truths, rng)
        if has_gram_form(view.n, len(view.targets))
        else (release, *_simulate(view, truths, rng))
    )
    centres = log_priors if tables is None else _find_centres(view, tables)
    starts = tuple(
        np.concatenate(
            [
                centre[None],
                centre + start_spread * rng.standard_normal((restarts - 1, *centre.shape)),
            ]
        )
        for centre in centres
    )
    return Problem(view.known, view.targets, log_priors, starts, played)


def _find_centres(view: AttackerView, tables: ExactTables) -> tuple[Floats, ...]:
    """Logits of each hidden column, (n, V): shares of the counts that a known row has for certain,
    and of the rest by the prior among the values that are still possible."""
    listed = tables.candidates
    free = np.where(tables.high > tables.low, np.exp(listed.log_prior), 0.0)
    total = np.bincount(listed.owners, free)
    rest = listed.sizes - np.bincount(listed.owners, tables.low)
    counts = tables.low + free * (rest / np.where(total > 0, total, 1.0))[listed.owners]
    centres = []
    for column, size in enumerate(view.target_domain.sizes):
        shares = np.zeros((len(listed.sizes), size))
        np.add.at(shares, (listed.owners, listed.codes[:, column]), counts)
        centres.append(log_prior(shares / listed.sizes[:, None])[listed.group])
    return tuple(centres)


def _build_gram(
    view: AttackerView, release: MarginalsRelease, truths: Codes | None, rng: np.random.Generator
) -> Gram:
    """Bring the squared errors into Gram form.

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
        means = matrix @ np.eye(size)[truths[:, :, 0]]
        draws = rng.standard_normal((len(truths), view.n, size))
        simulated = _add_noise(means, matrix, release.noise_sd, draws)
    else:
        played = ReleaseParts(_simulate(view, truths, rng), view.known, view.targets)
        simulated = np.broadcast_to(played.gathered((hidden,)), (len(truths), view.n, size))
    return Gram(matrix, np.concatenate([real, simulated]), constant)


def _add_noise(means: Floats, matrix: Floats, noise_sd: float, draws: Floats) -> Floats:
    """Turn standard normal draws into noise of covariance noise_sd² times a matrix.

    Its diagonal is raised by a part in 1e8: it may be singular.
    """
    with needed_by("descent on marginals", "torch"):
        import torch

    shared = torch.from_numpy(matrix)
    raised = shared + torch.diag(1e-8 * shared.diagonal() + 1e-300)
    noise = torch.linalg.cholesky(raised) @ torch.from_numpy(draws)
    noisy: Floats = (torch.from_numpy(means) + noise_sd * noise).numpy()
    return noisy


def _simulate(
    view: AttackerView, truths: Codes | None, rng: np.random.Generator
) -> tuple[MarginalsRelease, ...]:
    """Release imagined tables, with the given hidden cells, by the real mechanism."""
    releases = []
    for hidden in () if truths is None else truths:
        table = view.known.join(Table(view.target_domain, hidden))
        release = view.mechanism.release(table.project(view.release.domain.names), rng)
        releases.append(require_marginals(release))
    return tuple(releases)


def require_marginals(release: Release) -> MarginalsRelease:
    """Refuse a release that is not of marginals."""
    if not isinstance(release, MarginalsRelease):
        raise AttackError("rap attacks marginals only")
    return release
