from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import nnls

from reconbench.datasets import BayNet
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import MarginalSets
from reconbench.mechanisms.measurements import Measurements, measure
from reconbench.mechanisms.synthetic.graphical import fitting
from reconbench.mechanisms.synthetic.graphical.fitting import (
    DISTANCE,
    FitProblem,
    build_tree,
    fit_model,
    try_to_fit,
)
from reconbench.mechanisms.synthetic.graphical.kernels import find_gap
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel

Floats = npt.NDArray[np.float64]
STRUCTURES: dict[str, MarginalSets] = {
    "independent": ((0,), (1,), (2,), (3,), (4,)),
    "tree": ((0, 1), (1, 2), (2, 3), (3, 4)),
    "overlapping": ((0,), (2,), (0, 2), (0, 2), (1, 2), (3, 4)),
    "cycle": ((0, 1), (1, 2), (2, 3), (0, 3), (4,)),
    "triples": ((0, 1, 2), (2, 3), (3, 4)),
}


def draw(
    net: BayNet, sets: MarginalSets, noise_sd: float, n: int = 100, seed: int = 0
) -> Measurements:
    """Noisy counts of some records; the noise doubles from every third set to the next."""
    rng = np.random.default_rng(seed)
    deviations = [noise_sd * (1 + i % 3) for i in range(len(sets))]
    return measure(net.sample(n, rng), sets, deviations, rng)


def project(measured: Measurements) -> tuple[Floats, Floats]:
    """One row per measured cell that adds up the records it counts, and the weight of each."""
    records = np.indices(measured.domain.sizes).reshape(len(measured.domain), -1)
    rows, weights = [], []
    for columns, answer, sd in zip(
        measured.sets, measured.answers, measured.noise_sds, strict=True
    ):
        cell = np.ravel_multi_index([records[v] for v in columns], answer.shape)
        rows.append(cell[None, :] == np.arange(answer.size)[:, None])
        weights.append(np.full(answer.size, (measured.records / sd) ** 2))
    return np.concatenate(rows).astype(float), np.concatenate(weights)


def solve_slowly(measured: Measurements) -> Floats:
    """The least loss over distributions of all 144 records, by non-negative least squares."""
    rows, weights = project(measured)
    frequencies = np.concatenate([a.ravel() for a in measured.answers]) / measured.records
    scale, heavy = np.sqrt(weights), 1e4 * np.sqrt(weights.max())
    matrix = np.vstack([scale[:, None] * rows, np.full(rows.shape[1], heavy)])
    found, _ = nnls(matrix, np.append(scale * frequencies, heavy), maxiter=50_000)
    return np.asarray(rows @ (found / found.sum()))


def measured_frequencies(model: MarkovModel, sets: MarginalSets) -> Floats:
    return np.concatenate([model.marginal(columns).ravel() for columns in sets])


@pytest.mark.parametrize("noise_sd", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("name", STRUCTURES)
def test_the_fit_is_the_nearest_distribution(toy_net: BayNet, name: str, noise_sd: float) -> None:
    """Against a slow twin that knows nothing of graphs; the stated distance holds, and the gap."""
    measured = draw(toy_net, STRUCTURES[name], noise_sd)
    best = solve_slowly(measured)
    fitted = measured_frequencies(fit_model(measured), measured.sets)
    _, weights = project(measured)
    sizes = np.array([a.size for a in measured.answers])
    firsts = weights[np.cumsum(sizes) - sizes]
    apart = float((weights * (fitted - best) ** 2).sum() / firsts.sum())
    assert apart <= DISTANCE**2 / measured.records
    frequencies = np.concatenate([a.ravel() for a in measured.answers]) / measured.records
    losses = [float((weights * (each - frequencies) ** 2).sum() / 2) for each in (fitted, best)]
    tree = build_tree(measured.domain, measured.sets)
    problem = FitProblem.of(tree, measured)
    model = fit_model(measured)
    cells = np.concatenate([marginal.ravel() for marginal in model.marginals])
    gap = find_gap(tree.flat, problem.placed, problem.frequencies, problem.weights, cells)
    assert losses[0] - losses[1] <= gap + 1e-6 * losses[1] <= problem.enough(DISTANCE) * (1 + 1e-6)
    # The negative control: frequencies that are off by more than is allowed have a larger gap.
    rough, _ = try_to_fit(measured, 100.0, 1)
    cells = np.concatenate([marginal.ravel() for marginal in rough.marginals])
    gap = find_gap(tree.flat, problem.placed, problem.frequencies, problem.weights, cells)
    assert gap > problem.enough(DISTANCE)


def test_of_the_nearest_the_fit_has_the_largest_entropy(
    toy_net: BayNet, enumerate_joint: Callable[[MarkovModel], Floats]
) -> None:
    """Two cliques of three columns for a cycle of pairs: log p adds up functions of the pairs."""
    model = fit_model(draw(toy_net, STRUCTURES["cycle"], 0.5, n=2_000))
    assert max(map(len, model.tree.cliques)) == 3
    joint = enumerate_joint(model).ravel()
    records = np.indices(model.domain.sizes).reshape(5, -1)
    functions = []
    for columns in STRUCTURES["cycle"]:
        sizes = [model.domain.sizes[v] for v in columns]
        cell = np.ravel_multi_index([records[v] for v in columns], sizes)
        functions.append(cell[None] == np.arange(cell.max() + 1)[:, None])
    alive = joint > 1e-5
    design, logs = np.vstack(functions).T[alive].astype(float), np.log(joint[alive])
    np.testing.assert_allclose(design @ np.linalg.lstsq(design, logs)[0], logs, atol=1e-6)
    # The negative control: without one pair the others do not explain it.
    fewer = design[:, 6:]
    assert np.abs(fewer @ np.linalg.lstsq(fewer, logs)[0] - logs).max() > 1e-3


@pytest.mark.parametrize("name", STRUCTURES)
def test_without_noise_the_counts_are_reproduced(toy_net: BayNet, name: str) -> None:
    measured = draw(toy_net, STRUCTURES[name], 0.0, n=30)
    fitted = measured_frequencies(fit_model(measured), measured.sets)
    exact = np.concatenate([a.ravel() for a in measured.answers]) / 30
    np.testing.assert_allclose(fitted, exact, atol=2e-3 if name == "cycle" else 1e-9)
    assert (fitted[exact == 0] == 0).all()


def test_a_tree_without_noise_is_the_chow_liu_distribution(toy_net: BayNet) -> None:
    measured = draw(toy_net, STRUCTURES["tree"], 0.0, n=500)
    chain = fit_model(measured).list_marginals(3)[: 3 * 2 * 4].reshape(3, 2, 4)
    first, second = measured.answers[0] / 500, measured.answers[1] / 500
    expected = first[:, :, None] * second[None] / second.sum(axis=1)[None, :, None]
    np.testing.assert_allclose(chain, expected, atol=1e-9)


def test_columns_without_a_set_are_uniform(toy_net: BayNet) -> None:
    model = fit_model(draw(toy_net, ((0, 1),), 1.0))
    np.testing.assert_allclose(model.marginal((4,)), 1 / 3)


@pytest.mark.parametrize("noise_sd", [1e-3, 1e4])
def test_noise_of_any_size_converges(noise_sd: float) -> None:
    """Also where noise drives nearly all cells to zero, which once trapped the descent."""
    net = acs()
    sets = tuple((i, i + 1) for i in range(15))
    model = fit_model(draw(net, sets, noise_sd))
    assert model.marginal((0, 1)).sum() == pytest.approx(1.0)


def test_what_does_not_converge_is_an_error(
    toy_net: BayNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MOST_STEPS", 3)
    with pytest.raises(MechanismError, match="did not converge in 3 steps"):
        fit_model(draw(toy_net, STRUCTURES["tree"], 1.0))


def test_models_too_large_are_refused_with_their_width() -> None:
    wide = tuple((0, i) for i in range(1, 6)) + tuple(
        (i, j) for i in range(1, 6) for j in range(i + 1, 6)
    )
    with pytest.raises(MechanismError, match=r"join AGEP \+ .* \(width 6\), and .* 405,039 cells"):
        build_tree(acs().domain, wide, most=400_000)
    assert build_tree(acs().domain, wide).cells > 400_000
