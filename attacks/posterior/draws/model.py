"""Several hidden columns and little evidence: records move by fresh draws from the prior alone."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError, AttackerView, log_chances
from reconbench.attacks.metrics import ExactMatch
from reconbench.attacks.posterior.cell_model import FRESH, WEAK
from reconbench.attacks.posterior.chains import STEP
from reconbench.attacks.posterior.draws.agreements import LARGEST_CODE, Agreements
from reconbench.attacks.posterior.draws.followed import FollowedPosteriors, Trail
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.posteriors import Posteriors, number_values
from reconbench.datasets import draw_targets

Codes = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]

# Comparing a value with every record is cheaper than looking up its cells, up to so many.
MOST_RECORDS = 1_000
# Draws are made for so many records at a time.
STOCK = 1 << 17
# Draws, over all records, among which a pilot finds values.
POOL = 1 << 16
# Codes that the kept tables may hold.
KEPT = 1 << 22
# Values of each group that a pilot looks at, sweeps that it looks at them in, and the values of
# each group, and of all, that guesses are made among.
PILOT = 256
PILOT_SWEEPS = 12
CANDIDATES = 12
MOST_CANDIDATES = 1 << 11


def takes_draws(view: AttackerView, evidence: Evidence) -> bool:
    """Whether fresh draws alone mix well, and agreements say all that the release does.

    Only guesses that must match exactly are followed.
    """
    return (
        len(view.targets) > 1
        and isinstance(view.metric, ExactMatch)
        and evidence.marginals is not None
        and len(view.known.domain) + len(view.targets) == len(evidence.marginals.domain)
        and view.n <= MOST_RECORDS
        and evidence.weight * evidence.total <= WEAK
        and max(view.target_domain.sizes) <= LARGEST_CODE
    )


class DrawModel:
    """Each record chooses between its value and a few draws from its prior.

    The less evidence there is, the fewer draws are needed: FRESH of them where all of a record's
    cells weigh one unit of log-likelihood or more, and in proportion fewer below. With M of them
    and hardly any evidence, a record keeps its value with a chance of 1 / (M + 1). Columns of the
    prior that the game leaves out need no sampling. A sweep costs M n (sets + n), and draws from
    the prior about as much.
    """

    step: ClassVar[float] = STEP
    frozen: ClassVar[float] = inf
    patience: ClassVar[int] = 1

    def __init__(self, view: AttackerView, evidence: Evidence) -> None:
        if evidence.marginals is None:
            raise AttackError("agreements between records say nothing of these sets")
        self._view = view
        self._agreements = Agreements(view, evidence.marginals)
        self._group = self._agreements.group
        known = evidence.weight * evidence.total
        self._draws = max(2, round(FRESH * min(known, 1.0)))
        self._alone = [
            log_chances(view.prior.conditional(self._agreements.known, [target]))[self._group]
            for target in view.targets
        ]

    @property
    def most_replicas(self) -> int:
        return max(1, KEPT // (self._view.n * len(self._alone)))

    @property
    def cost(self) -> int:
        n, width = self._view.n, len(self._alone)
        return (self._draws + 1) * n * (self._agreements.sets + n * width // 8)

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        n, width, replicas = self._view.n, len(self._alone), chains * levels
        self._fresh = max(1, self._draws // levels)
        self._stock = np.empty((0, n, width), dtype=np.uint16)
        self._stock_answers = np.empty((0, n))
        drawn, answers = self._draw(replicas, rng)
        self._pool, self._own = self._stock[: -(-POOL // n)], answers.copy()
        self._codes = np.ascontiguousarray(drawn.transpose(0, 2, 1))
        self._errors = np.array(
            [
                self._agreements.measure_error(codes, own)
                for codes, own in zip(self._codes, self._own, strict=True)
            ]
        )
        self._log_means = np.empty((chains, n))
        self._candidates = np.empty((0, 0, width), dtype=np.int64)
        self._weight = 0.0
        self._clear(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        fresh, n = self._fresh, self._view.n
        drawn, answers = self._draw(at.size * fresh, rng)
        drawn = drawn.reshape(at.size, fresh, n, -1)
        answers = answers.reshape(at.size, fresh, n)
        uniforms = rng.random((*at.shape, n))
        self._before = self._codes[at[:, -1]]
        for (chain, level), replica in np.ndenumerate(at):
            self._errors[replica] += self._agreements.sweep(
                self._codes[replica],
                self._own[replica],
                drawn[replica],
                answers[replica],
                float(weights[level]),
                uniforms[chain, level],
                self._log_means[chain],
            )
        self._weight = float(weights[-1])
        return self._errors.copy()

    def log_priors(self, replicas: Codes) -> Floats:
        """Of each hidden column on its own, added up: enough to compare chains by."""
        rows = np.arange(self._view.n)
        own = [table[rows, self._codes[replicas, c]] for c, table in enumerate(self._alone)]
        return np.asarray(np.sum(own, axis=(0, 2)))

    def forget(self, sweeps: int) -> None:
        if self._kept:
            self._candidates = self._choose_candidates()
        self._clear(sweeps)

    def _clear(self, sweeps: int) -> None:
        self._kept: list[tuple[Shorts, Shorts, Floats]] = []
        self._every = 1 + sweeps * len(self._log_means) * self._view.n * len(self._alone) // KEPT
        self._turn = 0

    def keep(self, replicas: Codes) -> None:
        self._turn += 1
        if self._turn % self._every == 0:
            self._kept.append((self._before, self._codes[replicas], self._log_means.copy()))

    def tables(self, replicas: Codes) -> Codes:
        return self._codes[replicas].transpose(0, 2, 1).astype(np.int64)

    def posteriors(self) -> Posteriors:
        return FollowedPosteriors(self._make_trail(self._kept), self._group, self._candidates)

    def _make_trail(self, kept: list[tuple[Shorts, Shorts, Floats]]) -> Trail:
        before, after, log_means = (np.stack(parts) for parts in zip(*kept, strict=True))
        return Trail(self._view, self._agreements, before, after, log_means, self._weight)

    def _choose_candidates(self) -> Codes:
        """The likeliest values of each group by a pilot: (groups, candidates, d′)."""
        groups = len(self._agreements.known)
        values, owners = self._list_pilot()
        step = -(-len(self._kept) // PILOT_SWEEPS)
        chances = self._make_trail(self._kept[::step]).estimate_chances(values, owners)
        order = np.lexsort((-chances.mean(axis=(0, 1)), owners))
        ends = np.cumsum(np.bincount(owners, minlength=groups))
        starts = np.append(0, ends[:-1])
        count = max(2, min(CANDIDATES, MOST_CANDIDATES // groups))
        wanted = np.minimum(starts[:, None] + np.arange(count), ends[:, None] - 1)
        return np.asarray(values[order[wanted]])

    def _list_pilot(self) -> tuple[Codes, Codes]:
        """What was drawn most often for each group, and the prior's favourite, with the groups."""
        known, groups = self._agreements.known, len(self._agreements.known)
        favourite = self._view.prior.map(known, self._view.targets)[0].codes
        drawn = self._pool.reshape(-1, self._pool.shape[2])
        values = np.concatenate([drawn, favourite]).astype(np.int64)
        owners = np.append(np.tile(self._group, len(self._pool)), np.arange(groups))
        index, first = number_values(owners, values, self._view.target_domain.sizes)
        times = np.bincount(index)
        times[index[-groups:]] = len(values)
        owner = owners[first]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        chosen = first[np.lexsort((-times, owner))[rank < PILOT]]
        return values[chosen], owners[chosen]

    def _draw(self, count: int, rng: np.random.Generator) -> tuple[Shorts, Floats]:
        """Hidden cells from the prior given the known ones, (count, n, d′), and A of them."""
        view = self._view
        if len(self._stock) < count:
            at_once = max(count, STOCK // view.n)
            drawn = draw_targets(view.prior, view.known, view.targets, at_once, rng)
            self._stock = np.ascontiguousarray(drawn, dtype=np.uint16)
            flat = self._stock.reshape(-1, drawn.shape[2])
            owners = np.tile(self._group, at_once)
            self._stock_answers = self._agreements.sum_answers(flat, owners).reshape(at_once, -1)
        taken = self._stock[:count], self._stock_answers[:count]
        self._stock, self._stock_answers = self._stock[count:], self._stock_answers[count:]
        return taken
