"""What guesses are worth: against enumeration, against attacks that know it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from reconbench.attacks import AttackerView, ColumnsRight, ExactMatch, Metric, WithinL1
from reconbench.attacks.judges import (
    CertifiedJudge,
    ChainJudge,
    ListedJudge,
    find_judge,
    judge_views,
)
from reconbench.attacks.posterior import posterior
from reconbench.attacks.rap.problem import require_marginals
from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.datasets import Table
from reconbench.mechanisms.marginals import marginal_counts

MakeView = Callable[..., tuple[AttackerView, Table]]


def enumerate_worth(view: AttackerView, guess: np.ndarray) -> float:
    """The expected successes of a guess, over every hidden table one by one."""
    release = require_marginals(view.release)
    values = np.array(list(product(*(range(size) for size in view.target_domain.sizes))))
    prior = view.prior.conditional(view.known, view.targets).reshape(view.n, -1)
    heights, scores = [], []
    for choice in product(range(len(values)), repeat=view.n):
        hidden = Table(view.target_domain, values[list(choice)])
        table = view.known.join(hidden).project(release.domain.names)
        error = sum(
            ((marginal_counts(table, columns) - answer) ** 2).sum()
            for columns, answer in zip(release.workload, release.answers, strict=True)
        )
        likely = np.log(prior[np.arange(view.n), list(choice)]).sum()
        heights.append(likely - error / (2 * release.noise_sd**2))
        scores.append(view.metric.score(hidden, Table(view.target_domain, guess)).sum())
    weights = np.exp(np.array(heights) - max(heights))
    return float(weights @ np.array(scores) / weights.sum())


@pytest.mark.parametrize(
    ("targets", "metric", "n"),
    [
        (("c",), None, 5),
        (("d",), None, 6),
        (("a", "d"), None, 3),
        (("c",), WithinL1(1), 5),
        (("a", "d"), ColumnsRight(1), 3),
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_any_guess_is_worth_what_enumeration_says(
    make_view: MakeView,
    request: pytest.FixtureRequest,
    targets: tuple[str, ...],
    metric: Metric | None,
    n: int,
    exact: bool,
) -> None:
    """Random guesses, which differ among records that are known to be alike."""
    if not exact:
        request.getfixturevalue("by_chains")
    squares = []
    for seed in range(3):
        view, _ = make_view(targets, epsilon=10.0, n=n, seed=seed, metric=metric)
        judge = find_judge(view, np.random.default_rng(seed))
        assert isinstance(judge, CertifiedJudge if exact else ChainJudge)
        rng = np.random.default_rng(100 + seed)
        for _ in range(3):
            guess = rng.integers(0, view.target_domain.sizes, (n, len(targets)))
            worth = judge.judge(guess)
            gap = abs(worth.expected - enumerate_worth(view, guess))
            assert gap < (1e-9 if exact else 0.12)
            squares.append((gap / max(worth.error, 1e-3)) ** 2)
    # z² has a mean near 1; guesses on one release share their error
    assert np.mean(squares) < 8


@pytest.mark.usefixtures("by_chains")
def test_the_best_guesses_of_several_columns_are_the_best_by_enumeration(
    make_view: MakeView,
) -> None:
    """Not a guess of joint values is worth more; the modes of joint values are worth less."""
    behind = 0.0
    for seed in range(3):
        view, _ = make_view(("a", "c"), epsilon=3.0, n=2, seed=seed, metric=ColumnsRight(1))
        judge = find_judge(view, np.random.default_rng(seed))
        assert isinstance(judge, ChainJudge) and judge.best_possible is not None
        values = np.array(list(product(*(range(size) for size in view.target_domain.sizes))))
        # Records are judged one by one, so the best table is that of the best guesses.
        worth = [
            [enumerate_worth(view, np.array([own, values[0]])) for own in values],
            [enumerate_worth(view, np.array([values[0], own])) for own in values],
        ]
        both = enumerate_worth(view, np.array([values[0], values[0]]))
        best = max(worth[0]) + max(worth[1]) - both
        assert judge.best_possible.expected == pytest.approx(best, abs=0.05)
        exact = find_judge(replace(view, metric=ExactMatch()), np.random.default_rng(seed))
        assert isinstance(exact, ChainJudge)
        modes = exact.sampled.posteriors.guess(range(4))
        behind += best - enumerate_worth(view, modes)
    assert behind > 0.02


EXACT = [
    ("optimal", {"mechanism": "grr"}),
    ("optimal", {"mechanism": "oue"}),
    ("optimal", {"mechanism": "ss"}),
    ("agia-prior", {"mechanism": "gradient"}),
    ("agia-prior", {"mechanism": "gradient", "mechanism_options": {"batch": 2}}),
    ("informed", {"adversary": Adversary.INFORMED}),
    ("informed", {"adversary": Adversary.INFORMED, "targets": ("SEX", "DIS")}),
    (
        "informed",
        {"adversary": Adversary.INFORMED, "targets": ("SEX", "MAR"), "metric": "columns:1"},
    ),
    (
        "informed",
        {"adversary": Adversary.INFORMED, "targets": ("AGEP", "SCHL"), "metric": "l1:2"},
    ),
    ("optimal", {"mechanism": "grr", "targets": ("SEX", "MAR"), "metric": "columns:1"}),
    (
        "optimal",
        {"adversary": Adversary.INFORMED, "mechanism": "gaussian-sum", "targets": ("AGEP",)},
    ),
]


@pytest.mark.parametrize(("attack", "changes"), EXACT)
def test_exact_judges_agree_with_the_attacks_that_know(
    attack: str, changes: dict[str, object]
) -> None:
    round_ = Round.draw(replace(Game("acs", ("SEX",), 3.0, n=12), **changes))  # type: ignore[arg-type]
    row = play(round_, AttackSpec(attack))
    judges = [judge for judge in round_.judges if isinstance(judge, ListedJudge)]
    assert len(judges) == (12 if round_.game.adversary is Adversary.INFORMED else 1)
    sums = [judge.chances.sum(axis=1) for judge in judges]
    assert np.concatenate(sums) == pytest.approx(1.0)
    promised = sum(scores for _, scores, _ in row.calibration.values())
    assert row.expected_successes == pytest.approx(promised, rel=1e-9)
    assert row.scored_by == "exact posterior" and row.expected_successes_se == 0
    assert row.best_possible is not None and row.expected_baseline is not None
    assert row.best_possible >= max(row.expected_baseline, row.expected_successes or 0) - 1e-9


def test_secrets_are_judged_exactly_after_one_epoch() -> None:
    game = Game("secret-digits-zipf", ("digit",), 3.0, n=30, mechanism="ngram-dpsgd")
    once = Round.draw(replace(game, mechanism_options={"epochs": 1}))  # type: ignore[arg-type]
    row = play(once, AttackSpec("extraction-prior"))
    assert row.scored_by == "exact posterior"
    assert row.expected_successes == pytest.approx(row.best_possible)
    often = Round.draw(replace(game, mechanism_options={"epochs": 3}))  # type: ignore[arg-type]
    assert often.judges == ()
    assert play(often, AttackSpec("extraction")).scored_by == "control variate"


def test_no_judge_is_better_than_a_wrong_one(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, _ = make_view(("a", "c"), epsilon=30.0, n=10)
    monkeypatch.setattr(posterior, "RHAT_LIMIT", 0.0)
    assert find_judge(view, np.random.default_rng(0)) is None
    assert find_judge(replace(view, release=object()), np.random.default_rng(0)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_the_optimum_is_never_below_the_prior(epsilon: float) -> None:
    for rep in range(3):
        round_ = Round.draw(Game("fire", ("Priority",), epsilon, n=50, rep=rep))
        best, prior = round_.best_possible, round_.baseline_worth
        assert best is not None and prior is not None and best.expected >= prior.expected
        assert round_.judge(round_.baseline[0]) == prior


def test_attacks_do_not_share_the_chains_of_their_judge() -> None:
    """The judge draws from a stream of its own, so its numbers do not depend on who plays."""
    game = Game("acs", ("SEX",), 10.0, n=50)
    alone = play(Round.draw(game), AttackSpec("rap"))
    round_ = Round.draw(game)
    best = play(round_, AttackSpec("posterior"))
    after = play(round_, AttackSpec("rap"))
    assert after.expected_successes == alone.expected_successes
    assert best.expected_baseline == alone.expected_baseline
    assert best.expected_successes is not None
    # its own chains promise something else
    promised = sum(scores for _, scores, _ in best.calibration.values())
    assert 0 < abs(best.expected_successes - promised) < 2


def test_one_judge_for_each_record_is_the_sum(make_view: MakeView) -> None:
    view, truth = make_view(("c",), n=4)
    judge = find_judge(view, np.random.default_rng(0))
    assert judge is not None
    whole = judge_views([judge], truth.codes)
    assert whole == judge.judge(truth.codes)
