"""Every raw learner is the plain estimator that the literature trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.neighbors import KNeighborsClassifier

from reconbench.attacks import AttackError, AttackerView
from reconbench.attacks.synthetic.learners import (
    BayesNet,
    GradientBoosting,
    Learner,
    NaiveBayes,
    NearestNeighbours,
    RandomForest,
    fit_learner,
)
from reconbench.attacks.synthetic.raw import (
    BayesNetAttack,
    GradientBoostingAttack,
    LearnerAttack,
    NaiveBayesAttack,
    NearestNeighboursAttack,
    RandomForestAttack,
)
from reconbench.datasets import BayNet, Table
from reconbench.datasets.network.fit import GreedyMutualInformation, fit
from reconbench.datasets.network.pgmpy_bridge import quiet_pgmpy, to_pgmpy
from reconbench.mechanisms.synthetic.release import SyntheticRelease

MakeView = Callable[..., tuple[AttackerView, Table]]
LEARNERS: list[Learner] = [
    NaiveBayes(), RandomForest(), GradientBoosting(), NearestNeighbours(), BayesNet()
]  # fmt: skip


def plain(name: str, sizes: list[int], seed: int) -> Any:
    """The estimator as its documentation has it, with the hyperparameters that we state."""
    match name:
        case "naive-bayes":
            return CategoricalNB(alpha=1.0, min_categories=sizes)
        case "random-forest":
            return RandomForestClassifier(50, max_leaf_nodes=512, random_state=seed)
        case "gradient-boosting":
            return HistGradientBoostingClassifier(
                max_iter=20, max_leaf_nodes=8, learning_rate=0.1, early_stopping=False,
                random_state=seed,
            )  # fmt: skip
        case _:
            return KNeighborsClassifier(10, metric="hamming", algorithm="brute")


ATTACKS = [NaiveBayesAttack, RandomForestAttack, GradientBoostingAttack, NearestNeighboursAttack]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
@pytest.mark.parametrize("targets", [("c",), ("d", "a")])
def test_raw_learners_are_plain_scikit_learn(
    make_synthetic: MakeView, attack: Callable[[], LearnerAttack], targets: tuple[str, ...]
) -> None:
    """One estimator a hidden column, trained on the synthetic table; its ``predict`` is the guess,
    and the product of its largest probabilities is the score."""
    view, _ = make_synthetic(targets, rows="3n")
    assert isinstance(view.release, SyntheticRelease)
    built = attack()
    found = built.reconstruct(view, np.random.default_rng(0))
    names, table = view.known.domain.names, view.release.table
    sizes = [view.known.domain[name].size for name in names]
    scores = np.ones(view.n)
    for target in targets:
        # The randomness of a learner belongs to the table and the column.
        digest = list(bytes.fromhex(table.sha256()) + target.encode())
        seed = np.random.default_rng(np.random.SeedSequence(digest)).integers(1 << 31)
        twin = plain(attack().name, sizes, int(seed))
        twin.fit(table.project(names).codes, table.column(target))
        assert np.array_equal(found.guess.column(target), twin.predict(view.known.codes))
        scores *= twin.predict_proba(view.known.codes).max(axis=1)
    assert found.scores == pytest.approx(scores, rel=1e-12)


def test_bayes_net_is_pgmpys(make_synthetic: MakeView) -> None:
    """The network is the one that pgmpy fits; its joint mode is that of pgmpy's elimination."""
    with quiet_pgmpy():
        from pgmpy.inference import VariableElimination

    view, _ = make_synthetic(("c", "a"), n=12, rows="10n")
    assert isinstance(view.release, SyntheticRelease)
    found = BayesNetAttack().reconstruct(view, np.random.default_rng(0))
    network = fit(view.release.table, GreedyMutualInformation(2))
    with quiet_pgmpy():
        inference = VariableElimination(to_pgmpy(network))
        for i, record in enumerate(view.known.codes):
            evidence = dict(zip(view.known.domain.names, map(int, record), strict=True))
            joint = inference.query(["c", "a"], evidence=evidence, show_progress=False)
            values = np.moveaxis(joint.values, joint.variables.index("c"), 0)
            best = np.unravel_index(values.argmax(), values.shape)
            assert tuple(found.guess.codes[i]) == tuple(map(int, best))
            assert found.scores is not None
            assert found.scores[i] == pytest.approx(values.max(), rel=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_answers_are_distributions_over_all_values(learner: Learner, toy_net: BayNet) -> None:
    """Also over values that the table does not have, and where it has a single one."""
    table = toy_net.sample(60, np.random.default_rng(1))
    known = toy_net.sample(25, np.random.default_rng(2)).project(("a", "b", "d", "e"))
    some = Table(table.domain, table.codes[table.column("c") != 2])
    one = Table(table.domain, table.codes[table.column("c") == 1])
    for trained in (table, some, one):
        answer = fit_learner(learner, trained, "c", known.domain.names).answer(known)
        assert answer.shape == (25, 4)
        assert (answer >= 0).all() and answer.sum(axis=1) == pytest.approx(np.ones(25))
        again = fit_learner(learner, trained, "c", known.domain.names).answer(known)
        assert np.array_equal(answer, again)
    assert answer[:, 1] == pytest.approx(np.ones(25))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NaiveBayesAttack(smoothing=0), "naive-bayes: smoothing must be positive, got 0"),
        (lambda: RandomForestAttack(trees=0), "random-forest: trees must be positive"),
        (lambda: NearestNeighboursAttack(neighbours=-1), "knn: neighbours must be positive"),
        (lambda: BayesNetAttack(parents=0), "bayes-net: parents must be at least 1, got 0"),
    ],
)
def test_wrong_options_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(AttackError, match=message):
        build()
