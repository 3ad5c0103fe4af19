"""The conformance kit of metrics: everything a metric says follows from its score."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import combinations

import numpy as np
import numpy.typing as npt

from reconbench.attacks import Metric
from reconbench.attacks.metrics import bound_success, scores_by_record
from reconbench.benchmarks.plugins.build import build_metric
from reconbench.benchmarks.plugins.checks import (
    Check,
    Outcome,
    allowed_deviation,
    run_checks,
    small_prior,
)
from reconbench.datasets import Table

Floats = npt.NDArray[np.float64]

RECORDS = 4_000
LISTS = 20
TOLERANCE = 1e-9
NAMES = small_prior().domain.names
TARGETS = [targets for count in (1, 2, 3) for targets in combinations(NAMES, count)]


def check_metric(spec: str) -> list[Check]:
    """Hold a metric against enumeration and simulation on a small prior.

    One check is statistical; a correct metric fails it with probability at most 1e-6.
    """
    return run_checks(CHECKS, build_metric(spec))


def _accepted(metric: Metric) -> list[tuple[str, ...]]:
    """The target columns that the metric takes."""
    found = []
    for targets in TARGETS:
        try:
            metric.check(small_prior().domain, targets)
        except ValueError:
            continue
        found.append(targets)
    return found


def _takes_columns(metric: Metric) -> Outcome:
    accepted = _accepted(metric)
    if not accepted:
        return None, "takes no columns of the kit's table: nothing else is checked"
    return True, "takes " + "; ".join(", ".join(targets) for targets in accepted)


def _refuses_columns(metric: Metric) -> Outcome:
    try:
        metric.check(small_prior().domain, ("no such column",))
    except ValueError as error:
        return True, str(error)
    return False, "check accepts a column that the domain does not have"


def _is_named(metric: Metric) -> Outcome:
    names = {metric.name for _ in range(2)}
    good = len(names) == 1 and "\n" not in metric.name
    return good, f"{metric.name!r} stands in every row"


def _score_is_valid(metric: Metric) -> Outcome:
    for targets in _accepted(metric):
        truth, guess = _every_pair(targets)
        before = truth.codes.copy(), guess.codes.copy()
        scores = np.asarray(metric.score(truth, guess))
        if scores.shape != (len(truth),) or not np.isin(scores, (0, 1)).all():
            got = f"{scores.dtype} of shape {scores.shape}"
            return False, f"score must be one 0 or 1 per record, got {got}"
        if not (np.array_equal(before[0], truth.codes) and np.array_equal(before[1], guess.codes)):
            return False, "score changes its tables"
        order = np.random.default_rng(0).permutation(len(truth))
        mixed = metric.score(
            Table(truth.domain, truth.codes[order]), Table(guess.domain, guess.codes[order])
        )
        if not np.array_equal(np.asarray(mixed), scores[order]):
            return False, "the score of a record depends on the other records"
        same = [Table(truth.domain, np.tile(value, (3, 1))) for value in _values(targets)]
        if not all(np.asarray(metric.score(each, each)).all() for each in same):
            return False, "a guess that is the truth does not succeed"
        if scores_by_record(metric) and not np.asarray(metric.score(truth, truth)).all():
            return False, "a guess that is the truth does not succeed"
    return True, "one 0 or 1 per record, and the truth itself succeeds"


def _prior_success_adds_up(metric: Metric) -> Outcome:
    for targets in _accepted(metric):
        known, expected = _expected(metric, targets)
        domain = small_prior().domain.project(targets)
        for index, values in enumerate(_values(targets)):
            guess = Table(domain, np.tile(values, (len(known), 1)))
            found = np.asarray(metric.prior_success(small_prior(), known, guess))
            problem = _difference(found, expected[:, index])
            if problem:
                return False, f"prior_success of {', '.join(targets)} {problem}"
    return True, "the prior's mass on the truths on which a guess succeeds"


def _best_guess_is_best(metric: Metric) -> Outcome:
    for targets in _accepted(metric):
        known, expected = _expected(metric, targets)
        guess, success = metric.best_guess(small_prior(), known, targets)
        if guess.domain.names != targets:
            return False, f"best_guess must be a table of {', '.join(targets)}"
        if not scores_by_record(metric):
            problem = _judge_list(metric, known, guess, success)
            if problem:
                return False, f"best_guess on {', '.join(targets)} {problem}"
            continue
        problem = _difference(np.asarray(success), expected.max(axis=1))
        if problem:
            return False, f"the success of best_guess on {', '.join(targets)} {problem}"
        index = np.ravel_multi_index(tuple(guess.codes.T), guess.domain.sizes)
        if (expected[np.arange(len(known)), index] < expected.max(axis=1) - TOLERANCE).any():
            return False, f"another guess is better than best_guess on {', '.join(targets)}"
    if not scores_by_record(metric):
        return True, "lists are worth what they cover, more than one guess, and below their bound"
    return True, "no guess has a larger prior success"


def _judge_list(metric: Metric, known: Table, guess: Table, success: Floats) -> str | None:
    """What is wrong with a list of guesses that count for all records, and with its bound."""
    targets = guess.domain.names
    problem = _difference(np.asarray(success), _cover(metric, known, guess))
    if problem:
        return f"says a success that {problem}"
    _, expected = _expected(metric, targets)
    if success.sum() < expected.sum(axis=0).max() - TOLERANCE:
        return "is worse than one guess for all records"
    bound = bound_success(metric, small_prior(), known, targets, success)
    for codes in itertools.islice(_draw_lists(len(known), targets), LISTS):
        covered = _cover(metric, known, Table(guess.domain, codes))
        if (np.maximum(covered, success) > bound + TOLERANCE).any():
            return "is bounded by less than some list achieves"
    return None


def _cover(metric: Metric, known: Table, guess: Table) -> Floats:
    """The prior's mass on values that a list succeeds on, value by value."""
    values = _values(guess.domain.names)
    # One value of the truth at a time, beside the whole list.
    truths = [Table(guess.domain, np.tile(value, (len(guess), 1))) for value in values]
    covered = np.array([np.asarray(metric.score(truth, guess))[0] for truth in truths])
    chances = small_prior().conditional(known, guess.domain.names).reshape(len(known), -1)
    return np.asarray(chances @ covered)


def _draw_lists(records: int, targets: tuple[str, ...]) -> Iterator[npt.NDArray[np.int64]]:
    rng, values = np.random.default_rng(4), _values(targets)
    while True:
        chosen = rng.permutation(len(values))[: rng.integers(1, len(values) + 1)]
        yield values[chosen[np.arange(records) % len(chosen)]]


def _decide_is_best(metric: Metric) -> Outcome:
    """On columns that are independent of each other the best joint guess can be listed."""
    rng = np.random.default_rng(1)
    for targets in _accepted(metric):
        sizes = small_prior().domain.project(targets).sizes
        columns = [rng.dirichlet(np.ones(size), size=20) for size in sizes]
        guess = np.asarray(metric.decide(columns))
        if guess.shape != (20, len(targets)):
            return False, f"decide must return shape (20, {len(targets)}), got {guess.shape}"
        joint = reduce(lambda left, right: _outer(left, right), columns)
        expected = joint @ _successes(metric, targets)
        if not scores_by_record(metric):
            domain, values = small_prior().domain.project(targets), _values(targets)
            truths = [Table(domain, np.tile(value, (20, 1))) for value in values]
            covered = [np.asarray(metric.score(each, Table(domain, guess)))[0] for each in truths]
            if (joint @ covered).sum() < expected.sum(axis=0).max() - TOLERANCE:
                return False, f"one guess is better than the list of decide on {targets}"
            continue
        index = np.ravel_multi_index(tuple(guess.T), sizes)
        if (expected[np.arange(20), index] < expected.max(axis=1) - TOLERANCE).any():
            return False, f"another guess is better than that of decide on {', '.join(targets)}"
    return True, "no guess has a larger expected score"


def _decide_joint_is_best(metric: Metric) -> Outcome:
    """On columns that depend on each other, of which some joint values are listed twice."""
    rng = np.random.default_rng(3)
    for targets in _accepted(metric):
        domain, values = small_prior().domain.project(targets), _values(targets)
        successes = _successes(metric, targets)
        for count in (1, len(values) // 2 + 1, 2 * len(values)):
            listed = rng.integers(0, len(values), count)
            weights = rng.dirichlet(np.full(count, 0.5))
            guess = np.asarray(metric.decide_joint(domain, values[listed], weights))
            if guess.shape != (len(targets),):
                return False, f"decide_joint must return shape ({len(targets)},), got {guess.shape}"
            expected = weights @ successes[listed]
            index = np.ravel_multi_index(tuple(guess), domain.sizes)
            if expected[index] < expected.max() - TOLERANCE:
                where = ", ".join(targets)
                return False, f"another guess is better than that of decide_joint on {where}"
    return True, "no guess has a larger expected score, whatever columns have to do with each other"


def _holds_in_simulation(metric: Metric) -> Outcome:
    table = small_prior().sample(RECORDS, np.random.default_rng(2))
    accepted = _accepted(metric)
    seen = []
    for targets in accepted:
        known = table.project([name for name in NAMES if name not in targets])
        guess, success = metric.best_guess(small_prior(), known, targets)
        hits = int(np.asarray(metric.score(table.project(targets), guess)).sum())
        allowed = allowed_deviation(float((success * (1 - success)).sum()), len(accepted))
        if abs(hits - success.sum()) > allowed:
            return False, f"{hits} successes on {', '.join(targets)}, expected {success.sum():.0f}"
        seen.append(f"{hits} for {success.sum():.0f}")
    return True, "successes for expected ones: " + ", ".join(seen)


def _priors_for_bounds(metric: Metric) -> Outcome:
    """What bounds are told must be the prior, and which guesses succeed on which value of it."""
    listed = []
    for targets in _accepted(metric):
        known, expected = _expected(metric, targets)
        whole = metric.whole_priors(small_prior(), known, targets)
        if whole is None:
            continue
        # Without success sets a value is guessed by itself, and the unlisted ones are not.
        success = np.eye(whole.priors.shape[1]) if whole.success is None else whole.success
        problem = _difference((whole.priors @ success.T).max(axis=1), expected.max(axis=1))
        if problem:
            return False, f"the best success by whole_priors of {', '.join(targets)} {problem}"
        listed.append(", ".join(targets))
    return (True, "listed for " + "; ".join(listed)) if listed else (None, "not listed")


def _values(targets: tuple[str, ...]) -> npt.NDArray[np.int64]:
    sizes = small_prior().domain.project(targets).sizes
    return np.indices(sizes).reshape(len(sizes), -1).T


def _every_pair(targets: tuple[str, ...]) -> tuple[Table, Table]:
    domain, values = small_prior().domain.project(targets), _values(targets)
    truth = Table(domain, np.repeat(values, len(values), axis=0))
    return truth, Table(domain, np.tile(values, (len(values), 1)))


def _successes(metric: Metric, targets: tuple[str, ...]) -> Floats:
    """1 where a guess (across), made for all records, succeeds on a truth (down)."""
    domain, values = small_prior().domain.project(targets), _values(targets)
    truth, count = Table(domain, values), len(values)
    guesses = [Table(domain, np.tile(value, (count, 1))) for value in values]
    return np.array([metric.score(truth, guess) for guess in guesses], dtype=float).T


def _expected(metric: Metric, targets: tuple[str, ...]) -> tuple[Table, Floats]:
    """All known records, and P[success] of every joint guess on them."""
    others = tuple(name for name in NAMES if name not in targets)
    known = Table(small_prior().domain.project(others), _values(others))
    chances = small_prior().conditional(known, targets).reshape(len(known), -1)
    return known, chances @ _successes(metric, targets)


def _difference(found: Floats, expected: Floats) -> str | None:
    if found.shape != expected.shape:
        return f"must have shape {expected.shape}, got {found.shape}"
    off = np.abs(found - expected).max()
    return f"is off by {off:.2g}" if not off <= TOLERANCE else None


def _outer(left: Floats, right: Floats) -> Floats:
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))


CHECKS: Mapping[str, Callable[[Metric], Outcome]] = {
    "has a name": _is_named,
    "takes columns": _takes_columns,
    "refuses unknown columns": _refuses_columns,
    "valid scores": _score_is_valid,
    "prior_success follows from score": _prior_success_adds_up,
    "best_guess is best": _best_guess_is_best,
    "decide is best": _decide_is_best,
    "decide_joint is best": _decide_joint_is_best,
    "whole_priors follow from score": _priors_for_bounds,
    "holds in simulation": _holds_in_simulation,
}
