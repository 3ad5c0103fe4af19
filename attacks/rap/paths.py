"""The descents of `descent`, on tensors of torch: Adam on the logits of relaxed hidden columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt
import torch

from reconbench.attacks.rap.descent import Gram, Objective, Problem
from reconbench.attacks.rap.marginal_fit import MarginalFit, marginal_fit
from reconbench.datasets import Table

Floats = npt.NDArray[np.float64]

SMALLEST_WEIGHT = 1e-300
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
PAD = 16


class GramPaths:
    """One hidden column: Adam on tensors of shape (views, V, tables, starts, records).

    In single precision. A view's path is the same to the last bit whatever it is batched with:
    every operation is either elementwise over whole vector registers (records are padded to PAD) or
    a matrix product of one view.

    Up to constants the objective is ½ ⟨P, A P⟩ − ⟨P, C⟩ + b ⟨P, log P⟩ with A = 2wG and
    C = 2wB + a log π. The slope of b ⟨P, log P⟩ is b · logits up to a constant in each record,
    which the softmax takes out.
    """

    def __init__(
        self, problems: Sequence[Problem], objective: Objective, learning_rate: float
    ) -> None:
        self._problems = list(problems)
        self._objective = objective
        self._learning_rate = learning_rate
        self._steps = 0
        starts, self._n, values = problems[0].starts[0].shape
        padded = -(-self._n // PAD) * PAD
        tables = len(self._grams()[0].gathered)
        views = len(problems)
        self._matrices = torch.zeros(views, padded, padded)
        self._linear = torch.zeros(views, values, tables, 1, padded)
        self._logits = torch.zeros(views, values, tables, starts, padded)
        for i, (problem, gram) in enumerate(zip(problems, self._grams(), strict=True)):
            matrix = 2 * objective.error * gram.matrix
            linear = 2 * objective.error * gram.gathered + objective.prior * problem.log_priors[0]
            self._matrices[i, : self._n, : self._n] = torch.from_numpy(matrix)
            self._linear[i, :, :, 0, : self._n] = torch.from_numpy(linear.transpose(2, 0, 1))
            start = problem.starts[0].transpose(2, 0, 1)[:, None]
            self._logits[i, ..., : self._n] = torch.from_numpy(start)
        self._first = torch.zeros_like(self._logits)
        self._second = torch.zeros_like(self._logits)
        self._allocate()

    def step(self) -> None:
        self._steps += 1
        relaxed, slope, work, row = self._relax(), self._slope, self._work, self._row
        for matrix, mine, out in self._products:
            torch.mm(mine, matrix, out=out)
        slope.sub_(self._linear)
        if self._objective.entropy:
            slope.add_(self._logits, alpha=self._objective.entropy)
        # derivative through the softmax: P ∘ (s − ⟨P, s⟩)
        torch.mul(relaxed, slope, out=work)
        slope.sub_(torch.sum(work, dim=1, keepdim=True, out=row)).mul_(relaxed)
        self._first.lerp_(slope, 1 - BETA1)
        self._second.mul_(BETA2).addcmul_(slope, slope, value=1 - BETA2)
        # m / (1 − β1ᵗ) over √(v / (1 − β2ᵗ)) + ε
        spread = sqrt(1 - BETA2**self._steps)
        rate = self._learning_rate * spread / (1 - BETA1**self._steps)
        torch.sqrt(self._second, out=work).add_(EPSILON * spread)
        self._logits.addcdiv_(self._first, work, value=-rate)

    def relaxed(self) -> list[Floats]:
        whole = self._relax()[..., : self._n]
        return [whole.permute(0, 2, 3, 4, 1).contiguous().double().numpy()]

    def losses(self, tables: int | None = None) -> Floats:
        whole = self._relax()[:, :, :tables, :, : self._n].double().permute(0, 2, 3, 4, 1)
        losses = []
        for problem, gram, relaxed in zip(self._problems, self._grams(), whole, strict=True):
            pulled = torch.from_numpy(gram.matrix) @ relaxed
            gathered = torch.from_numpy(gram.gathered[:tables, None])
            error = (relaxed * (pulled - 2 * gathered)).sum(dim=(2, 3)) + gram.constant
            loss = self._objective.error * error
            for height in heights(self._objective, [relaxed], problem.log_priors):
                loss += (relaxed * height).sum(dim=(2, 3))
            losses.append(loss.numpy())
        return np.stack(losses)

    def keep(self, views: Sequence[int]) -> None:
        self._problems = [self._problems[i] for i in views]
        chosen = torch.tensor(views)
        self._matrices, self._linear = self._matrices[chosen], self._linear[chosen]
        self._logits, self._first = self._logits[chosen], self._first[chosen]
        self._second = self._second[chosen]
        self._allocate()

    def _relax(self) -> torch.Tensor:
        top = torch.amax(self._logits, dim=1, keepdim=True, out=self._row)
        relaxed = torch.sub(self._logits, top, out=self._relaxed).exp_()
        return relaxed.div_(torch.sum(relaxed, dim=1, keepdim=True, out=self._row))

    def _allocate(self) -> None:
        logits = self._logits
        self._relaxed = torch.empty_like(logits)
        self._slope = torch.empty_like(logits)
        self._work = torch.empty_like(logits)
        self._row = torch.empty_like(logits[:, :1])
        rows = (len(logits), -1, logits.shape[-1])
        self._products = list(
            zip(self._matrices, self._relaxed.view(rows), self._slope.view(rows), strict=True)
        )

    def _grams(self) -> list[Gram]:
        return [p.tables for p in self._problems if isinstance(p.tables, Gram)]


def heights(
    objective: Objective, columns: Sequence[torch.Tensor], log_priors: Sequence[Floats]
) -> list[torch.Tensor]:
    """b log P − a log π: its mean under P is what an objective adds to the squared error."""
    return [
        objective.entropy * column.clamp_min(SMALLEST_WEIGHT).log()
        - objective.prior * torch.from_numpy(log_prior)
        for column, log_prior in zip(columns, log_priors, strict=True)
    ]


@dataclass(frozen=True)
class Penalised:
    """A squared error with an objective's other terms."""

    fit: MarginalFit
    objective: Objective
    log_priors: tuple[Floats, ...]

    @property
    def counts(self) -> torch.Tensor:
        return self.fit.counts

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        error, slopes = self.fit.loss_and_gradient(columns)
        loss = self.objective.error * error
        added = heights(self.objective, columns, self.log_priors)
        gradients = []
        for column, slope, height in zip(columns, slopes, added, strict=True):
            loss = loss + (column * height).sum(dim=2) @ self.counts
            # d/dp of p (b log p − a log π) is b log p − a log π + b
            gradients.append(self.objective.error * slope + height + self.objective.entropy)
        return loss, gradients


class FormPaths:
    """One view, any number of hidden columns and records, in double precision.

    Records that are known to be alike start alike, from the conditional prior, have the same slope
    and so stay alike: with that start alone they are descended once. Random starts tell them apart.
    """

    def __init__(self, problem: Problem, objective: Objective, learning_rate: float) -> None:
        if isinstance(problem.tables, Gram):
            raise TypeError("a problem in Gram form is for GramPaths")
        starts = len(problem.starts[0])
        self._shape = (1, len(problem.tables), starts)
        known, n = problem.known, len(problem.known)
        first = self._row = np.arange(n)
        if starts == 1:
            _, first, row = np.unique(known.codes, axis=0, return_index=True, return_inverse=True)
            self._row = row.reshape(-1)
        counts = np.bincount(self._row).astype(np.float64)
        releases = [table for table in problem.tables for _ in range(starts)]
        fit = marginal_fit(
            releases, Table(known.domain, known.codes[first]), problem.targets, counts
        )
        plain = objective == Objective()
        log_priors = tuple(log_prior[first] for log_prior in problem.log_priors)
        self._fit = fit if plain else Penalised(fit, objective, log_priors)
        logits = [
            torch.from_numpy(start[:, first]).repeat(len(problem.tables), 1, 1)
            for start in problem.starts
        ]
        self._descent = Descent(logits, learning_rate)

    def step(self) -> None:
        self._descent.step(self._fit)

    def relaxed(self) -> list[Floats]:
        return [
            column[:, self._row].reshape(*self._shape, len(self._row), -1).numpy()
            for column in self._descent.relaxed()
        ]

    def losses(self, tables: int | None = None) -> Floats:
        loss, _ = self._fit.loss_and_gradient(self._descent.relaxed())
        return loss.numpy().reshape(self._shape)[:, :tables]

    def keep(self, views: Sequence[int]) -> None:
        """There is one view."""


class Descent:
    """Adam (Kingma and Ba 2015) on the logits of every world at once; worlds do not mix.

    Written out: `torch.optim` takes a second to import and twice as long a step on small tables.
    """

    def __init__(self, logits: Sequence[torch.Tensor], learning_rate: float) -> None:
        """Each column's logits, (worlds, n, V), are moved in place."""
        self._logits = list(logits)
        self._first = [torch.zeros_like(column) for column in logits]
        self._second = [torch.zeros_like(column) for column in logits]
        self._learning_rate = learning_rate
        self._steps = 0

    def relaxed(self) -> list[torch.Tensor]:
        return [logits.softmax(dim=-1) for logits in self._logits]

    def step(self, fit: MarginalFit) -> torch.Tensor:
        """One step; returns the loss before it."""
        columns = self.relaxed()
        loss, slopes = fit.loss_and_gradient(columns)
        self._steps += 1
        rate = self._learning_rate / (1 - BETA1**self._steps)
        spread = sqrt(1 - BETA2**self._steps)
        for i, (column, slope) in enumerate(zip(columns, slopes, strict=True)):
            # derivative through the softmax: P ∘ (s − ⟨P, s⟩)
            gradient = column * (slope - (column * slope).sum(dim=-1, keepdim=True))
            first = self._first[i].lerp_(gradient, 1 - BETA1)
            second = self._second[i].mul_(BETA2)
            second.addcmul_(gradient, gradient, value=1 - BETA2)
            scale = second.sqrt().div_(spread).add_(EPSILON)
            self._logits[i].addcdiv_(first, scale, value=-rate)
        return loss
