"""The conformance kit of mechanisms: the declared guarantee is real, and so is all else they say.

The noise is measured, not believed: releases of two neighbouring tables are told apart by a linear
test that is fitted to some of them and counted on others. No test has a true-positive rate above
the power that the guarantee allows at its false-positive rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, isnan, prod

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from reconbench.benchmarks.game.options import Option
from reconbench.benchmarks.plugins.build import build_mechanism, get_options, release_table
from reconbench.benchmarks.plugins.checks import (
    FALSE_ALARM,
    Check,
    Outcome,
    run_checks,
    small_prior,
)
from reconbench.benchmarks.plugins.registry import load_entry
from reconbench.bounds import Guarantee, Relation
from reconbench.datasets import Domain, Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.measurements import Measurements

Floats = npt.NDArray[np.float64]

PRIOR = small_prior()
DOMAIN = PRIOR.domain
HIDDEN = ("size",)
DELTA = 1e-5
BUDGETS = (0.01, 1.0, 4.0)
FITTED = 400
COUNTED = 1_500
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Integers in a release are taken as names of values, up to so many of them.
VALUES = 64
# Two records that differ in every column, by as much as they can, and one beside them.
RECORD, OTHER_RECORD, BESIDE = (0, 0, 0, 0), (2, 3, 1, 1), (1, 1, 0, 0)


@dataclass(frozen=True)
class Subject:
    """A mechanism with its options; it is built for each budget."""

    spec: str
    options: Mapping[str, Option] = field(default_factory=dict)

    def build(self, epsilon: float, more: Mapping[str, Option] | None = None) -> Mechanism:
        options = {**self.options, **(more or {})}
        return build_mechanism(
            self.spec, DOMAIN, HIDDEN, epsilon, DELTA, options=options, prior=PRIOR
        )

    def finite(self) -> dict[float, Mechanism]:
        """The mechanism for every finite budget that it does not refuse."""
        found = {}
        for epsilon in BUDGETS:
            try:
                found[epsilon] = self.build(epsilon)
            except ValueError:
                continue
        return found

    def release(self, mechanism: Mechanism, table: Table, rng: np.random.Generator) -> Floats:
        """The numbers of a release."""
        return _flatten(release_table(self.spec, mechanism, table, rng))


def check_mechanism(spec: str, options: Mapping[str, Option] | None = None) -> list[Check]:
    """Build a mechanism for several budgets on a small table, and release it.

    One check is statistical; a mechanism that keeps its guarantee fails it with probability at
    most 1e-6.
    """
    load_entry("mechanism", spec)
    return run_checks(CHECKS, Subject(spec, dict(options or {})))


def _budgets(subject: Subject) -> Outcome:
    refused = []
    for epsilon in (*BUDGETS, inf):
        try:
            built = subject.build(epsilon)
        except ValueError as error:
            refused.append(f"refuses ε = {epsilon:g}: {error}")
            continue
        if (built.budget.epsilon, built.budget.delta) != (epsilon, DELTA):
            got = f"({built.budget.epsilon:g}, {built.budget.delta:g})"
            return False, f"budget must be the ({epsilon:g}, {DELTA:g}) it was built for, got {got}"
    if len(refused) > len(BUDGETS):
        return False, refused[0]
    return (None, "; ".join(refused)) if refused else (True, "builds for ε = 0.01, 1, 4 and inf")


def _guarantee(subject: Subject) -> Outcome:
    described = ""
    for epsilon, built in subject.finite().items():
        guarantee = built.guarantee
        if not isinstance(guarantee.relation, Relation) or not guarantee.unit.strip():
            return False, "guarantee needs a relation and a unit"
        if guarantee.relation is not built.budget.relation:
            return False, f"guarantee and budget differ in relation: {built.budget.relation}"
        delta = guarantee.delta_at(epsilon)
        if not delta <= DELTA * (1 + 1e-6):
            return False, f"guarantee at ε = {epsilon:g} has δ = {delta:.3g}, more than {DELTA:g}"
        described = f"{guarantee.describe()}, unit {guarantee.unit}"
    return (True, described) if described else (None, "no finite budget")


def _facts(subject: Subject) -> Outcome:
    built = list(subject.finite().values()) or [subject.build(inf)]
    facts = [mechanism.facts() for mechanism in built]
    odd = [name for name, value in facts[-1].items() if isnan(value)]
    if odd:
        return False, f"{odd[0]} is not a number"
    if len({tuple(each) for each in facts}) > 1:
        return False, "the names of facts() depend on the budget"
    return True, ", ".join(f"{name} {value:g}" for name, value in facts[-1].items()) or "none"


def _same_seed(subject: Subject) -> Outcome:
    built = list(subject.finite().values())
    mechanism = built[0] if built else subject.build(inf)
    table = _table(RECORD, BESIDE)
    one, same, other = (
        subject.release(mechanism, table, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    if not np.array_equal(one, same):
        return False, "two releases with the same generator differ"
    if built and np.array_equal(one, other):
        return False, "releases with different generators are equal: there is no noise"
    return True, "equal; another seed gives another release" if built else "equal"


def _leaves_table(subject: Subject) -> Outcome:
    built = list(subject.finite().values())
    mechanism = built[0] if built else subject.build(inf)
    table = _table(RECORD, OTHER_RECORD, BESIDE)
    before = table.codes.copy()
    subject.release(mechanism, table, np.random.default_rng(0))
    same = np.array_equal(before, table.codes)
    return same, "unchanged" if same else "the mechanism changed the table"


def _options(subject: Subject) -> Outcome:
    """Options that are given as their defaults change nothing."""
    parameters, _ = get_options(subject.spec)
    defaults: dict[str, Option] = {
        name: parameter.default
        for name, parameter in parameters.items()
        if isinstance(parameter.default, Option) and name not in subject.options
    }
    epsilon = max(subject.finite(), default=inf)
    built = (subject.build(epsilon), subject.build(epsilon, defaults))
    table = _table(RECORD, BESIDE)
    releases = [subject.release(mechanism, table, np.random.default_rng(3)) for mechanism in built]
    if not np.array_equal(releases[0], releases[1]):
        return False, f"giving the defaults of {', '.join(defaults)} changes the release"
    listed = ", ".join(f"{name} = {value}" for name, value in defaults.items())
    return True, f"defaults: {listed}" if listed else "no options with a default"


def _noise_is_real(subject: Subject) -> Outcome:
    finite = subject.finite()
    if not finite:
        return None, "no finite budget: nothing is promised"
    seen: list[str] = []
    # What has too little noise shows at the largest budget first.
    for epsilon, built in sorted(finite.items(), reverse=True):
        problem, advantage = _audit(subject, built, tests=2 * len(QUANTILES) * len(finite))
        if problem is not None:
            return False, f"at ε = {epsilon:g} {problem}"
        most = built.guarantee.total_variation()
        seen.insert(0, f"{advantage:.2f} of {most:.2f} at ε = {epsilon:g}")
    return True, "neighbours told apart (advantage of the test, most allowed): " + ", ".join(seen)


def _audit(subject: Subject, mechanism: Mechanism, tests: int) -> tuple[str | None, float]:
    """What a test of two neighbours sees beyond the guarantee, and its advantage."""
    rng = np.random.default_rng(7)
    samples = [
        np.stack([subject.release(mechanism, table, rng) for _ in range(FITTED + COUNTED)])
        for table in _neighbours(mechanism.guarantee)
    ]
    fitted = [sample[:FITTED] for sample in samples]
    # The direction that separates the two best if all numbers are independent: Δmean / variance.
    spread = (fitted[0].var(axis=0) + fitted[1].var(axis=0)) / 2
    weights = (fitted[1].mean(axis=0) - fitted[0].mean(axis=0)) / (spread + 1e-12)
    cuts = np.quantile(np.concatenate(fitted) @ weights, QUANTILES)
    scores = [sample[FITTED:] @ weights for sample in samples]
    advantage = 0.0
    for cut in cuts:
        over = [int((score > cut).sum()) for score in scores]
        advantage = max(advantage, (over[1] - over[0]) / COUNTED)
        under = [COUNTED - count for count in over]
        for false, true in ((over[0], over[1]), (under[1], under[0])):
            problem = _exceeds(mechanism.guarantee, false, true, FALSE_ALARM / (2 * tests))
            if problem is not None:
                return problem, advantage
    return None, advantage


def _exceeds(guarantee: Guarantee, false: int, true: int, error: float) -> str | None:
    """Clopper-Pearson: each rate is beyond its bound with probability ``error`` at most."""
    most_false = float(beta.ppf(1 - error, false + 1, COUNTED - false)) if false < COUNTED else 1.0
    least_true = float(beta.ppf(error, true, COUNTED - true + 1)) if true else 0.0
    power = float(guarantee.power(most_false))
    if least_true <= power:
        return None
    return (
        f"neighbours are told apart with {true / COUNTED:.0%} true and {false / COUNTED:.0%} false "
        f"positives; the guarantee allows no more than {power:.0%} true ones: too little noise"
    )


def _neighbours(guarantee: Guarantee) -> tuple[Table, Table]:
    if guarantee.relation is Relation.REPLACE_ONE:
        return _table(RECORD, BESIDE), _table(OTHER_RECORD, BESIDE)
    return _table(BESIDE), _table(BESIDE, OTHER_RECORD)


def _table(*records: tuple[int, ...]) -> Table:
    return Table(DOMAIN, np.array(records))


def _flatten(value: object) -> Floats:
    """Every number that an object holds, in one array; integers as counts of each value."""
    if isinstance(value, Domain | str):
        return np.empty(0)
    if isinstance(value, bool | int | float | np.generic):
        return np.array([float(value)]) if not isinstance(value, np.str_) else np.empty(0)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "iu" and value.min(initial=0) >= 0:
            names = np.minimum(value.ravel(), VALUES)
            return np.bincount(names, minlength=VALUES + 1).astype(float)
        return value.ravel().astype(float) if value.dtype.kind in "biuf" else np.empty(0)
    if isinstance(value, Measurements):
        return _flatten_measurements(value)
    if isinstance(value, Mapping):
        parts = [_flatten(each) for each in value.values()]
    elif isinstance(value, list | tuple):
        parts = [_flatten(each) for each in value]
    else:
        parts = [_flatten(each) for each in getattr(value, "__dict__", {}).values()]
    return np.concatenate([*parts, np.empty(0)])


def _flatten_measurements(measured: Measurements) -> Floats:
    """For every set of columns, how often it was measured and what its answers say of its counts.

    Which sets are measured, how often and how well may depend on the table, so there is room for
    all of them, and answers are weighed by 1/σ²: all that they tell of a count is in their sum.
    They are taken from their mean first, so that what was not measured is no outlier.
    """
    columns = range(len(measured.domain))
    sets = [each for k in columns for each in combinations(columns, k + 1)]
    sums = {each: np.zeros(1 + prod(measured.domain.sizes[v] for v in each)) for each in sets}
    for each, answer, sd in zip(measured.sets, measured.answers, measured.noise_sds, strict=True):
        off = answer.ravel() - measured.records / answer.size
        sums[each] += np.concatenate([[1.0], off / (sd**2 if sd else 1.0)])
    return np.concatenate(list(sums.values()))


CHECKS: Mapping[str, Callable[[Subject], Outcome]] = {
    "takes its budgets": _budgets,
    "declares a guarantee": _guarantee,
    "facts are numbers": _facts,
    "same seed, same release": _same_seed,
    "leaves the table alone": _leaves_table,
    "takes its options": _options,
    "the declared noise is real": _noise_is_real,
}
