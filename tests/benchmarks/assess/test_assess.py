"""Assessments of a table of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from math import inf, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from reconbench.attacks.metrics import ExactMatch
from reconbench.benchmarks.assess.accuracy import MarginalsAccuracy, measure_cleaned_distance
from reconbench.benchmarks.assess.assess import assess
from reconbench.benchmarks.assess.assessment import Assessment, Sure
from reconbench.benchmarks.assess.budgets import count_sure
from reconbench.benchmarks.assess.exposure import (
    Exposure,
    find_suppressed,
    find_suppressed_together,
    list_kinds,
)
from reconbench.benchmarks.assess.games.real_games import RealPlay, build_real_round
from reconbench.benchmarks.assess.max_epsilon import (
    GaussianBudget,
    Measure,
    RecordRisks,
    find_measured_epsilon,
    find_proved_epsilons,
)
from reconbench.benchmarks.assess.published.release import PublishedQuestion, assess_release
from reconbench.benchmarks.assess.question import (
    AssessError,
    Question,
    check_question,
    check_table,
    space_budgets,
)
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Round, play
from reconbench.benchmarks.store.summary import summarise
from reconbench.bounds import ApproxDP, gaussian_mu
from reconbench.datasets import Attribute, BayNet, Domain, Table, save_prior
from reconbench.mechanisms import GaussianMarginals, MarginalsRelease
from reconbench.mechanisms.marginals import PublishedMarginals
from reconbench.mechanisms.marginals_csv import ReleaseFileError, read_release, write_release

N = 60
FAMILY = GaussianBudget(1e-5)
DOMAIN = Domain(
    (
        Attribute("who", tuple(f"p{i}" for i in range(N))),
        Attribute("secret", ("no", "yes")),
    )
)


def coin_prior(path: Path, share: float = 0.5) -> str:
    """Everybody is alike, and has the secret with a given chance."""
    net = BayNet(DOMAIN, ((), ()), (np.full(N, 1 / N), np.array([1 - share, share])), DOMAIN.names)
    save_prior(net, path)
    return str(path)


def one_each(seed: int = 0) -> Table:
    """One record for every value of the known column, with coin flips for secrets."""
    secret = np.random.default_rng(seed).integers(0, 2, N)
    return Table(DOMAIN, np.column_stack([np.arange(N), secret]))


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    return Question(
        coin_prior(tmp_path_factory.mktemp("prior") / "coin.bif"),
        ("secret",),
        epsilon=2.0,
        epsilons=(2.0, 8.0),
        mechanism_options=Options({"k": 2}),
        reps=4,
    )


@pytest.fixture(scope="module")
def found(question: Question) -> Assessment:
    return assess(replace(question, max_risk=0.1), one_each())


def test_ladder() -> None:
    assert space_budgets(1.0) == (0.1, 0.333, 1.0, 3.0, 10.0)
    assert Question("acs", ("SEX",), epsilon=1.0).budgets == space_budgets(1.0)
    assert Question("acs", ("SEX",), epsilon=1.0, epsilons=(5.0, 0.5)).budgets == (
        0.5,
        1.0,
        5.0,
    )


def test_fresh_numbers_are_those_of_the_game(found: Assessment, question: Question) -> None:
    for budget in found.budgets:
        games = [question.build_game(N, budget.epsilon or 0.0, rep) for rep in range(question.reps)]
        rows = [play(Round.draw(game), AttackSpec("posterior")) for game in games]
        (summary,) = summarise(rows)
        at = budget.get_attack("posterior")
        assert summary.success is not None and at.fresh is not None
        assert at.fresh.value == pytest.approx(summary.success / N)
        assert budget.best.share == pytest.approx((summary.best_possible or 0) / N)
        mine = [row for row in found.rows if row.epsilon == budget.epsilon]
        optimal = [row for row in mine if row.attack == "posterior"]
        assert [a.differences(b) for a, b in zip(rows, optimal, strict=True)] == [[]] * len(rows)


@pytest.mark.slow
def test_real_table_meets_the_closed_form(question: Question) -> None:
    """With a cell of his own and a fair coin, each record is won with chance Φ(μ/2).

    60 records × 15 repetitions: 4.5 standard errors, false alarms below 1e-5 a budget.
    """
    found = assess(replace(question, reps=15), one_each(3))
    for budget in found.budgets:
        mu = gaussian_mu(budget.epsilon or 0.0, question.delta)
        chance = norm.cdf(mu / 2)
        error = sqrt(chance * (1 - chance) / (N * 15))
        assert abs(budget.get_attack("posterior").real.value - chance) < 4.5 * error
        # the negative control: half the noise would be found out
        assert abs(norm.cdf(mu) - chance) > 4.5 * error
        assert budget.ceiling is not None
        assert budget.ceiling.mean == pytest.approx(chance, abs=1e-9)
        assert budget.ceiling.gain == pytest.approx(chance - 0.5, abs=1e-9)


def test_largest_epsilon_is_the_closed_form(tmp_path: Path) -> None:
    """For a fair coin the advantage is Φ(μ/2) − 1/2 on each record, and 2Φ(μ/2) − 1 at worst."""
    from reconbench.benchmarks import plugins

    prior = plugins.load_prior(coin_prior(tmp_path / "fair.bif"))
    known = one_each().project(["who"])
    risks = RecordRisks(prior, known, ("secret",), ExactMatch())
    by_scope = {
        each.scope: each for each in find_proved_epsilons(risks, Measure.ADVANTAGE, 0.1, FAMILY)
    }
    for scope, mu in (
        ("mean", 2 * norm.ppf(0.6)),
        ("worst-record", 2 * norm.ppf(0.6)),
        ("any-prior", 2 * norm.ppf(0.55)),
    ):
        epsilon = by_scope[scope].epsilon
        assert epsilon is not None
        assert gaussian_mu(epsilon, 1e-5) == pytest.approx(mu, rel=1e-6)
    (share,) = find_proved_epsilons(risks, Measure.SHARE, 0.6, FAMILY)
    assert share.epsilon == pytest.approx(by_scope["mean"].epsilon, rel=1e-6)
    (none,) = find_proved_epsilons(risks, Measure.SHARE, 0.4, FAMILY)
    assert none.epsilon is None and none.why_not and "no epsilon" in none.why_not


def test_measured_brackets() -> None:
    points = [(1.0, 0.0), (10.0, 0.2), (100.0, 0.4)]
    hit = find_measured_epsilon("real", points, 0.1)
    assert (hit.keeps, hit.passes) == (1.0, 10.0) and hit.about == pytest.approx(sqrt(10))
    assert find_measured_epsilon("real", points, 0.5).passes is None
    assert find_measured_epsilon("real", points[1:], 0.1).keeps is None
    assert find_measured_epsilon("real", [(1.0, 0.0), (float("inf"), 0.9)], 0.1).about is None


def test_answers_of_an_assessment_agree_with_its_parts(found: Assessment) -> None:
    assert [each.scope for each in found.proved] == ["mean", "worst-record", "any-prior"]
    real = next(each for each in found.measured if each.scope == "real")
    gains = [
        (b.epsilon, b.get_attack("posterior").real.value - b.prior_real) for b in found.budgets
    ]
    assert real == find_measured_epsilon("real", [(e or 0.0, g) for e, g in gains], 0.1)


@pytest.mark.slow
def test_jobs_do_not_change_the_numbers(question: Question) -> None:
    small = replace(question, reps=1, epsilons=(2.0,))
    source = TableSource("t.csv", N, "coin.bif", False, ())
    one, two = (
        AssessmentReport(small, assess(small, one_each(), jobs=jobs), source).to_json()
        for jobs in (1, 2)
    )
    assert json.dumps(one) == json.dumps(two)
    other = AssessmentReport(small, assess(replace(small, seed=1), one_each()), source).to_json()
    assert other["budgets"] != one["budgets"]


def test_accuracy_is_that_of_the_noise(found: Assessment, question: Question) -> None:
    for budget in found.budgets:
        mechanism = GaussianMarginals.for_budget(
            DOMAIN, ("secret",), budget.epsilon or 0.0, question.delta, k=2
        )
        accuracy = budget.accuracy
        assert isinstance(accuracy, MarginalsAccuracy)
        assert accuracy.cell_error == pytest.approx(mechanism.noise_sd * sqrt(2 / pi))
        assert accuracy.typical_cell == 1 and accuracy.cells == 2 * N
        assert accuracy.distance == pytest.approx(2 * N * accuracy.cell_error / (2 * N))
        assert 0 < accuracy.cleaned < 1
    exact = MarginalsRelease(DOMAIN, ((0, 1),), (np.zeros((N, 2)),), 0.0)
    share = np.full((N, 2), 1 / (2 * N))
    truth = np.zeros((N, 2))
    truth[np.arange(N), one_each().codes[:, 1]] = 1 / N
    assert measure_cleaned_distance(one_each(), exact) == pytest.approx(
        np.abs(share - truth).sum() / 2
    )


def test_suppression() -> None:
    def hidden(*counts: int) -> list[bool]:
        return [bool(each) for each in find_suppressed(np.array(counts), 10)]

    assert hidden(50, 20, 10) == [False, False, False]
    assert hidden(50, 20, 3) == [False, True, True]  # 3 would follow from the total
    assert hidden(50, 6, 5) == [False, True, True]
    assert hidden(50, 20, 4, 3) == [False, True, True, True]  # 7 together are too few
    assert hidden(50, 20, 0) == [False, False, True]
    assert hidden(50, 0, 3) == [True, True, True]
    assert hidden(9) == [True]


def test_no_kind_follows_from_another_column() -> None:
    """A county of 40 with towns of 22 and 15: the other 3 would follow by subtraction."""
    county = np.repeat([0, 1], [40, 60])
    town = np.repeat([0, 1, 2, 3], [22, 15, 3 + 30, 30])
    alone = [find_suppressed(np.bincount(each), 10).tolist() for each in (county, town)]
    assert alone == [[False] * 2, [False] * 4]
    together = find_suppressed_together([county, town], [2, 5], 10)
    assert together[0].tolist() == [False, False]
    # the smaller town, and another so that it does not follow from the total
    assert together[1].tolist() == [True, True, False, False, True]


def derivable(columns: list[np.ndarray], hidden: list[np.ndarray]) -> list[frozenset[int]]:
    """All sets of records whose sums follow from a shown kind, or from what a column hides, by
    taking away shown kinds of another column that lie within: slowly and obviously."""
    everybody = frozenset(range(len(columns[0])))
    shown, wide = [], [everybody]
    for codes, gone in zip(columns, hidden, strict=True):
        sets = [frozenset(np.flatnonzero(codes == code).tolist()) for code in range(len(gone))]
        shown.append([each for each, no in zip(sets, gone, strict=True) if not no])
        wide += shown[-1]
        wide.append(everybody.difference(*shown[-1]))
    found = list(wide)
    for whole in wide:
        for narrow in shown:
            inside = [each for each in narrow if each <= whole]
            for size in range(1, len(inside) + 1):
                found += [whole.difference(*some) for some in combinations(inside, size)]
    return [each for each in found if each]


def test_nothing_small_can_be_derived() -> None:
    """Nested columns at random; without the rule across columns some of them give records away."""
    rng, leaks = np.random.default_rng(4), 0
    for _ in range(60):
        fine = rng.integers(0, 6, 60)
        coarse = rng.integers(0, 3, 6)[fine]
        columns = [np.where(rng.random(60) < 0.03, rng.integers(0, 3, 60), coarse), fine]
        together = find_suppressed_together(columns, [3, 6], 5)
        assert min(map(len, derivable(columns, together)), default=60) >= 5
        apart = [
            find_suppressed(np.bincount(each, minlength=m), 5)
            for each, m in zip(columns, (3, 6), strict=True)
        ]
        leaks += min(map(len, derivable(columns, apart)), default=60) < 5
    assert leaks > 5


def test_the_share_right_is_hidden_where_it_tells_of_few_others() -> None:
    def sure(certain: int) -> Sure:
        scores = np.where(np.arange(N) < certain, 0.95, 0.6)
        play_ = RealPlay("posterior", np.zeros((N, 1), dtype=np.int64), scores > 0.9, scores, True)
        return count_sure([play_], 10)

    assert sure(9) == Sure(None, None)
    assert sure(10) == Sure(10.0, 1.0) and sure(N - 10) == Sure(N - 10.0, 1.0)
    assert sure(N - 1) == Sure(N - 1.0, None)
    assert sure(N) == Sure(float(N), 1.0)


def test_kinds_of_record() -> None:
    attribute = Attribute("c", ("a", "b", "tiny", "small"))
    codes = np.repeat([0, 1, 2, 3], [20, 12, 4, 6])
    prior = codes == 0
    hits = np.stack([codes <= 1, codes == 0])
    found = list_kinds(attribute, codes, prior, hits, find_suppressed(np.bincount(codes), 10))
    assert [kind.label for kind in found.shown] == ["b", "a"]
    assert found.shown[0].gain == 0.5 and found.shown[0].records == 12
    assert (found.hidden_labels, found.hidden_records) == (2, 10)


def test_each_target_on_its_own() -> None:
    domain = Domain((Attribute("x", ("0", "1")), Attribute("y", ("0", "1"))))
    truth = Table(domain, np.array([[0, 0], [1, 1]] * 10))
    prior = Table(domain, np.zeros((20, 2), dtype=np.int64))
    guesses = np.stack([np.column_stack([truth.codes[:, 0], np.zeros(20, dtype=np.int64)])])
    hits = np.zeros((2, 20), dtype=bool)
    known = Table(Domain((Attribute("k", ("0",)),)), np.zeros((20, 1), dtype=np.int64))
    found = Exposure.measure(truth, known, prior, guesses, hits, 5)
    assert [(each.column, each.prior, each.attack.value) for each in found.columns] == [
        ("x", 0.5, 1.0),
        ("y", 0.5, 0.5),
    ]


def test_a_release_read_back_gives_the_round_of_the_game(
    question: Question, tmp_path: Path
) -> None:
    small = replace(question, reps=1, epsilons=(2.0,))
    online = assess(small, one_each())
    round_ = build_real_round(small.build_game(N, 2.0), one_each())
    release = round_.view.release
    assert isinstance(release, MarginalsRelease)
    write_release(release, tmp_path / "m.csv")
    file = read_release(tmp_path / "m.csv", DOMAIN)
    mechanism = PublishedMarginals.of_budget(
        DOMAIN, ("secret",), file.k, ApproxDP(2.0, small.delta), len(file.answers)
    )
    seen = file.seen(("who",), ("secret",), mechanism.noise_sd)
    assert seen.workload == release.workload and seen.noise_sd == release.noise_sd
    assert all(np.array_equal(a, b) for a, b in zip(seen.answers, release.answers, strict=True))
    published = PublishedQuestion(
        small.dataset,
        small.targets,
        mechanism=small.mechanism,
        mechanism_options=small.mechanism_options,
        epsilon=2.0,
    )
    offline = assess_release(published, one_each(), seen, mechanism)
    (before,), (after,) = online.budgets, offline.budgets
    assert after.get_attack("posterior").real == before.get_attack("posterior").real
    assert after.ceiling == before.ceiling and after.prior_real == before.prior_real
    assert after.accuracy == before.accuracy and offline.exposure == online.exposure
    silent = PublishedMarginals(DOMAIN, ("secret",), 2, mechanism.noise_sd)
    unstated = assess_release(replace(published, epsilon=inf), one_each(), seen, silent)
    (budget,) = unstated.budgets
    assert budget.ceiling is None and budget.epsilon is None and budget.any_prior_gain is None


def test_labels_with_the_separator_survive(tmp_path: Path) -> None:
    domain = Domain((Attribute("a|b", ("x|", "\\", "=1+1")), Attribute("c", ("u,v", '"'))))
    answers = (np.arange(6.0).reshape(3, 2) / 7,)
    write_release(MarginalsRelease(domain, ((0, 1),), answers, 1.0), tmp_path / "m.csv")
    file = read_release(tmp_path / "m.csv", domain)
    assert np.array_equal(file.answers["a|b", "c"], answers[0])


GOOD = ["marginal,cell,value", "b|a,x|0,1", "b|a,y|0,2.5", "b|a,x|1,-1", "b|a,y|1,0"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b,c", *GOOD[1:]], "first line must be"),
        (GOOD[:1], "holds no marginal"),
        ([*GOOD, "b|a,x|0,1"], "line 6: the cell 'x|0' of 'b|a' is given twice"),
        (GOOD[:-1], "lacks 1 of its 4 cells"),
        ([*GOOD[:-1], "b|a,y|1,nan"], "line 5: value must be a finite number"),
        ([*GOOD[:-1], "b|a,y|1,"], "value must be a finite number"),
        ([*GOOD[:-1], "b|a,y,0"], "has 1 labels, its marginal 2 columns"),
        ([*GOOD[:-1], "b|a,y|7,0"], "no label '7'"),
        ([*GOOD[:-1], "b|zz,y|1,0"], "unknown column 'zz'"),
        ([*GOOD[:-1], "b|b,y|1,0"], "named twice"),
        ([*GOOD[:-1], "b|a,y|1"], "line 5 has 2 cells"),
        ([*GOOD, "a,0,1", "a,1,1"], "same number of columns"),
        ([*GOOD, *(f"a|b,{i}|{j},0" for i in "01" for j in "xy")], "'a|b' is given twice"),
    ],
)
def test_bad_release_files(lines: list[str], message: str, tmp_path: Path) -> None:
    domain = Domain((Attribute("a", ("0", "1")), Attribute("b", ("x", "y"))))
    path = tmp_path / "m.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ReleaseFileError) as caught:
        read_release(path, domain)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_must_fit_the_attacker(tmp_path: Path) -> None:
    domain = Domain(
        (Attribute("a", ("0", "1")), Attribute("b", ("x", "y")), Attribute("c", ("u",)))
    )
    path = tmp_path / "m.csv"
    path.write_text("\n".join(GOOD) + "\n")
    file = read_release(path, domain)
    assert file.answers["a", "b"].tolist() == [[1.0, 2.5], [-1.0, 0.0]]
    with pytest.raises(ReleaseFileError, match="neither known nor a target"):
        file.seen(("c",), ("b",), 1.0)
    with pytest.raises(ReleaseFileError, match=r"marginal 'b\|c' is missing"):
        file.seen(("a", "c"), ("b",), 1.0)
    assert file.seen(("a",), ("b",), 1.0).answers[0].shape == (2, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": ("nobody",)}, "unknown column 'nobody'"),
        ({"known": ("nobody",)}, "unknown column 'nobody'"),
        ({"known": ("secret", "who")}, "both known and a target"),
        ({"targets": ("secret", "who"), "known": ()}, "at least one"),
        ({"metric": "l1:1"}, "not ordinal"),
        ({"metric": "any:exact"}, "lets a guess for one"),
    ],
)
def test_bad_questions(question: Question, change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_table(replace(question, **change), one_each())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mechanism_options": Options({"k": 5})}, "k must be between"),
        ({"delta": 2.0}, "delta"),
        ({"access": "measurements"}, "needs a mechanism that fits a synthetic table"),
        ({"mechanism": "pgm", "mechanism_options": Options({"rows": 0})}, "rows is 0"),
        (
            {"mechanism": "pgm", "mechanism_options": Options({"structure": "x"})},
            "structure must be",
        ),
    ],
)
def test_mechanisms_that_cannot_be(
    question: Question, change: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_question(replace(question, **change), one_each())  # type: ignore[arg-type]


def test_bad_tables_and_settings(question: Question) -> None:
    with pytest.raises(AssessError, match="fewer than 10"):
        check_table(question, Table(DOMAIN, one_each().codes[:5]))
    same = Table(DOMAIN, np.column_stack([np.arange(N), np.zeros(N, dtype=np.int64)]))
    with pytest.raises(AssessError, match="single value 'no'"):
        check_table(question, same)
    for change, message in (
        ({"epsilon": -1.0}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "epsilon must be > 0"),
        ({"epsilon": float("inf"), "epsilons": ()}, "no budgets around it"),
        ({"reps": 0}, "reps"),
        ({"threshold": 0}, "threshold"),
        ({"max_risk": 1.5}, "max-risk"),
        ({"attacks": ("magic",)}, "unknown attack 'magic'"),
        ({"mechanism": "magic"}, "unknown mechanism 'magic'"),
        ({"mechanism_options": Options({"rows": 9})}, "has no option 'rows'"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(question, **change)
