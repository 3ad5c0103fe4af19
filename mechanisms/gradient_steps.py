"""One step of DP-SGD on single records, of a network that begins with a linear layer.

The attacker of Riess 2026 designs the network and sees the noisy gradient of its first layer: row j
shows s_j X + noise and its bias s_j + noise, with the scale s_j = β ∂loss/∂f_j and the clipping
factor β = min(1, C/‖G‖) of the record X. Each record of a table has a step of its own, or shares
one with the next ``batch − 1`` records, whose clipped gradients are summed. ``steps`` repeats the
step with the same weights.

Noise has sd σC on every coordinate. Adding or removing a record moves the sum by at most C,
replacing one by at most 2C: a budget, which is for replace-one here, sets σ = 2√steps/μ. The
guarantee is tighter where the network is linear: one-hot records are all of one norm and never
point in opposite directions, so that replacing one moves the sum by at most √2 C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isinf, sqrt
from typing import ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import GaussianDP, Relation
from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError, gaussian_guarantee
from reconbench.missing_package import needed_by

Floats = npt.NDArray[np.float64]

# Numbers of one release: 2 GiB.
MOST_NUMBERS = 1 << 28


# bool is an int, and options may be of any type.
def _at_least_one(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MechanismError(f"{name} must be an integer >= 1, got {value!r}")


def _finite(name: str, value: float, least: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not number or value < 0 or (value == 0 and least == ">"):
        raise MechanismError(f"{name} must be {least} 0 and finite, got {value!r}")


@dataclass(frozen=True, eq=False)
class Backward:
    """Of every record: ∂loss/∂f_j of each row of the first layer, and the whole gradient's norm."""

    slopes: Floats
    norms: Floats

    def scales(self, clip: float) -> Floats:
        """s_j = ∂loss/∂f_j · min(1, C/‖G‖)."""
        return self.slopes / np.maximum(1.0, self.norms / clip)[:, None]


class GradientNetwork(Protocol):
    """A network f(X) = WX + b with a loss after it; ``bias`` says whether b is there."""

    name: ClassVar[str]

    @property
    def rows(self) -> int: ...

    @property
    def bias(self) -> bool: ...

    @property
    def blind(self) -> bool:
        """Whether a record's slopes, and its norm but for ‖X‖, are the same for all records."""
        ...

    def backward(self, vectors: Floats) -> Backward:
        """The backward pass of every record on its own."""
        ...


@dataclass(frozen=True)
class OptimalNetwork:
    """Nothing but the layer and the loss 1ᵀ f(X) (Riess 2026, Theorem IV.1, which has no bias).

    All slopes are 1, and ‖G‖² = M‖X‖², or M(‖X‖² + 1) with a bias.
    """

    name: ClassVar[str] = "optimal"
    blind: ClassVar[bool] = True

    rows: int = 1
    bias: bool = False

    def __post_init__(self) -> None:
        _at_least_one("rows", self.rows)

    def backward(self, vectors: Floats) -> Backward:
        squares = np.einsum("ij,ij->i", vectors, vectors) + self.bias
        return Backward(np.ones((len(vectors), self.rows)), np.sqrt(self.rows * squares))


@dataclass(frozen=True)
class IdleNetwork:
    """The optimal network beside a linear layer of ``idle`` parameters that X does not reach.

    The idle layer reads a constant: its gradient is ``idle_gradient`` in every parameter, whatever
    the record, so it adds to the norm that is clipped and tells nothing (Corollary IV.2). Its own
    noisy gradient is not drawn: no attacker has a use for it.
    """

    name: ClassVar[str] = "idle"
    blind: ClassVar[bool] = True

    rows: int = 1
    bias: bool = False
    idle: int = 1_000_000
    idle_gradient: float = 1e-4

    def __post_init__(self) -> None:
        _at_least_one("rows", self.rows)
        _at_least_one("idle", self.idle)
        if not isfinite(self.idle_gradient):
            raise MechanismError(f"idle_gradient must be finite, got {self.idle_gradient!r}")

    def backward(self, vectors: Floats) -> Backward:
        own = OptimalNetwork(self.rows, self.bias).backward(vectors)
        return Backward(own.slopes, np.hypot(own.norms, sqrt(self.idle) * self.idle_gradient))


@dataclass(frozen=True)
class DeepNetwork:
    """The layer in front of residual blocks of rectified units and a softmax, in torch.

    h ← h + B relu(A relu(h)), ``blocks`` times over ``width`` units, then ``classes`` logits; the
    loss is trap · 1ᵀ f(X) plus the cross-entropy of class 0, which the attacker may choose. The
    weights are He's normal start from ``seed``, B over the number of blocks so that depth does not
    blow up the gradient, and known to all. Slopes differ by row and record.
    """

    name: ClassVar[str] = "deep"
    blind: ClassVar[bool] = False

    rows: int = 1
    bias: bool = True
    blocks: int = 8
    width: int = 64
    classes: int = 10
    trap: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rows", "blocks", "width"):
            _at_least_one(name, getattr(self, name))
        if self.classes < 2:
            raise MechanismError(f"classes must be at least 2, got {self.classes}")
        if not isfinite(self.trap):
            raise MechanismError(f"trap must be finite, got {self.trap!r}")

    def weights(self, features: int) -> list[Floats]:
        """The first layer and those after it: one up, two a block, one out."""
        rng = np.random.default_rng(self.seed)
        shapes = [(self.rows, features), (self.width, self.rows)]
        shapes += [(self.width, self.width)] * (2 * self.blocks)
        shapes += [(self.classes, self.width)]
        layers = [rng.normal(0.0, sqrt(2 / inputs), (out, inputs)) for out, inputs in shapes]
        for second in range(3, 3 + 2 * self.blocks, 2):
            layers[second] /= self.blocks
        return layers

    def backward(self, vectors: Floats) -> Backward:
        with needed_by(f"network {self.name}", "torch"):
            import torch

        layers = [torch.from_numpy(w) for w in self.weights(vectors.shape[1])]
        x = torch.from_numpy(np.ascontiguousarray(vectors))
        inputs, outputs = [x], [(x @ layers[0].T).requires_grad_()]

        def through(layer: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            inputs.append(value)
            outputs.append(value @ layer.T)
            return outputs[-1]

        hidden = through(layers[1], outputs[0])
        for block in range(self.blocks):
            first, second = layers[2 + 2 * block : 4 + 2 * block]
            hidden = hidden + through(second, torch.relu(through(first, torch.relu(hidden))))
        logits = through(layers[-1], torch.relu(hidden))
        loss = self.trap * outputs[0].sum() - torch.log_softmax(logits, dim=1)[:, 0].sum()
        pulled = torch.autograd.grad(loss, outputs)
        # A linear layer's gradient is the outer product of what came back and what went in.
        squares = torch.zeros(len(x), dtype=x.dtype)
        for given, back in zip(inputs, pulled, strict=True):
            squares += back.square().sum(1) * given.detach().square().sum(1)
        if self.bias:
            squares += pulled[0].square().sum(1)
        return Backward(pulled[0].numpy(), squares.sqrt().numpy())


NETWORKS: dict[str, type[OptimalNetwork] | type[IdleNetwork] | type[DeepNetwork]] = {
    network.name: network for network in (OptimalNetwork, IdleNetwork, DeepNetwork)
}


def one_hot(table: Table) -> Floats:
    """Records as vectors: one 1 a column, the columns side by side in their order."""
    sizes = np.array(table.domain.sizes)
    vectors = np.zeros((len(table), int(sizes.sum())))
    active = table.codes + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    np.put_along_axis(vectors, active.astype(np.int64), 1.0, axis=1)
    return vectors


@dataclass(frozen=True, eq=False)
class Gradients:
    """Noisy gradients of the first layer: (steps, batches, rows, N), and of its bias.

    ``scales`` are the exact s_j, (records, rows): the attacker of Riess 2026 is granted them, but
    they are no part of a private release.
    """

    weights: Floats
    biases: Floats | None
    scales: Floats


@dataclass(frozen=True)
class GradientStep:
    """DP-SGD on records given as vectors: clip, sum each batch, add noise of sd σ · ``clip``."""

    network: GradientNetwork
    sigma: float
    clip: float = 1.0
    batch: int = 1
    steps: int = 1

    def __post_init__(self) -> None:
        _finite("sigma", self.sigma, ">=")
        _finite("clip", self.clip, ">")
        _at_least_one("batch", self.batch)
        _at_least_one("steps", self.steps)

    def guarantee(self, relation: Relation) -> GaussianDP:
        """√steps · Δ/(σC)-GDP with Δ = C for adding or removing a record, 2C for replacing one."""
        reach = 1 if relation is Relation.ADD_REMOVE else 2
        mu = sqrt(self.steps) * reach / self.sigma if self.sigma else inf
        return GaussianDP(mu, relation)

    def observe(self, vectors: npt.ArrayLike, rng: np.random.Generator) -> Gradients:
        """What the attacker sees of records, images or rows of numbers, one a row."""
        x = np.asarray(vectors, dtype=np.float64)
        if x.ndim != 2 or not len(x) or not np.isfinite(x).all():
            raise MechanismError(
                f"vectors must be finite numbers, one row a record, got shape {x.shape}"
            )
        rows, starts = self.network.rows, np.arange(0, len(x), self.batch)
        size = self.steps * len(starts) * rows * x.shape[1]
        if size > MOST_NUMBERS:
            raise MechanismError(
                f"gradients of {size:,} numbers are more than {MOST_NUMBERS:,}; observe fewer "
                "records or steps, or use fewer rows"
            )
        scales = self.network.backward(x).scales(self.clip)
        weights = self.add_noise(np.add.reduceat(scales[:, :, None] * x[:, None, :], starts), rng)
        biases = self.add_noise(np.add.reduceat(scales, starts), rng) if self.network.bias else None
        return Gradients(weights, biases, scales)

    def add_noise(self, exact: Floats, rng: np.random.Generator) -> Floats:
        """Exact sums of gradients as every step shows them: one more axis in front."""
        shape = (self.steps, *exact.shape)
        return exact + self.sigma * self.clip * rng.standard_normal(shape)


@dataclass(frozen=True, eq=False)
class GradientRelease:
    """The noisy gradients of a table's records, and what the attacker knows of how they came about.

    ``scale`` is the s_j that all rows and records share, where it is public: the network is blind
    and all records have one norm. Record i is in batch i // step.batch.
    """

    domain: Domain
    step: GradientStep
    weights: Floats
    biases: Floats | None
    scale: float | None

    def __post_init__(self) -> None:
        # All attacks share one release.
        self.weights.setflags(write=False)
        if self.biases is not None:
            self.biases.setflags(write=False)

    @property
    def noise_sd(self) -> float:
        return self.step.sigma * self.step.clip


@dataclass(frozen=True)
class GradientSteps(BudgetedMechanism):
    """DP-SGD steps on the one-hot records of a table, a batch of records a step."""

    name: ClassVar[str] = "gradient"

    network: GradientNetwork = OptimalNetwork(bias=True)
    clip: float = 1.0
    batch: int = 1
    steps: int = 1

    def __post_init__(self) -> None:
        if not self.hidden:
            raise MechanismError("at least one column must be hidden")
        self.domain.positions(self.hidden)
        _at_least_one("steps", self.steps)
        _ = self.budget, self.step

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        network: str = OptimalNetwork.name,
        rows: int = 1,
        bias: bool = True,
        clip: float = 1.0,
        batch: int = 1,
        steps: int = 1,
    ) -> Self:
        """``network`` is optimal, idle or deep."""
        if not isinstance(bias, bool):
            raise MechanismError(f"{cls.name}: bias must be true or false, got {bias!r}")
        if network not in NETWORKS:
            raise MechanismError(
                f"{cls.name}: network must be one of {', '.join(NETWORKS)}, got {network!r}"
            )
        built = NETWORKS[network](rows=rows, bias=bias)
        return cls(domain, tuple(hidden), epsilon, delta, built, clip, batch, steps)

    @cached_property
    def step(self) -> GradientStep:
        # √steps · 2C/(σC) = μ
        sigma = 2 * sqrt(self.steps) / gaussian_guarantee(self.budget).mu
        return GradientStep(self.network, sigma, self.clip, self.batch, self.steps)

    @cached_property
    def scale(self) -> float | None:
        """The scale that all one-hot records share, if they do."""
        if not self.network.blind:
            return None
        one = Table(self.domain, np.zeros((1, len(self.domain)), dtype=np.int64))
        return float(self.network.backward(one_hot(one)).scales(self.clip)[0, 0])

    @cached_property
    def guarantee(self) -> GaussianDP:
        general = self.step.guarantee(Relation.REPLACE_ONE)
        if self.scale is None or isinf(general.mu):
            return general
        # s_j X in every row: two records move the sum by s √M ‖X − X′‖ ≤ s √(2dM).
        reach = self.scale * sqrt(2 * len(self.domain) * self.network.rows)
        mu = sqrt(self.steps) * reach / (self.step.sigma * self.clip)
        return GaussianDP(min(mu, general.mu), Relation.REPLACE_ONE)

    def release(self, table: Table, rng: np.random.Generator) -> GradientRelease:
        self.check_table(table)
        seen = self.step.observe(one_hot(table), rng)
        return GradientRelease(self.domain, self.step, seen.weights, seen.biases, self.scale)

    def facts(self) -> dict[str, float]:
        facts = {
            "sigma": self.step.sigma,
            "noise_sd": self.step.sigma * self.clip,
            "mu": self.guarantee.mu,
            "clip": float(self.clip),
            "batch": float(self.batch),
            "steps": float(self.steps),
            "rows": float(self.network.rows),
        }
        return facts if self.scale is None else facts | {"scale": self.scale}
