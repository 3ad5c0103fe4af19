"""The Bayes-optimal attack of the informed adversary on noisy counts of sets of columns.

Whoever knows every other record in full subtracts them from the release; what is left of each set
is one count, in the target's own cell, and the noise. With residual r_S in the cell of the target's
known values and guessed hidden values u, and noise of standard deviation s_S,

    log P(u | release) = log π(u) + Σ_S (r_S(u_S) − ½)/s_S² + const,

so the posterior over the joint values of the hidden columns is known exactly, and the guess that
the metric likes best under it is the best possible one. The −½ do not depend on u and drop out. Of
sets without noise, the values that fit them are the only possible ones.

The sum is taken by hidden part U: the answers of all sets that hold just U of the hidden columns
are one array over the values of U, from which another record takes 1/s_S² at its own values for
every such set on whose known columns it agrees with the target. Time a record: one array for each
of the T sets, n T for the others, and Π_c V_c for each part, for hidden columns of V_c values.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import (
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    log_chances,
)
from reconbench.attacks.candidates.cells import ReleasedCells
from reconbench.attacks.marginals.measured import (
    CHOICE_NOT_COUNTED,
    find_width,
    read_measurements,
    why_not_measured,
)
from reconbench.datasets import Table
from reconbench.mechanisms.measurements import Measurements

Floats = npt.NDArray[np.float64]

JOINT_LIMIT = 1 << 20


class Informed:
    """The exact posterior of one record when all others are known.

    Scores are the posterior chance that the guess succeeds under the metric, and so is the
    expectation in ``best_possible``: no attack that sees the same view has a larger one.
    """

    name: ClassVar[str] = "informed"

    def skip(self, view: AttackerView) -> str | None:
        if view.others is None:
            return "informed plays the informed adversary only"
        hidden = why_not_measured(self.name, view)
        if hidden is not None:
            return hidden
        joint = prod(view.target_domain.sizes)
        if joint > JOINT_LIMIT:
            return (
                f"informed lists the joint values of the hidden columns: {joint:,}, more than "
                f"{JOINT_LIMIT:,}; hide fewer columns"
            )
        return None

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        reason = self.skip(view)
        if reason is not None or view.others is None:
            raise AttackError(reason or "informed plays the informed adversary only")
        measured = read_measurements(view)
        flat = informed_posterior(view, measured, view.others).ravel()
        values = Table.of_all_values(view.target_domain)
        guess = view.metric.decide_joint(values.domain, values.codes, flat)
        repeated = Table(values.domain, np.broadcast_to(guess, values.codes.shape))
        success = min(float(flat @ view.metric.score(values, repeated)), 1.0)
        if measured.adaptive:
            return view.reconstruction(guess[None], [success], CHOICE_NOT_COUNTED)
        return view.reconstruction(guess[None], [success], best_possible=BestPossible(success))


def informed_posterior(view: AttackerView, measured: Measurements, others: Table) -> Floats:
    """Compute P(joint values | counts, all other records) of one record, an axis per target.

    ``measured`` are the sets that hold a hidden column.
    """
    noise_sds = np.array(measured.noise_sds)
    exact = noise_sds == 0
    logits = log_chances(view.prior.conditional(view.known, view.targets)[0])
    if exact.any():
        # A value that fits leaves a count of 1 in every cell of these sets; other counts are 0.
        fits = _add_residuals(view, measured, others, exact.astype(np.float64))
        most = fits[np.isfinite(logits)].max()
        logits = np.where(fits > most - 0.5, logits, -np.inf)
    if not exact.all():
        weights = np.where(exact, 0.0, 1 / np.where(exact, 1.0, noise_sds) ** 2)
        logits = logits + _add_residuals(view, measured, others, weights)
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum())


def _add_residuals(
    view: AttackerView, measured: Measurements, others: Table, weights: Floats
) -> Floats:
    """Compute Σ_S w_S r_S(u_S) for all joint values u, one axis per target."""
    domain, sizes = measured.domain, measured.domain.sizes
    order = domain.positions(view.targets)
    hidden = tuple(sorted(order))
    names = view.known.domain.names
    codes = dict(zip(domain.positions(names), view.known.codes[0], strict=True))
    where = [int(codes[i]) if i in codes else slice(None) for i in range(len(domain))]
    parts: dict[tuple[int, ...], list[int]] = {}
    for index, columns in enumerate(measured.sets):
        parts.setdefault(tuple([i for i in columns if i in hidden]), []).append(index)
    taken = _weigh_agreements(view, measured, others, weights, parts)
    full = others.project(domain.names).codes
    total = np.zeros([sizes[i] for i in hidden])
    for part, sets in parts.items():
        shape = [sizes[i] for i in part]
        residual = np.zeros(shape)
        for s in sets:
            cell = tuple([where[i] for i in measured.sets[s]])
            residual += weights[s] * measured.answers[s][cell]
        values = np.ravel_multi_index([full[:, i] for i in part], shape)
        residual -= np.bincount(values, taken[part], prod(shape)).reshape(shape)
        total += residual.reshape([sizes[i] if i in part else 1 for i in hidden])
    return total.transpose([hidden.index(i) for i in order])


def _weigh_agreements(
    view: AttackerView,
    measured: Measurements,
    others: Table,
    weights: Floats,
    parts: Mapping[tuple[int, ...], list[int]],
) -> dict[tuple[int, ...], Floats]:
    """What the sets of each hidden part weigh together in which others agree with the target in
    all known columns: (n,) each."""
    domain, names = measured.domain, view.known.domain.names
    known = others.project(names)
    k = find_width(measured, view.targets)
    if k is not None:
        visible = [i for i, name in enumerate(names) if name in domain]
        agreements = (known.codes[:, visible] == view.known.codes[0, visible]).sum(axis=1)
        ways = np.array(
            [[comb(a, k - len(part)) for a in range(len(visible) + 1)] for part in parts]
        )
        return {part: weights[0] * own[agreements] for part, own in zip(parts, ways, strict=True)}
    cells = ReleasedCells.of(measured)
    mine, _ = cells.locate_known(domain, view.known, view.targets)
    theirs, _ = cells.locate_known(domain, known, view.targets)
    agree = (theirs == mine) * weights
    return {part: agree[:, sets].sum(axis=1) for part, sets in parts.items()}
