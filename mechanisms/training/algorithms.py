"""Trained models as releases: a network learns to predict one column, and is published.

The set-up of Yildirim 2025, section 4.2: a network with one hidden layer (or none: logistic
regression) trained by SGD with momentum, from a fixed or a random start, with or without Gaussian
noise on the trained weights; and DP-SGD. All models of a call are trained together, compiled.

Cost: models × epochs × records × (active features + classes) × width; the memory of a call is
models × parameters × 4 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import Guarantee, Relation
from reconbench.datasets import Table
from reconbench.mechanisms.base import MechanismError

Floats = npt.NDArray[np.float64]

# The most numbers that the weights of one call may hold: 4 GiB.
MOST_WEIGHTS = 1 << 30
# Models whose initial weights are drawn at once: the numbers are still in the cache when stored.
_STARTED_TOGETHER = 8


@dataclass(frozen=True, eq=False)
class Records:
    """Records as lists of active features with values, and the class of each."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.uintp]
    values: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]
    features: int
    classes: int

    def __len__(self) -> int:
        return len(self.labels)

    def __post_init__(self) -> None:
        if len(self.indptr) != len(self.labels) + 1 or len(self.indices) != self.indptr[-1]:
            raise MechanismError("records need a start for each, and a value for each feature")
        if len(self.indices) and int(self.indices.max()) >= self.features:
            raise MechanismError(f"a feature is outside the {self.features} that there are")
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < self.classes:
            raise MechanismError(f"a label is outside the {self.classes} classes")
        if not np.isfinite(self.values).all():
            raise MechanismError("feature values must be finite numbers")

    @classmethod
    def of_table(cls, table: Table, label: str) -> Self:
        """One-hot: one active feature of value 1 a column, all columns but ``label``."""
        rest = [name for name in table.domain.names if name != label]
        table.domain.position(label)
        if not rest:
            raise MechanismError(f"nothing is left to predict {label!r} from; keep more columns")
        columns = table.project(rest)
        sizes = np.array(columns.domain.sizes)
        codes = columns.codes + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return cls(
            indptr=np.arange(len(table) + 1, dtype=np.int64) * len(rest),
            indices=codes.ravel().astype(np.uintp),
            values=np.ones(codes.size, dtype=np.float32),
            labels=np.ascontiguousarray(table.column(label)),
            features=int(sizes.sum()),
            classes=table.domain[label].size,
        )

    @classmethod
    def of_vectors(cls, vectors: npt.ArrayLike, labels: npt.ArrayLike, classes: int) -> Self:
        """Real vectors, say images as rows of pixels; zeros cost nothing."""
        dense = np.asarray(vectors, dtype=np.float32)
        if dense.ndim != 2:
            raise MechanismError(f"vectors must be one row a record, got shape {dense.shape}")
        rows, columns = np.nonzero(dense)
        counts = np.bincount(rows, minlength=len(dense))
        return cls(
            indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            indices=columns.astype(np.uintp),
            values=dense[rows, columns],
            labels=np.asarray(labels, dtype=np.int64),
            features=dense.shape[1],
            classes=classes,
        )

    def with_bias(self, together: int) -> Records:
        """The same with one more feature that is always 1, the last of all.

        Zeros of it fill the list of each record up to a multiple of ``together`` features.
        """
        counts = np.diff(self.indptr)
        indptr = np.concatenate([[0], np.cumsum(-(-(counts + 1) // together) * together)])
        indices = np.full(indptr[-1], self.features, dtype=np.uintp)
        values = np.zeros(indptr[-1], dtype=np.float32)
        values[indptr[:-1] + counts] = 1.0
        places = np.arange(len(self.indices)) + np.repeat(indptr[:-1] - self.indptr[:-1], counts)
        indices[places] = self.indices
        values[places] = self.values
        return Records(indptr, indices, values, self.labels, self.features + 1, self.classes)

    def take(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Records:
        """Some of the records, in the given order."""
        chosen = np.asarray(rows, dtype=np.int64)
        starts, stops = self.indptr[chosen], self.indptr[chosen + 1]
        entries = np.concatenate(
            [np.arange(a, b) for a, b in zip(starts, stops, strict=True)] or [np.arange(0)]
        ).astype(np.int64)
        return Records(
            indptr=np.concatenate([[0], np.cumsum(stops - starts)]).astype(np.int64),
            indices=self.indices[entries],
            values=self.values[entries],
            labels=self.labels[chosen],
            features=self.features,
            classes=self.classes,
        )

    def join(self, others: Records) -> Records:
        """These records, then the others."""
        if (self.features, self.classes) != (others.features, others.classes):
            raise MechanismError("records of other features or classes cannot be joined")
        return Records(
            indptr=np.concatenate([self.indptr, self.indptr[-1] + others.indptr[1:]]),
            indices=np.concatenate([self.indices, others.indices]),
            values=np.concatenate([self.values, others.values]),
            labels=np.concatenate([self.labels, others.labels]),
            features=self.features,
            classes=self.classes,
        )

    def dense(self) -> npt.NDArray[np.float32]:
        """One row a record, one column a feature."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        table = np.zeros((len(self), self.features), dtype=np.float32)
        table[rows, self.indices] = self.values
        return table


@dataclass(frozen=True, eq=False)
class Models:
    """Networks of one shape, one row of weights each."""

    weights: npt.NDArray[np.float32]
    features: int
    hidden: int
    classes: int

    def add_noise(self, sd: float, rng: np.random.Generator) -> Models:
        """The same models with Gaussian noise on every weight."""
        noise = rng.normal(0.0, sd, self.weights.shape).astype(np.float32)
        return replace(self, weights=self.weights + noise)

    def losses(self, record: Records) -> Floats:
        """The cross-entropy of one record under every model."""
        if (record.features, record.classes) != (self.features, self.classes):
            raise MechanismError("the record's features or classes are not those of the models")
        if len(record) != 1:
            raise MechanismError(f"losses are of one record at a time, got {len(record)}")
        from reconbench.mechanisms.training import kernels

        full = record.with_bias(kernels.TOGETHER)
        logits = kernels.logits(
            full.indptr, full.indices, full.values, self.weights, full.features,
            *_layers(self.hidden, self.classes),
        ).astype(np.float64)  # fmt: skip
        losses: Floats = np.logaddexp.reduce(logits, axis=1) - logits[:, record.labels[0]]
        return losses


@dataclass(frozen=True)
class Network:
    """One hidden layer of rectified units, or none: logistic regression. Glorot's uniform start."""

    hidden: int = 128

    def __post_init__(self) -> None:
        if self.hidden < 0:
            raise MechanismError(f"hidden must be 0 (none) or more units, got {self.hidden}")

    def start(
        self, records: Records, count: int, rng: np.random.Generator
    ) -> npt.NDArray[np.float32]:
        """Weights to begin with, a row a model."""
        if count < 1:
            raise MechanismError(f"count must be at least 1 model, got {count}")
        width, classes = _layers(self.hidden, records.classes)
        # inputs, outputs and biases of each layer
        layers = [(records.features, width, width)]
        layers += [(width, classes, classes)] if classes else []
        size = sum(inputs * outputs + biases for inputs, outputs, biases in layers)
        if count * size > MOST_WEIGHTS:
            raise MechanismError(
                f"{count} models of {size:,} weights do not fit; train at most "
                f"{MOST_WEIGHTS // size} at a time"
            )
        weights = np.zeros((count, size), dtype=np.float32)
        at = 0
        for inputs, outputs, biases in layers:
            limit = np.sqrt(6 / (inputs + outputs))
            for models in np.array_split(weights, -(-count // _STARTED_TOGETHER)):
                models[:, at : at + inputs * outputs] = rng.uniform(
                    -limit, limit, (len(models), inputs * outputs)
                )
            at += inputs * outputs + biases
        return weights


class Training(Protocol):
    """An algorithm A: records in, a random model out."""

    def train(
        self, records: Records, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Models:
        """``count`` independent models of the same records, whatever the number of threads."""
        ...


@dataclass(frozen=True)
class Sgd:
    """SGD with momentum over shuffled mini-batches, then noise on the weights.

    ``start_seed`` fixes the initial weights for all models; None draws them anew for each. The
    order of the records is always random. ``output_noise`` is the standard deviation of the noise
    on every weight. There is no guarantee: nothing bounds what one record does to the weights.
    """

    name: ClassVar[str] = "sgd"

    network: Network = Network()
    epochs: int = 200
    batch: int = 100
    rate: float = 0.01
    momentum: float = 0.9
    start_seed: int | None = None
    output_noise: float = 0.0

    def __post_init__(self) -> None:
        _check_steps(self.epochs, self.batch, self.rate, self.momentum)
        if not 0 <= self.output_noise < np.inf:
            raise MechanismError(f"output_noise must be 0 or more, got {self.output_noise:g}")

    def train(
        self, records: Records, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Models:
        from reconbench.mechanisms.training import kernels

        if self.start_seed is None:
            weights = self.network.start(records, count, rng)
        else:
            one = self.network.start(records, 1, np.random.default_rng(self.start_seed))
            weights = np.repeat(one, count, axis=0)
        models = _train_models(
            kernels.sgd, self.network, records, weights, rng, threads,
            self.epochs, self.batch, self.rate, self.momentum,
        )  # fmt: skip
        return models.add_noise(self.output_noise, rng) if self.output_noise else models


@dataclass(frozen=True)
class DpSgd:
    """DP-SGD: Poisson batches, each record's gradient clipped, Gaussian noise on their sum.

    ``batch`` is the expected size of a batch among ``records`` records, and the constant that sums
    are divided by; ``noise`` the multiplier of ``clip``. The guarantee is for adding or removing
    one record and for the whole run, as if every step were published.
    """

    name: ClassVar[str] = "dp-sgd"

    records: int
    noise: float
    network: Network = Network(0)
    steps: int = 200
    batch: int = 100
    rate: float = 0.1
    momentum: float = 0.9
    clip: float = 1.0

    def __post_init__(self) -> None:
        _check_steps(self.steps, self.batch, self.rate, self.momentum)
        if self.records < self.batch:
            raise MechanismError(
                f"batch must be at most the {self.records} records, got {self.batch}"
            )
        if not (self.noise > 0 and np.isfinite(self.noise)):
            raise MechanismError(f"noise must be > 0, got {self.noise:g}; for none use sgd")
        if not (self.clip > 0 and np.isfinite(self.clip)):
            raise MechanismError(f"clip must be > 0 and finite, got {self.clip:g}")

    @property
    def sampling(self) -> float:
        return self.batch / self.records

    @property
    def guarantee(self) -> Guarantee:
        """By distributions of the privacy loss, which are composed step by step."""
        from reconbench.bounds.guarantees.composed import GaussianRelease, composed

        step = GaussianRelease(self.noise, self.sampling, count=self.steps)
        return composed([step], Relation.ADD_REMOVE)

    def train(
        self, records: Records, count: int, rng: np.random.Generator, threads: int = 1
    ) -> Models:
        from reconbench.mechanisms.training import kernels

        weights = self.network.start(records, count, rng)
        return _train_models(
            kernels.dp_sgd, self.network, records, weights, rng, threads,
            self.steps, self.sampling, float(self.batch), self.rate, self.momentum, self.clip,
            self.noise,
        )  # fmt: skip


def _layers(hidden: int, classes: int) -> tuple[int, int]:
    """The widths of the first layer and of the one after it, 0 if there is none."""
    return (hidden, classes) if hidden else (classes, 0)


def _train_models(
    kernel: Callable[..., None],
    network: Network,
    records: Records,
    weights: npt.NDArray[np.float32],
    rng: np.random.Generator,
    threads: int,
    *settings: float,
) -> Models:
    """Train every row of ``weights``, in place, by a compiled kernel.

    Compiled training lets go of the interpreter, so plain threads run side by side.
    """
    from reconbench.mechanisms.training import kernels

    full = records.with_bias(kernels.TOGETHER)
    layers = _layers(network.hidden, records.classes)
    count = len(weights)
    seeds = rng.integers(0, 1 << 32, count)

    def train(models: slice) -> None:
        kernel(
            full.indptr, full.indices, full.values, full.labels, weights[models], seeds[models],
            full.features, *layers, *settings,
        )  # fmt: skip

    parts = min(threads, count)
    ends = [count * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(train, map(slice, ends, ends[1:])))
    return Models(weights, records.features, network.hidden, records.classes)


def _check_steps(steps: int, batch: int, rate: float, momentum: float) -> None:
    if steps < 1 or batch < 1:
        raise MechanismError(
            f"the number of epochs or steps and batch must be at least 1, got {steps} and {batch}"
        )
    if not (rate > 0 and np.isfinite(rate)):
        raise MechanismError(f"rate must be > 0, got {rate:g}")
    if not 0 <= momentum < 1:
        raise MechanismError(f"momentum must be in [0, 1), got {momentum:g}")
