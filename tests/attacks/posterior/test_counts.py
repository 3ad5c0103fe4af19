"""The posterior of long tables by counts: exact on small ones, and in agreement with records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import lgamma

import numpy as np
import pytest

from reconbench.attacks import AttackerView, WithinL1
from reconbench.attacks.posterior import posterior
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.counts import blocks as count_blocks
from reconbench.attacks.posterior.counts import model as count_model
from reconbench.attacks.posterior.counts import sweeps as count_sweeps
from reconbench.attacks.posterior.counts.blocks import build_blocks, move_block
from reconbench.attacks.posterior.counts.model import CountModel
from reconbench.attacks.posterior.counts.sweeps import FAR, draw_shift
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.posterior.posteriors import (
    ColumnPosteriors,
    CountPosteriors,
    count_successes,
)
from reconbench.attacks.rap.problem import require_marginals
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = np.ndarray
Codes = np.ndarray


def list_counts(records: int, values: int) -> Iterator[tuple[int, ...]]:
    """All ways to give records values."""
    if values == 1:
        yield (records,)
        return
    for first in range(records + 1):
        for rest in list_counts(records - first, values - 1):
            yield (first, *rest)


def enumerate_shares(view: AttackerView) -> Floats:
    """The expected shares of the values in every distinct known row, over all counts there are.

    Written without the marginals' code: a release is a linear map of the counts.
    """
    release = require_marginals(view.release)
    rows, which = view.known.distinct()
    records = np.bincount(which)
    prior = view.prior.conditional(rows, view.targets)
    size, domain = prior.shape[1], release.domain
    cells = []
    for columns, answer in zip(release.workload, release.answers, strict=True):
        where = np.zeros((answer.size, *prior.shape))
        for g, v in product(range(len(rows)), range(size)):
            values = dict(zip(rows.domain.names, rows.codes[g].tolist(), strict=True))
            values[view.targets[0]] = v
            code = [values[domain.names[i]] for i in columns]
            where[np.ravel_multi_index(code, answer.shape), g, v] = 1
        cells.append(where.reshape(answer.size, -1))
    linear = np.concatenate(cells)
    answers = np.concatenate([answer.ravel() for answer in release.answers])
    states = np.array(
        [np.concatenate(s) for s in product(*(list(list_counts(m, size)) for m in records))]
    )
    factorials = np.array([lgamma(c + 1) for c in range(int(records.max()) + 1)])
    heights = states @ np.log(prior.ravel()) - factorials[states].sum(axis=1)
    heights -= ((states @ linear.T - answers) ** 2).sum(axis=1) / (2 * release.noise_sd**2)
    weights = np.exp(heights - heights.max())
    mean = weights @ states / weights.sum()
    return np.asarray(mean.reshape(prior.shape) / records[:, None])


def make_short(make_view: MakeView, epsilon: float = 3.0, n: int = 30, k: int = 1) -> AttackerView:
    """Few rows, some of more records than are swept one by one: two rows and three values whose
    sums alone are released (k = 1), or six rows and two values (k = 2)."""
    target, left_out = ("a", ("c", "d", "e")) if k == 1 else ("b", ("c", "e"))
    return make_view((target,), k=k, epsilon=epsilon, n=n, left_out=left_out)[0]


def start(view: AttackerView, replicas: int, rng: np.random.Generator) -> CountModel:
    model = CountModel(view, Evidence.of(view))
    model.start(replicas, 1, rng)
    return model


@pytest.mark.parametrize("far", [(FAR, FAR), (9, 4), (3, 30)])
@pytest.mark.parametrize(("tilt", "curve"), [(0.0, 0.0), (1.3, 0.05), (-4.0, 0.4), (30.0, 2.0)])
def test_shifts_have_the_stated_distribution(
    far: tuple[int, int], tilt: float, curve: float
) -> None:
    left, right = 12, 7
    low, high = -min(right, far[1]), min(left, far[0])
    shifts = np.arange(low, high + 1)
    counts = [left - shifts, right + shifts]
    counts += [far[0] - shifts, far[1] + shifts] if far[0] < FAR else []
    heights = tilt * shifts - curve * shifts**2.0
    heights -= np.sum([[lgamma(c + 1) for c in side] for side in counts], axis=0)
    chances = np.exp(heights - heights.max())
    chances /= chances.sum()
    drawn = [draw_shift(left, right, *far, tilt, curve, u) for u in (np.arange(4_000) + 0.5) / 4e3]
    frequency = np.bincount([t - low for t, _ in drawn], minlength=len(shifts)) / len(drawn)
    assert np.abs(frequency - chances).max() < 1e-3
    assert drawn[0][1] == pytest.approx(float(chances @ shifts), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 10.0])
def test_counts_are_the_enumerated_posterior(make_view: MakeView, epsilon: float, k: int) -> None:
    """2,000 sweeps of four chains: 0.02 is five standard errors were one in four a new draw."""
    view = make_short(make_view, epsilon, k=k)
    rng = np.random.default_rng(1)
    model = start(view, 4, rng)
    weights = np.array([require_marginals(view.release).noise_sd ** -2])
    for sweep in range(2_000):
        model.sweep(np.arange(4)[:, None], weights, rng)
        if sweep == 100:
            model.forget(1_900)
        model.keep(np.arange(4))
    found = model.posteriors()
    assert isinstance(found, CountPosteriors)
    assert np.abs(found.chances.mean(axis=0) - enumerate_shares(view)).max() < 0.02


def test_blocks_alone_are_the_enumerated_posterior(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a reference that is far off they are rarely taken, and as right. Negative control: at
    another noise level they are not."""
    monkeypatch.setattr(count_blocks, "MANY", 0.5)
    monkeypatch.setattr(count_blocks, "SLOW", 0.0)
    view = make_short(make_view, 3.0, n=40)
    exact, w = enumerate_shares(view), require_marginals(view.release).noise_sd ** -2

    def sample(w: float, reference: Floats) -> tuple[Floats, float]:
        rng = np.random.default_rng(2)
        model = start(view, 1, rng)
        blocks = build_blocks(model._records[:, None] * reference, model._cells, model._scales, w)
        total, taken = np.zeros(exact.shape), 0
        for _ in range(6_000):
            for block in blocks:
                fixed = model._log_prior, model._cells, model._scales
                state = model._counts[:, 0], model._residual[:, 0]
                taken += move_block(*block, *fixed, *state, w, rng)
            total += model._counts[:, 0]
        return total / total.sum(axis=1, keepdims=True), taken / 6_000 / len(blocks)

    good, often = sample(w, exact)
    far, rarely = sample(w, 0.6 * exact + 0.4 * exact[:, ::-1])
    wrong, _ = sample(w / 30, exact)
    assert np.abs(good - exact).max() < 0.02 and np.abs(far - exact).max() < 0.04
    assert often > 0.5 > rarely
    assert np.abs(wrong - exact).max() > 0.05


def test_counts_and_records_agree(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve games of 400 records, one by counts and one record by record."""
    gaps = []
    for seed in range(12):
        view, _ = make_view(("c",), epsilon=(3.0, 10.0)[seed % 2], n=400, seed=seed)
        best = []
        for form in (CountModel, CellModel):
            monkeypatch.setattr(posterior, "choose_model", lambda *game, form=form: form(*game[:2]))
            sampled = Posterior(sweeps=150, rounds=1).sample(view, np.random.default_rng(seed))
            best.append(sampled.estimate_best_possible(view))
        error = np.hypot(best[0].error, best[1].error)
        gaps.append((best[0].expected - best[1].expected) / error)
    # The mean square of 12 normal variables exceeds 2.75 once in a thousand times.
    assert np.mean(np.square(gaps)) < 2.75


def test_stated_errors_cover(make_view: MakeView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen short runs against a long one, on a table where single moves mix slowly. Without
    blocks they are further apart than they state."""
    view, _ = make_view(("c",), epsilon=10.0, n=20_000, seed=3)

    def gap(sweeps: int, seed: int) -> tuple[float, float]:
        sampled = Posterior(sweeps=sweeps, rounds=1).sample(view, np.random.default_rng(seed))
        best = sampled.estimate_best_possible(view)
        return best.expected, best.error

    middle, error = gap(3_000, 100)
    runs = np.array([gap(100, seed) for seed in range(16)])
    misses = (runs[:, 0] - middle) / np.hypot(runs[:, 1], error)
    assert np.mean(misses**2) < 2.5
    monkeypatch.setattr(count_model, "build_blocks", lambda *_: [])
    single = np.array([gap(100, seed)[0] for seed in range(16)])
    assert np.std(single) > 2 * np.std(runs[:, 0])


def test_residuals_and_errors_stay_right(make_view: MakeView) -> None:
    view, _ = make_view(("c",), epsilon=10.0, n=500)
    rng = np.random.default_rng(0)
    model = CountModel(view, Evidence.of(view))
    model.start(2, 2, rng)
    at = np.array([[0, 2], [3, 1]])
    for _ in range(10):
        errors = model.sweep(at, np.array([0.01, 0.1]), rng)
    release = require_marginals(view.release)
    assert np.array_equal(model._counts.sum(axis=2).T, np.tile(model._records, (4, 1)))
    _, which = view.known.distinct()
    for r in range(4):
        hidden = np.empty(view.n, dtype=np.int64)
        for g, counts in enumerate(model._counts[:, r]):
            hidden[which == g] = np.repeat(np.arange(len(counts)), counts)
        table = view.known.join(Table(view.target_domain, hidden[:, None]))
        table = table.project(release.domain.names)
        truth = [
            np.histogramdd(table.codes[:, columns], bins=[np.arange(s + 1) for s in answer.shape])
            for columns, answer in zip(release.workload, release.answers, strict=True)
        ]
        squares = [((h - a) ** 2).sum() for (h, _), a in zip(truth, release.answers, strict=True)]
        assert errors[r] == pytest.approx(sum(squares), rel=1e-9)


def test_compiled_sweeps_are_their_plain_twins(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = make_short(make_view, 10.0, n=60)
    results = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        model = start(view, 2, rng)
        for _ in range(4):
            errors = model.sweep(np.arange(2)[:, None], np.array([0.3]), rng)
        results.append((errors, model._counts.copy(), model._means.copy()))
        for module, names in (
            (count_sweeps, ("find_mode", "add_up", "log_step", "draw_shift", "pick_other")),
            (count_sweeps, ("sweep_records", "sweep_pairs", "normalise", "pick")),
            (count_model, ("count_sweep", "count_trades", "move_block")),
            (count_blocks, ("draw_whole", "log_whole", "log_slope")),
        ):
            for name in names:
                compiled = getattr(module, name)
                monkeypatch.setattr(module, name, getattr(compiled, "py_func", compiled))
    for one, other in zip(*results, strict=True):
        assert np.allclose(one, other)


def test_successes_are_counted_as_on_tables(make_view: MakeView) -> None:
    view, _ = make_view(("c",), n=300, metric=WithinL1(1))
    rng = np.random.default_rng(0)
    model = start(view, 3, rng)
    model.sweep(np.arange(3)[:, None], np.array([0.1]), rng)
    model.keep(np.arange(3))
    found = model.posteriors()
    assert isinstance(found, CountPosteriors)
    guess = found.guess(range(3))
    tables = np.empty((3, view.n, 1), dtype=np.int64)
    for r, (g, counts) in product(range(3), enumerate(model._counts)):
        tables[r, found.group == g, 0] = np.repeat(np.arange(4), counts[r])
    records = ColumnPosteriors(view, found.group, found.chances)
    counted = found.count_successes(model.tables(np.arange(3)), guess)
    assert np.array_equal(counted, count_successes(records, view, tables, guess))
    for chain in range(3):
        assert found.judge(chain, guess).sum() == pytest.approx(found.success(chain, guess).sum())
